"""What a configuration file may say, and what is answered when it says anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ops.config import DEFAULT_STORE, NEVER_DUE, Config, Place, limits, load, own_store, parse
from jarvis_ops.errors import ConfigurationError, UsageError
from jarvis_ops.model.quantity import duration, instant, iso_text, iso_time, size
from jarvis_ops.model.settings import Accept, Limits

FULL = b"""
store = "/srv/sessions"
turn-timeout = "10m"
assume_idle = true
open-call-timeout = "2h"
test_prefixes = ["try-"]
memory-dirs = ["/srv/memory", "~/notes"]

[limits]
long-line = "16MiB"

[[accept]]
conversation = "c1"
rule = "torn-tail"
until = 2027-01-31
"""


def test_a_whole_file() -> None:
    config = parse(FULL, "config.toml")
    assert config.defaults == {"store": "/srv/sessions", "turn_timeout": "10m", "assume_idle": True}
    assert config.open_call_timeout == 7_200_000
    assert config.test_prefixes == ("try-",)
    assert config.memory_dirs == ("/srv/memory", str(Path("~/notes").expanduser()))
    assert config.limits == {"long_line": 16 << 20}
    assert config.accept == (Accept(conversation="c1", rule="torn-tail", until="2027-01-31"),)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'stor = "x"', ("'stor'", "'store'")),
        (b'scope = "all"', ("scope", "replay")),
        (b"store = 3", ("store", "text")),
        (b'assume_idle = "yes"', ("assume_idle", "true or false")),
        (b'turn_timeout = "300"', ("turn_timeout", "300")),
        (b'stop_after = "0h"', ("stop_after", "zero")),
        (b"[limits]\nlong_lin = 3", ("'long_lin'", "'long_line'")),
        (b'[limits]\nlong_line = "much"', ("limits", "much")),
        (b"limits = 3", ("limits", "table")),
        (b'test_prefixes = "a"', ("test_prefixes", "list")),
        (b'memory_dirs = "/m"', ("memory_dirs", "list")),
        (b'memory_dirs = ["notes"]', ("memory_dirs", "'notes'", "begins with /")),
        (b'memory_dirs = [""]', ("memory_dirs", "text")),
        (b'memory_dir = ["/m"]', ("'memory_dir'", "'memory_dirs'")),
        (b"accept = 3", ("accept",)),
        (b"[[accept]]\n", ("accept", "at least one")),
        (b'[[accept]]\nrul = "x"', ("'rul'", "'rule'")),
        (b'[[accept]]\nrule = "x"\nuntil = "soon"', ("until", "soon")),
        (b"[[accept]]\nuntil = 2027-01-31", ("every finding",)),
        (b"store = ", ("no TOML",)),
        (b"\xff", ("no TOML",)),
    ],
)
def test_what_a_file_may_not_say(content: bytes, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        parse(content, "the/config.toml")
    assert "the/config.toml" in raised.value.message
    assert all(word in raised.value.message for word in words)


def test_no_file_is_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load({}) == Config()


def test_the_file_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_ops.config._config_folder", lambda: str(tmp_path))
    (tmp_path / "config.toml").write_text('scope = "full"')
    assert load({}).defaults == {"scope": "full"}


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="JARVIS_OPS_CONFIG"):
        load({"JARVIS_OPS_CONFIG": str(tmp_path / "gone.toml")})
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load({"JARVIS_OPS_CONFIG": str(tmp_path)})


def test_the_store_of_jarvis() -> None:
    assert own_store({}) == Place(DEFAULT_STORE, "default")
    assert own_store({"SESSIONS_DIR": "/s"}) == Place("/s", "variable SESSIONS_DIR")
    backend = "JARVIS_SESSION__PERSISTENCE_BACKEND"
    dsn = {"POSTGRES_DSN": "postgresql://h/d"}
    assert own_store({backend: "postgres", **dsn}) == Place("postgresql://h/d", "variable POSTGRES_DSN")


def test_a_stray_dsn_decides_nothing() -> None:
    assert own_store({"POSTGRES_DSN": "postgresql://h/d"}).source == "default"
    backend = "JARVIS_SESSION__PERSISTENCE_BACKEND"
    assert own_store({backend: "jsonl", "POSTGRES_DSN": "postgresql://h/d"}).source == "default"


def test_a_database_without_its_address_is_no_folder() -> None:
    with pytest.raises(ConfigurationError, match="POSTGRES_DSN is not set"):
        own_store({"JARVIS_SESSION__PERSISTENCE_BACKEND": "Postgres", "SESSIONS_DIR": "/s"})
    with pytest.raises(ConfigurationError, match="not known"):
        own_store({"JARVIS_SESSION__PERSISTENCE_BACKEND": "redis"})


def test_the_segment_size_of_pippa() -> None:
    variable = "PIPPA_JSONL_SEGMENT_BYTES"
    assert limits(Config(), {}) == Limits()
    assert limits(Config(), {variable: "1048576"}).segment == 1 << 20
    assert limits(Config(), {variable: "0"}).segment == NEVER_DUE
    assert limits(Config(limits={"segment": 5}), {variable: "1048576"}).segment == 5
    with pytest.raises(ConfigurationError, match=variable):
        limits(Config(), {variable: "many"})


@pytest.mark.parametrize(("text", "seconds"), [("30d", 2_592_000), ("36h", 129_600), ("1h30m", 5400), ("0.5s", 0.5)])
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds * 1000


@pytest.mark.parametrize(
    "text", ["", "30", "-30d", "+1h", "5M", "1:30", "soon", "1h 5", "٣h", "0s", "9999999w", "1.2.3h", "never"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(UsageError):
        duration(text)


def test_only_a_wait_may_be_zero() -> None:
    assert duration("0s", zero=True) == 0


def test_instants() -> None:
    assert instant("36h", now=200_000_000) == 200_000_000 - 129_600_000
    assert instant("1970-01-02", now=0) == 86_400_000
    assert instant("1970-01-01T02:00:00+01:00", now=0) == 3_600_000
    with pytest.raises(UsageError, match="no date"):
        instant("tomorrow", now=0)


def test_instants_as_text() -> None:
    assert iso_text(1_790_000_000_123) == "2026-09-21T14:13:20.123Z"
    assert iso_time("2026-09-21T14:13:20.123Z") == 1_790_000_000_123
    assert iso_text(None) is None
    assert iso_text(1 << 70) is None


def test_sizes() -> None:
    assert size("8MiB") == 8 << 20
    assert size("100") == 100
    for text in ("", "-1", "0", "8 apples"):
        with pytest.raises(UsageError):
            size(text)
