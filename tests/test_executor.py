"""When processes pay."""

from __future__ import annotations

import pytest

from jarvis_ops.errors import UsageError
from jarvis_ops.operations import executor

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "cores", lambda: 4)
    monkeypatch.setattr(executor, "fork_is_safe", lambda: True)


@pytest.mark.parametrize(
    ("sizes", "workers"),
    [
        ([], 0),
        ([900 * MIB], 3),
        ([20 * MIB], 0),
        ([1 * MIB] * 10, 0),
        ([100 * MIB] * 10, 4),
        ([100 * MIB] * 2, 2),
        ([900 * MIB, 1 * MIB, 1 * MIB], 0),
    ],
)
def test_processes_when_it_pays(sizes: list[int], workers: int) -> None:
    assert executor.processes(None, sizes) == workers


def test_one_core_is_for_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "cores", lambda: 1)
    assert executor.processes(None, [900 * MIB] * 4) == 0


def test_spawning_has_to_pay_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "fork_is_safe", lambda: False)
    assert executor.processes(None, [50 * MIB] * 4) == 0


def test_named() -> None:
    assert executor.processes("serial", [900 * MIB] * 9) == 0
    assert executor.processes("process", []) == 4
    assert executor.processes("process:2", []) == 2
    for name in ("process:", "process:0", "process:-1", "process:99999", "process:٣", "dask", "serial:2"):
        with pytest.raises(UsageError):
            executor.processes(name, [])
