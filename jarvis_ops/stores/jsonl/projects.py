"""The conversations of Claude Code's project folders, and the agent's own files beside them."""

from __future__ import annotations

import os

from jarvis_ops.model.conversation import Conversation, Oddity, PartFile
from jarvis_ops.stores.jsonl.bundle import SEGMENTS, SUBAGENTS, Bundle, Naming, bundles, conversation_of, leftovers
from jarvis_ops.stores.jsonl.detect import SAVED_RESULTS
from jarvis_ops.stores.jsonl.layout import Lister, printable
from jarvis_ops.stores.jsonl.tree import Folder

Found = tuple[list[Conversation], list[Oddity]]
INDEX, ALIASES = "sessions-index.json", ".session-aliases"


def project_conversations(folder: Folder, naming: Naming) -> Found:
    """All conversations of one project folder: main transcripts, and the sub-agents below their own folders."""
    conversations: list[Conversation] = []
    odd = leftovers(folder, naming) + _project_files(folder)
    named = bundles(folder)
    sessions = {name: inside for name, inside in folder.folders.items() if not name.endswith(SEGMENTS)}
    for stem in sorted(named.keys() | sessions.keys()):
        bundle = named.get(stem, Bundle())
        side_files: tuple[PartFile, ...] = ()
        agents: list[Conversation] = []
        if stem in sessions:
            agents, side_files, below = session_folder(sessions[stem], naming)
            conversations += agents
            odd += below
        found, about = (
            conversation_of(folder, stem, bundle, naming, side_files) if bundle.log or bundle.segments else (None, [])
        )
        odd += about
        if found is not None:
            conversations.append(found)
        elif stem in sessions:
            odd += _without_transcript(sessions[stem], len(agents), naming)
    return conversations, odd


def session_folder(folder: Folder, naming: Naming) -> tuple[list[Conversation], tuple[PartFile, ...], list[Oddity]]:
    """What lies below the folder of a session: its sub-agents, its side files, what is odd."""
    agents: list[Conversation] = []
    odd: list[Oddity] = []
    side_files: list[PartFile] = []
    for inside, is_agents in _below(folder):
        taken: set[str] = set()
        if is_agents:
            odd += leftovers(inside, naming)
            for stem, bundle in sorted(bundles(inside).items()):
                if bundle.log is None or not stem.startswith("agent-"):
                    continue
                found, about = conversation_of(inside, stem, bundle, naming)
                odd += about
                if found is not None:
                    agents.append(found)
                    taken.add(bundle.log.name)
        side_files += [inside.part(each) for each in inside.entries if each.kind == "file" and each.name not in taken]
    return agents, tuple(side_files), odd


def agent_files(root: str, store: str, lister: Lister) -> list[Oddity]:
    """The agent's settings, prompt history and registry of running sessions, where they exist beside `projects/`."""
    odd = []
    for name, what in (("settings.json", "claude-settings"), ("history.jsonl", "claude-history")):
        path = os.path.join(root, name)
        if os.path.isfile(path):
            odd.append(_agent_file(what, path, root, store))
    try:
        registry = lister.entries(os.path.join(root, "sessions"))
    except OSError:
        return odd
    return odd + [
        _agent_file("claude-registry", each.path, root, store)
        for each in registry
        if each.kind == "file" and each.name.endswith(".json")
    ]


def _agent_file(what: str, path: str, root: str, store: str) -> Oddity:
    is_inside = os.path.abspath(root) == os.path.abspath(store)
    shown = os.path.relpath(path, root).replace(os.sep, "/") if is_inside else os.path.abspath(path)
    return Oddity(what, printable(shown), path=path)


def _project_files(folder: Folder) -> list[Oddity]:
    kinds = {INDEX: "claude-index", ALIASES: "claude-aliases"}
    return [
        Oddity(kinds[each.name], folder.place(each.name), path=each.path)
        for each in folder.entries
        if each.kind == "file" and each.name in kinds
    ]


def _below(folder: Folder) -> list[tuple[Folder, bool]]:
    """The folder and all below it, each with whether sub-agents lie in it."""
    reached = [(folder, False)]
    for inside, is_agents in reached:
        reached += [
            (child, is_agents or (inside is folder and name == SUBAGENTS))
            for name, child in sorted(inside.folders.items())
        ]
    return reached


def _without_transcript(folder: Folder, agents: int, naming: Naming) -> list[Oddity]:
    saved = folder.folders.get(SAVED_RESULTS)
    results = sum(each.kind == "file" for each in saved.entries) if saved else 0
    if not agents and not results:
        return []
    detail = f"subagents={agents} results={results}"
    return [Oddity("session-folder", folder.file, detail, naming.id(folder.file), folder.path)]
