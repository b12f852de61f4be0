"""What speaks against numbering the rows of a table, what has to be known before, and what it will take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.sql import Literal

from jarvis_ops.errors import RefusedError
from jarvis_ops.stores.postgres.seq.locks import holders, told
from jarvis_ops.stores.postgres.seq.target import Target, execute

OLDEST_SERVER = 120000
# Statements that a table carries out by itself when a row is updated.
TRIGGERS: LiteralString = """
SELECT tgname FROM pg_trigger WHERE tgrelid = %s AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 16 <> 0
UNION ALL SELECT rulename FROM pg_rewrite WHERE ev_class = %s AND ev_type = '2' ORDER BY 1"""
KIND: LiteralString = """
SELECT c.relkind, c.relispartition OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid OR inhrelid = c.oid),
       row_security_active(c.oid), pg_has_role(c.relowner, 'USAGE'), c.relpersistence,
       has_schema_privilege(c.relnamespace, 'CREATE'), pg_is_in_recovery(),
       current_setting('default_transaction_read_only')::boolean
FROM pg_class c WHERE c.oid = %s"""
PUBLICATIONS: LiteralString = "SELECT pubname FROM pg_publication_tables WHERE schemaname = %s AND tablename = %s"
LONG: LiteralString = """
SELECT count(*), coalesce(max(extract(epoch FROM now() - xact_start)::int), 0) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database() AND xact_start < now() - interval '1 minute'"""
REPLICAS: LiteralString = "SELECT count(*) FROM pg_stat_replication"
SAMPLE: LiteralString = "SELECT count(t.*) FROM {table} t TABLESAMPLE SYSTEM ({percent})"
SAMPLE_PAGES = 500
PAGE = 8192
# Measured on two shared cores: writing a row anew with its index entries, and reading a page for it.
SECONDS_PER_ROW = 20e-6
PAGES_READ = 12
# Each row is written once more, which is logged, and space is freed only now and then; the plan and the index come to
# the rest.
DISK_FACTOR, WAL_FACTOR = 2.5, 3.0
SPACE_TO_CHECK = 10 * 10**9


class Needs(NamedTuple):
    """What the work will take: seconds, and bytes of disk for tables and for the write-ahead log."""

    seconds: float
    disk: int
    wal: int


def refuse(connection: Connection[Any], target: Target, *, allow_triggers: bool) -> None:
    """RefusedError with the first thing that stands in the way."""
    for reason in obstacles(connection, target, allow_triggers=allow_triggers):
        raise RefusedError(reason)


def obstacles(connection: Connection[Any], target: Target, *, allow_triggers: bool) -> Iterator[str]:
    """Why this table is none that can be numbered in this way, or this role none that may do it, as sentences."""
    label, columns = target.label, target.shape.profile.columns
    kind, inherits, secured, owns, persistence, creates, standby, read_only = execute(
        connection, KIND, target.shape.entries.oid
    )[0]
    server = connection.info.server_version
    reasons = {
        f"the server is of version {server // 10000}, and 12 is the oldest that will do": server < OLDEST_SERVER,
        "the server is a standby, which can only be read; name the primary": standby,
        "the database is set to be read only": read_only,
        f"{label} is no ordinary table": kind != "r" or persistence == "t",
        f"{label} is partitioned or inherits, which this cannot do": inherits,
        f"row security hides rows of {label} from this role, so not all could be numbered": secured,
        f"the column {columns.key} of {label} is not unique, so rows cannot be told apart": (
            not target.shape.entries.unique(columns.key)
        ),
        f"{label} belongs to {target.owner}, and only its owner may alter it": not owns,
        f"this role may not create the table with the plan in schema {target.schema}": not creates,
    }
    yield from (reason for reason, holds in reasons.items() if holds)
    fired = triggers(connection, target)
    if fired and not allow_triggers:
        yield f"updating {label} would fire {', '.join(fired)} for every row; --allow-triggers if that does no harm"


def triggers(connection: Connection[Any], target: Target) -> list[str]:
    """The triggers and rules that an update of a row would fire."""
    oid = target.shape.entries.oid
    return [row[0] for row in execute(connection, TRIGGERS, oid, oid)]


def needs(connection: Connection[Any], target: Target) -> Needs:
    """What numbering all rows will take, by the size of the table and by the time that a sample of it takes."""
    pages = max(1, target.heap // PAGE)
    percent = min(100.0, 100 * SAMPLE_PAGES / pages)
    began = time.monotonic()
    execute(connection, SAMPLE, table=target.name, percent=Literal(percent))
    per_page = (time.monotonic() - began) / min(pages, SAMPLE_PAGES)
    seconds = target.rows * SECONDS_PER_ROW + pages * per_page * PAGES_READ
    return Needs(round(seconds, 1), round(target.heap * DISK_FACTOR), round(target.total * WAL_FACTOR))


def check_space(target: Target, *, checked: bool) -> None:
    """RefusedError for a large table whose disk nobody has looked at: SQL cannot see how much of it is free."""
    if target.total > SPACE_TO_CHECK and not checked:
        tables, log = target.heap * DISK_FACTOR / 10**9, target.total * WAL_FACTOR / 10**9
        raise RefusedError(
            f"{target.label} has {target.total / 10**9:.1f} GB; see that {tables:.1f} GB are free for tables and "
            f"{log:.1f} GB for the log, and say --space-checked"
        )


def notes(connection: Connection[Any], target: Target) -> list[str]:
    """What a person should know before, as sentences."""
    found = [f"{told(row)}, holds {target.label}" for row in holders(connection, target)]
    number, longest = execute(connection, LONG)[0]
    if number:
        found.append(
            f"{number} transactions are older than a minute (the oldest {longest} s); the index waits for them"
        )
    published = [row[0] for row in execute(connection, PUBLICATIONS, target.schema, target.table)]
    if published:
        found.append(f"published by {', '.join(published)}: add the column on the subscribers first")
    if execute(connection, REPLICAS)[0][0]:
        found.append("replicas follow this server: --max-replica-lag keeps them close")
    return found
