"""A vote as it is stored: who could vote for what, every ballot, the rule, and the result. Nothing else is needed to
count it again; `moot.reasoning.voting` does."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from moot.core.values import Frozen

TIE, UNDECIDED, ABSTAINS = "tie", "undecided", "abstains"  # instead of a seat
AUTO = "auto"  # a method that depends on how many vote

# Fractions are exact, and written as text in JSON: "2/3".
Share = Annotated[Fraction, Field(ge=0)]


class Candidate(Frozen):
    """Something that can be voted for."""

    id: str
    title: str = ""  # for people
    author: str = ""  # the seat whose it is, which may not rank it; empty: none


class Ballot(Frozen):
    """One voter's ballot. One without a ranking is an abstention."""

    voter: str
    ranking: tuple[str, ...] = ()  # candidates, best first; the others that the voter could rank share the place below
    approves: tuple[str, ...] = ()  # candidates that the voter stands behind, its own included
    weight: Share = Fraction(1)
    keys: tuple[str, ...] = ()  # the steps in which it was given
    reason: str = ""  # why it abstains


class CountRound(Frozen):
    """One round of a count: a figure for each candidate that it concerns."""

    name: str  # what is counted: "points", "first places"
    figures: dict[str, Fraction]
    most: Share  # the largest figure that there could be
    against: dict[str, dict[str, Fraction]] = Field(default_factory=dict)  # figures against each other candidate
    decides: bool = False  # the places follow from it
    found: str = ""  # what follows from it, in a sentence

    def share(self, candidate: str) -> Fraction | None:
        """The candidate's figure as a share of the largest possible one; None if it has none."""
        figure = self.figures.get(candidate)
        return None if figure is None or not self.most else figure / self.most


class Result(Frozen):
    """What a count comes to."""

    method: str  # the one that was used, where `auto` chose it
    winner: str | None  # None: a tie, or the method's condition is not met
    reached: bool = True  # False: the method's own condition is not met: there is no majority, or no ballot
    places: tuple[tuple[str, ...], ...]  # all candidates, best first; those that share a place are tied
    rounds: tuple[CountRound, ...]
    tie_break: str = ""  # the rule that decided about the first place; empty: none did
    fallback: str = ""  # the method that decided, where the one asked for found no winner
    reason: str = ""  # why there is no winner
    voters: int  # everyone who had a vote
    abstained: int

    @property
    def deciding(self) -> CountRound | None:
        """The round from which the places follow; None if nothing was counted."""
        return next((each for each in self.rounds if each.decides), None)


class Poll(Frozen):
    """A counted vote."""

    method: str  # as it was asked for: a method, or "auto"
    tie_breaks: tuple[str, ...] = ()  # the rules for equal figures, in order; what is equal under all of them is a tie
    candidates: tuple[Candidate, ...]
    ballots: tuple[Ballot, ...]
    result: Result
    round: int = 0  # of the debate
    decides: bool = True  # False: another vote of the same debate counts instead

    @property
    def seat(self) -> str:
        """The seat that wins: the author of what stands first, or TIE or UNDECIDED. Two answers of one author in the
        first place are no tie between seats."""
        if not self.result.reached:
            return UNDECIDED
        authors = {self.authors[each] for each in self.result.places[0]}
        return authors.pop() or TIE if len(authors) == 1 else TIE

    @property
    def titles(self) -> dict[str, str]:
        return {each.id: each.title or each.id for each in self.candidates}

    @property
    def authors(self) -> dict[str, str]:
        return {each.id: each.author for each in self.candidates}
