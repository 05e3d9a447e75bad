"""Memory's index over completed debates."""

from __future__ import annotations

import asyncio

from moot.store import Store
from tests.store.samples import completed, debate, entry


class MemoriesContract:
    async def test_unremembered_debates_come_newest_first(self, store: Store, clock):
        ids = []
        for n in (1, 2, 3):
            clock.now += 1
            ids.append((await completed(store, n)).id)
        await store.create(debate(4))
        other = await store.create(debate(5))
        await store.move(other.id, "canceled", expect=["pending"])
        for embedder in ("", "e1"):
            assert [d.id for d in await store.unremembered(embedder, 10)] == ids[::-1]
            assert [d.id for d in await store.unremembered(embedder, 2)] == ids[:0:-1]
        assert (await store.unremembered("", 1))[0] == await store.get(ids[2])
        await store.remember([entry(2), entry(3, embedder="e1", embedding=b"1234")])
        assert [d.id for d in await store.unremembered("", 10)] == ids[:1]
        # With an embedder, debates that lack its vector come after those that are not indexed at all.
        assert [d.id for d in await store.unremembered("e1", 10)] == ids[:2]
        first, *others = await store.unremembered("e2", 10)
        assert first.id == ids[0]
        assert {other.id for other in others} == set(ids[1:])
        await store.remember([entry(1)])
        assert await store.unremembered("", 10) == []
        before = await store.get(ids[0])
        await store.remember([])
        assert await store.get(ids[0]) == before

    async def test_search_ranks_by_number_and_rarity_of_words(self, store: Store):
        ids = [(await completed(store, n)).id for n in range(1, 9)]
        words = [["plan", "cach"], ["plan", "redis"], ["plan", "redis", "cach"], ["缓存", "plan"], ["plan", "plan"]]
        await store.remember([entry(n, words) for n, words in enumerate(words, 1)])
        await store.remember([entry(n, ["plan"]) for n in (6, 7, 8)])
        hits = await store.search(["redis", "cach"], 10)
        assert hits.ids[0] == ids[2]
        assert set(hits.ids) == set(ids[:3])
        assert hits.total == 8
        assert hits.document_frequency == {"redis": 2, "cach": 2}
        assert (await store.search(["缓存", "plan"], 1)).ids == [ids[3]]
        assert (await store.search(["plan", "redis"], 2)).document_frequency == {"plan": 8, "redis": 2}
        assert set((await store.search(["plan", "redis"], 2)).ids) == {ids[1], ids[2]}
        nothing = await store.search(["nowhere"], 10)
        assert (list(nothing.ids), dict(nothing.document_frequency)) == ([], {"nowhere": 0})
        assert list((await store.search([], 10)).ids) == []

    async def test_words_are_never_query_syntax(self, store: Store):
        await completed(store)
        await store.remember([entry(1, ["plan", "near", "and"])])
        for word in ('"', "'", "a*", "NEAR", "AND", "OR", "NOT", "x:y", "a-b", "(", "\\", "%", ";--", "|"):
            assert (await store.search([word, "plan"], 10)).ids == [debate(1).id], word
            assert list((await store.search([word], 10)).ids) in ([], [debate(1).id]), word

    async def test_search_filters_undecided_debates_and_demonstrations(self, store: Store):
        ids = [(await completed(store, n)).id for n in (1, 2, 3, 4)]
        kinds = [(True, False), (False, False), (True, True), (False, True)]
        await store.remember(
            [
                entry(n, ["plan"], embedder="e", embedding=b"1234", decided=decided, demonstration=demonstration)
                for n, (decided, demonstration) in enumerate(kinds, 1)
            ]
        )
        assert set((await store.search(["plan"], 10)).ids) == set(ids)
        assert set((await store.search(["plan"], 10, decided=True)).ids) == {ids[0], ids[2]}
        real = await store.search(["plan"], 10, decided=True, demonstrations=False)
        assert real.ids == [ids[0]]
        assert set((await store.search(["plan"], 10, demonstrations=False)).ids) == set(ids[:2])
        seen = (await store.vectors("e")).vectors
        assert [(vector.decided, vector.demonstration) for vector in seen] == kinds

    async def test_vectors_come_in_order_and_in_pages(self, store: Store):
        ids = [(await completed(store, n)).id for n in (1, 2, 3)]
        none = await store.vectors("e")
        assert (none.total, list(none.vectors)) == (0, [])
        made = [entry(n, embedder="e", embedding=bytes([n] * 8)) for n in (1, 2, 3)]
        await store.remember(made)
        first = await store.vectors("e", limit=2)
        assert first.total == 3
        assert [(v.debate_id, v.embedding) for v in first.vectors] == [(ids[n], bytes([n + 1] * 8)) for n in (0, 1)]
        rest = await store.vectors("e", first.vectors[-1].place)
        assert [v.debate_id for v in rest.vectors] == ids[2:]
        assert rest.total == 3
        assert list((await store.vectors("e", rest.vectors[-1].place)).vectors) == []
        assert (await store.vectors("other")).total == 0

    async def test_remembering_again_updates_the_vector_and_never_removes_it(self, store: Store):
        one = (await completed(store)).id
        await asyncio.gather(*(store.remember([entry(1, ["plan"])]) for _ in range(5)))
        assert (await store.search(["plan"], 10)).ids == [one]
        await store.remember([entry(1, ["plan"], embedder="e1", embedding=b"1111")])
        await store.remember([entry(1, ["plan"])])  # a process without an embedder
        assert [v.embedding for v in (await store.vectors("e1")).vectors] == [b"1111"]
        assert await store.unremembered("e1", 10) == []
        await store.remember([entry(1, ["plan"], embedder="e2", embedding=b"2222")])
        assert (await store.vectors("e1")).total == 0
        assert [v.embedding for v in (await store.vectors("e2")).vectors] == [b"2222"]
        assert (await store.search(["plan"], 10)).document_frequency == {"plan": 1}
        await store.remember([entry(9, ["plan"])])  # no such debate: ignored
        assert (await store.search(["plan"], 10)).ids == [one]

    async def test_embeddings_are_cached_by_hash(self, store: Store):
        assert await store.embeddings("e1", ["a", "b"]) == {}
        await store.keep_embeddings("e1", {"a": b"1", "b": b"\x00\xff"})
        await store.keep_embeddings("e2", {"a": b"2"})
        await store.keep_embeddings("e1", {"a": b"other"})
        await store.keep_embeddings("e1", {})
        assert await store.embeddings("e1", ["a", "b", "c"]) == {"a": b"1", "b": b"\x00\xff"}
        assert await store.embeddings("e2", ["a", "b"]) == {"a": b"2"}
        assert await store.embeddings("e1", []) == {}
