"""What people say and are: answers, ratings, guidance, tokens; and requests that come twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from moot.store import AccessToken, Commit, Reservation, Store
from moot.types import Cursor, Gate
from tests.store.samples import Clock, debate


class PeopleContract:
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
