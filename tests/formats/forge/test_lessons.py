"""Lessons of earlier debates reach engineers in a fence, and no one else."""

from __future__ import annotations

from tests.formats.forge.world import World, forge

SOURCE = "From debate 1234abcd on 2026-01-02 by openai:gpt; confirmed twice, contradicted once."
LESSONS = [
    {"id": f"l{n}", "title": f"Lesson {n}", "text": f"Mind edge {n}.\n{SOURCE}", "score": 1.0} for n in (1, 2, 3)
]


def told(step) -> bool:
    return "Mind edge 1." in step.prompt.text


def test_lessons_reach_engineers_fenced_with_source_model_and_counts():
    played = forge(World(recall={"found": LESSONS, "by": "bm25", "note": ""}))
    asked = [step for step in played.steps if step.kind == "ask"]
    assert {(step.phase, step.seat.role) for step in asked if told(step)} == {("write", "engineer")}
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
