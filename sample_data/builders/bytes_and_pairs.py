"""Samples of damaged bytes and of broken pairs, in JARVIS logs."""

from __future__ import annotations

from builders.dialog import Dialog, call, openai_call
from builders.folder import Folder, line, sample


def picnic() -> Dialog:
    """Four healthy lines: a question, a call, its result, the answer."""
    talk = Dialog()
    talk.user("Will it stay dry for a picnic at the lake on Saturday?")
    talk.answer("Let me look at the forecast.", call("call_1", "forecast", place="lake", day="Saturday"))
    talk.result("call_1", "dry, 19 degrees, a light wind from the west")
    talk.answer("Yes: dry and 19 degrees. Take a blanket against the wind.")
    return talk


def reading() -> Dialog:
    """Four healthy lines in Korean."""
    talk = Dialog()
    talk.user("이번 주말에 읽을 만한 책을 한 권 추천해 줘.")
    talk.answer("책장을 살펴볼게요.", call("call_1", "bookshelf", unread=True))
    talk.result("call_1", "섬에 있는 서점, 바다의 지도, 고양이와 정원사")
    talk.answer("비 오는 주말에는 ‘바다의 지도’가 잘 어울려요.")
    return talk


@sample("torn-tail")
def torn_tail(folder: Folder) -> None:
    talk = picnic()
    talk.raw(b'{"id":"m5","role":"user","content":"And on Sund')
    folder.log("picnic", *talk.lines)
    folder.expect("torn-tail", "error", "picnic.jsonl", 5, bytes=47)


@sample("no-final-newline")
def no_final_newline(folder: Folder) -> None:
    talk = reading()
    talk.replace(4, b"\n", b"")
    folder.log("reading", *talk.lines)
    folder.expect("no-final-newline", "warning", "reading.jsonl", 4)


@sample("glued-lines")
def glued_lines(folder: Folder) -> None:
    talk = picnic()
    talk.user("Which cake travels well?")
    talk.answer("A lemon cake, left in its tin.")
    talk.replace(5, b"\n", b"")
    talk.user("감사합니다!")
    talk.raw(b'{"id":"m8","role":"assistant","content":"Enj')
    talk.answer("Enjoy the lake.")
    folder.log("picnic", *talk.lines)
    folder.expect("glued-lines", "error", "picnic.jsonl", 5, torn_bytes=0, records=2)
    folder.expect("glued-lines", "error", "picnic.jsonl", 7, torn_bytes=44, records=1)


@sample("nul-run")
def nul_run(folder: Folder) -> None:
    talk = reading()
    talk.lines[3] = b"\0" * 48 + talk.lines[3]
    folder.log("reading", *talk.lines)
    folder.expect("nul-run", "error", "reading.jsonl", 4)


@sample("bad-utf8")
def bad_utf8(folder: Folder) -> None:
    talk = reading()
    talk.replace(1, "책을".encode(), "책을".encode("cp949"))
    folder.log("reading", *talk.lines)
    folder.expect("bad-utf8", "error", "reading.jsonl", 1)


@sample("lone-surrogate")
def lone_surrogate(folder: Folder) -> None:
    talk = picnic()
    talk.replace(3, b"light wind", rb"light \ud83c wind")
    talk.replace(4, b"blanket", rb"blanket \ud83e\uddfa")
    folder.log("picnic", *talk.lines)
    folder.expect("lone-surrogate", "error", "picnic.jsonl", 3, value="d83c")


@sample("bad-line")
def bad_line(folder: Folder) -> None:
    talk = picnic()
    talk.lines.insert(4, b"Segmentation fault (core dumped)\n")
    talk.user("Shall I bring the kite?")
    talk.answer("Bring it.")
    talk.raw(b'["m9","a list is no record"]\n')
    folder.log("picnic", *talk.lines)
    folder.expect("bad-line", "error", "picnic.jsonl", 5)
    folder.expect("bad-line", "error", "picnic.jsonl", 8)


@sample("split-line")
def split_line(folder: Folder) -> None:
    talk = picnic()
    talk.replace(3, b"dry, 19", b"dry,\n19")
    folder.log("picnic", *talk.lines)
    folder.expect("split-line", "error", "picnic.jsonl", 3)


@sample("byte-order-mark")
def byte_order_mark(folder: Folder) -> None:
    talk = reading()
    talk.lines[0] = b"\xef\xbb\xbf" + talk.lines[0]
    folder.log("reading", *talk.lines)
    folder.expect("byte-order-mark", "warning", "reading.jsonl", 1)


@sample("duplicate-id")
def duplicate_id(folder: Folder) -> None:
    talk = picnic()
    talk.user("And which swimsuit?")
    talk.answer("The blue one.")
    talk.replace(6, b'"id":"m6"', b'"id":"m1"')
    folder.log("picnic", *talk.lines)
    folder.expect("duplicate-id", "error", "picnic.jsonl", 6, id="m1", first_line=1)


@sample("repeated-record")
def repeated_record(folder: Folder) -> None:
    talk = picnic()
    talk.raw(talk.lines[1])
    talk.raw(talk.lines[2])
    folder.log("picnic", *talk.lines)
    folder.expect("repeated-record", "error", "picnic.jsonl", 5, id="m2")
    folder.expect("repeated-record", "error", "picnic.jsonl", 6, id="m3")


@sample("nul-char")
def nul_char(folder: Folder) -> None:
    talk = picnic()
    talk.replace(3, b"dry, 19", rb"dry,\u000019")
    folder.log("picnic", *talk.lines)
    folder.expect("nul-char", "warning", "picnic.jsonl", 3)


@sample("crlf")
def crlf(folder: Folder) -> None:
    folder.log("picnic", *(raw.replace(b"\n", b"\r\n") for raw in picnic().lines))
    folder.expect("crlf", "info", "picnic.jsonl", 1)


@sample("line-separator-char")
def line_separator_char(folder: Folder) -> None:
    talk = picnic()
    talk.replace(3, b"dry, 19", "dry,\u202819".encode())
    folder.log("picnic", *talk.lines)
    folder.expect("line-separator-char", "info", "picnic.jsonl", 3)


@sample("bad-shape")
def bad_shape(folder: Folder) -> None:
    talk = picnic()
    talk.user("How far is the lake?")
    talk.answer("Twelve kilometres.")
    talk.replace(6, b'"content":"Twelve kilometres."', b'"content":12')
    folder.log("picnic", *talk.lines)
    folder.expect("bad-shape", "error", "picnic.jsonl", 6, id="m6")


@sample("unanswered-call")
def unanswered_call(folder: Folder) -> None:
    talk = picnic()
    talk.user("정원에 물을 언제 줬지?")
    talk.answer("일지를 볼게요.", call("call_2", "garden_log", days=3), call("call_3", "rain_gauge", days=3))
    talk.result("call_2", "어제 아침 7시")
    talk.user("아직 보고 있어?")
    talk.answer("어제 아침 7시에 줬어요.")
    folder.log("picnic", *talk.lines)
    folder.expect("unanswered-call", "error", "picnic.jsonl", 6, id="call_3")


@sample("misplaced-result")
def misplaced_result(folder: Folder) -> None:
    talk = Dialog()
    talk.user("Book the small boat for two hours.")
    talk.answer("", openai_call("call_boat", "book_boat", size="small", hours=2))
    talk.user("Make that three hours, please.")
    talk.result("call_boat", "booked: small boat, 14:00 to 16:00")
    talk.answer("It is booked for two hours; I will ask for a third.")
    folder.log("boat", *talk.lines)
    folder.expect("misplaced-result", "error", "boat.jsonl", 4, id="call_boat", call_line=2)


@sample("orphan-result")
def orphan_result(folder: Folder) -> None:
    talk = picnic()
    talk.result("call_7", "three recipes for lemonade")
    talk.user("Thank you.")
    talk.answer("You are welcome.")
    folder.log("picnic", *talk.lines)
    folder.expect("orphan-result", "error", "picnic.jsonl", 5, id="call_7")


@sample("duplicate-result")
def duplicate_result(folder: Folder) -> None:
    talk = picnic()
    answer = talk.lines.pop()
    talk.result("call_1", "dry, 18 degrees")
    talk.raw(answer)
    folder.log("picnic", *talk.lines)
    folder.expect("duplicate-result", "error", "picnic.jsonl", 4, id="call_1")


@sample("duplicate-call-id")
def duplicate_call_id(folder: Folder) -> None:
    talk = Dialog()
    talk.user("Light the lanterns by the door and by the pond.")
    talk.answer("", call("call_1", "lantern", place="door"), call("call_1", "lantern", place="pond"))
    talk.result("call_1", "lit")
    talk.answer("Both are lit.")
    folder.log("lanterns", *talk.lines)
    folder.expect("duplicate-call-id", "error", "lanterns.jsonl", 2, id="call_1")


@sample("bad-call-id")
def bad_call_id(folder: Folder) -> None:
    talk = Dialog()
    talk.user("Play something quiet.")
    talk.answer("", call("unknown", "play", mood="quiet"))
    talk.result("unknown", "playing a nocturne")
    talk.answer("A nocturne is playing.")
    folder.log("music", *talk.lines)
    folder.expect("bad-call-id", "error", "music.jsonl", 2, id="unknown")


@sample("bad-arguments")
def bad_arguments(folder: Folder) -> None:
    talk = Dialog()
    talk.user("Find the recipe for barley bread.")
    torn = {"id": "call_1", "type": "function", "function": {"name": "recipe", "arguments": '{"name":"barley br'}}
    talk.answer("", torn)
    talk.result("call_1", "no such recipe", is_error=True)
    talk.answer("", {"id": "call_2", "name": "recipes", "arguments": None})
    talk.result("call_2", "barley bread, rye bread")
    talk.answer("Here it is: barley, water, salt, and a day of patience.")
    folder.log("bread", *talk.lines)
    folder.expect("bad-arguments", "error", "bread.jsonl", 2, id="call_1")
    folder.expect("bad-arguments", "error", "bread.jsonl", 4, id="call_2")


@sample("pair-split")
def pair_split(folder: Folder) -> None:
    talk = picnic()
    talk.user("And on Sunday?")
    talk.answer("", call("call_2", "forecast", place="lake", day="Sunday"))
    talk.result("call_2", "showers after noon")
    talk.answer("Come on Saturday: Sunday brings showers.")
    fields = {"type": "pippa_compaction", "id": "m90", "summary": "A picnic at the lake is planned."}
    at = talk.raw(line({**fields, "from_id": "m1", "through_id": "m6", "count": 6, "compacted_at": talk.time}))
    folder.log("picnic", *talk.lines)
    folder.expect("pair-split", "error", "picnic.jsonl", at, id="call_2")


@sample("unanswered-turn")
def unanswered_turn(folder: Folder) -> None:
    talk = reading()
    talk.user("그 책은 몇 쪽이야?")
    folder.log("reading", *talk.lines)
    folder.expect("unanswered-turn", "info", "reading.jsonl", 5)


@sample("id-reused-across-turns")
def id_reused(folder: Folder) -> None:
    talk = picnic()
    talk.user("And at the sea?")
    talk.answer("", call("call_1", "forecast", place="sea", day="Saturday"))
    talk.result("call_1", "dry, windy")
    talk.answer("Dry there as well, but windy.")
    folder.log("picnic", *talk.lines)
    folder.expect("id-reused-across-turns", "info", "picnic.jsonl", 6, id="call_1")
