"""The store for many processes: PostgreSQL, one statement for each change, notices through LISTEN and NOTIFY.

A server that is restarted is waited for. Whoever lost the connection in the middle of a write can't know whether it
arrived, so every write can be made twice: each leaves a mark by which the second try finds the first."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, ClassVar, TypeVar

from moot.errors import NoSuchDebate
from moot.store import (
    AccessToken,
    Commit,
    Committed,
    Condition,
    Hits,
    Memorized,
    Notice,
    Page,
    Pulse,
    Reservation,
    Vectors,
)
from moot.store.overview import Overview, Presence
from moot.store.postgres import memories
from moot.store.postgres.address import read_address
from moot.store.postgres.clock import ServerClock
from moot.store.postgres.faults import CLASHED, NOT_YET, UNIQUE, is_lost, readable, state
from moot.store.postgres.link import Link, Links, Statement, connect, raw_sql, sql
from moot.store.postgres.overview import overview
from moot.store.postgres.schema import check_server, migrate, migrations, version_of
from moot.store.postgres.talk import Ear, Mouth
from moot.store.postgres.writer import FIRST_WAIT, LONGEST_WAIT, Job, Writer, json_rows
from moot.store.rows import (
    TURN_COLUMNS,
    Row,
    debate_of,
    dumps,
    ending_values,
    event_of,
    gate_of,
    gate_values,
    new_id,
    numbered,
    page_mark,
    read_page_mark,
    reservation_of,
    seen_values,
    session_values,
    step_values,
    sum_of,
    token_of,
    token_values,
    turn_of,
    turn_row,
)
from moot.types import Debate, Event, Gate, Json, Shown, Status, Turn

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
MOST_LINKS = 4  # besides one for commits and one that listens


class PostgresStore:
    shared: ClassVar[bool] = True

    def __init__(
        self, url: str, *, clock: Callable[[], float] | None = None, patience: float = PATIENCE_SECONDS
    ) -> None:
        """Connects when it is first used. `patience`: seconds that the server may be gone before an error is raised.
        `clock`: one that all processes share, instead of the server's."""
        self.address = read_address(url)
        self.now, self._patience = ServerClock(clock), patience
        self._retries = 0
        self._opened, self._opening = False, asyncio.Lock()
        self._links = Links(self.address, MOST_LINKS)
        self._ear, self._mouth = Ear(self._links), Mouth(self._links)
        self._writer = Writer(self._links, patience=patience, wanted=self._ear.wanted)

    async def open(self, *, patience: float = 0.0) -> None:
        """`patience`: seconds to wait for a server that does not answer; one that is just starting is waited for
        anyway. Raises NotWritable, WrongSchema or another StoreError."""
        if self._opened:
            return
        async with self._opening:
            wait, begun = FIRST_WAIT, time.monotonic()
            while not self._opened:
                try:
                    async with self._links.one() as link:
                        await check_server(link)
                        await migrate(link, self.address)
                        await self.now.look(link)
                    self._opened = True
                except Exception as error:
                    seconds = max(patience, self._patience if state(error) in NOT_YET else 0.0)
                    if not is_lost(error) or time.monotonic() - begun >= seconds:
                        raise readable(error, self.address, opening=True) from error
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, LONGEST_WAIT)

    async def writable(self) -> None:
        await self._rows("change_nothing")

    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        await self.open()
        now = self.now()
        values = {
            **session_values(debate),
            "now": now,
            "turn_count": len(turns),
            "tokens_in": sum(turn.tokens_in for turn in turns),
            "tokens_out": sum(turn.tokens_out for turn in turns),
            "cost_usd": sum_of([turn.cost_usd for turn in turns]),
            "last_seq": len(events),
            "turns": json_rows([_turn_json(turn, debate.id, now) for turn in turns]),
            "events": _events_json(debate.id, events),
        }

        async def work(link: Link, again: bool) -> Row:
            try:
                return (await sql("create").on(link, values))[0]
            except Exception as error:
                if not again or state(error) != UNIQUE:
                    raise
                return (await sql("get_session").on(link, values))[0]

        return debate_of(await self.linked(work))

    async def get(self, debate_id: str) -> Debate:
        rows = await self._rows("get_session", id=debate_id)
        if not rows:
            raise NoSuchDebate(debate_id)
        return debate_of(rows[0])

    async def find(self, prefix: str) -> Sequence[str]:
        return [row["id"] for row in await self._rows("find_ids", prefix=prefix)]

    async def page(
        self,
        *,
        status: Status | None = None,
        format: str | None = None,
        contains: str | None = None,
        parent: str | None = None,
        limit: int = 20,
        after: str | None = None,
    ) -> Page:
        created_at, last_id = read_page_mark(after)
        # Only the filters that are used, so that the index made for them is walked.
        filters = " and status = :status" if status is not None else ""
        filters += " and format = :format" if format is not None else ""
        filters += " and parent_id = :parent" if parent is not None else ""
        filters += " and position(lower(:contains) in lower(topic)) > 0" if contains is not None else ""
        filters += " and (created_at, id) < (:created_at, :id)" if after is not None else ""
        query = _page(filters)
        values = {
            "status": status,
            "format": format,
            "contains": contains,
            "parent": parent,
            "created_at": created_at,
            "id": last_id,
            "limit": limit + 1,
        }
        rows = await self.linked(lambda link, _: query.on(link, values))
        debates = [debate_of(row) for row in rows[:limit]]
        return Page(debates=debates, next=page_mark(debates[-1]) if len(rows) > limit else None)

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
        seen: Debate | None = None,
    ) -> Debate | None:
        values = {"id": debate_id, "owner": owner, "seconds": seconds, "expect": list(expect), "dead": dead}
        values |= seen_values(seen)
        row = await self._change("claim", {**values, "write_id": _mark()}, arrived="claimed")
        return None if row is None else debate_of(row)

    async def commit(self, commit: Commit) -> Committed | None:
        await self.open()
        now, debate_id, events = self.now(), commit.debate_id, commit.events
        job = Job(
            session={**step_values(commit, now), **ending_values(commit), "write_id": _mark()},
            turns=[_turn_json(turn, debate_id, now) for turn in commit.turns],
            events=[_event_json(n, event, debate_id) for n, event in enumerate(events, 1)],
            gates=[{**gate_values(gate), "id": new_id(now)} for gate in commit.gates],
        )
        try:
            row = await self._writer.commit(job)
        except Exception as error:
            raise readable(error, self.address) from error
        if row is None:
            return None
        first = row["last_seq"] - len(events) + 1
        return Committed(
            status=row["status"], events=[numbered(seq, event, now) for seq, event in enumerate(events, first)]
        )

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
        values["events"] = _events_json(debate_id, events)
        row = await self._change("move", values, arrived="moved")
        return None if row is None else debate_of(row)

    async def pulse(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> Pulse:
        if seconds is not None and epochs:
            values = {"ids": list(epochs), "epochs": list(epochs.values()), "owner": owner, "seconds": seconds}
            await self._patiently(lambda _: self._writer.alone("renew", {**values, "now": self.now()}))
        rows = await self._rows("owned", owner=owner)
        statuses = {row["id"]: row["status"] for row in rows if epochs.get(row["id"]) == row["epoch"]}
        guided = {row["id"]: row["guided"] for row in rows if row["guided"]}
        return Pulse(statuses=statuses, guided=guided, lost=epochs.keys() - statuses.keys())

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        live = [debate_of(row) for row in await self._rows("live")]
        now = self.now()
        return [
            debate
            for debate in live
            if debate.owner is None or (debate.lease_until or 0) <= now or is_dead(debate.owner)
        ]

    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        name = "gates" if debate_id is not None else "expired_gates" if expired else "open_gates"
        return [gate_of(row) for row in await self._rows(name, id=debate_id)]

    async def decide(
        self, debate_id: str, key: str, decision: Json, *, by: str, seen: Debate | None = None
    ) -> Gate | None:
        values = {"id": debate_id, "key": key, "decision": dumps(decision), "by": by, **seen_values(seen)}
        row = await self._change("decide_gate", values, arrived="decided_gate")
        return None if row is None else gate_of(row)

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate | None:
        row = await self._change("rate", {"id": debate_id, "rating": rating, **seen_values(seen)}, arrived="rated")
        return None if row is None else debate_of(row)

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate | None:
        values = {"id": debate_id, "gate_id": new_id(self.now()), "decision": dumps({"text": text}), "by": by}
        values |= seen_values(seen)
        row = await self._change("guide", values, arrived="guided_gate")
        return None if row is None else gate_of(row)

    async def unremembered(self, embedder: str, limit: int) -> Sequence[Debate]:
        found = [debate_of(row) for row in await self._rows("unremembered", limit=limit)]
        if embedder and len(found) < limit:
            more = await self._rows("remembered_otherwise", embedder=embedder, limit=limit - len(found))
            found += [debate_of(row) for row in more]
        return found

    async def remember(self, memorized: Sequence[Memorized]) -> None:
        await self.linked(lambda link, _: memories.remember(link, memorized, self.now()))

    async def search(
        self, words: Sequence[str], limit: int, *, decided: bool = False, demonstrations: bool = True
    ) -> Hits:
        return await self.linked(
            lambda link, _: memories.search(link, words, limit, decided=decided, demonstrations=demonstrations)
        )

    async def vectors(self, embedder: str, after: int = 0, limit: int = 5000) -> Vectors:
        return await self.linked(lambda link, _: memories.vectors(link, embedder, after, limit))

    async def embeddings(self, embedder: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        rows = await self._rows("embeddings", embedder=embedder, hashes=list(hashes))
        return {row["hash"]: row["embedding"] for row in rows}

    async def keep_embeddings(self, embedder: str, embeddings: Mapping[str, bytes]) -> None:
        if embeddings:
            hashes, kept = list(embeddings), list(embeddings.values())
            await self._rows("keep_embeddings", embedder=embedder, hashes=hashes, embeddings=kept)

    async def add_token(self, token: AccessToken) -> bool:
        await self._rows("expire_tokens")
        return await self._change("add_token", token_values(token), arrived="added_token") is not None

    async def tokens(self) -> Sequence[AccessToken]:
        return [token_of(row) for row in await self._rows("tokens")]

    async def token(self, hash: str) -> AccessToken | None:
        rows = await self._rows("token", hash=hash)
        return token_of(rows[0]) if rows else None

    async def drop_token(self, token_id: str) -> bool:
        return await self._change("delete_token", {"id": token_id}) is not None

    async def reserve(self, reservation: Reservation, keep_seconds: float) -> Reservation:
        await self._rows("forget_reservations", before=self.now() - keep_seconds)
        values = {"key": reservation.key, "hash": reservation.hash, "debate_id": reservation.debate_id}
        await self._change("reserve", values)
        rows = await self._rows("reservation", key=reservation.key)
        return reservation_of(rows[0]) if rows else reservation

    async def answer_reservation(self, key: str, response: str) -> None:
        await self._rows("answer_reservation", key=key, response=response)

    @property
    def retries(self) -> int:
        """How often the server was tried again after it was gone."""
        return self._retries + self._writer.retries

    async def overview(self, seconds: float) -> Overview:
        return await self.linked(lambda link, _: overview(link, self.now(), seconds))

    async def check_in(self, worker: Presence) -> None:
        """A worker says that it is there."""
        values = {**asdict(worker), "now": self.now()}
        await self.linked(lambda link, _: sql("check_in").on(link, values))

    async def check_out(self, name: str) -> None:
        """It is no longer there."""
        await self.linked(lambda link, _: sql("check_out").on(link, {"name": name}))

    def notices(self) -> AsyncGenerator[Notice]:
        return self._ear.notices()

    def follow(self, debate_id: str) -> None:
        self._ear.follow(debate_id)

    def unfollow(self, debate_id: str) -> None:
        self._ear.unfollow(debate_id)

    def say(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        if self._ear.wanted(debate_id):
            self._mouth.say(debate_id, key, offset, text, about)

    async def linked(self, work: Callable[[Link, bool], Awaitable[T]]) -> T:
        """Do something on a connection, and wait for a server that is gone. `work` is told whether it is done again,
        and may have been done before."""

        async def attempt(again: bool) -> T:
            async with self._links.one() as link:
                await self.now.look(link)
                return await work(link, again)

        return await self._patiently(attempt)

    async def close(self) -> None:
        await self._ear.close()
        await self._mouth.close()
        await self._writer.close()
        await self._links.close()

    async def _rows(self, name: str, **values: Any) -> Sequence[Row]:
        return await self.linked(lambda link, _: sql(name).on(link, {"now": self.now(), **values}))

    async def _change(self, name: str, values: Mapping[str, Any], *, arrived: str | None = None) -> Row | None:
        """The row that was changed, or None. `arrived` finds what an earlier try has written that lost its
        connection."""
        await self.open()
        values = {**values, "now": self.now()}

        async def work(link: Link, again: bool) -> Row | None:
            rows: Sequence[Row] = ()
            try:
                rows = await sql(name).on(link, values)
            except Exception as error:
                if not again or state(error) != UNIQUE:
                    raise
            if not rows and again and arrived:
                rows = await sql(arrived).on(link, values)
            return rows[0] if rows else None

        return await self.linked(work)

    async def _patiently(self, work: Callable[[bool], Awaitable[T]]) -> T:
        await self.open()
        wait, begun, again = FIRST_WAIT, time.monotonic(), False
        while True:
            try:
                return await work(again)
            except Exception as error:
                over = time.monotonic() - begun >= self._patience
                if over or not (is_lost(error) or state(error) in CLASHED):
                    raise readable(error, self.address) from error
                again = again or is_lost(error)
                self._retries += 1
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)


async def condition(url: str) -> Condition:
    """How the database is, changing nothing."""
    address = read_address(url)
    link: Link | None = None
    try:
        link = await connect(address)
        version = await version_of(link)
        if not version:
            return Condition(place=str(address), version=0, newest=len(migrations()))
        (sizes,) = await sql("sizes").on(link, {})
        counts = await sql("counts").on(link, {})
        return Condition(
            place=str(address),
            version=version,
            newest=len(migrations()),
            debates={row["status"]: row["count"] for row in counts},
            turns=sizes["turns"],
            bytes=sizes["bytes"],
        )
    except Exception as error:
        raise readable(error, address, opening=True) from error
    finally:
        if link is not None:
            await link.close(timeout=2)


@cache
def _page(filters: str) -> Statement:
    return Statement(raw_sql("page").replace("/* filters */", filters))


def _mark() -> str:
    return f"{random.getrandbits(64):016x}"


def _turn_json(turn: Turn, debate_id: str, now: float) -> Json:
    return dict(zip(TURN_COLUMNS, turn_row(turn, new_id(now), debate_id), strict=True))


def _event_json(n: int, event: Shown, debate_id: str) -> Json:
    data = dumps(event.data) if event.data else "{}"
    return {"session_id": debate_id, "n": n, "type": event.type, "key": event.key, "data": data}


def _events_json(debate_id: str, events: Sequence[Shown]) -> str:
    return json_rows([_event_json(n, event, debate_id) for n, event in enumerate(events, 1)])
