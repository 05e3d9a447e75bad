"""What every store must do. A backend passes when a subclass with a `store` fixture passes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from moot.errors import NoSuchDebate
from moot.store import AccessToken, Commit, Memorized, Reservation, Store
from moot.types import Cursor, Debate, Failure, Gate, SeatSpec, Shown, Turn, Usage

GATES = ("1/checkpoint", "2/checkpoint")
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
    def test_a_page_holds_topics_with_the_very_characters_in_any_case(self, run, contains, found):
        topics = ["Redis or PostgreSQL?", "Is redis 100%_ sure?", "it's\\a_path", "L'École ou pas ?", "你好"]

        async def check(store: Store):
            for n, topic in enumerate(topics):
                await store.create(debate(n, topic=topic.replace("L'", "L’")))
            page = await store.page(contains=contains)
            assert {d.id for d in page.debates} == {debate(n).id for n in found}

        run(check)

    def test_a_page_holds_the_forks_of_one_debate_only(self, run):
        async def check(store: Store):
            one, two = debate(1).id, debate(2).id
            for n, parent in enumerate([None, None, None, one, two, one], 1):
                await store.create(debate(n, parent_id=parent, forked_at=parent and "1/speak/a"))
            assert [d.id for d in (await store.page(parent=one)).debates] == [debate(6).id, debate(4).id]
            assert [d.id for d in (await store.page(parent=two)).debates] == [debate(5).id]
            assert (await store.page(parent=debate(3).id)).debates == []
            assert (await store.page(parent="nope")).debates == []

        run(check)

    @pytest.mark.parametrize("change", ["move", "claim", "rate", "guide", "decide"])
    def test_of_two_who_have_seen_the_same_one_changes_it(self, run, clock, change):
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
            if change == "decide":  # another question of the same debate
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

    def test_of_many_who_change_at_once_what_they_have_seen_one_does(self, run, clock):
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

    def test_filtered_pages_go_on_where_they_ended_and_miss_none(self, run, clock):
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

    def test_an_answer_after_which_nobody_went_on_is_found(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            await store.claim(made.id, "me", 10, expect=["pending"])
            gates = [Gate(debate_id=made.id, key=key, kind="approval", question="?") for key in ("1/a/you", "1/b/you")]
            cursor = Cursor(open=("1/a/you", "1/b/you"))
            await store.commit(
                Commit(debate_id=made.id, epoch=1, cursor=cursor, status="waiting", gates=gates, release=True)
            )
            await store.guide(made.id, "Mind the cost.", by="me")
            decided = await store.decide(made.id, "1/b/you", {"choice": "approve"}, by="me")
            assert await store.gates(expired=True) == []  # whoever answered may be about to go on
            clock.now += 11
            assert await store.gates(expired=True) == [decided]
            await store.claim(made.id, "me", 10, expect=["waiting"])
            assert await store.gates(expired=True) == []

        run(check)

    def test_a_commit_that_is_refused_opens_no_gate(self, run):
        async def check(store: Store):
            made = await store.create(debate(1))
            gate = Gate(debate_id=made.id, key="k", kind="approval", question="?")
            assert await store.commit(Commit(debate_id=made.id, epoch=1, status="waiting", gates=[gate])) is None
            assert await store.gates(made.id) == []

        run(check)

    def test_only_a_completed_debate_is_rated_and_the_last_rating_counts(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate(1))
            assert made.user_rating is None
            assert await store.rate(made.id, 4) is None
            assert await store.rate("nope", 4) is None
            await store.claim(made.id, "me", 10, expect=["pending"])
            assert await store.rate(made.id, 4) is None
            assert (await store.get(made.id)).user_rating is None
            await store.commit(Commit(debate_id=made.id, epoch=1, status="completed", outcome={}, release=True))
            before = await store.get(made.id)
            clock.now += 5
            rated = await store.rate(made.id, 4)
            assert rated == replace(before, user_rating=4, updated_at=clock.now)
            assert await store.rate(made.id, 1) == await store.get(made.id)
            assert (await store.get(made.id)).user_rating == 1
            other = await store.create(debate(2))
            await store.move(other.id, "canceled", expect=["pending"])
            assert await store.rate(other.id, 3) is None

        run(check)

    def test_guidance_is_kept_until_it_is_heard(self, run, clock):
        async def check(store: Store):
            made = await store.create(debate())
            one = await store.guide(made.id, "Look at cost.", by="ann")
            two = await store.guide(made.id, "And at 你好.", by="bob")
            assert one is not None
            assert two is not None
            assert (one.key, one.kind, one.status) == ("guidance/1", "guidance", "decided")
            assert (one.decision, one.reviewer, one.decided_at) == ({"text": "Look at cost."}, "ann", clock.now)
            assert [gate.key for gate in await store.gates(made.id)] == ["guidance/1", "guidance/2"]
            assert await store.gates() == []  # nothing is asked
            assert (await store.get(made.id)).guided == 2
            await store.claim(made.id, "me", 60, expect=["pending"])
            pulse = await store.pulse("me", {made.id: 1}, None)
            assert pulse.guided == {made.id: 2}

        run(check)

    def test_guidance_at_once_is_kept_each(self, run):
        async def check(store: Store):
            made = await store.create(debate())
            await asyncio.gather(*(store.guide(made.id, f"Word {n}.", by="ann") for n in range(20)))
            gates = await store.gates(made.id)
            assert {gate.key for gate in gates} == {f"guidance/{n}" for n in range(1, 21)}
            assert {gate.decision["text"] for gate in gates} == {f"Word {n}." for n in range(20)}

        run(check)

    def test_an_ended_debate_takes_no_guidance(self, run):
        async def check(store: Store):
            made = await store.create(debate())
            await store.move(made.id, "canceled", expect=["pending"])
            assert await store.guide(made.id, "Too late.", by="ann") is None
            assert await store.guide("nobody", "Where?", by="ann") is None
            assert await store.gates(made.id) == []

        run(check)

    def test_tokens_are_found_by_their_hash(self, run, clock):
        async def check(store: Store):
            made = AccessToken(id="1", name="ci 你好", hash="h1", scopes=("read", "run"))
            assert await store.add_token(made)
            assert await store.add_token(replace(made, id="2", name="Bob", hash="h2"))
            assert not await store.add_token(replace(made, id="3", hash="h3"))
            assert await store.token("h1") == replace(made, created_at=clock.now)
            assert await store.token("h3") is None
            assert [each.name for each in await store.tokens()] == ["Bob", "ci 你好"]
            assert await store.drop_token("1")
            assert not await store.drop_token("1")
            assert await store.token("h1") is None

        run(check)

    def test_a_session_goes_with_its_token_or_its_time(self, run, clock):
        async def check(store: Store):
            token = AccessToken(id="1", name="ann", hash="h", scopes=("read",))
            await store.add_token(token)
            for n in (1, 2):
                session = replace(token, id=f"s{n}", hash=f"hs{n}", parent="1", expires_at=clock.now + 10 * n)
                assert await store.add_token(session)
            assert [each.id for each in await store.tokens()] == ["1"]
            clock.now += 10
            assert await store.token("hs1") is None
            assert (await store.token("hs2")).parent == "1"
            await store.drop_token("1")
            assert await store.token("hs2") is None

        run(check)

    def test_a_reservation_is_held_by_the_first(self, run, clock):
        async def check(store: Store):
            one, two = (Reservation(key="k", hash=f"h{n}", debate_id=f"d{n}") for n in (1, 2))
            held = await asyncio.gather(store.reserve(one, 60), store.reserve(two, 60))
            assert held == [one, one]
            await store.answer_reservation("k", '{"status": 201}')
            assert await store.reserve(two, 60) == replace(one, response='{"status": 201}')
            clock.now += 61
            assert await store.reserve(two, 60) == two

        run(check)

    async def completed(self, store: Store, *numbers: int, clock: Clock | None = None) -> list[str]:
        for n in numbers:
            if clock is not None:
                clock.now += 1
            await store.create(debate(n))
            await store.claim(debate(n).id, "me", 10, expect=["pending"])
            done = Commit(debate_id=debate(n).id, epoch=1, status="completed", outcome={"winner": "a"}, release=True)
            await store.commit(done)
        return [debate(n).id for n in numbers]

    def test_completed_debates_wait_to_be_remembered_the_newest_first(self, run, clock):
        async def check(store: Store):
            ids = await self.completed(store, 1, 2, 3, clock=clock)
            await store.create(debate(4))
            other = await store.create(debate(5))
            await store.move(other.id, "canceled", expect=["pending"])
            for embedder in ("", "e1"):
                assert [d.id for d in await store.unremembered(embedder, 10)] == ids[::-1]
                assert [d.id for d in await store.unremembered(embedder, 2)] == ids[:0:-1]
            assert (await store.unremembered("", 1))[0] == await store.get(ids[2])
            await store.remember([memorized(2), memorized(3, embedder="e1", embedding=b"1234")])
            assert [d.id for d in await store.unremembered("", 10)] == ids[:1]
            # With an embedder, those that lack its vector come after those that are not remembered at all.
            assert [d.id for d in await store.unremembered("e1", 10)] == ids[:2]
            first, *others = await store.unremembered("e2", 10)
            assert first.id == ids[0]
            assert {other.id for other in others} == set(ids[1:])
            await store.remember([memorized(1)])
            assert await store.unremembered("", 10) == []
            before = await store.get(ids[0])
            await store.remember([])
            assert await store.get(ids[0]) == before

        run(check)

    def test_words_are_found_more_and_rarer_ones_first(self, run):
        async def check(store: Store):
            ids = await self.completed(store, *range(1, 9))
            words = [["plan", "cach"], ["plan", "redis"], ["plan", "redis", "cach"], ["缓存", "plan"], ["plan", "plan"]]
            await store.remember([memorized(n, words) for n, words in enumerate(words, 1)])
            await store.remember([memorized(n, ["plan"]) for n in (6, 7, 8)])
            hits = await store.search(["redis", "cach"], 10)
            assert hits.ids[0] == ids[2]
            assert set(hits.ids) == set(ids[:3])
            assert hits.total == 8
            assert hits.having == {"redis": 2, "cach": 2}
            assert (await store.search(["缓存", "plan"], 1)).ids == [ids[3]]
            assert (await store.search(["plan", "redis"], 2)).having == {"plan": 8, "redis": 2}
            assert set((await store.search(["plan", "redis"], 2)).ids) == {ids[1], ids[2]}
            nothing = await store.search(["nowhere"], 10)
            assert (list(nothing.ids), dict(nothing.having)) == ([], {"nowhere": 0})
            assert list((await store.search([], 10)).ids) == []

        run(check)

    @pytest.mark.parametrize(
        "word", ['"', "'", "a*", "NEAR", "AND", "OR", "NOT", "x:y", "a-b", "(", "\\", "%", ";--", "|"]
    )
    def test_no_word_is_more_than_a_word(self, run, word):
        async def check(store: Store):
            await self.completed(store, 1)
            await store.remember([memorized(1, ["plan", "near", "and"])])
            hits = await store.search([word, "plan"], 10)
            assert hits.ids == [debate(1).id]
            assert list((await store.search([word], 10)).ids) in ([], [debate(1).id])

        run(check)

    def test_a_search_can_leave_out_what_decided_nothing_and_demonstrations(self, run):
        async def check(store: Store):
            ids = await self.completed(store, 1, 2, 3, 4)
            kinds = [(True, False), (False, False), (True, True), (False, True)]
            await store.remember(
                [
                    memorized(
                        n, ["plan"], embedder="e", embedding=b"1234", decided=decided, demonstration=demonstration
                    )
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

        run(check)

    def test_vectors_come_in_order_and_in_pages(self, run):
        async def check(store: Store):
            ids = await self.completed(store, 1, 2, 3)
            none = await store.vectors("e")
            assert (none.total, list(none.vectors)) == (0, [])
            made = [memorized(n, embedder="e", embedding=bytes([n] * 8)) for n in (1, 2, 3)]
            await store.remember(made)
            first = await store.vectors("e", limit=2)
            assert first.total == 3
            assert [(v.debate_id, v.embedding) for v in first.vectors] == [
                (ids[0], b"\x01" * 8),
                (ids[1], b"\x02" * 8),
            ]
            rest = await store.vectors("e", first.vectors[-1].place)
            assert [v.debate_id for v in rest.vectors] == ids[2:]
            assert rest.total == 3
            assert list((await store.vectors("e", rest.vectors[-1].place)).vectors) == []
            assert (await store.vectors("other")).total == 0

        run(check)

    def test_what_is_remembered_again_gets_the_vector_and_loses_none(self, run):
        async def check(store: Store):
            (one,) = await self.completed(store, 1)
            await asyncio.gather(*(store.remember([memorized(1, ["plan"])]) for _ in range(5)))
            assert (await store.search(["plan"], 10)).ids == [one]
            await store.remember([memorized(1, ["plan"], embedder="e1", embedding=b"1111")])
            await store.remember([memorized(1, ["plan"])])  # someone without an embedder
            assert [v.embedding for v in (await store.vectors("e1")).vectors] == [b"1111"]
            assert await store.unremembered("e1", 10) == []
            await store.remember([memorized(1, ["plan"], embedder="e2", embedding=b"2222")])
            assert (await store.vectors("e1")).total == 0
            assert [v.embedding for v in (await store.vectors("e2")).vectors] == [b"2222"]
            assert (await store.search(["plan"], 10)).having == {"plan": 1}
            await store.remember([memorized(9, ["plan"])])  # there is no such debate
            assert (await store.search(["plan"], 10)).ids == [one]

        run(check)

    def test_embeddings_of_other_texts_are_kept_by_their_hash(self, run):
        async def check(store: Store):
            assert await store.embeddings("e1", ["a", "b"]) == {}
            await store.keep_embeddings("e1", {"a": b"1", "b": b"\x00\xff"})
            await store.keep_embeddings("e2", {"a": b"2"})
            await store.keep_embeddings("e1", {"a": b"other"})
            await store.keep_embeddings("e1", {})
            assert await store.embeddings("e1", ["a", "b", "c"]) == {"a": b"1", "b": b"\x00\xff"}
            assert await store.embeddings("e2", ["a", "b"]) == {"a": b"2"}
            assert await store.embeddings("e1", []) == {}

        run(check)


def memorized(n: int, words: Sequence[str] = ("word",), **more: Any) -> Memorized:
    return Memorized(**{"debate_id": debate(n).id, "words": words, "decided": True, "demonstration": False, **more})
