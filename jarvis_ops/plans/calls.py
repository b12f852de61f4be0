"""Mending calls: their ids, and arguments that are no JSON object."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import ToolCall
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.lines import Change, Line, Lines, UnmendableError, changed
from jarvis_ops.plans.results import Result, member, renamed, results_of, taken
from jarvis_ops.plans.splice import element, value_at, value_span, without_element
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.style import style_of
from jarvis_ops.rules.pairing import UNUSABLE

# Text that could not be read as arguments is kept under this key.
KEPT = "_unparsed"
EMPTY = frozenset({"", "null", "[]"})
# A result may stand so many records behind its call before it is taken for lost.
FAR = 200
# The lists that may hold the calls of a record, the same call perhaps in two of them.
CALL_LISTS = ("content", "tool_calls", "content.tool_calls")


class Call(NamedTuple):
    """A call: its line and the path inside it."""

    line: Line
    path: str

    @property
    def value(self) -> dict[str, Any]:
        """The object of the call."""
        value: dict[str, Any] = value_at(self.line.value, self.path)
        return value

    @property
    def inner(self) -> str:
        """The path of the object that holds name and arguments."""
        return f"{self.path}.function" if isinstance(self.value.get("function"), dict) else self.path

    @property
    def name(self) -> Any:
        """The tool's name."""
        return value_at(self.line.value, self.inner).get("name")

    @property
    def arguments(self) -> Any:
        """The arguments as a value, also where they are stored as JSON text."""
        held = value_at(self.line.value, self.inner)
        value = held.get("input", held.get("arguments"))
        try:
            return orjson.loads(value) if isinstance(value, str) else value
        except orjson.JSONDecodeError:
            return value


class Calls:
    """Mends what is wrong with calls themselves."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def duplicate_id(self, finding: Finding) -> Repair:
        """A second call with an id of the same answer: set aside when it is the same, else renamed with its result."""
        call = self.call_at(finding)
        same = [Call(call.line, one.path) for one in twins(call)]
        number = same.index(call) if call in same else len(same)
        if any((one.name, one.arguments) == (call.name, call.arguments) for one in same[:number]):
            words = Words(finding, "lossy")
            changes = [Change(call.line, *without_element(call.line.raw, *element(path))) for path in places(call)]
            step = words.step("set-aside", call.line.at(call.path), "the answer holds this call already, word for word")
            return words.repair(step, edits=changed(changes))
        results = [one for line in self._lines.behind(call.line) for one in results_of(line, str(finding.call_id))]
        return self._rename(finding, call, results[number : number + 1], "its id stands on another call of this answer")

    def bad_id(self, finding: Finding) -> Repair:
        """An id that nobody can use, on a call or on a result."""
        line = self._lines.at(finding.position)
        path = finding.position.path or ""
        if any(one.path == path for one in line.message.results):
            return self._bad_result(finding, Result(line, path))
        call = self.call_at(finding)
        own = finding.call_id
        if usable(own):
            results = [one for other in self._lines.behind(line) for one in results_of(other, str(own))]
            return self._rename(finding, call, results, "the provider refuses the id of this call")
        result = self.result_of(call)
        if result is None:
            raise UnmendableError("no result belongs to this call for certain, so it gets no id by itself")
        return self._rename(finding, call, [result], "call and result belong together and get an id")

    def arguments(self, finding: Finding) -> Repair:
        """Arguments that are no JSON object: `{}` for none, else kept whole under one key."""
        call, words = self.call_at(finding), Words(finding)
        held = value_at(call.line.value, call.inner)
        key = "input" if "type" in call.value and str(call.value["type"]).endswith("tool_use") else "arguments"
        style = style_of(call.line.raw)
        if key not in held:
            change = member(call.line, call.inner, key, b"{}", style)
        else:
            start, end = value_span(call.line.raw, f"{call.inner}.{key}")
            as_text = key != "input" and (isinstance(held[key], str) or call.inner != call.path)
            raw = call.line.raw[start:end]
            change = Change(call.line, start, end, mended_arguments(held[key], raw, style.encoded, as_text=as_text))
        why = "the arguments of the call become a JSON object" + (
            f"; what was there is kept under {KEPT}" * (KEPT.encode() in change.new)
        )
        return words.repair(
            words.step("replace", call.line.at(call.path), why, new=change.new), edits=changed([change])
        )

    def call_at(self, finding: Finding) -> Call:
        """The call that a finding is about."""
        line = self._lines.at(finding.position)
        path = finding.position.path or ""
        if not any(one.path == path for one in line.message.calls):
            raise UnmendableError("the call is not where it was found")
        return Call(line, path)

    def result_of(self, call: Call) -> Result | None:
        """The result without a usable id that belongs to a call without one, where that is certain."""
        calls = [Call(call.line, one.path) for one in call.line.message.calls if not usable(one.id)]
        results = self._nameless_behind(call.line)
        if len(calls) == len(results) == 1:
            return results[0]
        for known in (spelled, named):
            mine = known(call)
            matching = [one for one in results if known(one) == mine]
            if mine is not None and len(matching) == 1 and sum(known(one) == mine for one in calls) == 1:
                return matching[0]
        return None

    def owner_of(self, result: Result) -> Call | None:
        """The one call without a result that a result without an id can belong to; None when there is none.

        UnmendableError where several could.
        """
        answer = next((one for one in self._lines.before(result.line) if one.message.role == "assistant"), None)
        if answer is None or result.line.message.role == "assistant":
            return None
        open_calls = [one for one in self._open(answer) if named(result) in {None, one.name}]
        if not open_calls:
            return None
        if len(open_calls) > 1 or len(self._nameless_behind(answer)) > 1:
            raise UnmendableError("several calls could own this result, which has no usable id")
        return open_calls[0]

    def has_nameless_result(self, call: Call) -> bool:
        """Whether a result without an id belongs to a call. UnmendableError where it could be another's as well."""
        owners = [self.owner_of(result) for result in self._nameless_behind(call.line)]
        return any(owner is not None and owner.path == call.path for owner in owners)

    def _open(self, answer: Line) -> Iterator[Call]:
        """The calls of an answer that have an id, and no result far and wide."""
        calls = [one for one in answer.message.calls if not one.server and usable(one.id)]
        answered = {
            result.id for line in itertools.islice(self._lines.after(answer), FAR) for result in line.message.results
        }
        return (Call(answer, one.path) for one in calls if one.id not in answered)

    def _bad_result(self, finding: Finding, result: Result) -> Repair:
        owner = self.owner_of(result)
        if owner is None:
            words = Words(finding, "lossy")
            why = "no open call can own this result, which has no usable id"
            step = words.step("set-aside", result.line.at(result.path), why)
            return words.repair(step, edits=(taken(result),), removes=int(result.alone))
        words = Words(finding)
        new = str(owner.value["id"])
        why = "the one call before it that has no result can own it, and gives it its id"
        step = words.step("replace", result.line.at(result.path), why, new=new.encode())
        return words.repair(step, edits=changed(renamed(result, new)))

    def _rename(self, finding: Finding, call: Call, results: Sequence[Result], why: str) -> Repair:
        words, new = Words(finding), new_id(call)
        encoded = style_of(call.line.raw).encoded(new)
        changes = [rename(call.line, path, encoded) for path in places(call)]
        steps = [words.step("replace", call.line.at(call.path), why, new=new.encode())]
        for result in results:
            changes += renamed(result, new)
            why = "the result follows the new id of its call"
            steps.append(words.step("replace", result.line.at(result.path), why, new=new.encode()))
        return words.repair(*steps, edits=changed(changes))

    def _nameless_behind(self, answer: Line) -> list[Result]:
        return [
            Result(line, one.path)
            for line in self._lines.behind(answer)
            for one in line.message.results
            if not usable(one.id)
        ]


