"""A blind vote among members: the labels under which each reads the others' answers, and the count of the ballots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from moot.core.script import Failed
from moot.core.types import ABSTAINS, Json, record
from moot.formats.council.shapes import Opinion, RankedBallot
from moot.reasoning.ranking import Standing, condorcet_winner, effective_voters, standings

LETTERS = "ABCDEFGHJKLMNPQRST"  # two for each of nine members; without I, which is a word


@record
class Candidate:
    """An answer that can be voted for."""

    seat: str
    round: int
    opinion: Opinion

    @property
    def id(self) -> str:
        return f"{self.seat}/{self.round}"


Labels = Mapping[str, Candidate]  # by letter, for one reader


def labels_for(reader: str, candidates: Sequence[Candidate], *, topic: str, round: int) -> Labels:
    """The others' answers in the order in which `reader` reads them, by letter.

    All answers are arranged in a circle, ordered by hash, and each reader starts after its own. Readers so have
    different letters for the same answer; with one answer per member, each answer is read in every place once.
    """

    def drawn(what: str) -> str:
        return hashlib.sha256(f"{topic}\0{round}\0{what}".encode()).hexdigest()

    circle = sorted(candidates, key=lambda each: drawn(each.id))
    own = [at for at, each in enumerate(circle) if each.seat == reader]
    start = own[0] if own else int(drawn(reader), 16) % len(circle)
    others = [each for each in circle[start:] + circle[:start] if each.seat != reader]
    return dict(zip(LETTERS, others, strict=False))


@record
class PeerVote:
    """A member's ballot with ids of candidates instead of labels, or its abstention."""

    seat: str
    round: int
    ranking: tuple[str, ...] = ()  # best first
    stands_behind: tuple[str, ...] = ()
    reason: str = ""  # why it abstains

    @property
    def abstains(self) -> bool:
        return not self.ranking

    @property
    def choice(self) -> str:
        """The author of the answer ranked first."""
        return ABSTAINS if self.abstains else self.ranking[0].partition("/")[0]

    def as_json(self) -> Json:
        return {
            "seat": self.seat,
            "round": self.round,
            "choice": self.choice,
            "ranking": list(self.ranking),
            "stands_behind": list(self.stands_behind),
            "reason": self.reason,
        }


def vote_of(ballot: RankedBallot | Failed, seat: str, round: int, labels: Labels) -> PeerVote:
    if isinstance(ballot, Failed):
        return PeerVote(seat=seat, round=round, reason=ballot.failure.message)
    return PeerVote(
        seat=seat,
        round=round,
        ranking=tuple(labels[label].id for label in ballot.ranking),
        stands_behind=tuple(labels[label].id for label in ballot.stands_behind),
    )


@record
class Tally:
    """A counted vote."""

    round: int
    candidates: Mapping[str, Candidate]  # by id
    votes: tuple[PeerVote, ...]  # one of each member
    signed: Mapping[str, frozenset[str]]  # by member, the answers it stands behind: its own, and those on its ballot
    places: tuple[tuple[Standing, ...], ...]

    @property
    def members(self) -> int:
        return len(self.votes)

    @property
    def valid(self) -> int:
        return sum(not vote.abstains for vote in self.votes)

    @property
    def quorum(self) -> bool:
        """Whether more than half of the ballots are valid; fewer decide nothing."""
        return 2 * self.valid > self.members

    @property
    def leaders(self) -> list[Candidate]:
        return [self.candidates[standing.answer] for standing in self.places[0]]

    @property
    def behind(self) -> int:
        """How many members stand behind the leading answer; of tied leaders, the largest number."""
        return max(standing.behind for standing in self.places[0])

    def agrees(self, share: float) -> bool:
        return self.quorum and self.behind / self.members >= share

    def current(self, seat: str) -> Candidate | None:
        """The member's latest answer."""
        return latest(self.candidates.values()).get(seat)

    @property
    def condorcet_winner(self) -> str | None:
        return condorcet_winner(self.candidates, ballots(self.votes))

    @property
    def effective_voters(self) -> float | None:
        voted = {vote.seat: self.signed[vote.seat] for vote in self.votes if not vote.abstains}
        return effective_voters(voted, list(self.candidates))


def latest(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """The latest answer of each member, by seat."""
    return {each.seat: each for each in sorted(candidates, key=lambda each: each.round)}


def ballots(votes: Sequence[PeerVote]) -> list[tuple[str, ...]]:
    return [vote.ranking for vote in votes if not vote.abstains]


def count(round: int, candidates: Sequence[Candidate], votes: Sequence[PeerVote]) -> Tally:
    by_id = {each.id: each for each in candidates}
    held = {seat: (each.id,) for seat, each in latest(candidates).items()}
    signed = {vote.seat: frozenset((*held.get(vote.seat, ()), *vote.stands_behind)) for vote in votes}
    behind = {each.id: sum(each.id in theirs for theirs in signed.values()) for each in candidates}
    return Tally(
        round=round,
        candidates=by_id,
        votes=tuple(votes),
        signed=signed,
        places=standings(list(by_id), ballots(votes), behind),
    )
