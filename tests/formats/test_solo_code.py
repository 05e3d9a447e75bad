"""Samples of code: a small model is asked for code alone, and what it writes below it is not waited for."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.steps import Ask
from tests.playing import Played, play, script_of

TASK = "Write a function one() that returns 1."
CODE = {"reasoning": "", "final": "def one():\n    return 1"}


def solo(**settings: Any) -> Played:
    return play(script_of("solo", TASK, answer={"kind": "code"}, method="plurality", **settings), lambda step: CODE)


def asks(played: Played) -> list[Ask]:
    return [step for step in played.steps if isinstance(step, Ask)]


@pytest.mark.parametrize(("samples", "temperature"), [(1, None), (3, 0.7)])
def test_a_small_model_is_asked_for_code_alone_and_once(samples: int, temperature: float | None) -> None:
    for ask in asks(solo(small=True, samples=samples)):
        assert ask.prompt.name == "solo/answer_code_small"
        assert "\n```\n" in ask.seat.sampling.stop
        assert ask.seat.sampling.temperature == temperature
        assert ask.most_tokens == ask.max_tokens


def test_another_model_thinks_first_and_is_left_to_end_its_answer() -> None:
    for ask in asks(solo(samples=2)):
        assert ask.prompt.name == "solo/answer_code"
        assert ask.seat.sampling.stop == ()
        assert ask.most_tokens is None


def test_a_small_model_that_reads_its_code_again_has_it_in_mind() -> None:
    first, again = asks(solo(small=True, samples=1, reflections=1))
    assert again.phase == "reflect-1"
    assert [message.role for message in again.history][:3] == ["system", "user", "assistant"]
    assert first.prompt.text in again.history[1].text
