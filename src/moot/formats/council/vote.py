"""A vote among peers: who reads what under which label, and what their ballots add up to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from moot.formats.council.shapes import Opinion, RankedBallot
from moot.reasoning.ranking import Ranking, Standing, beats_all, effective_voters, standings
from moot.script import Failed
from moot.types import Json, record

LETTERS = "ABCDEFGHJKLMNPQRST"  # no I, which is a word; two for each of nine members


@record
class Candidate:
    """An answer that can be voted for."""

    seat: str
    round: int
    opinion: Opinion

    @property
    def id(self) -> str:
        return f"{self.seat}/{self.round}"


Labels = Mapping[str, Candidate]  # what one reader calls them


def labels_for(reader: str, candidates: Sequence[Candidate], *, topic: str, round: int) -> Labels:
    """The others' answers as `reader` reads them, under letters in that order.

    All answers lie in one circle, in an order drawn by hashing, and everyone reads on from their own. So readers have
    different letters for the same answer, and while there is one answer each, each is read in every place once.
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
    """What one member's ballot says of which answers, or that it abstains."""

    seat: str
    round: int
    ranking: tuple[str, ...] = ()  # ids of candidates, best first
    stands_behind: tuple[str, ...] = ()
    reason: str = ""  # why it abstains

    @property
    def abstains(self) -> bool:
        return not self.ranking

    def as_json(self) -> Json:
        return {
            "seat": self.seat,
            "round": self.round,
            "choice": "abstains" if self.abstains else self.ranking[0].partition("/")[0],
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
    """A vote, counted."""

    round: int
    candidates: Mapping[str, Candidate]  # by id
    votes: tuple[PeerVote, ...]  # one of each member
    signed: Mapping[str, frozenset[str]]  # what each stands behind: the answer it holds, and what its ballot says
    places: tuple[tuple[Standing, ...], ...]

    @property
    def members(self) -> int:
        return len(self.votes)

    @property
    def valid(self) -> int:
        return sum(not vote.abstains for vote in self.votes)

    @property
    def quorum(self) -> bool:
        """More than half of the members have voted; fewer decide nothing."""
        return 2 * self.valid > self.members

    @property
    def leaders(self) -> list[Candidate]:
        return [self.candidates[standing.answer] for standing in self.places[0]]

    @property
    def behind(self) -> int:
        """How many members stand behind the leading answer, or behind the one of several that most stand behind."""
        return max(standing.behind for standing in self.places[0])

    def agrees(self, share: float) -> bool:
        return self.quorum and self.behind / self.members >= share

    def current(self, seat: str) -> Candidate | None:
        """What this member answered last."""
        own = [each for each in self.candidates.values() if each.seat == seat]
        return max(own, key=lambda each: each.round) if own else None

    @property
    def beats_all(self) -> str | None:
        return beats_all(self.candidates, self.rankings)

    @property
    def rankings(self) -> list[Ranking]:
        return [Ranking(voter=vote.seat, order=vote.ranking) for vote in self.votes if not vote.abstains]

    @property
    def effective_voters(self) -> float | None:
        voted = {vote.seat: self.signed[vote.seat] for vote in self.votes if not vote.abstains}
        return effective_voters(voted, list(self.candidates))


def count(round: int, candidates: Sequence[Candidate], votes: Sequence[PeerVote]) -> Tally:
    by_id = {each.id: each for each in candidates}
    latest = {each.seat: each.id for each in sorted(candidates, key=lambda each: each.round)}
    held = {seat: (id,) for seat, id in latest.items()}
    signed = {vote.seat: frozenset((*held.get(vote.seat, ()), *vote.stands_behind)) for vote in votes}
    behind = {each.id: sum(each.id in theirs for theirs in signed.values()) for each in candidates}
    rankings = [Ranking(voter=vote.seat, order=vote.ranking) for vote in votes if not vote.abstains]
    return Tally(
        round=round,
        candidates=by_id,
        votes=tuple(votes),
        signed=signed,
        places=standings(list(by_id), rankings, behind),
    )
