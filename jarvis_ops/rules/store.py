"""What a listing of a whole store says, without reading a conversation a second time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jarvis_ops.model.conversation import Oddity
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.words import counted

ENCODED = re.compile(r"[^A-Za-z0-9]")
READABLE_BY_OTHERS = 0o044
PRIVATE = 0o077
OWNER = 0o600
DAY = 86_400_000
# How long Claude Code keeps transcripts when its settings do not say.
KEPT_DAYS = 30


class FileMode(NamedTuple):
    """A log file and its permission bits."""

    folder: str
    file: str
    mode: int


class Transcript(NamedTuple):
    """What was learned of one main transcript: its session, how many messages it has, and its sub-agents' files.

    `last_time` is milliseconds since the epoch.
    """

    file: str
    folder: str
    session_id: str
    talk: int
    typed: int
    prompts: bool
    agents: int
    cwds: tuple[str, ...]
    last_time: int | None


SIMPLE = {
    "dangling-link": ("dangling-link", "the link leads nowhere"),
    "leftover": ("leftover-file", "a copy or a remainder that no reader takes for a conversation"),
    "segment-name": ("orphan-file", "a file among the segments whose name is no segment's: the agent never reads it"),
    "unreadable": ("unreadable", "the folder cannot be listed"),
}


def judge_oddities(oddities: Iterable[Oddity]) -> Iterator[Finding]:
    """Findings that a listing alone gives."""
    for oddity in oddities:
        row = SIMPLE.get(oddity.what)
        if row is not None:
            detail = f"{row[1]}: {oddity.detail}" if oddity.detail else row[1]
            yield found(row[0], Position(oddity.file), detail)
        elif oddity.what == "session-folder":
            yield judge_session_folder(oddity)


def judge_session_folder(oddity: Oddity) -> Finding:
    """A session's folder without its transcript: a loss where sub-agents' transcripts are left, else only traces."""
    counts = dict(pair.partition("=")[::2] for pair in oddity.detail.split())
    agents, results = counts.get("subagents", "0"), counts.get("results", "0")
    facts = {"subagents": int(agents), "tool_results": int(results)}
    if int(agents):
        left = f"{counted(int(agents), 'transcript')} of sub-agents and {counted(int(results), 'saved output')}"
        detail = f"the transcript of this session is gone; left: {left}"
        return found("missing-transcript", Position(oddity.file), detail, facts=facts)
    detail = f"the transcript of this session is gone; left: {counted(int(results), 'saved output')}"
    return found("deleted-session-traces", Position(oddity.file), detail, facts=facts)


def judge_transcript(transcript: Transcript) -> Finding | None:
    """A main transcript in which nothing was said."""
    if transcript.talk:
        return None
    at = Position(transcript.file)
    if transcript.agents:
        agents = counted(transcript.agents, "transcript")
        detail = f"it holds no message; the last copy of the work is in {agents} of sub-agents"
        return found("metadata-only", at, detail, facts={"subagents": transcript.agents})
    if transcript.prompts:
        return found("deleted-session-traces", at, "it holds prompts and titles, and no message")
    return None


def judge_folders(transcripts: Iterable[Transcript], folders: Mapping[str, str]) -> Iterator[Finding]:
    """Project folders that two working directories share; `folders` gives the name that a folder has on disk."""
    uses: dict[str, dict[str, int]] = {}
    for transcript in transcripts:
        name = folders[transcript.folder]
        for cwd in transcript.cwds:
            if ENCODED.sub("-", cwd) == name:
                counts = uses.setdefault(transcript.folder, {})
                counts[cwd] = counts.get(cwd, 0) + 1
    for folder, counts in sorted(uses.items()):
        if len(counts) > 1:
            shares = ", ".join(f"{cwd} ({count})" for cwd, count in counts.items())
            yield found(
                "project-dir-collision",
                Position(f"{folder}/"),
                f"two projects share this folder: {shares}",
                facts={"cwds": counts},
            )


def judge_retention(
    settings: Mapping[str, Any], file: str, transcripts: Iterable[Transcript], now: int
) -> Finding | None:
    """Whether the agent will delete transcripts of this store at its next start, or has stopped writing them."""
    days = settings.get("cleanupPeriodDays", KEPT_DAYS)
    if isinstance(days, bool) or not isinstance(days, int | float):
        return None
    at = Position(file)
    if days <= 0:
        detail = "cleanupPeriodDays is 0: the agent writes no transcripts and deletes those it has"
        return found("retention-risk", at, detail, facts={"days": days})
    old = sum(1 for one in transcripts if one.last_time is not None and now - one.last_time > days * DAY)
    if not old:
        return None
    detail = f"{counted(old, 'transcript')} older than {days:g} days: the agent deletes at its next start"
    return found("retention-risk", at, detail, facts={"days": days, "transcripts": old})


def judge_modes(modes: Iterable[FileMode]) -> Iterator[Finding]:
    """Logs that others may read: a warning each where files beside them are private, one info where all are so."""
    by_folder: dict[str, list[FileMode]] = {}
    for mode in modes:
        by_folder.setdefault(mode.folder, []).append(mode)
    wide_open = 0
    for _, files in sorted(by_folder.items()):
        wide = [file for file in files if readable_by_others(file.mode)]
        if not any(not file.mode & PRIVATE and file.mode & OWNER == OWNER for file in files):
            wide_open += len(wide)
            continue
        for file in wide:
            detail = f"others may read it (mode {file.mode:04o}), although files beside it are private"
            yield found(
                "file-mode", Position(file.file), detail, severity="warning", facts={"mode": f"{file.mode:04o}"}
            )
    if wide_open:
        detail = f"others may read {counted(wide_open, 'log')}; none beside is private"
        yield found("file-mode", Position("."), detail, severity="info", facts={"files": wide_open})


def readable_by_others(mode: int) -> bool:
    """Whether others may read a file with these permission bits."""
    return bool(mode & READABLE_BY_OTHERS)


def private(mode: int) -> int:
    """The same permission bits without what others may do, and without the right to run the file as a program."""
    return mode & OWNER


def judge_index(index: Mapping[str, Any], file: str, present: Iterable[Transcript]) -> Iterator[Finding]:
    """Claude Code's index of a project folder against the transcripts there; it is a cache, so never an error."""
    entries = index.get("entries")
    if not isinstance(entries, list):
        return
    listed = {entry["sessionId"]: entry for entry in entries if names_session(entry)}
    there = {one.session_id: one for one in present if one.session_id}
    for session in sorted(listed.keys() - there.keys()):
        yield found(
            "index-stale", Position(file), f"it lists session {session}, whose transcript is gone", record_id=session
        )
    for session in sorted(there.keys() & listed.keys()):
        count = listed[session].get("messageCount")
        # Which messages the agent counts is not known; not fewer than the prompts, and not more than there are.
        if isinstance(count, int) and not there[session].typed <= count <= there[session].talk:
            detail = f"it counts {counted(count, 'message')} in session {session}, which has {there[session].talk:,}"
            yield found("index-stale", Position(file), detail, record_id=session)
    for session in sorted(there.keys() - listed.keys()):
        yield found("index-stale", Position(file), f"it lacks session {session}", record_id=session)


def names_session(entry: object) -> bool:
    """Whether an entry of the index is about a session."""
    return isinstance(entry, dict) and isinstance(entry.get("sessionId"), str)
