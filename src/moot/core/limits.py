"""The limits of a debate and what it has used of them, computed from its turns alone, so that limits replay too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from moot.core.errors import LimitReached
from moot.core.types import Turn, record


@record
class Limits:
    """What a debate may use. A field is a setting of the same name; None: no such limit."""

    max_runtime_seconds: float | None = None
    max_total_output_tokens: int | None = None
    max_cost_usd: float | None = None
    max_calls: int | None = None

    @classmethod
    def of(cls, settings: object) -> Limits:
        return cls(**{each.name: getattr(settings, each.name) for each in fields(cls)})


class Spent:
    def __init__(self) -> None:
        self.tokens_in = 0
        self.tokens_out = 0
        self.cost_usd: float = 0.0
        self.calls = 0  # of models, with those whose answer did not count
        self.seconds = 0.0
        self.written: dict[str, int] = {}  # output tokens by seat, without what it was asked off the record
        self._busy: list[tuple[float, float]] = []  # disjoint, in order: when at least one step was running

    def add(self, turn: Turn) -> None:
        self.tokens_in += turn.tokens_in
        self.tokens_out += turn.tokens_out
        self.cost_usd += turn.cost_usd or 0.0
        if turn.kind == "ask" and not (turn.failure and turn.failure.kind == "limit"):
            self.calls += 1 + len(turn.metadata.get("attempts", ()))
        if "off_record" not in turn.metadata:
            self.written[turn.seat] = self.written.get(turn.seat, 0) + turn.tokens_out
        start, end = turn.started_at, max(turn.started_at, turn.created_at)
        later: list[tuple[float, float]] = []  # none, unless a clock was set back
        while self._busy and self._busy[-1][1] >= start:
            earlier = self._busy.pop()
            if earlier[0] > end:
                later.append(earlier)
                continue
            self.seconds -= earlier[1] - earlier[0]
            start, end = min(start, earlier[0]), max(end, earlier[1])
        self._busy.append((start, end))
        self._busy += reversed(later)
        self.seconds += end - start

    def reached(self, limits: Limits) -> LimitReached | None:
        """The first limit that is used up, if any."""
        for name, limit in LIMITS.items():
            most = getattr(limits, name)
            if most is not None and limit.used(self) >= most:
                return LimitReached(name, limit.message(limit.used(self), most))
        return None


@record
class Limit:
    used: Callable[[Spent], float]
    message: Callable[[float, float], str]
    words: str  # why a debate ended that reached it


# In the order in which they are checked.
LIMITS: dict[str, Limit] = {
    "max_total_output_tokens": Limit(
        used=lambda spent: spent.tokens_out,
        message=lambda used, most: f"{used} of {most} output tokens are used.",
        words="the tokens were used up",
    ),
    "max_cost_usd": Limit(
        used=lambda spent: spent.cost_usd,
        message=lambda used, most: f"${used:.4f} of ${most:.4f} is spent.",
        words="the money was used up",
    ),
    "max_calls": Limit(
        used=lambda spent: spent.calls,
        message=lambda used, most: f"{used} of {most} calls are made.",
        words="the calls were used up",
    ),
    "max_runtime_seconds": Limit(
        used=lambda spent: spent.seconds,
        message=lambda used, most: f"{used:.0f} of {most:.0f} seconds have run.",
        words="the running time was used up",
    ),
}
