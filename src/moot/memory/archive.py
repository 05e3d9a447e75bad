"""Memory: templates, past debates, and the comparison of texts. Without an embedder only words are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from moot.core.errors import InputError, NoSuchDebate, StoreError
from moot.core.settings import Ceilings
from moot.core.types import Asker, Corpus, Debate, Embedder, Likeness, Price, Recalled, Recollection, Usage
from moot.core.types import Learned as LearnedCorpus
from moot.memory import decisions
from moot.memory.embedder_session import BY_WORDS, EmbedderSession
from moot.memory.learned import Learned, recalled_episode, recalled_lesson
from moot.memory.library import Library, library
from moot.memory.past import PastDebates
from moot.memory.paying import Account, Payer
from moot.memory.template_index import TemplateIndex, best, combined
from moot.memory.vector_index import cosine
from moot.store import Store, Viewer

INDEXED_BYTES = 400_000  # that a debate may be asked to pay for beside its own texts: what is not indexed yet
NO_DEBATE = Asker()
UNKNOWN_READERS = Recollection(
    by=BY_WORDS, note="Nothing was recalled: the debate that asks can't be read, so it is not known who sees it."
)
FREE = Price(usd_in=0.0, usd_out=0.0)


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
        price: Callable[[], Price | None] = lambda: FREE,
        ceilings: Callable[[], Ceilings] = Ceilings,
    ) -> None:
        """`private`: every caller sees only their own debates. The callables are called when their result is first
        needed. `templates`: the user's folder of templates. `price`: of the embedder; None: it is not known."""
        self._store, self._embedder, self._templates = store, cache(embedder), templates
        self._private = private
        self._account = Account(store, cache(price), ceilings)
        self._is_demonstration = is_demonstration
        self.past = PastDebates(store, self._session, is_demonstration)
        self.lessons = Learned(store, self._session, self._vectors)
        self._index: TemplateIndex | None = None
        self._reported: set[str] = set()  # problems with templates that a note has mentioned

    @property
    def library(self) -> Library:
        return library(self._templates())

    def readers(self, token_id: str, *, private: bool) -> Viewer:
        """Those who see a debate of this token: what they all may see is what the debate may be told."""
        if self._private:
            return Viewer(token=token_id, shared=False)
        return Viewer(token=token_id if private else None)

    async def recall(
        self, query: str, corpus: Corpus, k: int, asker: Asker = NO_DEBATE, /
    ) -> tuple[Recollection, Usage]:
        debate = await self._debate(asker)
        if debate is None and asker.debate_id:
            return UNKNOWN_READERS, Usage()
        payer = self._payer(debate, asker)
        if corpus == "templates":
            return await self._templates_for(query, k, payer)
        try:
            readers = self.readers(payer.token_id, private=debate is not None and debate.private)
            found = await self.past.search(query, k, "decided", viewer=readers, payer=payer)
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

    async def learned(
        self, query: str, corpus: LearnedCorpus, k: int, agent: str = "", asker: Asker = NO_DEBATE, /
    ) -> tuple[Recollection, Usage]:
        debate = await self._debate(asker)
        if debate is None and asker.debate_id:
            return UNKNOWN_READERS, Usage()
        payer = self._payer(debate, asker)
        readers = self.readers(payer.token_id, private=debate is not None and debate.private)
        demonstration = debate is not None and self._is_demonstration(debate)
        try:
            if corpus == "lessons":
                lessons = await self.lessons.lessons(query, k, demonstration=demonstration, viewer=readers, payer=payer)
                found, of = tuple(recalled_lesson(*each) for each in lessons.found), lessons
            else:
                episodes = await self.lessons.episodes(
                    query, k, demonstration=demonstration, agent=agent, viewer=readers, payer=payer
                )
                found, of = tuple(recalled_episode(*each) for each in episodes.found), episodes
        except StoreError as error:
            return Recollection(by=BY_WORDS, note=f"{corpus.capitalize()} can't be read. {error}"), Usage()
        return Recollection(found=found, by=of.by, note=of.note), of.usage

    async def compare(self, pairs: Sequence[tuple[str, str]], asker: Asker = NO_DEBATE, /) -> tuple[Likeness, Usage]:
        session = self._session(self._payer(await self._debate(asker), asker))
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = await session.embed(texts)
        if vectors is None:
            return Likeness(note=session.note), session.usage
        of = dict(zip(texts, vectors, strict=True))
        scores = tuple(round(min(1.0, max(0.0, cosine(of[one], of[two]))), 4) for one, two in pairs)
        return Likeness(scores=scores, by=session.name), session.usage

    def most_usd(self, texts: Sequence[str], /) -> float | None:
        try:
            if self._embedder() is None:
                return 0.0
        except InputError:
            return 0.0
        return self._account.most_usd(sum(len(text.encode()) for text in texts) + INDEXED_BYTES)

    async def _debate(self, asker: Asker) -> Debate | None:
        """The debate that asks; None if it can't be read, or no debate asks."""
        try:
            return await self._store().get(asker.debate_id) if asker.debate_id else None
        except (StoreError, NoSuchDebate):  # a recollection never fails its debate
            return None

    def _payer(self, debate: Debate | None, asker: Asker) -> Payer:
        return Payer(token_id="" if debate is None else debate.token_id, room_usd=asker.room_usd)

    async def _templates_for(self, query: str, k: int, payer: Payer) -> tuple[Recollection, Usage]:
        known, session = self.library, self._session(payer)
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

    def _session(self, payer: Payer) -> EmbedderSession:
        try:
            return EmbedderSession(self._embedder(), self._account, payer)
        except InputError as error:
            return EmbedderSession(None, self._account, payer, str(error))

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
        missing = {line: key for key, line in lines.items() if key not in kept}
        if not missing:
            return kept

        async def keep(texts: Sequence[str], vectors: Sequence[bytes]) -> None:
            new = {missing[text]: vector for text, vector in zip(texts, vectors, strict=True)}
            kept.update(new)
            with suppress(StoreError):
                await self._store().keep_embeddings(embedder, new)

        return None if await session.embed(list(missing), keep) is None else kept
