"""Task files: what is wrong with one is said before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError, UnknownName
from moot.corpus.quiz import recognised_question
from moot.evaluate.tasks import BUILT_IN, Item, load_task

ITEM = {"id": "1", "question": "Which?", "options": ["red", "blue"], "target": "Red"}

PATCHES = {"kind": "patch", "score": "patch"}
TESTS = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
REPOSITORY = {"id": "1", "question": "It is wrong.", "files": {"calc.py": "x = 1\n", "b.py": "`"}, "tests": TESTS}

REGEX = {"kind": "text", "score": "regex"}


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


def test_a_task_names_the_field_by_which_its_items_are_related(tmp_path: Path):
    topics = ("warm", "cold", "warm", 7)
    items = [{**ITEM, "id": str(n), "question": "Which\u2028one?", "topic": topic} for n, topic in enumerate(topics)]
    found = load_task(
        task(tmp_path, *(json.dumps(each, ensure_ascii=False) for each in items), cluster="topic"), seed=1, limit=None
    )
    assert [item.cluster for item in found.items] == ["warm", "cold", "warm", "7"]
    by_target = load_task(task(tmp_path, ITEM, cluster="target"), seed=1, limit=None).items[0]
    assert (by_target.cluster, by_target.target) == ("Red", "Red")


def test_a_repository_is_shown_with_its_files_and_without_its_hidden_tests(tmp_path: Path):
    item = load_task(task(tmp_path, REPOSITORY, **PATCHES), seed=1, limit=None).items[0]
    assert item.topic.startswith(
        "It is wrong.\n\nThe files of the repository:\n\nFILE: b.py\n```\n`\n```\n\nFILE: calc.py\n"
    )
    assert "x = 1" in item.topic
    assert "add" not in item.topic
    again = Item.model_validate_json(json.dumps(item.model_dump(mode="json"), sort_keys=True))
    assert again.topic == item.topic  # a stored plan asks the same


@pytest.mark.parametrize(
    ("items", "more", "said"),
    [
        ((ITEM, ITEM), {}, "two items have the id '1'; give each an id of its own"),
        (("", ITEM, {**ITEM, "id": "b", "options": ["red", 7]}), {}, "line 3 of .*'b'.*options.1 must be text"),
        (({**ITEM, "target": ""},), {}, "has no `target`"),
        (({**ITEM, "target": ["x", "y"]},), {}, r"Line 1 of .* .item '1'. has a list as its `target`. Write a text"),
        (({**ITEM, "target": True},), {"kind": "text"}, "has true as its `target`"),
        (({**ITEM, "id": {"a": 1}},), {}, r"Line 1 of .* has an object as its `id`. Write a text .* such as .q1."),
        (({**ITEM, "target": "green"},), {}, "'green' of item '1' is none of its options"),
        (({**ITEM, "options": ["red"]},), {}, "options of item '1' are no choice"),
        ((ITEM,), {"kind": "number"}, "has options, but the task's kind is 'number'"),
        (({"id": "1", "question": "?", "target": "many"},), {"kind": "number"}, "is no number"),
        (({"id": "1", "question": "?", "target": "("},), {"kind": "text", "score": "regex"}, "is no pattern"),
        ((ITEM,), {"score": "graded"}, "for answers of the kind 'text', not 'choice'"),
        ((ITEM,), {"judge": "x"}, "belong to the score graded, not to exact"),
        (({"id": "1", "question": "?", "target": r"(a)\1"},), REGEX, "in linear time"),
        ((ITEM,), {"kind": "patch"}, "answers of the kind 'patch' are scored by patch"),
        (({"id": "1", "question": "?", "tests": "assert x"},), PATCHES, "'1' has no `files`"),
        (({**REPOSITORY, "tests": "def test_a():\n    assert 1"},), PATCHES, "must import from 'b' or 'calc'"),
        (({**REPOSITORY, "tests": "import calc\ncalc.f()"},), PATCHES, "asserts nothing"),
        (({**REPOSITORY, "files": {"../x.py": ""}},), PATCHES, "can't be used"),
        (({**REPOSITORY, "files": {"calc.py": "x = 1\r\n"}},), PATCHES, "characters that no prompt shows"),
        ((REPOSITORY,), {"kind": "code", "score": "tests"}, "has `files`, but the task's kind is 'code'"),
        ((ITEM,), {"kind": "code"}, "can't be used: answers of the kind 'code' are scored by tests"),
        (({"id": "1", "question": "?", "target": "x"},), {"kind": "code", "score": "tests"}, "'1' has no `tests`"),
        (({"id": "1", "question": "?", "tests": "x"},), {"kind": "text"}, "has `tests`, but the task's score is"),
        ((ITEM,), {"sha256": "a" * 64}, "have changed"),
        (("[" * 100_000,), {}, "Line 1 of"),
        ((ITEM,), {"items": "nowhere.jsonl"}, "can't be read"),
        ((ITEM,), {"cluster": "topic"}, "Line 1 of .* has no `topic` with a text or a number"),
        (({**ITEM, "topic": "a", "cluster": "b"},), {"cluster": "topic"}, "has a `cluster` of its own"),
        ((ITEM,), {"cluster": "[topic]"}, "`cluster` must name a field"),
    ],
)
def test_bad_tasks_are_refused_by_name(tmp_path: Path, items: tuple[Any, ...], more: dict[str, Any], said: str):
    with pytest.raises(InputError, match="(?s)" + said.replace("(", r"\(").replace("?", r"\?")):
        load_task(task(tmp_path, *items, **more), seed=1, limit=None)


def test_a_pattern_must_match_the_whole_answer_and_takes_linear_time(tmp_path: Path):
    targets = [r"(?i)v?(\d+)\.\d+", "yes|no", r"(a+)+b", "(x|x)*y"]
    items = [{"id": str(n), "question": "?", "target": target} for n, target in enumerate(targets)]
    found = load_task(task(tmp_path, *items, **REGEX), seed=1, limit=None)
    version, either, nested, twice = found.items
    assert all(found.right(version, said) for said in ("V3.11", " 3.1\n"))
    assert not any(found.right(version, said) for said in ("3.11.2", "about 3.1"))
    assert all(found.right(either, said) for said in ("yes", "no"))
    assert not any(found.right(either, said) for said in ("yesno", "yes\nno", ""))
    assert not found.right(nested, "a" * 100_000)
    assert not found.right(twice, "x" * 100_000)
    assert found.right(nested, "a" * 100_000 + "b")


def test_a_folder_is_no_task_file(tmp_path: Path):
    with pytest.raises(InputError, match="is a folder, not a task file. Give the path of a YAML file with `name:`"):
        load_task(str(tmp_path), seed=1, limit=None)


def test_what_can_not_be_had_is_said():
    with pytest.raises(InputError, match="container images"):
        load_task("swe_bench", seed=1, limit=None)
    with pytest.raises(UnknownName):
        load_task("resoning", seed=1, limit=None)
    with pytest.raises(InputError, match="no task file.*Check the path; docs/evaluation.md"):
        load_task("nowhere.yaml", seed=1, limit=None)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_tasks_are_repeatable_and_sound(name: str):
    one, again, other = (load_task(name, seed=seed, limit=60) for seed in (1, 1, 2))
    assert one.sha256 == again.sha256 != other.sha256
    assert len({item.question for item in one.items}) == (10 if name == "swe_mini" else 60)
    assert all(item.tests if one.tested else one.right(item, item.target) for item in one.items)


def test_simulated_models_know_the_answers_of_their_own_task() -> None:
    items = load_task("sim_choice", seed=3, limit=20).items
    known = [recognised_question(item.topic) for item in items]
    assert [each and each.target for each in known] == [item.target for item in items]
    assert len({item.target for item in items}) > 1


def test_mmlu_is_read_from_its_own_files_however_they_are_given(tmp_path: Path):
    folder = tmp_path / "data" / "test"
    folder.mkdir(parents=True)
    (folder / "maths_test.csv").write_text('"Which is a prime?\nSay.",4,"6, or 8",7,9,C\nWhat is 1 + 1?,2,3,3,5,A\n')
    (folder / "colours_test.csv").write_text("\ufeffquestion,A,B,answer\nOf the sky?,blue,red,a\n")
    (folder / "colours_dev.csv").write_text("broken")
    found = load_task("mmlu", seed=1, limit=9, items=str(tmp_path / "data"))
    assert sorted(item.id for item in found.items) == ["colours/2", "maths/1", "maths/3"]  # by the line they begin on
    prime = next(item for item in found.items if item.id == "maths/1")
    assert prime.topic == "Which is a prime?\nSay.\n\nA. 4\nB. 6, or 8\nC. 7\nD. 9"
    assert (found.right(prime, "c"), found.right(prime, "A")) == (True, False)
    one = load_task("mmlu", seed=1, limit=9, items=str(folder / "maths_test.csv"))
    assert [item.target for item in sorted(one.items, key=lambda item: item.id)] == ["C", "A"]  # two choices alike
    lines = [
        {"question": "Prime?", "choices": ["4", "7"], "answer": 1, "subject": "maths"},
        {"question": "Prime?", "choices": [4, 7, 9], "answer": "B"},
    ]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    listed = load_task("mmlu", seed=1, limit=9, items=str(tmp_path / "all.jsonl"))
    assert sorted((item.id, item.target) for item in listed.items) == [("all/2", "B"), ("maths/1", "B")]
    assert len({each.files_sha256 for each in (found, one, listed)}) == 3
    (folder / "colours_test.csv").write_text("Of the sky?,red,blue,B\n")
    assert load_task("mmlu", seed=1, limit=9, items=str(folder)).files_sha256 != found.files_sha256


def test_gsm8k_is_read_from_its_own_file(tmp_path: Path):
    answers = ("2+3=<<2+3=5>>5\n#### 5", "#### 1,250", "so\n#### -0.5", "#### $70,000 ")
    lines = ({"question": "How many?\u2028Say.", "answer": answer} for answer in answers)
    file = tmp_path / "test.jsonl"
    file.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in lines))
    found = load_task("gsm8k", seed=1, limit=None, items=str(file))
    assert {item.id: item.target for item in found.items} == dict(
        zip(("test/1", "test/2", "test/3", "test/4"), ("5", "1250", "-0.5", "70000"), strict=True)
    )
    chosen = [load_task("gsm8k", seed=seed, limit=4, items=str(file)) for seed in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]
    file.rename(tmp_path / "other.jsonl")
    assert load_task("gsm8k", seed=1, limit=2, items=str(tmp_path / "other.jsonl")).files_sha256 == found.files_sha256


@pytest.mark.parametrize(
    ("name", "file", "content", "said"),
    [
        ("mmlu", "a_test.csv", "q,1,2,3,4,A\nq,1,2,3,4,E\n", "Line 2 of .*a_test.csv has the answer 'E', not a letter"),
        ("mmlu", "a_test.csv", "q,1,,3,4,A\n", "Line 1 of .* has no question, choices and answer"),
        ("mmlu", "a_test.csv", 'q,1,2,3,4,A\n"q,1,2,3,4,A\nq,1,2,3,4,A\n', "Line 2 of .* has no question"),
        ("mmlu", "a.jsonl", '{"question": "q", "choices": ["1", "2"], "answer": 2}', "the answer 2, .*index, 0 to 1"),
        ("mmlu", "a.jsonl", '{"question": "q", "choices": ["1"], "answer": 0}', "has 1 choices, not 2"),
        ("mmlu", "a.jsonl", '{"question": "q", "options": ["1", "2"], "answer": 0}', "no `choices`"),
        ("mmlu", "a.jsonl", "\n[1]", "Line 2 of .* is no JSON object"),
        ("gsm8k", "a.jsonl", '{"question": "q", "answer": "5"}', "Line 1 of .* `#### ` and a number.* task file"),
        ("gsm8k", "a.jsonl", '{"answer": "#### 5"}', "has no `question`, a text"),
        ("gsm8k", "a.jsonl", b'{}\n"\xff"', "Line 2 of .* is no UTF-8 text"),
        ("gsm8k", "a.jsonl", "\n", "There are no items in"),
        ("reasoning", "a.jsonl", "", "--items takes the files of mmlu or gsm8k"),
    ],
)
def test_files_that_are_not_the_tasks_are_refused_with_their_line(
    tmp_path: Path, name: str, file: str, content: str | bytes, said: str
):
    (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=f"(?s){said}"):
        load_task(name, seed=1, limit=None, items=str(tmp_path / file))


def test_tasks_whose_files_are_missing_say_what_to_give(tmp_path: Path):
    for items, said in (
        (None, "moot eval run mmlu --items PATH"),
        (str(tmp_path / "no"), "There is no"),
        (str(tmp_path), "_test.csv"),
    ):
        with pytest.raises(InputError, match=said):
            load_task("mmlu", seed=1, limit=None, items=items)
