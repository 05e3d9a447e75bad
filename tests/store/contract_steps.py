"""Steps: commits, claims, leases and moves."""

from __future__ import annotations

import asyncio

import pytest

from moot.core.ceilings import Spending
from moot.core.types import Cursor, Failure, Gate, Shown, Status, Usage
from moot.store import Commit, Store
from tests.store.samples import OUTCOME, claimed, completed, debate, produced, turn


class StepsContract:
    async def test_a_commit_stores_turn_events_cursor_and_totals(self, store: Store, clock):
        await store.create(debate(1))
        claimed = await store.claim(debate(1).id, "me", 10, expect=["pending"])
        assert claimed is not None
        assert (claimed.status, claimed.epoch, claimed.owner) == ("running", 1, "me")
        assert claimed.lease_until == clock.now + 10
        assert claimed.started_at == clock.now
        committed = await store.commit(
            Commit(
                debate_id=claimed.id,
                epoch=1,
                turns=[turn()],
                cursor=Cursor(open=("2/think/b", "1/evaluate/judge"), next_round=2, next_actor="b"),
                events=[Shown(type="notice", data={"text": "n"}), Shown(type="TURN", key="1/speak/a", turn=turn())],
                shown=1,
                total_rounds=1,
            )
        )
        assert committed is not None
        assert committed.status == "running"
        assert await store.turns(claimed.id) == [turn()]
        assert await store.turns(claimed.id, after=1) == []
        after = await store.get(claimed.id)
        assert after.cursor == Cursor(open=("2/think/b", "1/evaluate/judge"), next_round=2, next_actor="b")
        assert (after.turn_count, after.shown_count, after.last_seq, after.total_rounds) == (1, 1, 2, 1)
        assert (after.tokens_in, after.tokens_out, after.cost_usd) == (100, 20, 0.25)
        events = await store.events(claimed.id)
        assert events == committed.events
        assert [(e.seq, e.type, e.key, e.data) for e in events] == [
            (1, "notice", "", {"text": "n"}),
            (2, "TURN", "1/speak/a", {}),
        ]
        assert events[1].turn == turn()
        assert [e.seq for e in await store.events(claimed.id, after=1)] == [2]
        assert [e.seq for e in await store.events(claimed.id, limit=1)] == [1]

    async def test_an_unknown_cost_makes_the_total_unknown(self, store: Store):
        await claimed(store)
        await store.commit(Commit(debate_id=debate(1).id, epoch=1, turns=[turn()]))
        await store.commit(Commit(debate_id=debate(1).id, epoch=1, turns=[turn("k2", 2, cost_usd=None)]))
        assert (await store.get(debate(1).id)).cost_usd is None

    async def test_a_commit_of_an_old_epoch_changes_nothing(self, store: Store, clock):
        """Beside one that is made."""
        for n in (1, 2):
            await claimed(store, n)
        clock.now += 11
        taken = await store.claim(debate(1).id, "you", 10, expect=["running"])
        assert taken is not None
        assert taken.epoch == 2
        before = await store.get(debate(1).id)
        late, good = [
            Commit(
                debate_id=debate(n).id,
                epoch=1,
                turns=[turn()],
                status="completed",
                events=[Shown(type="TURN")],
                gates=[Gate(debate_id=debate(n).id, key="k", kind="approval", question="?")],
                artifacts=produced(debate(n)),
                release=True,
            )
            for n in (1, 2)
        ]
        refused, made = await asyncio.gather(store.commit(late), store.commit(good))
        assert refused is None
        assert made is not None
        assert await store.get(debate(1).id) == before
        for read, count in ((store.turns, 1), (store.events, 1), (store.gates, 1), (store.artifacts, 6)):
            assert [len(await read(debate(n).id)) for n in (1, 2)] == [0, count]
        assert (await store.today("")).all == Spending(cost_usd=0.25, tokens=20), "of the one that was made"

    async def test_a_debate_that_is_not_running_takes_no_commit(self, store: Store):
        statuses: tuple[Status, ...] = ("pending", "stopped", "failed", "completed", "canceled", "waiting")
        for n, status in enumerate(statuses):
            made = await store.create(debate(n))
            if status != "pending":
                await store.claim(made.id, "me", 10, expect=["pending"])
                await store.move(made.id, status, expect=["running"])
            epoch = (await store.get(made.id)).epoch
            assert await store.commit(Commit(debate_id=made.id, epoch=epoch, turns=[turn()])) is None, status
            assert await store.turns(made.id) == [], status

    async def test_a_key_has_one_turn(self, store: Store):
        made = await claimed(store)
        await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()]))
        before = await store.get(made.id)
        with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
            await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn(seq=2, content="other")]))
        assert await store.turns(made.id) == [turn()]
        assert await store.get(made.id) == before

    async def test_a_failing_commit_does_not_fail_its_group(self, store: Store):
        for n in range(20):
            await claimed(store, n)
        await store.commit(Commit(debate_id=debate(7).id, epoch=1, turns=[turn()]))
        results = await asyncio.gather(
            *(store.commit(Commit(debate_id=debate(n).id, epoch=1, turns=[turn()])) for n in range(20)),
            return_exceptions=True,
        )
        assert [n for n, result in enumerate(results) if isinstance(result, Exception)] == [7]
        for n in range(20):
            assert len(await store.turns(debate(n).id)) == 1

    async def test_of_concurrent_claims_one_wins(self, store: Store):
        made = await store.create(debate(1))
        claims = await asyncio.gather(
            *(store.claim(made.id, f"p{n}", 10, expect=["pending", "running"]) for n in range(20))
        )
        won = [claim for claim in claims if claim is not None]
        assert len(won) == 1
        assert (await store.get(made.id)).owner == won[0].owner

    async def test_a_valid_lease_blocks_a_claim_unless_its_owner_is_dead(self, store: Store, clock):
        made = await claimed(store)
        assert await store.claim(made.id, "you", 10, expect=["running"]) is None
        taken = await store.claim(made.id, "you", 10, expect=["running"], dead="me")
        assert taken is not None
        assert taken.owner == "you"
        clock.now += 10
        assert await store.claim(made.id, "third", 10, expect=["running"]) is not None

    async def test_drivers_that_die_before_a_step_is_stored_are_counted(self, store: Store, clock):
        made = await store.create(debate(1))

        async def taken(owner: str, *, dead: str | None = None, alone: bool = False) -> tuple[int, int]:
            expect = ["pending", "running", "stopping", "stopped", "failed"]
            claimed = await store.claim(made.id, owner, 10, expect=expect, dead=dead, alone=alone)
            assert claimed == await store.get(made.id)
            return claimed.crashes, claimed.alone

        assert await taken("one") == (0, 0)
        assert await taken("two", dead="one", alone=True) == (1, 1)
        clock.now += 11  # silent past its lease
        assert await taken("three") == (2, 0)
        await store.commit(Commit(debate_id=made.id, epoch=3, cursor=Cursor()))  # no step
        await store.move(made.id, "stopping", expect=["running"])
        assert await taken("four", dead="three") == (3, 0)
        clock.now += 11
        assert await taken("four") == (3, 0)  # the same process, which lives
        await store.commit(Commit(debate_id=made.id, epoch=5, release=True))
        assert await taken("five") == (3, 0)  # it was handed back
        await store.commit(Commit(debate_id=made.id, epoch=6, turns=[turn()], cursor=Cursor()))
        assert (await store.get(made.id)).crashes == 0
        assert await taken("six", dead="five") == (1, 0)
        await store.commit(Commit(debate_id=made.id, epoch=7, turns=[turn("1/speak/b", 2)], lost=Usage(tokens_in=1)))
        assert (await store.get(made.id)).crashes == 0
        for status in ("failed", "stopped"):  # a person lets it go on
            assert await taken("seven", dead="six") == (1, 0)
            epoch = (await store.get(made.id)).epoch
            await store.commit(Commit(debate_id=made.id, epoch=epoch, status=status, release=True))
            assert (await store.get(made.id)).crashes == 1
            assert await taken("six") == (0, 0)

    async def test_deaths_of_drivers_that_drove_nothing_else_are_counted(self, store: Store):
        made = await store.create(debate(1))

        async def alone(owner: str, dead: str | None = None) -> int:
            claimed = await store.claim(
                made.id, owner, 10, expect=["pending", "running"], dead=dead, alone=owner != "one"
            )
            assert claimed == await store.get(made.id)
            return claimed.alone

        assert await alone("one") == 0
        assert await alone("two", dead="one") == 1
        assert await alone("three", dead="two") == 2
        await store.commit(Commit(debate_id=made.id, epoch=3, release=True))
        assert await alone("four") == 2  # it was handed back
        assert await alone("five", dead="four") == 3
        assert await alone("one", dead="five") == 0

    async def test_a_debate_is_set_running_for_the_next_sweep(self, store: Store):
        made = await store.create(debate(1))
        await store.claim(made.id, "one", 10, expect=["pending"])
        await store.claim(made.id, "two", 10, expect=["running"], dead="one")
        error = Failure(kind="crashed", message="It took too many processes down.")
        await store.commit(Commit(debate_id=made.id, epoch=2, status="failed", error=error, release=True))
        failed = await store.get(made.id)
        assert (failed.crashes, failed.error) == (1, error)
        moved = await store.move(made.id, "running", expect=["failed"])
        assert moved is not None
        assert (moved.status, moved.owner, moved.crashes, moved.error) == ("running", None, 0, None)
        assert [each.id for each in await store.abandoned(lambda _: False)] == [made.id]

    async def test_ending_releases_the_lease_and_stores_the_outcome(self, store: Store, clock):
        done = await completed(store)
        assert (done.status, done.outcome, done.owner) == ("completed", OUTCOME, None)
        assert done.completed_at == clock.now

    async def test_a_claim_clears_the_error_and_keeps_the_lost_usage(self, store: Store):
        made = await claimed(store)
        failure = Failure(kind="timeout", message="too slow")
        lost = Usage(tokens_in=3, tokens_out=5, cost_usd=0.5)
        await store.commit(Commit(debate_id=made.id, epoch=1, status="failed", error=failure, lost=lost, release=True))
        failed = await store.get(made.id)
        assert (failed.status, failed.error, failed.lost) == ("failed", failure, lost)
        again = await store.claim(made.id, "me", 10, expect=["failed"])
        assert again is not None
        assert (again.error, again.lost, again.epoch) == (None, lost, 2)

    async def test_a_move_is_made_only_from_the_statuses_named(self, store: Store):
        made = await store.create(debate(1))
        assert await store.move(made.id, "stopping", expect=["running"]) is None
        note = Shown(type="status", data={"status": "canceled"})
        moved = await store.move(made.id, "canceled", expect=["pending", "running"], events=[note])
        assert moved is not None
        assert moved.status == "canceled"
        assert [e.type for e in await store.events(made.id)] == ["status"]

    async def test_a_stopping_driver_keeps_its_lease_until_its_step_ends(self, store: Store):
        made = await claimed(store)
        stopping = await store.move(made.id, "stopping", expect=["running"])
        assert stopping is not None
        assert stopping.owner == "me"
        committed = await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()]))
        assert committed is not None
        assert committed.status == "stopping"

    async def test_a_heartbeat_renews_leases_and_reports_changes(self, store: Store, clock):
        for n in range(4):
            await claimed(store, n)
        ids = [debate(n).id for n in range(4)]
        await store.move(ids[1], "stopping", expect=["running"])
        await store.move(ids[2], "canceled", expect=["running"])
        await store.claim(ids[3], "you", 10, expect=["running"], dead="me")
        clock.now += 4
        beat = await store.heartbeat("me", dict.fromkeys(ids, 1), 10)
        assert beat.statuses == {ids[0]: "running", ids[1]: "stopping"}
        assert set(beat.lost) == {ids[2], ids[3]}
        assert (await store.get(ids[0])).lease_until == clock.now + 10
        assert (await store.get(ids[3])).lease_until == clock.now + 6
        clock.now += 4
        await store.heartbeat("me", {ids[0]: 1}, None)
        assert (await store.get(ids[0])).lease_until == clock.now + 6

    async def test_abandoned_debates_have_an_expired_lease_or_a_dead_owner(self, store: Store, clock):
        for n, owner in enumerate(["silent", "alive", "dead", "done"]):
            await store.create(debate(n))
            await store.claim(debate(n).id, owner, 100 if owner == "alive" else 10, expect=["pending"])
        await store.commit(Commit(debate_id=debate(3).id, epoch=1, status="completed", release=True))
        found = await store.abandoned(lambda owner: owner == "dead")
        assert [d.owner for d in found] == ["dead"]
        clock.now += 10
        found = await store.abandoned(lambda owner: False)
        assert {d.owner for d in found} == {"silent", "dead"}

    async def test_a_fork_is_created_with_its_turns(self, store: Store):
        turns = [turn(f"{n}/speak/a", n) for n in (1, 2, 3)]
        made = await store.create(debate(1, parent_id="p", forked_at="4/speak/a"), turns=turns)
        assert await store.turns(made.id) == turns
        assert (made.turn_count, made.tokens_out, made.cost_usd) == (3, 60, 0.75)
        assert (made.parent_id, made.forked_at, made.shown_count) == ("p", "4/speak/a", 0)
