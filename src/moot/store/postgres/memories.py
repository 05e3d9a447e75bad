"""The statements behind what the store remembers of completed debates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from moot.store import Hits, Memorized, Vector, Vectors
from moot.store.postgres.link import Link, sql

COMMON = 1000  # so many memories may have a word before it can be too common to search by
MAX_WORD = 500  # characters; PostgreSQL's index takes 2,046 bytes
_LOCK = 0x6D656D  # "mem"


async def remember(link: Link, memories: Sequence[Memorized], now: float) -> None:
    async with link.transaction():
        # One at a time: the counts of the same words would be locked in different orders.
        await link.execute(f"select pg_advisory_xact_lock({_LOCK})")
        for memory in memories:
            values = {
                "id": memory.debate_id,
                "decided": memory.decided,
                "demonstration": memory.demonstration,
                "embedder": memory.embedder,
                "embedding": memory.embedding,
                "words": _distinct(memory.words),
                "now": now,
            }
            await sql("remember").on(link, values)


async def search(link: Link, words: Sequence[str], limit: int, *, decided: bool, demonstrations: bool) -> Hits:
    asked = _distinct(words)
    if not asked:
        asked = [""]  # the total is still told
    rows = await sql("memory_words").on(link, {"words": asked})
    total = rows[0]["total"]
    having: dict[str, int] = {row["word"]: row["memories"] for row in rows if row["word"]}
    known = [word for word, count in having.items() if count]
    # Where there are rarer words, those that a large part of all memories has would only cost time.
    telling = [word for word in known if having[word] <= max(COMMON, total // 20)] or known
    if not telling:
        return Hits(total=total, having=having)
    quoted = [_quoted(word) for word in telling]
    values = {
        "query": " | ".join(quoted),
        "words": quoted,
        "weights": [math.log((total + 1) / having[word]) + 1 for word in telling],
        "decided": decided,
        "demonstrations": demonstrations,
        "limit": limit,
    }
    found = await sql("search_memories").on(link, values)
    return Hits(ids=[row["session_id"] for row in found], total=total, having=having)


async def vectors(link: Link, embedder: str, after: int, limit: int) -> Vectors:
    (count,) = await sql("count_vectors").on(link, {"embedder": embedder})
    rows = await sql("memory_vectors").on(link, {"embedder": embedder, "after": after, "limit": limit})
    return Vectors(
        total=count["total"],
        vectors=[
            Vector(
                place=row["id"],
                debate_id=row["session_id"],
                decided=row["decided"],
                demonstration=row["demonstration"],
                embedding=row["embedding"],
            )
            for row in rows
        ],
    )


def _distinct(words: Sequence[str]) -> list[str]:
    return [word for word in dict.fromkeys(word.replace("\0", "")[:MAX_WORD] for word in words) if word]


def _quoted(word: str) -> str:
    """As a word of a query, whatever it is made of."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
