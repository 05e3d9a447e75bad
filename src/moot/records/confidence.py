"""How far to trust a recommendation: a rule over typed facts, never a model's word. docs/records.md states the rule."""

from __future__ import annotations

from collections.abc import Mapping

from moot.records.contract import Level
from moot.types import record

LEAD = 2.0  # points of 10
MAJORITY = 2 / 3
JURY = 3  # votes that stand in for reading in both orders


@record
class Facts:
    winner: str
    source: str
    scores: Mapping[str, float | None]
    votes: Mapping[str, float] | None  # by seat, "tie" and "abstains"
    flip_rate: float | None
    cut_short: tuple[str, ...]  # the limits that did it
    demonstration: bool
    given: Level | None = None  # what the format's own rule says
    unsettled: bool = False  # the rounds were used up before the perspectives agreed


def rate(facts: Facts) -> tuple[Level, tuple[str, ...]]:
    """The level, and why. What a format says can be lowered, never raised."""
    low = _lows(facts)
    if low:
        return "Low", tuple(low)
    if facts.given is not None:
        return facts.given, (f"The rules of the format give {facts.given}.",)
    doubts = _doubts(facts)
    if doubts:
        return "Medium", tuple(doubts)
    return "High", ("The verdict was checked, its lead is clear, and no ballot was missing.",)


def _lows(facts: Facts) -> list[str]:
    low: list[str] = []
    if facts.demonstration:
        low.append("A demonstration model took part.")
    if facts.source == "fallback":
        low.append("There is no valid verdict.")
    elif facts.given is None and facts.winner in ("tie", "undecided"):
        low.append("No side won.")
    if facts.unsettled:
        low.append("The rounds were used up before the perspectives agreed.")
    if facts.cut_short:
        low.append(f"A limit cut the debate short: {', '.join(facts.cut_short)}.")
    if facts.flip_rate:
        low.append("Read in the other order, the debate came out differently.")
    return low


def _doubts(facts: Facts) -> list[str]:
    doubts: list[str] = []
    cast = {name: votes for name, votes in (facts.votes or {}).items() if name != "abstains"}
    if facts.flip_rate is None and sum(cast.values()) < JURY:
        doubts.append("The verdict was not checked by a second reading or a jury.")
    if cast and cast.get(facts.winner, 0) < MAJORITY * sum(cast.values()):
        doubts.append("Less than two thirds of the votes are for the winner.")
    if (facts.votes or {}).get("abstains"):
        doubts.append("Not every ballot was valid.")
    lead = _lead(facts)
    if lead is not None and lead < LEAD:
        doubts.append(f"The winner leads by less than {LEAD:g} points.")
    return doubts


def _lead(facts: Facts) -> float | None:
    own = facts.scores.get(facts.winner)
    others = [points for seat, points in facts.scores.items() if seat != facts.winner and points is not None]
    return own - max(others) if own is not None and others else None
