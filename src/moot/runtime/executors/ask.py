"""Executes `Ask` steps: calls a model."""

from __future__ import annotations

from moot.core.errors import BadOutput, LimitReached
from moot.core.limits import Limits
from moot.core.steps import Ask, Step
from moot.core.types import CHARS_PER_TOKEN, Call, Hear, Message, Models, Reply, Usage
from moot.runtime.budget import Allowance, Used, allow

REHEARSAL_MODEL = "sim:"
_ENOUGH_TOKENS = 1_000_000


class AskExecutor:
    waits = False
    live = True

    def __init__(self, models: Models) -> None:
        self._models = models

    def allow(self, step: Ask, limits: Limits, used: Used) -> Allowance | LimitReached:
        price = closing_price = None
        if limits.max_cost_usd is not None:
            price = self._models.price(step.seat.model)
            closing_price = self._models.price(step.leave.model if step.leave else step.seat.model)
        return allow(step, limits, used, price=price, closing_price=closing_price)

    async def execute(self, step: Ask, allowance: Allowance, hear: Hear) -> Reply:
        call = Call(
            key=step.key,
            seat=step.seat.id,
            messages=step.messages,
            max_tokens=allowance.max_tokens,
            tries=allowance.tries,
            most_tokens=allowance.tokens,
            sampling=step.seat.sampling,
            returns=step.returns,
            objection=step.objection,
        )
        try:
            return await self._models.open(step.seat.model)(call, hear)
        except BadOutput as error:
            if error.cut_at:
                error.args = (f"{str(error).rstrip('.')}. {_more_room(step, allowance, error.cut_at)}",)
            raise

    def estimate(self, step: Ask) -> Usage:
        return self._usage(step, step.max_tokens)

    async def rehearse(self, step: Ask, seed: int) -> Reply:
        if step.returns is None:
            most = step.max_tokens * CHARS_PER_TOKEN
            # Words that no other statement has: rules may take repeated ones for nothing said.
            words = " ".join(f"{step.key}#{n}" for n in range(most // len(step.key) + 1))
            return Reply(text=words[:most], model="", provider="")
        return await simulated(self._models, step, seed)

    def cut_off(self, step: Ask, chars: int) -> Usage:
        return self._usage(step, chars // CHARS_PER_TOKEN + 1) if chars else Usage()

    def _usage(self, step: Ask, tokens_out: int) -> Usage:
        tokens_in = sum(len(message.text) for message in step.messages) // CHARS_PER_TOKEN
        price = self._models.price(step.seat.model)
        cost = None if price is None else price.of(tokens_in, tokens_out)
        return Usage(tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost)


def _more_room(step: Ask, allowance: Allowance, cut_at: int) -> str:
    """Which setting would have let an answer end that its token cap cut off."""
    if allowance.shrunk:
        return "The budget left no more: raise max_total_output_tokens or max_cost_usd."
    if step.capped_by:
        return f"Its share is {step.max_tokens} tokens: set {step.capped_by} to more, so that it is above {cut_at}."
    return f"Set {step.seat.tier}_max_tokens (or seats.{step.seat.id}.max_tokens) to more than {cut_at}."


async def simulated(models: Models, step: Step, seed: int) -> Reply:
    """A valid answer of the step's type, made up by the simulated model."""
    messages: tuple[Message, ...] = ()
    call = Call(key=step.key, seat=step.seat.id, messages=messages, max_tokens=_ENOUGH_TOKENS, returns=step.returns)
    return await models.open(f"{REHEARSAL_MODEL}?seed={seed}")(call, lambda _: None)
