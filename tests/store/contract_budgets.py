"""What was spent on a day, and what calls in flight may still spend."""

from __future__ import annotations

import asyncio

import pytest

from moot.core.ceilings import Reserved, Spending
from moot.core.errors import OverBudget, Superseded
from moot.core.settings import Ceilings
from moot.core.types import Usage
from moot.store import Commit, Store, Viewer
from tests.store.samples import claimed, completed, debate, entry, turn

ROOMY = Ceilings(day_usd=1000)


async def driven(store: Store, n: int = 0, token_id: str = "ann") -> tuple[str, int]:
    made = await claimed(store, n, token_id=token_id)
    return made.id, made.epoch


class BudgetsContract:
    async def test_a_commit_books_what_its_turns_and_lost_calls_used(self, store: Store):
        one, epoch = await driven(store)
        first, second = turn("1/speak/a", 1), turn("1/speak/b", 2, cost_usd=None, tokens_out=5)
        assert await store.commit(Commit(debate_id=one, epoch=epoch, turns=[first, second]))
        lost = Usage(tokens_in=1, tokens_out=3, cost_usd=0.5)
        assert await store.commit(Commit(debate_id=one, epoch=epoch, status="stopped", lost=lost, release=True))
        other, epoch = await driven(store, 1, "bob")
        assert await store.commit(Commit(debate_id=other, epoch=epoch, turns=[first]))
        today = await store.today("ann")
        assert today.caller == Spending(cost_usd=0.75, tokens=28)
        assert today.all == Spending(cost_usd=1.0, tokens=48)
        assert list(await store.spenders()) == ["ann", "bob"]
        assert (await store.today("")).caller == Spending()

    async def test_turns_that_a_fork_takes_over_are_not_paid_again(self, store: Store):
        await store.create(debate(1, token_id="ann"), turns=[turn()])
        assert (await store.today("ann")).all == Spending()

    async def test_a_reservation_is_replaced_and_ends_with_the_commit(self, store: Store):
        one, epoch = await driven(store)
        for usd in (0.5, 0.25):
            held = Reserved(cost_usd=usd, tokens=100)
            assert await store.reserve(one, "ann", epoch, held, Ceilings(day_usd=0.6)) is None
        assert (await store.today("ann")).all == Spending(reserved_usd=0.25, reserved_tokens=100)
        left = Reserved(cost_usd=0.125, tokens=50)
        await store.commit(Commit(debate_id=one, epoch=epoch, turns=[turn()], reserved=left))
        spent = Spending(cost_usd=0.25, tokens=20, reserved_usd=0.125, reserved_tokens=50)
        assert (await store.today("ann")).caller == spent
        await store.commit(Commit(debate_id=one, epoch=epoch, status="stopped", release=True, reserved=Reserved()))
        assert (await store.today("ann")).all == Spending(cost_usd=0.25, tokens=20)

    @pytest.mark.parametrize("whose", ["caller", "day"])
    async def test_of_many_that_want_the_last_cent_only_so_many_get_it(self, store: Store, whose):
        drives = [await driven(store, n) for n in range(8)]
        ceilings = Ceilings(**{f"{whose}_usd": 1.0})
        held = Reserved(cost_usd=0.25, tokens=10)
        answers = await asyncio.gather(*(store.reserve(one, "ann", n, held, ceilings) for one, n in drives))
        assert sum(each is None for each in answers) == 4
        assert all(each is None or isinstance(each, OverBudget) for each in answers)
        assert (await store.today("ann")).all.most_usd == 1.0

    async def test_what_a_killed_process_had_reserved_stays_paid_for(self, store: Store):
        one, epoch = await driven(store)
        await store.reserve(one, "ann", epoch, Reserved(cost_usd=0.5, tokens=10), ROOMY)
        again = await store.claim(one, "other", 60, expect=("running",), dead="me")
        assert again is not None
        await store.commit(Commit(debate_id=one, epoch=again.epoch, reserved=Reserved()))
        assert (await store.today("ann")).all == Spending(reserved_usd=0.5, reserved_tokens=10)
        with pytest.raises(Superseded):
            await store.reserve(one, "ann", epoch, Reserved(cost_usd=0.1, tokens=1), ROOMY)
        await store.book(one, "ann", epoch, Usage(tokens_out=5, cost_usd=0.1))  # it counts as unsettled already
        await store.commit(Commit(debate_id=one, epoch=again.epoch, turns=[turn()], reserved=Reserved()))
        spent = Spending(cost_usd=0.25, tokens=20, reserved_usd=0.5, reserved_tokens=10)
        assert (await store.today("ann")).all == spent

    async def test_a_new_day_begins_with_nothing_spent(self, store: Store, clock):
        one, epoch = await driven(store)
        await store.commit(Commit(debate_id=one, epoch=epoch, turns=[turn()]))
        clock.now = (await store.today("")).opens_at
        assert (await store.today("ann")).all == Spending()
        await store.commit(Commit(debate_id=one, epoch=epoch, turns=[turn("2/speak/a", 2)]))
        assert (await store.today("ann")).all == Spending(cost_usd=0.25, tokens=20)

    async def test_a_private_debate_is_found_by_its_token_alone(self, store: Store, clock):
        for n, (token, private) in enumerate((("ann", True), ("bob", False), ("bob", True))):
            await completed(store, n, token_id=token, private=private)
        await store.remember([entry(0, ["red"]), entry(1, ["red"]), entry(2, ["red"])])
        ids = [debate(n).id for n in range(3)]
        seen = {None: {0, 1, 2}, Viewer(token="ann"): {0, 1}, Viewer(token="bob"): {1, 2}, Viewer(): {1}}
        seen |= {Viewer(token="bob", shared=False): {1, 2}, Viewer(token="", shared=False): set()}
        for viewer, places in seen.items():
            expected = {ids[n] for n in places}
            found = (await store.page(viewer=viewer)).debates
            assert {each.id for each in found} == expected
            assert set(await store.find("0000000", viewer)) == expected
            assert set((await store.search(["red"], 10, viewer=viewer)).ids) == expected
            assert {each.id for each in found if viewer is None or viewer.sees(each)} == expected

    async def test_a_debate_is_made_private_and_shown_again(self, store: Store, clock):
        made = await store.create(debate(0))
        clock.now += 1
        hidden = await store.set_private(made.id, True, seen=made)
        assert (hidden.private, hidden.updated_at) == (True, clock.now)
        clock.now += 1
        assert await store.set_private(made.id, True) == hidden, "it is private already"
        assert await store.set_private(made.id, False, seen=made) is None, "it has changed since"
        assert await store.get(made.id) == hidden
        assert (await store.set_private(made.id, False, seen=hidden)).private is False
        assert await store.set_private(debate(1).id, True) is None
