"""API tokens, browser sessions, shares and idempotency keys."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from moot.store import AccessToken, IdempotencyKey, Store
from tests.store.samples import debate


class AccessContract:
    async def test_tokens_are_found_by_their_hash(self, store: Store, clock):
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

    async def test_a_session_ends_with_its_token_or_at_its_expiry(self, store: Store, clock):
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

    async def test_a_rotated_token_is_found_by_both_secrets_until_the_old_one_ends(self, store: Store, clock):
        token = AccessToken(id="1", name="ann", hash="old", scopes=("read",))
        await store.add_token(token)
        await store.add_token(replace(token, id="s", hash="hs", parent="1", expires_at=clock.now + 1000))
        made = await store.rotate_token("1", "new", grace_seconds=60, expires_at=clock.now + 90)
        assert made is not None
        assert (made.id, made.hash, made.expires_at) == ("1", "new", clock.now + 90)
        for found in ("old", "new", "hs"):
            assert (await store.token(found)) is not None
        clock.now += 60
        assert await store.token("old") is None
        assert await store.token("hs") is None
        assert (await store.token("new")).name == "ann"
        clock.now += 30
        assert await store.token("new") is None
        assert [each.name for each in await store.tokens()] == ["ann"]
        assert await store.rotate_token("2", "x", grace_seconds=0, expires_at=None) is None

    async def test_a_tokens_use_is_recorded_at_most_once_a_minute(self, store: Store, clock):
        token = AccessToken(id="1", name="ann", hash="h", scopes=("read",))
        session = replace(token, id="s", hash="hs", parent="1", expires_at=clock.now + 1000)
        await store.add_token(token)
        await store.add_token(session)
        began = clock.now
        for seconds, last in ((0, began), (59, began), (60, began + 60)):
            clock.now = began + seconds
            await store.touch_token(session)
            assert (await store.token("h")).last_used_at == last
            assert (await store.token("hs")).last_used_at == last

    async def test_the_first_request_holds_an_idempotency_key(self, store: Store, clock):
        one, two = (IdempotencyKey(key="k", hash=f"h{n}", debate_id=f"d{n}") for n in (1, 2))
        held = await asyncio.gather(store.reserve_key(one, 60), store.reserve_key(two, 60))
        one, two = (one, two) if held[0] == one else (two, one)  # either can be the first
        assert held == [one, one]
        await store.answer_key("k", '{"status": 201}')
        assert await store.reserve_key(two, 60) == replace(one, response='{"status": 201}')
        clock.now += 61
        assert await store.reserve_key(two, 60) == two

    async def test_a_key_is_released_by_the_debate_that_holds_it(self, store: Store):
        one, two = (IdempotencyKey(key="k", hash="h", debate_id=f"d{n}") for n in (1, 2))
        await store.reserve_key(one, 60)
        await store.release_key("k", two.debate_id)
        assert await store.reserve_key(two, 60) == one
        await store.release_key("k", one.debate_id)
        assert await store.reserve_key(two, 60) == two

    async def test_a_share_shows_one_debate_and_is_no_token(self, store: Store, clock):
        made, other = await store.create(debate(1)), await store.create(debate(2))
        share = AccessToken(id="1", name="ann", hash="h1", scopes=(), debate_id=made.id)
        await store.add_token(AccessToken(id="t", name="ann", hash="ht", scopes=("read",)))
        assert await store.add_token(share), "a name can have many"
        assert await store.add_token(replace(share, id="2", hash="h2", expires_at=clock.now + 10))
        assert await store.add_token(replace(share, id="3", hash="h3", debate_id=other.id))
        stored = replace(share, created_at=clock.now)
        assert await store.share("h1") == stored
        assert (await store.token("h1"), await store.share("ht")) == (None, None)
        assert [each.id for each in await store.tokens()] == ["t"]
        assert [each.id for each in await store.shares(made.id)] == ["1", "2"]
        clock.now += 10
        assert await store.share("h2") is None
        assert [each.id for each in await store.shares(made.id)] == ["1"]
        await store.touch_token(stored)
        assert (await store.share("h1")).last_used_at == clock.now
        assert await store.drop_token("1")
        assert await store.share("h1") is None
        assert (await store.share("h3")).debate_id == other.id
        await store.delete(other.id, by="ann")
        assert await store.share("h3") is None, "it goes with its debate"
