"""The plan: a table with the order that was decided from one look, and one that says how far it was carried out."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Composable, Literal

from jarvis_ops.model.trace import Decision, Moment
from jarvis_ops.stores.postgres.seq.evidence import Evidence
from jarvis_ops.stores.postgres.seq.target import Target, execute, exists

Decide = Callable[[Moment], Decision | None]

CREATE_STATE: LiteralString = """
CREATE TABLE {state} (run text NOT NULL, added boolean NOT NULL, base bigint NOT NULL, bound bigint NOT NULL,
                      position bigint NOT NULL DEFAULT 0, done boolean NOT NULL DEFAULT false,
                      began timestamptz NOT NULL DEFAULT now())"""
# Logged, or a crash of the server would leave it empty.
CREATE_PLAN: LiteralString = """
CREATE TABLE {plan} AS
SELECT place, key, session, moment, members, xid, command, tid, updated, bulk, last, number, kept, fresh,
       coalesce(kept, {base} + fresh) AS new_seq, NULL::text AS doubt
FROM ({evidence}) evidence {where}"""
CHANGES: LiteralString = "CREATE TEMPORARY TABLE jarvis_ops_changes (place bigint, new_seq bigint) ON COMMIT DROP"
CHANGE: LiteralString = "UPDATE {plan} p SET new_seq = c.new_seq FROM jarvis_ops_changes c WHERE p.place = c.place"
DOUBTS: LiteralString = (
    "SELECT session::text, moment::text, members, doubt FROM {plan} WHERE doubt IS NOT NULL ORDER BY place"
)
UNIQUE: LiteralString = """
SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
               WHERE i.indrelid = %s AND i.indisunique AND i.indimmediate AND a.attname = %s)"""


class State(NamedTuple):
    """How far a migration has come: `position` is the last place of the plan whose row has its number."""

    run: str
    added: bool
    base: int
    bound: int
    position: int
    done: bool


class Doubt(NamedTuple):
    """A moment whose order could not be decided for certain."""

    session: str
    moment: str
    rows: int
    reason: str


def state_of(connection: Connection[Any], target: Target) -> State | None:
    """The state of a migration that was begun; None if none was."""
    if not exists(connection, target.state):
        return None
    rows = execute(connection, "SELECT run, added, base, bound, position, done FROM {state}", state=target.state)
    return State(*rows[0]) if rows else None


def begin(connection: Connection[Any], target: Target, run: str, *, added: bool, base: int, bound: int) -> None:
    """Write down that a migration begins."""
    execute(connection, CREATE_STATE, state=target.state)
    execute(
        connection,
        "INSERT INTO {state} (run, added, base, bound) VALUES ({run}, {added}, {base}, {bound})",
        state=target.state,
        run=Literal(run),
        added=Literal(added),
        base=Literal(base),
        bound=Literal(bound),
    )


def create(evidence: Evidence, state: State, decide: Decide) -> None:
    """Make the plan in one transaction: the order that the traces give, put right where `decide` says so.

    `decide` gives None for a moment that stays as it is.
    """
    connection, target = evidence.connection, evidence.target
    with connection.transaction():
        evidence.prepare()
        # Rows that were added since have numbers from the sequence, above all of these.
        where = SQL("WHERE number IS NULL") if state.added else SQL("")
        base = base_of(connection, target, state)
        names: dict[str, Composable] = {"plan": target.plan, "evidence": evidence.rows(), "base": Literal(base)}
        execute(connection, CREATE_PLAN, where=where, **names)
        execute(connection, "ALTER TABLE {plan} ADD PRIMARY KEY (place)", plan=target.plan)
        settle(evidence, base, decide)
        if not state.added:
            execute(connection, "DELETE FROM {plan} WHERE new_seq = number AND doubt IS NULL", plan=target.plan)
        execute(connection, "ANALYZE {plan}", plan=target.plan)


def base_of(connection: Connection[Any], target: Target, state: State) -> int:
    """The number above which old rows get theirs. After a plan was lost it lies above those that were given already."""
    if not state.added:
        return state.base
    statement: LiteralString = "SELECT coalesce(max({seq}), {base}) FROM {table} WHERE {seq} <= {bound}"
    names = {"seq": target.seq, "table": target.name, "base": Literal(state.base), "bound": Literal(state.bound)}
    return int(execute(connection, statement, **names)[0][0])


def settle(evidence: Evidence, base: int, decide: Decide) -> None:
    """Decide each moment, and write down what comes of it."""
    connection, target = evidence.connection, evidence.target
    unique = execute(connection, UNIQUE, target.shape.entries.oid, target.shape.profile.columns.seq)[0][0]
    beyond = base + execute(connection, "SELECT count(*) FROM {plan}", plan=target.plan)[0][0] if unique else 0
    places, numbers = array("q"), array("q")
    doubts: dict[str, list[int]] = {}
    planned = SQL("(SELECT * FROM {})").format(target.plan)
    for moment in evidence.moments(planned):
        decision = decide(moment)
        if decision is None:
            continue
        for place, number in renumbered(moment, decision, base, beyond):
            places.append(place)
            numbers.append(number)
        if decision.doubt:
            doubts.setdefault(decision.doubt, []).append(moment.rows[0].place)
    connection.execute(CHANGES)
    with connection.cursor() as cursor, cursor.copy("COPY jarvis_ops_changes FROM STDIN") as copy:
        for row in zip(places, numbers, strict=True):
            copy.write_row(row)
    execute(connection, CHANGE, plan=target.plan)
    for reason, where in doubts.items():
        statement: LiteralString = "UPDATE {plan} SET doubt = {reason} WHERE place = ANY({places})"
        execute(connection, statement, plan=target.plan, reason=Literal(reason), places=Literal(where))


def renumbered(moment: Moment, decision: Decision, base: int, beyond: int) -> Iterator[tuple[int, int]]:
    """(place, number) of rows whose number is not the one that the plan has for them so far.

    The numbers that a moment has are given out anew; where an index would refuse that (`beyond` is not 0), ones beyond
    all others.
    """
    rows = moment.rows
    own = [base + row.fresh if row.number is None else row.number for row in rows]
    if [own[index] for index in decision.order] == sorted(own):
        return
    numbers = sorted(beyond + row.place for row in rows) if beyond else sorted(own)
    for number, index in zip(numbers, decision.order, strict=True):
        yield rows[index].place, number


def doubts_of(connection: Connection[Any], target: Target) -> list[Doubt]:
    """The moments that could not be decided."""
    return [Doubt(*row) for row in execute(connection, DOUBTS, plan=target.plan)]
