"""Judging a conversation whose order is a chain of parents: Claude Code's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.claude_line import NAMELESS
from jarvis_ops.model.finding import Finding
from jarvis_ops.operations.reading import Reading
from jarvis_ops.rules.breaks import judge_chain
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.pairing import Pairing
from jarvis_ops.rules.repeats import repeats
from jarvis_ops.rules.tree import FOREIGN, SIDE, SUPERSEDED, Tree
from jarvis_ops.rules.turns import Turns

# Branches off the chain are walked one by one under `--scope full`, so many at most.
BRANCHES = 1_000


class Branching:
    """One pass over a tree. `run` it, `build` the chain, then `finish` it; `findings` is the verdict.

    `own` is the session that the file's name gives it; `side` says that the whole file is a sub-agent's.
    `partial` says that only the end of the file was read, so that nothing can be said about its beginning.
    """

    def __init__(self, reading: Reading, dialect: Dialect, *, own: str, side: bool, partial: bool) -> None:
        self.reading = reading
        self.dialect = dialect
        self.own = own
        self.side = side
        self.partial = partial
        self.tree = Tree()
        self.turns = Turns()
        self.newest = Pairing(dialect.good_id, dialect.unique_id)
        self.findings: list[Finding] = []
        self.attachments: list[tuple[str, Finding]] = []
        self.cwds: set[str] = set()
        self.records = 0
        self.talk = 0
        self.typed = 0
        self.prompts = False
        self.last_time: int | None = None

    def run(self) -> None:
        """Read every line into the tree."""
        cwd = None
        for record, message in self.reading:
            self.records += 1
            self.talk += message.role in {"user", "assistant"}
            self.typed += message.typed and message.chain is None
            self.prompts = self.prompts or message.type == "last-prompt"
            if message.fault:
                self.findings.append(found("bad-shape", record.position(), message.fault, record_id=message.id))
            if message.time is not None and (self.last_time is None or message.time > self.last_time):
                self.last_time = message.time
            if message.cwd is not None and message.cwd != cwd:
                cwd = message.cwd
                self.cwds.add(cwd)
            for path in message.attachments:
                detail = f"the saved output {path} is gone"
                facts = {"path": path}
                missing = found("attachment-missing", record.position(), detail, record_id=message.id, facts=facts)
                self.attachments.append((path, missing))
            self.tree.add(message, record)

    def build(self) -> Chain:
        """Settle the tree, set aside what belongs to another session, and walk the chain."""
        tree = self.tree
        tree.settle()
        self.foreign()
        tree.keep_segments()
        chain = Chain(tree, side=self.side)
        self.newest = self.pair(chain.sequences[0] if chain.sequences else [], self.turns)
        return chain

    def foreign(self) -> None:
        """Name the records of another session behind the first own one; those before it are copied history."""
        tree = self.tree
        if not tree.sessions:
            return
        own = tree.session_names.get(self.own, tree.sessions[-1])
        names = list(tree.session_names)
        begun = False
        for number, session in enumerate(tree.sessions):
            begun = begun or session == own
            if not begun or session == own or names[session] is None:
                continue
            tree.flags[number] |= FOREIGN
            name = names[session]
            detail = f"the record belongs to session {name}"
            facts = {"session": name}
            self.findings.append(
                found("foreign-record", tree.position(number), detail, record_id=tree.ids[number], facts=facts)
            )

    def finish(self, chain: Chain, frontier: str, *, full: bool) -> None:
        """Judge the chain and the pairs on it; what was compacted counts as infos unless `full`."""
        earlier: set[int] = set()
        for window in reversed(range(len(chain.sequences))):
            known = not chain.broken[window] and not self.partial
            pairing = self.newest if window == 0 else self.pair(chain.sequences[window], compacted=not full)
            pairing.finish(frontier if window == 0 else "", calls_known=known, earlier=earlier)
            earlier.update(pairing.ids)
            self.findings += pairing.findings
        for numbers in self.side_chains():
            pairing = self.pair(numbers)
            pairing.finish(frontier)
            self.findings += pairing.findings
        if full:
            self.branches(chain)
        if not self.partial:
            self.findings += judge_chain(chain)
        self.turns.finish(frontier)
        silent = {"tool-use-stop-without-call"} if self.reading.damaged or self.partial else set()
        self.findings += [finding for finding in self.turns.findings if finding.rule not in silent]
        self.findings += self.reading.findings

    def pair(self, numbers: Sequence[int], turns: Turns | None = None, *, compacted: bool = False) -> Pairing:
        """The pairing machine fed with records; a second time when call ids are met more than once."""
        pairing = Pairing(self.dialect.good_id, self.dialect.unique_id)
        pairing.compacted = compacted
        for number in numbers:
            message, record = self.tree.message(number), self.tree.record(number)
            pairing.feed(message, record)
            if turns is not None:
                turns.feed(message, record)
        again = repeats(pairing.ids)
        if again:
            pairing = Pairing(self.dialect.good_id, self.dialect.unique_id, again)
            pairing.compacted = compacted
            for number in numbers:
                pairing.feed(self.tree.message(number), self.tree.record(number))
        return pairing

    def side_chains(self) -> list[list[int]]:
        """The threads of sub-agents that share a file with their parent, each in file order."""
        if self.side:
            return []
        tree = self.tree
        threads: dict[tuple[int, int], list[int]] = {}
        nameless_chain = tree.chain_names.get(NAMELESS)
        thread_of: dict[int, tuple[int, int]] = {}
        for number, flags in enumerate(tree.flags):
            if flags & SIDE and not flags & (SUPERSEDED | FOREIGN):
                chain = tree.chains[number]
                # Old records do not name their agent; then the thread is known by its root.
                nameless = chain == nameless_chain
                new = (chain, number if nameless else 0)
                thread_of[number] = thread_of.get(tree.parents[number], new) if nameless else new
                threads.setdefault(thread_of[number], []).append(number)
        return list(threads.values())

    def branches(self, chain: Chain) -> None:
        """Judge what the user left behind, branch by branch, apart from what it shares with the chain."""
        seen = {(finding.rule, finding.position, finding.call_id) for finding in self.findings}
        for sequence, own in chain.branches(BRANCHES):
            pairing = self.pair(sequence)
            pairing.finish("", calls_known=False)
            places = {self.tree.offsets[number] for number in own}
            for finding in pairing.findings:
                key = (finding.rule, finding.position, finding.call_id)
                if finding.position.offset in places and key not in seen:
                    seen.add(key)
                    self.findings.append(finding)


def duplicates(make_reading: Callable[[], Reading], tree: Tree) -> list[Finding]:
    """Records with an id that stood before: with other content, or byte for byte (the agent's reader takes one)."""
    if len(tree.index) == len(tree.ids):
        return []
    counts = Counter(tree.ids)
    first: dict[str, tuple[int, int | None]] = {}
    findings = []
    for record, message in make_reading():
        if message.id is None or counts[message.id] < 2:
            continue
        content = hash(record.raw.strip())
        if message.id not in first:
            first[message.id] = content, record.line
            continue
        earlier = first[message.id]
        same = earlier[0] == content
        words = "the same record, byte for byte, stands" if same else "another record with this id stands"
        detail = f"{words} in line {earlier[1]}"
        facts = {"first_line": earlier[1]}
        rule, severity = ("repeated-record", "info") if same else ("duplicate-id", None)
        findings.append(
            found(rule, record.position(), detail, severity=severity, record_id=message.id, facts=facts)  # type: ignore[arg-type]
        )
    return findings
