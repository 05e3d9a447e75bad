"""Debates: creation, lookup, keyset paging, and changes that are guarded by `seen`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from moot.core.errors import NoSuchDebate
from moot.core.types import Debate, Gate, Shown
from moot.store import Commit, Store
from tests.store.samples import GATES, debate


async def all_pages(store: Store, limit: int, **filters: Any) -> list[str]:
    """The ids on all pages, one page after the other."""
    page = await store.page(limit=limit, **filters)
    seen = [d.id for d in page.debates]
    while page.next is not None:
        page = await store.page(limit=limit, after=page.next, **filters)
        assert len(page.debates) <= limit
        seen += [d.id for d in page.debates]
    return seen


class DebatesContract:
    async def test_a_debate_comes_back_as_it_was_created(self, store: Store, clock):
        made = await store.create(debate(1), events=[Shown(type="status", data={"status": "pending"})])
        assert made == await store.get(made.id)
        expected = debate(1, created_at=clock.now, updated_at=clock.now, last_seq=1)
        assert made == expected

    async def test_a_missing_debate(self, store: Store):
        with pytest.raises(NoSuchDebate, match="nope"):
            await store.get("nope")
        assert await store.turns("nope") == []
        assert await store.events("nope") == []
        assert await store.claim("nope", "me", 10, expect=["pending"]) is None
        assert await store.move("nope", "canceled", expect=["pending"]) is None

    async def test_ids_are_found_by_prefix(self, store: Store):
        for n in (0xAB000001, 0xAB000002, 0xCD000001):
            await store.create(debate(n))
        assert await store.find("ab") == [debate(0xAB000001).id, debate(0xAB000002).id]
        assert await store.find("cd00") == [debate(0xCD000001).id]
        assert await store.find("%") == []
        assert await store.find("ab000001-0000-4000-8000-000000000000") == [debate(0xAB000001).id]

    async def test_pages_are_newest_first_filtered_and_complete(self, store: Store, clock):
        for n in range(7):
            clock.now += 1 if n % 2 else 0  # some share a time stamp
            await store.create(debate(n, format="duel" if n < 5 else "classic"))
        await store.move(debate(3).id, "canceled", expect=["pending"])
        seen = await all_pages(store, limit=3)
        assert len(seen) == len(set(seen)) == 7
        stamps = [(await store.get(i)).created_at for i in seen]
        assert stamps == sorted(stamps, reverse=True)
        assert [d.id for d in (await store.page(status="canceled")).debates] == [debate(3).id]
        assert {d.id for d in (await store.page(format="classic")).debates} == {debate(5).id, debate(6).id}
        assert (await store.page(status="canceled", format="classic")).debates == []

    async def test_a_page_filters_topics_by_substring_ignoring_case(self, store: Store):
        for n, topic in enumerate(
            ["Redis or PostgreSQL?", "Is redis 100%_ sure?", "it's\\a_path", "L’École ?", "你好"]
        ):
            await store.create(debate(n, topic=topic))
        expected = {
            "redis": {0, 1},
            "REDIS OR": {0},
            "0%_": {1},
            "%": {1},
            "_": {1, 2},
            "\\": {2},
            "'": {2},
            "ÉCOLE": {3},
            "école": {3},
            "你好": {4},
            " ": {0, 1, 3},
            "nowhere": set(),
            "\0": set(),
        }
        for contains, places in expected.items():
            page = await store.page(contains=contains)
            assert {d.id for d in page.debates} == {debate(n).id for n in places}, contains

    @pytest.mark.parametrize(("column", "name"), [("parent_id", "parent"), ("follows", "follows")])
    async def test_a_page_filters_by_the_debate_that_it_comes_from(self, store: Store, column, name):
        one, two = debate(1).id, debate(2).id
        for n, before in enumerate([None, None, None, one, two, one], 1):
            await store.create(debate(n, **{column: before}))
        expected = {one: [6, 4], two: [5], debate(3).id: [], "nope": []}
        for before, places in expected.items():
            found = (await store.page(**{name: before})).debates
            assert [d.id for d in found] == [debate(n).id for n in places]

    @pytest.mark.parametrize("change", ["move", "claim", "rate", "guide", "decide"])
    async def test_a_change_is_refused_when_the_debate_changed_since_it_was_seen(self, store: Store, clock, change):
        seen_id = debate(1).id

        async def changed(seen: Debate | None):
            clock.now += 1
            if change == "move":
                return await store.move(seen_id, "stopping", expect=["running", "stopping"], seen=seen)
            if change == "claim":
                return await store.claim(seen_id, "you", 0, expect=["running"], dead="me", seen=seen)
            if change == "rate":
                return await store.rate(seen_id, 4, seen=seen)
            if change == "guide":
                return await store.guide(seen_id, "Look.", by="ann", seen=seen)
            return await store.decide(seen_id, GATES[0], {"choice": "end"}, by="ann", seen=seen)

        await store.create(debate(1))
        await store.claim(seen_id, "me", 10, expect=["pending"])
        gates = [Gate(debate_id=seen_id, key=key, kind="checkpoint", question="?") for key in GATES]
        status = "completed" if change == "rate" else None
        await store.commit(Commit(debate_id=seen_id, epoch=1, gates=gates, status=status))
        seen = await store.get(seen_id)
        clock.now += 1
        if change == "decide":  # another gate of the same debate
            assert await store.decide(seen_id, GATES[1], {"choice": "end"}, by="bob", seen=seen) is not None
        else:
            assert await changed(seen) is not None
        between = await store.get(seen_id)
        assert between.updated_at > seen.updated_at
        assert await changed(seen) is None
        assert await store.get(seen_id) == between  # nothing was changed
        assert [gate.status for gate in await store.gates(seen_id) if gate.key == GATES[0]] == ["open"]
        assert await changed(between) is not None
        if change != "decide":
            assert await changed(None) is not None

    async def test_of_concurrent_changes_to_one_version_one_is_made(self, store: Store, clock):
        await store.create(debate(1))
        for n in range(10):
            clock.now += 1
            seen = await store.get(debate(1).id)
            clock.now += 1
            made = await asyncio.gather(*(store.guide(seen.id, f"{n}", by=f"{i}", seen=seen) for i in range(8)))
            assert len([gate for gate in made if gate is not None]) == 1
        assert (await store.get(debate(1).id)).guided == len(await store.gates(debate(1).id)) == 10

    async def test_filtered_pages_are_complete(self, store: Store, clock):
        parent, wanted = debate(900).id, []
        for n in range(60):
            clock.now += 1 if n % 4 == 0 else 0  # some share a time stamp
            right = n % 3 == 0
            made = debate(
                n, topic=f"Tea {n}?" if right else "Coffee?", parent_id=parent if n % 2 == 0 else None,
                format="duel" if n % 5 else "classic",
            )  # fmt: skip
            await store.create(made)
            wanted += [made] if right and n % 2 == 0 and made.format == "duel" else []
        seen = await all_pages(store, contains="tea", parent=parent, format="duel", status="pending", limit=2)
        assert seen == [d.id for d in reversed(wanted)]
