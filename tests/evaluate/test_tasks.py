"""Task files: what is wrong with one is said before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError, UnknownName
from moot.corpus.quiz import recognised_question
from moot.evaluate.tasks import BUILT_IN, load_task

ITEM = {"id": "1", "question": "Which?", "options": ["red", "blue"], "target": "Red"}


def task(folder: Path, *items: Any, **more: Any) -> str:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in items]
    (folder / "items.jsonl").write_text("\n".join(lines))
    given = {"name": "colours", "kind": "choice", "items": "items.jsonl", **more}
    (folder / "task.yaml").write_text("\n".join(f"{name}: {value}" for name, value in given.items()))
    return str(folder / "task.yaml")


def test_a_task_is_read_with_its_items(tmp_path: Path):
    found = load_task(task(tmp_path, ITEM, {**ITEM, "id": 2, "target": "blue"}, epochs=3), seed=1, limit=None)
    assert [item.id for item in found.items] == ["1", "2"]
    assert (found.epochs, found.right(found.items[0], "RED"), found.right(found.items[0], "blue")) == (3, True, False)
    assert found.right(found.items[0], None) is False
    assert len(load_task(str(tmp_path / "task.yaml"), seed=1, limit=1).items) == 1


@pytest.mark.parametrize(
    ("items", "more", "said"),
    [
        ((ITEM, ITEM), {}, "two items have the id '1'"),
        (({**ITEM, "target": ""},), {}, "has no `target`"),
        (({**ITEM, "target": "green"},), {}, "'green' of item '1' is none of its options"),
        (({**ITEM, "options": ["red"]},), {}, "options of item '1' are no choice"),
        ((ITEM,), {"kind": "number"}, "has options, but the task's kind is 'number'"),
        (({"id": "1", "question": "?", "target": "many"},), {"kind": "number"}, "is no number"),
        (({"id": "1", "question": "?", "target": "("},), {"kind": "text", "score": "regex"}, "is no pattern"),
        ((ITEM,), {"kind": "patch"}, "can't be scored"),
        ((ITEM,), {"kind": "code"}, "can't be used: answers of the kind 'code' are scored by tests"),
        (({"id": "1", "question": "?", "target": "x"},), {"kind": "code", "score": "tests"}, "'1' has no `tests`"),
        (({"id": "1", "question": "?", "tests": "x"},), {"kind": "text"}, "has `tests`, but the task's score is"),
        ((ITEM,), {"sha256": "a" * 64}, "have changed"),
        (("not json",), {}, "Line 1 of"),
        (("[" * 100_000,), {}, "Line 1 of"),
        ((ITEM,), {"items": "nowhere.jsonl"}, "can't be read"),
    ],
)
def test_bad_tasks_are_refused_by_name(tmp_path: Path, items: tuple[Any, ...], more: dict[str, Any], said: str):
    with pytest.raises(InputError, match="(?s)" + said.replace("(", r"\(").replace("?", r"\?")):
        load_task(task(tmp_path, *items, **more), seed=1, limit=None)


def test_what_can_not_be_had_is_said():
    with pytest.raises(InputError, match="not downloaded"):
        load_task("mmlu", seed=1, limit=None)
    with pytest.raises(UnknownName):
        load_task("resoning", seed=1, limit=None)
    with pytest.raises(InputError, match="no task file"):
        load_task("nowhere.yaml", seed=1, limit=None)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_tasks_are_repeatable_and_sound(name: str):
    one, again, other = (load_task(name, seed=seed, limit=60) for seed in (1, 1, 2))
    assert one.sha256 == again.sha256 != other.sha256
    assert len({item.question for item in one.items}) == 60
    assert all(item.tests if one.graded else one.right(item, item.target) for item in one.items)


def test_simulated_models_know_the_answers_of_their_own_task() -> None:
    items = load_task("sim_choice", seed=3, limit=20).items
    known = [recognised_question(item.topic) for item in items]
    assert [each and each.target for each in known] == [item.target for item in items]
    assert len({item.target for item in items}) > 1
