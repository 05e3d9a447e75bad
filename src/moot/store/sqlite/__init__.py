"""The embedded store: one file, WAL, a writer thread with grouped commits, a reader thread beside it."""

from __future__ import annotations

import asyncio
import glob
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from moot.errors import NoSuchDebate, NotWritable, StoreError, WrongSchema
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
from moot.store.overview import Overview
from moot.store.rows import (
    debate_of,
    dumps,
    ending_values,
    event_of,
    event_row,
    gate_of,
    gate_values,
    new_id,
    numbered,
    page_mark,
    read_page_mark,
    seen_values,
    session_values,
    step_values,
    sum_of,
    token_of,
    turn_of,
    turn_row,
)
from moot.store.sqlite import access, memories
from moot.store.sqlite.overview import overview
from moot.store.sqlite.writer import Writer, readable
from moot.types import Debate, Event, Gate, Json, Shown, Status, Turn

T = TypeVar("T")

BUSY_SECONDS = 30


class SqliteStore:
    shared: ClassVar[bool] = False

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Opens the file and brings its schema up to date. Raises NotWritable or WrongSchema."""
        self.path, self._now = path, clock
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _refuse_others(path)
            with closing(_connect(path)) as connection:
                migrate(connection)
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error):
                raise readable(error) from error
            raise NotWritable(
                f"The database {path} can't be opened ({error.strerror}). Choose another with --db."
            ) from error
        self._writer = Writer(lambda: _connect(path))
        self._readers = ThreadPoolExecutor(1, "moot-reader")
        self._reader: sqlite3.Connection | None = None
        self._closed = False

    async def open(self) -> None:
        """It is open."""

    async def writable(self) -> None:
        await self._writer.do(lambda connection: connection.execute(sql("change_nothing")))

    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        now = self._now()
        values = {
            **session_values(debate),
            "now": now,
            "turn_count": len(turns),
            "tokens_in": sum(turn.tokens_in for turn in turns),
            "tokens_out": sum(turn.tokens_out for turn in turns),
            "cost_usd": sum_of([turn.cost_usd for turn in turns]),
            "last_seq": len(events),
        }
        turn_rows = [turn_row(turn, new_id(now), debate.id) for turn in turns]
        event_rows = [event_row(debate.id, seq, event, now) for seq, event in enumerate(events, 1)]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(sql("insert_session"), values)
            connection.executemany(sql("insert_turn"), turn_rows)
            connection.executemany(sql("insert_event"), event_rows)

        await self._writer.do(work)
        return await self.get(debate.id)

    async def get(self, debate_id: str) -> Debate:
        row = await self._read(lambda c: c.execute(sql("get_session"), {"id": debate_id}).fetchone())
        if row is None:
            raise NoSuchDebate(debate_id)
        return debate_of(row)

    async def find(self, prefix: str) -> Sequence[str]:
        rows = await self._read(lambda c: c.execute(sql("find_ids"), {"prefix": prefix}).fetchall())
        return [row["id"] for row in rows]

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
        # Only the filters that are used, so that SQLite can walk the index made for them.
        filters = " and status = :status" if status is not None else ""
        filters += " and format = :format" if format is not None else ""
        filters += " and parent_id = :parent" if parent is not None else ""
        filters += " and instr(lowered(topic), :contains)" if contains is not None else ""
        filters += " and (created_at, id) < (:created_at, :id)" if after is not None else ""
        values = {
            "status": status,
            "format": format,
            "contains": None if contains is None else contains.lower(),
            "parent": parent,
            "created_at": created_at,
            "id": last_id,
            "limit": limit + 1,
        }
        query = sql("page").replace("/* filters */", filters)
        rows = await self._read(lambda c: c.execute(query, values).fetchall())
        debates = [debate_of(row) for row in rows[:limit]]
        more = len(rows) > limit
        return Page(debates=debates, next=page_mark(debates[-1]) if more else None)

    async def turns(self, debate_id: str, after: int = 0) -> Sequence[Turn]:
        values = {"id": debate_id, "after": after}
        return await self._read(lambda c: [turn_of(row) for row in c.execute(sql("turns"), values)])

    async def events(self, debate_id: str, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        values = {"id": debate_id, "after": after, "limit": limit}
        return await self._read(lambda c: [event_of(row) for row in c.execute(sql("events"), values)])

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
        values = {"id": debate_id, "owner": owner, "seconds": seconds, "expect": dumps(list(expect)), "dead": dead}
        values |= seen_values(seen)

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            taken = connection.execute(sql("claim"), {**values, "now": self._now()}).rowcount
            return connection.execute(sql("get_session"), {"id": debate_id}).fetchone() if taken else None

        row = await self._writer.do(work)
        return None if row is None else debate_of(row)

    async def commit(self, commit: Commit) -> Committed | None:
        now, debate_id, events = self._now(), commit.debate_id, commit.events
        statement, values = _change(commit, now)
        turns = [turn_row(turn, new_id(now), debate_id) for turn in commit.turns]
        gates = [{**gate_values(gate), "id": new_id(now), "now": now} for gate in commit.gates]

        def work(connection: sqlite3.Connection) -> tuple[int, Status] | None:
            guard = connection.execute(statement, values).fetchone()
            if guard is None:
                return None
            for turn in turns:
                connection.execute(INSERT_TURN, turn)
            for gate in gates:
                connection.execute(sql("open_gate"), gate)
            last_seq, status = guard
            first = last_seq - len(events) + 1
            for seq, event in enumerate(events, first):
                connection.execute(INSERT_EVENT, event_row(debate_id, seq, event, now))
            return first, status

        done = await self._writer.do(work)
        if done is None:
            return None
        first, status = done
        return Committed(status=status, events=[numbered(seq, event, now) for seq, event in enumerate(events, first)])

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
                connection.execute(sql("insert_event"), event_row(debate_id, seq, event, now))
            return connection.execute(sql("get_session"), {"id": debate_id}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else debate_of(row)

    async def pulse(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> Pulse:
        if seconds is not None:
            renewals = [
                {"id": debate_id, "epoch": epoch, "owner": owner, "seconds": seconds}
                for debate_id, epoch in epochs.items()
            ]

            def work(connection: sqlite3.Connection) -> None:
                now = self._now()
                connection.executemany(sql("renew"), [{**renewal, "now": now} for renewal in renewals])

            await self._writer.do(work)
        rows = await self._read(lambda c: c.execute(sql("owned"), {"owner": owner}).fetchall())
        statuses = {row["id"]: row["status"] for row in rows if epochs.get(row["id"]) == row["epoch"]}
        guided = {row["id"]: row["guided"] for row in rows if row["guided"]}
        return Pulse(statuses=statuses, guided=guided, lost=epochs.keys() - statuses.keys())

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        live = await self._read(lambda c: [debate_of(row) for row in c.execute(sql("live"))])
        now = self._now()
        return [
            debate
            for debate in live
            if debate.owner is None or (debate.lease_until or 0) <= now or is_dead(debate.owner)
        ]

    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        name = "gates" if debate_id is not None else "expired_gates" if expired else "open_gates"
        values = {"id": debate_id, "now": self._now()}
        return await self._read(lambda c: [gate_of(row) for row in c.execute(sql(name), values)])

    async def decide(
        self, debate_id: str, key: str, decision: Json, *, by: str, seen: Debate | None = None
    ) -> Gate | None:
        values = {"id": debate_id, "key": key, "decision": dumps(decision), "by": by, **seen_values(seen)}

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            now = self._now()
            if not connection.execute(sql("touch_asking"), {**values, "now": now}).rowcount:
                return None
            return connection.execute(sql("decide_gate"), {**values, "now": now}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else gate_of(row)

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, "rating": rating, "now": self._now(), **seen_values(seen)}
        row = await self._writer.do(lambda connection: connection.execute(sql("rate"), values).fetchone())
        return None if row is None else debate_of(row)

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate | None:
        now = self._now()
        values = {"id": debate_id, "gate_id": new_id(now), "decision": dumps({"text": text}), "by": by, "now": now}
        values |= seen_values(seen)

        def work(connection: sqlite3.Connection) -> sqlite3.Row | None:
            count = connection.execute(sql("count_guidance"), values).fetchone()
            if count is None:
                return None
            key = f"guidance/{count['guided']}"
            return connection.execute(sql("insert_guidance"), {**values, "key": key}).fetchone()

        row = await self._writer.do(work)
        return None if row is None else gate_of(row)

    async def unremembered(self, embedder: str, limit: int) -> Sequence[Debate]:
        return await self._read(lambda c: memories.unremembered(sql, c, embedder, limit))

    async def remember(self, memorized: Sequence[Memorized]) -> None:
        if memorized:
            now = self._now()
            await self._writer.do(lambda connection: memories.remember(sql, connection, memorized, now))

    async def search(
        self, words: Sequence[str], limit: int, *, decided: bool = False, demonstrations: bool = True
    ) -> Hits:
        return await self._read(
            lambda c: memories.search(sql, c, words, limit, decided=decided, demonstrations=demonstrations)
        )

    async def vectors(self, embedder: str, after: int = 0, limit: int = 5000) -> Vectors:
        return await self._read(lambda c: memories.vectors(sql, c, embedder, after, limit))

    async def embeddings(self, embedder: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        values = {"embedder": embedder, "hashes": dumps(list(hashes))}
        rows = await self._read(lambda c: c.execute(sql("embeddings"), values).fetchall())
        return {row["hash"]: row["embedding"] for row in rows}

    async def keep_embeddings(self, embedder: str, embeddings: Mapping[str, bytes]) -> None:
        now = self._now()
        rows = [
            {"embedder": embedder, "hash": key, "embedding": value, "now": now} for key, value in embeddings.items()
        ]
        if rows:
            await self._writer.do(lambda connection: connection.executemany(sql("keep_embedding"), rows))

    async def add_token(self, token: AccessToken) -> bool:
        return await self._writer.do(lambda connection: access.add_token(sql, connection, token, self._now()))

    async def tokens(self) -> Sequence[AccessToken]:
        return await self._read(lambda c: [token_of(row) for row in c.execute(sql("tokens"))])

    async def token(self, hash: str) -> AccessToken | None:
        values = {"hash": hash, "now": self._now()}
        row = await self._read(lambda c: c.execute(sql("token"), values).fetchone())
        return None if row is None else token_of(row)

    async def drop_token(self, token_id: str) -> bool:
        return await self._writer.do(lambda c: c.execute(sql("delete_token"), {"id": token_id}).rowcount > 0)

    async def reserve(self, reservation: Reservation, keep_seconds: float) -> Reservation:
        return await self._writer.do(lambda c: access.reserve(sql, c, reservation, self._now(), keep_seconds))

    async def answer_reservation(self, key: str, response: str) -> None:
        values = {"key": key, "response": response}
        await self._writer.do(lambda connection: connection.execute(sql("answer_reservation"), values))

    async def overview(self, seconds: float) -> Overview:
        return await self._read(lambda connection: overview(connection, sql, self._now(), seconds))

    async def notices(self) -> AsyncGenerator[Notice]:
        """SQLite tells nobody: processes look."""
        return
        yield  # makes it a generator

    def follow(self, debate_id: str) -> None:
        pass

    def unfollow(self, debate_id: str) -> None:
        pass

    def say(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        pass

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True

        def shut() -> None:
            if self._reader is not None:
                self._reader.close()

        await asyncio.get_running_loop().run_in_executor(self._readers, shut)
        self._readers.shutdown()
        await asyncio.to_thread(self._writer.close)

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        def work() -> T:
            if self._reader is None:
                self._reader = _connect(self.path)
            return query(self._reader)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, work)
        except sqlite3.Error as error:
            raise readable(error) from error


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the schema up to date, all or nothing; gives its version."""
    newest = len(migrations())
    if _version(connection) == newest:
        return newest
    connection.execute("begin immediate")
    try:
        version = _version(connection)  # another process may have been first
        for text in migrations()[version:]:
            for statement in _statements(text):
                connection.execute(statement)
        connection.execute(f"pragma user_version = {newest}")
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    return newest


