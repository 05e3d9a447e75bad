from typing import Any

from moot.core.answers import ANSWER_KINDS
from moot.formats.format import EventType, Example, Format, Hears, Mark
from moot.formats.solo.rules import parts, play
from moot.formats.solo.settings import MOST_REFLECTIONS, SoloSettings

REFLECTIONS = tuple(f"reflect-{n}" for n in range(1, MOST_REFLECTIONS + 1))


def _header(data: dict[str, Any]) -> list[str]:
    if "samples" not in data:
        return []
    count = data["samples"]
    how = {"plurality": "the most frequent counts", "judge": "a judge picks", "tests": "tests pick"}[data["picked_by"]]
    return [f"{count} independent answer{'s' * (count != 1)}; {how}."]


FORMAT = Format(
    name="solo",
    version=1,
    purpose="Independent answers",
    summary="Several answers that know nothing of each other; the most frequent counts, or a judge or tests pick.",
    settings=SoloSettings,
    parts=parts,
    play=play,
    answers=ANSWER_KINDS,
    arms={"best-of": {"samples": 5, "method": "judge"}, "reflect": {"samples": 1, "reflections": 1}},
    pool=lambda samples, models: {"samples": samples, "models": list(models), "method": "plurality"},
    length="samples",
    unit="turn",
    efforts={"quick": {"samples": 1}, "thorough": {"samples": 9}},
    small={"debater_max_tokens": 600, "judge_max_tokens": 200},
    events={
        "TURN": EventType(
            verb="answers", failed="gives no valid answer", marks=(Mark(path="final", text="{}", tone="strong"),)
        ),
        "PICK": EventType(verb="picks", failed="picks none", marks=(Mark(path="pick", names=True, tone="strong"),)),
        "TESTS": EventType(verb="runs the tests", failed="can't run the tests", quiet=True),
    },
    phases={
        "answer": "Answer",
        "answer-again": "Answer, asked again",
        **dict.fromkeys(REFLECTIONS, "Answer, read again"),
        "pick": "Choice of the judge",
        "test": "Run of the tests",
    },
    statements=("answer", "answer-again", *REFLECTIONS),
    endings={"samples": "everyone has answered"},
    header=_header,
    hears=(Hears(listener="judge", speaker="solver"),),
    examples=(
        Example(
            title="The most frequent of five answers",
            topic="How many prime numbers are there below 30?",
            settings={"samples": 5, "answer": {"kind": "number"}},
        ),
        Example(
            title="A judge picks the best of three",
            topic="How should a small team name its branches?",
            settings={"samples": 3, "method": "judge"},
        ),
    ),
)
