from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from moot.errors import InputError, ModelUnavailable
from moot.models.shelf import Shelf
from moot.settings import Settings
from moot.types import Price, Turn
from tests.models.asking import GOOD, Ear, Score, call


def turn(key: str, content: str, raw: str | None = None) -> Turn:
    return Turn(
        key=key, seq=1, kind="ask", round=1, phase="", seat="a", role="", content=content, raw=raw, model="m",
        tokens_in=7, tokens_out=3, cost_usd=1.5,
    )  # fmt: skip


def shelf() -> tuple[Shelf, list[str]]:
    asked: list[str] = []

    async def load(debate: str) -> Mapping[str, Turn]:
        asked.append(debate)
        return {"1/say/a": turn("1/say/a", "Yes."), "1/score/a": turn("1/score/a", "7 for a", GOOD)}

    return Shelf(Settings(), environ={}, replay=load), asked


def test_recorded_words_are_said_again_for_free() -> None:
    models, asked = shelf()
    model = models.open("replay:3f2a")
    ear = Ear()

    async def main() -> None:
        reply = await model(call(), ear)
        assert (reply.text, reply.model, reply.usage.tokens_out, reply.usage.cost_usd) == ("Yes.", "m", 3, 0.0)
        scored = await model(call(key="1/score/a", returns=Score), ear)
        assert scored.answer == Score(reasoning="Fair.", score=7, winner="a")

    asyncio.run(main())
    assert asked == ["3f2a"]
    assert ear.heard == ["Yes.", GOOD]
    assert models.price("replay:3f2a") == Price(usd_in=0, usd_out=0)


def test_a_step_that_was_not_recorded_is_named() -> None:
    models, _ = shelf()
    with pytest.raises(ModelUnavailable, match="Debate 3f2a has no turn '2/say/a'"):
        asyncio.run(models.open("replay:3f2a")(call(key="2/say/a"), Ear()))


def test_without_a_loader_it_is_refused() -> None:
    with pytest.raises(InputError, match="can't be replayed here"):
        Shelf(Settings(), environ={}).check("replay:3f2a")
