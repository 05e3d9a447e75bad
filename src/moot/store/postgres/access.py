"""API tokens, browser sessions, shares and idempotency keys in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from moot.store import TOUCH_SECONDS, AccessToken, IdempotencyKey
from moot.store.postgres.database import Database
from moot.store.rows import key_of, token_of, token_values


class PostgresAccess(Database):
    async def add_token(self, token: AccessToken) -> bool:
        values = {**token_values(token), "created_at": self.now()}
        await self._rows("expire_tokens")
        return await self._change("add_token", values, arrived="added_token") is not None

    async def tokens(self) -> Sequence[AccessToken]:
        return [token_of(row) for row in await self._rows("tokens")]

    async def token(self, hash: str) -> AccessToken | None:
        rows = await self._rows("token", hash=hash)
        return token_of(rows[0]) if rows else None

    async def share(self, hash: str) -> AccessToken | None:
        rows = await self._rows("share", hash=hash)
        return token_of(rows[0]) if rows else None

    async def shares(self, debate_id: str) -> Sequence[AccessToken]:
        return [token_of(row) for row in await self._rows("shares", id=debate_id)]

    async def drop_token(self, token_id: str) -> bool:
        return await self._change("delete_token", {"id": token_id}) is not None

    async def touch_token(self, token: AccessToken) -> None:
        await self._rows("touch_token", id=token.id, parent=token.parent, before=self.now() - TOUCH_SECONDS)

    async def rotate_token(
        self, token_id: str, hash: str, *, grace_seconds: float, expires_at: float | None
    ) -> AccessToken | None:
        values = {"id": token_id, "hash": hash, "until": self.now() + grace_seconds, "expires_at": expires_at}
        await self._rows("shorten_sessions", **values)
        row = await self._change("rotate_token", values, arrived="rotated_token")
        return None if row is None else token_of(row)

    async def reserve_key(self, key: IdempotencyKey, keep_seconds: float) -> IdempotencyKey:
        await self._rows("forget_keys", before=self.now() - keep_seconds)
        values = {"key": key.key, "hash": key.hash, "debate_id": key.debate_id}
        await self._change("reserve_key", values)
        rows = await self._rows("key", key=key.key)
        return key_of(rows[0]) if rows else key

    async def answer_key(self, key: str, response: str) -> None:
        await self._rows("answer_key", key=key, response=response)

    async def release_key(self, key: str, debate_id: str) -> None:
        await self._rows("release_key", key=key, debate_id=debate_id)
