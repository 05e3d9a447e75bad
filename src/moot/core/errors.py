"""Everything moot raises on purpose.

MootError
├── InputError              the caller can fix it: exit code 2, nothing was written
│   ├── UnknownName         no such format, setting, command…: carries a suggestion
│   ├── UnknownModel
│   ├── NoSuchDebate
│   │   └── DebateDeleted   there was one, and it was deleted
│   ├── AmbiguousId
│   ├── ScopeMissing        the caller may not do this
│   ├── KeyReused           an idempotency key of another request
│   ├── AbilityMissing      this machine can't do what the format needs
│   ├── OverBudget          a ceiling of the operator is reached: nothing was spent
│   └── WrongStatus
│       └── StepNeeded      a completed debate is forked without a step
├── ScriptError             a format broke the rules of scripts
│   └── ScriptChanged       a recorded turn is not what the script asks for now
├── LimitReached            raised into a format: a limit of the debate is used up
├── ModelError              a model gave no usable answer
│   ├── ModelTimeout
│   ├── ModelUnavailable    wrong name, no key, no server: trying again won't help
│   ├── ModelOverloaded     rate limit, network, server error: trying again may help
│   │   ├── ModelUnreachable  nothing answers at its address
│   │   └── StreamBrokeOff    its answer ended without a finish reason: it may be incomplete
│   └── BadOutput           it answered, but never in the shape asked for
├── ToolError               a tool could not do what it was asked
└── StoreError
    ├── NotWritable
    │   └── DatabaseHeld    another process holds it for too long
    ├── DatabaseAway        its server does not answer: it may be back soon
    ├── WrongSchema         the database is of another version of moot
    ├── DamagedDebate       a row of it in the database can't be read
    └── Superseded          another process took this debate over
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.core.types import Json, Reply, Status, Usage

# What `moot.errors` has.
__all__ = [
    "AbilityMissing",
    "AmbiguousId",
    "BadOutput",
    "DamagedDebate",
    "DatabaseAway",
    "DatabaseHeld",
    "DebateDeleted",
    "InputError",
    "KeyReused",
    "LimitReached",
    "ModelError",
    "ModelOverloaded",
    "ModelTimeout",
    "ModelUnavailable",
    "ModelUnreachable",
    "MootError",
    "NoSuchDebate",
    "NotWritable",
    "OverBudget",
    "ScopeMissing",
    "ScriptChanged",
    "ScriptError",
    "StepNeeded",
    "StoreError",
    "StreamBrokeOff",
    "Superseded",
    "ToolError",
    "UnknownModel",
    "UnknownName",
    "WrongSchema",
    "WrongStatus",
]


class MootError(Exception):
    """Says what happened and what to do next, in words that fit every way in: no commands, no tools, no buttons.

    `remedy` names what to do: a verb of `moot.core.lifecycle`, "list", "migrate", "model", "database", "scope" or
    "step". A way in that has a command, a flag or a tool for it appends that to the text, which then ends with the
    advice.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class InputError(MootError):
    pass


MOST_QUOTED = 200  # characters of a name that someone has made up


class UnknownName(InputError):
    def __init__(self, kind: str, name: str, known: Iterable[str], *, place: str = "", hint: str = "") -> None:
        choices, shown = sorted(known), name[:MOST_QUOTED]
        close = difflib.get_close_matches(shown, choices, n=1, cutoff=0.5)
        advice = f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(choices)}."
        super().__init__(f"There is no {kind} {shown!r}{f' in {place}' if place else ''}. {hint or advice}")
        self.name, self.known = name, choices


class UnknownModel(InputError):
    pass


class NoSuchDebate(InputError):
    def __init__(self, debate_id: str) -> None:
        super().__init__(f"There is no debate {debate_id!r}. Look it up in the list of debates.", remedy="list")


class DebateDeleted(NoSuchDebate):
    """The debate was deleted; of it, only its tombstone is left."""

    def __init__(self, debate_id: str, deleted_at: float, deleted_by: str) -> None:
        self.debate_id, self.deleted_at, self.deleted_by = debate_id, deleted_at, deleted_by
        by = f" by {deleted_by}" if deleted_by else ""
        text = f"Debate {debate_id[:8]} was deleted on {self.day}{by}; nothing of it is left."
        MootError.__init__(self, text)

    @property
    def day(self) -> str:
        return datetime.fromtimestamp(self.deleted_at, UTC).strftime("%Y-%m-%d")


