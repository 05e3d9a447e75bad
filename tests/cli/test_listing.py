"""The list of debates in a pipe, in a wide and in a narrow terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moot.cli.blocks import RenderContext, answer_line, block_of
from moot.cli.listing import listed, print_debates
from moot.cli.printer import PlainPrinter
from moot.core.stage import HEADER
from moot.core.types import Debate, Event
from tests.cli.conftest import ANSWER
from tests.playing import debate_of
from tests.records.making import completed

QUESTION = "Should we use Redis or PostgreSQL for caching?"


class Paper(PlainPrinter):
    def __init__(self, width: int | None) -> None:
        self.width = width  # pyright: ignore[reportIncompatibleVariableOverride]


def decided() -> Debate:
    return completed("classic", topic=QUESTION, max_rounds=1, sides=("Redis", "PostgreSQL"))[0]


def shown(capsys: pytest.CaptureFixture[str], width: int | None) -> list[str]:
    running = replace(debate_of("classic", topic=QUESTION, max_rounds=1), owner="someone")
    debates = [listed(each, answer_line(each, demonstration=False), frozenset(), 0.0) for each in (decided(), running)]
    print_debates(Paper(width), debates)
    return capsys.readouterr().out.splitlines()


def test_a_pipe_gets_one_line_for_each_debate(capsys: pytest.CaptureFixture[str]):
    head, first, second = shown(capsys, None)
    assert head.split()[-2:] == ["QUESTION", "ANSWER"]
    assert first.endswith(f"{QUESTION}  {ANSWER}")
    assert second.endswith(QUESTION)


def test_a_wide_terminal_has_the_answer_below_the_question(capsys: pytest.CaptureFixture[str]):
    head, first, answer, second = shown(capsys, 160)
    at = head.index("QUESTION AND ANSWER")
    assert (first[at:], answer, second[at:]) == (QUESTION, " " * at + ANSWER, QUESTION)


@pytest.mark.parametrize("width", [40, 80])
def test_a_narrow_terminal_has_both_below_the_facts(capsys: pytest.CaptureFixture[str], width: int):
    first, question, answer, _, again = shown(capsys, width)
    assert first.startswith("3f2a1b2c  completed, round 1 of 1, classic, ")
    assert max(map(len, (question, answer, again))) <= width
    assert answer.startswith("  Redis. Debater A, who argued for it")
    assert QUESTION.startswith(question.strip().removesuffix("…"))


def test_an_answer_that_means_nothing_says_so():
    debate = decided()
    assert answer_line(debate, demonstration=True) == f"{ANSWER}  (a demonstration: it means nothing)"
    event = Event(seq=1, type=HEADER, key="", data={}, created_at=0.0)
    block = block_of(event, RenderContext.of(debate, demonstration=True))
    assert block
    assert block.lead.endswith("(a demonstration: it means nothing)")
