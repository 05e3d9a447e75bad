from moot.formats.duel.dialect import DuelDialect
from moot.formats.duel.rules import parts, play, settle
from moot.formats.duel.settings import DuelSettings
from moot.formats.format import Chart, EventType, Example, Format, Hears, Mark, Series
from moot.formats.shared import jury, ledger
from moot.formats.shared.answer import first

FORMAT = Format(
    name="duel",
    version=2,
    purpose="Two characters, scored",
    summary="Two characters plan, think and speak in turn; a judge scores every statement and rules.",
    settings=DuelSettings,
    parts=parts,
    play=play,
    answers=first.KINDS,
    settle=settle,
    keeps_ledger=True,
    efforts={
        "quick": {"turns": 2},
        "thorough": {
            "swap": True,
            "jury": 3,
            "claims": True,
            "max_total_output_tokens": 64_000,
            "max_runtime_seconds": 3600,
        },
    },
    small={"turns": 4, "debater_max_tokens": 200, "judge_max_tokens": 300},
    small_note="The model is small, so the duel has four short statements, unless you ask for more.",
    events={
        "PLAN": EventType(verb="plans", public=False, quiet=True),
        "THINK": EventType(verb="thinks", public=False, quiet=True),
        "TURN": EventType(),
        "SCORE": EventType(
            verb="scores",
            failed="gave no valid score",
            marks=(Mark(path="of", text="{}", names=True), Mark(path="score", text="{} of 10", tone="strong")),
        ),
        **first.EVENTS,
        **jury.EVENTS,
        **ledger.EVENTS,
    },
    phases={
        "plan": "Plan",
        "think": "Thoughts",
        "speak": "Statement",
        "evaluate": "Evaluation",
        "score": "Score",
        "deliberate": "Deliberation",
        "confirm": "Choice of the winner",
        "extract": "Verdict on record",
        "announce": "Announcement",
        **first.PHASES,
        **jury.PHASES,
        **ledger.phases("speak"),
    },
    header=("The premise: {premise}",),
    statements=("speak",),
    rereading=jury.REREADING,
    endings={**first.ENDINGS, "turns": "all turns were taken"},
    length="turns",
    unit="turn",
    hears=(Hears(listener="debater", speaker="debater"), Hears(listener="judge", speaker="debater"), *jury.HEARS),
    chart=Chart(title="Judge’s scores", series=(Series(event="SCORE", path="score", seat="of"),)),
    examples=(
        Example(title="Two characters", topic="Tabs or spaces?", settings={"turns": 4}),
        Example(title="With a jury", topic="Is a rewrite ever worth it?", settings={"turns": 4, "jury": 3}),
        Example(
            title="A premise, judged blind and in both orders",
            topic="Does remote work suit small teams?",
            settings={
                "turns": 6,
                "premise": "Small teams should work remotely.",
                "blind": True,
                "swap": True,
            },
        ),
    ),
    dialects={"duel": DuelDialect()},
)
