"""Readers beside the judge: blind, in both orders, and counted by code. Any format with two sides can seat them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence
from moot.reasoning.verdict import SIDES, Choice, Side, Vote, flipped, leader
from moot.script import Failed, Seat, Stage, together
from moot.settings import DebateSettings
from moot.types import Answer

prompts = Prompts("jury")


class JurySettings(DebateSettings):
    """For formats whose verdict can be checked by readers."""

    swap: bool = Field(False, description="a second, blind judge reads the sides in the other order")
    jury: int = Field(0, ge=0, le=25, description="blind jurors who vote beside the judge")
    jury_models: tuple[str, ...] = Field((), description="models of the jurors, in turn; the judge's when empty")


class Ballot(Answer):
    reasoning: str = Field(min_length=1)
    score_first: int = Field(ge=0, le=10)
    score_second: int = Field(ge=0, le=10)

    def prose(self) -> str:
        return self.reasoning


@dataclass(frozen=True, kw_only=True)
class Said:
    """A public statement."""

    side: Side
    round: int
    text: str


NOT_HEARD = "Not both sides were heard, so there is nothing to rule on."


def both_heard(said: Sequence[Said]) -> bool:
    return {statement.side for statement in said} == set(SIDES)


def parts(settings: JurySettings) -> list[Part]:
    """The readers' seats. A juror who reads both orders is two seats, so that neither reading knows of the other."""
    seats: list[Part] = []
    if settings.swap and not settings.jury:
        seats.append(Part(id="second", name="Second judge", role="judge"))
    for n in range(1, settings.jury + 1):
        model = settings.jury_models[(n - 1) % len(settings.jury_models)] if settings.jury_models else None
        seats.append(Part(id=f"juror{n}", name=f"Juror {n}", role="judge", model=model))
        if settings.swap:
            seats.append(Part(id=f"juror{n}-swapped", name=f"Juror {n}, other order", role="judge", model=model))
    return seats


async def votes(stage: Stage, settings: JurySettings, said: Sequence[Said], round: int) -> list[Vote]:
    """Every reader's vote, one for each seat of `parts`; none when there are not two sides to read."""
    if not both_heard(said):
        return []
    seats = [stage.seat(part.id) for part in parts(settings)]
    reading = (_vote(stage, seat, said, _first_side(seat.id, n, settings), round) for n, seat in enumerate(seats))
    return list(await together(*reading))


def closing(stage: Stage, settings: JurySettings) -> list[tuple[Seat, int]]:
    """What the readers will take of the budget."""
    return [(stage.seat(part.id), 1) for part in parts(settings)]


def _first_side(seat_id: str, n: int, settings: JurySettings) -> Side:
    if settings.swap:
        return "a" if seat_id.startswith("juror") and not seat_id.endswith("-swapped") else "b"
    return SIDES[n % 2]


async def _vote(stage: Stage, seat: Seat, said: Sequence[Said], first: Side, round: int) -> Vote:
    second = flipped(first)
    seat.brief(prompts("reader", topic=stage.topic))
    key = f"{round}/ballot/{seat.id}"
    try:
        ballot = await seat.ask(
            "ballot",
            prompts(
                "ballot",
                first=_statements(said, first, "the first side", key),
                second=_statements(said, second, "the second side", key),
            ),
            returns=Ballot,
            tolerant=True,
            round=round,
            closing=True,
            shows="BALLOT",
            record=lambda given: _vote_of(given, seat.id, first).as_json(),
        )
    except LimitReached as limit:
        return Vote(seat=seat.id, first=first, choice="abstains", reason=str(limit))
    return _vote_of(ballot, seat.id, first)


def _vote_of(ballot: Ballot | Failed, seat_id: str, first: Side) -> Vote:
    if isinstance(ballot, Failed):
        return Vote(seat=seat_id, first=first, choice="abstains", reason=ballot.failure.message)
    scores = {first: ballot.score_first, flipped(first): ballot.score_second}
    choice: Choice = leader(scores["a"], scores["b"])
    return Vote(seat=seat_id, first=first, choice=choice, score_a=scores["a"], score_b=scores["b"])


def _statements(said: Sequence[Said], side: Side, label: str, at: str) -> str:
    own = [s for s in said if s.side == side]
    return "\n\n".join(fence(s.text, of=label, at=f"{at}/{s.round}") for s in own) or "(nothing)"
