"""Numbers, times and next steps in words."""

from __future__ import annotations

import datetime

from moot import formats
from moot.cli.commands import CANCELED, DONE, FAILED, STOPPED
from moot.core import lifecycle
from moot.core.amounts import count, duration, money
from moot.core.errors import AbilityMissing, InputError, MootError, StepNeeded, WrongStatus
from moot.core.types import Debate, Status
from moot.reasoning.fence import one_line

EXIT_CODES: dict[Status, int] = {"completed": DONE, "failed": FAILED, "canceled": CANCELED}


def exit_code(debate: Debate) -> int:
    return EXIT_CODES.get(debate.status, STOPPED)


AGES = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def read_age(text: str) -> float:
    """The seconds of `30s`, `15m`, `12h`, `90d` or `2w`. Raises InputError."""
    number, unit = text.strip()[:-1], text.strip()[-1:]
    if not (number.isascii() and number.isdecimal() and len(number) < 7 and int(number) and unit in AGES):
        raise InputError(f"{text!r} is no length of time. Write a number and a unit, such as 90d, 12h, 30m or 2w.")
    return float(int(number) * AGES[unit])


def ago(then: float, now: float) -> str:
    seconds = max(0.0, now - then)
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds // 60:.0f}m ago"
    if seconds < 86_400:
        return f"{seconds // 3600:.0f}h ago"
    if seconds < 30 * 86_400:
        return f"{seconds // 86_400:.0f}d ago"
    return datetime.datetime.fromtimestamp(then).strftime("%Y-%m-%d")


def clock(then: float) -> str:
    return datetime.datetime.fromtimestamp(then).strftime("%Y-%m-%d %H:%M")


def spent(debate: Debate, seconds: float | None = None, writing: int = 0) -> list[str]:
    """Tokens, money and time used. `writing`: tokens of text in flight, as an estimate."""
    usage = debate.usage
    parts = [count(usage.tokens_in + usage.tokens_out + writing, "token"), money(usage.cost_usd)]
    return parts if seconds is None else [*parts, duration(seconds)]


def progress(debate: Debate, current: int = 0) -> str:
    """`round 2 of 5`, in the unit that the format counts."""
    unit, done, of = formats.wording_of(debate).progress(debate, current)
    if of is None:
        return count(done, unit)
    return f"{unit} {done} of {of}" if done else f"0 of {count(of, unit)}"


def rating(debate: Debate) -> str:
    return "not rated" if debate.user_rating is None else f"rated {debate.user_rating} of 5"


def how_it_turned_out(debate: Debate) -> str:
    """A sentence; empty where nothing is recorded."""
    told = debate.turned_out
    if told is None:
        return ""
    note = f": {one_line(told.note)}" if told.note else "."
    return f"The decision turned out {told.words}, as {told.by} recorded on {clock(told.at)}{note}"


def next_step(debate: Debate, *, interrupted: bool = False) -> str:
    """Where the debate stands, and the command to go on with."""
    said = lifecycle.next_step(debate.status, interrupted=interrupted, failure=debate.error)
    said += f" with: {_command(lifecycle.next_verb(debate.status, interrupted=interrupted), debate.short)}"
    claims = debate.status == "completed" and debate.config.get("claims")
    return f"{said}; see its claims with: moot claims {debate.short}" if claims else said


_FLAGS = {"model": "--model", "database": "--db"}


def explained(error: MootError) -> str:
    """The text of an error, with the command or flag that does what it advises."""
    if isinstance(error, StepNeeded):
        what = f"Debate {error.debate} is complete: say which step to ask anew, for example --at {error.step}."
        return f"{what} `moot show {error.debate}` has each step's key."
    if isinstance(error, AbilityMissing):
        return f"{error}\n{error.fix}"
    remedy = error.remedy or (error.__cause__.remedy if isinstance(error.__cause__, MootError) else "")
    short = error.debate if isinstance(error, WrongStatus) else "--all"
    if remedy in _FLAGS:
        return f"{str(error).removesuffix('.')} with {_FLAGS[remedy]}."
    return f"{str(error).removesuffix('.')} with: {_command(remedy, short)}" if remedy else str(error)


def _command(remedy: str, short: str) -> str:
    commands = {"list": "list", "migrate": "db migrate", "start": f"resume {short}"}
    return f"moot {commands.get(remedy, f'{remedy} {short}')}"
