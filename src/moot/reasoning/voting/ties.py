"""Rules for candidates that a method leaves in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from moot.core.poll import CountRound
from moot.core.types import record
from moot.reasoning.voting.profile import Places, Profile, by_figure


@record
class TieBreak:
    name: str
    counts: str  # what is compared, as the name of a round
    most: Callable[[Profile, Sequence[str]], int]  # the largest figure that there could be
    figures: Callable[[Profile, Sequence[str]], Mapping[str, int]]  # for candidates that share a place


def _pairwise(profile: Profile, tied: Sequence[str]) -> dict[str, int]:
    return {name: profile.wins(name, tied) for name in tied}


def support(profile: Profile, candidates: Sequence[str]) -> dict[str, int]:
    """How many voters stand behind each candidate, those who abstain from ranking included."""
    counted = dict.fromkeys(candidates, 0)
    for ballot in profile.ballots:
        for name in ballot.approves:
            if name in counted:
                counted[name] += 1
    return counted


PAIRWISE = TieBreak(
    name="pairwise",
    counts="wins less losses head to head, among those that are tied",
    most=lambda _, tied: len(tied) - 1,
    figures=_pairwise,
)
SUPPORT = TieBreak(
    name="support",
    counts="voters who stand behind it",
    most=lambda profile, _: profile.voters,
    figures=support,
)
TIE_BREAKS: Mapping[str, TieBreak] = {each.name: each for each in (PAIRWISE, SUPPORT)}


def broken(profile: Profile, places: Places, rules: Sequence[TieBreak]) -> tuple[Places, list[CountRound], str]:
    """The places with ties broken, what was compared for it, and the rule that left one candidate in the first place
    (empty: none did). What is equal under all rules stays a tie."""
    rounds: list[CountRound] = []
    settled: list[tuple[str, ...]] = []
    decided_by = ""
    for at, place in enumerate(places):
        groups: Places = (place,)
        for rule in rules:
            tied = len(groups[0]) > 1
            groups = tuple(_split(profile, groups, rule, rounds))
            if at == 0 and tied and len(groups[0]) == 1:
                decided_by = rule.name
        settled += groups
    return tuple(settled), rounds, decided_by


def _split(profile: Profile, groups: Places, rule: TieBreak, rounds: list[CountRound]) -> Iterator[tuple[str, ...]]:
    for group in groups:
        if len(group) == 1:
            yield group
            continue
        figures = rule.figures(profile, group)
        exact = {name: Fraction(n) for name, n in figures.items()}
        rounds.append(
            CountRound(name=f"tie-break: {rule.counts}", figures=exact, most=Fraction(rule.most(profile, group)))
        )
        yield from by_figure(group, figures)
