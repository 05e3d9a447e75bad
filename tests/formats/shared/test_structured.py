"""The decision in a shape of one's own: one recorded call of the judge's model, for every format."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from moot.client import documents
from moot.core.errors import InputError
from moot.core.limits import Limits
from moot.core.script import Step
from moot.core.types import Failure
from moot.formats import installed
from moot.formats.shared.structured import MAX_TOKENS, answer_type
from moot.models.shape import NotInShape, read_answer
from moot.request import Request
from tests.playing import good, play, script_of
from tests.running import an_app, answers_file, new_debate, run_to_end, run_to_rest

SCHEMA = {
    "type": "object",
    "properties": {"choice": {"type": "string"}, "sure": {"type": ["number", "null"]}},
    "required": ["choice", "sure"],
    "additionalProperties": False,
}
KEY = "0/structure/scribe"
FILLED = {"choice": "Redis", "sure": None}


def scribe(given: Any) -> Callable[[Step], Any]:
    return lambda step: given if step.key == KEY else good(step)


@pytest.mark.parametrize("format", sorted(installed()))
def test_every_format_gives_its_decision_in_the_shape_that_was_asked_for(tmp_path, format):
    async def main():
        async with an_app(tmp_path) as app:
            people = {"*/analyze/*": {"text": "Both."}, "*": {"choice": "continue"}}
            unattended = installed()[format].unattended
            made = await new_debate(app, "sim:?seed=3", format, answer_schema=SCHEMA, **unattended)
            done = await run_to_end(app, made, people)
            assert set(done.outcome.structured) == {"choice", "sure"}
            assert done.outcome.unstructured == ""
            turn = (await app.runtime.store.turns(done.id))[-1]
            assert (turn.key, turn.data, turn.model) == (KEY, done.outcome.structured, "sim:?seed=3")
            assert turn.tokens_out > 0
            assert (await documents.prove(app, done.id)).same

    asyncio.run(main())


def test_without_a_schema_nothing_is_asked_for_it():
    played = play(script_of("classic", max_rounds=1))
    assert KEY not in played.keys
    assert played.outcome.structured is None


def test_the_outcome_is_quoted_to_the_scribe_in_a_fence():
    played = play(script_of("classic", max_rounds=1, answer_schema=SCHEMA), scribe(FILLED))
    assert played.outcome.structured == FILLED
    [(step, messages)] = [(step, sent) for step, sent in played.sent if step.key == KEY]
    assert step.seat.model == next(seat.spec.model for seat in played.script.stage.seats if seat.id == "judge")
    said = messages[-1].text
    begin, end = said.index("[words of the outcome begin"), said.index("[words of the outcome end")
    assert begin < said.index(played.outcome.headline) < end


@pytest.mark.parametrize("kind", ["invalid", "limit"])
def test_where_it_fails_the_outcome_says_why_and_stays(kind):
    script = script_of("classic", max_rounds=1, answer_schema=SCHEMA)
    played = play(script, scribe(Failure(kind=kind, message="No.")))
    assert (played.outcome.structured, played.outcome.unstructured) == (None, "No.")
    assert played.outcome.winner == play(script_of("classic", max_rounds=1)).outcome.winner


def test_an_answer_that_does_not_fit_is_asked_for_again(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path, {KEY: [{"choice": 1, "sure": 1}, FILLED]})
            done = await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=1, answer_schema=SCHEMA))
            assert done.outcome.structured == FILLED
            turn = (await app.runtime.store.turns(done.id))[-1]
            assert turn.metadata["attempts"] == ["invalid: it: choice must be text"]

    asyncio.run(main())


def test_its_tokens_are_kept_from_the_beginning():
    bare, asked = script_of("classic"), script_of("classic", answer_schema=SCHEMA)
    for script in (bare, asked):
        script.begin()
        script.close()
    [step], [other] = bare.open.values(), asked.open.values()
    assert other.leave.tokens == step.leave.tokens + MAX_TOKENS
    assert Limits.of(installed()["classic"].settings()).max_total_output_tokens > other.leave.tokens


def test_a_schema_that_can_t_be_used_is_refused_before_anything_is_stored(tmp_path):
    async def main():
        async with an_app(tmp_path, model="sim:") as app:
            with pytest.raises(InputError, match="answer_schema: can't be used: it must describe an object"):
                app.plan(Request(topic="Is it so?", format="duel", settings={"answer_schema": {"type": "array"}}))

    asyncio.run(main())


def test_the_same_schema_gives_the_same_type():
    again = dict(reversed(SCHEMA.items()))
    assert answer_type(SCHEMA) is answer_type(again)
    assert read_answer('{"choice": "a", "sure": 1}', answer_type(SCHEMA)).model_dump() == {"choice": "a", "sure": 1}
    with pytest.raises(NotInShape, match="it lacks 'sure'"):
        read_answer('{"choice": "a"}', answer_type(SCHEMA))
