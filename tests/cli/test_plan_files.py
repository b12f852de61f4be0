"""A saved plan says what it was given, and is refused when it could do harm."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.errors import StaleError, UsageError
from jarvis_ops.model.conversation import Conversation, Inventory, PartFile
from jarvis_ops.model.pieces import Span
from jarvis_ops.model.plan import PLAN, Aside, Change, Content, Part, Piece
from jarvis_ops.operations import planfile
from jarvis_ops.stores.open import open_store
from tests.cli.made import conversation, talk
from tests.cli.outcomes import ASIDE, INSERT

LOG = b'{"id":"m1"}\n{"id":"m2"}\n'


def change(inventory: Inventory, name: str) -> Change:
    """The second of two lines set aside, and a new one in its place."""
    one = next(each for each in inventory.conversations if each.id == name)
    (part,) = one.parts
    return Change(
        command="heal",
        conversation=one,
        fingerprint=(Part(part.file, len(LOG), "0" * 64),),
        contents=(Content(part.file, (Piece(part.file, 0, 12), Piece(base64="e30K"))),),
        asides=(Aside(Span(part.file, 12, 24), 2, "orphan-result"),),
        steps=(INSERT, ASIDE),
        inserted=("new",),
        added=1,
        removed=1,
    )


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    for name in ("one", "two", os.fsdecode(b"x\xff")):
        conversation(tmp_path, name, *talk())
    return open_store(str(tmp_path)).inventory()


def names(inventory: Inventory) -> list[str]:
    return [one.id for one in inventory.conversations]


def test_a_plan_comes_back_as_it_was_saved(inventory: Inventory) -> None:
    changes = [change(inventory, name) for name in names(inventory)]
    data = planfile.encoded("sessions", changes)
    assert data.isascii()
    assert planfile.read(data, inventory) == changes


def test_a_plan_file_is_for_people_too(inventory: Inventory) -> None:
    document = json.loads(planfile.encoded("sessions", [change(inventory, "one")]))
    assert (document["schema"], document["store"]) == (PLAN, "sessions")
    (plan,) = document["plans"]
    assert list(plan)[:2] == ["conversation", "steps"]
    assert plan["conversation"] == "one"
    assert plan["steps"][0]["why"] == INSERT.why


def test_a_conversation_that_is_gone(inventory: Inventory) -> None:
    data = planfile.encoded("sessions", [change(inventory, "one")]).replace(b'"one"', b'"gone"')
    with pytest.raises(StaleError, match="'gone', which is not in this store"):
        planfile.read(data, inventory)


def harmed(inventory: Inventory, harm: Callable[[dict[str, Any]], object]) -> bytes:
    document = json.loads(planfile.encoded("sessions", [change(inventory, "one")]))
    harm(document)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda it: it.update(schema="jarvis-ops-plan/2"), "jarvis-ops-plan/2"),
        (lambda it: it.pop("schema"), "no plan that --plan-out has saved"),
        (lambda it: it.update(plans=[1]), "no plan"),
        (lambda it: it.update(plans=it["plans"] * 2), "twice"),
        (lambda it: it["plans"][0].pop("fingerprint"), "no plan"),
        (lambda it: it["plans"][0].update(fingerprint=[]), "no part of it"),
        (lambda it: it["plans"][0]["contents"][0].update(file="../../etc/passwd"), "no part of it"),
        (lambda it: it["plans"][0]["contents"][0].update(file="two.jsonl"), "no part of it"),
        (lambda it: it["plans"][0]["contents"][0]["pieces"][0].update(file="two.jsonl"), "no part of it"),
        (lambda it: it["plans"][0]["contents"][0]["pieces"][0].update(length=25), "bytes that no file has"),
        (lambda it: it["plans"][0]["contents"][0]["pieces"][0].update(length=-1), "bytes that no file has"),
        (lambda it: it["plans"][0]["contents"][0]["pieces"][0].update(offset=-1), "bytes that no file has"),
        (lambda it: it["plans"][0]["contents"][0]["pieces"][0].update(length=5), "would lose bytes"),
        (lambda it: it["plans"][0].update(asides=[]), "would lose bytes"),
        (lambda it: it["plans"][0]["contents"][0]["pieces"][1].update(base64="not base64"), "no plan"),
    ],
)
def test_what_could_do_harm_is_refused(
    inventory: Inventory, harm: Callable[[dict[str, Any]], object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        planfile.read(harmed(inventory, harm), inventory)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'"' + b"[" * 99, b"[" * 100_000])
def test_what_is_no_plan(data: bytes) -> None:
    with pytest.raises(UsageError, match="no plan"):
        planfile.read(data, Inventory(conversations=()))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(Change.__struct_fields__), inner),
    max_leaves=8,
)


@given(value=VALUES, field=st.sampled_from(Change.__struct_fields__))
def test_any_value_in_any_place_is_read_or_refused(value: Any, field: str) -> None:
    part = PartFile("one.jsonl", "/nowhere/one.jsonl")
    one = Conversation(id="one", session_id="one", folder="", parts=(part,), live=part)
    inventory = Inventory(conversations=(one,))
    data = harmed(inventory, lambda it: it["plans"][0].update({field: value}))
    with contextlib.suppress(UsageError, StaleError):
        (read,) = planfile.read(data, inventory)
        assert read.conversation == one
