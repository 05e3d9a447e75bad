"""Spared steps: the rules go on without a model that can't be had."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import BadOutput, ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable, ScriptChanged
from moot.core.script import Script, Stage, ask_each
from moot.core.types import Answer, Failure, Outcome, Prompt, SeatSpec
from moot.runtime.turns import turn_of_failure
from tests.playing import turn_for

SEATS = [SeatSpec(id=name, name=name.upper(), role="member", model="sim:", max_tokens=100) for name in ("a", "b", "c")]
DONE = Outcome(winner="tie", headline="Done.", ended_by="rules", verdict_source="rules")
GONE = Failure(kind="unavailable", message="It is gone.")
INVALID = Failure(kind="invalid", message="It is no JSON.")


class Point(Answer):
    text: str


def say(text: str) -> Prompt:
    return Prompt(name="test/say", text=text)


def polled(heard: list, **options) -> Script:
    async def rules(stage: Stage) -> Outcome:
        heard.append(await ask_each(stage.seats, "answer", lambda seat: say(f"{seat.name}?"), round=1, **options))
        heard.append(await stage.seat("a").ask("more", say("And?"), round=1))
        return DONE

    script = Script(rules, cast=SEATS, topic="t")
    script.begin()
    return script


def resolve(script: Script, key: str, answer) -> list:
    return script.resolve(turn_for(script.open[key], answer))


def test_seats_that_answer_go_on_without_one_whose_model_is_gone():
    heard: list = []
    script = polled(heard, shows="TURN")
    shown = [
        *resolve(script, "1/answer/a", GONE),
        *resolve(script, "1/answer/b", "B."),
        *resolve(script, "1/answer/c", "C."),
    ]
    answers = heard[0]
    assert answers.given == {"b": "B.", "c": "C."}
    assert answers.failed["a"].failure == GONE
    assert [each.key for each in shown] == ["1/answer/b", "1/answer/c"]  # what was not said is not shown
    assert [message.text for message in script.open["1/more/a"].messages] == ["And?"]  # nor remembered


def test_an_ordinary_step_does_not_accept_the_turn_of_a_spared_one():
    async def rules(stage: Stage) -> Outcome:
        await stage.seat("a").ask("open", say("Begin."), round=1)
        return DONE

    script = Script(rules, cast=SEATS, topic="t")
    script.begin()
    with pytest.raises(ScriptChanged):
        resolve(script, "1/open/a", GONE)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelTimeout("Too slow."), "timeout"),
        (ModelUnavailable("No key."), "unavailable"),
        (ModelOverloaded("Busy."), "overloaded"),
        (BadOutput("No JSON.", raw="{"), "invalid"),
    ],
)
def test_every_failure_of_a_model_becomes_a_turn_of_a_spared_step(error: ModelError, kind: str):
    script = polled([])
    turn = turn_of_failure(script.open["1/answer/a"], error, seq=1, started_at=0.0, created_at=1.0)
    assert turn is not None
    assert turn.failure == Failure(kind=kind, message=str(error))
    script.resolve(turn)
    assert turn_of_failure(script.open["1/answer/b"], RuntimeError("a bug"), seq=2) is None  # a bug is never spared


@given(
    st.lists(st.sampled_from(["answers", "gone", "invalid"]), min_size=3, max_size=3),
    st.permutations("abc"),
    st.sampled_from([{"text": "Late."}, INVALID]),
)
def test_whatever_fails_in_whatever_order_the_answers_are_those_that_came(fates, order, late):
    heard: list = []
    script = polled(heard, returns=Point)
    fate = dict(zip("abc", fates, strict=True))
    answer = {"answers": {"text": "Yes."}, "gone": GONE, "invalid": INVALID}
    for seat in order:
        assert script.open[f"1/answer/{seat}"].spared
        resolve(script, f"1/answer/{seat}", answer[fate[seat]])
    given, absent = [seat for seat in "abc" if fate[seat] == "answers"], "gone" in fates
    if not given:  # those whose model was gone are asked again, and not spared
        again = [seat for seat in "abc" if fate[seat] == "gone"]
        assert list(script.open) == ([f"1/answer-again/{seat}" for seat in again] or ["1/more/a"])
        assert not any(step.spared for step in script.open.values())
        for seat in again:
            resolve(script, f"1/answer-again/{seat}", late)
        answer["answers"] = late
        given, absent = ([] if late is INVALID else again), False
    answers = heard[0]
    assert answers.given == {seat: Point(**answer["answers"]) for seat in given}
    assert {*answers.failed} == {*"abc"} - {*given}
    assert any(failed.absent for failed in answers.failed.values()) == absent
