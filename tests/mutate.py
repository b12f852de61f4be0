"""Seeded mutations of log lines and of whole files, for the fuzz tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.generate import JarvisWriter
from tests.generate_claude import ClaudeWriter

Mutation = Callable[[random.Random, bytes], bytes]

SNIPPETS = (
    # NUL bytes, quotes and escapes
    b"\0", b"\0\0\0\0", b'"', b'\\"', b"\\", b"\\n", b"\\u0000", rb"\u12", rb"\\ud83d",
    # surrogates, in pairs and alone
    rb"\ud83d", rb"\ude00", rb"\ud83d\ude00", rb"\uD83D\u0041",
    # control characters and what some languages call a blank
    b"\x01", b"\x1b[31m", b"\x7f", b"\t", b"\r", b"\n", b"\x0b", b"\x0c", b"\xa0", b"\xc2\xa0", b"\xef\xbb\xbf",
    # no UTF-8, and good UTF-8
    b"\xff", b"\xc0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xf4\x90\x80\x80", b"\xea\xb0", "\u2028가".encode(),
    # punctuation and words
    b"{", b"}", b"[", b"]", b",", b":", b"{}", b"}{", b"null", b"true", b"tru", b"//", b"/* */",
    # numbers
    b"NaN", b"-Infinity", b"1e999", b"-1e999", b"01", b"1.", b".5", b"-", b"9" * 400, b"1e-400", b"0.1e1",
    b"18446744073709551616", b"-9223372036854775809",
    # whole records and pieces of one
    b'{"role":"user","content":"x"}', b'{"type":"turn_end","turn_id":"t"}', b'"id":"m1",', b'"role":7,',
    b'"tool_calls":{},',
)  # fmt: skip


def insert(rng: random.Random, line: bytes) -> bytes:
    """Something strange somewhere."""
    at = rng.randrange(len(line) + 1)
    return line[:at] + rng.choice(SNIPPETS) + line[at:]


def flip(rng: random.Random, line: bytes) -> bytes:
    """One to three bytes become others."""
    changed = bytearray(line)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(rng: random.Random, line: bytes) -> bytes:
    """The head, the tail or the middle is gone."""
    first, second = sorted((rng.randrange(len(line) + 1), rng.randrange(len(line) + 1)))
    return rng.choice((line[:first], line[first:], line[:first] + line[second:], line[first:second]))


def glue(rng: random.Random, line: bytes) -> bytes:
    """The line twice, or a piece of it and the line."""
    piece = line[: rng.randrange(len(line) + 1)] if rng.random() < 0.7 else line
    return rng.choice((piece + line, line + piece, piece + b" " + line, line + b"," + piece))


def wrap(rng: random.Random, line: bytes) -> bytes:
    """The object inside or beside something else."""
    forms = (
        b"[%b]",
        b'{"a":%b}',
        b'"%b"',
        b"  %b\t",
        b"\x0b%b",
        b"%b\r",
        b"\xef\xbb\xbf%b",
        b"%b,",
        b"data: %b",
        b"%b//",
    )
    return rng.choice(forms).replace(b"%b", line)


def deepen(rng: random.Random, line: bytes) -> bytes:
    """Brackets within brackets."""
    depth = rng.choice((5, 200, 900, 1020, 1023, 1024, 1030))
    inner = rng.choice((b"1", rb'"\ud83d"', b"")) if rng.random() < 0.5 else b""
    nest = b"[" * depth + inner + b"]" * depth
    if rng.random() < 0.5:
        nest = b'{"a":' * depth + (inner or b"1") + b"}" * depth
    return line[:-1] + b',"deep":' + nest + b"}"


def repeat_key(rng: random.Random, line: bytes) -> bytes:
    """A key that is there already, once more."""
    key = rng.choice((b"id", b"role", b"content", b"tool_calls", b"type", b"uuid", b"message"))
    value = rng.choice(
        (b"null", b"7", b'""', b"[]", b"{}", b'"user"', b'"assistant"', b"true", b'[{"type":"tool_use"}]')
    )
    return line[:-1] + b',"' + key + b'":' + value + b"}"


def replace_value(rng: random.Random, line: bytes) -> bytes:
    """A value of another kind behind some colon."""
    places = [number for number, byte in enumerate(line) if byte == ord(":")]
    if not places:
        return b"{}"
    at = rng.choice(places) + 1
    end = line.find(b",", at)
    value = rng.choice((b"null", b"7", b'""', b"[]", b"{}", b"-0", b"1e5", b"[null]", b'[{"id":null}]', b'"unknown"'))
    return line[:at] + value + line[end if end > 0 else -1 :]


LINE_MUTATIONS: tuple[Mutation, ...] = (insert, insert, flip, cut, glue, wrap, repeat_key, replace_value)


def mutated(rng: random.Random, line: bytes) -> bytes:
    """A line (without its line feed) after one to three mutations, one in 500 with many brackets."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutation = deepen if rng.random() < 0.002 else rng.choice(LINE_MUTATIONS)
        line = mutation(rng, line or b"{}")
    return line


def good_lines(rng: random.Random, kind: str, amount: int) -> list[bytes]:
    """So many healthy lines of a dialect, without line feeds."""
    writer = JarvisWriter(rng) if kind == "jarvis" else ClaudeWriter(rng)
    while len(writer.lines) < amount:
        writer.turn()
    return [(line if isinstance(line, bytes) else line.raw)[:-1] for line in writer.lines[:amount]]


def mutated_file(rng: random.Random, kind: str, amount: int, share: float) -> bytes:
    """A log of `amount` lines, of which about `share` are mutated; now and then it lacks its last line feed."""
    lines = [mutated(rng, line) if rng.random() < share else line for line in good_lines(rng, kind, amount)]
    return b"\n".join(lines) + rng.choice((b"\n", b"\n", b""))


def truncate(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def splice(rng: random.Random, content: bytes) -> bytes:
    """A stretch is copied to another place."""
    first, second = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[first:second] + content[at:]


def shuffle_blocks(rng: random.Random, content: bytes) -> bytes:
    """Disk blocks in the wrong order, some of them zeroed or doubled."""
    size = rng.choice((64, 512, 4096))
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    rng.shuffle(blocks)
    return b"".join(rng.choice((block, block, block, b"\0" * len(block), block * 2)) for block in blocks)


def random_bytes(rng: random.Random, content: bytes) -> bytes:
    return rng.randbytes(rng.randrange(len(content) + 1))


def overwrite(rng: random.Random, content: bytes) -> bytes:
    """Random bytes in the middle."""
    at = rng.randrange(len(content) + 1)
    noise = rng.randbytes(rng.randrange(200))
    return content[:at] + noise + content[at + len(noise) :]


def shuffle_lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


FILE_MUTATIONS: Sequence[Mutation] = (truncate, splice, shuffle_blocks, random_bytes, overwrite, shuffle_lines)
