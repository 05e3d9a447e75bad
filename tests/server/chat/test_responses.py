"""Debates as responses, asked by OpenAI's own client."""

from __future__ import annotations

import json

import openai
import pytest
from pydantic import BaseModel

from tests.running import Held
from tests.server.chat.asking import QUESTION, Asking, client, count, sums
from tests.server.serving import Served, served, wait_for

pytestmark = pytest.mark.slow

# In OpenAI's order; deltas come any number of times.
ORDER = """response.created response.in_progress
    response.output_item.added response.reasoning_summary_part.added response.reasoning_summary_text.delta
    response.reasoning_summary_text.done response.reasoning_summary_part.done response.output_item.done
    response.output_item.added response.content_part.added response.output_text.delta
    response.output_text.done response.content_part.done response.output_item.done response.completed""".split()


def id_of(response: openai.types.responses.Response) -> str:
    return response.id.removeprefix("resp_")


def test_a_response_is_a_debate(server: Served, asking: Asking):
    got = asking.responses.create(model="moot/classic", input=QUESTION, metadata={"project": "cache"})
    again = asking.responses.retrieve(got.id)
    debate = server.debate(id_of(got))
    assert (got.status, got.model, got.metadata) == ("completed", "moot/classic", {"project": "cache"})
    assert got.output_text.startswith(f"**{debate['headline']}**")
    thought, said = got.output
    assert "Words of a at 1/speak/a." in thought.summary[0].text
    assert said.content[0].text == got.output_text
    usage = got.usage
    cached = usage.input_tokens_details.cached_tokens
    assert (usage.input_tokens, usage.output_tokens, cached) == sums(server, debate["id"])
    assert 0 < usage.output_tokens_details.reasoning_tokens <= usage.output_tokens
    assert again.model_dump() == got.model_dump() | {"instructions": None}


def test_a_stream_has_openais_events_in_openais_order(server: Served, asking: Asking):
    with asking.responses.stream(model="moot/duel", input=QUESTION) as stream:
        events = list(stream)
        whole = stream.get_final_response()
    kinds = [each.type for n, each in enumerate(events) if n == 0 or each.type != events[n - 1].type]
    assert kinds == ORDER
    assert [each.sequence_number for each in events] == list(range(len(events)))
    deltas = "".join(each.delta for each in events if each.type == "response.reasoning_summary_text.delta")
    assert deltas == whole.output[0].summary[0].text
    assert whole.output_text == asking.responses.retrieve(whole.id).output_text


def test_what_follows_a_response_knows_it_and_says_so(server: Served, asking: Asking):
    first = asking.responses.create(model="moot/classic", input=QUESTION)
    second = asking.responses.create(model="moot/classic", input="And for two?", previous_response_id=first.id)
    third = asking.responses.create(model="moot/classic", input="And for ten?", previous_response_id=second.id)
    assert asking.responses.retrieve(third.id).previous_response_id == second.id
    with pytest.raises(openai.NotFoundError):
        asking.responses.create(model="moot/classic", input="And then?", previous_response_id="resp_nope")
    debate = server.debate(id_of(third))
    assert debate["topic"] == "And for ten? (asked after “And for two?”)"
    assert server.get(f"/v1/debates/{debate['id']}/record").json()["title"] == debate["topic"]
    told = server.get(f"/v1/debates/{debate['id']}/audit").json()["turns"][0]["content"]
    at = [told.index(words) for words in (f"user: {QUESTION}", "assistant: **", "user: And for two?")]
    assert at == sorted(at)
    assert "asked after" not in told


def test_instructions_and_items_are_the_conversation(server: Served, asking: Asking):
    items = [
        {"role": "user", "content": "We run PostgreSQL 15."},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "seen"},
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
    ]
    got = asking.responses.create(model="moot/classic", input=items, instructions="Be terse.")
    told = server.get(f"/v1/debates/{id_of(got)}/audit").json()["turns"][0]["content"]
    for words in ("system: Be terse.", "user: We run", "assistant: Noted.", "[called look with {}]", "tool: seen"):
        assert words in told
    assert server.debate(id_of(got))["topic"].startswith(QUESTION)


