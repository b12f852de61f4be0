"""Rows about bytes, lines, and the shape of single records."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

BYTES = "bytes"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="torn-tail",
        severity="error",
        group=BYTES,
        what="The file stops in the middle of a record: its last line has no line feed and is no complete JSON value. "
        "A write was cut short, and the next append would be glued to the piece and be lost with it.",
        repair="The piece goes to quarantine and the file ends with the last whole line; this counts as safe when no "
        "whole record is inside the piece.",
        safety="lossy",
    ),
    Rule(
        name="no-final-newline",
        severity="warning",
        group=BYTES,
        what="The last record is whole but nothing ends its line, so whatever is appended next shares the line with "
        "it.",
        repair="One line feed is added at the end.",
        safety="safe",
    ),
    Rule(
        name="glued-lines",
        severity="error",
        group=BYTES,
        what="One line holds more than one JSON value, or a torn piece with a whole record behind it. Readers that "
        "take a line for a record lose all of it.",
        repair="The line is split where one value ends and the next begins, bytes as they are; a torn piece goes to "
        "quarantine.",
        safety="safe",
    ),
    Rule(
        name="nul-run",
        severity="error",
        group=BYTES,
        what="NUL bytes stand in a line or between lines, as a power cut leaves them when the length of a file "
        "reached the disk and its contents did not. No JSON reader accepts them.",
        repair="The NUL bytes are cut out and a record around or behind them is kept where it is whole; this counts "
        "as safe when no whole record is lost.",
        safety="lossy",
    ),
    Rule(
        name="split-line",
        severity="error",
        group=BYTES,
        what="A bare line feed inside a text broke one record into several lines, none of which is JSON by itself.",
        repair="The lines are joined into one record, with the line feed written as an escape.",
        safety="safe",
    ),
    Rule(
        name="bad-utf8",
        severity="error",
        group=BYTES,
        what="The line holds bytes that are not UTF-8, so strict readers and every provider refuse it.",
        repair="Each bad byte becomes U+FFFD when the record is whole otherwise; if not, the line goes to quarantine.",
        safety="lossy",
        provider_rules=("GEN-1",),
    ),
    Rule(
        name="lone-surrogate",
        severity="error",
        group=BYTES,
        what="A text holds one half of a surrogate pair (an emoji cut in two). Python agents can read it, but each "
        "request that carries it is answered with 400.",
        repair="The half becomes U+FFFD, in this line only.",
        safety="lossy",
        provider_rules=("GEN-1",),
    ),
    Rule(
        name="bad-line",
        severity="error",
        group=BYTES,
        what="The line is not one JSON object, and no more exact rule says why. Readers drop it or stop at it.",
        repair="The line goes to quarantine.",
        safety="lossy",
    ),
    Rule(
        name="byte-order-mark",
        severity="warning",
        group=BYTES,
        what="The file begins with a byte order mark, which strict JSON readers take for a broken first record.",
        repair="The three bytes are cut off.",
        safety="asked",
    ),
    Rule(
        name="duplicate-id",
        severity="error",
        group=BYTES,
        what="Two records with different contents carry the same id, so a link to that id can mean either of them.",
    ),
    Rule(
        name="repeated-record",
        severity="error",
        group=BYTES,
        what="The same record stands in the log twice, byte for byte, so the model would be sent it twice. Where the "
        "agent itself takes only one of them this is an info.",
        repair="The later copy is set aside.",
        safety="lossy",
    ),
    Rule(
        name="bad-shape",
        severity="error",
        group=BYTES,
        what="The record is valid JSON, but a field that the agent needs is missing or of the wrong kind, so it "
        "cannot be understood.",
    ),
    Rule(
        name="empty-file",
        severity="info",
        group=BYTES,
        what="The file has no bytes. A log may begin so; where one file is one record, that record is gone, and this "
        "is an error.",
        repair="The empty file is set aside.",
        safety="safe",
    ),
    Rule(
        name="crlf",
        severity="info",
        group=BYTES,
        what="Lines end in CR LF. JSON allows it, and the endings are kept as they are.",
    ),
    Rule(
        name="line-separator-char",
        severity="info",
        group=BYTES,
        what="A text holds U+2028, U+2029 or U+0085 unescaped. The record is good JSON, but tools that split lines on "
        "those characters cut it in two.",
    ),
    Rule(
        name="nul-char",
        severity="warning",
        group=BYTES,
        what="A text holds the character U+0000. A file can carry it, but a Postgres text or jsonb column cannot, so "
        "this conversation cannot be moved to one as it is.",
    ),
    Rule(
        name="long-line",
        severity="warning",
        group=BYTES,
        what="One line is longer than the limit of the settings (8 MiB unless set). Some readers refuse such a line "
        "or need many times its size in memory.",
    ),
    Rule(
        name="bad-header",
        severity="error",
        group="headers",
        what="The first line, by which the agent finds and opens the file, is broken, so the whole conversation is "
        "missing from its list.",
        repair="The header is made again from the records behind it.",
        safety="asked",
    ),
    Rule(
        name="header-not-first",
        severity="info",
        group="headers",
        what="The header is whole but other lines stand before it; readers that look only at the first line miss it.",
    ),
)
