"""Search over past debates, and the precedent for a new one.

Completed debates are indexed when a search begins, not when they end, so that a killed process loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from moot.core.errors import DamagedDebate, NoSuchDebate
from moot.core.types import Debate, Json, Usage, record
from moot.memory import decisions
from moot.memory.embedder_session import BATCH, BY_WORDS, EmbedderSession
from moot.memory.likeness import ALIKE, RELATED, SAME_WORDS, coverage, overlap, weights
from moot.memory.paying import Payer
from moot.memory.vector_index import VectorIndex
from moot.reasoning.bm25 import words
from moot.store import Debates, Hits, Memories, Store, Viewer

BEFORE_A_DEBATE = 256  # debates to index at most
BEFORE_A_SEARCH = 1024
CANDIDATES = 50  # by words, and as many by meaning
MAX_QUERY_WORDS = 128
PRECEDENT_CANDIDATES = 8
OTHERS = 8  # how many times as many candidates by meaning where only some may be seen

# "decided": debates that came to a decision and are not in quarantine, without demonstrations; "demonstrated": the same
# with demonstrations.
Kind = Literal["all", "decided", "demonstrated"]


@record
class PastDebate:
    """A hit of a search."""

    debate: Debate
    demonstration: bool
    score: float  # 0 to 1


@record
class SearchResult:
    past: Sequence[PastDebate]  # best first
    by: str  # the method, as in `Recollection`
    note: str = ""
    usage: Usage
    more: bool = False  # some completed debates are not indexed yet


@record
class PrecedentLookup:
    precedent: Json | None  # an earlier decision on much the same question, as a debate's metadata store it
    note: str
    usage: Usage

    def metadata(self, *, tell: bool) -> Json:
        """What a new debate keeps of it. `tell`: its debaters read the decision."""
        paid = {"tokens_in": self.usage.tokens_in, "cost_usd": self.usage.cost_usd}
        earlier = {"earlier": self.precedent} if self.precedent and tell else {}
        return earlier | ({"looking_back": paid} if self.usage.tokens_in else {})

    def notes(self, remedy: str) -> list[str]:
        """What is said about it to people. `remedy`: how to let the debaters know; empty: they do."""
        told = (
            f"The debaters are not told; to let them know: {remedy}."
            if remedy
            else "The debaters are told; judges are not."
        )
        found = [] if self.precedent is None else [f"{decisions.precedent_notice(self.precedent)} {told}"]
        return [*found, *([self.note] if self.note else [])]


class PastDebates:
    def __init__(
        self,
        store: Callable[[], Store],
        session: Callable[[Payer], EmbedderSession],
        is_demonstration: Callable[[Debate], bool],
    ) -> None:
        self._store, self._session, self._is_demonstration = store, session, is_demonstration
        self._vectors: VectorIndex | None = None

    async def search(
        self, query: str, limit: int, kind: Kind = "all", *, viewer: Viewer | None = None, payer: Payer | None = None
    ) -> SearchResult:
        """Find past debates by words and, with an embedder, by meaning. `viewer`: only debates that it sees. `payer`:
        who pays for the embedder; by default the local user."""
        store, session = self._store(), self._session(payer or Payer())
        more = await self._index(store, session, BEFORE_A_SEARCH)
        hits, near = await self._candidates(store, query, session, kind, max(limit, CANDIDATES), viewer)
        weight = weights(hits.document_frequency, hits.total)
        past: list[PastDebate] = []
        for debate_id in dict.fromkeys([*hits.ids, *near]):
            debate = await _found(store, debate_id)
            if debate is None or not (viewer is None or viewer.sees(debate)):
                continue
            shared = coverage(query, decisions.text(debate), weight)
            nearness = near.get(debate_id, 0.0)
            if shared or nearness >= RELATED:
                score = (shared + nearness) / 2 if session.name else shared
                past.append(PastDebate(debate=debate, demonstration=self._is_demonstration(debate), score=score))
        past.sort(key=lambda each: (-each.score, -(each.debate.completed_at or 0.0)))
        return SearchResult(past=past[:limit], by=session.method, note=session.note, usage=session.usage, more=more)

    async def precedent(
        self, topic: str, *, demonstration: bool, viewer: Viewer | None = None, payer: Payer | None = None
    ) -> PrecedentLookup:
        """Find an earlier decision on much the same question. A demonstration's verdict is only a precedent for
        demonstrations. `viewer` and `payer`: as in `search`."""
        store, session = self._store(), self._session(payer or Payer())
        kind: Kind = "demonstrated" if demonstration else "decided"
        topic = decisions.shorten_topic(topic)
        await self._index(store, session, BEFORE_A_DEBATE)
        hits, near = await self._candidates(store, topic, session, kind, PRECEDENT_CANDIDATES, viewer)
        scores = {debate_id: score for debate_id, score in near.items() if score >= ALIKE}
        found = [await _found(store, debate_id) for debate_id in [*scores] or hits.ids]
        by = session.name
        debates = [each for each in found if each is not None and (viewer is None or viewer.sees(each))]
        if not scores:  # no embedder, or no vectors of these debates yet
            by, weight = BY_WORDS, weights(hits.document_frequency, hits.total)
            shared = {debate.id: overlap(topic, decisions.topic(debate), weight) for debate in debates}
            scores = {debate_id: share for debate_id, share in shared.items() if share >= SAME_WORDS}
        alike = [debate for debate in debates if debate.id in scores]
        # Of several with the same score, the newest counts.
        best = max(alike, key=lambda debate: (round(scores[debate.id], 4), debate.completed_at or 0.0), default=None)
        chosen = None if best is None else decisions.precedent(best, scores[best.id], by)
        return PrecedentLookup(precedent=chosen, note=session.note, usage=session.usage)

    async def _index(self, store: Memories, session: EmbedderSession, most: int) -> bool:
        """Index newly completed debates. Returns True if more than `most` may be left."""
        done = 0
        while done < most:
            # Read newest first, written newest last: of equal hits, stores return the last written.
            debates = list(reversed(await store.unremembered(session.name, min(BATCH, most - done))))
            if not debates:
                return False
            embedder = session.name
            # Only the question is embedded: a judge's words would dominate what it is about.
            vectors = await session.embed([decisions.topic(debate) for debate in debates])
            if vectors is None and embedder:
                continue  # the embedder has just failed; go on without it
            await store.remember(
                [
                    decisions.memory_entry(
                        debate,
                        demonstration=self._is_demonstration(debate),
                        embedder=embedder,
                        embedding=None if vectors is None else vectors[place],
                    )
                    for place, debate in enumerate(debates)
                ]
            )
            done += len(debates)
        return True

    async def _candidates(
        self, store: Store, query: str, session: EmbedderSession, kind: Kind, count: int, viewer: Viewer | None
    ) -> tuple[Hits, Mapping[str, float]]:
        """The best hits by words; and the nearest by meaning, with their cosines."""
        decided, demonstrations = kind != "all", kind != "decided"
        terms = list(dict.fromkeys(words(query)))[:MAX_QUERY_WORDS]
        hits = await store.search(terms, count, decided=decided, demonstrations=demonstrations, viewer=viewer)
        vectors = await session.embed([query]) if hits.total else None
        if vectors is None:
            return hits, {}
        if self._vectors is None:
            self._vectors = VectorIndex(session.name)
        # What is kept of the vectors knows neither whose a debate is nor which decisions are in quarantine: more are
        # looked at, and those are left out.
        without = frozenset(await store.quarantined() if decided else ())
        count = (count if viewer is None else OTHERS * count) + len(without)
        near = await self._vectors.nearest(store, vectors[0], count, decided=decided, demonstrations=demonstrations)
        return hits, {debate_id: score for debate_id, score in near if debate_id not in without}


async def _found(store: Debates, debate_id: str) -> Debate | None:
    """The debate, or None when it was deleted since it was found, or can't be read."""
    try:
        return await store.get(debate_id)
    except (NoSuchDebate, DamagedDebate):
        return None