def usable(call_id: str | None) -> bool:
    """Whether an id says anything."""
    return call_id is not None and call_id.strip() not in UNUSABLE


def spelled(one: Call | Result) -> Any:
    """An unusable id as it is written; None where there is none at all."""
    value = one.value
    return value.get("tool_use_id", value.get("tool_call_id")) if isinstance(one, Result) else value.get("id")


def named(one: Call | Result) -> Any:
    """The tool's name, None where it is not told."""
    return one.name


def twins(call: Call) -> list[ToolCall]:
    """The calls of a record that have the id of `call`, itself among them, in order."""
    mine = next(one.id for one in call.line.message.calls if one.path == call.path)
    return [one for one in call.line.message.calls if one.id == mine]


def places(call: Call) -> list[str]:
    """The paths of a call, which a record may hold in two forms: the one as often met in each list is the same."""
    own, index = element(call.path)
    listed = value_at(call.line.value, own)
    mine = call.value.get("id")
    number = sum(1 for other in listed[:index] if isinstance(other, dict) and same_id(other.get("id"), mine))
    paths = [call.path]
    for other in CALL_LISTS:
        if other != own:
            paths += calls_in(call.line.value, other, mine)[number : number + 1]
    return paths


def calls_in(value: Any, path: str, mine: Any) -> list[str]:
    """The paths of the calls in the list at `path`, if there is one, that have the id `mine`."""
    try:
        listed = value_at(value, path)
    except (KeyError, IndexError, TypeError):
        return []
    if not isinstance(listed, list):
        return []
    return [
        f"{path}[{number}]"
        for number, one in enumerate(listed)
        if isinstance(one, dict)
        and same_id(one.get("id"), mine)
        and (path != "content" or str(one.get("type")).endswith("tool_use"))
    ]


def same_id(one: Any, other: Any) -> bool:
    """Whether two stored ids are the same; an old store may have a number in one place and text in another."""
    return one == other or (one is not None and other is not None and str(one) == str(other))


def new_id(call: Call) -> str:
    """Another id for a call, always the same for the same call."""
    old = call.value.get("id")
    digest = hashlib.sha256(call.line.raw + call.path.encode()).hexdigest()
    stem = str(old)[:48] if old is not None and usable(str(old)) else "call"
    return f"{stem}_{digest[:12]}"


def rename(line: Line, path: str, encoded: bytes) -> Change:
    """The change that gives the call at `path` another id."""
    if "id" not in value_at(line.value, path):
        return member(line, path, "id", encoded, style_of(line.raw))
    return Change(line, *value_span(line.raw, f"{path}.id"), encoded)


def mended_arguments(value: Any, raw: bytes, encode: Any, *, as_text: bool) -> bytes:
    """The bytes of a JSON object, or of a text that is one, in place of arguments that are none."""
    if value in (None, []) or (isinstance(value, str) and value.strip() in EMPTY):
        return b'"{}"' if as_text else b"{}"
    if isinstance(value, str) and not as_text:
        inner = parsed_object(value)
        if inner is not None:
            return bytes(encode(inner))
    if as_text:
        text = json.dumps({KEPT: value}, ensure_ascii=False)
        return bytes(encode(text))
    return b"{" + bytes(encode(KEPT)) + b":" + raw + b"}"


def parsed_object(text: str) -> dict[str, Any] | None:
    """The object that a text is the JSON of, if it is one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
