"""What every test may rely on: no setting and no folder of the person who runs them is seen or touched."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is slow at times; that is no fault of the example that was running.
settings.register_profile("gates", deadline=None)
settings.load_profile("gates")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--full` is for the night: every state and every point, where the gates take a share of them."""
    parser.addoption("--full", action="store_true", help="test every state and every point")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether all is to be tested that can be."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty home, and none of the variables that choose a store or a setting."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            ours = name.startswith("JARVIS_OPS_TEST_") or name == "JARVIS_OPS_REQUIRE_PG"
            if name.startswith(("JARVIS_", "XDG_", "SESSIONS_DIR", "POSTGRES_DSN")) and not ours:
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield
