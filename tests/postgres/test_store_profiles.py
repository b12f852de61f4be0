"""Stores of other shapes: the two that are known by name, and one that only the configuration describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jarvis_ops.errors import ConfigurationError
from jarvis_ops.model.settings import Settings
from jarvis_ops.stores.postgres.profiles import LANGCHAIN, OPENAI_AGENTS, made_of
from tests.expected import verify
from tests.generate import NOW
from tests.postgres.conftest import Connect
from tests.postgres.loading import findings_in

SESSION = "3f0c8a52-9c6a-4d5e-8f5e-0123456789ab"
LANGCHAIN_TABLE = b"""CREATE TABLE chat_history (id serial PRIMARY KEY, session_id uuid NOT NULL,
 message jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())"""
AGENTS_TABLES = b"""CREATE TABLE agent_sessions (session_id varchar PRIMARY KEY, created_at timestamp DEFAULT now(),
 updated_at timestamp DEFAULT now());
CREATE TABLE agent_messages (id serial PRIMARY KEY, session_id varchar NOT NULL REFERENCES agent_sessions,
 message_data text NOT NULL, created_at timestamp NOT NULL DEFAULT now())"""
Message = dict[str, Any]
IDLE = Settings(now=NOW, assume_idle=True)


def chat(connection: psycopg.Connection[Any], *messages: Message) -> None:
    connection.execute(LANGCHAIN_TABLE)
    for message in messages:
        connection.execute(
            "INSERT INTO chat_history (session_id, message) VALUES (%s, %s)", (SESSION, json.dumps(message))
        )


def agents(connection: psycopg.Connection[Any], *items: Any) -> None:
    """All in one transaction, as the agent writes them: every row has the same time."""
    connection.execute(AGENTS_TABLES)
    connection.execute("INSERT INTO agent_sessions VALUES ('talk')")
    with connection.transaction():
        for item in items:
            text = item if isinstance(item, str) else json.dumps(item)
            connection.execute("INSERT INTO agent_messages (session_id, message_data) VALUES ('talk', %s)", (text,))


def human(text: str = "hello") -> Message:
    return {"type": "human", "data": {"content": text, "type": "human"}}


def ai(*calls: str, args: Any = None) -> Message:
    listed = [{"name": "look", "args": {} if args is None else args, "id": call, "type": "tool_call"} for call in calls]
    return {"type": "ai", "data": {"content": "", "tool_calls": listed, "invalid_tool_calls": []}}


def answer(call: str) -> Message:
    return {"type": "tool", "data": {"content": "ok", "tool_call_id": call, "status": "success"}}


def test_langchain(connect: Connect, database: str) -> None:
    chat(connect(), human(), ai("1", "2"), answer("2"), answer("1"), ai(), human(), ai("3"))
    (finding,) = findings_in(database, IDLE, profile=LANGCHAIN)
    assert (finding.rule, finding.call_id, finding.position.key) == ("unanswered-call", "3", "7")
    assert finding.position.table == "chat_history"


def test_langchain_arguments_and_places(connect: Connect, database: str) -> None:
    chat(connect(), human(), ai("1", args=[]), human(), answer("1"), ai())
    found = [(one.rule, one.position.key) for one in findings_in(database, IDLE, profile=LANGCHAIN)]
    assert found == [("bad-arguments", "2"), ("misplaced-result", "4")]


def call(call_id: str) -> Message:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", "id": f"fc_{call_id}"}


def output(call_id: str) -> Message:
    return {"type": "function_call_output", "call_id": call_id, "output": "12 C"}


PROMPT = {"role": "user", "content": "hello"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
WORD = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]}


def test_agents_call_in_parallel_and_may_be_answered_late(connect: Connect, database: str) -> None:
    agents(connect(), PROMPT, THOUGHT, call("1"), call("2"), output("2"), WORD, PROMPT, output("1"), WORD)
    assert findings_in(database, IDLE, profile=OPENAI_AGENTS) == []


def test_agents_faults(connect: Connect, database: str) -> None:
    broken = (output("1"), call("1"), output("gone"), call("2"), WORD, '{"torn')
    agents(connect(), PROMPT, *broken)
    found = [(one.rule, one.severity, one.position.key) for one in findings_in(database, IDLE, profile=OPENAI_AGENTS)]
    assert found == [
        ("misplaced-result", "error", "2"),
        ("orphan-result", "error", "4"),
        ("unanswered-call", "warning", "5"),
        ("bad-shape", "error", "7"),
    ]


def test_a_store_that_only_the_configuration_knows(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    connection.execute("CREATE SCHEMA bot")
    connection.execute('CREATE TABLE bot."Log" (no bigint PRIMARY KEY, chat int, at timestamptz, who text, body jsonb)')
    ask: Message = {"said": {"calls": [{"ref": "c1", "tool": "look", "given": {}}]}}
    said: list[tuple[str, Message]] = [("person", {"said": {"text": "hi"}}), ("bot", ask), ("person", {})]
    for number, (who, body) in enumerate(said, start=1):
        connection.execute(
            'INSERT INTO bot."Log" VALUES (%s, 7, to_timestamp(%s), %s, %s)',
            (number, 1_700_000_000 + number, who, json.dumps({"who": who, **body})),
        )
    file = tmp_path / "config.toml"
    file.write_text(
        """
[schema]
entries = "bot.Log"
sessions = ""
message = "body"
roles = { person = "user", bot = "assistant" }
[schema.columns]
key = "no"
session = "chat"
time = "at"
seq = "no"
[schema.paths]
role = "who"
calls = "said.calls"
id = "ref"
arguments = "given"
"""
    )
    code, report = verify(database, home=tmp_path, config=file)
    (outcome,) = report["outcomes"]
    assert (code, outcome["conversation"]) == (1, "7")
    found = [(one["rule"], one["position"], one.get("call_id")) for one in outcome["findings"]]
    assert found[0] == (
        "unanswered-call", {"table": "bot.Log", "key": "2", "path": "tool_calls[0]"}, "c1"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"profile": "jarvs"}, "profile 'jarvs' is not known; the known ones are jarvis, langchain, openai-agents"),
        ({"entires": "x"}, "the key 'entires' is not known; the nearest is 'entries'"),
        ({"entries": 3}, "entries: a text in quotes is wanted"),
        ({"columns": {"sesion": "x"}}, "the key 'sesion' is not known; the nearest is 'session'"),
        ({"columns": "x"}, "columns: a table of texts in quotes is wanted"),
        ({"roles": "x"}, "roles: a table is wanted"),
        ({"order": ["seq", "time"]}, "order: "),
    ],
)
def test_what_the_configuration_cannot_mean(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made_of(table)
    assert said in caught.value.message
