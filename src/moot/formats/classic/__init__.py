from moot.formats.classic.rules import parts, play
from moot.formats.classic.settings import ClassicSettings
from moot.formats.format import Chart, EventType, Example, Format, Hears, Mark, Series
from moot.formats.shared import jury, ledger, sides
from moot.formats.shared.answer import first

FORMAT = Format(
    name="classic",
    version=2,
    purpose="Two sides",
    summary="Two debaters, one on each side, in rounds; a judge rules at the end.",
    settings=ClassicSettings,
    parts=parts,
    play=play,
    answers=first.KINDS,
    settle=sides.settle,
    keeps_ledger=True,
    suits=("choice", "yes_no", "claim"),
    efforts={
        "quick": {"max_rounds": 1},
        "thorough": {
            "swap": True,
            "jury": 3,
            "claims": True,
            "max_total_output_tokens": 24_000,
            "max_runtime_seconds": 1800,
        },
    },
    small={"max_rounds": 2, "debater_max_tokens": 200},
    small_note="The model is small, so the debate has two rounds of short statements, unless you ask for more.",
    events={
        "POINTS": EventType(verb="lists points", failed="lists no points", public=False, quiet=True),
        "TURN": EventType(),
        "CASE": EventType(
            verb="scores",
            failed="gave no valid score",
            marks=(Mark(path="of", names=True), Mark(path="score", text="{} of 10", tone="strong")),
        ),
        "SCORE": EventType(
            verb="scores",
            failed="gave no valid score",
            marks=(
                Mark(path="score_a", seat="a", tone="strong"),
                Mark(path="score_b", seat="b", tone="strong"),
                Mark(path="no_new_substantive_arguments", values={"true": "nothing new", "false": ""}),
            ),
        ),
        **first.EVENTS,
        **jury.EVENTS,
        **ledger.EVENTS,
    },
    phases={
        "points": "Points",
        "case-a": "Score of one case",
        "case-b": "Score of one case",
        "speak": "Statement",
        "rule": "Ruling",
        "verdict": "Verdict",
        **first.PHASES,
        **jury.PHASES,
        **ledger.phases("speak"),
    },
    statements=("speak",),
    rereading=jury.REREADING,
    endings={
        **first.ENDINGS,
        "max_rounds": "all rounds were played",
        "stop_when_stale": "the judge found no new argument",
    },
    hears=(Hears(listener="debater", speaker="debater"), Hears(listener="judge", speaker="debater"), *jury.HEARS),
    chart=Chart(
        title="Judge’s scores",
        series=(
            Series(event="SCORE", path="score_a", seat="a"),
            Series(event="SCORE", path="score_b", seat="b"),
        ),
    ),
    examples=(
        Example(
            title="For and against",
            topic="Should we use Redis or PostgreSQL for caching?",
            settings={"max_rounds": 3},
        ),
        Example(
            title="Checked by a jury, in both orders",
            topic="Is a monolith the right start for a small team?",
            settings={"max_rounds": 2, "jury": 3, "swap": True},
        ),
        Example(
            title="Start from the other side",
            topic="Remote work makes teams better.",
            settings={"a_stance": "con", "max_rounds": 2},
        ),
    ),
)
