"""Deleting debates, and copying them from one database to another."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from moot.core.artifacts import stored_id
from moot.core.errors import DebateDeleted, InputError, NoSuchDebate
from moot.core.types import Cursor, Debate, Gate, Shown
from moot.store import Commit, DebateCopy, IdempotencyKey, Store
from moot.store.copies import arriving, checked
from tests.store.samples import OUTCOME, Clock, debate, entry, produced, turn


async def lived(store: Store, n: int = 1, *, status: Any = None) -> Debate:
    """A debate that has something in every table; running, unless `status` is given."""
    made = await store.create(debate(n), events=[Shown(type="status", data={"status": "pending"})])
    await store.claim(made.id, "me", 10, expect=["pending"])
    said = turn()
    asked = Gate(debate_id=made.id, key="1/checkpoint", kind="checkpoint", question="Go on?", choices=("yes",))
    await store.commit(
        Commit(
            debate_id=made.id,
            epoch=1,
            turns=[said],
            events=[Shown(type="SAID", key=said.key, turn=said)],
            cursor=Cursor(open=("2/speak/b",), next_round=2, next_actor="b"),
            gates=[asked],
            artifacts=produced(made),
            shown=1,
        )
    )
    await store.guide(made.id, "Mind the cost.", by="ann")
    if status is not None:
        outcome = OUTCOME if status == "completed" else None
        await store.commit(Commit(debate_id=made.id, epoch=1, status=status, outcome=outcome, release=True))
    return await store.get(made.id)


class DeletionContract:
    async def test_everything_of_a_deleted_debate_is_gone(self, store: Store, clock: Clock):
        kept = await lived(store, 2, status="completed")
        one = await lived(store, 1, status="completed")
        await store.remember([entry(1, ["secret", "plan"], embedder="e", embedding=b"1234"), entry(2, ["plan"])])
        clock.now += 5
        gone = await store.delete(one.id, by="ann")
        assert gone is not None
        assert (gone.id, gone.deleted_at, gone.deleted_by) == (one.id, clock.now, "ann")
        assert list(await store.turns(one.id)) == list(await store.events(one.id)) == []
        assert list(await store.gates(one.id)) == []
        assert list(await store.artifacts(one.id)) == []
        assert len(await store.artifacts(kept.id)) == len(produced(kept))
        assert await store.find(one.id[:8]) == []
        assert [each.id for each in (await store.page()).debates] == [kept.id]
        hits = await store.search(["secret", "plan"], 10)
        assert (list(hits.ids), dict(hits.document_frequency)) == ([kept.id], {"secret": 0, "plan": 1})
        assert (await store.vectors("e")).total == 0
        await store.scrub()
        await store.scrub()
        assert [each.id for each in (await store.page()).debates] == [kept.id]
        assert (await store.search(["plan"], 10)).ids == [kept.id]

    async def test_a_tombstone_says_what_happened(self, store: Store, clock: Clock):
        one = await lived(store, 1, status="failed")
        assert await store.tombstone(one.id) is None
        gone = await store.delete(one.id, by="ann")
        assert await store.tombstone(one.id) == await store.tombstone(one.id[:6]) == gone
        assert await store.tombstone("ffff") is None
        with pytest.raises(DebateDeleted, match=r"Debate 00000001 was deleted on 1970-01-12 by ann"):
            await store.get(one.id)
        with pytest.raises(NoSuchDebate) as unknown:
            await store.get(debate(7).id)
        assert not isinstance(unknown.value, DebateDeleted)
        assert await store.delete(one.id, by="bob") is None
        assert await store.tombstone(one.id) == gone, "the first counts"

    async def test_of_many_debates_those_are_found_that_were_deleted(self, store: Store, clock: Clock):
        made = [await lived(store, n, status="failed") for n in (1, 2, 3)]
        assert list(await store.tombstones([each.id for each in made])) == []
        gone = [await store.delete(made[n].id, by="ann") for n in (2, 0)]
        asked = [*(each.id for each in made), debate(7).id, *(debate(n).id for n in range(100, 3000))]
        assert list(await store.tombstones(asked)) == [gone[1], gone[0]]
        assert list(await store.tombstones([made[1].id])) == list(await store.tombstones([])) == []

    async def test_an_id_is_never_used_again(self, store: Store):
        one = await lived(store, 1, status="completed")
        copy = await store.copy(one.id)
        await store.delete(one.id, by="ann")
        for again in (store.create(debate(1)), store.adopt(copy)):
            with pytest.raises(DebateDeleted):
                await again
        assert await store.find(one.id) == []

    async def test_a_driver_of_a_deleted_debate_loses(self, store: Store):
        one = await lived(store, 1)
        await store.delete(one.id, by="ann")
        commit = Commit(
            debate_id=one.id,
            epoch=1,
            turns=[turn("2/speak/b", 2)],
            events=[Shown(type="X")],
            cursor=Cursor(),
            gates=[Gate(debate_id=one.id, key="g", kind="approval", question="?")],
        )
        assert await store.commit(commit) is None
        assert await store.commit(replace(commit, status="completed", outcome=OUTCOME, release=True)) is None
        assert list((await store.heartbeat("me", {one.id: 1}, 10)).lost) == [one.id]
        assert await store.claim(one.id, "other", 10, expect=["running"]) is None
        assert await store.move(one.id, "canceled", expect=["running"]) is None
        assert await store.guide(one.id, "Hello?", by="ann") is None
        assert await store.decide(one.id, "1/checkpoint", {"choice": "yes"}, by="ann") is None
        assert await store.rate(one.id, 5) is None
        await store.remember([entry(1)])
        assert list((await store.search(["word"], 10)).ids) == []
        assert await store.find(one.id) == []
        assert list(await store.turns(one.id)) == []

    async def test_only_what_was_expected_is_deleted(self, store: Store, clock: Clock):
        one = await lived(store, 1, status="failed")
        assert await store.delete(one.id, by="ann", expect=["completed"]) is None
        assert await store.delete(one.id, by="ann", seen=replace(one, epoch=9)) is None
        clock.now += 1
        await store.guide(one.id, "Wait.", by="bob")
        assert await store.delete(one.id, by="ann", expect=["failed"], seen=one) is None
        now = await store.get(one.id)
        assert await store.delete(one.id, by="ann", expect=["failed"], seen=now) is not None

    async def test_of_concurrent_deletions_one_counts(self, store: Store):
        debates = [await lived(store, n, status="completed") for n in (1, 2, 3)]
        await store.remember([entry(n, ["plan"]) for n in (1, 2, 3)])
        asked = [store.delete(each.id, by=who) for each in debates for who in ("ann", "bob", "cleo")]
        done = await asyncio.gather(*asked)
        assert sum(each is not None for each in done) == 3
        hits = await store.search(["plan"], 10)
        assert (list(hits.ids), dict(hits.document_frequency)) == ([], {"plan": 0})

    async def test_a_repeated_request_does_not_bring_a_debate_back(self, store: Store):
        one = await lived(store, 1, status="completed")
        key = IdempotencyKey(key="k", hash="h", debate_id=one.id)
        await store.reserve_key(key, 3600)
        await store.answer_key("k", "the whole debate")
        await store.delete(one.id, by="ann")
        again = await store.reserve_key(replace(key, debate_id=debate(2).id), 3600)
        assert (again.debate_id, again.response) == (one.id, None)
        await store.answer_key("k", "the whole debate")  # by a request that was under way
        assert (await store.reserve_key(key, 3600)).response is None

    async def test_untouched_debates_come_oldest_first(self, store: Store, clock: Clock):
        ids: list[str] = []
        for n, status in enumerate(("completed", "failed", None, "completed", "stopped"), 1):
            clock.now += 10
            ids.append((await lived(store, n, status=status)).id)
        newest = clock.now + 1
        over = ("completed", "canceled", "failed")
        assert [d.id for d in await store.untouched(newest, over, 10)] == [ids[0], ids[1], ids[3]]
        assert [d.id for d in await store.untouched(newest, over, 2)] == ids[:2]
        assert [d.id for d in await store.untouched(newest, ("stopped",), 10)] == [ids[4]]
        clock.now += 100
        await store.rate(ids[0], 3)  # it was touched
        assert [d.id for d in await store.untouched(newest, over, 10)] == [ids[1], ids[3]]
        assert list(await store.untouched(0, over, 10)) == []

    async def test_a_copy_is_the_same_debate_elsewhere(self, store: Store):
        one = await lived(store, 1, status="completed")
        await store.rate(one.id, 4)
        await store.quarantine(one.id, "ann")
        one = await store.get(one.id)
        copy = await store.copy(one.id)
        assert replace(checked(copy), lease_until=None) == one
        moved = renumbered(copy, debate(7).id)
        assert await store.adopt(moved) is True
        assert await store.adopt(moved) is False
        assert await store.copy(debate(7).id) == moved
        assert replace(await store.get(debate(7).id), id=one.id) == one
        assert await store.turns(debate(7).id) == await store.turns(one.id)
        assert await store.events(debate(7).id) == await store.events(one.id)
        mine, theirs = [await store.gates(each) for each in (debate(7).id, one.id)]
        assert [replace(gate, debate_id=one.id) for gate in mine] == theirs
        assert [each.number for each in await store.artifacts(debate(7).id)] == [1, 2, 1, 2, 1, 1]
        assert [each.id for each in await store.unremembered("", 10)] != []

    async def test_a_copy_of_a_running_debate_arrives_stopped(self, store: Store):
        one = await lived(store, 1)
        copy = arriving(renumbered(await store.copy(one.id), debate(7).id))
        await store.adopt(copy)
        found = await store.get(debate(7).id)
        assert (found.status, found.owner, found.lease_until, found.epoch) == ("stopped", None, None, 1)
        assert (await store.claim(found.id, "me", 10, expect=["stopped"])) is not None
        with pytest.raises(NoSuchDebate):
            await store.copy(debate(9).id)

    async def test_rows_from_outside_are_checked(self, store: Store):
        copy = await store.copy((await lived(store, 1)).id)
        checked(copy)
        for where, change, said in (
            ("session", {"status": "gone"}, "'status' of a debate"),
            ("session", {"config": "{"}, "a debate can't be read"),
            ("session", {"turn_count": 5}, "it has 1 turns and says that it has 5"),
            ("session", {"epoch": -1}, "'epoch' of a debate"),
            ("session", {"epoch": 2**40}, "'epoch' of a debate"),
            ("session", {"id": "../../etc"}, "'id' of a debate"),
            ("session", {"topic": "a\0b"}, "characters that can't be stored"),
            ("session", {"topic": "\ud83d"}, "characters that can't be stored"),
            ("session", {"created_at": float("nan")}, "'created_at' of a debate"),
            ("session", {"more": 1}, "'more' of a debate"),
            ("turns", {"seq": "1"}, "'seq' of a turn"),
            ("turns", {"kind": "shout"}, "'kind' of a turn"),
            ("turns", {"metadata": "nothing"}, "a turn can't be read"),
            ("turns", {"seq": 4}, "turns are not in order"),
            ("events", {"data": None}, "'data' of a event"),
            ("gates", {"choices": "["}, "a question can't be read"),
        ):
            rows: Any = {"session": copy.session, "turns": copy.turns, "events": copy.events, "gates": copy.gates}
            if where == "session":
                rows["session"] = {**copy.session, **change}
            else:
                first, *others = rows[where]
                rows[where] = [{**first, **change}, *others]
            with pytest.raises(InputError, match=said):
                checked(DebateCopy(**rows))

    async def test_a_decision_in_quarantine_is_found_and_not_recalled(self, store: Store, clock: Clock):
        one, two = [await lived(store, n, status="completed") for n in (1, 2)]
        await store.remember([entry(n, ["plan"]) for n in (1, 2)])
        clock.now += 5
        kept = await store.quarantine(one.id, "ann")
        assert kept is not None
        assert (kept.quarantined_at, kept.quarantined_by) == (clock.now, "ann")
        assert kept.updated_at > one.updated_at
        again = await store.quarantine(one.id, "bob")
        assert again == kept, "it is in quarantine already"
        assert list(await store.quarantined()) == [one.id]
        assert set((await store.search(["plan"], 10)).ids) == {one.id, two.id}
        assert (await store.search(["plan"], 10, decided=True)).ids == [two.id]
        clock.now += 5
        free = await store.quarantine(one.id, None, seen=kept)
        assert free is not None
        assert free.quarantined_at is free.quarantined_by is None
        assert set((await store.search(["plan"], 10, decided=True)).ids) == {one.id, two.id}
        assert await store.quarantine(one.id, "ann", seen=kept) is None
        unfinished = await lived(store, 3)
        assert await store.quarantine(unfinished.id, "ann") is None


def renumbered(copy: DebateCopy, debate_id: str) -> DebateCopy:
    session = {**copy.session, "id": debate_id}
    artifacts = {
        kind: [
            {**row, "id": stored_id(debate_id, f"{kind}-{row.get('number', row.get('version_number'))}")}
            for row in rows
        ]
        for kind, rows in copy.artifacts.items()
    }
    return replace(copy, session=session, artifacts=artifacts)
