"""The verdict of a debate between two sides, computed from the judge's ruling and the readers' votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

from moot.core.types import ABSTAINS, TIE, UNDECIDED, Ballot, Candidate, Json, Poll, record
from moot.reasoning.voting import counted

Side = Literal["a", "b"]
SIDES: tuple[Side, Side] = ("a", "b")
Choice = Literal["a", "b", "tie", "abstains"]
Winner = Literal["a", "b", "tie", "undecided"]


def other_side(side: Side) -> Side:
    return "b" if side == "a" else "a"


def leader(score_a: float, score_b: float) -> Literal["a", "b", "tie"]:
    return "a" if score_a > score_b else "b" if score_b > score_a else "tie"


@record
class ReaderVote:
    """The vote of one blind reader, or its abstention."""

    seat: str
    key: str  # of the step in which it was given
    first: Side  # the side that it read first
    choice: Choice
    score_a: int | None = None
    score_b: int | None = None
    reason: str = ""  # why it abstains

    def as_json(self) -> Json:
        return {
            "seat": self.seat,
            "first": self.first,
            "choice": self.choice,
            "score_a": self.score_a,
            "score_b": self.score_b,
            "reason": self.reason,
        }


@record
class JudgeVote:
    """What the judge has ruled."""

    choice: Winner
    keys: tuple[str, ...] = ()  # of the steps in which it was ruled
    reason: str = ""  # why it is undecided


@record
class Decision:
    winner: Winner
    source: Literal["judge", "jury", "fallback"]
    reason: str = ""
    flips: int = 0  # pairs of readings in both orders that disagreed
    read_twice: int = 0  # all pairs of readings in both orders
    tally: dict[str, float] | None = None  # of a jury
    poll: Poll | None = None  # None: the judge alone decided, or nothing was decided
    apart: bool = False  # the judge scored each case by itself, so that no order could matter

    @property
    def flip_rate(self) -> float | None:
        return self.flips / self.read_twice if self.read_twice else None


def decide(
    judge: JudgeVote,
    votes: Sequence[ReaderVote] = (),
    *,
    method: str = "plurality",
    names: Mapping[Side, str] | None = None,
    round: int = 0,
    apart: bool = False,
) -> Decision:
    """Decide by a vote of judge and jurors, counted by `method`, else by the judge and a second reading, which must
    agree, else by the judge alone, who may have scored the cases `apart`. `names` are what the sides are called."""
    jurors = [vote for vote in votes if vote.seat.startswith("juror")]
    candidates = [Candidate(id=side, title=(names or {}).get(side, side), author=side) for side in SIDES]
    candidates.append(Candidate(id=TIE, title="neither side"))
    if jurors:
        return _by_jury(judge, jurors, candidates, method, round)
    if judge.choice == UNDECIDED:
        return Decision(winner="undecided", source="fallback", reason=judge.reason)
    if votes:
        return _by_second_reading(judge, votes[0], candidates, round)
    reason = "The scores are equal." if judge.choice == TIE else ""
    return Decision(winner=judge.choice, source="judge", reason=reason, apart=apart)


def _by_second_reading(judge: JudgeVote, second: ReaderVote, candidates: Sequence[Candidate], round: int) -> Decision:
    ballots = [
        _ballot("judge", judge.choice, judge.keys),
        _ballot(second.seat, second.choice, (second.key,), second.reason),
    ]
    poll = counted("unanimous", candidates, ballots, round=round)
    if second.choice == ABSTAINS:
        reason = f"The second reading gave no valid ballot, so the order was not checked: {second.reason}"
        return Decision(winner=judge.choice, source="judge", reason=reason, poll=poll)
    if poll.result.reached:
        reason = "Both readings found the sides level." if judge.choice == TIE else ""
        return Decision(winner=cast(Winner, poll.seat), source="judge", reason=reason, read_twice=1, poll=poll)
    reason = "Read in the other order, the debate came out differently; a flip counts as a tie."
    return Decision(winner="tie", source="judge", reason=reason, flips=1, read_twice=1, poll=poll)


def _by_jury(
    judge: JudgeVote, jurors: Sequence[ReaderVote], candidates: Sequence[Candidate], method: str, round: int
) -> Decision:
    flips = read_twice = 0
    by_seat = {vote.seat: vote for vote in jurors}
    ballots = [_ballot("judge", ABSTAINS if judge.choice == UNDECIDED else judge.choice, judge.keys, judge.reason)]
    for seat, vote in by_seat.items():
        if seat.endswith("-swapped"):
            continue
        other = by_seat.get(f"{seat}-swapped")
        if other is None:
            ballots.append(_ballot(seat, vote.choice, (vote.key,), vote.reason))
            continue
        choice, keys = vote.choice, (vote.key, other.key)
        if ABSTAINS in (vote.choice, other.choice):
            choice = ABSTAINS
        else:
            read_twice += 1
            flips += vote.choice != other.choice
            choice = vote.choice if vote.choice == other.choice else TIE
        ballots.append(_ballot(seat, choice, keys, vote.reason or other.reason))
    poll = counted(method, candidates, ballots, round=round)
    tally: dict[str, float] = {
        **{each.id: sum(ballot.ranking == (each.id,) for ballot in ballots) for each in candidates},
        ABSTAINS: poll.result.abstained,
    }
    if poll.result.abstained == poll.result.voters:
        reason = "No judge or juror gave a valid ballot."
        return Decision(winner="undecided", source="fallback", reason=reason, tally=tally, poll=poll)
    winner = cast(Winner, poll.seat)
    reason = poll.result.reason if winner == UNDECIDED else ""
    if winner == TIE:
        level = tally["a"] == tally["b"]
        reason = (
            "As many voted for one side as for the other."
            if level
            else "No side has more votes than there are ties and flips."
        )
    return Decision(
        winner=winner, source="jury", reason=reason, flips=flips, read_twice=read_twice, tally=tally, poll=poll
    )


def _ballot(voter: str, choice: str, keys: tuple[str, ...], reason: str = "") -> Ballot:
    if choice == ABSTAINS:
        return Ballot(voter=voter, keys=keys, reason=reason)
    return Ballot(voter=voter, ranking=(choice,), keys=keys)
