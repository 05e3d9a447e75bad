"""Votes for tests, written shortly: a ballot is "abc", with its voter before a colon and its weight behind a star."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from moot.core.poll import Ballot, Candidate, Result
from moot.reasoning.voting import count


def candidates(names: str, authors: Mapping[str, str] | None = None) -> list[Candidate]:
    return [Candidate(id=name, author=(authors or {}).get(name, "")) for name in names]


def ballots(*written: str) -> list[Ballot]:
    made: list[Ballot] = []
    for n, text in enumerate(written):
        voter, colon, rest = text.rpartition(":")
        ranking, _, weight = rest.partition("*")
        made.append(
            Ballot(voter=voter if colon else f"v{n}", ranking=tuple(ranking), weight=Fraction(weight or 1)),
        )
    return made


def times(*many: tuple[int, str]) -> list[str]:
    return [text for count, text in many for _ in range(count)]


def result(method: str, names: str, written: Sequence[str], tie_breaks: Sequence[str] = (), **authors: str) -> Result:
    """Count. `authors` has the voter to whom a candidate belongs: a="v1"."""
    return count(method, candidates(names, authors), ballots(*written), tie_breaks)


def places(counted: Result) -> list[str]:
    return ["".join(sorted(place)) for place in counted.places]
