"""The real pydantic-ai, openai and anthropic clients against a loopback server."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from moot.errors import ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable
from moot.models.provider import Endpoint, Remote, connect
from moot.types import Message, Reply, Usage
from tests.models.asking import GOOD, Ear, Score, call
from tests.models.wire import Say, Wire

KEY = "sk-proj-0123456789abcdef"
TALK = (
    Message(role="system", text="You judge."),
    Message(role="user", text="First."),
    Message(role="assistant", text="Noted."),
    Message(role="user", text="Second."),
)


def endpoint(wire: Wire, protocol: str, **more: Any) -> Endpoint:
    provider = {"openai": "openai-compatible"}.get(protocol, protocol)
    url = wire.anthropic if protocol == "anthropic" else wire.openai
    model = "claude-haiku-4-5" if protocol == "anthropic" else "gpt-test"
    return Endpoint(**{"provider": provider, "model": model, "url": url, "key": KEY, **more})


def ask(to: Endpoint, ear: Ear | None = None, **more: Any) -> Reply:
    async def main() -> Reply:
        remote = Remote(to)
        try:
            return await remote(call(**more), ear or Ear())
        finally:
            await remote.close()

    return asyncio.run(main())


both = pytest.mark.parametrize("protocol", ["openai", "anthropic"])


@both
def test_text_is_streamed_and_counted(protocol: str) -> None:
    ear = Ear()
    with Wire(Say("Tea is better.", tokens=(20, 4, 12), model="the-real-name")) as wire:
        reply = ask(endpoint(wire, protocol), ear, messages=TALK, max_tokens=77, temperature=0.3)
    assert reply.text == ear.text == "Tea is better."
    assert ear.heard == ["Tea", " is", " better."]
    assert reply.usage == Usage(tokens_in=20, tokens_out=4, tokens_cached=12, cost_usd=None)
    assert reply.model == "the-real-name"
    assert reply.finish_reason == "stop"
    assert reply.first_token_ms is not None
    body = wire.requests[0].body
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (77, 0.3, True)
    assert len(wire.requests) == 1


def test_openai_gets_the_roles_as_they_are() -> None:
    with Wire() as wire:
        ask(endpoint(wire, "openai"), messages=TALK)
    assert wire.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert [(m["role"], m["content"]) for m in wire.requests[0].body["messages"]] == [
        ("system", "You judge."),
        ("user", "First."),
        ("assistant", "Noted."),
        ("user", "Second."),
    ]


def test_anthropic_gets_the_system_message_apart() -> None:
    with Wire() as wire:
        ask(endpoint(wire, "anthropic"), messages=TALK)
    body = wire.requests[0].body
    assert wire.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "You judge." in json.dumps(body["system"])
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]


def test_the_real_openai_gets_its_own_name_for_the_limit_and_no_thoughts() -> None:
    with Wire() as wire:
        ask(endpoint(wire, "openai", provider="openai", model="gpt-5-mini"), max_tokens=55)
    body = wire.requests[0].body
    assert (body["max_completion_tokens"], body["reasoning_effort"]) == (55, "minimal")
    assert "max_tokens" not in body


@both
def test_a_schema_is_sent_natively(protocol: str) -> None:
    with Wire(Say(GOOD)) as wire:
        reply = ask(endpoint(wire, protocol), returns=Score, messages=TALK)
    assert reply.text == GOOD
    sent = json.dumps(wire.requests[0].body)
    assert '"winner"' in sent
    assert "tools" not in wire.requests[0].body
    if protocol == "openai":
        assert wire.requests[0].body["response_format"]["json_schema"]["schema"]["properties"]["score"]["maximum"] == 10
    assert "JSON schema" not in json.dumps(wire.requests[0].body["messages"])


def test_without_native_support_the_schema_is_in_the_last_user_message() -> None:
    with Wire(Say(GOOD)) as wire:
        ask(endpoint(wire, "anthropic", model="claude-3-haiku"), returns=Score, messages=TALK)
    messages = wire.requests[0].body["messages"]
    assert "JSON schema" in json.dumps(messages[-1])
    assert "JSON schema" not in json.dumps(messages[:-1])
    assert "output_config" not in wire.requests[0].body


def test_a_server_that_refuses_schemas_is_asked_in_words_from_then_on() -> None:
    refusal = Say(status=400, error={"error": {"message": "response_format json_schema is not supported"}})

    async def main(wire: Wire) -> None:
        remote = Remote(endpoint(wire, "openai"))
        assert (await remote(call(returns=Score), Ear())).text == GOOD
        assert (await remote(call(returns=Score), Ear())).text == GOOD
        await remote.close()

    with Wire(refusal, Say(GOOD)) as wire:
        asyncio.run(main(wire))
    assert ["response_format" in r.body and r.body["response_format"]["type"] for r in wire.requests] == [
        "json_schema",
        False,
        False,
    ]


@both
def test_a_cut_off_answer_says_so(protocol: str) -> None:
    with Wire(Say("Half a", finish="length")) as wire:
        assert ask(endpoint(wire, protocol)).finish_reason == "length"


def test_a_server_that_does_not_count_is_counted_for() -> None:
    with Wire(Say("Eight ch", tokens=None)) as wire:
        reply = ask(endpoint(wire, "openai"), text="four" * 5)
    assert reply.usage == Usage(tokens_in=5, tokens_out=2, cost_usd=None)


@both
@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, ModelUnavailable, "Check THE_KEY"),
        (403, ModelUnavailable, "Check THE_KEY"),
        (404, ModelUnavailable, "Check the name"),
        (400, ModelUnavailable, "refused the request (400)"),
        (402, ModelUnavailable, "no credit left"),
        (413, ModelUnavailable, ""),
        (422, ModelUnavailable, ""),
        (408, ModelTimeout, "did not answer in time"),
        (429, ModelOverloaded, "overloaded"),
        (500, ModelOverloaded, "overloaded or failing"),
        (502, ModelOverloaded, "overloaded or failing"),
        (503, ModelOverloaded, "overloaded or failing"),
        (529, ModelOverloaded, "overloaded or failing"),
    ],
)
def test_what_a_status_means(protocol: str, status: int, kind: type[ModelError], said: str) -> None:
    with (
        Wire(Say(status=status, error={"error": {"type": "x", "message": "the words of the server"}})) as wire,
        pytest.raises(ModelError) as raised,
    ):
        ask(endpoint(wire, protocol, key_variable="THE_KEY"))
    assert type(raised.value) is kind
    assert said in str(raised.value)
    assert "the words of the server" in str(raised.value)
    assert raised.value.usage is None
    assert len(wire.requests) == 1, "the library must leave retries to us"


def test_too_long_a_prompt_is_unavailable_with_advice() -> None:
    error = {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}}
    with Wire(Say(status=400, error=error)) as wire, pytest.raises(ModelUnavailable, match="larger context"):
        ask(endpoint(wire, "openai"))


def test_a_model_that_ollama_lacks_is_pulled() -> None:
    error = {"error": {"message": 'model "qwen9" not found, try pulling it first', "code": "model_not_found"}}
    with Wire(Say(status=404, error=error)) as wire, pytest.raises(ModelUnavailable, match="ollama pull qwen9"):
        ask(endpoint(wire, "ollama", model="qwen9", key=None))


@both
@pytest.mark.parametrize(("header", "low", "high"), [("7", 7, 7), ("1.5", 1.5, 1.5), (None, 0, 0), ("date", 20, 31)])
def test_when_to_come_back(protocol: str, header: str | None, low: float, high: float) -> None:
    if header == "date":
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    headers = {} if header is None else {"Retry-After": header}
    with Wire(Say(status=429, headers=headers)) as wire, pytest.raises(ModelOverloaded) as raised:
        ask(endpoint(wire, protocol))
    if header is None:
        assert raised.value.retry_after is None
    else:
        assert raised.value.retry_after is not None
        assert low <= raised.value.retry_after <= high


@both
def test_a_stream_that_breaks_is_overload_and_counts_what_was_written(protocol: str) -> None:
    ear = Ear()
    broken = Say("One two three four five", cut=3)
    with Wire(broken) as wire, pytest.raises(ModelOverloaded, match="broke off") as error:
        ask(endpoint(wire, protocol), ear, text="four" * 5)
    assert ear.text == "One two three"
    assert error.value.usage == Usage(tokens_in=5, tokens_out=4, cost_usd=None)


def test_a_stream_that_ends_without_a_reason_is_broken_where_reasons_are_given() -> None:
    with Wire(Say("One two", finish=None)) as wire:
        with pytest.raises(ModelOverloaded, match="broke off"):
            ask(endpoint(wire, "openai", provider="openai"))
        assert ask(endpoint(wire, "openai")).text == "One two"


def test_garbage_instead_of_a_stream_is_overload() -> None:
    with Wire(Say(status=502, error="<html>Bad gateway</html>")) as wire, pytest.raises(ModelOverloaded):
        ask(endpoint(wire, "openai"))


@both
def test_nobody_listening_is_overload_with_the_address(protocol: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ModelOverloaded, match="Is a server running at http://127.0.0.1"):
            ask(Endpoint(provider={"openai": "openai-compatible"}.get(protocol, protocol), model="m", url=url, key="k"))


@both
def test_the_key_is_in_no_error(protocol: str) -> None:
    error = {"error": {"message": f"Incorrect API key provided: {KEY}. Also sk-other-987654321."}}
    with Wire(Say(status=401, error=error)) as wire, pytest.raises(ModelUnavailable) as raised:
        ask(endpoint(wire, protocol, key_variable="THE_KEY"))
    assert KEY not in str(raised.value)
    assert "987654321" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_missing_key_is_known_before_anything_is_sent() -> None:
    with pytest.raises(ModelUnavailable, match="Set OPENAI_API_KEY"):
        ask(Endpoint(provider="openai", model="gpt-5", key_variable="OPENAI_API_KEY", key_required=True))


@pytest.mark.parametrize(
    ("protocol", "model", "sent"),
    [
        ("openai", "gpt-5-mini", False),
        ("openai", "gpt-6-luna", True),
        ("openai", "gpt-4.1-mini", True),
        ("anthropic", "claude-haiku-5-5", False),
        ("anthropic", "claude-haiku-4-5", True),
    ],
)
def test_a_temperature_is_only_sent_where_it_is_taken(protocol: str, model: str, sent: bool) -> None:
    with Wire() as wire:
        ask(endpoint(wire, protocol, provider=protocol, model=model), temperature=0.5)
    assert ("temperature" in wire.requests[0].body) is sent


def at_the_wire(wire: Wire, provider: str, model: str, **more: Any) -> tuple[Reply, Any]:
    """Ask a provider whose address is fixed in the library, but at the loopback server."""

    async def main() -> Reply:
        remote = Remote(Endpoint(provider=provider, model=model, key=KEY))
        opened = connect(remote.endpoint)
        opened[0].client.base_url = wire.openai  # type: ignore[attr-defined]
        remote._open[asyncio.get_running_loop()] = opened
        try:
            return await remote(call(**more), Ear())
        finally:
            await remote.close()

    return asyncio.run(main()), wire.requests[-1].body


def test_deepseek_is_asked_in_words_and_in_json_mode() -> None:
    with Wire(Say(GOOD)) as wire:
        reply, body = at_the_wire(wire, "deepseek", "deepseek-flash", returns=Score, max_tokens=50)
    assert (reply.provider, reply.text) == ("deepseek", GOOD)
    assert body["max_tokens"] == 50
    assert body["response_format"] == {"type": "json_object"}
    assert "JSON schema" in body["messages"][-1]["content"]


def test_openrouter_gets_its_own_model_names_and_no_thoughts() -> None:
    with Wire(Say(GOOD)) as wire:
        reply, body = at_the_wire(wire, "openrouter", "openai/gpt-6-luna", returns=Score, max_tokens=50)
    assert (reply.provider, body["model"], body["max_tokens"]) == ("openrouter", "openai/gpt-6-luna", 50)
    assert body["response_format"]["type"] == "json_schema"
    assert body["reasoning"]


def test_ollama_gets_the_schema_and_the_older_limit() -> None:
    with Wire(Say(GOOD)) as wire:
        ask(endpoint(wire, "ollama", model="llama3.2", key=None), returns=Score, max_tokens=50)
    body = wire.requests[0].body
    assert body["max_tokens"] == 50
    assert body["response_format"]["type"] == "json_schema"


def test_a_name_that_the_library_refuses_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable, match="can't be used"):
        ask(Endpoint(provider="openrouter", model="no-slash", key=KEY))


def test_a_call_can_be_cancelled() -> None:
    hold = threading.Event()

    async def main(wire: Wire) -> None:
        remote = Remote(endpoint(wire, "openai"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await remote(call(), Ear())
        hold.set()
        assert (await remote(call(), Ear())).text == "Late."
        await remote.close()

    with Wire(Say("Late.", hold=hold)) as wire:
        asyncio.run(main(wire))


def test_one_remote_serves_several_event_loops() -> None:
    with Wire() as wire:
        remote = Remote(endpoint(wire, "openai"))

        async def once() -> str:
            try:
                return (await remote(call(), Ear())).text
            finally:
                await remote.close()

        assert [asyncio.run(once()) for _ in range(3)] == ["Yes."] * 3


def test_anthropic_is_asked_to_cache_what_the_next_call_will_begin_with() -> None:
    with Wire(Say("Yes.")) as wire:
        ask(endpoint(wire, "anthropic"), messages=TALK)
        assert wire.requests[0].body["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
