"""The voting methods. Each is a plain value: a name, what ballots it takes, a function from a profile to an order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal

from moot.core.poll import CountRound
from moot.core.types import record
from moot.reasoning.voting.profile import Places, Profile, by_figure

FIRST_PLACES = "first places"
POINTS = "points"
HEAD_TO_HEAD = "head-to-head wins"
STRONGEST_PATHS = "wins by strongest path"


@record
class Counted:
    """What a method makes of a profile, before ties are broken."""

    places: Places
    rounds: tuple[CountRound, ...]
    missed: str = ""  # why the method's own condition is not met, in a sentence; empty: it is
    fallback: str = ""  # the method that decided instead


@record
class Method:
    name: str
    summary: str  # how it counts, in a sentence
    takes: Literal["choice", "ranking"]  # "choice": the first place on a ballot is all that it reads
    weighs: bool  # ballots count by their weight; False: each counts once
    count: Callable[[Profile], Counted]


def _first_places(profile: Profile) -> Counted:
    figures = profile.first_places
    counted = CountRound(name=FIRST_PLACES, figures=figures, most=profile.total, decides=True)
    return Counted(places=by_figure(profile.candidates, figures), rounds=(counted,))


def _majority(profile: Profile) -> Counted:
    counted = _first_places(profile)
    most = max(profile.first_places.values())
    if 2 * most > profile.total:
        return counted
    missed = f"None is first on more than half of the {profile.valid} ballots; the best is first on {most}."
    return Counted(places=counted.places, rounds=counted.rounds, missed=missed)


def _unanimous(profile: Profile) -> Counted:
    """A candidate can't be first on the ballot of its author, who may not rank it."""
    figures = profile.first_places
    agreed = {name: n for name, n in figures.items() if n and n == profile.could_rank[name]}
    counted = CountRound(name=FIRST_PLACES, figures=figures, most=profile.total, decides=True)
    if agreed:
        places = by_figure(profile.candidates, {**figures, **dict.fromkeys(agreed, profile.total + 1)})
        return Counted(places=places, rounds=(counted,))
    places = by_figure(profile.candidates, figures)
    return Counted(places=places, rounds=(counted,), missed="The ballots do not agree on a first place.")


def _borda(profile: Profile) -> Counted:
    points = profile.points
    counted = CountRound(name=POINTS, figures=points, most=Fraction(1), decides=True)
    return Counted(places=by_figure(profile.candidates, points), rounds=(counted,))


def condorcet_winner(profile: Profile) -> str | None:
    """The candidate that beats every other one head to head, if there is one."""
    rivals = len(profile.candidates) - 1
    return next((name for name in profile.candidates if profile.wins(name, profile.candidates) == rivals), None)


def _condorcet(profile: Profile) -> Counted:
    wins = _beaten(profile.preferences)
    pairs = CountRound(name=HEAD_TO_HEAD, figures=wins, most=Fraction(len(wins) - 1), against=profile.preferences)
    winner = condorcet_winner(profile)
    if winner is None:
        pairs = pairs.model_copy(update={"found": "None beats every other one; the Borda count decides."})
        points = _borda(profile)
        return Counted(places=points.places, rounds=(pairs, *points.rounds), fallback=BORDA.name)
    pairs = pairs.model_copy(update={"decides": True})
    return Counted(places=by_figure(profile.candidates, wins), rounds=(pairs,))


def _schulze(profile: Profile) -> Counted:
    """A path is as strong as its weakest margin; a candidate beats another if its strongest path there is stronger than
    the one back."""
    margins = profile.margins
    paths = {one: {other: max(lead, Fraction()) for other, lead in row.items()} for one, row in margins.items()}
    for via in profile.candidates:
        for one in profile.candidates:
            if one == via or not (first := paths[one][via]):
                continue
            for other in profile.candidates:
                if other not in (one, via):
                    paths[one][other] = max(paths[one][other], min(first, paths[via][other]))
    wins = _beaten(paths)
    direct = CountRound(
        name=HEAD_TO_HEAD,
        figures=_beaten(profile.preferences),
        most=Fraction(len(wins) - 1),
        against=profile.preferences,
    )
    strongest = CountRound(
        name=STRONGEST_PATHS, figures=wins, most=Fraction(len(wins) - 1), against=paths, decides=True
    )
    places: list[tuple[str, ...]] = []
    left: tuple[str, ...] = profile.candidates
    while left:  # those that no one left beats come next: beating by paths is transitive, so there always is one
        beaten = {two for one in left for two in left if one != two and paths[one][two] > paths[two][one]}
        places.append(tuple(one for one in left if one not in beaten))
        left = tuple(one for one in left if one in beaten)
    return Counted(places=tuple(places), rounds=(direct, strongest))


def _beaten(table: Mapping[str, Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """How many others each candidate beats."""
    return {one: Fraction(sum(there > table[other][one] for other, there in row.items())) for one, row in table.items()}


PLURALITY = Method(
    name="plurality",
    summary="Most first places.",
    takes="choice",
    weighs=False,
    count=_first_places,
)
MAJORITY = Method(
    name="majority",
    summary="First on more than half of the ballots; otherwise nothing is decided.",
    takes="choice",
    weighs=False,
    count=_majority,
)
WEIGHTED = Method(
    name="weighted",
    summary="Most first places, each counted by its voter's weight.",
    takes="choice",
    weighs=True,
    count=_first_places,
)
UNANIMOUS = Method(
    name="unanimous",
    summary="First on every ballot but its author's own; otherwise nothing is decided.",
    takes="choice",
    weighs=False,
    count=_unanimous,
)
BORDA = Method(
    name="borda",
    summary="The highest mean place: of the others on a ballot, the share that is ranked below.",
    takes="ranking",
    weighs=True,
    count=_borda,
)
CONDORCET = Method(
    name="condorcet",
    summary="Beats every other one head to head; if none does, the Borda count decides, and the result says so.",
    takes="ranking",
    weighs=True,
    count=_condorcet,
)
SCHULZE = Method(
    name="schulze",
    summary="Beats every other one head to head or, in a cycle, by the strongest chain of such wins.",
    takes="ranking",
    weighs=True,
    count=_schulze,
)


def chosen_for(voters: int) -> Method:
    """What `auto` takes: few must agree, some are weighed, many are ranked."""
    return UNANIMOUS if voters < 3 else WEIGHTED if voters < 6 else BORDA
