"""A blind vote among members: the labels under which each reads the others' answers, and the count of the ballots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from moot.core.script import Failed
from moot.core.types import ABSTAINS, Ballot, Candidate, Poll, record
from moot.formats.council.shapes import Opinion, RankedBallot
from moot.reasoning.voting import Profile, condorcet_winner, counted, support
from moot.reasoning.voting.independence import effective_voters

LETTERS = "ABCDEFGHJKLMNPQRST"  # two for each of nine members; without I, which is a word
TIE_BREAKS = ("pairwise", "support")


@record
class Submission:
    """An answer of a member that can be voted for."""

    seat: str
    round: int
    opinion: Opinion

    @property
    def id(self) -> str:
        return f"{self.seat}/{self.round}"


Labels = Mapping[str, Submission]  # by letter, for one reader


def labels_for(reader: str, submissions: Sequence[Submission], *, topic: str, round: int) -> Labels:
    """The others' answers in the order in which `reader` reads them, by letter.

    All answers are arranged in a circle, ordered by hash, and each reader starts after its own. Readers so have
    different letters for the same answer; with one answer per member, each answer is read in every place once.
    """

    def drawn(what: str) -> str:
        return hashlib.sha256(f"{topic}\0{round}\0{what}".encode()).hexdigest()

    circle = sorted(submissions, key=lambda each: drawn(each.id))
    own = [at for at, each in enumerate(circle) if each.seat == reader]
    start = own[0] if own else int(drawn(reader), 16) % len(circle)
    others = [each for each in circle[start:] + circle[:start] if each.seat != reader]
    return dict(zip(LETTERS, others, strict=False))


def ballot_of(
    given: RankedBallot | Failed | str,
    seat: str,
    round: int,
    labels: Labels,
    held: Submission | None,
    weight: Fraction = Fraction(1),
) -> Ballot:
    """The ballot with ids of answers instead of labels, or an abstention; a text is the reason for one. A member stands
    behind what it says it does, and behind the answer that it holds."""
    own = () if held is None else (held.id,)
    common = Ballot(voter=seat, weight=weight, keys=(f"{round}/rank/{seat}",))
    if isinstance(given, str | Failed):
        reason = given if isinstance(given, str) else given.failure.message
        return common.model_copy(update={"approves": own, "reason": reason})
    ranking = tuple(labels[label].id for label in given.ranking)
    return common.model_copy(
        update={"ranking": ranking, "approves": (*own, *(labels[label].id for label in given.stands_behind))}
    )


def choice_of(ballot: Ballot) -> str:
    """The author of the answer ranked first."""
    return ballot.ranking[0].partition("/")[0] if ballot.ranking else ABSTAINS


@record
class Standing:
    """The result of one answer in a vote."""

    answer: str
    place: int
    share: Fraction | None  # of the best possible figure; None: no ballot compares it with another
    ballots: int  # that rank it
    firsts: int  # that rank it first
    behind: int  # members who stand behind it


@record
class Tally:
    """A counted vote of a council."""

    submissions: Mapping[str, Submission]  # by id
    poll: Poll

    @property
    def round(self) -> int:
        return self.poll.round

    @property
    def ballots(self) -> tuple[Ballot, ...]:
        return self.poll.ballots

    @property
    def members(self) -> int:
        return self.poll.result.voters

    @property
    def valid(self) -> int:
        return self.members - self.poll.result.abstained

    @property
    def quorum(self) -> bool:
        """Whether more than half of the ballots are valid; fewer decide nothing."""
        return 2 * self.valid > self.members

    @property
    def leaders(self) -> list[Submission]:
        return [self.submissions[answer] for answer in self.poll.result.places[0]]

    @property
    def standings(self) -> list[Standing]:
        """All answers, best first."""
        profile, result = Profile(self.poll.candidates, self.ballots), self.poll.result
        behind = support(profile, profile.candidates)
        return [
            Standing(
                answer=answer,
                place=n,
                share=None if result.deciding is None else result.deciding.share(answer),
                ballots=sum(answer in ballot.ranking for ballot in self.ballots),
                firsts=sum(ballot.ranking[:1] == (answer,) for ballot in self.ballots),
                behind=behind[answer],
            )
            for n, place in enumerate(result.places, 1)
            for answer in place
        ]

    @property
    def behind(self) -> int:
        """How many members stand behind the leading answer; of tied leaders, the smallest number."""
        return min(standing.behind for standing in self.standings if standing.place == 1)

    def agrees(self, share: float) -> bool:
        """Whether so large a share of the members stands behind the leading answer; in a tie, behind each of them."""
        return self.quorum and self.poll.result.reached and self.behind / self.members >= share

    def current(self, seat: str) -> Submission | None:
        """The member's latest answer."""
        return latest(self.submissions.values()).get(seat)

    @property
    def condorcet_winner(self) -> str | None:
        return condorcet_winner(Profile(self.poll.candidates, self.ballots))

    @property
    def effective_voters(self) -> float | None:
        voted = {ballot.voter: frozenset(ballot.approves) for ballot in self.ballots if ballot.ranking}
        return effective_voters(voted, list(self.submissions))


def latest(submissions: Iterable[Submission]) -> dict[str, Submission]:
    """The latest answer of each member, by seat."""
    return {each.seat: each for each in sorted(submissions, key=lambda each: each.round)}


def titles(submissions: Sequence[Submission], names: Mapping[str, str]) -> dict[str, str]:
    """Names of answers for people: the member's name for its latest answer."""
    held = latest(submissions)
    return {
        each.id: names[each.seat] if held[each.seat] == each else f"{names[each.seat]} (first answer)"
        for each in submissions
    }


def count(
    method: str, round: int, submissions: Sequence[Submission], ballots: Sequence[Ballot], names: Mapping[str, str]
) -> Tally:
    called = titles(submissions, names)
    candidates = [Candidate(id=each.id, title=called[each.id], author=each.seat) for each in submissions]
    poll = counted(method, candidates, ballots, TIE_BREAKS, round=round)
    return Tally(submissions={each.id: each for each in submissions}, poll=poll)
