"""Lessons and episodes of earlier debates, found by words and, with an embedder, by meaning."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, TypeVar

from moot.core.artifacts import Episode
from moot.core.types import Recalled, Usage, record
from moot.core.values import sha256_of
from moot.memory.embedder_session import EmbedderSession
from moot.memory.likeness import RELATED
from moot.memory.paying import Payer
from moot.memory.template_index import combined
from moot.memory.vector_index import cosine
from moot.reasoning.bm25 import Bm25, words
from moot.reasoning.fence import one_line, shorten
from moot.store import KnownLesson, Store, Viewer

MOST_LESSONS = 2000  # the newest, that a search looks at
MOST_EPISODES = 500
MAX_CHARS = 2000
TITLE_CHARS = 120

T = TypeVar("T")
Vectors = Callable[[Mapping[str, str], EmbedderSession], Awaitable[Mapping[str, bytes] | None]]


@record
class Found(Generic[T]):
    """What a search has found."""

    found: Sequence[tuple[T, float]]  # with their scores, best first
    by: str
    note: str = ""
    usage: Usage


class Learned:
    def __init__(
        self, store: Callable[[], Store], session: Callable[[Payer], EmbedderSession], vectors: Vectors
    ) -> None:
        """`vectors`: gives the vectors of texts by their hash, from a cache where it has them."""
        self._store, self._session, self._vectors = store, session, vectors

    async def lessons(
        self,
        query: str,
        limit: int,
        *,
        demonstration: bool | None = None,
        viewer: Viewer | None = None,
        payer: Payer | None = None,
    ) -> Found[KnownLesson]:
        """Find lessons. `demonstration`: only those that a debate may recall, which is a demonstration or not; None:
        all of them. `viewer`: only of debates that it sees. `payer`: who pays for the
        embedder; by default the local user."""
        known = await self._store().known_lessons(MOST_LESSONS, viewer=viewer)
        if demonstration is not None:
            known = _recallable(known, demonstration)
        return await self._search(query, limit, known, lesson_text, payer)

    async def episodes(
        self,
        query: str,
        limit: int,
        *,
        demonstration: bool,
        agent: str = "",
        viewer: Viewer | None = None,
        payer: Payer | None = None,
    ) -> Found[Episode]:
        """Find episodes. `agent`: only this agent's; the rest as in `lessons`."""
        known = await self._store().recent_episodes(MOST_EPISODES, agent=agent or None, viewer=viewer)
        known = [each for each in known if each.demonstration == demonstration]
        return await self._search(query, limit, known, episode_text, payer)

    async def _search(
        self, query: str, limit: int, items: Sequence[T], text: Callable[[T], str], payer: Payer | None
    ) -> Found[T]:
        session = self._session(payer or Payer())
        found = await self._ranked(query, items, text, session)
        return Found(found=found[:limit], by=session.method, note=session.note, usage=session.usage)

    async def _ranked(
        self, query: str, items: Sequence[T], text: Callable[[T], str], session: EmbedderSession
    ) -> list[tuple[T, float]]:
        """The items that have something to do with the query, best first; of equal ones, the order is kept."""
        if not items:
            return []
        texts = [text(each) for each in items]
        # In threads: thousands of long texts take longer than the event loop may be held.
        hashes, by_words = await asyncio.to_thread(_by_words, query, texts)
        scores, near = by_words, [0.0] * len(items)
        asked = await session.embed([query])
        vectors = None if asked is None else await self._vectors(dict(zip(hashes, texts, strict=True)), session)
        if asked is not None and vectors is not None:
            near = await asyncio.to_thread(_nearness, asked[0], [vectors[each] for each in hashes])
            scores = combined(by_words, near)
        order = sorted(range(len(items)), key=lambda place: -scores[place])
        return [(items[at], scores[at]) for at in order if by_words[at] > 0 or near[at] >= RELATED]


def _by_words(query: str, texts: Sequence[str]) -> tuple[list[str], list[float]]:
    """The hash of each text, and its score."""
    scores = Bm25([Counter(words(each)) for each in texts]).scores(dict.fromkeys(words(query)))
    return [sha256_of(each) for each in texts], scores


def _nearness(asked: bytes, vectors: Sequence[bytes]) -> list[float]:
    return [cosine(asked, each) for each in vectors]


def lesson_text(known: KnownLesson) -> str:
    """The text that a search compares."""
    lesson = known.lesson
    return f"{lesson.text}\n{lesson.applies_when}".strip()


def episode_text(episode: Episode) -> str:
    """The text that a search compares."""
    parts = (episode.task, episode.failure_analysis, episode.reflection, episode.improvement)
    return "\n".join(part for part in parts if part)


def recalled_lesson(known: KnownLesson, score: float) -> Recalled:
    lesson = known.lesson
    when = f"\nApplies when: {lesson.applies_when}" if lesson.applies_when else ""
    return Recalled(
        id=lesson.id,
        title=one_line(lesson.text, TITLE_CHARS),
        text=f"{shorten(f'{lesson.text}{when}', MAX_CHARS)}\n{lesson_source(known)}",
        score=round(score, 4),
    )


def recalled_episode(episode: Episode, score: float) -> Recalled:
    outcome = {True: "It passed.", False: "It failed.", None: "Nothing was run."}[episode.passed]
    said = f"{shorten(episode_text(episode), MAX_CHARS)}\n{outcome}"
    source = (
        f"Attempt {episode.attempt} of {episode.agent} in debate {episode.debate_id[:8]} on {_day(episode.created_at)}."
    )
    return Recalled(
        id=episode.id, title=one_line(episode.task, TITLE_CHARS), text=f"{said}\n{source}", score=round(score, 4)
    )


def lesson_source(known: KnownLesson) -> str:
    """Where a lesson comes from and how it has fared, in one line."""
    lesson = known.lesson
    by = f" by {one_line(lesson.model, 80)}" if lesson.model else ""
    counts = f"confirmed {_times(known.confirmed)}, contradicted {_times(known.contradicted)}"
    return f"From debate {lesson.debate_id[:8]} on {_day(lesson.created_at)}{by}; {counts}."


def _recallable(known: Sequence[KnownLesson], demonstration: bool) -> list[KnownLesson]:
    """Each lesson once, as its newest copy has it: a fork repeats its parent's."""
    newest: dict[str, KnownLesson] = {}
    for each in known:
        if each.lesson.demonstration == demonstration:
            newest.setdefault(lesson_text(each), each)
    return list(newest.values())


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
