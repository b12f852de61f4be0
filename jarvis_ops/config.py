"""What the configuration file, the environment and JARVIS's own variables say, checked before anything runs.

A flag comes before `JARVIS_OPS_…`, that before the configuration file, that before the variables of the agents,
and those before a default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

from jarvis_ops.errors import ConfigurationError, OpsError
from jarvis_ops.model.profile import Profile
from jarvis_ops.model.quantity import duration, iso_time, size
from jarvis_ops.model.settings import Accept, Limits, Scope

DEFAULT_STORE = "~/.jarvis/sessions"
CONFIG_VARIABLE = "JARVIS_OPS_CONFIG"
BACKEND_VARIABLE = "JARVIS_SESSION__PERSISTENCE_BACKEND"
SEGMENT_VARIABLE = "PIPPA_JSONL_SEGMENT_BYTES"
FILE_BACKENDS = ("", "jsonl", "json", "file", "files", "filesystem", "disk")
NEVER_DUE = (1 << 63) - 1


class Config(NamedTuple):
    """A configuration file: `defaults` of options by name, and what no option says.

    `memory_dirs` are the folders (absolute paths) of an agent's memory, where files may name records of its
    conversations. `schema` says what a database calls its tables and columns.
    """

    file: str | None = None
    defaults: Mapping[str, Any] = {}
    accept: tuple[Accept, ...] = ()
    limits: Mapping[str, int] = {}
    test_prefixes: tuple[str, ...] | None = None
    open_call_timeout: int | None = None
    memory_dirs: tuple[str, ...] = ()
    schema: Profile | None = None


class Place(NamedTuple):
    """The store that was named, and where its name came from."""

    where: str
    source: str


def load(environment: Mapping[str, str]) -> Config:
    """The configuration file of the user, or the one that JARVIS_OPS_CONFIG names. ConfigurationError if it is bad."""
    named = environment.get(CONFIG_VARIABLE)
    path = named or os.path.join(_config_folder(), "config.toml")
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        if named:
            raise ConfigurationError(f"there is no file {path!r}, which {CONFIG_VARIABLE} names") from None
        return Config()
    except OSError as error:
        raise ConfigurationError(f"the configuration file {path!r} cannot be read: {error.strerror}") from error
    return parse(content, path)


def _config_folder() -> str:
    from platformdirs import user_config_dir

    return user_config_dir("jarvis-ops", appauthor=False)


def parse(content: bytes, path: str) -> Config:
    """The configuration that a TOML document holds; `path` is named in every complaint."""
    import tomllib

    try:
        table = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the configuration file {path!r} is no TOML: {error}") from error
    values = {key.replace("-", "_"): _checked(key, value, path) for key, value in table.items()}
    defaults = {key: value for key, value in values.items() if key in OPTIONS}
    rest = {key: value for key, value in values.items() if key not in OPTIONS}
    return Config(path, defaults, **rest)


def _checked(key: str, value: object, path: str) -> Any:
    check = {**OPTIONS, **TABLES}.get(key.replace("-", "_"))
    if check is None:
        raise ConfigurationError(f"{path!r}: {_unknown(key, [*OPTIONS, *TABLES])}")
    try:
        return check(value)
    except OpsError as error:
        raise ConfigurationError(f"{path!r}: {key}: {error.message}") from error


def _unknown(key: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1, cutoff=0.0)
    return f"the key {key!r} is not known; the nearest is {near[0]!r}"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigurationError("a text in quotes is wanted")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigurationError("true or false is wanted")
    return value


def _one_of(*words: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if value not in words:
            raise ConfigurationError(f"one of {', '.join(words)} is wanted")
        return str(value)

    return check


def _span(*, zero: bool) -> Callable[[object], str]:
    """Checks a duration and hands on its text, which the option of the same name reads again."""

    def check(value: object) -> str:
        duration(_text(value), zero=zero)
        return str(value)

    return check


def _wait(value: object) -> int:
    return duration(_text(value), zero=True)


def _prefixes(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ConfigurationError("a list of texts is wanted")
    return tuple(_text(entry) for entry in value)


def _folders(value: object) -> tuple[str, ...]:
    """Paths of folders, `~` made whole. A relative one would mean another folder in each working directory."""
    folders = tuple(os.path.expanduser(path) for path in _prefixes(value))
    for path in folders:
        if not os.path.isabs(path):
            raise ConfigurationError(f"{path!r} is no whole path; write one that begins with / or ~")
    return folders


def _limits(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        raise ConfigurationError("a table is wanted")
    for key in value:
        if key.replace("-", "_") not in Limits.__struct_fields__:
            raise ConfigurationError(_unknown(key, list(Limits.__struct_fields__)))
    return {key.replace("-", "_"): size(str(entry)) for key, entry in value.items()}


def _accepted(value: object) -> tuple[Accept, ...]:
    if not isinstance(value, list):
        raise ConfigurationError("tables written as [[accept]] are wanted")
    return tuple(_accept(entry) for entry in value)


def _accept(entry: Mapping[str, object]) -> Accept:
    if not isinstance(entry, dict) or not entry:
        raise ConfigurationError("an entry names at least one of conversation, rule and record")
    for key in entry:
        if key not in Accept.__struct_fields__:
            raise ConfigurationError(_unknown(key, list(Accept.__struct_fields__)))
    fields = {key: _day(value) if key == "until" else _text(value) for key, value in entry.items()}
    if set(fields) == {"until"}:
        raise ConfigurationError("an entry that names nothing but a day would accept every finding")
    return Accept(**fields)


def _day(value: object) -> str:
    """The ISO date of a day; TOML has dates of its own, a text is as good."""
    text = str(value)
    if iso_time(text) is None or len(text) != len("2026-11-30"):
        raise ConfigurationError(f"until: {text!r} is no day; write one like 2026-11-30")
    return text


def _schema(value: object) -> Profile:
    """The shape of a store in a database: a known one, and what is called otherwise in this one."""
    from jarvis_ops.stores.postgres.profiles import made_of

    if not isinstance(value, dict):
        raise ConfigurationError("a table is wanted")
    return made_of(value)


# Keys that stand for an option of the same name, and keys that no option has.
OPTIONS: dict[str, Callable[[object], Any]] = {
    "store": _text,
    "output": _one_of("table", "json", "jsonl"),
    "scope": _one_of(*get_args(Scope)),
    "profile": _one_of("jarvis", "pippa"),
    "dialect": _text,
    "fail_on": _one_of("error", "warning", "never"),
    "turn_timeout": _span(zero=True),
    "stop_after": _span(zero=False),
    "executor": _text,
    "metrics_file": _text,
    "changed_only": _flag,
    "assume_idle": _flag,
    "progress": _flag,
}
TABLES: dict[str, Callable[[object], Any]] = {
    "accept": _accepted,
    "limits": _limits,
    "test_prefixes": _prefixes,
    "open_call_timeout": _wait,
    "memory_dirs": _folders,
    "schema": _schema,
}


def limits(config: Config, environment: Mapping[str, str]) -> Limits:
    """The limits of the file; the segment size of Pippa's own variable where the file says nothing of it."""
    values = dict(config.limits)
    own = environment.get(SEGMENT_VARIABLE)
    if "segment" not in values and own:
        values["segment"] = _own_size(own)
    return Limits(**values)


