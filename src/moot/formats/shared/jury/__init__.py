"""Blind readers who check a verdict: jurors, or a second judge who reads the sides in the other order. For formats with
two sides; their votes are counted by code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from moot.core.errors import LimitReached
from moot.core.script import Failed, Seat, Stage, together
from moot.core.settings import DebateSettings
from moot.core.types import ABSTAINS, Answer, Json, Turn, VoteCast
from moot.formats.format import BlindReading, EventType, Hears, Mark, Part, Rereading
from moot.formats.prompts import Prompts
from moot.formats.shared.voting import ChoiceMethod
from moot.reasoning.fence import fence
from moot.reasoning.verdict import SIDES, Choice, Decision, ReaderVote, Side, leader, other_side

prompts = Prompts("jury", "moot.formats.shared.jury")

PHASE = "ballot"
# Wordings of the same instructions, by what the names of their prompts end with.
WORDINGS = {"": "the usual words", "_other": "other words", "_short": "fewer words"}
_SWAPPED = "-swapped"
_SPARE_CALLS = 4  # for the judge, who is asked again, too
EVENTS = {
    "BALLOT": EventType(
        verb="votes",
        failed="abstains",
        marks=(
            Mark(path="choice", text="for {}", names=True, values={"tie": "for neither side"}, tone="strong"),
            Mark(path="score_a", seat="a"),
            Mark(path="score_b", seat="b"),
        ),
    )
}
PHASES = {PHASE: "Ballot"}
HEARS = (Hears(listener="juror", speaker="debater"),)


class JurySettings(DebateSettings):
    """Settings of formats whose verdict readers can check."""

    swap: bool = Field(False, description="a second, blind judge reads the sides in the other order")
    jury: int = Field(0, ge=0, le=25, description="blind jurors who vote beside the judge")
    jury_models: tuple[str, ...] = Field((), description="models of the jurors, in turn; the judge's when empty")
    paraphrase: bool = Field(False, description="jurors are instructed in other words, in turn")
    voting: ChoiceMethod = Field("plurality", description="how the votes of judge and jurors are counted")


class Reading(Answer):
    reasoning: str = Field(min_length=1)
    score_first: int = Field(ge=0, le=10)
    score_second: int = Field(ge=0, le=10)

    def prose(self) -> str:
        return self.reasoning


@dataclass(frozen=True, kw_only=True)
class Speech:
    """A public statement of one side."""

    side: Side
    round: int
    text: str
    flaw: str = ""  # why it can't carry a verdict, to follow its speaker's name
    cut: bool = False  # it was cut off at its token cap

    def label(self, name: str) -> str:
        """Whose words a judge reads, with what code has found about them."""
        noted = self.flaw or ("was cut off at its limit" if self.cut else "")
        return f"{name} (this statement {noted})" if noted else name


def both_heard(said: Sequence[Speech]) -> bool:
    return {statement.side for statement in said} == set(SIDES)


def parts(settings: JurySettings) -> list[Part]:
    """The readers' seats. A juror who reads both orders has two seats, so that neither reading knows the other."""
    seats: list[Part] = []
    if settings.swap and not settings.jury:
        seats.append(Part(id="second", name="Second judge", role="judge", tier="judge"))
    for n in range(1, settings.jury + 1):
        model = settings.jury_models[(n - 1) % len(settings.jury_models)] if settings.jury_models else None
        seats.append(Part(id=f"juror{n}", name=f"Juror {n}", role="juror", model=model))
        if settings.swap:
            seats.append(Part(id=f"juror{n}-swapped", name=f"Juror {n}, other order", role="juror", model=model))
    return seats


async def collect_votes(stage: Stage, settings: JurySettings, said: Sequence[Speech], round: int) -> list[ReaderVote]:
    """The vote of each seat of `parts`; empty if only one side was heard."""
    if not both_heard(said):
        return []
    seats = [stage.seat(part.id) for part in parts(settings)]
    reading = (
        _vote(stage, seat, said, _first_side(seat.id, n, settings), round, _wording(seat.id, settings))
        for n, seat in enumerate(seats)
    )
    return list(await together(*reading))


def closing_calls(stage: Stage, settings: JurySettings) -> list[tuple[Seat, int]]:
    """The readers' calls, for `stage.keep`."""
    return [(stage.seat(part.id), 1) for part in parts(settings)]


