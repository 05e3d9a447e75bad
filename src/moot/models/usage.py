"""Token estimates, and the usage of failed attempts: wrappers add it to the reply or error that ends a call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from moot.core.errors import ModelError
from moot.core.types import CHARS_PER_TOKEN, Call, Message, Reply, Usage

NO_USAGE = Usage()
MOST_TOKENS = 100_000_000  # of one call: more than any model can read or write
MOST_CHARS, SLACK_CHARS = 16, 64  # more characters than this a token of a longer text does not have
ROOM = 4  # how many times its cap an answer may get that was cut off at it

_RUNS = re.compile(r"(\s|[^\w\s])\1{4,}")

E = TypeVar("E", bound=ModelError)


def estimate_tokens(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)


def counted(reported: int, chars: int) -> tuple[int, bool]:
    """The tokens of a text of so many characters, and whether they are estimated: where the provider reported none, or
    fewer than any tokenizer makes of such a text, or more than there can be."""
    if reported > MOST_TOKENS:
        return estimate_tokens(chars), True
    if reported * MOST_CHARS + SLACK_CHARS >= chars and reported > 0:
        return reported, False
    return max(reported, estimate_tokens(chars)), chars > 0


def telling_chars(text: str) -> int:
    """The length of a text in which repeated characters count a few times at most: one token may stand for many."""
    return len(_RUNS.sub(r"\1\1\1\1", text))


def count_chars(messages: Iterable[Message]) -> int:
    return sum([len(message.text) for message in messages])


def partial_usage(messages: Iterable[Message], chars_out: int) -> Usage | None:
    """Estimate the usage of a call that broke off. None if it wrote nothing: providers don't bill that."""
    if not chars_out:
        return None
    return Usage(
        tokens_in=estimate_tokens(count_chars(messages)),
        tokens_out=estimate_tokens(chars_out),
        cost_usd=None,
        estimated=True,
    )


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
