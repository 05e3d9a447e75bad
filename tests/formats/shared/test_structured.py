"""The decision in a shape of one's own: one recorded call of the judge's model, for every format."""

from __future__ import annotations

import asyncio

import pytest

from moot.client import documents
from moot.core.errors import InputError
from moot.core.limits import Limits
from moot.core.types import Failure
from moot.formats import installed
from moot.formats.shared.structured import MAX_TOKENS
from moot.request import Request
from tests.formats.ways import good_but
from tests.playing import play, script_of
from tests.running import an_app, new_debate, run_to_end

SCHEMA = {
    "type": "object",
    "properties": {"choice": {"type": "string"}, "sure": {"type": ["number", "null"]}},
    "required": ["choice", "sure"],
    "additionalProperties": False,
}
KEY = "0/structure/scribe"
FILLED = {"choice": "Redis", "sure": None}


@pytest.mark.parametrize("format", sorted(installed()))
def test_every_format_gives_its_decision_in_the_shape_that_was_asked_for(tmp_path, format):
    async def main():
        async with an_app(tmp_path) as app:
            people = {"*/analyze/*": {"text": "Both."}, "*": {"choice": "continue"}}
            short = {**installed()[format].unattended, **installed()[format].efforts.get("quick", {})}
            made = await new_debate(app, "sim:?seed=3", format, answer_schema=SCHEMA, **short)
            done = await run_to_end(app, made, people)
            assert set(done.outcome.structured) == {"choice", "sure"}
            assert done.outcome.unstructured == ""
            turn = (await app.runtime.store.turns(done.id))[-1]
            assert (turn.key, turn.data, turn.model) == (KEY, done.outcome.structured, "sim:?seed=3")
            assert turn.tokens_out > 0
            assert (await documents.prove(app, done.id)).same

    asyncio.run(main())


def test_the_outcome_is_quoted_to_the_scribe_in_a_fence():
    played = play(script_of("classic", max_rounds=1, answer_schema=SCHEMA), good_but(FILLED, at=KEY))
    assert played.outcome.structured == FILLED
    [(step, messages)] = [(step, sent) for step, sent in played.sent if step.key == KEY]
    assert step.seat.model == next(seat.spec.model for seat in played.script.stage.seats if seat.id == "judge")
    said = messages[-1].text
    begin, end = said.index("[words of the outcome begin"), said.index("[words of the outcome end")
    assert begin < said.index(played.outcome.headline) < end


@pytest.mark.parametrize("kind", ["invalid", "limit"])
def test_where_it_fails_the_outcome_says_why_and_stays(kind):
    script = script_of("classic", max_rounds=1, answer_schema=SCHEMA)
    played = play(script, good_but(Failure(kind=kind, message="No."), at=KEY))
    assert (played.outcome.structured, played.outcome.unstructured) == (None, "No.")
    assert played.outcome.winner == play(script_of("classic", max_rounds=1)).outcome.winner


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
