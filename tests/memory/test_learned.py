"""Lessons and episodes: found again, counted, kept out, forgotten; and what makes room for new ones."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.core.artifacts import Episode, Lesson, LessonUse, Version
from moot.core.script import Stage
from moot.core.types import Debate, Prompt
from moot.formats import Format
from moot.memory import learned
from moot.memory.archive import Archive
from moot.reasoning.fence import fence
from moot.runtime.runtime import Runtime
from moot.store import KnownLesson, Viewer
from moot.store.sqlite import SqliteStore
from tests.memory.embedders import Broken, Topics
from tests.runtime.small import a_format, a_runtime, created, outcome, run

TEXTS = (
    "Check empty lists before taking the first item.",
    "Close files even when reading fails.",
    "Compare floats with a tolerance.",
)


async def teaching(stage: Stage, settings: Any):
    """Fails, passes, and states lessons."""
    await stage.seat("a").ask("code", Prompt(name="p", text="Try."), round=1)
    failed = stage.produce(Episode(agent="a", task="parse a list", passed=False, reflection="The list was empty."))
    stage.produce(Episode(agent="b", task="read a file", passed=True, reflection="It was closed."))
    stage.produce(Episode(agent="a", task="parse a list", attempt=2, passed=True))
    for text in TEXTS:
        stage.produce(Lesson(text=text, applies_when="code reads input", episodes=(failed.id,)))
    return outcome("a", "done")


async def recalling(stage: Stage, settings: Any):
    """Recalls lessons, reads them, and says whether each held."""
    found = await stage.recall("recall", "take the first item of lists", corpus="lessons", k=3, round=1)
    tried = await stage.recall("recall", "an empty list", corpus="episodes", k=3, agent="a", round=1)
    words = fence("\n\n".join(each.text for each in found.found), of="lessons of earlier debates", at="1/code/a")
    await stage.seat("a").ask("code", Prompt(name="p", text=f"Write it.\n\n{words}"), round=1)
    for each in found.found:
        stage.produce(LessonUse(lesson=each.id, held=each.id == found.found[0].id))
    stage.produce(Version(author="a", language="text", code="\n".join(each.text for each in tried.found)))
    return outcome("a", "done")


TEACHING, RECALLING = a_format(teaching, "a"), a_format(recalling, "a")


class Place:
    """A runtime with a memory, on one database."""

    def __init__(self, runtime: Runtime, archive: Archive) -> None:
        self.runtime, self.archive, self.store = runtime, archive, runtime.store

    async def texts(self, debate: Debate) -> list[list[str]]:
        """What each recollection of a debate had."""
        turns = await self.store.turns(debate.id)
        return [[each["text"] for each in (turn.data or {})["found"]] for turn in turns if turn.phase == "recall"]

    async def recalled(self) -> list[list[str]]:
        """What each recollection of a new debate has."""
        return await self.texts(await run(self.runtime, RECALLING))

    async def known(self) -> dict[str, KnownLesson]:
        return {each.lesson.text: each for each in await self.store.known_lessons(10)}

    async def forked(self, debate: Debate, at: str | None, format_: Format) -> Debate:
        fork = await self.runtime.fork(debate, at=at, format=format_, config=debate.config, cast=debate.cast)
        await self.runtime.start(fork.id)
        return await self.runtime.wait(fork.id)


@asynccontextmanager
async def a_place(folder: Path, embedder: Any = None, *, demonstrates=False, private=False) -> AsyncIterator[Place]:
    store: list[SqliteStore] = []
    more: dict[str, Any] = {"is_demonstration": lambda _: demonstrates}
    archive = Archive(lambda: store[0], lambda: embedder, templates=lambda: None, private=private, **more)
    more |= {"memory": archive, "episodes_kept": 500}
    async with a_runtime(folder, TEACHING, RECALLING, **more) as runtime:
        assert isinstance(runtime.store, SqliteStore)
        store.append(runtime.store)
        yield Place(runtime, archive)


@pytest.fixture
def place(opened, tmp_path) -> Place:
    return opened(a_place(tmp_path))


@pytest.mark.parametrize("embedder", [None, Topics({"lists": ["list", "item"], "files": ["file"]}), Broken()])
async def test_a_lesson_of_one_debate_is_read_in_the_next_and_its_counts_move(tmp_path, embedder):
    async with a_place(tmp_path, embedder) as place:
        taught = await run(place.runtime, TEACHING)
        for times in (1, 2):
            used = await run(place.runtime, RECALLING)
            assert used.status == "completed", used.error
            lessons, episodes = await place.texts(used)
            assert 1 <= len(lessons) <= 3
            assert lessons[0].startswith(f"{TEXTS[0]}\nApplies when: code reads input\nFrom debate {taught.short} on ")
            assert f"by sim; confirmed {'once' if times == 1 else '2 times'}, contradicted 0 times." in lessons[0]
            assert episodes[0].startswith("parse a list\nThe list was empty.\nIt failed.\nAttempt 1 of a in debate ")
            known = await place.known()
            assert known[TEXTS[0]].confirmed == 1 + times
            assert known[TEXTS[0]].contradicted == 0
            for text in TEXTS[1 : len(lessons)]:
                assert known[text].confirmed + known[text].contradicted >= 1
        await place.runtime.delete(used.id, by="ann")
        assert (await place.known())[TEXTS[0]].confirmed == 2, "what a deleted debate said counts no more"


async def test_demonstrations_teach_only_demonstrations(tmp_path):
    async with a_place(tmp_path, demonstrates=True) as place:
        await run(place.runtime, TEACHING)
        assert await place.recalled() != [[], []]
    async with a_place(tmp_path) as place:
        assert await place.recalled() == [[], []]
        await run(place.runtime, TEACHING)
        assert await place.recalled() != [[], []]


async def test_a_debate_recalls_nothing_that_one_of_its_readers_may_not_see(tmp_path):
    async with a_place(tmp_path, private=True) as place:
        runtime = place.runtime
        await run(runtime, TEACHING)
        assert await place.recalled() != [[], []]
        cast = (await created(runtime, RECALLING)).cast
        other = await runtime.create(topic="t", format=RECALLING, config={}, cast=cast, token_id="ann")
        await runtime.start(other.id)
        assert await place.texts(await runtime.wait(other.id)) == [[], []]


async def test_a_lesson_that_was_forgotten_is_not_recalled(place):
    await run(place.runtime, TEACHING)
    assert any(text.startswith(TEXTS[0]) for text in (await place.recalled())[0])
    id = (await place.known())[TEXTS[0]].lesson.id
    assert await place.store.forget_lesson(id)
    assert not await place.store.forget_lesson(id)
    assert not any(text.startswith(TEXTS[0]) for text in (await place.recalled())[0])


async def test_a_lesson_that_a_fork_repeats_is_recalled_once(place):
    await place.forked(await run(place.runtime, TEACHING), "1/code/a", TEACHING)
    assert len(await place.store.known_lessons(10)) == 2 * len(TEXTS)
    lessons = (await place.recalled())[0]
    assert sum(text.startswith(TEXTS[0]) for text in lessons) == 1


async def test_what_a_fork_repeats_of_its_parents_uses_counts_once(place):
    await run(place.runtime, TEACHING)
    used = await run(place.runtime, RECALLING)
    before = {text: (each.confirmed, each.contradicted) for text, each in (await place.known()).items()}
    fork = await place.forked(used, None, RECALLING)
    assert fork.status == "completed"
    assert any(isinstance(each, LessonUse) for each in await place.store.artifacts(fork.id))
    assert {text: (each.confirmed, each.contradicted) for text, each in (await place.known()).items()} == before
    await place.forked(used, "1/code/a", RECALLING)
    assert (await place.known())[TEXTS[0]].confirmed == before[TEXTS[0]][0] + 1, "what a fork did anew counts"


async def test_a_search_compares_texts_beside_the_event_loop(tmp_path, monkeypatch):
    async with a_place(tmp_path, Topics({"lists": ["list", "item"], "files": ["file"]})) as place:
        await run(place.runtime, TEACHING)
        threads: list[threading.Thread] = []
        for name in ("words", "cosine"):
            original: Callable[..., Any] = getattr(learned, name)

            def noted(*given: Any, original: Callable[..., Any] = original) -> Any:
                threads.append(threading.current_thread())
                return original(*given)

            monkeypatch.setattr(learned, name, noted)
        assert (await place.archive.lessons.lessons("lists", 5)).found
        assert (await place.archive.lessons.episodes("list", 5, demonstration=False)).found
        assert len(threads) > 2 * len(TEXTS)
        assert threading.current_thread() not in threads


async def test_only_the_newest_episodes_are_kept_for_each_owner(tmp_path):
    async with a_runtime(tmp_path, TEACHING, episodes_kept=4) as runtime:
        cast = (await created(runtime, TEACHING)).cast
        other = await runtime.create(topic="t", format=TEACHING, config={}, cast=cast, token_id="ann")
        await runtime.start(other.id)
        await runtime.wait(other.id)
        debates = [await run(runtime, TEACHING) for _ in range(3)]
        made = [await runtime.store.artifacts(each.id) for each in (other, *debates)]
        kept = [[each.number for each in its if isinstance(each, Episode)] for its in made]
        assert [len(each) for each in kept] == [3, 0, 1, 3]
        assert kept[2] == [3], "the oldest goes first"
        assert len(await runtime.store.recent_episodes(10)) == 7
        assert len(await runtime.store.recent_episodes(10, viewer=Viewer(token="ann", shared=False))) == 3
        assert {each.agent for each in await runtime.store.recent_episodes(10, agent="b")} == {"b"}
