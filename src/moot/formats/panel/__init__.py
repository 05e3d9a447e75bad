from collections.abc import Sequence
from typing import Any

from moot.core.types import SeatSpec
from moot.formats.format import CatalogEntry, Chart, EventType, Example, Format, Hears, Mark, Series
from moot.formats.panel.catalog import with_plugged_in
from moot.formats.panel.report import TOO_FEW
from moot.formats.panel.rules import parts, play
from moot.formats.panel.settings import PanelSettings
from moot.formats.shared import attendance, ledger
from moot.formats.shared.perspectives import Perspective, built_in, plugged_in


def _muted(data: dict[str, Any]) -> str:
    why = " It had left the question." if data["off_topic"] else ""
    return f"The moderator muted {data['name']}: it is not heard after round {data['round']}.{why}"


def _measured(data: dict[str, Any]) -> list[str]:
    alike, flagged = data["likeness"], {*data["repeats"], *data["paraphrases"]}
    lines = [
        f"{name}: {share:.0%} in the same words"
        + (f", {alike[name]:.2f} alike in meaning to an earlier argument" if name in alike else "")
        + (" (flagged)" if name in flagged else "")
        for name, share in data["repetition"].items()
    ]
    how = f"Meaning was compared by {data['likeness_by']}; alike is not the same."
    return [*lines, how] if alike else lines


def _catalog() -> Sequence[CatalogEntry]:
    every = [*((perspective, "") for perspective in built_in()), *plugged_in()]
    return [CatalogEntry(name=perspective.name, about=_about(perspective, package)) for perspective, package in every]


def _about(perspective: Perspective, package: str) -> str:
    about = f"{', '.join(perspective.priorities)}. {perspective.trade_offs}"
    return f"{about} ({package})" if package else about


STATEMENTS = ("argue", "argue-again", "rebut", "rebut-again")
MODERATED = (
    Hears(listener="moderator", speaker="perspective"),
    Hears(listener="perspective", speaker="moderator"),
)


def _hears(settings: PanelSettings, seats: Sequence[SeatSpec]) -> tuple[Hears, ...]:
    perspectives = [seat for seat in seats if seat.role == "perspective"]
    return (*attendance.hears_among(settings.topology, "perspective", perspectives), *MODERATED)


FORMAT = Format(
    name="panel",
    version=2,
    purpose="Several viewpoints",
    summary="Opposing perspectives argue in rounds under a moderator; you steer between rounds; a record remains.",
    settings=PanelSettings,
    parts=parts,
    play=play,
    settle=with_plugged_in,
    answers=("choice", "number", "text", "patch"),
    keeps_ledger=True,
    unattended={"checkpoints": False},
    efforts={
        "quick": {"perspectives": 2, "max_rounds": 1},
        "thorough": {
            "perspectives": 4,
            "max_rounds": 6,
            "claims": True,
            "token_budget_per_round": 4000,
            "round_timeout_seconds": 600,
            "max_total_output_tokens": 200_000,
            "max_runtime_seconds": 7200,
        },
    },
    small={
        "perspectives": 2,
        "max_rounds": 1,
        "round_timeout_seconds": 900,
        "debater_max_tokens": 350,
        "judge_max_tokens": 500,
    },
    small_note="The model is small, so two perspectives argue briefly for two answers, in one round, unless you ask "
    "for more.",
    events={
        "TURN": EventType(
            marks=(
                Mark(path="state", values={"new_ground": "new ground"}),
                Mark(path="position", values={"hold": "holds its position", "concede": "concedes", "agree": "agrees"}),
            )
        ),
        "MEASURED": EventType(heading="Said again in round {round}", lines=_measured, quiet=True, public=False),
        "CUT": EventType(heading="Round {round} took too long: not heard in answer are {unheard}.", quiet=True),
        "COPIED": EventType(heading="{name} repeats the words of {of}: that is not counted as agreement."),
        "SPENT": EventType(
            heading="{name} has used its {budget} tokens for round {round} and is not heard in answer.", quiet=True
        ),
        "MUTED": EventType(heading=_muted, badge="muted"),
        **attendance.EVENTS,
        **ledger.EVENTS,
    },
    phases={
        "analyze": "Analysis of the question",
        "clarify": "Clarification",
        "frame": "Analysis after your answer",
        "argue": "Argument",
        "rebut": "Rebuttal",
        "argue-again": "Argument, asked again",
        "rebut-again": "Rebuttal, asked again",
        "compare": "Comparison with earlier arguments",
        "evaluate": "Assessment",
        "checkpoint": "At the checkpoint",
        "synthesize": "Synthesis",
        **ledger.phases(*STATEMENTS),
    },
    statements=STATEMENTS,
    endings={
        "agreement": "the perspectives agreed",
        "clear_winner": "one perspective prevailed",
        "stagnation": "it went in circles",
        "max_rounds": "all rounds were played without agreement",
        "person": "you ended it",
        TOO_FEW: "fewer than two perspectives could still be heard",
    },
    hears=(Hears(listener="perspective", speaker="perspective"), *MODERATED),
    hears_in=_hears,
    chart=Chart(title="Repetition", unit="%", most=100, series=(Series(event="MEASURED", path="shares"),)),
    examples=(
        Example(
            title="Opposing perspectives, with your say between rounds",
            topic="Should we split the monolith into services?",
            settings={"perspectives": 3, "max_rounds": 3},
        ),
        Example(
            title="Without checkpoints",
            topic="Build or buy a billing system?",
            settings={"checkpoints": False, "max_rounds": 2},
        ),
    ),
    catalog=_catalog,
)