def test_a_response_in_a_schema(server: Served, asking: Asking):
    class Pick(BaseModel):
        pick: str

    sim = {"X-Moot-Settings": '{"model_debater": "sim:", "model_judge": "sim:"}'}
    got = asking.responses.parse(model="moot/classic", input=QUESTION, text_format=Pick, extra_headers=sim)
    assert json.loads(asking.responses.retrieve(got.id).output_text) == got.output_parsed.model_dump()


def test_in_the_background_a_debate_goes_on_by_itself(tmp_path):
    with served(tmp_path, model="sim:?latency_ms=20") as server, client(server) as asking:
        got = asking.responses.create(model="moot/classic", input=QUESTION, background=True)
        assert got.status == "in_progress"
        assert got.output == []
        done = wait_for(lambda: (now := asking.responses.retrieve(got.id)).status == "completed" and now, "the answer")
        assert done.output_text


def test_a_response_can_be_cancelled_and_deleted(tmp_path):
    with served(tmp_path, model=Held(tmp_path).model) as server, client(server) as asking:
        got = asking.responses.create(model="moot/classic", input=QUESTION, background=True)
        with pytest.raises(openai.ConflictError, match="has no answer yet"):
            asking.responses.create(model="moot/classic", input="And then?", previous_response_id=got.id)
        assert asking.responses.cancel(got.id).status == "cancelled"
        assert server.debate(id_of(got))["status"] == "canceled"
        with pytest.raises(openai.ConflictError):
            asking.responses.cancel(got.id)
        assert asking.responses.delete(got.id) is None
        with pytest.raises(openai.APIStatusError, match="was deleted") as gone:
            asking.responses.retrieve(got.id)
        assert gone.value.status_code == 410


def test_a_debate_that_fails_fails_the_response(tmp_path):
    with served(tmp_path, model="sim:?fail=1", backoff_tries=0) as server, client(server, max_retries=2) as asking:
        with pytest.raises(openai.InternalServerError, match="is failed"):
            asking.responses.create(model="moot/classic", input=QUESTION)
        assert count(server) == 1  # the client is told not to try again
        *_, last = asking.responses.create(model="moot/classic", input="Another?", stream=True)
        assert last.type == "response.failed"
        assert "/retry" in last.response.error.message
        assert asking.responses.retrieve(last.response.id).status == "failed"


def test_a_response_that_was_cut_off_is_incomplete(tmp_path):
    with served(tmp_path, model="sim:") as server, client(server) as asking:
        got = asking.responses.create(model="moot/classic", input=QUESTION, max_output_tokens=500)
        assert (got.status, got.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        *_, last = asking.responses.create(model="moot/classic", input="Or else?", max_output_tokens=500, stream=True)
        assert last.type == "response.incomplete"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"input": []}, "role 'user'"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input_image"),
        ({"input": [{"role": "wizard", "content": "x"}]}, "needs a `role`"),
        ({"tools": [{"type": "web_search"}]}, "chat_tools"),
        ({"conversation": "conv_1"}, "previous_response_id"),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}, "must describe an object"),
    ],
)
def test_what_responses_lack_is_refused_and_starts_nothing(server: Served, asking: Asking, more, said):
    before = count(server)
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        asking.responses.create(**{"model": "moot/classic", "input": QUESTION, **more})
    assert said in refused.value.message
    assert count(server) == before


def test_chores_start_no_debate_here_either(server: Served, asking: Asking):
    before = count(server)
    got = asking.responses.create(model="moot/classic", input="### Task:\nGenerate a title.")
    assert (got.output_text, got.status) == ("Words of chat at chat/chore.", "completed")
    *_, last = asking.responses.create(model="moot/classic", input="### Task:\nGenerate tags.", stream=True)
    assert last.response.output_text == "Words of chat at chat/chore."
    assert count(server) == before
