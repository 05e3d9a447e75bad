"""Remote models, with the real pydantic-ai, openai and anthropic clients against a loopback server."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from moot.core.errors import ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable, ModelUnreachable
from moot.core.types import Message, Sampling, Usage
from moot.models.providers import Endpoint
from moot.models.remote import RemoteModel
from moot.runtime.turns import failure_of
from tests.models.asking import KEY, ask, ask_redirected, both, endpoint
from tests.models.calls import GOOD, Listener, Score, call
from tests.models.wire import Say, Wire
from tests.running import until

TALK = (
    Message(role="system", text="You judge."),
    Message(role="user", text="First."),
    Message(role="assistant", text="Noted."),
    Message(role="user", text="Second."),
)


@both
def test_text_is_streamed_and_counted(protocol: str) -> None:
    listener = Listener()
    with Wire(Say("Tea is better.", tokens=(20, 4, 12), model="the-real-name")) as wire:
        reply = ask(
            endpoint(wire, protocol), listener, messages=TALK, max_tokens=77, sampling=Sampling(temperature=0.3)
        )
    assert reply.text == listener.text == "Tea is better."
    assert listener.heard == ["Tea", " is", " better."]
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
    assert wire.requests[0].body["messages"] == [{"role": each.role, "content": each.text} for each in TALK]


def test_anthropic_gets_the_system_message_apart() -> None:
    with Wire() as wire:
        ask(endpoint(wire, "anthropic"), messages=TALK)
    body = wire.requests[0].body
    assert wire.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "You judge." in json.dumps(body["system"])
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]


def test_openai_gets_max_completion_tokens_and_minimal_reasoning() -> None:
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


def test_a_server_that_refuses_schemas_gets_them_in_the_prompt_from_then_on() -> None:
    refusal = Say(status=400, error={"error": {"message": "response_format json_schema is not supported"}})

    async def main(wire: Wire) -> None:
        remote = RemoteModel(endpoint(wire, "openai"))
        assert (await remote(call(returns=Score), Listener())).text == GOOD
        assert (await remote(call(returns=Score), Listener())).text == GOOD
        await remote.close()

    with Wire(refusal, Say(GOOD)) as wire:
        asyncio.run(main(wire))
    assert ["response_format" in request.body for request in wire.requests] == [True, False, False]


@both
def test_a_cut_off_answer_says_so(protocol: str) -> None:
    with Wire(Say("Half a", finish="length")) as wire:
        assert ask(endpoint(wire, protocol)).finish_reason == "length"


@pytest.mark.parametrize("text", ["word " * 60 + "!", "你好" * 150], ids=["words", "chinese"])
def test_a_figure_that_no_tokenizer_gives_is_not_believed(text: str) -> None:
    with Wire(Say(text, tokens=(1, 10, 0))) as wire:
        reply = ask(endpoint(wire, "openai"), text="Say much." * 100)
    assert reply.usage.estimated
    assert reply.usage.tokens_out == -(-len(text) // 4)
    assert reply.usage.tokens_in > 200


@pytest.mark.parametrize("text", ["Yes, and at length. " * 50, "=" * 2000, "\n" * 2000 + "x"])
def test_a_figure_that_may_be_right_is_believed(text: str) -> None:
    with Wire(Say(text, tokens=(20, 80, 0))) as wire:
        reply = ask(endpoint(wire, "openai"))
    assert not reply.usage.estimated
    assert reply.usage.tokens_out == 80


@pytest.mark.parametrize("nonsense", [10**9, 10**30])
def test_a_figure_that_can_not_be_right_is_estimated(nonsense: int) -> None:
    """Or one answer would use up every ceiling of the day, or could not be stored."""
    with Wire(Say("Eight ch", tokens=(nonsense, nonsense, nonsense))) as wire:
        reply = ask(endpoint(wire, "openai"), text="four" * 5)
    assert reply.usage == Usage(tokens_in=5, tokens_out=2, tokens_cached=5, cost_usd=None, estimated=True)


def test_missing_usage_is_estimated() -> None:
    with Wire(Say("Eight ch", tokens=None)) as wire:
        reply = ask(endpoint(wire, "openai"), text="four" * 5)
    assert reply.usage == Usage(tokens_in=5, tokens_out=2, cost_usd=None, estimated=True)


@pytest.mark.parametrize(
    ("protocol", "status", "kind", "said"),
    [
        ("openai", 401, ModelUnavailable, "Check THE_KEY"),
        ("openai", 404, ModelUnavailable, "Check the name"),
        ("openai", 400, ModelUnavailable, "refused the request (400)"),
        ("openai", 402, ModelUnavailable, "no credit left"),
        ("openai", 408, ModelTimeout, "did not answer in time"),
        ("openai", 429, ModelOverloaded, "overloaded"),
        ("anthropic", 401, ModelUnavailable, "Check THE_KEY"),
        ("anthropic", 503, ModelOverloaded, "overloaded or failing"),
    ],
)
def test_http_statuses_become_model_errors(protocol: str, status: int, kind: type[ModelError], said: str) -> None:
    with (
        Wire(Say(status=status, error={"error": {"type": "x", "message": "message of the server"}})) as wire,
        pytest.raises(ModelError) as raised,
    ):
        ask(endpoint(wire, protocol, key_variable="THE_KEY"))
    assert type(raised.value) is kind
    assert said in str(raised.value)
    assert "message of the server" in str(raised.value)
    assert raised.value.usage is None
    assert len(wire.requests) == 1, "the library must not retry"


def test_too_long_a_prompt_is_unavailable_with_advice() -> None:
    error = {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}}
    with Wire(Say(status=400, error=error)) as wire, pytest.raises(ModelUnavailable, match="larger context"):
        ask(endpoint(wire, "openai"))


def test_a_model_missing_in_ollama_comes_with_advice_to_pull_it() -> None:
    error = {"error": {"message": 'model "qwen9" not found, try pulling it first', "code": "model_not_found"}}
    with Wire(Say(status=404, error=error)) as wire, pytest.raises(ModelUnavailable, match="ollama pull qwen9"):
        ask(endpoint(wire, "ollama", model="qwen9", key=None))


@both
@pytest.mark.parametrize(("header", "low", "high"), [("1.5", 1.5, 1.5), ("date", 2900, 3000)])
def test_retry_after_is_read(protocol: str, header: str, low: float, high: float) -> None:
    if header == "date":
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=3000), usegmt=True)
    with Wire(Say(status=429, headers={"Retry-After": header})) as wire, pytest.raises(ModelOverloaded) as raised:
        ask(endpoint(wire, protocol))
    assert raised.value.retry_after is not None
    assert low <= raised.value.retry_after <= high


def test_garbage_instead_of_a_stream_is_overload() -> None:
    with Wire(Say(status=502, error="<html>Bad gateway</html>")) as wire, pytest.raises(ModelOverloaded):
        ask(endpoint(wire, "openai"))


@both
def test_an_unreachable_server_is_named_with_what_to_do(protocol: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ModelUnreachable, match="nothing answers at http://127.0.0.1.*Start the server") as error:
            ask(Endpoint(provider={"openai": "openai-compatible"}.get(protocol, protocol), model="m", url=url, key="k"))
    assert failure_of(error.value).kind == "unreachable"
    assert "overload" not in str(error.value)


@both
def test_errors_never_contain_the_key(protocol: str) -> None:
    error = {"error": {"message": f"Incorrect API key provided: {KEY}. Also sk-other-987654321."}}
    with Wire(Say(status=401, error=error)) as wire, pytest.raises(ModelUnavailable) as raised:
        ask(endpoint(wire, protocol, key_variable="THE_KEY"))
    assert KEY not in str(raised.value)
    assert "987654321" not in str(raised.value)
    assert raised.value.__cause__ is None


@both
def test_errors_never_contain_keys_and_passwords_of_others(protocol: str) -> None:
    """A gateway may quote its own key, or the address of what it could not reach."""
    said = "upstream https://proxy:hunter2@10.0.0.7/v1 refused x-api-key: 9f8e7d6c5b4a (bob:s3cret@cache.internal)"
    with Wire(Say(status=400, error={"error": {"message": said}})) as wire, pytest.raises(ModelUnavailable) as raised:
        ask(endpoint(wire, protocol))
    assert "upstream https://proxy:***@10.0.0.7/v1 refused" in str(raised.value)
    for secret in ("hunter2", "9f8e7d6c5b4a", "s3cret"):
        assert secret not in str(raised.value)


def test_an_address_with_a_password_is_named_without_it() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://ann:hunter2@127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ModelUnreachable, match="nothing answers at http://ann:\\*\\*\\*@127.0.0.1") as error:
            ask(Endpoint(provider="openai-compatible", model="m", url=url, key="k"))
    assert "hunter2" not in str(error.value)


EVERY_SETTING = Sampling(
    temperature=0.3,
    top_p=0.9,
    min_p=0.05,
    top_k=40,
    presence_penalty=0.5,
    frequency_penalty=-0.5,
    seed=7,
    stop=("END", "###"),
)
OPENAI_FIELDS = {
    "temperature": 0.3,
    "top_p": 0.9,
    "presence_penalty": 0.5,
    "frequency_penalty": -0.5,
    "seed": 7,
    "stop": ["END", "###"],
}
ALL_FIELDS = {**OPENAI_FIELDS, "min_p": 0.05, "top_k": 40}
ANTHROPIC_FIELDS = {"temperature": 0.3, "top_p": 0.9, "top_k": 40, "stop_sequences": ["END", "###"]}


def without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("provider", "model", "fields"),
    [
        ("openai", "gpt-4.1-mini", OPENAI_FIELDS),
        ("openai", "gpt-6-luna", OPENAI_FIELDS),
        ("openai", "gpt-5-mini", {"seed": 7}),
        ("anthropic", "claude-haiku-4-5", ANTHROPIC_FIELDS),
        ("anthropic", "claude-haiku-5-5", {"stop_sequences": ["END", "###"]}),
        ("deepseek", "deepseek-flash", without(OPENAI_FIELDS, "seed")),
        ("deepseek", "deepseek-reasoner", {"stop": ["END", "###"]}),
        ("openrouter", "mistralai/mistral-large", ALL_FIELDS),
        ("openrouter", "openai/gpt-5-mini", {"seed": 7, "stop": ["END", "###"]}),
        ("openrouter", "anthropic/claude-haiku-5.5", {"seed": 7, "stop": ["END", "###"]}),
        ("ollama", "llama3.2", OPENAI_FIELDS),
        ("openai-compatible", "my-model", ALL_FIELDS),
        ("openai-compatible", "gpt-5-mini", {"seed": 7, "stop": ["END", "###"]}),
        ("openai-compatible", "anthropic/claude-haiku-5-5", {"seed": 7, "stop": ["END", "###"]}),
    ],
)
def test_settings_on_the_wire(provider: str, model: str, fields: dict[str, Any]) -> None:
    """Exactly the settings that the endpoint takes are sent, under its names for them."""
    names = {*ALL_FIELDS, *ANTHROPIC_FIELDS}
    with Wire() as wire:
        if provider in ("deepseek", "openrouter"):
            ask_redirected(wire, provider, model, sampling=EVERY_SETTING)
        else:
            url = wire.anthropic if provider == "anthropic" else wire.openai
            ask(endpoint(wire, provider, provider=provider, model=model, url=url), sampling=EVERY_SETTING)
    body = wire.requests[0].body
    assert {name: value for name, value in body.items() if name in names} == fields


@both
def test_without_settings_none_are_sent(protocol: str) -> None:
    with Wire() as wire:
        ask(endpoint(wire, protocol))
    assert not {*ALL_FIELDS, *ANTHROPIC_FIELDS} & wire.requests[0].body.keys()


def test_deepseek_gets_the_schema_in_the_prompt_and_json_mode() -> None:
    with Wire(Say(GOOD)) as wire:
        reply, body = ask_redirected(wire, "deepseek", "deepseek-flash", returns=Score, max_tokens=50)
    assert (reply.provider, reply.text) == ("deepseek", GOOD)
    assert body["max_tokens"] == 50
    assert body["response_format"] == {"type": "json_object"}
    assert "JSON schema" in body["messages"][-1]["content"]


def test_openrouter_gets_its_own_model_names_and_no_reasoning() -> None:
    with Wire(Say(GOOD)) as wire:
        reply, body = ask_redirected(wire, "openrouter", "openai/gpt-6-luna", returns=Score, max_tokens=50)
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
        remote = RemoteModel(endpoint(wire, "openai"))
        calling = asyncio.create_task(remote(call(), Listener()))
        await until(lambda: wire.requests)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        hold.set()
        assert (await remote(call(), Listener())).text == "Late."
        await remote.close()

    with Wire(Say("Late.", hold=hold)) as wire:
        asyncio.run(main(wire))


def test_one_remote_serves_several_event_loops() -> None:
    with Wire() as wire:
        remote = RemoteModel(endpoint(wire, "openai"))

        async def once() -> str:
            try:
                return (await remote(call(), Listener())).text
            finally:
                await remote.close()

        assert [asyncio.run(once()) for _ in range(3)] == ["Yes."] * 3


def test_anthropic_is_asked_to_cache_the_prompt() -> None:
    with Wire(Say("Yes.")) as wire:
        ask(endpoint(wire, "anthropic"), messages=TALK)
        assert wire.requests[0].body["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
