"""What every store must do. A backend passes when a subclass with a `store` fixture passes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from moot.errors import NoSuchDebate
from moot.store import Commit, Store
from moot.types import Cursor, Debate, Failure, Gate, SeatSpec, Shown, Turn, Usage

CAST = (SeatSpec(id="a", name="Ada", role="debater", model="sim:", max_tokens=600, temperature=0.7),)


def debate(n: int = 0, **changes: Any) -> Debate:
    base = Debate(
        id=f"{n:08x}-0000-4000-8000-000000000000",
        topic='Is "this" — 你好 — fine?',
        format="duel",
        format_version=1,
        status="pending",
        config={"turns": 6, "nested": {"x": [1, None]}},
        cast=CAST,
        initiated_by="someone",
        metadata={"k": "v"},
    )
    return replace(base, **changes)


def turn(key: str = "1/speak/a", seq: int = 1, **changes: Any) -> Turn:
    base = Turn(
        key=key,
        seq=seq,
        kind="ask",
        round=1,
        phase="speak",
        seat="a",
        role="debater",
        content="Words — 你好 kept",
        raw="raw words",
        data={"score": 7, "nested": {"x": [1.5, None, "é"]}},
        failure=None,
        model="m",
        provider="p",
        tokens_in=100,
        tokens_out=20,
        tokens_cached=50,
        cost_usd=0.25,
        finish_reason="stop",
        duration_ms=1234,
        response_time_ms=56,
        prompt="duel/open",
        prompt_hash="abcdef0123456789",
        started_at=1000.25,
        created_at=1001.5,
        metadata={"attempts": ["x"]},
        confidence=0.5,
        tool_calls=[{"name": "t"}],
        test_results=[1],
        reflections=["r"],
    )
    return replace(base, **changes)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class StoreContract:
    """`run` opens a store (with a clock that only moves when told), runs the coroutine, closes the store."""

    @pytest.fixture
    def run(self) -> Callable[..., Any]:
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    def test_a_debate_comes_back_as_it_was_created(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1), events=[Shown(type="status", data={"status": "pending"})])
            assert made == await store.get(made.id)
            expected = debate(1, created_at=clock.now, updated_at=clock.now, last_seq=1)
            assert made == expected

        run(check)

    def test_a_debate_that_is_not_there(self, run):
        async def check(store: Store):
            with pytest.raises(NoSuchDebate, match="nope"):
                await store.get("nope")
            assert await store.turns("nope") == []
            assert await store.events("nope") == []
            assert await store.claim("nope", "me", 10, expect=["pending"]) is None
            assert await store.move("nope", "canceled", expect=["pending"]) is None

        run(check)

    def test_ids_are_found_by_their_beginning(self, run):
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

    def test_a_turn_comes_back_as_it_was_committed_with_everything_else_of_its_step(self, run, clock):
        async def check(store: Store):
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

        run(check)

    def test_a_cost_that_is_not_known_makes_the_sum_unknown(self, run):
        async def check(store: Store):
            await store.create(debate(1))
            await store.claim(debate(1).id, "me", 10, expect=["pending"])
            await store.commit(Commit(debate_id=debate(1).id, epoch=1, turns=[turn()]))
            await store.commit(Commit(debate_id=debate(1).id, epoch=1, turns=[turn("k2", 2, cost_usd=None)]))
            assert (await store.get(debate(1).id)).cost_usd is None

        run(check)

    def test_a_commit_of_an_old_epoch_changes_nothing(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            clock.now += 11
            taken = await store.claim(made.id, "you", 10, expect=["running"])
            assert taken is not None
            assert taken.epoch == 2
            before = await store.get(made.id)
            late = Commit(
                debate_id=made.id,
                epoch=1,
                turns=[turn()],
                status="completed",
                events=[Shown(type="TURN")],
                release=True,
            )
            assert await store.commit(late) is None
            assert await store.get(made.id) == before
            assert await store.turns(made.id) == []
            assert await store.events(made.id) == []

        run(check)

    @pytest.mark.parametrize("status", ["pending", "stopped", "failed", "completed", "canceled", "waiting"])
    def test_a_debate_that_is_not_running_takes_no_commit(self, run, status):
        async def check(store: Store):
            made = await store.create(debate(1))
            if status != "pending":
                await store.claim(made.id, "me", 10, expect=["pending"])
                await store.move(made.id, status, expect=["running"])
            epoch = (await store.get(made.id)).epoch
            assert await store.commit(Commit(debate_id=made.id, epoch=epoch, turns=[turn()])) is None
            assert await store.turns(made.id) == []

        run(check)

    def test_a_key_has_one_turn(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()]))
            before = await store.get(made.id)
            with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
                await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn(seq=2, content="other")]))
            assert await store.turns(made.id) == [turn()]
            assert await store.get(made.id) == before

        run(check)

    def test_one_bad_commit_in_a_group_spoils_no_other(self, run):
        async def check(store: Store):
            for n in range(20):
                await store.create(debate(n))
                await store.claim(debate(n).id, "me", 10, expect=["pending"])
            await store.commit(Commit(debate_id=debate(7).id, epoch=1, turns=[turn()]))
            results = await asyncio.gather(
                *(store.commit(Commit(debate_id=debate(n).id, epoch=1, turns=[turn()])) for n in range(20)),
                return_exceptions=True,
            )
            assert [n for n, result in enumerate(results) if isinstance(result, Exception)] == [7]
            for n in range(20):
                assert len(await store.turns(debate(n).id)) == 1

        run(check)

    def test_of_many_who_claim_at_once_one_wins(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            claims = await asyncio.gather(
                *(store.claim(made.id, f"p{n}", 10, expect=["pending", "running"]) for n in range(20))
            )
            won = [claim for claim in claims if claim is not None]
            assert len(won) == 1
            assert (await store.get(made.id)).owner == won[0].owner

        run(check)

    def test_a_live_lease_is_in_the_way_and_a_dead_owners_is_not(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            assert await store.claim(made.id, "you", 10, expect=["running"]) is None
            taken = await store.claim(made.id, "you", 10, expect=["running"], dead="me")
            assert taken is not None
            assert taken.owner == "you"
            clock.now += 10
            assert await store.claim(made.id, "third", 10, expect=["running"]) is not None

        run(check)

    def test_ending_lets_go_of_the_lease_and_keeps_the_outcome(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            clock.now += 5
            await store.commit(
                Commit(debate_id=made.id, epoch=1, status="completed", outcome={"winner": "a"}, release=True)
            )
            done = await store.get(made.id)
            assert (done.status, done.outcome, done.owner) == ("completed", {"winner": "a"}, None)
            assert done.completed_at == clock.now

        run(check)

    def test_a_failure_is_kept_until_the_next_claim_and_its_cost_for_good(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            failure = Failure(kind="timeout", message="too slow")
            lost = Usage(tokens_in=3, tokens_out=5, cost_usd=0.5)
            await store.commit(
                Commit(debate_id=made.id, epoch=1, status="failed", error=failure, lost=lost, release=True)
            )
            failed = await store.get(made.id)
            assert (failed.status, failed.error, failed.lost) == ("failed", failure, lost)
            again = await store.claim(made.id, "me", 10, expect=["failed"])
            assert again is not None
            assert (again.error, again.lost, again.epoch) == (None, lost, 2)

        run(check)

    def test_a_move_is_made_only_from_the_statuses_named(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            assert await store.move(made.id, "stopping", expect=["running"]) is None
            note = Shown(type="status", data={"status": "canceled"})
            moved = await store.move(made.id, "canceled", expect=["pending", "running"], events=[note])
            assert moved is not None
            assert moved.status == "canceled"
            assert [e.type for e in await store.events(made.id)] == ["status"]

        run(check)

    def test_whoever_is_told_to_stop_keeps_the_lease_while_it_finishes(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            stopping = await store.move(made.id, "stopping", expect=["running"])
            assert stopping is not None
            assert stopping.owner == "me"
            committed = await store.commit(Commit(debate_id=made.id, epoch=1, turns=[turn()]))
            assert committed is not None
            assert committed.status == "stopping"

        run(check)

    def test_a_pulse_renews_leases_and_tells_what_changed(self, run, clock):
        async def check(store: Store):
            for n in range(4):
                await store.create(debate(n))
                await store.claim(debate(n).id, "me", 10, expect=["pending"])
            ids = [debate(n).id for n in range(4)]
            await store.move(ids[1], "stopping", expect=["running"])
            await store.move(ids[2], "canceled", expect=["running"])
            await store.claim(ids[3], "you", 10, expect=["running"], dead="me")
            clock.now += 4
            pulse = await store.pulse("me", dict.fromkeys(ids, 1), 10)
            assert pulse.statuses == {ids[0]: "running", ids[1]: "stopping"}
            assert set(pulse.lost) == {ids[2], ids[3]}
            assert (await store.get(ids[0])).lease_until == clock.now + 10
            assert (await store.get(ids[3])).lease_until == clock.now + 6
            clock.now += 4
            await store.pulse("me", {ids[0]: 1}, None)
            assert (await store.get(ids[0])).lease_until == clock.now + 6

        run(check)

    def test_abandoned_are_those_whose_driver_is_silent_or_dead(self, run, clock):
        async def check(store: Store):
            for n, owner in enumerate(["silent", "alive", "dead", "done"]):
                await store.create(debate(n))
                await store.claim(debate(n).id, owner, 100 if owner == "alive" else 10, expect=["pending"])
            await store.commit(Commit(debate_id=debate(3).id, epoch=1, status="completed", release=True))
            found = await store.abandoned(lambda owner: owner == "dead")
            assert [d.owner for d in found] == ["dead"]
            clock.now += 10
            found = await store.abandoned(lambda owner: False)
            assert {d.owner for d in found} == {"silent", "dead"}

        run(check)

    def test_a_fork_is_created_with_its_turns(self, run):
        async def check(store: Store):
            turns = [turn(f"{n}/speak/a", n) for n in (1, 2, 3)]
            made = await store.create(debate(1, parent_id="p", forked_at="4/speak/a"), turns=turns)
            assert await store.turns(made.id) == turns
            assert (made.turn_count, made.tokens_out, made.cost_usd) == (3, 60, 0.75)
            assert (made.parent_id, made.forked_at, made.shown_count) == ("p", "4/speak/a", 0)

        run(check)

    def test_gates_are_opened_with_the_commit_and_decided_once(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
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

        run(check)

    def test_a_gate_that_is_asked_again_has_its_time_again_unless_it_is_decided(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            gate = Gate(debate_id=made.id, key="k", kind="approval", question="?", expires_at=clock.now + 1)
            for epoch in (1, 2):
                await store.claim(made.id, "me", 10, expect=["pending", "waiting"])
                again = replace(gate, expires_at=clock.now + epoch * 100)
                await store.commit(
                    Commit(debate_id=made.id, epoch=epoch, status="waiting", gates=[again], release=True)
                )
                assert [g.expires_at for g in await store.gates(made.id)] == [clock.now + epoch * 100]
            await store.decide(made.id, "k", {"choice": "approve"}, by="me")
            await store.claim(made.id, "me", 10, expect=["waiting"])
            await store.commit(Commit(debate_id=made.id, epoch=3, status="waiting", gates=[gate], release=True))
            (decided,) = await store.gates(made.id)
            assert (decided.status, decided.expires_at) == ("decided", clock.now + 200)

        run(check)

    def test_the_gates_of_an_ended_debate_can_no_longer_be_decided(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            gate = Gate(debate_id=made.id, key="k", kind="approval", question="?", expires_at=clock.now)
            await store.commit(Commit(debate_id=made.id, epoch=1, status="waiting", gates=[gate], release=True))
            await store.move(made.id, "canceled", expect=["waiting"])
            assert await store.decide(made.id, "k", {}, by="me") is None
            assert await store.gates() == []
            assert await store.gates(expired=True) == []

        run(check)

    def test_a_commit_that_is_refused_opens_no_gate(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            gate = Gate(debate_id=made.id, key="k", kind="approval", question="?")
            assert await store.commit(Commit(debate_id=made.id, epoch=1, status="waiting", gates=[gate])) is None
            assert await store.gates(made.id) == []

        run(check)
