"""Past debates: taken in when someone looks for them, so that nothing is lost with the process that ran them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from moot.memory import decisions
from moot.memory.likeness import ALIKE, RELATED, SAME_WORDS, coverage, overlap, weights
from moot.memory.meaning import BATCH, BY_WORDS, Meaning
from moot.memory.vectors import Nearness
from moot.reasoning.bm25 import words
from moot.store import Hits, Store
from moot.types import Debate, Json, Usage, record

BEFORE_A_DEBATE = 256  # so many are taken in at most
BEFORE_A_SEARCH = 1024
CANDIDATES = 50  # by their words, and as many by their meaning
ASKED = 128  # words of a question are looked up at most
LIKELY = 8  # so many are compared with a new question

Kind = Literal["all", "decided", "demonstrated"]  # "decided" leaves demonstrations out, "demonstrated" does not


@record
class Past:
    """A past debate that was found."""

    debate: Debate
    demonstration: bool
    score: float  # 0 to 1


@record
class Found:
    past: Sequence[Past]
    by: str
    note: str = ""
    usage: Usage
    more: bool = False  # not all completed debates have been taken in yet


@record
class Earlier:
    told: Json | None  # the decision on a question that is nearly the same, as a new debate's metadata keep it
    note: str
    usage: Usage


class PastDebates:
    def __init__(
        self, store: Callable[[], Store], meaning: Callable[[], Meaning], is_demonstration: Callable[[Debate], bool]
    ) -> None:
        self._store, self._meaning, self._is_demonstration = store, meaning, is_demonstration
        self._nearness: Nearness | None = None

    async def search(self, query: str, limit: int, kind: Kind = "all") -> Found:
        """By words and meaning, best first."""
        store, meaning = self._store(), self._meaning()
        more = await self._take_in(store, meaning, BEFORE_A_SEARCH)
        hits, near = await self._candidates(store, query, meaning, kind, max(limit, CANDIDATES))
        weight = weights(hits.having, hits.total)
        past: list[Past] = []
        for debate_id in dict.fromkeys([*hits.ids, *near]):
            debate = await store.get(debate_id)
            shared = coverage(query, decisions.text(debate), weight)
            nearness = near.get(debate_id, 0.0)
            if shared or nearness >= RELATED:
                score = (shared + nearness) / 2 if meaning.name else shared
                past.append(Past(debate=debate, demonstration=self._is_demonstration(debate), score=score))
        past.sort(key=lambda each: (-each.score, -(each.debate.completed_at or 0.0)))
        return Found(past=past[:limit], by=meaning.by, note=meaning.note, usage=meaning.usage, more=more)

    async def earlier(self, topic: str, *, demonstration: bool) -> Earlier:
        """A demonstration's verdict is only told to demonstrations."""
        store, meaning = self._store(), self._meaning()
        kind: Kind = "demonstrated" if demonstration else "decided"
        topic = decisions.shortly(topic)
        await self._take_in(store, meaning, BEFORE_A_DEBATE)
        hits, near = await self._candidates(store, topic, meaning, kind, LIKELY)
        scores = {debate_id: score for debate_id, score in near.items() if score >= ALIKE}
        by, debates = meaning.name, [await store.get(debate_id) for debate_id in [*scores] or hits.ids]
        if not scores:  # no embedder, or it does not know them yet
            by, weight = BY_WORDS, weights(hits.having, hits.total)
            shared = {debate.id: overlap(topic, decisions.topic(debate), weight) for debate in debates}
            scores = {debate_id: share for debate_id, share in shared.items() if share >= SAME_WORDS}
        alike = [debate for debate in debates if debate.id in scores]
        # Of several that are just as near, the newest counts.
        best = max(alike, key=lambda debate: (round(scores[debate.id], 4), debate.completed_at or 0.0), default=None)
        told = None if best is None else decisions.earlier(best, scores[best.id], by)
        return Earlier(told=told, note=meaning.note, usage=meaning.usage)

    async def _take_in(self, store: Store, meaning: Meaning, most: int) -> bool:
        """Remember what has been completed since. True when there may be more than `most`."""
        taken = 0
        while taken < most:
            # The newest are asked for first, and kept last: of equals, stores give the one that was kept last.
            debates = list(reversed(await store.unremembered(meaning.name, min(BATCH, most - taken))))
            if not debates:
                return False
            embedder = meaning.name
            # Questions alone: what a judge says about them would drown what they are about.
            vectors = await meaning.of([decisions.topic(debate) for debate in debates])
            if vectors is None and embedder:
                continue  # it has just failed; those that are remembered without it stay as they are
            await store.remember(
                [
                    decisions.memorized(
                        debate,
                        demonstration=self._is_demonstration(debate),
                        embedder=embedder,
                        embedding=None if vectors is None else vectors[place],
                    )
                    for place, debate in enumerate(debates)
                ]
            )
            taken += len(debates)
        return True

    async def _candidates(
        self, store: Store, query: str, meaning: Meaning, kind: Kind, count: int
    ) -> tuple[Hits, Mapping[str, float]]:
        """By words; and by meaning, with their cosines, the nearest first."""
        decided, demonstrations = kind != "all", kind != "decided"
        asked = list(dict.fromkeys(words(query)))[:ASKED]
        hits = await store.search(asked, count, decided=decided, demonstrations=demonstrations)
        vectors = await meaning.of([query]) if hits.total else None
        if vectors is None:
            return hits, {}
        if self._nearness is None:
            self._nearness = Nearness(meaning.name)
        near = await self._nearness.nearest(store, vectors[0], count, decided=decided, demonstrations=demonstrations)
        return hits, dict(near)
