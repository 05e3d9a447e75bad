"""Ceilings of the operator: what a debate, a caller and a day may use. No request and no project's file raises them.

A day is a day of UTC. What counts as used includes what calls in flight may use at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from moot.core.errors import InputError, OverBudget
from moot.core.limits import Limits
from moot.core.settings import NO_CEILING, SERVER_DEBATE_USD, Ceilings
from moot.core.types import Json, record

DAY_SECONDS = 86_400

# The ceiling of each setting of a debate that has one.
_OF_SETTING = {"max_cost_usd": "debate_usd", "max_total_output_tokens": "debate_tokens"}


@record
class Spending:
    """What was used on a day. `tokens` are output tokens, as in `max_total_output_tokens`."""

    cost_usd: float = 0.0
    tokens: int = 0
    reserved_usd: float = 0.0  # the most that calls may use whose end is not recorded yet, or never was
    reserved_tokens: int = 0

    @property
    def most_usd(self) -> float:
        return self.cost_usd + self.reserved_usd

    @property
    def most_tokens(self) -> int:
        return self.tokens + self.reserved_tokens


@record
class Reserved:
    """The most that the calls in flight of a debate may use."""

    cost_usd: float = 0.0
    tokens: int = 0


@record
class Today:
    """What was used since the day began, by everyone and by one caller."""

    now: float
    all: Spending
    caller: Spending

    @property
    def opens_at(self) -> float:
        """When the next day begins."""
        return float((day_of(self.now) + 1) * DAY_SECONDS)

    def left(self, ceilings: Ceilings) -> tuple[float | None, int | None]:
        """The money and the tokens that the caller may still use today; None: as much as they like."""
        usd = [most - used.most_usd for most, used in self._pairs(ceilings, "usd")]
        tokens = [most - used.most_tokens for most, used in self._pairs(ceilings, "tokens")]
        return (max(0.0, min(usd)) if usd else None), (int(max(0, min(tokens))) if tokens else None)

    def refusal(self, ceilings: Ceilings, asked: Reserved | None = None) -> OverBudget | None:
        """The error for a caller who has nothing left today or, with `asked`, not as much as that."""
        for whose in ("caller", "day"):
            used = self.caller if whose == "caller" else self.all
            usd, tokens = getattr(ceilings, f"{whose}_usd"), getattr(ceilings, f"{whose}_tokens")
            for most, now, more, shown in (
                (usd, used.most_usd, asked and asked.cost_usd, f"${usd or 0:,.2f}"),
                (tokens, used.most_tokens, asked and asked.tokens, f"{tokens or 0:,} output tokens"),
            ):
                if most is not None and (now >= most if more is None else more > 0 and now + more > most):
                    return over_budget(whose, shown, self.opens_at)
        return None

    def _pairs(self, ceilings: Ceilings, unit: str) -> list[tuple[float, Spending]]:
        found = [
            (getattr(ceilings, f"{whose}_{unit}"), used) for whose, used in (("caller", self.caller), ("day", self.all))
        ]
        return [(most, used) for most, used in found if most is not None]


def over_budget(whose: str, shown: str, opens_at: float) -> OverBudget:
    what = f"the {shown} that {'one caller' if whose == 'caller' else 'all debates together'} may use in a day"
    when = datetime.fromtimestamp(opens_at, UTC).strftime("%Y-%m-%d %H:%M")
    return OverBudget(
        f"Today's budget is used up: there is too little left of {what}. It opens again at {when} UTC; "
        "only the operator can raise it.",
        opens_at=opens_at,
    )


def day_of(now: float) -> int:
    """The day of UTC, counted from 1970."""
    return int(now // DAY_SECONDS)


def daily(ceilings: Ceilings) -> bool:
    """Whether there is a ceiling for a day, so that calls must be reserved."""
    return any(
        getattr(ceilings, f"{whose}_{unit}") is not None for whose in ("caller", "day") for unit in ("usd", "tokens")
    )


def in_money(ceilings: Ceilings) -> bool:
    """Whether there is a ceiling in money, so that the price of each model must be known."""
    return any(most is not None for most in (debate_usd(ceilings), ceilings.caller_usd, ceilings.day_usd))


def debate_usd(ceilings: Ceilings) -> float | None:
    return None if ceilings.debate_usd == NO_CEILING else ceilings.debate_usd


def for_server(ceilings: Ceilings) -> Ceilings:
    """The ceilings of a process that spends on others' behalf: a debate has one in money, unless it is lifted."""
    return (
        ceilings if ceilings.debate_usd is not None else ceilings.model_copy(update={"debate_usd": SERVER_DEBATE_USD})
    )


def within(ceilings: Ceilings, limits: Limits) -> Limits:
    """The limits of a debate, lowered to the ceilings."""
    usd = _least(limits.max_cost_usd, debate_usd(ceilings))
    if usd is None and (ceilings.caller_usd is not None or ceilings.day_usd is not None):
        usd = math.inf  # what a call may cost has to be known
    tokens = _least(limits.max_total_output_tokens, ceilings.debate_tokens)
    return replace(limits, max_cost_usd=usd, max_total_output_tokens=None if tokens is None else int(tokens))


def lowered(ceilings: Ceilings, settings: Mapping[str, object]) -> Json:
    """The settings of a debate, lowered to the ceilings."""
    return {**settings, **_above(ceilings, settings)}


def missing(ceilings: Ceilings, settings: Mapping[str, object]) -> Json:
    """Limits that a debate must have, and that these complete settings lack or exceed."""
    unset = {name: _most(ceilings, name) for name in _OF_SETTING if settings.get(name) is None}
    return {**{name: most for name, most in unset.items() if most is not None}, **_above(ceilings, settings)}


def check_asked(ceilings: Ceilings, settings: Mapping[str, object]) -> None:
    """Raises InputError if a request asks for more than a ceiling allows."""
    for name, most in _above(ceilings, settings).items():
        shown = f"${most:,.2f}" if name == "max_cost_usd" else f"{most:,}"
        raise InputError(
            f"Setting {name} can be {shown} at most here: that is the operator's ceiling for a debate. Ask for less, "
            "or leave it out."
        )


def check_call(ceilings: Ceilings, most: Reserved) -> None:
    """Raises InputError if a single call outside of a debate could use more than a debate may."""
    usd, tokens = debate_usd(ceilings), ceilings.debate_tokens
    if (usd is not None and most.cost_usd > usd) or (tokens is not None and most.tokens > tokens):
        raise InputError(
            "This could use more than the operator lets a debate use. Shorten it, or ask for fewer tokens."
        )


def _above(ceilings: Ceilings, settings: Mapping[str, object]) -> dict[str, float]:
    found = {name: (settings.get(name), _most(ceilings, name)) for name in _OF_SETTING}
    return {
        name: most
        for name, (value, most) in found.items()
        if most is not None and isinstance(value, int | float) and value > most
    }


def _most(ceilings: Ceilings, name: str) -> float | None:
    return debate_usd(ceilings) if name == "max_cost_usd" else ceilings.debate_tokens


def _least(one: float | None, two: float | None) -> float | None:
    return two if one is None else one if two is None else min(one, two)
