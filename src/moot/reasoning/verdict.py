"""The verdict of a debate between two sides, computed from the judge's ruling and the readers' votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from moot.core.types import Json, record

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
    first: Side  # the side that it read first
    choice: Choice
    score_a: int | None = None
    score_b: int | None = None
    reason: str = ""  # why it abstains

    def as_json(self) -> Json:
        return asdict(self)


@record
class Decision:
    winner: Winner
    source: Literal["judge", "jury", "fallback"]
    reason: str = ""
    flips: int = 0  # pairs of readings in both orders that disagreed
    read_twice: int = 0  # all pairs of readings in both orders
    tally: dict[str, float] | None = None
    apart: bool = False  # the judge scored each case by itself, so that no order could matter

    @property
    def flip_rate(self) -> float | None:
        return self.flips / self.read_twice if self.read_twice else None


def decide(judge: Winner, judge_reason: str, votes: Sequence[ReaderVote], *, apart: bool = False) -> Decision:
    """Decide by the majority of judge and jurors, else by the judge and a second reading, else by the judge alone, who
    may have scored the cases `apart`."""
    jurors = [vote for vote in votes if vote.seat.startswith("juror")]
    if jurors:
        return _by_jury(judge, jurors)
    if votes:
        return _by_second_reading(judge, judge_reason, votes[0])
    if judge == "undecided":
        return Decision(winner="undecided", source="fallback", reason=judge_reason)
    return Decision(winner=judge, source="judge", reason="The scores are equal." if judge == "tie" else "", apart=apart)


def _by_second_reading(judge: Winner, judge_reason: str, second: ReaderVote) -> Decision:
    if judge == "undecided":
        return Decision(winner="undecided", source="fallback", reason=judge_reason)
    if second.choice == "abstains":
        reason = f"The second reading gave no valid ballot, so the order was not checked: {second.reason}"
        return Decision(winner=judge, source="judge", reason=reason)
    if second.choice == judge:
        return Decision(winner=judge, source="judge", read_twice=1)
    reason = "Read in the other order, the debate came out differently; a flip counts as a tie."
    return Decision(winner="tie", source="judge", reason=reason, flips=1, read_twice=1)


def _by_jury(judge: Winner, jurors: Sequence[ReaderVote]) -> Decision:
    choices: dict[str, Choice] = {}
    flips = read_twice = 0
    by_seat = {vote.seat: vote for vote in jurors}
    for seat, vote in by_seat.items():
        if seat.endswith("-swapped"):
            continue
        other = by_seat.get(f"{seat}-swapped")
        if other is None:
            choices[seat] = vote.choice
        elif "abstains" in (vote.choice, other.choice):
            choices[seat] = "abstains"
        else:
            read_twice += 1
            flips += vote.choice != other.choice
            choices[seat] = vote.choice if vote.choice == other.choice else "tie"
    choices["judge"] = "abstains" if judge == "undecided" else judge
    tally: dict[str, float] = {choice: list(choices.values()).count(choice) for choice in ("a", "b", "tie", "abstains")}
    if tally["abstains"] == len(choices):
        return Decision(
            winner="undecided", source="fallback", reason="No judge or juror gave a valid ballot.", tally=tally
        )
    winner: Winner = leader(tally["a"], tally["b"])
    reason = "As many voted for one side as for the other." if winner == "tie" else ""
    if winner != "tie" and tally[winner] <= tally["tie"]:
        winner, reason = "tie", "No side has more votes than there are ties and flips."
    return Decision(winner=winner, source="jury", reason=reason, flips=flips, read_twice=read_twice, tally=tally)