def _own_size(text: str) -> int:
    """A size as an agent's variable gives it, where zero means off."""
    if text.strip() == "0":
        return NEVER_DUE
    try:
        return size(text)
    except OpsError as error:
        raise ConfigurationError(f"{SEGMENT_VARIABLE}: {error.message}") from error


def own_store(environment: Mapping[str, str]) -> Place:
    """The store that JARVIS itself is set to, else its default folder. Another program's variables never decide."""
    backend = environment.get(BACKEND_VARIABLE, "").strip().lower()
    if backend.startswith(("postgres", "pg")):
        return _own_database(environment, backend)
    if backend not in FILE_BACKENDS:
        raise ConfigurationError(
            f"{BACKEND_VARIABLE} is {backend!r}, a backend that is not known; name the store with --store"
        )
    folder = environment.get("SESSIONS_DIR")
    return Place(folder, "variable SESSIONS_DIR") if folder else Place(DEFAULT_STORE, "default")


def _own_database(environment: Mapping[str, str], backend: str) -> Place:
    dsn = environment.get("POSTGRES_DSN")
    if not dsn:
        raise ConfigurationError(
            f"{BACKEND_VARIABLE} is {backend!r} but POSTGRES_DSN is not set; set it, or name the store with --store"
        )
    return Place(dsn, "variable POSTGRES_DSN")
