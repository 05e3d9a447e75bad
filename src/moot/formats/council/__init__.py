from collections.abc import Sequence
from typing import Any

from moot.core.types import SeatSpec
from moot.formats.council.rules import parts, play
from moot.formats.council.settings import CouncilSettings
from moot.formats.format import EventType, Example, Format, Hears, Mark
from moot.formats.shared import attendance, ledger


def _tally(data: dict[str, Any]) -> str:
    which = f"after round {data['round']}" if data["round"] else "before any debate"
    how = "they agree" if data["agrees"] else "they do not agree" if data["quorum"] else "too few valid ballots"
    return f"The vote {which}: {how}"


STATEMENTS = ("answer", "answer-again", "object", "object-again", "rebut", "rebut-again")
CHAIR_HEARS = Hears(listener="chair", speaker="member")


def _hears(settings: CouncilSettings, seats: Sequence[SeatSpec]) -> tuple[Hears, ...]:
    members = [seat for seat in seats if seat.role == "member"]
    return (*attendance.hears_among(settings.topology, "member", members), CHAIR_HEARS)


FORMAT = Format(
    name="council",
    version=2,
    purpose="Ask a council",
    summary="Members answer alone, rank each other's answers blind, debate where they disagree; a chair writes it up.",
    settings=CouncilSettings,
    parts=parts,
    play=play,
    answers=("choice", "number", "text", "patch"),
    keeps_ledger=True,
    suits=("open",),
    efforts={
        "quick": {"depth": "vote"},
        "thorough": {
            "depth": "debate",
            "max_rounds": 3,
            "claims": True,
            "max_total_output_tokens": 160_000,
            "max_runtime_seconds": 7200,
        },
    },
    small={"depth": "vote", "max_rounds": 1, "debater_max_tokens": 450, "judge_max_tokens": 350},
    small_note="The model is small, so answers are short, each member takes up another possible answer, and the vote "
    "is not followed by a debate, unless you ask for one.",
    events={
        "POSSIBLE_ANSWERS": EventType(
            verb="lists possible answers", failed="lists no answers", public=False, quiet=True
        ),
        "TURN": EventType(
            marks=(
                Mark(path="to", text="to {}", names=True),
                Mark(path="changed", values={"true": "changes its answer", "false": "keeps its answer"}),
            )
        ),
        "BALLOT": EventType(verb="ranks", failed="abstains", marks=(Mark(path="ranks", join=" > ", tone="strong"),)),
        "TALLY": EventType(heading=_tally, lines=lambda data: data["lines"]),
        **attendance.EVENTS,
        **ledger.EVENTS,
    },
    phases={
        "options": "Possible answers",
        "answer": "Answer",
        "rank": "Ballot",
        "object": "Objection",
        "rebut": "Rebuttal",
        "answer-again": "Answer, asked again",
        "rank-again": "Ballot, asked again",
        "object-again": "Objection, asked again",
        "rebut-again": "Rebuttal, asked again",
        "synthesize": "The council's answer",
        **ledger.phases(*STATEMENTS),
    },
    statements=STATEMENTS,
    endings={
        "vote": "the vote was all that was asked for",
        "agreement": "they agreed",
        "max_rounds": "all rounds were played",
        "no_quorum": "too few ballots were valid to tell whether they disagree",
        "too_few_answers": "fewer than two members gave a valid answer",
    },
    hears=(Hears(listener="member", speaker="member"), CHAIR_HEARS),
    hears_in=_hears,
    examples=(
        Example(
            title="Three answer alone, then rank each other",
            topic="Which database should a new product start with?",
            settings={"members": 3, "depth": "auto"},
        ),
    ),
)
