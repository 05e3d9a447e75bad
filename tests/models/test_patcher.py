"""The simulated engineer on repositories: it patches as well as it is set to, in every shape that has room."""

from __future__ import annotations

import asyncio
from typing import Any

from moot.core.answers import AnswerSpec
from moot.core.types import Answer, Message
from moot.corpus import repository_tasks
from moot.corpus.repository import shown_with_files
from moot.formats.council.shapes import ballot_over, opinion_shape, rebuttal_shape
from moot.formats.shared.answer import Written, final_in
from moot.models.coding.patcher import held
from moot.models.providers.sim import sim_model
from moot.models.shape import read_answer
from moot.models.spec import parse
from moot.reasoning.fence import fence
from tests.models.calls import Listener, call

ONE = repository_tasks()[0]
ASKED = shown_with_files(ONE.issue, ONE.files)
PATCH = AnswerSpec(kind="patch")


def answered(options: str, returns: type[Answer], text: str = ASKED, **more: Any) -> Any:
    given = {"messages": (Message(role="user", text=text),), "max_tokens": 100_000, "returns": returns, **more}
    reply = asyncio.run(sim_model(parse(f"sim:?{options}")[0])(call(**given), Listener()))
    return read_answer(reply.text, returns)


def test_patches_are_right_as_often_as_the_skill_says():
    for options, known in (("skill=1", (ONE.solution,)), ("skill=0", ONE.mistakes)):
        for shape in (Written, opinion_shape(PATCH, short=False)):
            found = {final_in(answered(options, shape, key=f"{n}/answer/a")) for n in range(20)}
            assert found == {each.strip() for each in known}
    drawn = [final_in(answered("skill=.5&seed=3", Written, key=f"{n}/answer/a")) for n in range(60)]
    assert 15 < drawn.count(ONE.solution.strip()) < 45


def test_a_wrong_patch_is_corrected_as_often_as_repair_says():
    shape = rebuttal_shape(PATCH, short=False)
    for wrong, repair, right in ((True, 1, True), (True, 0, False), (False, 1, False)):
        own = opinion_shape(PATCH, short=False).model_validate(
            {
                "position": "Change it.",
                "answer": "Change the line.",
                "reasons": ["It is wrong."],
                "confidence": 60,
                "final": ONE.mistakes[0] if wrong else ONE.solution,
            }
        )
        messages = (
            Message(role="system", text=ASKED),
            Message(role="assistant", text=own.model_dump_json()),
            Message(role="user", text="Someone objects."),
        )
        found = answered(f"skill=.5&repair={repair}", shape, messages=messages)
        assert (found.revised is not None and final_in(found.revised) == ONE.solution.strip()) is right


def test_right_patches_are_ranked_first():
    said = {"A": ONE.mistakes[0], "B": ONE.solution, "C": ONE.mistakes[1]}
    quoted = "\n\n".join(fence(f"Answer: {text}", of=f"answer {label}", at=label) for label, text in said.items())
    for n in range(5):
        found = answered("skill=1", ballot_over(("A", "B", "C")), f"{ASKED}\n\n{quoted}", key=f"{n}/rank/a")
        assert (found.ranking[0], found.stands_behind) == ("B", ["B"])


def test_a_patch_that_is_a_part_of_another_is_not_taken_for_it():
    for each in repository_tasks():
        for patch in (each.solution, *each.mistakes):
            assert held(f"First:\n{patch.strip()}\nDone.", each) == [patch]


def test_a_patch_is_known_as_git_writes_it():
    task = next(iter(repository_tasks()))
    lines = task.mistakes[0].splitlines()
    heads = [
        f"diff --git a/x b/x\nindex 1234567..89abcde 100644\n{each}" if each[:4] == "--- " else each for each in lines
    ]
    assert held(f"Your change:\n```\n{chr(10).join(heads)}\n```\nIt fails.", task) == [task.mistakes[0]]
