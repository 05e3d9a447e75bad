"""Lessons of earlier debates reach engineers in a fence, and the teacher, who says how they have fared."""

from __future__ import annotations

from moot.core.artifacts import LessonUse
from tests.formats.forge.world import INVALID, World, forge

SOURCE = "From debate 1234abcd on 2026-01-02 by openai:gpt; confirmed twice, contradicted once."
LESSONS = [
    {"id": f"l{n}", "title": f"Lesson {n}", "text": f"Mind edge {n}.\n{SOURCE}", "score": 1.0} for n in (1, 2, 3)
]


def told(step) -> bool:
    return "Mind edge 1." in step.prompt.text


def test_lessons_reach_engineers_fenced_with_source_model_and_counts():
    played = forge(World(recall={"found": LESSONS, "by": "bm25", "note": ""}))
    asked = [step for step in played.steps if step.kind == "ask"]
    assert {(step.phase, step.seat.role) for step in asked if told(step)} == {("write", "engineer"), ("teach", "judge")}
    text = played.step("0/write/e1").prompt.text
    fenced = text.split("[words of earlier debates begin ")[1].split("[words of earlier debates end ")[0]
    assert fenced.count(SOURCE) == 3
    [shown] = [each.data for each in played.shown if each.type == "LESSONS"]
    assert shown["ids"] == ["l1", "l2", "l3"]


def test_the_three_best_are_asked_for_by_the_task_and_none_where_the_settings_say_so():
    [recall] = [step for step in forge().steps if step.kind == "recall"]
    assert (recall.corpus, recall.k) == ("lessons", 3)
    assert recall.prompt.text.startswith("Write a function mid")
    assert not [step for step in forge(lessons=0).steps if step.kind == "recall"]


def uses(world: World, **settings) -> list[tuple[str, bool | None]]:
    made = forge(world, **settings).script.artifacts
    return [(each.lesson, each.held) for each in made if isinstance(each, LessonUse)]


def taught(*recalled: tuple[int, str, list[int]]) -> dict:
    listed = [{"number": number, "verdict": verdict, "cites": cites} for number, verdict, cites in recalled]
    return {"explanation": "It takes the larger one.", "lessons": [], "recalled": listed}


def test_a_lesson_that_was_recalled_is_confirmed_or_contradicted_only_by_the_record():
    """The third engineer's first attempt fails; those of the others pass."""
    found = {"found": LESSONS, "by": "bm25", "note": ""}
    passed, failed = [1], [3]
    borne_out = taught((1, "confirmed", passed), (2, "contradicted", failed), (3, "unrelated", passed))
    assert uses(World(recall=found, teach=borne_out)) == [("l1", True), ("l2", False), ("l3", None)]
    said_only = taught(
        (1, "confirmed", failed), (2, "contradicted", passed), (3, "confirmed", [99]), (9, "confirmed", [1])
    )
    assert uses(World(recall=found, teach=said_only)) == [("l1", None), ("l2", None), ("l3", None)]


def test_that_a_lesson_was_recalled_is_stored_whatever_the_end():
    found = {"found": LESSONS[:1], "by": "bm25", "note": ""}
    assert uses(World(recall=found, teach=INVALID)) == [("l1", None)]
    assert uses(World(recall=found, write=INVALID)) == [("l1", None)]
    rejected = {"0/approve-proposal/you": {"choice": "reject", "text": ""}}
    assert uses(World(recall=found, **rejected), gates=["proposal"]) == [("l1", None)]
    assert uses(World()) == []
