"""Budgets: whether a call may be made, and with how many tokens. Checked before each call, outside the model."""

from __future__ import annotations

import json
from functools import lru_cache

from moot.core.amounts import count
from moot.core.errors import LimitReached
from moot.core.limits import Limits
from moot.core.steps import Ask
from moot.core.types import Answer, Message, Price, TextAnswer, record

TRIES = 3
LEAST_TOKENS = 16  # less than this is no answer worth paying for
MESSAGE_OVERHEAD = 8  # tokens a chat template adds to a message


@record
class Allowance:
    """The most that a call may use. It is reserved until the call has ended."""

    max_tokens: int
    tries: int
    tokens: int
    cost_usd: float
    shrunk: bool = False  # the limits leave less than the step asks for


@record
class Used:
    """What a debate has used so far: spent, lost, and reserved for calls in flight."""

    tokens_out: int = 0
    cost_usd: float = 0.0
    calls: int = 0


def allow(
    step: Ask, limits: Limits, used: Used, *, price: Price | None, closing_price: Price | None
) -> Allowance | LimitReached:
    """Fit a call into what the limits leave; `used` is everything spent, lost and reserved so far."""
    tries, tokens, cost = TRIES, step.max_tokens, 0.0
    least = min(LEAST_TOKENS, step.max_tokens)
    if limits.max_calls is not None:
        calls = limits.max_calls - used.calls - (step.leave.calls if step.leave else 0)
        if calls < 1:
            kept = limits.max_calls - used.calls
            are = "is" if kept == 1 else "are"
            why = f"The {count(kept, 'call')} left {are} kept for the end" if kept > 0 else "No calls are left"
            return LimitReached("max_calls", f"{why}; {step.key} was not asked.")
        tries = min(tries, calls)
    cap = limits.max_total_output_tokens
    if cap is not None:
        left = cap - used.tokens_out - (step.leave.tokens if step.leave else 0)
        if left < least:
            return LimitReached(
                "max_total_output_tokens", f"{_left(left)} output tokens are left; {step.key} was not asked."
            )
        tokens = min(tokens, left)
        tries = min(tries, left // tokens)
    if limits.max_cost_usd is not None:
        if price is None or closing_price is None:
            unknown = step.seat.model if price is None else step.leave.model if step.leave else ""
            return LimitReached(
                "max_cost_usd", f"The price of {unknown} is not known, so {step.key} could not be budgeted."
            )
        tokens_in = most_tokens(step.messages) + (_shape_tokens(step.returns) if step.returns else 0)
        left_usd = limits.max_cost_usd - used.cost_usd - _closing_cost(step, tokens_in, closing_price)
        while tries > 1 and tries * price.of(tokens_in, tokens) > left_usd:
            tries -= 1
        if price.of(tokens_in, tokens) > left_usd:
            tokens = int((left_usd - price.of(tokens_in, 0)) * 1_000_000 / price.usd_out) if price.usd_out else 0
            if tokens < least:
                return LimitReached(
                    "max_cost_usd", f"${max(left_usd, 0.0):.4f} is left; {step.key} could cost more and was not asked."
                )
        cost = tries * price.of(tokens_in, tokens)
    in_all = tokens * tries if step.most_tokens is None else max(tokens, min(tokens * tries, step.most_tokens))
    return Allowance(max_tokens=tokens, tries=tries, tokens=in_all, cost_usd=cost, shrunk=tokens < step.max_tokens)


def most_tokens(messages: list[Message]) -> int:
    """An upper bound of the tokens: no tokenizer makes more of them than there are bytes."""
    return sum(len(message.text.encode()) + MESSAGE_OVERHEAD for message in messages)


@lru_cache(maxsize=512)
def _shape_tokens(returns: type[Answer]) -> int:
    """The most tokens that the schema of a typed answer adds to its prompt."""
    if issubclass(returns, TextAnswer):
        return 0
    return len(json.dumps(returns.model_json_schema()).encode()) + 120


def _closing_cost(step: Ask, tokens_in: int, price: Price) -> float:
    """What the closing steps may cost: each reads about as much as this step does."""
    return price.of(tokens_in * step.leave.calls, step.leave.tokens) if step.leave else 0.0


def _left(tokens: int) -> str:
    return "No" if tokens <= 0 else f"Only {tokens}"
