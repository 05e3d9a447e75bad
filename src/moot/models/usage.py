"""Token estimates, and the usage of failed attempts: wrappers add it to the reply or error that ends a call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from moot.core.errors import ModelError
from moot.core.types import CHARS_PER_TOKEN, Call, Message, Reply, Usage

NO_USAGE = Usage()
ROOM = 4  # how many times its cap an answer may get that was cut off at it

E = TypeVar("E", bound=ModelError)


def estimate_tokens(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)


def count_chars(messages: Iterable[Message]) -> int:
    return sum([len(message.text) for message in messages])


def partial_usage(messages: Iterable[Message], chars_out: int) -> Usage | None:
    """Estimate the usage of a call that broke off. None if it wrote nothing: providers don't bill that."""
    if not chars_out:
        return None
    return Usage(tokens_in=estimate_tokens(count_chars(messages)), tokens_out=estimate_tokens(chars_out), cost_usd=None)


def next_attempt(call: Call, used: Usage) -> Call | None:
    """Return the call for another attempt, or None if that could exceed `call.most_tokens`.

    `used` is what earlier attempts of this call used.
    """
    if call.most_tokens is None:
        return call
    left = call.most_tokens - used.tokens_out
    return replace(call, most_tokens=left) if left >= call.max_tokens else None


def roomier(call: Call, asked: Call, used: Usage) -> Call | None:
    """Return the call with twice the cap of `asked`, at most ROOM times its own, or None if the budget has no room.

    `used` is what earlier attempts of this call used.
    """
    most = min(2 * asked.max_tokens, ROOM * call.max_tokens)
    left = None if call.most_tokens is None else call.most_tokens - used.tokens_out
    cap = most if left is None else min(most, left)
    return replace(call, max_tokens=cap, most_tokens=left) if cap > asked.max_tokens else None


def charge_error(error: E, earlier: Usage) -> E:
    """Add the usage of earlier attempts to the error that ends a call."""
    if earlier != NO_USAGE:
        error.usage = earlier if error.usage is None else earlier + error.usage
    return error


def charge_reply(reply: Reply, earlier: Usage, attempts: tuple[str, ...]) -> Reply:
    """Add the usage of earlier attempts, and why they failed, to the reply that ends a call."""
    if not attempts and earlier == NO_USAGE:
        return reply
    return replace(reply, usage=earlier + reply.usage, attempts=attempts + reply.attempts)
