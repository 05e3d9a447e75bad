"""Debates: creation, lookup, keyset paging, and changes that are guarded by `seen`."""

from __future__ import annotations

import asyncio

import pytest

from moot.core.errors import NoSuchDebate
from moot.core.types import Debate, Gate, Shown
from moot.store import Commit, Store
from tests.store.samples import GATES, debate


class DebatesContract:
    def test_a_debate_comes_back_as_it_was_created(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1), events=[Shown(type="status", data={"status": "pending"})])
            assert made == await store.get(made.id)
            expected = debate(1, created_at=clock.now, updated_at=clock.now, last_seq=1)
            assert made == expected

        run(check)

    def test_a_missing_debate(self, run):
        async def check(store: Store):
            with pytest.raises(NoSuchDebate, match="nope"):
                await store.get("nope")
            assert await store.turns("nope") == []
            assert await store.events("nope") == []
            assert await store.claim("nope", "me", 10, expect=["pending"]) is None
            assert await store.move("nope", "canceled", expect=["pending"]) is None

        run(check)

    def test_ids_are_found_by_prefix(self, run):
        async def check(store: Store):
            for n in (0xAB000001, 0xAB000002, 0xCD000001):
                await store.create(debate(n))
            assert await store.find("ab") == [debate(0xAB000001).id, debate(0xAB000002).id]
            assert await store.find("cd00") == [debate(0xCD000001).id]
            assert await store.find("%") == []
            assert await store.find("ab000001-0000-4000-8000-000000000000") == [debate(0xAB000001).id]

        run(check)

    def test_pages_are_newest_first_filtered_and_complete(self, run, clock):
        async def check(store: Store):
            for n in range(7):
                clock.now += 1 if n % 2 else 0  # some share a time stamp
                await store.create(debate(n, format="duel" if n < 5 else "classic"))
            await store.move(debate(3).id, "canceled", expect=["pending"])
            seen, after = [], None
            while True:
                page = await store.page(limit=3, after=after)
                seen += [d.id for d in page.debates]
                after = page.next
                if after is None:
                    break
            assert len(seen) == len(set(seen)) == 7
            stamps = [(await store.get(i)).created_at for i in seen]
            assert stamps == sorted(stamps, reverse=True)
            assert [d.id for d in (await store.page(status="canceled")).debates] == [debate(3).id]
            assert {d.id for d in (await store.page(format="classic")).debates} == {debate(5).id, debate(6).id}
            assert (await store.page(status="canceled", format="classic")).debates == []

        run(check)

    @pytest.mark.parametrize(
        ("contains", "found"),
        [
            ("redis", {0, 1}),
            ("REDIS OR", {0}),
            ("100%", {1}),
            ("0%_", {1}),
            ("%", {1}),
            ("_", {1, 2}),
            ("\\", {2}),
            ("'", {2}),
            ("ÉCOLE", {3}),
            ("école", {3}),
            ("你好", {4}),
            (" ", {0, 1, 3}),
            ("nowhere", set()),
            ("\0", set()),
        ],
    )
    def test_a_page_filters_topics_by_substring_ignoring_case(self, run, contains, found):
        topics = ["Redis or PostgreSQL?", "Is redis 100%_ sure?", "it's\\a_path", "L'École ou pas ?", "你好"]

        async def check(store: Store):
            for n, topic in enumerate(topics):
                await store.create(debate(n, topic=topic.replace("L'", "L’")))
            page = await store.page(contains=contains)
            assert {d.id for d in page.debates} == {debate(n).id for n in found}

        run(check)

    def test_a_page_filters_by_parent(self, run):
        async def check(store: Store):
            one, two = debate(1).id, debate(2).id
            for n, parent in enumerate([None, None, None, one, two, one], 1):
                await store.create(debate(n, parent_id=parent, forked_at=parent and "1/speak/a"))
            assert [d.id for d in (await store.page(parent=one)).debates] == [debate(6).id, debate(4).id]
            assert [d.id for d in (await store.page(parent=two)).debates] == [debate(5).id]
            assert (await store.page(parent=debate(3).id)).debates == []
            assert (await store.page(parent="nope")).debates == []

        run(check)

    def test_a_page_filters_by_what_was_asked_before(self, run):
        async def check(store: Store):
            one, two = debate(1).id, debate(2).id
            for n, follows in enumerate([None, None, one, two, one], 1):
                await store.create(debate(n, follows=follows))
            assert [d.id for d in (await store.page(follows=one)).debates] == [debate(5).id, debate(3).id]
            assert [d.id for d in (await store.page(follows=two)).debates] == [debate(4).id]
            assert (await store.page(follows="nope")).debates == []

        run(check)

    @pytest.mark.parametrize("change", ["move", "claim", "rate", "guide", "decide"])
    def test_a_change_is_refused_when_the_debate_changed_since_it_was_seen(self, run, clock, change):
        async def changed(store: Store, seen: Debate | None):
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

        async def check(store: Store):
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
                assert await changed(store, seen) is not None
            between = await store.get(seen_id)
            assert between.updated_at > seen.updated_at
            assert await changed(store, seen) is None
            assert await store.get(seen_id) == between  # nothing was changed
            assert [gate.status for gate in await store.gates(seen_id) if gate.key == GATES[0]] == ["open"]
            assert await changed(store, between) is not None
            if change != "decide":
                assert await changed(store, None) is not None

        seen_id = debate(1).id
        run(check)

    def test_of_concurrent_changes_to_one_version_one_is_made(self, run, clock):
        async def check(store: Store):
            await store.create(debate(1))
            for n in range(10):
                clock.now += 1
                seen = await store.get(debate(1).id)
                clock.now += 1
                made = await asyncio.gather(*(store.guide(seen.id, f"{n}", by=f"{i}", seen=seen) for i in range(8)))
                assert len([gate for gate in made if gate is not None]) == 1
            assert (await store.get(debate(1).id)).guided == len(await store.gates(debate(1).id)) == 10

        run(check)

    def test_filtered_pages_are_complete(self, run, clock):
        async def check(store: Store):
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
            seen, after = [], None
            while True:
                page = await store.page(
                    contains="tea", parent=parent, format="duel", status="pending", limit=2, after=after
                )
                assert len(page.debates) <= 2
                seen += [d.id for d in page.debates]
                after = page.next
                if after is None:
                    break
            assert seen == [d.id for d in reversed(wanted)]

        run(check)
