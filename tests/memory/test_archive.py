"""Recall steps: templates and past decisions, with an embedder, without one, and with one that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.core.errors import InputError, ModelOverloaded, StoreError
from moot.core.types import Asker, Embedder, Usage
from moot.memory.archive import Archive
from moot.store.sqlite import SqliteStore
from tests.memory.embedders import Broken, Topics
from tests.memory.test_library import GOOD, write

MEANINGS = {"odds": ["coin", "envelope", "quux"], "attack": ["burglar", "threat", "attacker"]}


@asynccontextmanager
async def an_archive(
    folder: Path, embedder: Embedder | Callable[[], Embedder] | None, templates: Path | None = None
) -> AsyncIterator[Archive]:
    open_ = (lambda: embedder) if embedder is None or hasattr(embedder, "name") else embedder
    store = SqliteStore(folder / "moot.db")
    try:
        yield Archive(lambda: store, open_, templates=lambda: templates, is_demonstration=lambda debate: False)
    finally:
        await store.close()


@pytest.fixture
def archive(opened, tmp_path) -> Archive:
    return opened(an_archive(tmp_path, None))


async def test_words_alone_find_templates_and_say_so(archive):
    found, usage = await archive.recall("Which attackers could break into our API?", "templates", 3)
    assert found.found[0].id == "threat-model"
    assert found.found[0].title == "Threat model"
    assert "## Steps" in found.found[0].text
    assert (found.by, found.note, usage) == ("bm25", "", Usage())
    assert [each.score for each in found.found] == sorted((each.score for each in found.found), reverse=True)


async def test_what_has_no_word_in_common_is_not_recalled(archive):
    for query in ("zzzzz qqqqq", "", "?!"):
        found, _ = await archive.recall(query, "templates", 3)
        assert found.found == ()
        assert found.prose() == "Found nothing that fits (by bm25)."


async def test_meaning_finds_what_words_do_not_and_each_line_is_embedded_once(tmp_path):
    embedder = Topics(MEANINGS)
    write(tmp_path, "mine.md", GOOD.format(id="two-envelopes"))
    async with an_archive(tmp_path, embedder, tmp_path) as archive:
        found, usage = await archive.recall("Quux?", "templates", 1)
        assert found.found[0].id == "two-envelopes"
        assert found.by == "bm25 + topics"
        assert usage.tokens_in == len(embedder.asked) > 100
        assert usage.cost_usd == pytest.approx(0.001 * len(embedder.asked))
        first = len(embedder.asked)
        _, usage = await archive.recall("More quux", "templates", 1)
        assert (len(embedder.asked) - first, usage.tokens_in) == (1, 1)
    async with an_archive(tmp_path, embedder, tmp_path) as archive:
        before = len(embedder.asked)
        await archive.recall("More quux", "templates", 1)
        assert len(embedder.asked) == before + 1  # the rest was in the database
    other = Topics(MEANINGS, name="other")
    async with an_archive(tmp_path, other, tmp_path) as archive:
        await archive.recall("More quux", "templates", 1)
    assert len(other.asked) > 100  # vectors of one embedder are nothing to another


@pytest.mark.parametrize("error", [None, ModelOverloaded("broken broke off.", usage=Usage(tokens_in=7, cost_usd=0.5))])
async def test_an_embedder_that_fails_leaves_words(tmp_path, error):
    embedder = Broken(error)
    async with an_archive(tmp_path, None) as words, an_archive(tmp_path, embedder) as archive:
        plain, _ = await words.recall("Which attackers could break in?", "templates", 3)
        found, usage = await archive.recall("Which attackers could break in?", "templates", 3)
        assert found.found == plain.found
        assert found.by == "bm25"
        assert found.note == f"Only words were compared. {embedder.error}"
        assert usage == (embedder.error.usage or Usage())
        likeness, _ = await archive.compare([("a", "b")])
        assert (likeness.scores, likeness.by, likeness.note) == ((), "", found.note)
        past, _ = await archive.recall("anything", "decisions", 3)
        assert past.found == ()


async def test_an_embedder_that_can_not_be_opened_leaves_words(tmp_path):
    def nothing() -> Embedder:
        raise InputError("OLLAMA_HOST is 'x:y'; write for example 127.0.0.1:11434.")

    async with an_archive(tmp_path, nothing) as archive:
        found, _ = await archive.recall("attack", "templates", 1)
        assert found.found[0].id == "threat-model"
        assert "OLLAMA_HOST" in found.note


async def test_a_bad_template_is_told_once_and_the_others_are_used(tmp_path):
    write(tmp_path, "bad.md", "no front matter")
    write(tmp_path, "mine.md", GOOD.format(id="two-envelopes"))
    async with an_archive(tmp_path, None, tmp_path) as archive:
        found, _ = await archive.recall("swap the envelope", "templates", 1)
        assert found.found[0].id == "two-envelopes"
        assert found.note.startswith("Left out: The template")
        assert "bad.md" in found.note
        found, _ = await archive.recall("swap the envelope", "templates", 1)
        assert found.note == ""


async def test_a_template_that_is_changed_counts_from_now_on(tmp_path):
    async with an_archive(tmp_path, None, tmp_path) as archive:
        before, _ = await archive.recall("swap two envelopes", "templates", 1)
        assert "two-envelopes" not in {each.id for each in before.found}
        path = write(tmp_path, "mine.md", GOOD.format(id="two-envelopes"))
        assert (await archive.recall("swap two envelopes", "templates", 1))[0].found[0].id == "two-envelopes"
        path.unlink()
        assert (await archive.recall("swap two envelopes", "templates", 1))[0].found == before.found


async def test_pairs_are_compared_by_meaning(tmp_path):
    embedder = Topics(MEANINGS)
    async with an_archive(tmp_path, embedder) as archive:
        likeness, usage = await archive.compare(
            [("a coin", "two envelopes"), ("a coin", "a burglar"), ("a coin", "a coin")]
        )
        assert likeness.scores == pytest.approx((1, 0, 1), abs=1e-3)
        assert likeness.by == "topics"
        assert usage.tokens_in == len(embedder.asked) == 3  # each text once
        assert (await archive.compare([]))[0].scores == ()


async def test_without_an_embedder_nothing_is_measured(archive):
    likeness, usage = await archive.compare([("a", "b")])
    assert (likeness.scores, likeness.by, usage) == ((), "", Usage())
    assert likeness.prose() == "Not measured: there is no embedder."


async def test_a_store_that_fails_fails_no_recall():
    def broken():
        raise StoreError("The disk is gone.")

    archive = Archive(broken, lambda: Topics(MEANINGS), templates=lambda: None, is_demonstration=lambda debate: False)
    found, _ = await archive.recall("Which attackers could break in?", "templates", 3)
    assert "threat-model" in {each.id for each in found.found}
    past, _ = await archive.recall("anything", "decisions", 3)
    assert past.found == ()
    assert "The disk is gone." in past.note


@pytest.mark.parametrize("corpus", ["templates", "decisions"])
async def test_a_debate_that_can_not_be_read_is_told_nothing(tmp_path, corpus):
    embedder = Topics(MEANINGS)
    async with an_archive(tmp_path, embedder) as archive:
        lost = Asker(debate_id="0" * 36)
        for found, usage in (
            await archive.recall("attack", corpus, 3, lost),
            await archive.learned("attack", "lessons", 3, "", lost),
        ):
            assert (found.found, usage) == ((), Usage())
            assert "the debate that asks can't be read" in found.note
        assert embedder.asked == [], "and no one pays for it"
