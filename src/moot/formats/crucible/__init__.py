from typing import Any

from moot.formats.crucible.dialect import CrucibleDialect
from moot.formats.crucible.rules import parts, play
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.trace import trace_of
from moot.formats.format import Chart, EventType, Example, Format, Hears, Mark, Series


def _ending(data: dict[str, Any]) -> str:
    rounds = data["rounds"]
    after = f"After {rounds} round{'s' * (rounds > 1)}: " if rounds else ""
    return f"{after}{data['text']}."


FORMAT = Format(
    name="crucible",
    version=1,
    purpose="Stress-test a plan",
    summary="A proposer answers, a skeptic attacks the answer round after round; what has held is written up.",
    settings=CrucibleSettings,
    parts=parts,
    play=play,
    answers=("choice", "number", "text", "patch"),
    keeps_ledger=True,
    efforts={
        "quick": {"min_rounds": 1, "max_rounds": 1},
        "thorough": {
            "min_rounds": 4,
            "max_rounds": 8,
            "early_stop_score": 9,
            "claims": True,
            "rag_top_k": 5,
            "max_total_output_tokens": 80_000,
            "max_runtime_seconds": 7200,
        },
    },
    small={
        "min_rounds": 2,
        "max_rounds": 2,
        "rag_top_k": 0,
        "debater_max_tokens": 400,
        "judge_max_tokens": 300,
    },
    small_note="The model is small, so the answer is short, goes without reasoning templates and is attacked twice, "
    "unless you ask for more.",
    events={
        "RAG": EventType(
            verb="finds reasoning templates",
            heading="No reasoning template is used.",
            public=False,
            quiet=True,
        ),
        "ROUND": EventType(heading="Round {round} of {of}", hidden=True),
        "TURN": EventType(),
        "CRITIQUE": EventType(
            verb="examines the answer",
            failed="gave no valid critique",
            marks=(
                Mark(path="score", text="{} of 10", tone="strong"),
                Mark(path="ready", values={"true": "ready", "false": "not ready"}, tone={"true": "good"}),
                Mark(path="still_open", text="open: {}"),
            ),
        ),
        "ENDING": EventType(heading=_ending, quiet=True),
        "SYNTHESIS": EventType(verb="writes the final answer"),
    },
    phases={
        "rag": "Reasoning templates",
        "propose": "Proposal",
        "defend": "Defence",
        "critique": "Critique",
        "synthesize": "The final answer",
    },
    statements=("propose", "defend", "critique"),
    endings={
        "satisfied": "the skeptic was satisfied",
        "no_critical": "no critical issue was open any more",
        "max_rounds": "all rounds were played",
    },
    hears=(
        Hears(listener="proposer", speaker="skeptic"),
        Hears(listener="skeptic", speaker="proposer"),
        Hears(listener="synthesizer", speaker="proposer"),
        Hears(listener="synthesizer", speaker="skeptic"),
    ),
    chart=Chart(
        title="The skeptic’s score",
        series=(Series(event="CRITIQUE", path="score", seat="proposer", label="Answer"),),
    ),
    examples=(
        Example(
            title="An answer, attacked until it holds",
            topic="How many piano tuners work in Vienna?",
            settings={"max_rounds": 4},
        ),
    ),
    dialects={"crucible": CrucibleDialect()},
    trace=trace_of,
)
