"""Counting votes: exact, without a model, and repeatable by anyone who has the ballots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.core.errors import InputError, UnknownName
from moot.core.poll import AUTO, Ballot, Candidate, Poll, Result
from moot.plugins import Door
from moot.reasoning.voting.methods import Counted, Method, chosen_for, condorcet_winner
from moot.reasoning.voting.profile import BallotError, Profile
from moot.reasoning.voting.ties import TIE_BREAKS, broken, support

__all__ = [
    "AUTO",
    "DOOR",
    "BallotError",
    "Counted",
    "Method",
    "Profile",
    "condorcet_winner",
    "count",
    "counted",
    "method_for",
    "methods",
    "support",
]

NO_BALLOTS = "There is no valid ballot."
TIED = "The votes rank none of them above the others."


def _checked(name: str, loaded: object) -> Method:
    if not isinstance(loaded, Method):
        raise InputError("It is not a `moot.reasoning.voting.Method`.")
    if loaded.name != name or name == AUTO:
        raise InputError(f"It calls itself {loaded.name!r}; its entry point must have the same name, and not {AUTO!r}.")
    return loaded


DOOR = Door("moot.voting", "voting method", _checked)


def methods() -> Mapping[str, Method]:
    """The methods that there are, by name."""
    return DOOR.installed()


def method_for(name: str, voters: int) -> Method:
    """The method of that name; of `auto`, the one for so many voters. Raises UnknownName."""
    return chosen_for(voters) if name == AUTO else DOOR.get(name)


def count(
    method: str, candidates: Sequence[Candidate], ballots: Sequence[Ballot], tie_breaks: Sequence[str] = ()
) -> Result:
    """Count a vote. Everyone who has a vote has a ballot, if only an empty one: those are the abstentions.

    The order of candidates and ballots makes no difference to who stands in which place. Raises UnknownName, and
    BallotError if a ballot ranks what it may not.
    """
    taken = method_for(method, len(ballots))
    unknown = [name for name in tie_breaks if name not in TIE_BREAKS]
    if unknown:
        raise UnknownName("tie-break", unknown[0], TIE_BREAKS)
    profile = Profile(candidates, ballots, weighs=taken.weighs)
    order = (
        taken.count(profile) if profile.total else Counted(places=(profile.candidates,), rounds=(), missed=NO_BALLOTS)
    )
    places, compared, tie_break = broken(profile, order.places, [TIE_BREAKS[name] for name in tie_breaks])
    leads = len(places[0]) == 1
    return Result(
        method=taken.name,
        winner=places[0][0] if leads and not order.missed else None,
        reached=not order.missed,
        places=places,
        rounds=(*order.rounds, *compared),
        tie_break=tie_break,
        fallback=order.fallback,
        reason=order.missed or ("" if leads else TIED),
        voters=profile.voters,
        abstained=profile.abstained,
    )


def counted(
    method: str,
    candidates: Sequence[Candidate],
    ballots: Sequence[Ballot],
    tie_breaks: Sequence[str] = (),
    *,
    round: int = 0,
) -> Poll:
    """Count a vote, and keep with the result what is needed to count it again."""
    return Poll(
        method=method,
        tie_breaks=tuple(tie_breaks),
        candidates=tuple(candidates),
        ballots=tuple(ballots),
        result=count(method, candidates, ballots, tie_breaks),
        round=round,
    )
