"""Every option once. A command takes those that it needs as the annotation of a parameter."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import typer


class KindName(StrEnum):
    """The kinds of conversations."""

    USER = "user"
    TEST = "test"
    SUBAGENT = "subagent"


class StateName(StrEnum):
    """The states of conversations: active is our word for one that has none of its own and was added to just now."""

    IDLE = "idle"
    ACTIVE = "active"
    RUNNING = "running"
    ERROR = "error"


OutputForm = Literal["table", "json", "jsonl"]

Conversations = Annotated[
    list[str] | None,
    typer.Argument(metavar="CONVERSATION", help="Ids, or unique tails of ids. All conversations when none is named."),
]
Named = Annotated[list[str] | None, typer.Argument(metavar="CONVERSATION", help="Ids, or unique tails of ids.")]
StoreName = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        envvar="JARVIS_OPS_STORE",
        help="A directory of conversations or one JSONL file. Default: what JARVIS is set to, else ~/.jarvis/sessions.",
    ),
]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="GLOB", help="Ids that match; may be repeated.")]
KindOf = Annotated[
    list[KindName] | None,
    typer.Option("--kind", help="Conversations of this kind; may be repeated."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="Last record at or after an ISO date or time (UTC), or within 36h."),
]
IdleFor = Annotated[
    str | None, typer.Option("--idle-for", metavar="DURATION", help="Last record at least this long ago: 30d.")
]
IdsFrom = Annotated[
    str | None, typer.Option("--ids-from", metavar="FILE|-", help="A file with one id a line; - is standard input.")
]
CallIds = Annotated[
    list[str] | None, typer.Option("--call-id", metavar="ID", help="Conversations that hold this tool call.")
]
RecordIds = Annotated[
    list[str] | None, typer.Option("--record-id", metavar="ID", help="Conversations that hold this record.")
]
All = Annotated[bool, typer.Option("--all", help="All conversations; what reading commands do anyway.")]

Output = Annotated[
    OutputForm,
    typer.Option("--output", envvar="JARVIS_OPS_OUTPUT", help="Form of the report."),
]
Json = Annotated[bool, typer.Option("--json", help="The same as --output json.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="List clean conversations too.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing when all is well.")]
Progress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        envvar="JARVIS_OPS_PROGRESS",
        help="Show a progress bar on standard error; by default only on a terminal.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="List at most N; all are counted.")]
Order = Annotated[
    Literal["id", "last", "bytes"],
    typer.Option("--sort", help="Order of the work and of the report; last is newest first, bytes largest first."),
]

Explain = Annotated[
    str | None, typer.Option("--explain", metavar="RULE", help="Say what a rule means, and stop. Needs no store.")
]
Rules = Annotated[list[str] | None, typer.Option("--rule", metavar="RULE", help="Report only this rule; repeatable.")]
FailOn = Annotated[
    Literal["error", "warning", "never"],
    typer.Option("--fail-on", envvar="JARVIS_OPS_FAIL_ON", help="The least severity that makes the exit code 1."),
]
ScopeOf = Annotated[
    Literal["last-turn", "replay", "full"],
    typer.Option(
        "--scope",
        envvar="JARVIS_OPS_SCOPE",
        help="What is judged: the last turn, what an agent would send, or everything.",
    ),
]
TurnTimeout = Annotated[
    str,
    typer.Option(
        "--turn-timeout",
        metavar="DURATION",
        envvar="JARVIS_OPS_TURN_TIMEOUT",
        help="A turn without a sign of life for longer than this is not running.",
    ),
]
AssumeIdle = Annotated[
    bool,
    typer.Option(
        "--assume-idle", envvar="JARVIS_OPS_ASSUME_IDLE", help="Nothing is running: an open call at the end is damage."
    ),
]
DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect", metavar="NAME", envvar="JARVIS_OPS_DIALECT", help="How records read; by default told by content."
    ),
]
Profile = Annotated[
    Literal["jarvis", "pippa"] | None,
    typer.Option("--profile", envvar="JARVIS_OPS_PROFILE", help="The agent that owns the store; by default told."),
]
ChangedOnly = Annotated[
    bool,
    typer.Option(
        "--changed-only",
        envvar="JARVIS_OPS_CHANGED_ONLY",
        help="Skip what an earlier run found clean and nobody has touched since.",
    ),
]
MetricsFile = Annotated[
    str | None,
    typer.Option(
        "--metrics-file", metavar="X.prom", envvar="JARVIS_OPS_METRICS_FILE", help="Write metrics for Prometheus here."
    ),
]
ExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="serial|process[:N]",
        envvar="JARVIS_OPS_EXECUTOR",
        help="Judge one after another or in N processes; by default processes when it pays.",
    ),
]
StopAfter = Annotated[
    str | None,
    typer.Option(
        "--stop-after",
        metavar="DURATION",
        envvar="JARVIS_OPS_STOP_AFTER",
        help="Begin no further conversation after this time; the rest counts as skipped.",
    ),
]

State = Annotated[
    list[StateName] | None,
    typer.Option("--state", help="Conversations in this state; may be repeated."),
]
Archived = Annotated[
    bool | None, typer.Option("--archived/--no-archived", help="Only archived conversations, or only the others.")
]

Apply = Annotated[bool, typer.Option("--apply", help="Carry the plan out; without it nothing is changed.")]
DryRun = Annotated[bool, typer.Option("-n", "--dry-run", help="Only print the plan, as is done anyway.")]
LockWait = Annotated[
    str,
    typer.Option("--lock-wait", metavar="DURATION", help="Wait so long for another run that holds a conversation."),
]
Wait = Annotated[
    str, typer.Option("--wait", metavar="DURATION", help="Wait so long for a conversation that is in use.")
]
QuietTime = Annotated[
    str,
    typer.Option(
        "--quiet-time",
        metavar="DURATION",
        help="Leave alone what was touched within this time, where the system cannot tell who has it open.",
    ),
]
Lossy = Annotated[
    bool,
    typer.Option(
        "--lossy", help="Also take out of the replay what cannot stay in it; it is kept aside, byte for byte."
    ),
]
Repairs = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="RULE", help="Mend only this, also where it must be asked for; repeatable."),
]
IncludeSealed = Annotated[
    bool, typer.Option("--include-sealed", help="Also replace sealed segments; the old ones are kept as backups.")
]
SpreadMs = Annotated[
    bool,
    typer.Option(
        "--spread-ms",
        help="In a database without numbers: move rows of one time a millisecond apart each, as they pair.",
    ),
]
PlanOut = Annotated[
    str | None, typer.Option("--plan-out", metavar="FILE", help="Save the plan, to be carried out after a look at it.")
]
PlanFile = Annotated[
    str | None,
    typer.Option("--plan", metavar="FILE", help="Carry out a saved plan, as it is or not at all; needs --apply."),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against", metavar="STORE", help="Compare with this store too: say which records one has and the other lacks."
    ),
]
Elsewhere = Annotated[
    str | None,
    typer.Option("--from", metavar="STORE", help="Take missing results from this store where it has them."),
]
Undone = Annotated[
    list[str] | None,
    typer.Argument(metavar="CONVERSATION", help="Only these, by ids or unique tails of ids. Default: the whole run."),
]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="The name of a run, as it was printed; `runs` lists them.")]
Backups = Annotated[bool, typer.Option("--backups", help="What conversations held before they were changed.")]
Trash = Annotated[bool, typer.Option("--trash", help="Files that were removed.")]
Quarantine = Annotated[bool, typer.Option("--quarantine", help="What was taken out of conversations.")]
OlderThan = Annotated[
    str, typer.Option("--older-than", metavar="DURATION", help="Only what was put there at least this long ago.")
]

Finish = Annotated[
    bool,
    typer.Option("--finish", help="Drop the plan that a numbering leaves; what it did stays, and cannot be undone."),
]
TakeBack = Annotated[bool, typer.Option("--undo", help="Take an unfinished or new numbering back.")]
Sleep = Annotated[str, typer.Option("--sleep", metavar="DURATION", help="Rest so long between two batches.")]
MaxWait = Annotated[
    str, typer.Option("--max-wait", metavar="DURATION", help="Keep no client waiting for longer than this.")
]
MaxLag = Annotated[
    str | None,
    typer.Option("--max-replica-lag", metavar="DURATION", help="Pause while a replica is further behind than this."),
]
SpaceChecked = Annotated[
    bool, typer.Option("--space-checked", help="The disk has the room that the plan asks for; wanted above 10 GB.")
]
AllowTriggers = Annotated[
    bool, typer.Option("--allow-triggers", help="It does no harm when triggers fire for each row that is numbered.")
]
SaveEvidence = Annotated[
    str | None,
    typer.Option(
        "--save-evidence", metavar="FILE", help="Write the order of all rows down, before an agent adds the column."
    ),
]
SavedEvidence = Annotated[
    str | None, typer.Option("--evidence", metavar="FILE", help="Take the order from what --save-evidence wrote.")
]
