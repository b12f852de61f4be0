"""Mending damaged lines: what is whole in them stays as it is, what is not goes aside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Edit, Piece, Span
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.record import Position, Record
from jarvis_ops.plans.base import Ground, Pages
from jarvis_ops.plans.lines import UnmendableError
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.style import line_end
from jarvis_ops.rules.damage import JOINED_LINES, split_line
from jarvis_ops.rules.seams import parse, records_in
from jarvis_ops.rules.text import BYTE_ORDER_MARK
from jarvis_ops.rules.words import counted

BLANK = b" \t\r\n"
REPLACEMENT = "\ufffd".encode()
ESCAPED_REPLACEMENT = rb"\ufffd"
NOT_NUL = re.compile(rb"[^\0]+")
WELL_FORMED = re.compile(
    rb"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2})+"
)
ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class Broken(NamedTuple):
    """A damaged line: `raw` without a byte order mark at the start of the file, `start` where it begins."""

    record: Record
    start: int
    raw: bytes

    @property
    def file(self) -> str:
        """Its file."""
        return self.record.file

    @property
    def end(self) -> int:
        """Where the line ends."""
        return self.start + len(self.raw)

    def span(self, start: int, end: int) -> Span:
        """A stretch of `raw` as a stretch of the file."""
        return Span(self.file, self.start + start, self.start + end)

    def at(self) -> Position:
        """Where the line begins."""
        return Position(self.file, None, self.start)

    def becomes(self, pieces: Iterable[Piece], end: int | None = None) -> tuple[Edit, ...]:
        """The edit that gives the line other content; with `end`, the lines behind it up to there as well."""
        mark = (Span(self.file, self.record.offset, self.start),) if self.start > self.record.offset else ()
        return (Edit(self.file, self.record.offset, self.end if end is None else end, (*mark, *pieces)),)

    def goes(self) -> tuple[Edit, ...]:
        """The edit that takes the whole line out."""
        return (Edit(self.file, self.record.offset, self.end),)


class Bytes:
    """Mends what is wrong with single lines, whatever their dialect. A record that goes is not relinked here."""

    def __init__(self, pages: Pages, ground: Ground) -> None:
        self._pages = pages
        self._is_record = ground.dialect.is_record
        self._decode = ground.dialect.decode
        self._ways: dict[str, Callable[[Finding, Broken], Repair]] = {
            "torn-tail": self._torn_tail,
            "no-final-newline": self._no_final_newline,
            "glued-lines": self._glued_lines,
            "nul-run": self._nul_run,
            "split-line": self._split_line,
            "bad-utf8": self._bad_utf8,
            "lone-surrogate": self._lone_surrogate,
            "bad-line": self._bad_line,
            "byte-order-mark": self._byte_order_mark,
        }

    def repair(self, finding: Finding) -> Repair | Refusal | None:
        """How to mend a finding about the bytes of a line; None for any other."""
        way, at = self._ways.get(finding.rule), finding.position
        if way is None or at.offset is None:
            return None
        record = self._pages.line(at.file, at.offset)
        marked = record.offset == 0 and record.raw.startswith(BYTE_ORDER_MARK)
        start = len(BYTE_ORDER_MARK) if marked else 0
        try:
            return way(finding, Broken(record, record.offset + start, record.raw[start:]))
        except UnmendableError as error:
            return Refusal(finding, error.reason)

    def _torn_tail(self, finding: Finding, line: Broken) -> Repair:
        words = Words(finding)
        step = words.step("set-aside", line.at(), "the last line is cut off, and no whole record is in it")
        return words.repair(step, edits=line.goes())

    def _no_final_newline(self, finding: Finding, line: Broken) -> Repair:
        words = Words(finding)
        end = b"\n" if line.raw.endswith(b"\r") else self._line_end(line)
        step = words.step("insert", line.at(), "the last record gets the line end that it lacks", new=end)
        return words.repair(step, edits=line.becomes([line.span(0, len(line.raw)), end]))

    def _glued_lines(self, finding: Finding, line: Broken) -> Repair:
        words = Words(finding)
        whole = self._whole_in(line.raw)
        if not whole:
            raise UnmendableError("no whole record was found in the line")
        lines, torn = parted(line.raw, whole)
        step = words.step("replace", line.at(), split_words(len(lines), torn))
        return words.repair(step, edits=line.becomes(written(line, lines, self._line_end(line))))

    def _nul_run(self, finding: Finding, line: Broken) -> Repair:
        words = Words(finding)
        runs = [match.span() for match in NOT_NUL.finditer(line.raw)]
        rest = b"".join(line.raw[start:end] for start, end in runs)
        value = parse(rest)
        if value is not None and self._decode(value).fault:
            return self._aside(finding, line, "NUL bytes took the place of what gave it sense")
        whole = [(0, len(rest))] if value is not None else self._whole_in(rest)
        cut = counted(line.raw.count(b"\0"), "NUL byte")
        if not whole:
            step = words.step("set-aside", line.at(), f"{cut}, and no whole record around")
            return words.repair(step, edits=line.goes())
        lines, torn = parted(rest, whole)
        places = Places(runs)
        raw_lines = [[stretch for piece in one for stretch in places.of(*piece)] for one in lines]
        why = f"{cut} cut out; {split_words(len(lines), torn) if torn or len(lines) > 1 else 'the record stays'}"
        edits = line.becomes(written(line, raw_lines, self._line_end(line)))
        return words.repair(words.step("replace", line.at(), why), edits=edits)

    def _whole_in(self, raw: bytes) -> list[tuple[int, int]]:
        return [(piece.start, piece.end) for piece in records_in(raw, self._is_record)]

    def _line_end(self, line: Broken) -> bytes:
        """How a line ends; where it has no end, as the one before it."""
        before = None if line.raw.endswith(b"\n") else next(self._pages.backward(line.file, line.record.offset), None)
        return line_end(line.raw, *([before.raw] if before is not None else []))

    def _split_line(self, finding: Finding, line: Broken) -> Repair:
        words = Words(finding)
        damage = split_line(line.raw, lambda: (one.raw for one in self._following(line)))
        if damage is None:
            raise UnmendableError("the lines do not make one record")
        pieces: list[Piece] = []
        start, raw = line.start, line.raw
        following = self._following(line)
        for _ in range(damage.lines - 1):
            body = raw.removesuffix(b"\n").removesuffix(b"\r")
            pieces += [Span(line.file, start, start + len(body)), rb"\r\n" if raw.endswith(b"\r\n") else rb"\n"]
            start += len(raw)
            raw = next(following).raw
        end = start + len(raw)
        why = f"{counted(damage.lines, 'line')} become the one record that they are, its line feed an escape"
        step = words.step("replace", line.at(), why)
        edits = line.becomes([*pieces, Span(line.file, start, end)], end)
        return words.repair(step, edits=edits)

    def _following(self, line: Broken) -> Iterator[Record]:
        for number, record in enumerate(self._pages.forward(line.file, line.end)):
            if record.file != line.file or number == JOINED_LINES:
                return
            yield record

    def _bad_utf8(self, finding: Finding, line: Broken) -> Repair:
        if parse(line.raw) is None:
            return self._aside(finding, line, "bytes that are not UTF-8 stand where the record is not whole otherwise")
        bad, reached = [], 0
        for match in WELL_FORMED.finditer(line.raw):
            bad += [(place, place + 1) for place in range(reached, match.start())]
            reached = match.end()
        bad += [(place, place + 1) for place in range(reached, len(line.raw))]
        why = f"{counted(len(bad), 'byte')} that {'is' if len(bad) == 1 else 'are'} not UTF-8 become U+FFFD"
        return self._replaced(finding, line, bad, REPLACEMENT, why)

    def _lone_surrogate(self, finding: Finding, line: Broken) -> Repair:
        halves = list(lone_halves(line.raw))
        if not halves:
            raise UnmendableError("no lone half is written as an escape in the line")
        why = f"{counted(len(halves), 'lone surrogate')} of this line become U+FFFD"
        return self._replaced(finding, line, halves, ESCAPED_REPLACEMENT, why)

    def _replaced(
        self, finding: Finding, line: Broken, places: Sequence[tuple[int, int]], new: bytes, why: str
    ) -> Repair:
        words = Words(finding, "lossy")
        pieces: list[Piece] = []
        reached = 0
        for start, end in places:
            pieces += [line.span(reached, start), new]
            reached = end
        step = words.step("replace", line.at(), why, new=new)
        return words.repair(step, edits=line.becomes([*pieces, line.span(reached, len(line.raw))]))

    def _bad_line(self, finding: Finding, line: Broken) -> Repair:
        return self._aside(finding, line, "the line is not one JSON object")

    def _aside(self, finding: Finding, line: Broken, why: str) -> Repair:
        words = Words(finding, "lossy")
        return words.repair(words.step("set-aside", line.at(), why), edits=line.goes(), removes=1)

    def _byte_order_mark(self, finding: Finding, line: Broken) -> Repair:
        if line.start == line.record.offset:
            raise UnmendableError("the file does not begin with a byte order mark")
        words = Words(finding, "asked")
        step = words.step("replace", Position(line.file, None, line.record.offset), "the byte order mark is cut off")
        edit = Edit(line.file, line.record.offset, line.end, (line.span(0, len(line.raw)),))
        return words.repair(step, edits=(edit,))


class Places:
    """Where the bytes of a text stand that was made by joining `runs` of another."""

    def __init__(self, runs: Sequence[tuple[int, int]]) -> None:
        self._runs = runs

    def of(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The stretches of the other text that make up [start, end) of the joined one."""
        reached = 0
        for first, last in self._runs:
            low, high = max(start, reached), min(end, reached + last - first)
            if low < high:
                yield first + low - reached, first + high - reached
            reached += last - first


