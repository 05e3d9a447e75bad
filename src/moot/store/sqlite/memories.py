"""The statements behind what the store remembers of completed debates."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from moot.store import Hits, Memorized, Vector, Vectors
from moot.store.rows import debate_of
from moot.types import Debate

COMMON = 1000  # so many may have a word before it is too common to search by, where there are rarer ones

Sql = Callable[[str], str]


def unremembered(sql: Sql, connection: sqlite3.Connection, embedder: str, limit: int) -> list[Debate]:
    found = connection.execute(sql("unremembered"), {"limit": limit}).fetchall()
    if embedder and len(found) < limit:
        values = {"embedder": embedder, "limit": limit - len(found)}
        found += connection.execute(sql("remembered_otherwise"), values).fetchall()
    return [debate_of(row) for row in found]


def remember(sql: Sql, connection: sqlite3.Connection, memories: Sequence[Memorized], now: float) -> None:
    for memory in memories:
        values = {
            "id": memory.debate_id,
            "decided": memory.decided,
            "demonstration": memory.demonstration,
            "embedder": memory.embedder,
            "embedding": memory.embedding,
            "now": now,
        }
        made = connection.execute(sql("insert_memory"), values).fetchone()
        if made is not None:
            connection.execute(sql("insert_memory_words"), {"memory": made["id"], "words": " ".join(memory.words)})
        else:
            connection.execute(sql("reembed_memory"), values)
        connection.execute(sql("mark_remembered"), values)


def search(
    sql: Sql,
    connection: sqlite3.Connection,
    words: Sequence[str],
    limit: int,
    *,
    decided: bool,
    demonstrations: bool,
) -> Hits:
    total = connection.execute(sql("memory_total")).fetchone()["total"]
    having: dict[str, int] = {}
    for word in dict.fromkeys(words):
        row = connection.execute(sql("memory_word"), {"word": word}).fetchone()
        having[word] = 0 if row is None else row["doc"]
    values = {"limit": limit, "decided": decided, "demonstrations": demonstrations}
    known = [word for word, count in having.items() if count]
    telling = [word for word in known if having[word] <= max(COMMON, total // 50)]
    ids: list[str] = []
    if telling:
        ids = _matching(sql, connection, "search_memories", " OR ", telling, values)
    elif known:
        # Counting how well each of very many fits takes too long: the newest that have all the words, then any of them.
        ids = _matching(sql, connection, "search_newest", " AND ", known, values)
        if len(ids) < limit:
            ids += _matching(sql, connection, "search_newest", " OR ", known, values)
    return Hits(ids=list(dict.fromkeys(ids))[:limit], total=total, having=having)


def _matching(
    sql: Sql, connection: sqlite3.Connection, name: str, how: str, words: Sequence[str], values: dict[str, Any]
) -> list[str]:
    query = how.join('"{}"'.format(word.replace('"', '""')) for word in words)
    return [row["session_id"] for row in connection.execute(sql(name), {**values, "query": query})]


def vectors(sql: Sql, connection: sqlite3.Connection, embedder: str, after: int, limit: int) -> Vectors:
    total = connection.execute(sql("count_vectors"), {"embedder": embedder}).fetchone()["total"]
    rows = connection.execute(sql("memory_vectors"), {"embedder": embedder, "after": after, "limit": limit}).fetchall()
    return Vectors(
        total=total,
        vectors=[
            Vector(
                place=row["id"],
                debate_id=row["session_id"],
                decided=bool(row["decided"]),
                demonstration=bool(row["demonstration"]),
                embedding=row["embedding"],
            )
            for row in rows
        ],
    )
