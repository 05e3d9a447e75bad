"""Debates as models: OpenAI's own client asks them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import openai
import pytest

from moot.formats import installed
from moot.server.chat import completions, models, responses
from moot.server.chat.completions import ChatRequest
from moot.server.chat.models import PREFIX
from moot.server.chat.responses import ResponseRequest
from tests.running import Held, topic_for
from tests.server.chat.asking import QUESTION, Asking, client, count, left_when, sums, told, user
from tests.server.chat.test_request import CHORES
from tests.server.serving import Served, served, wait_for
from tests.server.test_owners import Person

pytestmark = pytest.mark.slow

DOCS = (Path(__file__).parents[3] / "docs" / "openai.md").read_text()


def test_models_are_the_formats_and_the_presets(server: Served, asking: Asking):
    found = {model.id: model for model in asking.models.list()}
    assert set(found) == {f"{PREFIX}{name}" for name in ("auto", *installed(), "quick", "editor")}
    assert all(model.object == "model" and model.owned_by == "moot" for model in found.values())
    assert asking.models.retrieve("moot/quick").id == "moot/quick"
    with pytest.raises(openai.NotFoundError, match="Did you mean 'moot/quick'"):
        asking.models.retrieve("moot/quik")


@pytest.mark.parametrize("format", ["classic", "duel", "panel", "council", "crucible"])
def test_a_streamed_debate_tells_every_public_turn_once_and_its_outcome(tmp_path, format):
    with served(tmp_path, model="sim:?tps=4000&seed=3") as server, client(server) as asking:
        stream = asking.ask(model=f"moot/{format}", stream=True, stream_options={"include_usage": True})
        reasoning, content, chunks = told(stream)
        debate_id = chunks[0].moot["debate"]
        debate = server.debate(debate_id)
        assert debate["status"] == "completed"
        assert {chunk.id for chunk in chunks} == {f"chatcmpl-{debate_id}"}
        assert {chunk.model for chunk in chunks} == {f"moot/{format}"}
        events = server.get(f"/v1/debates/{debate_id}/events?limit=1000", headers={"Accept": "application/json"})
        said = [each for each in events.json()["items"] if each["turn"]]
        public = [each["turn"]["content"].strip() for each in said if each["public"]]
        assert public
        private = {each["turn"]["content"].strip() for each in said if not each["public"]} - {*public, ""}
        assert not [text for text in private if f"\n{text}\n" in reasoning]
        for text in set(public):
            whole = re.findall(rf"(?m)^{re.escape(text)}$", reasoning)
            assert len(whole) == public.count(text), text
        assert all(re.match(r"### \S", part) for part in re.findall(r"(?m)^#.*$", reasoning))
        assert debate["headline"] in content
        assert debate["outcome"]["statement"].strip() in content
        assert "demonstration" in content
        if not debate["how"]:  # else it is a sentence of the debate itself
            assert debate["headline"] not in reasoning
        assert content.lstrip("*# ").startswith(debate["headline"])
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        usage = chunks[-1].usage
        assert (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens) == sums(
            server, debate_id
        )
        assert 0 < usage.completion_tokens_details.reasoning_tokens <= usage.completion_tokens


def test_without_a_stream_the_whole_answer_comes_at_once(server: Served, asking: Asking):
    raw = asking.chat.completions.with_raw_response.create(model="moot/classic", messages=user())
    answer = raw.parse()
    debate = server.debate(raw.headers["x-moot-debate"])
    assert answer.id == f"chatcmpl-{debate['id']}"
    assert answer.object == "chat.completion"
    said = answer.choices[0]
    assert said.finish_reason == "stop"
    assert said.message.content.startswith(f"**{debate['headline']}**")
    assert "### " in said.message.reasoning_content
    assert "Words of a at 1/speak/a." in said.message.reasoning_content
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == sums(server, debate["id"])[:2]
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_usage_comes_only_when_it_is_asked_for(server: Served, asking: Asking):
    _, _, chunks = told(asking.ask(model="moot/quick", stream=True))
    assert all(chunk.usage is None for chunk in chunks)
    assert server.debate(chunks[0].moot["debate"])["settings"]["turns"] == 2, "the preset's"


def test_earlier_messages_and_the_system_prompt_are_context(server: Served, asking: Asking):
    messages = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "We run PostgreSQL 15."},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
        *user(),
    ]
    answer = asking.ask(messages)
    debate = server.debate(answer.moot["debate"])
    assert debate["topic"] == f"{QUESTION} (asked after “We run PostgreSQL 15.”)"
    audit = server.get(f"/v1/debates/{debate['id']}/audit").json()
    first = next(turn for turn in audit["turns"] if turn["kind"] == "ask" and turn["phase"] == "speak")
    read = first["messages"][-1]["text"]
    for words in ("system: You are terse.", "user: We run PostgreSQL 15.", "assistant: Noted."):
        assert words in read
    assert "[words of the conversation begin" in read
    assert "You are terse" not in answer.choices[0].message.reasoning_content


TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}


def schema_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tools": [TOOL]}, "chat_tools"),
        ({"tools": [TOOL], "model": "moot/editor", "tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, "has no `schema`"),
        ({"response_format": schema_format({"type": "array"})}, "must describe an object"),
        ({"logprobs": True}, "logprobs"),
        ({"messages": [{"role": "system", "content": "x"}]}, "role 'user'"),
        ({"messages": [{"role": "user", "content": " "}]}, "question is empty"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "image_url"),
        ({"metadata": {"moot_settings": '{"a":' * 50_000}}, "JSON object"),
        ({"metadata": {"moot_settings": '{"max_rouns": 1}'}}, "Did you mean 'max_rounds'"),
    ],
)
def test_what_debates_lack_is_refused_and_starts_nothing(server: Served, asking: Asking, more, said):
    before = count(server)
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        asking.chat.completions.create(**{"model": "moot/classic", "messages": user(), **more})
    assert said in refused.value.message
    assert refused.value.body["type"] == "invalid_request_error"
    assert count(server) == before


def test_errors_have_the_shape_that_clients_know(server: Served):
    for response, status, code in (
        (server.post("/v1/chat/completions", {"model": "gpt-5", "messages": user()}), 404, "model_not_found"),
        (
            server.client.post("/v1/chat/completions", content="{", headers={"Content-Type": "application/json"}),
            400,
            "",
        ),
        (server.client.post("/v1/chat/completions", content="x", headers={"Content-Type": "text/plain"}), 415, ""),
        (server.get("/v1/chat/completions"), 405, "method_not_allowed"),
        (server.get("/v1/models/nope"), 404, "model_not_found"),
        (server.get("/v1/models", headers={"Host": "evil.example"}), 421, "misdirected"),
    ):
        assert response.status_code == status
        assert response.headers["content-type"] == "application/json"
        error = response.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["message"]
        assert code in error["code"]
    assert "error" not in server.get("/v1/debates/nope").json()


def test_where_the_operator_lets_them_tools_are_ignored_and_the_answer_is_text(server: Served, asking: Asking):
    messages = [
        *user("Which file has the cache?"),
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "cache.py"},
        *user(),
    ]
    answer = asking.ask(messages, model="moot/editor", tools=[TOOL], tool_choice="auto")
    debate = server.debate(answer.moot["debate"])
    assert (answer.choices[0].finish_reason, answer.choices[0].message.tool_calls) == ("stop", None)
    assert debate["headline"] in answer.choices[0].message.content
    first = server.get(f"/v1/debates/{debate['id']}/audit").json()["turns"][0]
    assert "assistant: [called read_file with {}]" in first["content"]
    assert "tool: cache.py" in first["content"]


def test_paths_that_only_openai_has_say_which_there_are(server: Served):
    for path, said in {
        "/v1/embeddings": "no /v1/embeddings here. This server has",
        "/v1/files/file-1": "no /v1/files/file-1 here. This server has",
        "/chat/completions": "ends in /v1",
        "/v1/v1/chat/completions": "ends in /v1",
    }.items():
        refused = server.post(path, {})
        assert refused.status_code == 404
        assert refused.json()["error"]["type"] == "not_found_error"
        assert said in refused.json()["error"]["message"]
        assert "POST /v1/chat/completions" in refused.json()["error"]["message"]
    for path in ("/v1/nothing", "/v1/nothing/more", "/v1/"):
        refused = server.get(path)
        assert (refused.status_code, refused.headers["content-type"]) == (404, "application/json")
        error = refused.json()["error"]
        assert error["type"] == "not_found_error"
        assert error["message"].startswith(f"There is no {path} here. This server has POST /v1/chat/completions")
    for path in ("/v1/debates/nope", "/v1/debates/nope/nothing", "/nothing"):
        assert server.get(path).headers["content-type"] == "application/problem+json"


def test_every_response_names_its_request(server: Served):
    for path in ("/v1/models", "/v1/nothing", "/v1/embeddings", "/", "/v1/debates/nope"):
        named = server.get(path).headers["x-request-id"]
        assert re.fullmatch("req_[0-9a-f]{32}", named)
        assert server.get(path).headers["x-request-id"] != named
    assert server.get("/v1/models", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    for odd in ("x" * 200, "a b", "<script>"):
        assert server.get("/v1/models", headers={"X-Request-Id": odd}).headers["x-request-id"].startswith("req_")
    assert server.get("/v1/models", headers={"Host": "evil.example"}).headers["x-request-id"].startswith("req_")


def test_settings_and_limits_of_the_debate(server: Served, asking: Asking):
    one = asking.ask(
        metadata={"moot_settings": '{"max_rounds": 1}'}, temperature=1.7, max_completion_tokens=5000, seed=4
    )
    settings = server.debate(one.moot["debate"])["settings"]
    assert (settings["max_rounds"], settings["max_total_output_tokens"]) == (1, 5000)
    two = asking.ask(max_tokens=10_000_000, extra_headers={"X-Moot-Settings": '{"max_rounds": 2}'})
    settings = server.debate(two.moot["debate"])["settings"]
    assert (settings["max_rounds"], settings["max_total_output_tokens"]) == (2, 8000)  # a client can't raise it


def test_a_debate_that_was_cut_off_says_so(tmp_path):
    with served(tmp_path, model="sim:") as server, client(server) as asking:
        answer = asking.ask(max_tokens=500)
        assert answer.choices[0].finish_reason == "length"
        assert "The limit max_total_output_tokens ended the debate early." in answer.choices[0].message.content


@pytest.mark.parametrize(
    "format",
    [name if name in ("classic", "forge") else pytest.param(name, marks=pytest.mark.soak) for name in installed()],
)
def test_too_few_tokens_are_refused_with_the_least_and_with_that_models_take_part(
    server: Served, asking: Asking, format
):
    sim = {"X-Moot-Settings": '{"model_debater": "sim:", "model_judge": "sim:"}'}
    before = count(server)

    def asked(most: int) -> Any:
        return asking.ask(topic_for(format), model=f"moot/{format}", max_tokens=most, extra_headers=sim)

    with pytest.raises(openai.UnprocessableEntityError) as refused:
        asked(5)
    assert (refused.value.param, count(server)) == ("max_tokens", before)
    least = int(re.search(r"needs ([\d,]+) at least", refused.value.message)[1].replace(",", ""))
    assert server.debate(asked(least).moot["debate"])["tokens_out"] > 0
    with pytest.raises(openai.UnprocessableEntityError, match=f"{least:,} at least"):
        asked(least - 1)


def test_nobody_is_asked_in_between_unless_the_settings_say_so(tmp_path):
    with served(tmp_path, model="sim:") as server, client(server) as asking:
        answer = asking.ask(model="moot/panel")
        assert server.debate(answer.moot["debate"])["status"] == "completed"
        asked = asking.ask(model="moot/panel", metadata={"moot_settings": '{"checkpoints": true}'})
        debate = server.debate(asked.moot["debate"])
        assert debate["status"] == "waiting"
        assert "waits for a person" in asked.choices[0].message.content
        assert f"/v1/debates/{debate['id']}/answer" in asked.choices[0].message.content


def test_a_model_that_fails_is_an_error_with_the_debate_s_id(tmp_path):
    with served(tmp_path, model="sim:?fail=1", backoff_tries=0) as server, client(server, max_retries=2) as asking:
        with pytest.raises(openai.InternalServerError, match="is failed"):
            asking.ask()
        assert count(server) == 1  # the client is told not to try again
        stream = asking.ask(stream=True)
        with pytest.raises(openai.APIError, match="/retry"):
            told(stream)


@pytest.mark.parametrize("stream", [False, True])
def test_chores_of_chat_clients_start_no_debate(server: Served, asking: Asking, stream: bool):
    more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    before = count(server)
    answer = asking.ask(CHORES[0], model="moot/duel", **more)
    if stream:
        _, content, chunks = told(answer)
        usage = chunks[-1].usage
    else:
        content, usage = answer.choices[0].message.content, answer.usage
    assert content == "Words of chat at chat/chore."
    assert usage.completion_tokens > 0
    assert count(server) == before


def test_a_repetition_with_the_same_key_gets_the_same_debate(server: Served, asking: Asking):
    key = {"Idempotency-Key": "chat-1"}
    before = count(server)
    answers = [asking.ask(extra_headers=key) for _ in range(2)]
    assert answers[0].model_dump() == answers[1].model_dump()
    with pytest.raises(openai.UnprocessableEntityError, match="another request"):
        asking.ask("Something else?", extra_headers=key)
    assert count(server) == before + 1


def test_a_client_that_tries_again_gets_the_same_debate(server: Served, asking: Asking):
    messages = [{"role": "user", "content": "Before."}, *user("Tried again?")]
    retry = {"x-stainless-retry-count": "1"}
    before = count(server)
    one = asking.ask(messages)
    again = asking.ask(messages, extra_headers=retry)
    assert again.id == one.id
    assert again.choices[0].message.content == one.choices[0].message.content
    other = asking.ask("Tried again?", extra_headers=retry)
    assert other.id != one.id  # it was another conversation
    new = asking.ask(messages)
    assert new.id != one.id  # and this is no repetition
    assert count(server) == before + 3


def test_listening_to_a_debate_that_is_there(server: Served, asking: Asking):
    made = server.made(settings={"max_rounds": 1}, start=False)
    before = count(server)
    one = asking.ask("?", metadata={"moot_debate": made["id"]})
    two = asking.ask("?", extra_headers={"X-Moot-Debate": made["id"][:8]})
    assert one.id == two.id == f"chatcmpl-{made['id']}"
    assert one.choices == two.choices
    with pytest.raises(openai.NotFoundError):
        asking.ask(metadata={"moot_debate": "nope"})
    assert count(server) == before


@pytest.mark.parametrize(("configured", "stream"), [("stop", True), ("continue", False)])
def test_a_client_that_goes_away_in_the_middle(tmp_path, configured, stream):
    held = Held(tmp_path)
    with served(tmp_path, chat_on_disconnect=configured, model=held.model) as server:
        body = {"model": "moot/duel", "messages": user(), "stream": stream}
        if stream:
            with server.client.stream("POST", "/v1/chat/completions", json=body) as response:
                debate_id = response.headers["x-moot-debate"]
                next(line for line in response.iter_lines() if line.startswith("data:"))
                wait_for(lambda: held.calls, "a call")
        else:
            left_when(server, body, lambda: held.calls)
            debate_id = server.get("/v1/debates").json()["items"][0]["id"]
        wait_for(lambda: not server.app.runtime.hub.watched, "the server to notice")
        if configured == "stop":
            server.until(debate_id, "stopping")
        held.release()
        left = server.rested(debate_id)
        assert left["status"] == {"stop": "stopped", "continue": "completed"}[configured]
        with client(server) as asking:  # the client comes back, and nothing is lost or paid for twice
            answer = asking.ask(model="moot/duel", extra_headers={"x-stainless-retry-count": "1"})
        assert answer.moot["debate"] == debate_id
        assert server.debate(debate_id)["status"] == "completed"
        assert count(server) == 1
        turns = server.get(f"/v1/debates/{debate_id}/turns").json()["items"]
        assert len({turn["key"] for turn in turns}) == len(turns) == 30
        for turn in turns:
            if turn["phase"] == "speak":
                assert answer.choices[0].message.reasoning_content.count(turn["content"]) == 1


def test_another_listener_keeps_a_debate_alive(tmp_path):
    with served(tmp_path, delay_ms=20, model=f"scripted:{tmp_path}/answers.yaml") as server, client(server) as asking:
        first = asking.ask(model="moot/duel", stream=True)
        debate_id = next(iter(first)).moot["debate"]
        second = asking.ask(model="moot/duel", stream=True, metadata={"moot_debate": debate_id})
        next(iter(second))
        first.close()
        told(second)
        assert server.debate(debate_id)["status"] == "completed"


def test_a_server_that_ends_says_how_to_come_back_and_the_debate_goes_on(tmp_path):
    with served(tmp_path, model="sim:?latency_ms=100") as server, client(server) as asking:
        stream = asking.ask(model="moot/duel", stream=True)
        debate_id = next(iter(stream)).moot["debate"]
        server.server.should_exit = True
        with pytest.raises(openai.APIError, match=f"X-Moot-Debate: {debate_id}"):
            told(stream)
    with served(tmp_path, model="sim:") as server, client(server) as asking:
        back = {"X-Moot-Debate": debate_id}
        answer = asking.ask(model="moot/duel", extra_headers=back)
        assert answer.choices[0].finish_reason == "stop"
        assert len(server.get(f"/v1/debates/{debate_id}/turns").json()["items"]) == 30


def test_tokens_and_scopes(tmp_path):
    with served(tmp_path, model=f"scripted:{tmp_path}/answers.yaml", serve_tokens="always") as server:
        reader, runner = Person(server, "reader", "read"), Person(server, "runner", "read", "run")
        with client(server, "wrong") as asking, pytest.raises(openai.AuthenticationError, match="not valid"):
            asking.models.list()
        with client(server, reader.secret) as asking:
            assert asking.models.list().data
            with pytest.raises(openai.PermissionDeniedError, match="lacks the scope 'run'"):
                asking.ask()
        with client(server, runner.secret) as asking:
            answer = asking.ask()
            assert runner.get(f"/v1/debates/{answer.moot['debate']}").json()["initiated_by"] == "runner"
            for spec in ("openai:x@http://127.0.0.1:1", "local:/etc/mine.gguf"):
                with pytest.raises(openai.PermissionDeniedError, match="scope 'admin'"):
                    asking.ask(metadata={"moot_settings": f'{{"model_judge": "{spec}"}}'})


def test_every_route_and_every_parameter_that_is_read_is_documented():
    for route in (*models.router.routes, *completions.router.routes, *responses.router.routes):
        [method] = route.methods
        assert f"`{method} {route.path.replace(':path', '')}`" in DOCS
    for name in {**ChatRequest.model_fields, **ResponseRequest.model_fields}:
        assert f"`{name}`" in DOCS, name
