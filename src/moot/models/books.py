"""What attempts cost: estimates where a provider did not say, and sums that travel with replies and errors. And a log
of calls, for models that keep one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from moot.errors import ModelError
from moot.types import CHARS_PER_TOKEN, Call, Message, Reply, Usage

NOTHING = Usage()

E = TypeVar("E", bound=ModelError)


def tokens_of(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)


def chars_in(messages: Iterable[Message]) -> int:
    return sum([len(message.text) for message in messages])


def started(messages: Iterable[Message], chars_out: int) -> Usage | None:
    """What a call that broke off has used up; None when nothing was written, as then nothing is billed."""
    if not chars_out:
        return None
    return Usage(tokens_in=tokens_of(chars_in(messages)), tokens_out=tokens_of(chars_out), cost_usd=None)


def again(call: Call, used: Usage) -> Call | None:
    """The call for another attempt after `used`; None when that could exceed what all attempts may use together."""
    if call.most_tokens is None:
        return call
    left = call.most_tokens - used.tokens_out
    return replace(call, most_tokens=left) if left >= call.max_tokens else None


def charge(error: E, earlier: Usage) -> E:
    """Put the usage of earlier attempts on the error that ends them."""
    if earlier != NOTHING:
        error.usage = earlier if error.usage is None else earlier + error.usage
    return error


def credit(reply: Reply, earlier: Usage, attempts: tuple[str, ...]) -> Reply:
    """Put the usage and the reasons of earlier attempts on the reply that ends them."""
    if not attempts and earlier == NOTHING:
        return reply
    return replace(reply, usage=earlier + reply.usage, attempts=attempts + reply.attempts)


def append(log: str | Path, line: str) -> None:
    """One append of one line: several processes may share the file."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
