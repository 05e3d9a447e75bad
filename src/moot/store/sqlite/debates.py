"""Debates, turns, events and leases in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Unpack

from moot.core.artifacts import ARTIFACTS
from moot.core.types import Debate, Event, Shown, Status, Turn
from moot.store import Commit, Committed, HeartbeatReply, Page, PageQuery, Viewer, spending
from moot.store.artifacts import artifact_values
from moot.store.columns import dumps
from moot.store.rows import (
    creation_values,
    debate_of,
    ending_values,
    event_of,
    event_row,
    gate_values,
    heartbeat_reply,
    intact,
    missing,
    new_id,
    numbered,
    page_of,
    page_query,
    seen_values,
    step_values,
    tombstone_of,
    turn_of,
    turn_row,
    viewer_values,
    without_driver,
)
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database

INSERT_TURN, INSERT_EVENT, STEP, COMMIT, BOOK = (
    sql(name) for name in ("insert_turn", "insert_event", "step", "commit", "book_spending")
)
CONTAINS = "(instr(lowered(topic), lowered(:contains)) or instr(lowered(title), lowered(:contains)))"
TAGGED = "instr(tags, :tag)"
INSERT = {kind: sql(f"insert_{kind}") for kind in ARTIFACTS}


class SqliteDebates(Database):
    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        now = self._now()
        values = creation_values(debate, turns, events, now)
        turn_rows = [turn_row(turn, debate.id) for turn in turns]
        event_rows = [event_row(debate.id, seq, event, now) for seq, event in enumerate(events, 1)]

        def work(connection: sqlite3.Connection) -> None:
            refuse_deleted(connection, debate.id)
            connection.execute(sql("insert_session"), values)
            connection.executemany(INSERT_TURN, turn_rows)
            connection.executemany(INSERT_EVENT, event_rows)

        await self._writer.do(work)
        return await self.get(debate.id)

    async def get(self, debate_id: str) -> Debate:
        found = await self._rows("get_session", debate_of, id=debate_id)
        if not found:
            raise await self._missing(debate_id)
        return found[0]

    async def find(self, prefix: str, viewer: Viewer | None = None) -> Sequence[str]:
        return await self._rows("find_ids", lambda row: row["id"], prefix=prefix, **viewer_values(viewer))

    async def page(self, **query: Unpack[PageQuery]) -> Page:
        filters, values = page_query(CONTAINS, TAGGED, query)
        statement = sql("page").replace("/* filters */", filters)
        return page_of(await self._read(lambda c: c.execute(statement, values).fetchall()), values)

    async def turns(self, debate_id: str, after: int = 0) -> Sequence[Turn]:
        return await self._rows("turns", turn_of, id=debate_id, after=after)

    async def events(self, debate_id: str, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        return await self._rows("events", event_of, id=debate_id, after=after, limit=limit)

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
        values |= {"expect": dumps(list(expect)), **seen_values(seen)}

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            taken = connection.execute(sql("claim"), {**values, "now": self._now()}).rowcount
            return connection.execute(sql("get_session"), {"id": debate_id}).fetchone() if taken else None

        row = await self._writer.do(work)
        return None if row is None else debate_of(row)

    async def commit(self, commit: Commit) -> Committed | None:
        now, debate_id, events = self._now(), commit.debate_id, commit.events
        statement, values = _change(commit, now)
        turns = [turn_row(turn, debate_id) for turn in commit.turns]
        gates = [gate_values(gate, new_id(now), now) for gate in commit.gates]
        artifacts = [(INSERT[each.kind], tuple(artifact_values(each).values())) for each in commit.artifacts]
        spent = spending.commit_values(commit, now)

        def work(connection: sqlite3.Connection) -> tuple[int, Status] | None:
            held = connection.execute(statement, values).fetchone()
            if held is None:
                return None
            for turn in turns:
                connection.execute(INSERT_TURN, turn)
            for insert, row in artifacts:
                connection.execute(insert, row)
            for gate in gates:
                connection.execute(sql("open_gate"), gate)
            last_seq, status, token_id = held
            if spent["books"]:
                connection.execute(
                    BOOK, {**spent, **spending.driver_values(debate_id, token_id, commit.epoch)}
                ).fetchone()
            first = last_seq - len(events) + 1
            for seq, event in enumerate(events, first):
                connection.execute(INSERT_EVENT, event_row(debate_id, seq, event, now))
            return first, status

        done = await self._writer.do(work)
        if done is None:
            return None
        first, status = done
        return Committed(status=status, events=numbered(first, events, now))

    async def move(
        self,
        debate_id: str,
        to: Status,
        *,
        expect: Collection[Status],
        events: Sequence[Shown] = (),
        seen: Debate | None = None,
    ) -> Debate | None:
        now = self._now()
        values = {"id": debate_id, "to": to, "expect": dumps(list(expect)), "now": now, "events": len(events)}
        values |= seen_values(seen)

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            moved = connection.execute(sql("move"), values).fetchone()
            if moved is None:
                return None
            for seq, event in enumerate(events, moved["last_seq"] - len(events) + 1):
                connection.execute(INSERT_EVENT, event_row(debate_id, seq, event, now))
            return connection.execute(sql("get_session"), {"id": debate_id}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else debate_of(row)

    async def set_private(self, debate_id: str, private: bool, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, "private": int(private), "now": self._now(), **seen_values(seen)}
        row = await self._change("set_private", values)
        return None if row is None else debate_of(row)

    async def heartbeat(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> HeartbeatReply:
        if seconds is not None:
            renewals = [
                {"id": debate_id, "epoch": epoch, "owner": owner, "seconds": seconds}
                for debate_id, epoch in epochs.items()
            ]

            def work(connection: sqlite3.Connection) -> None:
                now = self._now()
                connection.executemany(sql("renew"), [{**renewal, "now": now} for renewal in renewals])

            await self._writer.do(work)
        return heartbeat_reply(await self._rows("owned", lambda row: row, owner=owner), epochs)

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        return without_driver(await self._rows("live", intact), self._now(), is_dead)


def refuse_deleted(connection: sqlite3.Connection, debate_id: str) -> None:
    """Raises DebateDeleted when a debate with this id was deleted."""
    row = connection.execute(sql("tombstone"), {"prefix": debate_id}).fetchone()
    if row is not None and row["id"] == debate_id:
        raise missing(debate_id, tombstone_of(row))


def _change(commit: Commit, now: float) -> tuple[str, Mapping[str, Any]]:
    """The statement that changes the session, and its values."""
    values = step_values(commit, now)
    if commit.cursor is not None and commit.status is None and commit.lost is None and not commit.release:
        return STEP, values
    return COMMIT, {**values, **ending_values(commit)}
