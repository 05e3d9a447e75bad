"""Lessons and episodes: found again, counted, kept out, forgotten; and what makes room for new ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.artifacts import Episode, Lesson, LessonUse, Version
from moot.core.script import Stage
from moot.core.types import Debate, Prompt
from moot.memory import learned
from moot.memory.archive import Archive
from moot.reasoning.reflexion import quoted
from moot.runtime.runtime import Runtime
from moot.store import Viewer
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
    words = quoted(found, at="1/code/a")
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

    async def texts(self, debate: Debate, phase: str = "recall") -> list[list[str]]:
        """What each recollection of a debate had."""
        turns = await self.store.turns(debate.id)
        return [[each["text"] for each in (turn.data or {})["found"]] for turn in turns if turn.phase == phase]


def with_place(
    folder: Path, check: Callable[[Place], Awaitable[Any]], embedder: Any = None, *, demonstrates=False, private=False
) -> None:
    async def main() -> None:
        store: list[SqliteStore] = []
        archive = Archive(
            lambda: store[0],
            lambda: embedder,
            templates=lambda: None,
            is_demonstration=lambda _: demonstrates,
            private=private,
        )
        more = {"is_demonstration": lambda _: demonstrates, "memory": archive, "episodes_kept": 500}
        async with a_runtime(folder, TEACHING, RECALLING, **more) as runtime:
            assert isinstance(runtime.store, SqliteStore)
            store.append(runtime.store)
            await check(Place(runtime, archive))

    asyncio.run(main())


@pytest.mark.parametrize("embedder", [None, Topics({"lists": ["list", "item"], "files": ["file"]}), Broken()])
def test_a_lesson_of_one_debate_is_read_in_the_next_and_its_counts_move(tmp_path, embedder):
    async def check(place: Place):
        taught = await run(place.runtime, TEACHING)
        for times in (1, 2):
            used = await run(place.runtime, RECALLING)
            assert used.status == "completed", used.error
            lessons, episodes = await place.texts(used)
            assert 1 <= len(lessons) <= 3
            assert lessons[0].startswith(f"{TEXTS[0]}\nApplies when: code reads input\nFrom debate {taught.short} on ")
            assert f"by sim; confirmed {'once' if times == 1 else '2 times'}, contradicted 0 times." in lessons[0]
            assert episodes[0].startswith("parse a list\nThe list was empty.\nIt failed.\nAttempt 1 of a in debate ")
            known = {each.lesson.text: each for each in await place.store.known_lessons(10)}
            assert known[TEXTS[0]].confirmed == 1 + times
            assert known[TEXTS[0]].contradicted == 0
            for text in TEXTS[1 : len(lessons)]:
                assert known[text].confirmed + known[text].contradicted >= 1
        await place.runtime.delete(used.id, by="ann")
        known = {each.lesson.text: each for each in await place.store.known_lessons(10)}
        assert known[TEXTS[0]].confirmed == 2, "what a deleted debate said counts no more"

    with_place(tmp_path, check, embedder)


def test_what_was_recalled_is_in_the_prompt_behind_a_fence(tmp_path):
    async def check(place: Place):
        await run(place.runtime, TEACHING)
        used = await run(place.runtime, RECALLING)
        turns = await place.store.turns(used.id)
        script = RECALLING.script(used)
        script.begin()
        for turn in turns[:2]:
            script.resolve(turn)
        (step,) = script.open.values()
        assert "[words of lessons of earlier debates begin " in step.prompt.text
        assert TEXTS[0] in step.prompt.text
        script.close()

    with_place(tmp_path, check)


def test_demonstrations_teach_only_demonstrations(tmp_path):
    async def teach(place: Place):
        await run(place.runtime, TEACHING)
        assert await place.texts(await run(place.runtime, RECALLING)) != [[], []]

    async def none(place: Place):
        assert await place.texts(await run(place.runtime, RECALLING)) == [[], []]
        await run(place.runtime, TEACHING)
        assert await place.texts(await run(place.runtime, RECALLING)) != [[], []]

    with_place(tmp_path, teach, demonstrates=True)
    with_place(tmp_path, none)


def test_a_debate_recalls_nothing_that_one_of_its_readers_may_not_see(tmp_path):
    async def check(place: Place):
        runtime = place.runtime
        await run(runtime, TEACHING)
        assert await place.texts(await run(runtime, RECALLING)) != [[], []]
        cast = (await created(runtime, RECALLING)).cast
        other = await runtime.create(topic="t", format=RECALLING, config={}, cast=cast, token_id="ann")
        await runtime.start(other.id)
        assert await place.texts(await runtime.wait(other.id)) == [[], []]

    with_place(tmp_path, check, private=True)


def test_a_lesson_in_quarantine_or_forgotten_is_not_recalled(tmp_path):
    async def check(place: Place):
        await run(place.runtime, TEACHING)
        before = (await place.texts(await run(place.runtime, RECALLING)))[0]
        known = {each.lesson.text: each.lesson.id for each in await place.store.known_lessons(10)}
        assert await place.store.quarantine_lesson(known[TEXTS[0]], "ann")
        during = (await place.texts(await run(place.runtime, RECALLING)))[0]
        assert not [text for text in during if text.startswith(TEXTS[0])]
        found = await place.archive.lessons.lessons("first item of lists", 5)
        assert found.found[0][0].lesson.quarantined_by == "ann", "a search still finds it"
        assert await place.store.quarantine_lesson(known[TEXTS[0]], None)
        assert (await place.texts(await run(place.runtime, RECALLING)))[0][0].split("\n")[0] == before[0].split("\n")[0]
        assert await place.store.forget_lesson(known[TEXTS[0]])
        assert not await place.store.forget_lesson(known[TEXTS[0]])
        assert not await place.store.quarantine_lesson(known[TEXTS[0]], "ann")
        after = (await place.texts(await run(place.runtime, RECALLING)))[0]
        assert not [text for text in after if text.startswith(TEXTS[0])]

    with_place(tmp_path, check)


def test_a_lesson_that_a_fork_repeats_is_recalled_once(tmp_path):
    async def check(place: Place):
        taught = await run(place.runtime, TEACHING)
        fork = await place.runtime.fork(taught, at="1/code/a", format=TEACHING, config=taught.config, cast=taught.cast)
        await place.runtime.start(fork.id)
        await place.runtime.wait(fork.id)
        assert len(await place.store.known_lessons(10)) == 2 * len(TEXTS)
        lessons = (await place.texts(await run(place.runtime, RECALLING)))[0]
        assert sum(text.startswith(TEXTS[0]) for text in lessons) == 1
        for copy in [each.lesson for each in await place.store.known_lessons(10) if each.lesson.text == TEXTS[0]]:
            assert await place.store.quarantine_lesson(copy.id, "ann")
            lessons = (await place.texts(await run(place.runtime, RECALLING)))[0]
            assert not [text for text in lessons if text.startswith(TEXTS[0])], "the other copy does not come instead"
            assert await place.store.quarantine_lesson(copy.id, None)

    with_place(tmp_path, check)


def test_what_a_fork_repeats_of_its_parents_uses_counts_once(tmp_path):
    async def check(place: Place):
        await run(place.runtime, TEACHING)
        used = await run(place.runtime, RECALLING)
        before = {each.lesson.text: (each.confirmed, each.contradicted) for each in await place.store.known_lessons(10)}
        fork = await place.runtime.fork(used, at=None, format=RECALLING, config=used.config, cast=used.cast)
        await place.runtime.start(fork.id)
        assert (await place.runtime.wait(fork.id)).status == "completed"
        uses = [each for each in await place.store.artifacts(fork.id) if isinstance(each, LessonUse)]
        assert uses
        after = {each.lesson.text: (each.confirmed, each.contradicted) for each in await place.store.known_lessons(10)}
        assert after == before
        again = await place.runtime.fork(used, at="1/code/a", format=RECALLING, config=used.config, cast=used.cast)
        await place.runtime.start(again.id)
        await place.runtime.wait(again.id)
        after = {each.lesson.text: each.confirmed for each in await place.store.known_lessons(10)}
        assert after[TEXTS[0]] == before[TEXTS[0]][0] + 1, "what a fork did anew counts"

    with_place(tmp_path, check)


def test_a_search_compares_texts_beside_the_event_loop(tmp_path, monkeypatch):
    async def check(place: Place):
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

    with_place(tmp_path, check, Topics({"lists": ["list", "item"], "files": ["file"]}))


def test_only_the_newest_episodes_are_kept_for_each_owner(tmp_path):
    async def main():
        async with a_runtime(tmp_path, TEACHING, episodes_kept=4) as runtime:
            other = await runtime.create(
                topic="t", format=TEACHING, config={}, cast=(await created(runtime, TEACHING)).cast, token_id="ann"
            )
            await runtime.start(other.id)
            await runtime.wait(other.id)
            debates = [await run(runtime, TEACHING) for _ in range(3)]
            counts = [len(await runtime.store.episodes(each.id)) for each in (other, *debates)]
            assert counts == [3, 0, 1, 3]
            (left,) = await runtime.store.episodes(debates[1].id)
            assert left.number == 3, "the oldest goes first"
            assert len(await runtime.store.recent_episodes(10)) == 7
            assert len(await runtime.store.recent_episodes(10, viewer=Viewer(token="ann", shared=False))) == 3
            assert {each.agent for each in await runtime.store.recent_episodes(10, agent="b")} == {"b"}

    asyncio.run(main())
