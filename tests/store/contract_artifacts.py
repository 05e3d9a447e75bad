"""What the rules of debates have produced."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from moot.core.artifacts import Episode, LessonUse, Version, stored_id
from moot.core.errors import DamagedDebate, InputError
from moot.store import Commit, Store, Viewer
from moot.store.copies import checked
from tests.store.samples import claimed, debate, produced, turn


async def episodes(store: Store, debate_id: str) -> list[Episode]:
    return [each for each in await store.artifacts(debate_id) if isinstance(each, Episode)]


class ArtifactsContract:
    async def test_a_commit_stores_what_was_produced(self, store: Store):
        one = await claimed(store)
        made = produced(one)
        assert await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=made)) is not None
        assert list(await store.artifacts(one.id)) == made
        assert list(await store.versions(one.id)) == made[:2]
        assert (await store.get(one.id)).artifact_count == 6
        assert list(await store.artifacts(debate(2).id)) == []

    async def test_what_was_produced_before_all_turns_has_none(self, store: Store):
        one = await claimed(store)
        base = replace(produced(one)[0], turn_key="", created_at=one.created_at)
        assert await store.commit(Commit(debate_id=one.id, epoch=1, artifacts=[base])) is not None
        assert list(await store.versions(one.id)) == [base]

    async def test_commits_with_and_without_artifacts_share_a_group(self, store: Store):
        debates = [await claimed(store, n) for n in range(12)]
        made = [produced(each) if n % 3 == 0 else () for n, each in enumerate(debates)]
        commits = [
            Commit(debate_id=each.id, epoch=1, turns=[turn()], artifacts=its)
            for each, its in zip(debates, made, strict=True)
        ]
        await asyncio.gather(*map(store.commit, commits))
        counts = [len(await store.artifacts(each.id)) for each in debates]
        assert counts == [6 if n % 3 == 0 else 0 for n in range(12)]
        assert [len(await store.turns(each.id)) for each in debates] == [1] * 12

    async def test_the_same_artifact_twice_is_stored_once(self, store: Store):
        one = await claimed(store)
        made = produced(one)
        await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=made))
        again = turn("k2", 2)
        await store.commit(Commit(debate_id=one.id, epoch=1, turns=[again], artifacts=made[:1]))
        assert list(await store.artifacts(one.id)) == made

    async def test_an_artifact_of_a_turn_that_is_not_there_is_refused_with_everything_else(self, store: Store):
        one = await claimed(store)
        orphan = [replace(each, turn_key="9/no/where") for each in produced(one)]
        with pytest.raises(Exception, match=r"(?i)foreign key"):
            await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=orphan))
        assert list(await store.turns(one.id)) == list(await store.artifacts(one.id)) == []

    async def test_a_copy_with_bad_artifacts_is_refused(self, store: Store):
        one = await claimed(store)
        await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=produced(one)))
        copy = await store.copy(one.id)
        checked(copy)
        for kind, change, said in (
            ("version", {"code": "other"}, "not the code that its hash says"),
            ("version", {"version_number": 7}, "not in order"),
            ("version", {"test_pass_rate": "1"}, "test_pass_rate"),
            ("version", {"metrics": "[]"}, "can't be read"),
            ("episode", {"turn_id": "9/no/where"}, "does not belong"),
            ("episode", {"passed": 2}, "passed"),
            ("lesson", {"id": "ffffffff-0000-8000-8000-000000000000"}, "does not belong"),
            ("lesson", {"text": "a\0b"}, "characters"),
            ("use", {"held": None}, "held"),
        ):
            rows = [{**row, **change} for row in copy.artifacts[kind]]
            with pytest.raises(InputError, match=said):
                checked(replace(copy, artifacts={**copy.artifacts, kind: rows}))

    async def test_code_of_any_text_comes_back_as_it_was(self, store: Store):
        one = await claimed(store)
        made = produced(one)[0]
        assert isinstance(made, Version)
        odd = replace(made, code="s = '\u2028\r\n\t\x1b'\n" * 2000, metrics={"mi": 71.5, "\0": "\ud800"})
        await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=[odd]))
        assert list(await store.versions(one.id)) == [odd]

    async def test_lessons_of_all_debates_with_their_counts(self, store: Store):
        one, two = await claimed(store, 1), await claimed(store, 2)
        made = produced(one)
        await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=made))
        lesson = made[4]
        uses = [each for each in produced(two) if isinstance(each, LessonUse)]
        against = [replace(each, lesson=lesson.id, held=False) for each in uses]
        await store.commit(Commit(debate_id=two.id, epoch=1, turns=[turn()], artifacts=against))
        (known,) = await store.known_lessons(10)
        assert (known.lesson, known.confirmed, known.contradicted) == (lesson, 1, 1)
        assert list(await store.known_lessons(10, id=two.id)) == []
        nobody = Viewer(token="ann", shared=False)
        assert list(await store.known_lessons(10, viewer=nobody)) == []
        assert [each.lesson.id for each in await store.known_lessons(10, viewer=Viewer())] == [lesson.id]
        assert [await store.forget_lesson(lesson.id) for _ in range(2)] == [True, False]
        assert list(await store.known_lessons(10)) == []

    async def test_a_damaged_lesson_or_episode_hides_no_other(self, store: Store):
        one, two = await claimed(store, 1), await claimed(store, 2)
        _, _, episode, other, lesson, *_ = made = produced(one)
        await store.commit(Commit(debate_id=one.id, epoch=1, turns=[turn()], artifacts=made))
        bad: Any = {"Episode": {"test_results": []}, "Lesson": {"episodes": {}}}
        damaged = [replace(each, **bad.get(type(each).__name__, {})) for each in produced(two)[2:5]]
        await store.commit(Commit(debate_id=two.id, epoch=1, turns=[turn()], artifacts=damaged))
        with pytest.raises(DamagedDebate):
            await store.artifacts(two.id)
        assert [each.lesson for each in await store.known_lessons(10)] == [lesson]
        assert {each.id for each in await store.recent_episodes(10)} == {episode.id, other.id}

    async def test_the_newest_episodes_of_each_owner_stay(self, store: Store):
        for n, token in ((1, ""), (2, ""), (3, "ann")):
            made, said = await claimed(store, n, token_id=token), turn(created_at=1000.0 + n)
            await store.commit(Commit(debate_id=made.id, epoch=1, turns=[said], artifacts=produced(made, said)))
        newest = await store.recent_episodes(10)
        assert [each.created_at for each in newest] == [1003.0, 1003.0, 1002.0, 1002.0, 1001.0, 1001.0]
        assert len(await store.recent_episodes(10, agent="a")) == 6
        assert list(await store.recent_episodes(10, agent="z")) == []
        assert len(await store.recent_episodes(10, viewer=Viewer(token="ann", shared=False))) == 2
        await store.evict_episodes("", 3)
        left = [[each.number for each in await episodes(store, debate(n).id)] for n in (1, 2, 3)]
        assert left == [[2], [1, 2], [1, 2]]

    async def test_imported_episodes_neither_push_out_nor_are_pushed_out(self, store: Store):
        one, two = await claimed(store, 1), await claimed(store, 2)
        for each in (one, two):
            await store.commit(Commit(debate_id=each.id, epoch=1, turns=[turn()], artifacts=produced(each)))
        elsewhere = await store.copy(two.id)
        await store.delete(two.id, by="ann", expect=[(await store.get(two.id)).status])
        moved = "00000000-0000-4000-8000-0000000000aa"
        rows = [
            {**row, "id": stored_id(moved, f"episode-{row['number']}"), "created_at": 9e9}
            for row in elsewhere.artifacts["episode"]
        ]
        session = {**elsewhere.session, "id": moved, "status": "stopped"}
        assert await store.adopt(replace(elsewhere, session=session, gates=(), artifacts={"episode": rows}))
        await store.evict_episodes("", 2)
        assert [len(await episodes(store, name)) for name in (one.id, moved)] == [2, 2]
        await store.evict_episodes("", 1)
        assert [len(await episodes(store, name)) for name in (one.id, moved)] == [1, 2]
