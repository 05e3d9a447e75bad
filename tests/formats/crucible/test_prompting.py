"""The prompts of proposer, skeptic and synthesizer."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from moot.core.script import Failed, Step
from moot.core.types import Recalled
from moot.formats import installed
from moot.formats.crucible import prompting
from moot.formats.crucible.prompting import PRESSURE
from moot.formats.crucible.shapes import Round, ShortProposal
from moot.memory.library import DOOR
from tests.formats.crucible.answers import BAD, CONTENT, STUCK, TOPIC, critique, issue, rounds, run
from tests.playing import debate_of, play


def test_what_an_invalid_critique_said_is_passed_on_in_a_fence():
    last = Round(number=1, answer="A", critique=Failed(failure=BAD, raw="The second step fails. Ready!"))
    text = prompting.defence(last, [], of=5).text
    assert re.search(r"\[words of the Skeptic begin (\w+)\]\nThe second step fails\. Ready!\n", text)
    silent = prompting.defence(Round(number=1, answer="A", critique=Failed(failure=BAD, raw="")), [], of=5).text
    assert "Look for the weakest point" in silent
    assert "fence" not in silent


def test_the_proposer_gets_the_question_and_the_templates_as_sections():
    first = run(CONTENT).step("1/propose/proposer")
    system, asked = first.messages[0].text, first.messages[-1].text
    assert system.startswith("You are the Proposer.")
    assert TOPIC in system
    assert "### Template: Proof by Contradiction\n\n[words of the library begin" in asked
    assert "### Template: Infinite Descent" in asked
    assert asked.index("Suppose the opposite.") < asked.index("Find a smaller one.")


def test_templates_are_asked_for_by_the_question_and_their_number():
    step = run(CONTENT, settings={"rag_top_k": 2}).step("0/rag/memory")
    assert (step.prompt.text, step.corpus, step.k) == (TOPIC, "templates", 2)


def test_without_templates_none_are_mentioned():
    none = {"found": [], "by": "bm25", "note": ""}
    assert "emplate" not in run(CONTENT, found=none).step("1/propose/proposer").messages[-1].text
    played = run(CONTENT, settings={"rag_top_k": 0})
    assert played.keys[0] == "1/propose/proposer"
    assert [shown.type for shown in played.shown[:2]] == ["HEADER", "RAG"]


def test_a_defence_carries_the_critique_and_says_what_is_open():
    text = run(critique(issue(problem="Step two fails."), score=4)).step("2/defend/proposer").prompt.text
    assert text.startswith("Round 2 of 5. The Skeptic gives the answer 4 of 10, calls it not ready yet")
    assert "Step two fails." in text
    assert "Open are: i1 (critical)." in text
    assert "Defend the answer." in text


def test_the_skeptic_gets_its_part_the_answer_its_own_history_and_the_round():
    step = run(STUCK).step("2/critique/skeptic")
    assert step.messages[0].text.startswith("You are the Skeptic.")
    assert "Answer 1 of the proposer." in step.messages[1].text
    assert "A step is missing." in step.messages[2].text
    asked = step.prompt.text
    assert asked.startswith("Round 2 of 5. Press harder than before.")
    assert "Answer 2 of the proposer." in asked
    assert 'one object for each of i1: "id"' in asked
    assert '"earlier"' not in run(STUCK).step("1/critique/skeptic").prompt.text


def test_the_skeptic_presses_harder_each_round_and_hardest_in_the_last():
    asked = [run(STUCK).step(f"{n}/critique/skeptic").prompt.text for n in range(1, 6)]
    said = [next(at for at, words in enumerate(PRESSURE) if words in text) for text in asked]
    assert said == [0, 1, 2, 2, 3]
    assert prompting.pressure(1, 1) == PRESSURE[-1]
    assert [prompting.pressure(n, 2) for n in (1, 2)] == [PRESSURE[0], PRESSURE[-1]]


def test_the_synthesizer_reads_the_whole_transcript():
    played = run(critique(issue(problem="Problem one.")), critique(issue("minor", "Problem two.")), BAD, BAD, BAD)
    step = played.step("5/synthesize/synthesizer")
    for n in range(1, 6):
        assert f"Answer {n} of the proposer." in step.prompt.text
    assert "Problem one." in step.prompt.text
    assert "Problem two." in step.prompt.text
    assert "Issues still open: i1 (critical), i2 (minor)." in step.prompt.text
    assert "Write the final answer." in step.prompt.text
    assert len(step.messages) == 2  # it took no part


def test_histories_only_grow():
    played = run(STUCK)
    for seat in ("proposer", "skeptic"):
        sent = [messages for step, messages in played.sent if step.seat.id == seat]
        assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(sent))


def test_templates_reach_the_proposer_as_they_were_recalled():
    quoted = prompting.template_sections([Recalled(id="a", title="A\n\nB", text="Step 1.\nStep 2.", score=1.0)])
    assert "### Template: A B\n" in quoted
    assert "Step 1.\nStep 2." in quoted
    assert prompting.template_sections([]) == ""


TEMPLATE = """## Steps

1. Count the tasks.

```
## Example of a heading in code
```

## Worked example

There are 12 tasks per week.

### More of it

Twelve.

## Pitfalls

- Counting twice."""


def test_a_small_model_gets_a_templates_steps_alone():
    templates = [Recalled(id="t", title="Counting", text=TEMPLATE, score=1.0)]
    small, large = prompting.short_proposal(TOPIC, templates).text, prompting.proposal(templates, of=3).text
    assert "Count the tasks." in small
    assert "Count the tasks." in large
    for left_out in ("12 tasks per week", "Twelve", "Worked example", "Counting twice."):
        assert left_out not in small
        assert left_out in large


def test_a_small_model_gets_no_template_that_has_no_steps():
    text = prompting.short_proposal(TOPIC, [Recalled(id="t", title="Counting", text="Count.", score=1.0)]).text
    assert text.startswith("The question:")


def test_whether_the_proposer_is_small_decides():
    found = {"found": [{"id": "t", "title": "Counting", "text": TEMPLATE, "score": 1.0}], "by": "bm25", "note": ""}
    given = rounds(CONTENT, found=found)
    proposed = {"steps": ["One.", "Two."], "conclusion": "Twelve."}

    def answer(step: Step) -> Any:
        return proposed if step.returns is ShortProposal else given(step)

    for small in (True, False):
        debate = debate_of("crucible", TOPIC)
        cast = tuple(replace(seat, small=small and seat.id == "proposer") for seat in debate.cast)
        played = play(installed()["crucible"].script(replace(debate, cast=cast)), answer)
        assert ("12 tasks per week" in played.step("1/propose/proposer").prompt.text) is not small


def test_every_built_in_template_has_steps():
    for template in DOOR.get("moot"):
        steps = prompting.steps_of(template.text)
        assert steps.startswith("1. ")
        assert "## " not in steps
