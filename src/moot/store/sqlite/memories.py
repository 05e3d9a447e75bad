"""Memory's index in SQLite: terms in an FTS5 table, vectors as blobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from moot.core.types import Debate
from moot.store import Hits, MemoryEntry, Vectors, Viewer
from moot.store.columns import dumps
from moot.store.rows import debate_of, intact, seen_values, vector_of, viewer_values
from moot.store.sqlite.connection import sql
from moot.store.sqlite.database import Database

COMMON = 1000  # a word that more debates have is not searched by, if there are rarer ones


class SqliteMemories(Database):
    async def unremembered(self, embedder: str, limit: int) -> Sequence[Debate]:
        found = await self._rows("unremembered", intact, limit=limit)
        if embedder and len(found) < limit:
            found += await self._rows("remembered_otherwise", intact, embedder=embedder, limit=limit - len(found))
        return [each for each in found if each]

    async def remember(self, entries: Sequence[MemoryEntry]) -> None:
        if not entries:
            return
        now = self._now()

        def work(connection: sqlite3.Connection) -> None:
            for entry in entries:
                _remember(connection, entry, now)

        await self._writer.do(work)

    async def search(
        self,
        words: Sequence[str],
        limit: int,
        *,
        decided: bool = False,
        demonstrations: bool = True,
        viewer: Viewer | None = None,
    ) -> Hits:
        values = {"limit": limit, "decided": decided, "demonstrations": demonstrations, **viewer_values(viewer)}
        return await self._read(lambda connection: _search(connection, words, values))

    async def quarantine(self, debate_id: str, by: str | None, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, "by": by, "now": self._now(), **seen_values(seen)}
        row = await self._change("quarantine", values)
        return None if row is None else debate_of(row)

    async def quarantined(self) -> Sequence[str]:
        return await self._rows("quarantined", lambda row: row["id"])

    async def vectors(self, embedder: str, after: int = 0, limit: int = 5000) -> Vectors:
        (total,) = await self._rows("count_vectors", lambda row: row["total"], embedder=embedder)
        found = await self._rows("memory_vectors", vector_of, embedder=embedder, after=after, limit=limit)
        return Vectors(total=total, vectors=found)

    async def embeddings(self, embedder: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        asked = dumps(list(hashes))
        return dict(await self._rows("embeddings", tuple[str, bytes], embedder=embedder, hashes=asked))

    async def keep_embeddings(self, embedder: str, embeddings: Mapping[str, bytes]) -> None:
        now = self._now()
        rows = [
            {"embedder": embedder, "hash": key, "embedding": value, "now": now} for key, value in embeddings.items()
        ]
        if rows:
            await self._writer.do(lambda connection: connection.executemany(sql("keep_embedding"), rows))


def _remember(connection: sqlite3.Connection, entry: MemoryEntry, now: float) -> None:
    values = {
        "id": entry.debate_id,
        "decided": entry.decided,
        "demonstration": entry.demonstration,
        "embedder": entry.embedder,
        "embedding": entry.embedding,
        "words": " ".join(entry.words),
        "now": now,
    }
    made = connection.execute(sql("insert_memory"), values).fetchone()
    if made is not None:
        connection.execute(sql("insert_memory_words"), {"memory": made["id"], "words": values["words"]})
    else:
        connection.execute(sql("reembed_memory"), values)
    connection.execute(sql("mark_remembered"), values)


def _search(connection: sqlite3.Connection, words: Sequence[str], values: dict[str, Any]) -> Hits:
    total = connection.execute(sql("memory_total")).fetchone()["total"]
    frequency: dict[str, int] = {}
    for word in dict.fromkeys(words):
        row = connection.execute(sql("memory_word"), {"word": word}).fetchone()
        frequency[word] = 0 if row is None else row["doc"]
    known = [word for word, count in frequency.items() if count]
    rare = [word for word in known if frequency[word] <= max(COMMON, total // 50)]
    ids: list[str] = []
    if rare:
        ids = _matching(connection, "search_memories", " OR ", rare, values)
    elif known:
        # Ranking very many matches takes too long: the newest with all the words, then the newest with any of them.
        ids = _matching(connection, "search_newest", " AND ", known, values)
        if len(ids) < values["limit"]:
            ids += _matching(connection, "search_newest", " OR ", known, values)
    return Hits(ids=list(dict.fromkeys(ids))[: values["limit"]], total=total, document_frequency=frequency)


def _matching(
    connection: sqlite3.Connection, name: str, how: str, words: Sequence[str], values: dict[str, Any]
) -> list[str]:
    query = how.join('"{}"'.format(word.replace('"', '""')) for word in words)
    return [row["session_id"] for row in connection.execute(sql(name), {**values, "query": query})]
