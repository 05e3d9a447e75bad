"""The limits of a debate and what it has used of them, computed from its turns alone, so that limits replay too."""

from __future__ import annotations

from moot.errors import LimitReached
from moot.types import Turn, record


@record
class Limits:
    max_runtime_seconds: float | None = None
    max_total_output_tokens: int | None = None
    max_cost_usd: float | None = None


class Spent:
    def __init__(self) -> None:
        self.tokens_in = 0
        self.tokens_out = 0
        self.cost_usd: float = 0.0
        self.seconds = 0.0
        self._busy: list[tuple[float, float]] = []  # disjoint, in order: when at least one step was running

    def add(self, turn: Turn) -> None:
        self.tokens_in += turn.tokens_in
        self.tokens_out += turn.tokens_out
        self.cost_usd += turn.cost_usd or 0.0
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
        tokens, money, time = limits.max_total_output_tokens, limits.max_cost_usd, limits.max_runtime_seconds
        if tokens is not None and self.tokens_out >= tokens:
            return LimitReached("max_total_output_tokens", f"{self.tokens_out} of {tokens} output tokens are used.")
        if money is not None and self.cost_usd >= money:
            return LimitReached("max_cost_usd", f"${self.cost_usd:.4f} of ${money:.4f} is spent.")
        if time is not None and self.seconds >= time:
            return LimitReached("max_runtime_seconds", f"{self.seconds:.0f} of {time:.0f} seconds have run.")
        return None
