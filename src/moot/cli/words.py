"""Numbers, times and next steps in words for people."""

from __future__ import annotations

import datetime

from moot.cli.commands import CANCELED, DONE, FAILED, STOPPED
from moot.types import Debate, Status

EXIT_CODES: dict[Status, int] = {"completed": DONE, "failed": FAILED, "canceled": CANCELED}


def exit_code(debate: Debate) -> int:
    return EXIT_CODES.get(debate.status, STOPPED)


def duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def money(usd: float | None) -> str:
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "$0"
    if usd < 0.0001:
        return "under $0.0001"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


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
    """Tokens, money and time; `writing` is an estimate of what is being written now."""
    usage = debate.usage
    said = [count(usage.tokens_in + usage.tokens_out + writing, "token"), money(usage.cost_usd)]
    return said if seconds is None else [*said, duration(seconds)]


def progress(debate: Debate, current: int = 0) -> str:
    """`round 2 of 5`, in the unit that the format's settings count."""
    for unit, name in (("round", "max_rounds"), ("turn", "turns")):
        if name in debate.config:
            return f"{unit} {max(debate.total_rounds, current)} of {debate.config[name]}"
    return count(debate.turn_count, "step")


def rating(debate: Debate) -> str:
    return "not rated" if debate.user_rating is None else f"rated {debate.user_rating} of 5"


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def one_line(text: str, width: int = 0) -> str:
    line = " ".join(text.split())
    return line if not width or len(line) <= width else f"{line[: max(1, width - 1)].rstrip()}…"


def next_step(debate: Debate, *, interrupted: bool = False) -> str:
    """The one thing to do next."""
    short = debate.short
    if interrupted:
        return f"Its process is gone; nothing that was said is lost. Go on with: moot resume {short}"
    steps: dict[Status, str] = {
        "pending": f"Start it with: moot resume {short}",
        "running": f"It is running. Follow it with: moot watch {short}",
        "waiting": f"It waits for your answer. Give it with: moot answer {short}",
        "stopping": f"It stops when the step in progress is done. Follow it with: moot watch {short}",
        "stopped": f"Go on with: moot resume {short}",
        "failed": f"Try the failed step again with: moot retry {short}",
        "completed": f"Read it again with: moot show {short}; write it up with: moot record {short}"
        + (f"; see its claims with: moot claims {short}" if debate.config.get("claims") else ""),
        "canceled": f"It is over. Read it with: moot show {short}",
    }
    return steps[debate.status]
