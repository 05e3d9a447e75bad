"""Gates, ratings, guidance, labels and how decisions turned out."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

from moot.core.types import Cursor, Gate, TurnedOut
from moot.store import Commit, Labels, Store
from tests.store.samples import OUTCOME, claimed, completed, debate


class PeopleContract:
    async def test_gates_are_opened_with_the_commit_and_decided_once(self, store: Store, clock):
        made = await claimed(store)
        gate = Gate(
            debate_id=made.id,
            key="1/checkpoint/you",
            kind="checkpoint",
            question="Go on? — 你好",
            choices=("continue", "end"),
            artifacts={"summary": "s"},
            expires_at=clock.now + 60,
        )
        await store.commit(Commit(debate_id=made.id, epoch=1, status="waiting", gates=[gate], release=True))
        stored = replace(gate, requested_at=clock.now)
        assert await store.gates(made.id) == [stored]
        assert await store.gates() == [stored]
        assert await store.gates(expired=True) == []
        clock.now += 60
        assert await store.gates(expired=True) == [stored]
        results = await asyncio.gather(
            *(store.decide(made.id, gate.key, {"choice": "end", "text": str(n)}, by=f"p{n}") for n in range(10))
        )
        (won,) = [result for result in results if result is not None]
        assert (won.status, won.decided_at, won.reviewer) == ("decided", clock.now, f"p{won.decision['text']}")
        assert await store.gates(made.id) == [won]
        assert await store.gates() == []
        assert await store.decide(made.id, "9/no/you", {}, by="me") is None

    async def test_reopening_a_gate_renews_its_expiry_unless_it_is_decided(self, store: Store, clock):
        made = await store.create(debate(1))
        gate = Gate(debate_id=made.id, key="k", kind="approval", question="?", expires_at=clock.now + 1)
        for epoch in (1, 2):
            await store.claim(made.id, "me", 10, expect=["pending", "waiting"])
            again = replace(gate, expires_at=clock.now + epoch * 100)
            await store.commit(Commit(debate_id=made.id, epoch=epoch, status="waiting", gates=[again], release=True))
            assert [g.expires_at for g in await store.gates(made.id)] == [clock.now + epoch * 100]
        await store.decide(made.id, "k", {"choice": "approve"}, by="me")
        await store.claim(made.id, "me", 10, expect=["waiting"])
        await store.commit(Commit(debate_id=made.id, epoch=3, status="waiting", gates=[gate], release=True))
        (decided,) = await store.gates(made.id)
        assert (decided.status, decided.expires_at) == ("decided", clock.now + 200)

    async def test_the_gates_of_an_ended_debate_can_no_longer_be_decided(self, store: Store, clock):
        made = await claimed(store)
        gate = Gate(debate_id=made.id, key="k", kind="approval", question="?", expires_at=clock.now)
        await store.commit(Commit(debate_id=made.id, epoch=1, status="waiting", gates=[gate], release=True))
        await store.move(made.id, "canceled", expect=["waiting"])
        assert await store.decide(made.id, "k", {}, by="me") is None
        assert await store.gates() == []
        assert await store.gates(expired=True) == []

    async def test_a_decided_gate_whose_debate_still_waits_is_found(self, store: Store, clock):
        made = await claimed(store)
        gates = [Gate(debate_id=made.id, key=key, kind="approval", question="?") for key in ("1/a/you", "1/b/you")]
        cursor = Cursor(open=("1/a/you", "1/b/you"))
        await store.commit(
            Commit(debate_id=made.id, epoch=1, cursor=cursor, status="waiting", gates=gates, release=True)
        )
        await store.guide(made.id, "Mind the cost.", by="me")
        decided = await store.decide(made.id, "1/b/you", {"choice": "approve"}, by="me")
        assert await store.gates(expired=True) == []  # the process that took the answer may be about to resume it
        clock.now += 11
        assert await store.gates(expired=True) == [decided]
        await store.claim(made.id, "me", 10, expect=["waiting"])
        assert await store.gates(expired=True) == []

    async def test_only_completed_debates_are_rated_and_the_last_rating_counts(self, store: Store, clock):
        driven, canceled, done = await claimed(store), await store.create(debate(2)), await completed(store, 3)
        await store.move(canceled.id, "canceled", expect=["pending"])
        for each in (driven.id, canceled.id, "nope"):
            assert await store.rate(each, 4) is None
        clock.now += 5
        assert await store.rate(done.id, 4) == replace(done, user_rating=4, updated_at=clock.now)
        assert await store.rate(done.id, 1) == await store.get(done.id)
        assert (await store.get(done.id)).user_rating == 1

    async def test_only_completed_debates_have_turned_out_and_the_last_word_counts(self, store: Store, clock):
        right = TurnedOut(right=1, note="It held.", by="ann", at=5.5)
        for each in ((await claimed(store, 2)).id, "nope"):
            assert await store.turned_out(each, right) is None
        made = before = await completed(store)
        clock.now += 5
        assert await store.turned_out(made.id, right) == replace(before, turned_out=right, updated_at=clock.now)
        assert await store.turned_out(made.id, None, seen=before) is None, "it has changed since"
        partly = TurnedOut(right=0.7, by="bob", at=6)
        assert (await store.turned_out(made.id, partly)) == await store.get(made.id)
        assert (await store.get(made.id)).turned_out == partly
        copied = await store.copy(made.id)
        assert json.loads(copied.session["turned_out"]) == partly.model_dump()
        await store.turned_out(made.id, None)
        assert (await store.get(made.id)).turned_out is None

    async def test_guidance_is_stored_as_decided_gates(self, store: Store, clock):
        made = await store.create(debate())
        one = await store.guide(made.id, "Look at cost.", by="ann")
        two = await store.guide(made.id, "And at 你好.", by="bob")
        assert one is not None
        assert two is not None
        assert (one.key, one.kind, one.status) == ("guidance/1", "guidance", "decided")
        assert (one.decision, one.reviewer, one.decided_at) == ({"text": "Look at cost."}, "ann", clock.now)
        assert [gate.key for gate in await store.gates(made.id)] == ["guidance/1", "guidance/2"]
        assert await store.gates() == []  # none is open
        assert (await store.get(made.id)).guided == 2
        await store.claim(made.id, "me", 60, expect=["pending"])
        beat = await store.heartbeat("me", {made.id: 1}, None)
        assert beat.guided == {made.id: 2}

    async def test_concurrent_guidance_is_all_stored(self, store: Store):
        made = await store.create(debate())
        await asyncio.gather(*(store.guide(made.id, f"Word {n}.", by="ann") for n in range(20)))
        gates = await store.gates(made.id)
        assert {gate.key for gate in gates} == {f"guidance/{n}" for n in range(1, 21)}
        assert {gate.decision["text"] for gate in gates} == {f"Word {n}." for n in range(20)}

    async def test_an_ended_debate_takes_no_guidance(self, store: Store):
        made = await store.create(debate())
        await store.move(made.id, "canceled", expect=["pending"])
        assert await store.guide(made.id, "Too late.", by="ann") is None
        assert await store.guide("nope", "Where?", by="ann") is None
        assert await store.gates(made.id) == []

    async def test_labels_change_one_by_one_and_filter_the_page(self, store: Store, clock):
        made, other = await store.create(debate(1)), await store.create(debate(2, topic="Do bees sleep?"))
        assert (made.title, made.pinned, made.archived, made.tags) == ("", False, False, ())
        clock.now += 1
        named = await store.label(made.id, Labels(title="Die Königsfrage 你好", tags=("c++", "späti")), seen=made)
        expected = replace(made, title="Die Königsfrage 你好", tags=("c++", "späti"), updated_at=clock.now)
        assert named == expected
        clock.now += 1
        assert await store.label(made.id, Labels(title=named.title, pinned=False)) == named, "nothing was changed"
        assert await store.label(made.id, Labels(title="x"), seen=made) is None, "it has changed since"
        pinned = await store.label(made.id, Labels(pinned=True), seen=named)
        assert pinned == replace(named, pinned=True, updated_at=clock.now)
        archived = await store.label(other.id, Labels(archived=True))
        assert (archived.archived, archived.pinned) == (True, False)
        assert await store.label(debate(3).id, Labels(pinned=True)) is None

        async def found(**query):
            return [each.id for each in (await store.page(**query)).debates]

        assert set(await found()) == {made.id, other.id}
        for query in ({"pinned": True}, {"archived": False}, {"tag": "c++"}, {"contains": "KÖNIGSF"}):
            assert await found(**query) == [made.id], query
        for query in ({"pinned": False}, {"archived": True}, {"contains": "bees"}):
            assert await found(**query) == [other.id], query
        for tag in ("c", "späti,", "c++,späti", "königsfrage"):
            assert await found(tag=tag) == []
        cleared = await store.label(made.id, Labels(title="", pinned=False, tags=()))
        assert (cleared.title, cleared.pinned, cleared.tags) == ("", False, ())

    async def test_labels_do_not_disturb_the_driver_and_go_with_a_copy(self, store: Store, clock):
        made = await claimed(store)
        await store.label(made.id, Labels(title="Mine", pinned=True, archived=True, tags=("a", "b")))
        done = await store.commit(Commit(debate_id=made.id, epoch=1, status="completed", outcome=OUTCOME))
        assert done is not None
        kept = await store.get(made.id)
        assert (kept.title, kept.pinned, kept.archived, kept.tags) == ("Mine", True, True, ("a", "b"))
        copy = await store.copy(made.id)
        elsewhere = replace(copy, session={**copy.session, "id": debate(2).id})
        assert await store.adopt(elsewhere)
        there = await store.get(debate(2).id)
        assert (there.title, there.pinned, there.archived, there.tags) == ("Mine", True, True, ("a", "b"))
