"""Answers as JSON: in a schema of the client's, or as moot has the outcome."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from moot.core.types import Outcome
from moot.formats.shared.structured import PHASE
from tests.server.chat.asking import Asking, count, user
from tests.server.serving import Served

pytestmark = pytest.mark.slow

SIM = {"X-Moot-Settings": '{"model_debater": "sim:", "model_judge": "sim:"}'}


class Pick(BaseModel):
    pick: str
    sure: float | None


SCHEMA = {"type": "json_schema", "json_schema": {"name": "pick", "schema": Pick.model_json_schema()}}


def turns(server: Served, debate_id: str) -> list[dict[str, Any]]:
    return server.get(f"/v1/debates/{debate_id}/turns").json()["items"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_of_the_client_is_filled_in_by_a_recorded_step(server: Served, asking: Asking, stream):
    asked = {"model": "moot/classic", "messages": user(), "response_format": Pick, "extra_headers": SIM}
    if stream:
        with asking.chat.completions.stream(**asked) as events:
            list(events)
            answer = events.get_final_completion()
    else:
        answer = asking.chat.completions.parse(**asked)
    debate_id = answer.id.removeprefix("chatcmpl-")
    parsed = answer.choices[0].message.parsed
    last = turns(server, debate_id)[-1]
    assert (last["phase"], last["data"]) == (PHASE, parsed.model_dump())
    debate = server.debate(debate_id)
    assert debate["outcome"]["structured"] == parsed.model_dump()
    assert debate["status"] == "completed"


def test_moots_own_shape_takes_no_call(server: Served, asking: Asking):
    answer = asking.ask(response_format={"type": "json_object"})
    told = json.loads(answer.choices[0].message.content)
    debate = server.debate(answer.moot["debate"])
    assert Outcome.model_validate(told).headline == debate["headline"]
    assert PHASE not in {turn["phase"] for turn in turns(server, debate["id"])}
    heard = asking.ask(response_format={"type": "json_object"}, extra_headers={"X-Moot-Debate": debate["id"]})
    assert asking.responses.retrieve(f"resp_{debate['id']}").output_text == heard.choices[0].message.content


def test_a_schema_that_the_model_can_t_fill_is_an_error_and_the_decision_stands(server: Served, asking: Asking):
    """The scripted judge answers with words."""
    before = count(server)
    for _ in range(2):  # again: the debate is not asked anew
        with pytest.raises(openai.InternalServerError, match="could not be put into your schema") as refused:
            asking.ask("Fill it?", response_format=SCHEMA)
        assert refused.value.response.headers.get("x-should-retry") == "false"
    assert count(server) == before + 1
    [debate] = server.get("/v1/debates", params={"q": "Fill it?"}).json()["items"]
    assert debate["status"] == "completed"
    assert server.debate(debate["id"])["outcome"]["winner"] == "a"
    got = server.get(f"/v1/responses/resp_{debate['id']}").json()
    assert (got["status"], "could not be put" in got["error"]["message"]) == ("failed", True)


def test_a_debate_that_was_not_asked_for_the_shape_can_t_be_told_in_it(server: Served, asking: Asking):
    made = server.completed(settings={"max_rounds": 1})
    with pytest.raises(openai.UnprocessableEntityError, match="not asked for this shape"):
        asking.ask(response_format=SCHEMA, extra_headers={"X-Moot-Debate": made["id"]})


def test_a_chore_is_answered_in_the_schema_that_it_asks_for(server: Served, asking: Asking):
    before = count(server)
    chore = "Analyze this conversation and provide: a title"
    answer = asking.ask(chore, response_format=SCHEMA, extra_headers=SIM)
    assert Pick.model_validate_json(answer.choices[0].message.content).pick
    assert count(server) == before
