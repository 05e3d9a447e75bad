"""The confidence of a record: a rule over typed facts, stated in docs/records.md. No model's opinion is asked."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.types import ABSTAINS, Check, Level, Outcome

LEAD = 0.2  # share of the scale: 2 points of 10
MAJORITY = 2 / 3
DECISIVE = ("own words", "statement", "running scores")  # checks without which a verdict stands on little
INCOMPLETE = ("complete", "everyone heard")  # checks that lower a high level
JURY = 3  # votes that count as much as reading in both orders


def rate(
    outcome: Outcome, *, limits_reached: Sequence[str], unsettled: bool, demonstration: bool
) -> tuple[Level, tuple[str, ...]]:
    """The level and the reasons for it. A level that the format computed can be lowered here, never raised.
    `unsettled`: the rounds were used up before the positions agreed."""
    low = _lows(outcome, limits_reached, unsettled=unsettled, demonstration=demonstration)
    if low:
        return "Low", tuple(low)
    cut = [_sentence(check) for check in outcome.failed_checks if check.name in INCOMPLETE]
    if outcome.confidence is not None:
        level, rule = outcome.confidence.level, f"By the format's rules: {outcome.confidence.source}."
        return "Medium" if cut and level == "High" else level, (rule, *cut)
    doubts = [*cut, *_doubts(outcome)]
    if doubts:
        return "Medium", tuple(doubts)
    return "High", ("The verdict was checked, its lead is clear, and no ballot was missing.",)


def _lows(outcome: Outcome, limits_reached: Sequence[str], *, unsettled: bool, demonstration: bool) -> list[str]:
    low: list[str] = []
    if demonstration:
        low.append("A demonstration model took part.")
    if outcome.verdict_source == "fallback":
        low.append("There is no valid verdict.")
    elif outcome.confidence is None and not outcome.decided:
        low.append("No side won.")
    if unsettled:
        low.append("The rounds were used up before the positions agreed.")
    if limits_reached:
        low.append(f"A limit cut the debate short: {', '.join(limits_reached)}.")
    failed = {check.name: check for check in outcome.failed_checks}
    low += [_sentence(check) for name, check in failed.items() if name in DECISIVE]
    if outcome.flip_rate or "other order" in failed:
        low.append("Read in the other order, the debate came out differently.")
    return low


def _sentence(check: Check) -> str:
    words = check.words.strip().rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."


def _doubts(outcome: Outcome) -> list[str]:
    doubts: list[str] = []
    tally = outcome.tally or {}
    voted = sum(votes for choice, votes in tally.items() if choice != ABSTAINS)
    if outcome.flip_rate is None and voted < JURY:
        doubts.append("The verdict was not checked by a second reading or a vote of at least three.")
    if outcome.support is not None and outcome.support < MAJORITY:
        doubts.append("Less than two thirds of the voters are behind the winner.")
    if tally.get(ABSTAINS):
        doubts.append("Not every ballot was valid.")
    lead = _lead(outcome)
    if lead is not None and round(lead / outcome.scale, 6) < LEAD:
        doubts.append(f"The winner leads by less than {LEAD * outcome.scale:g} of {outcome.scale:g} points.")
    return doubts


def _lead(outcome: Outcome) -> float | None:
    own = outcome.scores.get(outcome.winner)
    others = [points for seat, points in outcome.scores.items() if seat != outcome.winner and points is not None]
    return own - max(others) if own is not None and others else None
