"""Memory: templates, past debates, and the comparison of texts. Without an embedder only words are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from moot.core.errors import InputError, StoreError
from moot.core.types import Corpus, Debate, Embedder, Likeness, Recalled, Recollection, Usage
from moot.memory import decisions
from moot.memory.embedder_session import BY_WORDS, EmbedderSession
from moot.memory.library import Library, library
from moot.memory.past import PastDebates
from moot.memory.template_index import TemplateIndex, best, combined
from moot.memory.vector_index import cosine
from moot.store import Store


class Archive:
    """Implements `Memory`."""

    def __init__(
        self,
        store: Callable[[], Store],
        embedder: Callable[[], Embedder | None],
        *,
        templates: Callable[[], Path | None],
        is_demonstration: Callable[[Debate], bool],
        private: bool = False,
    ) -> None:
        """`private`: debates recall no decisions, which may be others'. The callables are called when their result is
        first needed. `templates`: the user's folder of templates."""
        self._store, self._embedder, self._templates = store, cache(embedder), templates
        self._private = private
        self.past = PastDebates(store, self._session, is_demonstration)
        self._index: TemplateIndex | None = None
        self._reported: set[str] = set()  # problems with templates that a note has mentioned

    @property
    def library(self) -> Library:
        return library(self._templates())

    async def recall(self, query: str, corpus: Corpus, k: int, /) -> tuple[Recollection, Usage]:
        if corpus == "templates":
            return await self._templates_for(query, k)
        if self._private:
            return Recollection(by=BY_WORDS, note="Decisions are private here, so none was looked for."), Usage()
        try:
            found = await self.past.search(query, k, "decided")
        except StoreError as error:
            return Recollection(by=BY_WORDS, note=f"Past decisions can't be read. {error}"), Usage()
        recalled = [
            Recalled(
                id=past.debate.id,
                title=decisions.topic(past.debate),
                text=f"{decisions.text(past.debate)}\n{decisions.source(past.debate)}",
                score=round(past.score, 4),
            )
            for past in found.past
        ]
        return Recollection(found=tuple(recalled), by=found.by, note=found.note), found.usage

    async def compare(self, pairs: Sequence[tuple[str, str]], /) -> tuple[Likeness, Usage]:
        session = self._session()
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = await session.embed(texts)
        if vectors is None:
            return Likeness(note=session.note), session.usage
        of = dict(zip(texts, vectors, strict=True))
        scores = tuple(round(min(1.0, max(0.0, cosine(of[one], of[two]))), 4) for one, two in pairs)
        return Likeness(scores=scores, by=session.name), session.usage

    async def _templates_for(self, query: str, k: int) -> tuple[Recollection, Usage]:
        known, session = self.library, self._session()
        index = self._indexed(known)
        scores = index.by_words(query)
        asked = await session.embed([query])
        vectors = None if asked is None else index.vectors.get(session.name)
        if asked is not None and vectors is None:
            vectors = await self._vectors(index.lines, session)
            index.vectors |= {} if vectors is None else {session.name: vectors}
        if asked is not None and vectors is not None:
            chosen = best(combined(scores, index.by_meaning(asked[0], vectors)), k)
        else:
            chosen = [(place, score) for place, score in best(scores, k) if score > 0]
        found = tuple(
            Recalled(
                id=known.templates[place].id,
                title=known.templates[place].front.name,
                text=known.templates[place].text,
                score=round(score, 4),
            )
            for place, score in chosen
        )
        notes = [f"Left out: {problem}" for problem in known.problems if problem not in self._reported]
        self._reported.update(known.problems)
        return Recollection(
            found=found, by=session.method, note=" ".join([*notes, session.note]).strip()
        ), session.usage

    def _session(self) -> EmbedderSession:
        try:
            return EmbedderSession(self._embedder())
        except InputError as error:
            return EmbedderSession(None, str(error))

    def _indexed(self, known: Library) -> TemplateIndex:
        """The index over these templates, rebuilt only if one has changed."""
        if self._index is None or list(self._index.templates) != list(known.templates):
            self._index = TemplateIndex(known.templates)
        return self._index

    async def _vectors(self, lines: Mapping[str, str], session: EmbedderSession) -> Mapping[str, bytes] | None:
        """The vector of each line, cached in the store. A store that fails only costs time."""
        embedder = session.name
        try:
            kept = dict(await self._store().embeddings(embedder, list(lines)))
        except StoreError:
            kept = {}
        missing = {key: line for key, line in lines.items() if key not in kept}
        if not missing:
            return kept
        made = await session.embed(list(missing.values()))
        if made is None:
            return None
        new = dict(zip(missing, made, strict=True))
        try:
            await self._store().keep_embeddings(embedder, new)
        except StoreError:
            pass
        return kept | new