def _first_side(seat_id: str, n: int, settings: JurySettings) -> Side:
    if settings.swap:
        return "a" if seat_id.startswith("juror") and not seat_id.endswith("-swapped") else "b"
    return SIDES[n % 2]


def _wording(seat_id: str, settings: JurySettings) -> str:
    """What the names of a juror's prompts end with. Both readings of a juror are asked for in the same words."""
    juror = seat_id.removesuffix(_SWAPPED).removeprefix("juror")
    return [*WORDINGS][(int(juror) - 1) % len(WORDINGS)] if settings.paraphrase and juror.isdigit() else ""


async def _vote(
    stage: Stage, seat: Seat, said: Sequence[Speech], first: Side, round: int, wording: str = ""
) -> ReaderVote:
    second = other_side(first)
    seat.brief(prompts(f"reader{wording}", topic=stage.topic))
    key = f"{round}/{PHASE}/{seat.id}"
    try:
        given = await seat.ask(
            PHASE,
            prompts(
                f"ballot{wording}",
                first=_statements(said, first, "the first side", key),
                second=_statements(said, second, "the second side", key),
            ),
            returns=Reading,
            tolerant=True,
            round=round,
            closing=True,
            shows="BALLOT",
            record=lambda given: _vote_of(given, seat.id, key, first).as_json(),
        )
    except LimitReached as limit:
        return ReaderVote(seat=seat.id, key=key, first=first, choice="abstains", reason=str(limit))
    return _vote_of(given, seat.id, key, first)


def _vote_of(given: Reading | Failed, seat_id: str, key: str, first: Side) -> ReaderVote:
    if isinstance(given, Failed):
        return ReaderVote(seat=seat_id, key=key, first=first, choice="abstains", reason=given.failure.message)
    scores = {first: given.score_first, other_side(first): given.score_second}
    choice: Choice = leader(scores["a"], scores["b"])
    return ReaderVote(seat=seat_id, key=key, first=first, choice=choice, score_a=scores["a"], score_b=scores["b"])


def _statements(said: Sequence[Speech], side: Side, label: str, at: str) -> str:
    own = [s for s in said if s.side == side]
    return "\n\n".join(fence(s.text, of=s.label(label), at=f"{at}/{s.round}") for s in own) or "(nothing)"


def verdict_fields(decision: Decision, votes: Sequence[ReaderVote]) -> Json:
    """The fields of an `Outcome` that judge and readers decide."""
    tally = decision.tally
    valid = sum(n for choice, n in tally.items() if choice != ABSTAINS) if tally else 0
    jurors = sum(vote.seat.startswith("juror") and not vote.seat.endswith("-swapped") for vote in votes)
    decided_by = {
        "judge": "the judge",
        "jury": f"the judge and {jurors} juror{'s' * (jurors > 1)}, counted by code",
        "fallback": "",
    }
    return {
        "winner": decision.winner,
        "verdict_source": decision.source,
        "decided_by": decided_by[decision.source],
        "reason": decision.reason,
        "scored_by": "" if tally is None else "the judge",
        "tally": tally,
        "votes": tuple(
            VoteCast(seat=vote.seat, choice=vote.choice, key=vote.key, reason=vote.reason) for vote in votes
        ),
        "polls": () if decision.poll is None else (decision.poll,),
        "support": tally[decision.winner] / valid if tally and valid and decision.winner in SIDES else None,
        "flip_rate": decision.flip_rate,
    }


def _reread(settings: JurySettings, readers: int, models: Sequence[str]) -> Json:
    """Settings for so many jurors, each of whom reads both orders. The limit on tokens is raised by what they need."""
    calls = 2 * readers + _SPARE_CALLS
    return {
        "jury": readers,
        "jury_models": list(models),
        "swap": True,
        "paraphrase": True,
        "max_total_output_tokens": settings.max_total_output_tokens + calls * settings.judge_max_tokens,
        "max_calls": None if settings.max_calls is None else settings.max_calls + calls,
    }


def _readings(turns: Sequence[Turn]) -> list[BlindReading]:
    return [
        BlindReading(
            reader=turn.seat.removesuffix(_SWAPPED),
            first=turn.metadata["first"],
            choice=turn.metadata["choice"],
            wording=WORDINGS[turn.prompt.rpartition(PHASE)[2]],
            model=turn.model,
        )
        for turn in turns
        if turn.phase == PHASE and "choice" in turn.metadata  # a limit keeps a reader from being asked
    ]


REREADING = Rereading(settings=_reread, readings=_readings)
