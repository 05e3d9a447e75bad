from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from moot.core.errors import InputError, ModelUnavailable
from moot.core.settings import Settings
from moot.core.types import Price, Turn
from moot.models.registry import ModelRegistry
from tests.models.calls import GOOD, Listener, Score, call


def turn(key: str, content: str, raw: str | None = None) -> Turn:
    return Turn(
        key=key, seq=1, kind="ask", round=1, phase="", seat="a", role="", content=content, raw=raw, model="m",
        tokens_in=7, tokens_out=3, cost_usd=1.5,
    )  # fmt: skip


def recorded() -> tuple[ModelRegistry, list[str]]:
    asked: list[str] = []

    async def load(debate: str) -> Mapping[str, Turn]:
        asked.append(debate)
        return {"1/say/a": turn("1/say/a", "Yes."), "1/score/a": turn("1/score/a", "7 for a", GOOD)}

    return ModelRegistry(Settings(), environ={}, replay=load), asked


def test_recorded_turns_are_replayed_at_no_cost() -> None:
    registry, asked = recorded()
    model = registry.open("replay:3f2a")
    listener = Listener()

    async def main() -> None:
        reply = await model(call(), listener)
        assert (reply.text, reply.model, reply.usage.tokens_out, reply.usage.cost_usd) == ("Yes.", "m", 3, 0.0)
        scored = await model(call(key="1/score/a", returns=Score), listener)
        assert scored.answer == Score(reasoning="Fair.", score=7, winner="a")

    asyncio.run(main())
    assert asked == ["3f2a"]
    assert listener.heard == ["Yes.", GOOD]
    assert registry.price("replay:3f2a") == Price(usd_in=0, usd_out=0)


def test_a_step_that_was_not_recorded_is_named() -> None:
    registry, _ = recorded()
    with pytest.raises(ModelUnavailable, match="Debate 3f2a has no turn '2/say/a'"):
        asyncio.run(registry.open("replay:3f2a")(call(key="2/say/a"), Listener()))


def test_without_a_loader_it_is_refused() -> None:
    with pytest.raises(InputError, match="can't be replayed here"):
        ModelRegistry(Settings(), environ={}).check("replay:3f2a")
