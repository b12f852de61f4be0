"""Finds out, from names alone, how the conversations of a path are laid out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from jarvis_ops.stores.jsonl.bundle import LOG, METADATA, SEGMENTS, SUBAGENTS, Naming
from jarvis_ops.stores.jsonl.layout import Entry, Lister, printable

PROJECTS = "projects"
SAVED_RESULTS = "tool-results"
AGENT_FILES = frozenset({"history.jsonl", "settings.json"})
FOLDERS = ("folder", "dangling")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
Shape = Literal["flat", "nested", "projects", "project"]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where the conversations of a store lie and how they are called.

    `top` is the folder to list, `place` what it is called relative to the store. `shape`: `flat` (logs in it),
    `nested` (logs in its folders), `projects` (project folders in it), `project` (it is one).
    `agent_root` is the folder of the agent's own files, where there is one.
    """

    shape: Shape
    naming: Naming
    top: str
    place: str = ""
    agent_root: str | None = None


def arrangement(path: str, lister: Lister) -> Arrangement:
    """How the directory `path` is laid out. OSError if it cannot be listed."""
    entries = lister.entries(path)
    inner = os.path.join(path, PROJECTS)
    if _is_agent_root(entries, inner, lister):
        return Arrangement("projects", Naming("projects", cut=PROJECTS + "/"), inner, PROJECTS, path)
    if _is_project(os.path.basename(os.path.abspath(path)), entries, lister):
        return _below_projects("project", path)
    if _has_logs(entries) or _has_flat_marks(entries):
        return Arrangement("flat", Naming("flat"), path)
    children = {entry.name: _entries_or_none(lister, entry.path) for entry in entries if entry.kind == "folder"}
    is_named_so = os.path.basename(os.path.abspath(path)) == PROJECTS
    if any(_is_project(name, inside or [], lister, is_expected=is_named_so) for name, inside in children.items()):
        return _below_projects("projects", path)
    # A folder that cannot be listed may hold logs: then it must be listed with the others, to be told of.
    if any(inside is None or _has_flat_marks(inside) or _has_logs(inside) for inside in children.values()):
        return Arrangement("nested", Naming("flat"), path)
    return Arrangement("flat", Naming("flat"), path)


def file_naming(path: str) -> tuple[Naming, str | None]:
    """How the one conversation of a file is called, and the folder of its agent's own files."""
    absolute = os.path.abspath(path)
    name = os.path.basename(absolute).removesuffix(LOG)
    above = _split_at_projects(os.path.dirname(absolute))
    if above is None:
        return Naming("file"), None
    root, below = above
    if not below or not (below[0].startswith("-") or UUID.fullmatch(name) or name.startswith("agent-")):
        return Naming("file"), None
    return Naming("file", prefix="/".join(map(printable, below)) + "/"), root


def _below_projects(shape: Shape, path: str) -> Arrangement:
    above = _split_at_projects(os.path.abspath(path))
    if above is None:
        return Arrangement(shape, Naming("projects"), path)
    root, below = above
    prefix = "".join(printable(name) + "/" for name in below)
    return Arrangement(shape, Naming("projects", prefix), path, agent_root=root)


def _split_at_projects(path: str) -> tuple[str, list[str]] | None:
    """The folder above the nearest `projects` of a path, and the names below it."""
    below: list[str] = []
    while True:
        parent, name = os.path.split(path)
        if name == PROJECTS:
            return parent, below[::-1]
        if not name:
            return None
        below.append(name)
        path = parent


def _is_agent_root(entries: list[Entry], inner: str, lister: Lister) -> bool:
    if not any(entry.name == PROJECTS and entry.kind == "folder" for entry in entries):
        return False
    inside = _entries_or_none(lister, inner)
    others = [entry for entry in entries if entry.name not in AGENT_FILES]
    if not _has_logs(others) and not _has_flat_marks(others):
        # One that cannot be listed is the place of the logs all the same, and the store must not pass for empty.
        return inside is None or len(others) < len(entries) or any(each.kind in FOLDERS for each in inside)
    # A directory of logs that happens to hold a folder of this name is no agent's root unless logs are in there.
    return any(_is_project(each.name, _entries_or_none(lister, each.path) or [], lister) for each in inside or [])


def _is_project(name: str, entries: list[Entry], lister: Lister, *, is_expected: bool = False) -> bool:
    """Whether a folder holds the transcripts of one project, judged by the names in it."""
    if _has_flat_marks(entries):
        return False
    if _has_logs(entries) and (is_expected or name.startswith("-")):
        return True
    for entry in entries:
        if entry.name.endswith(LOG):
            if UUID.fullmatch(entry.name.removesuffix(LOG)) or entry.name.startswith("agent-"):
                return True
        elif entry.kind == "folder" and UUID.fullmatch(entry.name):
            inside = {each.name for each in _entries_or_none(lister, entry.path) or []}
            if inside & {SUBAGENTS, SAVED_RESULTS}:
                return True
    return False


def _has_logs(entries: Iterable[Entry]) -> bool:
    return any(entry.name.endswith(LOG) for entry in entries)


def _has_flat_marks(entries: Iterable[Entry]) -> bool:
    """Whether there are files that Claude Code never writes beside its transcripts: it has metadata of agents only."""
    return any(
        entry.name.endswith(SEGMENTS)
        if entry.kind == "folder"
        else entry.name.endswith(METADATA) and not entry.name.startswith("agent-")
        for entry in entries
    )


def _entries_or_none(lister: Lister, path: str) -> list[Entry] | None:
    try:
        return lister.entries(path)
    except OSError:
        return None
