"""Gathers, conversation by conversation, what the findings about a store as a whole are made from."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
import orjson

from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory, Oddity, PartFile
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.index import as_conversation
from jarvis_ops.operations.surroundings import Surroundings, read_object
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.store import (
    FileMode,
    Transcript,
    judge_folders,
    judge_index,
    judge_modes,
    judge_oddities,
    judge_retention,
    judge_transcript,
)
from jarvis_ops.stores.base import Store

HISTORY_LIMIT = 256 << 20


class Share(msgspec.Struct, frozen=True):
    """What a conversation adds to what its store shows: its verdict without findings, and the modes of its files."""

    verdict: Verdict | None
    modes: tuple[FileMode, ...]


class Landscape:
    """`add` each conversation as it is judged, then `judge` the store."""

    def __init__(self, store: Store, inventory: Inventory, around: Surroundings, settings: Settings) -> None:
        self.store = store
        self.inventory = inventory
        self.around = around
        self.settings = settings
        self.modes: list[FileMode] = []
        self.transcripts: list[Transcript] = []
        self.folders: dict[str, str] = {}
        self.by_id = {one.id: one for one in inventory.conversations}
        # By session, the saved outputs that are there; a session of which only the folder is left says nothing.
        self.saved = {
            one.session_id: {file.file.rpartition("tool-results/")[2] for file in one.side_files}
            for one in inventory.conversations
            if one.parent is None and one.session_id
        }
        self.agents = Counter(one.parent for one in inventory.conversations if one.parent is not None)

    def add_all(self, learned: Iterable[tuple[Conversation, Share]]) -> None:
        """Take what was learned of conversations."""
        for conversation, share in learned:
            self.add(conversation, share)

    def add(self, conversation: Conversation, share: Share) -> None:
        """Take what was learned of a conversation."""
        verdict = share.verdict
        self.modes += share.modes
        live = conversation.live
        if verdict is None or live is None or verdict.dialect != "claude_code" or conversation.parent is not None:
            return
        self.folders[conversation.folder] = os.path.basename(os.path.dirname(os.path.abspath(live.path)))
        self.transcripts.append(
            Transcript(
                file=live.file,
                folder=conversation.folder,
                session_id=conversation.session_id,
                talk=verdict.talk,
                typed=verdict.typed,
                prompts=verdict.prompts,
                agents=self.agents[conversation.id],
                cwds=tuple(verdict.cwds),
                last_time=verdict.last_time,
            )
        )

    def missing_attachments(self, conversation: Conversation, verdict: Verdict) -> Iterator[Finding]:
        """Saved outputs that are gone.

        A path counts from the folder of the session that it names, wherever that lies now; a fork keeps the paths of
        its source, and a sub-agent's outputs lie with those of its session.
        """
        for path, finding in verdict.attachments:
            before, _, name = path.replace("\\", "/").rpartition("tool-results/")
            session = before.rstrip("/").rpartition("/")[2]
            if session not in self.saved:
                session = conversation.session_id
            if name not in self.saved.get(session, (name,)):
                yield finding

    def judge(self) -> Iterator[Finding]:
        """All findings about the store as a whole, the same in whatever order the conversations came."""
        self.modes.sort()
        self.transcripts.sort()
        yield from judge_oddities(self.inventory.oddities)
        yield from judge_modes(self.modes)
        for transcript in self.transcripts:
            finding = judge_transcript(transcript)
            if finding is not None:
                yield finding
        yield from judge_folders(self.transcripts, self.folders)
        for file, session in self.around.stale:
            if os.path.isabs(file):
                continue  # it lies outside the store
            yield found(
                "stale-running", Position(file), f"it says that session {session} is busy, and its process is gone"
            )
        for oddity in self.inventory.oddities:
            yield from self.agent_file(oddity)

    def agent_file(self, oddity: Oddity) -> Iterator[Finding]:
        """What one of the agent's own files says, if it lies in the store and not beside it."""
        if os.path.isabs(oddity.file):
            return
        if oddity.what == "claude-settings":
            settings = read_object(self.store, oddity)
            finding = judge_retention(settings or {}, oddity.file, self.transcripts, self.settings.now)
            if finding is not None:
                yield finding
        elif oddity.what == "claude-index":
            index = read_object(self.store, oddity)
            folder = oddity.file.rpartition("/")[0]
            mine = [one for one in self.transcripts if one.file.rpartition("/")[0] == folder]
            if index is not None:
                yield from judge_index(index, oddity.file, mine)
            for run in self.store.unfinished(as_conversation(oddity)):
                detail = f"run {run} was interrupted while it changed this index"
                yield found("unfinished-run", Position(oddity.file), detail, facts={"run": run})
        elif oddity.what == "claude-history":
            yield from self.prompts_left(oddity)

    def prompts_left(self, oddity: Oddity) -> Iterator[Finding]:
        """Sessions of which only the prompts in the history are left."""
        known = {one.session_id for one in self.inventory.conversations}
        try:
            data = self.store.companion(PartFile(oddity.file, oddity.path), HISTORY_LIMIT)
        except UnreadableError as error:
            yield found("unreadable", Position(oddity.file), str(error))
            return
        for number, line in enumerate(io.BytesIO(data), start=1):
            try:
                session = orjson.loads(line).get("sessionId")
            except (orjson.JSONDecodeError, AttributeError):
                continue
            if isinstance(session, str) and session not in known:
                known.add(session)
                detail = f"only prompts of session {session} are left"
                yield found("deleted-session-traces", Position(oddity.file, number), detail, record_id=session)
