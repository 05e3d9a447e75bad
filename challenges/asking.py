"""A server, its database, and what is expected of them. Only the standard library; PostgreSQL needs asyncpg."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any

PATIENCE = 300.0  # seconds for one debate
REST = ("completed", "canceled", "stopped", "failed", "waiting")
TASK = (
    "Return the item of a list whose second appearance comes earliest, or None if no item appears twice.\n"
    "Items are whole numbers or texts."
)  # of the corpus, so that simulated engineers can write code for it


class Failed(Exception):
    """An expectation that does not hold."""


class Place:
    """A running server and its database: the file of SQLite, or the address of PostgreSQL."""

    def __init__(self, url: str, database: str, *, token: str = "", say: Callable[[str], None] = print) -> None:
        self.url, self.database, self._token, self._say = url.rstrip("/"), database, token, say

    def check(self, what: str, holds: object) -> None:
        if not holds:
            raise Failed(what)
        self._say(f"  ok  {what}")

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the JSON of an answer, whatever the status is."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read() or b"null")

    def get(self, path: str) -> Any:
        status, answer = self.call("GET", path)
        if status != 200:
            raise Failed(f"GET {path} gave {status}: {answer}")
        return answer

    def post(self, path: str, body: Any = None) -> Any:
        status, answer = self.call("POST", path, body)
        if status not in (200, 201, 202):
            raise Failed(f"POST {path} gave {status}: {answer}")
        return answer

    def forge(self, skills: str, *, topic: str = TASK, **settings: Any) -> Any:
        """Start a forge of simulated engineers, and wait until it rests."""
        return self.rested(self.started(skills, topic=topic, **settings))

    def started(self, skills: str, *, topic: str = TASK, **settings: Any) -> str:
        model = f"sim:?{skills}"
        chosen = {"model_debater": model, "model_judge": model, "clarify": "judge", "preset": "quick", "hooks": []}
        return self.post("/v1/debates", {"topic": topic, "format": "forge", "settings": {**chosen, **settings}})["id"]

    def rested(self, debate_id: str, statuses: Sequence[str] = REST) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.get(f"/v1/debates/{debate_id}")
            if found["status"] in statuses:
                return found
            if time.monotonic() > deadline:
                raise Failed(f"{debate_id} is still {found['status']}")
            time.sleep(0.05)

    def turns(self, debate_id: str) -> list[Any]:
        return self.get(f"/v1/debates/{debate_id}/turns?limit=200")["items"]

    def events(self, debate_id: str, kind: str = "") -> list[Any]:
        found = self.get(f"/v1/debates/{debate_id}/events?limit=500")["items"]
        return [event for event in found if kind in ("", event["type"])]

    def rows(self, table: str, debate_id: str, order: str) -> list[Mapping[str, Any]]:
        """What the database has of a debate, read past the server."""
        column = "id" if table == "debate_sessions" else "session_id"
        if self.database.startswith("postgres"):
            return asyncio.run(self._postgres(f"select * from {table} where {column} = $1 order by {order}", debate_id))
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as connection:
            connection.row_factory = sqlite3.Row
            found = connection.execute(f"select * from {table} where {column} = ? order by {order}", (debate_id,))
            return [dict(row) for row in found]

    async def _postgres(self, query: str, debate_id: str) -> list[Mapping[str, Any]]:
        import asyncpg

        connection = await asyncpg.connect(self.database)
        try:
            return [dict(row) for row in await connection.fetch(query, debate_id)]
        finally:
            await connection.close()


Challenge = Callable[[Place], None]


def main(challenge: Challenge) -> None:
    """Run one challenge: `python -m challenges.NAME URL DATABASE`. The token is read from MOOT_TOKEN."""
    if len(sys.argv) != 3:
        sys.exit(f"usage: python -m {challenge.__module__} URL DATABASE")
    place = Place(sys.argv[1], sys.argv[2], token=os.environ.get("MOOT_TOKEN", ""))
    try:
        challenge(place)
    except Failed as failed:
        sys.exit(f"  NO  {failed}")