def parted(raw: bytes, whole: Sequence[tuple[int, int]]) -> tuple[list[list[tuple[int, int]]], int]:
    """The stretches that each whole record of a line keeps, blanks around it included, and the count of torn bytes."""
    lines: list[list[tuple[int, int]]] = []
    torn = 0
    edges = [*(start for start, _ in whole), len(raw)]
    head = raw[: edges[0]].strip(BLANK)
    torn += len(head)
    for number, (start, end) in enumerate(whole):
        begin = 0 if number == 0 and not head else start
        gap = raw[end : edges[number + 1]].strip(BLANK)
        torn += len(gap)
        lines.append([(begin, end if gap else edges[number + 1])])
    return lines, torn


def written(line: Broken, lines: Sequence[Sequence[tuple[int, int]]], end: bytes) -> Iterator[Piece]:
    """Stretches of a damaged line as lines of their own; each that has no end gets one."""
    for stretches in lines:
        yield from (line.span(start, stop) for start, stop in stretches)
        if not line.raw[: stretches[-1][1]].endswith(b"\n"):
            yield end


def split_words(lines: int, torn: int) -> str:
    """What a split does."""
    where = "a line of its own" if lines == 1 else "lines of their own"
    kept = f"{counted(lines, 'whole record')} on {where}"
    return f"{kept}; {counted(torn, 'torn byte')} set aside" if torn else kept


def lone_halves(raw: bytes) -> Iterator[tuple[int, int]]:
    r"""Where the escapes of surrogates stand that have no other half beside them (`\ud83d`)."""
    waiting: tuple[int, int] | None = None
    for match in ESCAPE.finditer(raw):
        code = int(match[1], 16) if match[1] else 0
        if waiting is not None and 0xDC00 <= code < 0xE000 and match.start() == waiting[1]:
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = match.span() if 0xD800 <= code < 0xDC00 else None
        if 0xDC00 <= code < 0xE000:
            yield match.span()
    if waiting is not None:
        yield waiting
