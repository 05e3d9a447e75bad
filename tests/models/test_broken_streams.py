"""Streams that break off, with the real clients against a loopback server."""

from __future__ import annotations

import pytest

from moot.core.errors import ModelOverloaded, StreamBrokeOff
from moot.core.types import Model, Usage
from moot.models.wrappers import with_backoff, with_cost
from tests.models.asking import ask, ask_redirected, both, endpoint
from tests.models.calls import Listener
from tests.models.wire import Say, Wire


@pytest.mark.slow
@both
def test_a_stream_that_breaks_is_overload_and_counts_what_was_written(protocol: str) -> None:
    listener = Listener()
    broken = Say("One two three four five", cut=3)
    with Wire(broken) as wire, pytest.raises(ModelOverloaded, match="broke off") as error:
        ask(endpoint(wire, protocol), listener, text="four" * 5)
    assert listener.text == "One two three"
    assert error.value.usage == Usage(tokens_in=5, tokens_out=4, cost_usd=None, estimated=True)


BROKEN = Say("One two", finish=None)


def retried(model: Model) -> Model:
    return with_backoff(model, 5, 0.001, 1)


ENDINGS = [
    pytest.param("openai", Say("One two three four", ends=2), id="openai, midway, with DONE"),
    pytest.param("openai", Say("One two three four", ends=2, done=False), id="openai, midway, without DONE"),
    pytest.param("openai", BROKEN, id="openai, usage but no reason"),
    pytest.param("anthropic", Say("One two three four", ends=2), id="anthropic, midway"),
]


@pytest.mark.parametrize(("protocol", "say"), ENDINGS)
def test_a_stream_that_ends_without_a_reason_is_broken_and_keeps_what_came(protocol: str, say: Say) -> None:
    with Wire(say) as wire, pytest.raises(StreamBrokeOff, match="broke off") as error:
        ask(endpoint(wire, protocol))
    reply = error.value.reply
    assert (reply.text, reply.finish_reason) == ("One two", "incomplete")
    assert error.value.usage == reply.usage
    assert reply.usage.tokens_out > 0


@pytest.mark.parametrize("provider", ["openai", "deepseek", "openrouter"])
def test_every_provider_tells_how_its_answer_ended(provider: str) -> None:
    with Wire(Say("One two", finish="length"), BROKEN) as wire:
        assert ask_redirected(wire, provider, "openai/m")[0].finish_reason == "length"
        with pytest.raises(StreamBrokeOff):
            ask_redirected(wire, provider, "openai/m")


@both
def test_a_stream_without_a_word_and_a_reason_is_overload(protocol: str) -> None:
    with Wire(Say("One", ends=0)) as wire, pytest.raises(ModelOverloaded) as error:
        ask(endpoint(wire, protocol))
    assert not isinstance(error.value, StreamBrokeOff)


def test_a_broken_stream_is_asked_for_again_and_the_note_says_when() -> None:
    with Wire(BROKEN, Say("Now all of it.")) as wire:
        reply = ask(endpoint(wire, "openai"), wrap=retried)
    assert (reply.text, reply.finish_reason, len(wire.requests)) == ("Now all of it.", "stop", 2)
    assert len(reply.attempts) == 1
    assert "ended without a finish reason. Trying again in " in reply.attempts[0]


def test_a_stream_that_always_breaks_off_is_kept_and_marked() -> None:
    def priced(model: Model) -> Model:
        return retried(with_cost(model, lambda usage: usage.tokens_out * 0.5))

    listener = Listener()
    with Wire(BROKEN) as wire:
        reply = ask(endpoint(wire, "openai"), listener, wrap=priced)
    assert (reply.text, listener.text, reply.finish_reason) == ("One two", "One two", "incomplete")
    assert len(wire.requests) == len(reply.attempts) == 3
    assert reply.usage.cost_usd == reply.usage.tokens_out * 0.5 > 0


def test_a_broken_stream_is_not_asked_for_again_past_the_budget() -> None:
    with Wire(Say("One two", finish=None, tokens=(10, 90, 0))) as wire:
        reply = ask(endpoint(wire, "openai"), wrap=retried, max_tokens=100, most_tokens=150)
    assert (reply.finish_reason, len(wire.requests)) == ("incomplete", 1)
