"""What embeddings cost is reserved, booked and kept within limits; where nothing is left, words alone are compared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.core.ceilings import Reserved, Spending
from moot.core.errors import ModelUnavailable
from moot.core.limits import Limits
from moot.core.settings import Ceilings
from moot.core.stage import Stage
from moot.core.steps import Recall
from moot.core.types import Asker, Outcome, Price, Usage
from moot.memory.archive import Archive
from moot.memory.embedder_session import BATCH
from moot.memory.paying import Payer
from moot.runtime.budget import Used
from moot.runtime.executors.executor import FREE
from moot.runtime.executors.recall import RecallExecutor
from moot.store import Store
from moot.store.sqlite import SqliteStore
from tests.core.test_script import DONE, script
from tests.memory.embedders import Topics
from tests.store.samples import debate

DOLLAR = Price(usd_in=1.0, usd_out=0.0)  # for a million tokens
PAIR = [("one text", "another text")]
ONE_CALL = sum(len(text) + 8 for text in PAIR[0]) / 1_000_000  # the most that comparing them may cost


class Paid(Topics):
    """Says that a text costs a millionth of a dollar for each character."""

    fails_after: int | None = None  # texts

    async def __call__(self, texts):
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise ModelUnavailable("topics is overloaded.")
        vectors, _ = await super().__call__(texts)
        chars = sum(map(len, texts))
        return vectors, Usage(tokens_in=chars, cost_usd=chars / 1_000_000)


@asynccontextmanager
async def an_archive(
    folder: Path, price: Price | None = DOLLAR, **ceilings: Any
) -> AsyncIterator[tuple[Archive, Store, Paid]]:
    store, embedder = SqliteStore(folder / "moot.db"), Paid({"odds": ["coin"]})
    archive = Archive(
        lambda: store,
        lambda: embedder,
        templates=lambda: None,
        is_demonstration=lambda debate: False,
        price=lambda: price,
        ceilings=lambda: Ceilings(**ceilings),
    )
    try:
        yield archive, store, embedder
    finally:
        await store.close()


def a_recall() -> Recall:
    async def rules(stage: Stage) -> Outcome:
        await stage.recall("look", "caches", corpus="templates", k=2)
        return DONE

    playing = script(rules)
    playing.begin()
    [step] = playing.open.values()
    assert isinstance(step, Recall)
    return step


async def test_what_it_costs_is_booked_for_the_token_of_the_debate(tmp_path):
    async with an_archive(tmp_path, day_usd=1) as (archive, store, embedder):
        made = await store.create(debate(1, token_id="ann"))
        likeness, usage = await archive.compare(PAIR, Asker(debate_id=made.id))
        assert (likeness.by, usage.cost_usd) == (embedder.name, 20 / 1_000_000)
        today = await store.today("ann")
        assert today.caller == today.all == Spending(cost_usd=20 / 1_000_000)
        found = await archive.past.search("coins", 3, payer=Payer(token_id="bob"))
        assert (await store.today("bob")).caller.cost_usd == (found.usage.cost_usd or 0.0)


@pytest.mark.parametrize("whose", ["caller_usd", "day_usd"])
async def test_where_a_ceiling_is_reached_words_alone_are_compared(tmp_path, whose):
    async with an_archive(tmp_path, **{whose: 1.2 * ONE_CALL}) as (archive, *_):
        (first, _), (second, usage) = [await archive.compare([(f"{n} text", "another text")]) for n in range(2)]
        assert len(first.scores) == 1
        assert (second.scores, usage) == ((), Usage())
        assert "Only words were compared. Today's budget is used up" in second.note
        found, _ = await archive.recall("Which attackers could break into our API?", "templates", 3)
        assert (found.by, found.found[0].id) == ("bm25", "threat-model")
        assert "Today's budget is used up" in found.note


async def test_calls_at_once_stay_within_the_day(tmp_path):
    async with an_archive(tmp_path, day_usd=2.5 * ONE_CALL) as (archive, store, _):
        done = await asyncio.gather(*(archive.compare([(f"{n}ne text", "another text")]) for n in range(8)))
        assert 2 <= sum(bool(likeness.scores) for likeness, _ in done) <= 4, (
            "of 8, as what one has left over is free again"
        )
        assert (await store.today("")).all.most_usd <= 2.5 * ONE_CALL


async def test_vectors_that_were_paid_for_outlast_a_call_that_fails(tmp_path):
    async with an_archive(tmp_path) as (archive, store, embedder):
        texts = {f"hash {n}": f"coin {n}" for n in range(BATCH + 10)}
        embedder.fails_after = BATCH
        assert await archive._vectors(texts, archive._session(Payer())) is None
        kept = await store.embeddings(embedder.name, list(texts))
        assert len(kept) == BATCH
        embedder.fails_after = None
        embedder.asked.clear()
        vectors = await archive._vectors(texts, archive._session(Payer()))
        assert vectors is not None
        assert vectors.keys() == texts.keys()
        assert embedder.asked == [f"coin {n}" for n in range(BATCH, BATCH + 10)], "only the rest is paid for"


async def test_a_debates_limit_is_kept(tmp_path):
    async with an_archive(tmp_path) as (archive, *_):
        likeness, usage = await archive.compare(PAIR, Asker(room_usd=ONE_CALL / 2))
        assert (likeness.scores, usage) == ((), Usage())
        assert "is left for topics, which could cost more" in likeness.note
        likeness, _ = await archive.compare(PAIR, Asker(room_usd=ONE_CALL))
        assert len(likeness.scores) == 1


async def test_a_price_that_is_not_known_can_not_be_kept_within_a_limit(tmp_path):
    async with an_archive(tmp_path, price=None, debate_usd=1.0) as (archive, *_):
        for asker in (Asker(), Asker(room_usd=1.0)):
            likeness, _ = await archive.compare(PAIR, asker)
            assert likeness.scores == ()
            assert "The price of topics is not known" in likeness.note
    async with an_archive(tmp_path, price=None) as (archive, store, _):
        likeness, _ = await archive.compare(PAIR)
        assert len(likeness.scores) == 1
        assert (await store.today("")).all.cost_usd == 20 / 1_000_000


async def test_an_embedder_that_costs_nothing_is_not_reserved(tmp_path):
    async with an_archive(tmp_path, price=Price(usd_in=0.0, usd_out=0.0), day_usd=1.0) as (archive, store, _):
        await store.reserve("all", "", 0, Reserved(cost_usd=1.0), Ceilings(day_usd=1.0))
        likeness, _ = await archive.compare(PAIR, Asker(room_usd=0.0))
        assert len(likeness.scores) == 1


async def test_a_step_reserves_what_its_embedder_may_cost(tmp_path):
    async with an_archive(tmp_path) as (archive, *_):
        executor, step = RecallExecutor(archive), a_recall()
        assert executor.allow(step, Limits(), Used()) is FREE
        ample = executor.allow(step, Limits(max_cost_usd=5.0), Used())
        assert ample.cost_usd == archive.most_usd([step.prompt.text])
        little = executor.allow(step, Limits(max_cost_usd=5.0), Used(cost_usd=4.9))
        assert little.cost_usd == pytest.approx(0.1)
        none = executor.allow(step, Limits(max_cost_usd=5.0), Used(cost_usd=6.0))
        assert (none.cost_usd, none.tokens) == (0.0, 0)
