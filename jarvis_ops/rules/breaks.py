"""What is broken in a tree of records, and what that hides."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.model.finding import Finding
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.hidden import unreachable
from jarvis_ops.rules.tree import FOREIGN, LEGAL_ROOT, LOST, MESSAGE, NONE, SUPERSEDED
from jarvis_ops.rules.words import counted


def judge_chain(chain: Chain) -> Iterator[Finding]:
    """Missing parents, cycles, roots that cut the history, and replies that no branch of the user's explains."""
    yield from dangling(chain)
    yield from cycles(chain)
    yield from roots(chain)
    yield from lost_boundaries(chain)
    yield from unreachable(chain)


def dangling(chain: Chain) -> Iterator[Finding]:
    """Records whose parent is nowhere in the file."""
    tree = chain.tree
    for number, name in tree.waiting.items():
        if tree.parents[number] != LOST or tree.flags[number] & (SUPERSEDED | FOREIGN) or (chain.side and number == 0):
            continue
        hidden = hidden_before(chain, number)
        detail = f"its parent {name} is not in the file" + (
            f"; {counted(hidden, 'message')} before it out of reach" if hidden else ""
        )
        facts = {"parent": name, "hidden": hidden}
        yield found("dangling-parent", tree.position(number), detail, record_id=tree.ids[number], facts=facts)


def hidden_before(chain: Chain, number: int) -> int:
    """How many messages before a break the agent no longer reaches: 0 when the break is not on its way."""
    if not chain.windows or chain.windows[0][0] != number:
        return 0
    return sum(
        1
        for other in range(number)
        if chain.tree.flags[other] & MESSAGE
        and not chain.tree.flags[other] & chain.left_out()
        and not chain.reached[other]
    )


def cycles(chain: Chain) -> Iterator[Finding]:
    """Parents that lead back to where they started; one finding a cycle."""
    tree = chain.tree
    seen = bytearray(len(tree))  # 1 on the present way, 2 done
    # Where every parent stands before its child there is no cycle, so that only the others need a walk.
    for start in (number for number, parent in enumerate(tree.parents) if parent >= number):
        way: list[int] = []
        number = start
        while number >= 0 and not seen[number]:
            seen[number] = 1
            way.append(number)
            number = tree.parents[number]
        if number >= 0 and seen[number] == 1:
            cycle = sorted(way[way.index(number) :])
            at = next((member for member in cycle if tree.parents[member] >= member), cycle[0])
            lines = [tree.lines[member] for member in cycle]
            detail = f"the parents of lines {', '.join(map(str, lines[:20]))} lead round in a circle"
            facts = {
                "lines": lines,
                "hidden": hidden_before(chain, chain.windows[0][0]) if any(chain.broken[:1]) else 0,
            }
            yield found("parent-cycle", tree.position(at), detail, record_id=tree.ids[at], facts=facts)
        for member in way:
            seen[member] = 2


def roots(chain: Chain) -> Iterator[Finding]:
    """Roots other than the first that no compaction, command or hook explains."""
    tree = chain.tree
    first = first_message = True
    top = chain.windows[0][0] if chain.windows else None
    for number, parent in enumerate(tree.parents):
        flags = tree.flags[number]
        if parent != NONE or flags & chain.left_out():
            continue
        legal = first or (first_message and flags & MESSAGE) or flags & LEGAL_ROOT
        first = False
        first_message = first_message and not flags & MESSAGE
        if legal or not (flags & MESSAGE or number == top):
            continue
        hidden = hidden_before(chain, number)
        detail = "a second root: it names no parent although records stand before it"
        detail += f"; {counted(hidden, 'message')} out of reach" if hidden else ""
        yield found("extra-root", tree.position(number), detail, record_id=tree.ids[number], facts={"hidden": hidden})


def lost_boundaries(chain: Chain) -> Iterator[Finding]:
    """Compactions that name, as the last record before them, one that is not there though others are."""
    tree = chain.tree
    for number, message in tree.boundaries.items():
        named = (message.marker or {}).get("logicalParentUuid")
        if number > 0 and isinstance(named, str) and named not in tree.index and not tree.flags[number] & FOREIGN:
            detail = f"the compaction names record {named} as the last before it, which is not in the file"
            yield found(
                "compaction-dangling", tree.position(number), detail, record_id=tree.ids[number], facts={"names": named}
            )
