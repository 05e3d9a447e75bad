"""Artifacts: stored with the turn that they follow, and the same however often a debate breaks off."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace

import pytest

from moot.core.artifacts import Artifact, Episode, Lesson, LessonUse, Version, anywhere, placed
from moot.core.errors import ScriptError
from moot.core.script import Script, Stage
from moot.core.types import Debate, Prompt
from moot.core.values import sha256_of
from moot.runtime.replay import prove, rerun
from moot.runtime.runtime import Runtime
from moot.runtime.transfer import adopt_all, export
from moot.store import Store
from moot.store.sqlite import SqliteStore
from tests.runtime.small import a_format, a_runtime, outcome, run
from tests.runtime.workshop import WORKSHOP


@pytest.fixture
def runtime(opened, tmp_path) -> Runtime:
    return opened(a_runtime(tmp_path, WORKSHOP, is_demonstration=lambda _: True))


async def stored(runtime: Runtime, debate: Debate) -> list[Artifact]:
    return list(await runtime.store.artifacts(debate.id))


async def proof(runtime: Runtime, debate: Debate):
    store = runtime.store
    turns, events = await store.turns(debate.id), await store.events(debate.id)
    return prove(WORKSHOP, await store.get(debate.id), turns, events, await store.artifacts(debate.id))


async def test_what_the_rules_produce_is_stored_and_replays(runtime):
    debate = await run(runtime, WORKSHOP)
    assert debate.status == "completed"
    found = await stored(runtime, debate)
    versions = await runtime.store.versions(debate.id)
    lessons = [each for each in found if isinstance(each, Lesson)]
    assert [each.number for each in versions] == list(range(1, 8))
    assert (versions[0].turn_key, versions[0].created_at) == ("", debate.created_at)
    by_a = [each for each in versions if each.author == "a"]
    assert [each.parent for each in by_a] == [None, by_a[0].id, by_a[1].id]
    assert "-1\n" in by_a[1].diff_from_previous
    assert "+2\n" in by_a[1].diff_from_previous
    assert [(each.turn_key, each.round, each.phase) for each in by_a] == [(f"{n}/code/a", n, "code") for n in (1, 2, 3)]
    turns = {turn.key: turn for turn in await runtime.store.turns(debate.id)}
    assert all(each.created_at == turns[each.turn_key].created_at for each in by_a)
    assert [(each.confirmed, each.demonstration, len(each.episodes)) for each in lessons] == [(True, True, 2)] * 2
    assert debate.artifact_count == len(found) == 7 + 6 + 2
    again = rerun(WORKSHOP, debate, list(turns.values())).artifacts
    assert {each.id: each for each in again} == {each.id: anywhere(each) for each in found}
    assert (await proof(runtime, debate)).same


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        ("update code_versions set test_pass_rate = 1", False),
        ("delete from code_versions where version_number = 7", False),
        ("update lessons set confirmed = 0", False),
        ("update episodes set reflection = 'better'", False),
        ("delete from episodes where number = 1", True),  # the oldest episodes make room
        ("delete from lessons where number = 1", True),  # a lesson can be forgotten
    ],
)
async def test_a_replay_notices_what_was_changed(runtime, tmp_path, statement, same):
    debate = await run(runtime, WORKSHOP)
    with closing(sqlite3.connect(tmp_path / "moot.db")) as connection:
        assert connection.execute(statement).rowcount
        connection.commit()
    assert (await proof(runtime, debate)).same is same


async def test_a_debate_that_goes_on_produces_nothing_twice(runtime):
    whole = await run(runtime, WORKSHOP)
    fork = await runtime.fork(whole, at="2/code/a", format=WORKSHOP, config=whole.config, cast=whole.cast)
    assert await stored(runtime, fork) == []
    await runtime.start(fork.id)
    done = await runtime.wait(fork.id)
    assert (done.status, done.artifact_count) == ("completed", whole.artifact_count)
    mine, theirs = await stored(runtime, done), await stored(runtime, whole)
    assert not {each.id for each in mine} & {each.id for each in theirs}
    assert (await proof(runtime, done)).same


async def batches(lines: list[bytes]) -> AsyncIterator[list[bytes]]:
    yield lines


async def exported(store: Store) -> list[bytes]:
    return [line async for chunk in export(store, None, 1.0) for line in chunk.splitlines(keepends=True)]


async def test_an_export_brings_them_along_byte_for_byte(runtime, tmp_path):
    debate = await run(runtime, WORKSHOP)
    lines = await exported(runtime.store)
    other = SqliteStore(tmp_path / "other.db")
    assert [each.result async for each in adopt_all(other, batches(lines[1:]))] == ["new"]
    assert [each.result async for each in adopt_all(other, batches(lines[1:]))] == ["same"]
    assert list(await other.artifacts(debate.id)) == await stored(runtime, debate)
    assert await exported(other) == lines
    await other.close()


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        (Version(author="a", language="text", code="x", parent="version-9"), "'version-9', which they have"),
        (Version(author="a", language="text", code="x", test_pass_rate=1.5), "between 0 and 1"),
        (Version(author="a", language="text", code="x", quality_score=float("nan")), "between 0 and 1"),
        (Version(author="a", language="text", code="x", metrics={"x": float("inf")}), "JSON"),
        (Version(author="a", language="text", code="x", turn_key="1/open/a"), "has not ended"),
        (Lesson(text="x", episodes=("version-1",)), "the episode 'version-1'"),
    ],
)
def test_what_cannot_be_true_is_an_error_of_the_rules(artifact, said):
    async def play(stage: Stage):
        stage.produce(Version(author="a", language="text", code="x"))
        stage.produce(artifact)
        return outcome("a", "done")

    script = Script(play, cast=())
    with pytest.raises(ScriptError, match=said):
        script.begin()


@pytest.mark.parametrize(
    ("episodes", "confirmed"),
    [
        ([("a", False), ("a", True)], True),
        ([("a", False), ("b", True)], False),
        ([("a", True), ("a", False)], False),
        ([("a", None), ("a", True)], False),
        ([("a", False), ("a", None)], False),
        ([], False),
    ],
)
def test_a_lesson_is_confirmed_only_by_a_failure_that_was_followed_by_a_pass(episodes, confirmed):
    async def play(stage: Stage):
        made = [stage.produce(Episode(agent=agent, task="t", passed=passed)) for agent, passed in episodes]
        stage.produce(Lesson(text="x", episodes=tuple(each.id for each in made), confirmed=True))
        return outcome("a", "done")

    script = Script(play, cast=())
    script.begin()
    lesson = script.artifacts[-1]
    assert isinstance(lesson, Lesson)
    assert lesson.confirmed is confirmed


def test_text_that_no_database_can_hold_is_replaced():
    async def play(stage: Stage):
        stage.produce(Version(author="a", language="text", code="a\0b\ud800"))
        stage.produce(LessonUse(lesson="x", held=False, note="\0"))
        return outcome("a", "done")

    script = Script(play, cast=())
    script.begin()
    version = script.artifacts[0]
    assert isinstance(version, Version)
    assert version.code == "a\ufffdb\ufffd"
    assert version.sha256 == sha256_of("a\ufffdb\ufffd")


async def test_a_rejected_turn_takes_what_was_produced_with_it(tmp_path):
    async def broken(stage: Stage, settings):
        await stage.seat("a").ask("code", Prompt(name="p", text="1"), round=1)
        stage.produce(Version(author="a", language="text", code="1"))
        await stage.seat("a").ask("code", Prompt(name="p", text="2"), round=2)
        stage.produce(Version(author="a", language="text", code="2"))
        raise ValueError("the rules break here")

    format_ = a_format(broken, "a")
    async with a_runtime(tmp_path, format_) as runtime:
        failed = await run(runtime, format_)
        assert (failed.status, failed.turn_count, failed.artifact_count) == ("failed", 1, 1)
        assert [each.code for each in await runtime.store.versions(failed.id)] == ["1"]


def test_ids_of_a_debate_say_nothing_about_those_of_another():
    one = Debate(id="1", topic="t", format="f", format_version=1, status="pending", config={}, cast=())
    lesson = Lesson(id="lesson-1", text="x", episodes=("episode-1",))
    first, second = placed(lesson, one), placed(lesson, replace(one, id="2"))
    assert first.id != second.id
    assert first.episodes != second.episodes
    assert first == placed(lesson, one)
