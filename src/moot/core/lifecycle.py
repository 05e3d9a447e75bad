"""The lifecycle of a debate, as one table.

`RULES` says for each verb in which statuses it is possible, and which status follows. What the runtime refuses, which
actions the API offers, the next step that the command line and MCP name, the dashboard's buttons and the table in
docs/architecture.md derive from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal, get_args

from moot.core.errors import WrongStatus
from moot.core.types import STATUSES, TERMINAL, Debate, Event, Failure, FailureKind, Status, record

Action = Literal["answer", "start", "resume", "retry", "record", "stop", "cancel", "guide", "fork", "rate", "delete"]
ACTIONS: tuple[Action, ...] = get_args(Action)
Verb = Literal[Action, "watch", "advance", "queue", "quarantine", "private", "label", "turned_out"]
DriveVerb = Literal["start", "resume", "retry"]  # those that let a debate run
Moves = Mapping[Status, Status]

LIVE: tuple[Status, ...] = ("running", "stopping")  # a process drives the debate, or should
RestingStatus = Literal["pending", "waiting", "stopped", "failed", "completed", "canceled"]
RESTING: tuple[RestingStatus, ...] = get_args(RestingStatus)  # all but those: what a purge may delete
OVER: tuple[RestingStatus, ...] = ("completed", "canceled", "failed")  # what it deletes unless it is told otherwise
UNFINISHED: tuple[Status, ...] = tuple(status for status in STATUSES if status not in TERMINAL)


@record
class Rule:
    """What one verb does. A status that leads to itself is left as it is."""

    moves: Moves  # from each status in which the verb is possible, the status that follows
    orphaned: Moves = field(default_factory=dict[Status, Status])  # the same, while no live process drives the debate
    unoffered: tuple[Status, ...] = ()  # those of `moves` in which people are not offered it
    cannot: str  # what a refusal says after "it can't"
    advice: str = ""  # an imperative without a full stop, so that "with: COMMAND" can follow
    label: str = ""  # of a button

    @property
    def sources(self) -> tuple[Status, ...]:
        """Every status in which the verb can be tried. The store checks leases itself."""
        return tuple(dict.fromkeys((*self.moves, *self.orphaned)))

    def offered(self, status: Status, *, interrupted: bool = False) -> bool:
        orphaned = interrupted and status in self.orphaned
        return orphaned or (status in self.moves and status not in self.unoffered)


def _stays(*statuses: Status) -> Moves:
    return {status: status for status in statuses}


_START: Moves = {"pending": "running"}
_RESUME: Moves = {"stopped": "running", "waiting": "running"}
_RETRY: Moves = {"failed": "running"}
_TAKE_OVER: Moves = {"running": "running", "stopping": "running"}

# In the order in which they are offered: the first is the next step.
RULES: Mapping[Verb, Rule] = {
    "answer": Rule(
        moves=_stays(*UNFINISHED),  # a question stays open when the debate is stopped
        unoffered=tuple(status for status in UNFINISHED if status != "waiting"),
        cannot="be answered",
        advice="Give it",
        label="Answer",
    ),
    "start": Rule(moves=_START, cannot="be started", advice="Start it", label="Start"),
    "resume": Rule(
        moves=_RESUME,
        orphaned=_TAKE_OVER,
        unoffered=("waiting",),  # an answer resumes it
        cannot="be resumed",
        advice="Let it go on",
        label="Resume",
    ),
    "retry": Rule(moves=_RETRY, cannot="be retried", advice="Try its open steps again", label="Try again"),
    "watch": Rule(moves=_stays(*LIVE), cannot="be followed", advice="Follow it"),
    "record": Rule(moves=_stays("completed"), cannot="be recorded", advice="Get its decision record", label="Record"),
    "stop": Rule(
        moves={"running": "stopping", "stopping": "stopping", "waiting": "stopped"},
        orphaned={"running": "stopped", "stopping": "stopped"},
        unoffered=("stopping",),
        cannot="be stopped",
        advice="Stop it",
        label="Stop",
    ),
    "cancel": Rule(
        moves=dict.fromkeys(UNFINISHED, "canceled"), cannot="be canceled", advice="End it for good", label="Cancel"
    ),
    "guide": Rule(moves=_stays(*UNFINISHED), cannot="be guided", advice="Say something to it", label="Guide"),
    "fork": Rule(moves=_stays(*STATUSES), cannot="be forked", advice="Branch off at one of its steps", label="Fork"),
    "rate": Rule(moves=_stays("completed"), cannot="be rated", advice="Rate it", label="Rate"),
    "delete": Rule(
        moves=_stays(*STATUSES),  # no status follows: nothing is left
        unoffered=LIVE,  # possible, but a debate is stopped or canceled first if there is time for it
        cannot="be deleted",
        advice="Delete it",
        label="Delete",
    ),
    "turned_out": Rule(moves=_stays("completed"), cannot="have turned out right or wrong"),
    "quarantine": Rule(moves=_stays("completed"), cannot="be kept out of memory"),
    "private": Rule(moves=_stays(*STATUSES), cannot="be made private"),
    "label": Rule(moves=_stays(*STATUSES), cannot="be labelled"),
    "advance": Rule(moves={}, orphaned=_stays("running"), cannot="be driven on"),
    "queue": Rule(moves={**_START, **_RESUME, **_RETRY}, orphaned=_TAKE_OVER, cannot="be left to the workers"),
}

# Where a debate stands, in a sentence that the advice can follow.
STANDING: Mapping[Status, str] = {
    "pending": "It has not begun.",
    "running": "It is under way.",
    "waiting": "It waits for a person's answer.",
    "stopping": "It finishes the step in progress, then rests.",
    "stopped": "It rests; nothing that was said is lost.",
    "failed": "A step failed; nothing that was said is lost.",
    "completed": "It is complete.",
    "canceled": "It was ended without a verdict.",
}
# Failures that stay until someone changes something: a key, a name, a server that is not running, the rules, what
# takes processes down.
FIX_FIRST: frozenset[FailureKind] = frozenset({"unavailable", "unreachable", "script", "crashed"})
INTERRUPTED = "Its process is gone; nothing that was said is lost."


def actions(status: Status, *, interrupted: bool = False) -> list[Action]:
    """The verbs that people are offered, the most useful first. `interrupted`: no live process drives the debate,
    though it should be running."""
    return [action for action in ACTIONS if RULES[action].offered(status, interrupted=interrupted)]


def next_verb(status: Status, *, interrupted: bool = False) -> Verb:
    return next(verb for verb, rule in RULES.items() if rule.offered(status, interrupted=interrupted))


def drive_verb(status: Status) -> DriveVerb | None:
    """The verb that people are offered to let a debate run, if any."""
    verbs: tuple[DriveVerb, ...] = get_args(DriveVerb)
    return next((verb for verb in verbs if RULES[verb].offered(status)), None)


def next_step(status: Status, *, interrupted: bool = False, failure: Failure | None = None) -> str:
    """Where a debate stands and what to do next, without the last full stop: "It has not begun. Start it".

    `failure` is why it failed: where another try alone can't help, the cause comes first.
    """
    if status == "failed" and failure is not None and failure.kind in FIX_FIRST:
        return f"{STANDING[status]} Another try alone can't help: fix the cause first, then try its open steps again"
    standing = INTERRUPTED if interrupted else STANDING[status]
    return f"{standing} {RULES[next_verb(status, interrupted=interrupted)].advice}"


def refusal(debate: Debate, verb: Verb, *, interrupted: bool = False) -> WrongStatus:
    """The error of a verb that a debate's status does not allow."""
    rule, status = RULES[verb], debate.status
    only = f", only a {rule.sources[0]} debate can" if len(rule.sources) == 1 else ""
    text = f"Debate {debate.short} is {status}; it can't {rule.cannot}{only}. "
    text += f"{next_step(status, interrupted=interrupted)}."
    remedy = next_verb(status, interrupted=interrupted)
    return WrongStatus(text, debate=debate.short, status=status, verb=verb, remedy=remedy)


def running_seconds(events: Iterable[Event]) -> float:
    """How long a debate has been driven, from its stored events in order.

    A drive lasts from its `running` event to the next event with a status in which a debate rests. A process that was
    killed leaves none, or one by recovery that comes later: its drive lasts up to its last event.
    """
    seconds, began, last = 0.0, None, 0.0
    for event in events:
        status = event.data.get("status") if event.type == "status" else None
        killed = status == "running" or event.data.get("by") == "recovery"
        if began is not None and status is not None and status != "stopping":
            seconds += max(0.0, (last if killed else event.created_at) - began)
            began = None
        if status == "running":
            began = event.created_at
        last = event.created_at
    return seconds if began is None else seconds + max(0.0, last - began)
