"""Further faults for JARVIS conversations, in every form: results in shared records, placeholders, several at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ops.plans.placeholders import TEXT
from tests.generate import JarvisWriter
from tests.plans.talk import FORMS, block, call

Fault = Callable[[JarvisWriter], None]
NONE = (TEXT, "aborted", "No result provided", "[openclaw] missing tool result in session history; added")


def form_of(writer: JarvisWriter) -> str:
    return writer.rng.choice(FORMS)


def asks(writer: JarvisWriter, form: str, *call_ids: Any) -> None:
    calls = [call(form, one, {"n": number}) for number, one in enumerate(call_ids)]
    if form == "blocks":
        text = [{"type": "text", "text": "let me see"}] if writer.chance(0.5) else []
        writer.message(role="assistant", content=text + calls)
    else:
        writer.message(role="assistant", content="", tool_calls=calls)


def answers(writer: JarvisWriter, form: str, *call_ids: Any, text: str = "real") -> None:
    """Results: each in a record of its own, or blocks together, perhaps with words of the user behind them."""
    if form == "blocks":
        more = [{"type": "text", "text": "go on"}] if writer.chance(0.3) else []
        writer.message(role="user", content=[block(one, text) for one in call_ids] + more)
        return
    for one in call_ids:
        writer.message(role="tool", tool_call_id=one, content=text)


def between(writer: JarvisWriter) -> None:
    for _ in range(writer.rng.randint(1, 3)):
        writer.message(role=writer.rng.choice(("user", "assistant", "system")), content="meanwhile")


def late(writer: JarvisWriter) -> None:
    """Some results stand behind other messages, in any order."""
    form, ids = form_of(writer), writer.call_ids(3)
    asks(writer, form, *ids)
    writer.rng.shuffle(ids)
    cut = writer.rng.randrange(3)
    if cut:
        answers(writer, form, *ids[:cut])
    between(writer)
    answers(writer, form, *ids[cut:])


def crossed(writer: JarvisWriter) -> None:
    """Results of two answers in one record, or in each other's place."""
    form = form_of(writer)
    first, second = writer.call_ids(2)
    asks(writer, form, first)
    asks(writer, form, second)
    answers(writer, form, *writer.rng.sample([first, second], 2))


def early(writer: JarvisWriter) -> None:
    form, ids = form_of(writer), writer.call_ids(2)
    answers(writer, form, *ids)
    asks(writer, form, *ids)


def missing(writer: JarvisWriter) -> None:
    form, ids = form_of(writer), writer.call_ids(4)
    asks(writer, form, *ids)
    some = writer.rng.sample(ids, writer.rng.randrange(4))
    if some:
        answers(writer, form, *some)
    if writer.chance(0.5):
        between(writer)


def placeholder(writer: JarvisWriter) -> None:
    """A placeholder, and the real result before or behind it, near or far."""
    form, ids = form_of(writer), writer.call_ids(2)
    asks(writer, form, *ids)
    pair = [("real", ids), (writer.rng.choice(NONE), ids[:1])]
    writer.rng.shuffle(pair)
    for number, (text, mine) in enumerate(pair):
        if number and writer.chance(0.5):
            between(writer)
        answers(writer, form, *mine, text=text)


def strangers(writer: JarvisWriter) -> None:
    """Results that belong to nobody, beside one that does."""
    form, ids = form_of(writer), writer.call_ids(3)
    asks(writer, form, ids[0])
    answers(writer, form, *writer.rng.sample(ids, 3))


def same_id(writer: JarvisWriter) -> None:
    form, (one, other) = form_of(writer), writer.call_ids(2)
    asks(writer, form, one, other, one)
    answers(writer, form, *writer.rng.sample([one, other, one], writer.rng.randint(1, 3)))


def nameless(writer: JarvisWriter) -> None:
    form, bad = form_of(writer), writer.rng.choice((None, "", "unknown"))
    one = writer.call_ids(1)[0]
    asks(writer, form, bad, one)
    answers(writer, form, *writer.rng.sample([bad, one], 2))


def lost_name(writer: JarvisWriter) -> None:
    form, ids = form_of(writer), writer.call_ids(2)
    asks(writer, form, *ids)
    answers(writer, form, ids[0], writer.rng.choice((None, "", "unknown")))


def split(writer: JarvisWriter) -> None:
    """A compaction between calls and results."""
    form, ids = form_of(writer), writer.call_ids(3)
    writer.message(role="user", content="now")
    asks(writer, form, *ids)
    through = writer.message_ids[-1]
    answers(writer, form, *ids)
    mark = {"type": "pippa_compaction", "id": writer.identity(), "summary": "s", "from_id": writer.message_ids[0]}
    writer.put({**mark, "through_id": through, "count": len(writer.message_ids), "compacted_at": 1})


FAULTS: tuple[Fault, ...] = (
    late, crossed, early, missing, placeholder, strangers, same_id, nameless, lost_name, split,
)  # fmt: skip
