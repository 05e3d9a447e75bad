"""Debates, turns, events and leases in PostgreSQL."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Unpack

from moot.core.types import Debate, Event, Json, Shown, Status, Turn
from moot.store import Commit, Committed, HeartbeatReply, Page, PageQuery, Viewer, spending
from moot.store.columns import Row, dumps
from moot.store.postgres.connections import Connection, Statement, raw_sql, sql
from moot.store.postgres.database import Database
from moot.store.postgres.faults import DELETED, UNIQUE, readable, sqlstate
from moot.store.postgres.writer import Job, json_rows
from moot.store.rows import (
    creation_values,
    debate_of,
    ending_values,
    event_of,
    gate_values,
    heartbeat_reply,
    intact,
    new_id,
    numbered,
    page_of,
    page_query,
    seen_values,
    step_values,
    turn_json,
    turn_of,
    viewer_values,
    without_driver,
)

CONTAINS = "(position(lower(:contains) in lower(topic)) > 0 or position(lower(:contains) in lower(title)) > 0)"
TAGGED = "position(:tag in tags) > 0"


class PostgresDebates(Database):
    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        await self.open()
        values = {
            **creation_values(debate, turns, events, self.now()),
            "turns": json_rows([turn_json(turn, debate.id) for turn in turns]),
            "events": json_rows(_events_json(debate.id, events)),
        }

        async def work(connection: Connection, retried: bool) -> Row | None:
            try:
                return (await sql("create").on(connection, values))[0]
            except Exception as error:
                if sqlstate(error) == DELETED:
                    return None
                if not retried or sqlstate(error) != UNIQUE:
                    raise
                return (await sql("get_session").on(connection, values))[0]

        row = await self.with_connection(work)
        if row is None:
            raise await self._missing(debate.id)
        return debate_of(row)

    async def get(self, debate_id: str) -> Debate:
        rows = await self._rows("get_session", id=debate_id)
        if not rows:
            raise await self._missing(debate_id)
        return debate_of(rows[0])

    async def find(self, prefix: str, viewer: Viewer | None = None) -> Sequence[str]:
        return [row["id"] for row in await self._rows("find_ids", prefix=prefix, **viewer_values(viewer))]

    async def page(self, **query: Unpack[PageQuery]) -> Page:
        filters, values = page_query(CONTAINS, TAGGED, query)
        return page_of(await self.with_connection(lambda c, _: page_statement(filters).on(c, values)), values)

    async def turns(self, debate_id: str, after: int = 0) -> Sequence[Turn]:
        return [turn_of(row) for row in await self._rows("turns", id=debate_id, after=after)]

    async def events(self, debate_id: str, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        return [event_of(row) for row in await self._rows("events", id=debate_id, after=after, limit=limit)]

    async def claim(
        self,
        debate_id: str,
        owner: str,
        seconds: float,
        *,
        expect: Collection[Status],
        dead: str | None = None,
        alone: bool = False,
        seen: Debate | None = None,
    ) -> Debate | None:
        values = {"id": debate_id, "owner": owner, "seconds": seconds, "alone": alone, "dead": dead}
        values |= {"expect": list(expect), **seen_values(seen), "write_id": _write_id()}
        row = await self._change("claim", values, arrived="claimed")
        return None if row is None else debate_of(row)

    async def commit(self, commit: Commit) -> Committed | None:
        await self.open()
        now, debate_id, events = self.now(), commit.debate_id, commit.events
        job = Job(
            session={
                **step_values(commit, now),
                **ending_values(commit),
                **spending.commit_values(commit, now),
                "write_id": _write_id(),
            },
            turns=[turn_json(turn, debate_id) for turn in commit.turns],
            events=_events_json(debate_id, events),
            gates=[gate_values(gate, new_id(now), now) for gate in commit.gates],
            artifacts=commit.artifacts,
        )
        try:
            row = await self._writer.commit(job)
        except Exception as error:
            raise readable(error, self.address) from error
        if row is None:
            return None
        return Committed(status=row["status"], events=numbered(row["last_seq"] - len(events) + 1, events, now))

    async def move(
        self,
        debate_id: str,
        to: Status,
        *,
        expect: Collection[Status],
        events: Sequence[Shown] = (),
        seen: Debate | None = None,
    ) -> Debate | None:
        values = {"id": debate_id, "to": to, "expect": list(expect), "count": len(events), **seen_values(seen)}
        values["events"] = json_rows(_events_json(debate_id, events))
        row = await self._change("move", values, arrived="moved")
        return None if row is None else debate_of(row)

    async def set_private(self, debate_id: str, private: bool, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, "private": int(private), **seen_values(seen)}
        row = await self._change("set_private", values, arrived="private_arrived")
        return None if row is None else debate_of(row)

    async def heartbeat(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> HeartbeatReply:
        if seconds is not None and epochs:
            values = {"ids": list(epochs), "epochs": list(epochs.values()), "owner": owner, "seconds": seconds}
            await self._with_retries(lambda _: self._writer.alone("renew", {**values, "now": self.now()}))
        return heartbeat_reply(await self._rows("owned", owner=owner), epochs)

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        return without_driver(map(intact, await self._rows("live")), self.now(), is_dead)


@cache
def page_statement(filters: str) -> Statement:
    return Statement(raw_sql("page").replace("/* filters */", filters))


def _write_id() -> str:
    return f"{random.getrandbits(64):016x}"


def _events_json(debate_id: str, events: Sequence[Shown]) -> list[Json]:
    return [
        {
            "session_id": debate_id,
            "n": n,
            "type": event.type,
            "key": event.key,
            "data": dumps(event.data) if event.data else "{}",
        }
        for n, event in enumerate(events, 1)
    ]