def _refuse_others(path: Path) -> None:
    """Before anything is changed, even the journal: is this a database of ours, and one we know?"""
    if not path.is_file() or not path.stat().st_size:
        return
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
        version, newest = _version(connection), len(migrations())
        tables = connection.execute("select count(*) from sqlite_master").fetchone()[0]
    if version > newest:
        raise WrongSchema(
            f"The database {path} has schema {version}, this moot knows {newest}. "
            "Upgrade moot, or choose another database with --db."
        )
    if version == 0 and tables:
        raise StoreError(f"The database {path} belongs to another program. Choose another with --db.")


def condition(path: Path) -> Condition:
    """How the database is, neither creating nor changing it."""
    nothing = Condition(place=str(path), version=0, newest=len(migrations()))
    if not path.is_file() or not path.stat().st_size:
        return nothing
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as reader:
            version = _version(reader)
            if not version and not reader.execute("select count(*) from sqlite_master").fetchone()[0]:
                return nothing
            if not version:
                raise StoreError(f"The database {path} belongs to another program. Choose another with --db.")
            return Condition(
                place=str(path),
                version=version,
                newest=len(migrations()),
                debates=dict(reader.execute(sql("counts")).fetchall()),
                turns=reader.execute("select coalesce(sum(turn_count), 0) from debate_sessions").fetchone()[0],
                bytes=sum(each.stat().st_size for each in path.parent.glob(f"{glob.escape(path.name)}*")),
            )
    except sqlite3.Error as error:
        raise readable(error) from error


@cache
def migrations() -> Sequence[str]:
    folder = files("moot.store.sqlite") / "migrations"
    return [
        entry.read_text() for entry in sorted(folder.iterdir(), key=lambda e: e.name) if entry.name.endswith(".sql")
    ]


@cache
def sql(name: str) -> str:
    return (files("moot.store.sqlite") / "sql" / f"{name}.sql").read_text()


INSERT_TURN, INSERT_EVENT, STEP, COMMIT = (sql(name) for name in ("insert_turn", "insert_event", "step", "commit"))


def _change(commit: Commit, now: float) -> tuple[str, Mapping[str, object]]:
    values = step_values(commit, now)
    if commit.cursor is not None and commit.status is None and commit.lost is None and not commit.release:
        return STEP, values
    return COMMIT, {**values, **ending_values(commit)}


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.create_function("lowered", 1, str.lower, deterministic=True)  # SQLite's own knows ASCII only
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("pragma foreign_keys = on")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("pragma user_version").fetchone()[0]


def _statements(text: str) -> Sequence[str]:
    found: list[str] = []
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