class AmbiguousId(InputError):
    def __init__(self, prefix: str, matches: Iterable[str]) -> None:
        shown = ", ".join(m[:13] for m in matches)
        super().__init__(f"{prefix!r} could be any of: {shown}. Give a few more characters of it.")


class ScopeMissing(InputError):
    """The caller lacks a scope. A way in adds who can give it, where `remedy` is "scope"."""


class KeyReused(InputError):
    """The idempotency key was used for another request."""


class OverBudget(InputError):
    """A ceiling of the operator is reached. `opens_at`: when more may be spent."""

    def __init__(self, message: str, *, opens_at: float) -> None:
        super().__init__(message)
        self.opens_at = opens_at


class AbilityMissing(InputError):
    """This machine can't do what a format needs. `fix` says what to install or to set, to who runs the machine."""

    def __init__(self, message: str, *, fix: str) -> None:
        super().__init__(message)
        self.fix = fix
        self.add_note(fix)


class WrongStatus(InputError):
    """The status of a debate does not allow `verb`. Made by `moot.core.lifecycle.refusal`."""

    def __init__(self, message: str, *, debate: str, status: Status, verb: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.debate, self.status, self.verb = debate, status, verb


class StepNeeded(WrongStatus):
    """A completed debate can only be forked at one of its steps. `step` is an example."""

    def __init__(self, *, debate: str, step: str) -> None:
        text = f"Debate {debate} is complete: say which step to ask anew, for example {step!r}."
        super().__init__(text, debate=debate, status="completed", verb="fork", remedy="step")
        self.step = step


class ScriptError(MootError):
    pass


class ScriptChanged(ScriptError):
    def __init__(self, key: str, recorded: str, asked: str) -> None:
        super().__init__(
            f"The record and the rules part at {key!r}: recorded is {recorded}, the rules now ask for {asked}. "
            f"Run it with the version of moot and the settings it was made with, or fork it at {key!r}."
        )
        self.key = key


class LimitReached(MootError):
    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class ModelError(MootError):
    """`usage` is what the failed attempts cost, as far as it is known."""

    def __init__(self, message: str, *, model: str = "", usage: Usage | None = None, raw: str = "") -> None:
        super().__init__(message)
        self.model = model
        self.usage = usage
        self.raw = raw


class ModelTimeout(ModelError):
    pass


class ModelUnavailable(ModelError):
    pass


class ModelOverloaded(ModelError):
    """`refused`: a rate limit was reached; other calls on the same account would be refused, too."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        refused: bool = False,
        model: str = "",
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, model=model, usage=usage)
        self.retry_after, self.refused = retry_after, refused


class ModelUnreachable(ModelOverloaded):
    """No connection could be made. The debate can go on once the server runs and the network works."""


class StreamBrokeOff(ModelOverloaded):
    """The answer ended without a finish reason. `reply` is what came of it, for when no attempt does better."""

    def __init__(self, message: str, *, reply: Reply) -> None:
        super().__init__(message, model=reply.model, usage=reply.usage)
        self.reply = reply


class BadOutput(ModelError):
    """`cut_at` is the token cap that cut the last try off; 0 if none did."""

    def __init__(
        self, message: str, *, model: str = "", usage: Usage | None = None, raw: str = "", cut_at: int = 0
    ) -> None:
        super().__init__(message, model=model, usage=usage, raw=raw)
        self.cut_at = cut_at


class ToolError(MootError):
    """`call` is what is recorded of the use of the tool, once it is known."""

    call: Json | None = None


class StoreError(MootError):
    pass


class NotWritable(StoreError):
    pass


class DatabaseHeld(NotWritable):
    """Another process holds the database for so long that this was given up: nothing of it was stored."""


class DatabaseAway(StoreError):
    pass


class WrongSchema(StoreError):
    pass


class DamagedDebate(StoreError):
    def __init__(self, debate_id: str, what: str) -> None:
        """`what`: the part that is damaged."""
        self.problem = f"can't be read: {what} in the database is damaged"
        super().__init__(f"Debate {debate_id[:8]} {self.problem}. Restore it from a backup, or delete it.")


class Superseded(StoreError):
    pass
