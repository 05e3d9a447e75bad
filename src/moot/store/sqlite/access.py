"""API tokens, browser sessions, shares and idempotency keys in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from moot.store import TOUCH_SECONDS, AccessToken, IdempotencyKey
from moot.store.rows import key_of, token_of, token_values
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database


class SqliteAccess(Database):
    async def add_token(self, token: AccessToken) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            now = self._now()
            values = {**token_values(token), "created_at": now, "now": now}
            connection.execute(sql("expire_tokens"), values)
            return connection.execute(sql("insert_token"), values).rowcount > 0

        return await self._writer.do(work)

    async def tokens(self) -> Sequence[AccessToken]:
        return await self._rows("tokens", token_of)

    async def token(self, hash: str) -> AccessToken | None:
        found = await self._rows("token", token_of, hash=hash)
        return found[0] if found else None

    async def share(self, hash: str) -> AccessToken | None:
        found = await self._rows("share", token_of, hash=hash)
        return found[0] if found else None

    async def shares(self, debate_id: str) -> Sequence[AccessToken]:
        return await self._rows("shares", token_of, id=debate_id)

    async def drop_token(self, token_id: str) -> bool:
        return await self._writer.do(lambda c: c.execute(sql("delete_token"), {"id": token_id}).rowcount > 0)

    async def touch_token(self, token: AccessToken) -> None:
        now = self._now()
        await self._change(
            "touch_token", {"id": token.id, "parent": token.parent, "now": now, "before": now - TOUCH_SECONDS}
        )

    async def rotate_token(
        self, token_id: str, hash: str, *, grace_seconds: float, expires_at: float | None
    ) -> AccessToken | None:
        values = {"id": token_id, "hash": hash, "until": self._now() + grace_seconds, "expires_at": expires_at}

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            connection.execute(sql("shorten_sessions"), values)
            return connection.execute(sql("rotate_token"), values).fetchone()

        row = await self._writer.do(work)
        return None if row is None else token_of(row)

    async def reserve_key(self, key: IdempotencyKey, keep_seconds: float) -> IdempotencyKey:
        values = {"key": key.key, "hash": key.hash, "debate_id": key.debate_id}

        def work(connection: sqlite3.Connection) -> sqlite3.Row:
            now = self._now()
            connection.execute(sql("forget_keys"), {"before": now - keep_seconds})
            connection.execute(sql("reserve_key"), {**values, "now": now})
            return connection.execute(sql("key"), values).fetchone()

        return key_of(await self._writer.do(work))

    async def answer_key(self, key: str, response: str) -> None:
        await self._change("answer_key", {"key": key, "response": response})

    async def release_key(self, key: str, debate_id: str) -> None:
        await self._change("release_key", {"key": key, "debate_id": debate_id})
