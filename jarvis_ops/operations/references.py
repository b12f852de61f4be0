"""What else names a record that is to be taken away or renamed: pointers in the log, companion files, memory."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import orjson

from jarvis_ops.errors import ConfigurationError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory, PartFile
from jarvis_ops.model.plan import Step
from jarvis_ops.model.settings import Settings
from jarvis_ops.rules.seams import parse
from jarvis_ops.stores.base import Store
from jarvis_ops.stores.jsonl.layout import Lister
from jarvis_ops.stores.jsonl.tree import Folder, TreeScan

# Fields of a record that name another record, or a call in one. Parents are not among them: a repair sees to those.
POINTERS = (
    "compacted_by", "from_id", "through_id", "first_id", "last_id", "leafUuid", "messageId", "logicalParentUuid",
    "sourceToolAssistantUUID", "sourceToolUseID", "toolUseID", "parentToolUseID",
)  # fmt: skip
# Fields that hold such names somewhere inside.
HOLDERS = ("compactMetadata", "snapshot")
POINTING = re.compile(b'"(?:%b)"' % "|".join((*POINTERS, *HOLDERS)).encode())
# The agent's own files that may name records.
LOOK_UPS = ("claude-history", "claude-index")
TEXT_FILES = (".json", ".jsonl", ".md", ".markdown")
LARGEST = 64 << 20
# A shorter id is not the only one of its kind: other conversations have an m1 as well.
UNMISTAKABLE = 16
WORD = re.compile(rb"[\w\x80-\xff-]+")


class Reference(NamedTuple):
    """A file, and how many of its lines (values, in metadata) name something; `fault` says why it cannot be read."""

    file: str
    lines: int
    fault: str = ""


class Names:
    """Ids to be looked for as whole words."""

    def __init__(self, names: Collection[str]) -> None:
        """An id that is a mere number is left out: as a word it names nothing."""
        wanted = {name.encode("utf-8", "surrogatepass") for name in names if name and not name.isdecimal()}
        self._words = {name for name in wanted if WORD.fullmatch(name)}
        others = b"|".join(re.escape(name) for name in sorted(wanted - self._words))
        self._others = re.compile(rb"(?<![\w\x80-\xff-])(?:" + others + rb")(?![\w\x80-\xff-])") if others else None

    def are_in(self, text: bytes) -> bool:
        """Whether any of them stands in a text."""
        if self._others is not None and self._others.search(text):
            return True
        return bool(self._words) and not self._words.isdisjoint(WORD.findall(text))


class Lookups:
    """All places of a store, and the memory folders of the settings, that may name records of its conversations.

    ConfigurationError for a memory folder that is not there.
    """

    def __init__(self, store: Store, inventory: Inventory, settings: Settings) -> None:
        self._store = store
        self._inventory = inventory
        self._folders = settings.memory_dirs
        for path in self._folders:
            if not os.path.isdir(path):
                raise ConfigurationError(f"memory_dirs names {path!r}, and there is no such folder")

    def naming(self, conversation: Conversation, ids: Collection[str]) -> list[Reference]:
        """Where any of these ids of records or calls of a conversation is named; `lines` add up over all of them.

        UnreadableError if the conversation itself cannot be read.
        """
        if not ids:
            return []
        wanted = frozenset(ids)
        found = [*self._in_log(conversation, wanted), *self._in_companions(conversation, wanted)]
        found += self._in_texts(conversation, wanted)
        return [one for one in found if one.lines or one.fault]

    def _in_log(self, conversation: Conversation, ids: frozenset[str]) -> Iterator[Reference]:
        """Records that stay, and point to one of those."""
        counts: dict[str, int] = {}
        with self._store.open(conversation) as snapshot:
            for record in snapshot.records():
                if POINTING.search(record.raw) and points(parse(record.raw), ids):
                    counts[record.file] = counts.get(record.file, 0) + 1
        yield from (Reference(file, count) for file, count in counts.items())

    def _in_companions(self, conversation: Conversation, ids: frozenset[str]) -> Iterator[Reference]:
        """Metadata of the conversation, and of what hangs on it."""
        about = [file for file in conversation.side_files if file.file.endswith(".json")]
        for file in [conversation.metadata, *about] if conversation.metadata is not None else about:
            try:
                value = orjson.loads(self._store.companion(file))
            except orjson.JSONDecodeError:
                continue  # it names nothing that can be read
            except UnreadableError as error:
                yield Reference(file.file, 0, error.message)
                continue
            yield Reference(file.file, sum(text in ids for text in texts_in(value)))

    def _in_texts(self, conversation: Conversation, ids: frozenset[str]) -> Iterator[Reference]:
        """Files that anybody may have written: only whole words count, and a short id only beside its conversation."""
        everywhere, owner = Names(ids), Names({conversation.id, conversation.session_id})
        certain = Names({one for one in ids if len(one) >= UNMISTAKABLE})
        for file in self._texts:
            try:
                data = self._store.companion(file, LARGEST)
            except UnreadableError as error:
                yield Reference(file.file, 0, error.message)
                continue
            is_its_own = owner.are_in(os.fsencode(file.path)) or owner.are_in(data)
            names = everywhere if is_its_own else certain
            yield Reference(
                file.file, sum(names.are_in(line) for line in data.splitlines()) if names.are_in(data) else 0
            )

    @functools.cached_property
    def _texts(self) -> list[PartFile]:
        """The agent's own files, and the texts in the memory folders; listed once a run."""
        own = [PartFile(one.file, one.path) for one in self._inventory.oddities if one.what in LOOK_UPS]
        logs = {
            os.path.abspath(part.path) for one in self._inventory.conversations for part in one.parts if self._folders
        }
        for path in self._folders:
            folder = TreeScan(Lister(), lambda _name, _depth: True).scan(path, path)
            own += [file for file in texts_below(folder) if os.path.abspath(file.path) not in logs]
        return own


def texts_below(folder: Folder) -> Iterator[PartFile]:
    """The text files in a folder and in those below it."""
    for entry in folder.entries:
        if entry.kind == "file" and entry.name.lower().endswith(TEXT_FILES):
            yield folder.part(entry)
    for _, inside in sorted(folder.folders.items()):
        yield from texts_below(inside)


def points(record: dict[str, Any] | None, ids: Collection[str]) -> bool:
    """Whether a record that is none of these points to one of them."""
    if record is None or record.get("uuid", record.get("id")) in ids:
        return False
    pointers = (record[key] for key in POINTERS if key in record)
    inside = (text for key in HOLDERS if key in record for text in texts_in(record[key]))
    return any(str(value) in ids for value in pointers) or any(text in ids for text in inside)


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a JSON value, at any depth; keys are none."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def is_renaming_or_removing(step: Step) -> bool:
    """Whether something that others may name by its id is there no longer after a step."""
    return step.step == "set-aside" or step.rule in {"duplicate-call-id", "bad-call-id", "duplicate-id"}
