"""The ceilings of the operator outside of a drive: whether a caller may spend at all, and single calls of models."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace

from moot.core.ceilings import Reserved, check_call, daily, in_money
from moot.core.errors import InputError, ModelError
from moot.core.settings import Ceilings
from moot.core.types import Call, Models, Reply, Usage
from moot.runtime.budget import most_tokens
from moot.store import Budgets


async def check_budget(store: Budgets, ceilings: Ceilings, token_id: str) -> None:
    """Raises OverBudget if the ceilings leave the token, or the local user, nothing to spend today."""
    refused = (await store.today(token_id)).refusal(ceilings) if daily(ceilings) else None
    if refused is not None:
        raise refused


def check_price(models: Models, ceilings: Ceilings, spec: str) -> None:
    """Raises InputError if there is a ceiling in money and the price of a model is not known."""
    if in_money(ceilings) and models.price(spec) is None:
        raise InputError(
            f"The price of {spec} is not known, so the operator's ceilings in money can't be kept. Choose a model "
            "with a known price; only the operator can lift the ceilings."
        )


async def call_once(
    store: Budgets, models: Models, ceilings: Ceilings, spec: str, call: Call, *, token_id: str
) -> Reply:
    """Call a model outside of a debate, within the ceilings of a debate and of the day, and book what it used. Raises
    InputError, or OverBudget, before anything is spent."""
    check_price(models, ceilings, spec)
    price, name = models.price(spec), f"call/{uuid.uuid4()}"
    cost = 0.0 if price is None else price.of(most_tokens(list(call.messages)), call.max_tokens)
    most = Reserved(cost_usd=cost, tokens=call.max_tokens)
    check_call(ceilings, most)
    refused = await store.reserve(name, token_id, 0, most, ceilings) if daily(ceilings) else None
    if refused is not None:
        raise refused
    used = Usage(tokens_out=most.tokens, cost_usd=cost)  # unless it is known better: the caller may go away
    try:
        reply = await models.open(spec)(replace(call, tries=1, most_tokens=call.max_tokens), lambda _: None)
        used = reply.usage
        return reply
    except ModelError as error:
        used = error.usage or Usage()
        raise
    finally:
        await asyncio.shield(store.book(name, token_id, 0, used))
