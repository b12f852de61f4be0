"""Faults for transcripts of any shape, made by changing records of a healthy one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.scenarios.made import encode

Record = dict[str, Any]
Fault = Callable[[random.Random, list[Record]], None]


def blocks(record: Record, kind: str) -> list[Record]:
    """The blocks of a kind in a record."""
    content = record.get("message", {}).get("content")
    return [one for one in content if one["type"].endswith(kind)] if isinstance(content, list) else []


def some(rng: random.Random, records: list[Record], kind: str) -> int | None:
    """The place of a record that holds one block of a kind and nothing else."""
    places = [
        place
        for place, one in enumerate(records)
        if len(one.get("message", {}).get("content", ())) == len(blocks(one, kind)) == 1
    ]
    return rng.choice(places) if places else None


def take_out(records: list[Record], place: int) -> Record:
    """Take a record out as if it had never been there."""
    gone = records.pop(place)
    for one in records:
        if one.get("parentUuid") == gone["uuid"]:
            one["parentUuid"] = gone["parentUuid"]
        if one.get("logicalParentUuid") == gone["uuid"]:
            one["logicalParentUuid"] = gone["parentUuid"]
    return gone


def put_in(records: list[Record], place: int, new: Record) -> None:
    """Put a record behind another, with what hung on that."""
    before = records[place]
    for one in records:
        if one.get("parentUuid") == before["uuid"]:
            one["parentUuid"] = new["uuid"]
    records.insert(place + 1, {**new, "parentUuid": before["uuid"]})


def alike(records: list[Record], place: int, other: int) -> bool:
    """Whether two records are messages of one thread."""
    return "message" in records[other] and all(
        records[place].get(key) == records[other].get(key) for key in ("isSidechain", "agentId")
    )


def fresh(rng: random.Random) -> str:
    return f"dddddddd-0000-4000-8000-{rng.randrange(16**12):012x}"


def missing_result(rng: random.Random, records: list[Record]) -> None:
    place = some(rng, records, "tool_result")
    if place is not None:
        take_out(records, place)


def missing_call(rng: random.Random, records: list[Record]) -> None:
    place = some(rng, records, "tool_use")
    if place is not None:
        take_out(records, place)


def second_result(rng: random.Random, records: list[Record]) -> None:
    place = some(rng, records, "tool_result")
    if place is not None:
        put_in(records, place, {**records[place], "uuid": fresh(rng)})


def late_result(rng: random.Random, records: list[Record]) -> None:
    """A result hangs behind a later message."""
    place = some(rng, records, "tool_result")
    later = [] if place is None else [at for at in range(place, len(records) - 1) if alike(records, place, at + 1)]
    if place is not None and later:
        at = rng.choice(later[:8])
        put_in(records, at, take_out(records, place))


def early_result(rng: random.Random, records: list[Record]) -> None:
    """A result hangs before its call."""
    place = some(rng, records, "tool_result")
    earlier = [] if place is None else [at for at in range(place) if alike(records, place, at)]
    if place is not None and earlier:
        at = rng.choice(earlier[-8:])
        put_in(records, at, take_out(records, place))


def lost_line(rng: random.Random, records: list[Record]) -> None:
    """A record is broken off at its beginning, its end, or in the middle."""
    places = [place for place, one in enumerate(records) if "uuid" in one]
    place = rng.choice(places)
    raw = encode(records[place])
    cut = rng.randrange(2, len(raw) - 2)
    end = min(cut + rng.randrange(1, 60), len(raw) - 1)
    broken = [raw[cut:], raw[:cut] + b"\n", raw[:cut] + b"\0" * (end - cut) + raw[end:]]
    records[place] = {"raw": rng.choice(broken), "uuid": None}


def numbers_for_ids(rng: random.Random, records: list[Record]) -> None:
    """A call and its result have an id that nobody takes."""
    place = some(rng, records, "tool_use")
    if place is not None:
        old, new = blocks(records[place], "tool_use")[0]["id"], rng.choice(["", "call #7", None, "unknown"])
        for one in records:
            for block in blocks(one, "tool_use"):
                block["id"] = new if block["id"] == old else block["id"]
            for block in blocks(one, "tool_result"):
                block["tool_use_id"] = new if block["tool_use_id"] == old else block["tool_use_id"]


FAULTS: tuple[Fault, ...] = (
    missing_result, missing_call, second_result, late_result, early_result, lost_line, numbers_for_ids,
)  # fmt: skip


def with_faults(rng: random.Random, lines: list[bytes], amount: int) -> tuple[bytes, list[str]]:
    """A transcript with so many faults, and which they are."""
    records: list[Record] = [json.loads(line) for line in lines]
    names = []
    for _ in range(amount):
        fault = rng.choice(FAULTS)
        whole = [one for one in records if "raw" not in one]
        if len(whole) == len(records) and len(records) > 3:
            fault(rng, records)
            names.append(fault.__name__)
    return b"".join(one["raw"] if "raw" in one else encode(one) for one in records), names
