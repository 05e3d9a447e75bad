"""Where recall steps are answered. Nothing here fails for want of an embedder: then words are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from moot.errors import InputError, StoreError
from moot.memory import decisions
from moot.memory.library import Library, library
from moot.memory.meaning import BY_WORDS, Meaning
from moot.memory.past import PastDebates
from moot.memory.ranking import Ranking, best, together
from moot.memory.vectors import cosine
from moot.store import Store
from moot.types import Corpus, Debate, Embedder, Likeness, Recalled, Recollection, Usage


class Archive:
    """Implements `Memory`."""

    def __init__(
        self,
        store: Callable[[], Store],
        embedder: Callable[[], Embedder | None],
        *,
        templates: Callable[[], Path | None],
        is_demonstration: Callable[[Debate], bool],
    ) -> None:
        """What is given is asked for when it is needed; `templates` is the user's folder."""
        self._store, self._embedder, self._templates = store, cache(embedder), templates
        self.past = PastDebates(store, self._meaning, is_demonstration)
        self._ranking: Ranking | None = None
        self._told: set[str] = set()  # problems with templates that were mentioned

    @property
    def library(self) -> Library:
        return library(self._templates())

    async def recall(self, query: str, corpus: Corpus, k: int, /) -> tuple[Recollection, Usage]:
        if corpus == "templates":
            return await self._templates_for(query, k)
        try:
            found = await self.past.search(query, k, "decided")
        except StoreError as error:
            return Recollection(by=BY_WORDS, note=f"Past decisions can't be read. {error}"), Usage()
        recalled = [
            Recalled(
                id=past.debate.id,
                title=decisions.topic(past.debate),
                text=decisions.text(past.debate),
                score=round(past.score, 4),
            )
            for past in found.past
        ]
        return Recollection(found=tuple(recalled), by=found.by, note=found.note), found.usage

    async def compare(self, pairs: Sequence[tuple[str, str]], /) -> tuple[Likeness, Usage]:
        meaning = self._meaning()
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = await meaning.of(texts)
        if vectors is None:
            return Likeness(note=meaning.note), meaning.usage
        of = dict(zip(texts, vectors, strict=True))
        scores = tuple(round(min(1.0, max(0.0, cosine(of[one], of[two]))), 4) for one, two in pairs)
        return Likeness(scores=scores, by=meaning.name), meaning.usage

    async def _templates_for(self, query: str, k: int) -> tuple[Recollection, Usage]:
        known, meaning = self.library, self._meaning()
        ranking = self._ranked(known)
        scores = ranking.by_words(query)
        asked = await meaning.of([query])
        vectors = None if asked is None else await self._vectors(ranking.lines, meaning)
        if asked is not None and vectors is not None:
            chosen = best(together(scores, ranking.by_meaning(asked[0], vectors)), k)
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
        notes = [f"Left out: {problem}" for problem in known.problems if problem not in self._told]
        self._told.update(known.problems)
        return Recollection(found=found, by=meaning.by, note=" ".join([*notes, meaning.note]).strip()), meaning.usage

    def _meaning(self) -> Meaning:
        try:
            return Meaning(self._embedder())
        except InputError as error:
            return Meaning(None, str(error))

    def _ranked(self, known: Library) -> Ranking:
        """Made anew only when a template has changed."""
        if self._ranking is None or list(self._ranking.templates) != list(known.templates):
            self._ranking = Ranking(known.templates)
        return self._ranking

    async def _vectors(self, lines: Mapping[str, str], meaning: Meaning) -> Mapping[str, bytes] | None:
        """For each line its vector, from the store where it is kept. A store that fails only costs time."""
        embedder = meaning.name
        try:
            kept = dict(await self._store().embeddings(embedder, list(lines)))
        except StoreError:
            kept = {}
        missing = {key: line for key, line in lines.items() if key not in kept}
        if not missing:
            return kept
        made = await meaning.of(list(missing.values()))
        if made is None:
            return None
        new = dict(zip(missing, made, strict=True))
        try:
            await self._store().keep_embeddings(embedder, new)
        except StoreError:
            pass
        return kept | new
