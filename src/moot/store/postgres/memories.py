"""Memory's index in PostgreSQL: terms in a tsvector, vectors as bytea."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from moot.core.types import Debate
from moot.store import Hits, MemoryEntry, Vectors, Viewer
from moot.store.postgres.connections import Connection, sql
from moot.store.postgres.database import Database
from moot.store.rows import debate_of, intact, seen_values, vector_of, viewer_values

COMMON = 1000  # a word that more debates have may be too common to search by
MAX_WORD = 500  # characters; PostgreSQL's index takes 2,046 bytes
_LOCK = 0x6D656D  # "mem"


class PostgresMemories(Database):
    async def unremembered(self, embedder: str, limit: int) -> Sequence[Debate]:
        found = [*await self._rows("unremembered", limit=limit)]
        if embedder and len(found) < limit:
            found += await self._rows("remembered_otherwise", embedder=embedder, limit=limit - len(found))
        return [each for each in map(intact, found) if each]

    async def remember(self, entries: Sequence[MemoryEntry]) -> None:
        async def work(connection: Connection, _: bool) -> None:
            async with connection.transaction():
                await lock_words(connection)
                for entry in entries:
                    values = {
                        "id": entry.debate_id,
                        "decided": entry.decided,
                        "demonstration": entry.demonstration,
                        "embedder": entry.embedder,
                        "embedding": entry.embedding,
                        "words": _distinct(entry.words),
                        "now": self.now(),
                    }
                    await sql("remember").on(connection, values)

        await self.with_connection(work)

    async def search(
        self,
        words: Sequence[str],
        limit: int,
        *,
        decided: bool = False,
        demonstrations: bool = True,
        viewer: Viewer | None = None,
    ) -> Hits:
        rows = await self._rows("memory_words", words=_distinct(words) or [""])  # the total is returned in any case
        total = rows[0]["total"]
        frequency: dict[str, int] = {row["word"]: row["memories"] for row in rows if row["word"]}
        known = [word for word, count in frequency.items() if count]
        # Very common words cost time and hardly change the ranking, if there are rarer ones.
        rare = [word for word in known if frequency[word] <= max(COMMON, total // 20)] or known
        if not rare:
            return Hits(total=total, document_frequency=frequency)
        quoted = [_quoted(word) for word in rare]
        found = await self._rows(
            "search_memories",
            query=" | ".join(quoted),
            words=quoted,
            weights=[math.log((total + 1) / frequency[word]) + 1 for word in rare],
            decided=decided,
            demonstrations=demonstrations,
            limit=limit,
            **viewer_values(viewer),
        )
        return Hits(ids=[row["session_id"] for row in found], total=total, document_frequency=frequency)

    async def quarantine(self, debate_id: str, by: str | None, *, seen: Debate | None = None) -> Debate | None:
        values = {"id": debate_id, "by": by, **seen_values(seen)}
        row = await self._change("quarantine", values, arrived="quarantine_arrived")
        return None if row is None else debate_of(row)

    async def quarantined(self) -> Sequence[str]:
        return [row["id"] for row in await self._rows("quarantined")]

    async def vectors(self, embedder: str, after: int = 0, limit: int = 5000) -> Vectors:
        (count,) = await self._rows("count_vectors", embedder=embedder)
        rows = await self._rows("memory_vectors", embedder=embedder, after=after, limit=limit)
        return Vectors(total=count["total"], vectors=[vector_of(row) for row in rows])

    async def embeddings(self, embedder: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        rows = await self._rows("embeddings", embedder=embedder, hashes=list(hashes))
        return {row["hash"]: row["embedding"] for row in rows}

    async def keep_embeddings(self, embedder: str, embeddings: Mapping[str, bytes]) -> None:
        if embeddings:
            hashes, kept = list(embeddings), list(embeddings.values())
            await self._rows("keep_embeddings", embedder=embedder, hashes=hashes, embeddings=kept)


async def lock_words(connection: Connection) -> None:
    """Take the lock on the counts of words until the transaction ends: two processes that change them at once would
    lock the same words in different orders."""
    await connection.execute(f"select pg_advisory_xact_lock({_LOCK})")


def _distinct(words: Sequence[str]) -> list[str]:
    return [word for word in dict.fromkeys(word.replace("\0", "")[:MAX_WORD] for word in words) if word]


def _quoted(word: str) -> str:
    """As a lexeme of a tsquery, whatever characters it has."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
