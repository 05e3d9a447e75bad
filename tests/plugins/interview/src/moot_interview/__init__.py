"""An interview: an examiner questions a candidate, an assessor marks each answer."""

from moot.formats.command import FormatCommand, Option
from moot.formats.format import Chart, EventType, Example, Format, Hears, Mark, Series
from moot_interview.dialect import InterviewDialect
from moot_interview.rules import InterviewSettings, parts, play

FORMAT = Format(
    name="interview",
    version=1,
    purpose="Find the gaps in an answer",
    summary="An examiner questions a candidate; an assessor marks each answer out of 20 and lists the gaps.",
    settings=InterviewSettings,
    parts=parts,
    play=play,
    events={
        "NEXT": EventType(heading="Question {number} of {of}", quiet=True),
        "NOTES": EventType(verb="takes notes", public=False, quiet=True),
        "QUESTION": EventType(verb="asks"),
        "REPLY": EventType(verb="replies"),
        "MARKED": EventType(
            verb="marks the reply",
            failed="gave no valid mark",
            marks=(
                Mark(path="mark", text="{} of 20", tone="strong"),
                Mark(path="of", text="for {}", names=True),
                Mark(path="complete", values={"true": "complete", "false": "has gaps"}, tone={"false": "bad"}),
            ),
        ),
        "WARNED": EventType(heading="{name} was warned: two replies below half", badge="warned"),
    },
    phases={
        "notes": "Notes",
        "question": "Question",
        "reply": "Reply",
        "mark": "Mark",
        "confirm": "Confirmation",
        "close": "Finding",
    },
    endings={"questions": "all questions were asked", "rejected": "a person rejected it"},
    length="questions",
    unit="turn",
    header=("Passing takes {pass_mark} of 20.",),
    statements=("question", "reply"),
    hears=(
        Hears(listener="candidate", speaker="examiner"),
        Hears(listener="examiner", speaker="candidate"),
        Hears(listener="assessor", speaker="examiner"),
        Hears(listener="assessor", speaker="candidate"),
    ),
    chart=Chart(title="Marks", most=20, series=(Series(event="MARKED", path="mark", seat="of"),)),
    examples=(Example(title="Two questions", topic="Is the backup plan sound?", settings={"questions": 2}),),
    dialects={"marks": InterviewDialect()},
    command=FormatCommand(
        "Have an answer questioned until its gaps show.",
        topic="QUESTION",
        about="what the answer is about",
        question="What is the interview about?",
        example="Is the backup plan sound?",
        options=(
            Option("--questions", "questions", "how many are asked", value="N", kind="number"),
            Option(
                "--pass-mark", "pass_mark", "the mean mark of 20 that passes (50% by default)", value="N", kind="number"
            ),
        ),
    ),
)
