"""Lessons and versions by the client and at the command line, and who may do what with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot.caller import Caller
from moot.client.client import Client
from moot.core.errors import InputError, ScopeMissing
from moot.store import AccessToken
from tests.cli.conftest import Moot
from tests.running import an_app
from tests.runtime.small import a_runtime, run
from tests.runtime.workshop import WORKSHOP


def taught(folder: Path) -> str:
    """A database with a debate that has produced artifacts; its id."""

    async def main() -> str:
        async with a_runtime(folder, WORKSHOP) as runtime:
            return (await run(runtime, WORKSHOP)).id

    return asyncio.run(main())


def with_client(folder: Path, check: Callable[[Client], Awaitable[Any]]) -> None:
    async def main() -> None:
        async with an_app(folder) as app:
            await check(Client(app))

    asyncio.run(main())


def test_the_client_finds_forgets_and_quarantines(tmp_path):
    debate_id = taught(tmp_path)

    async def check(client: Client) -> None:
        newest = await client.lessons.search()
        assert len(newest.found) == 2
        found = await client.lessons.search("attempt of a passes", 1)
        ((known, score),) = found.found
        assert score > 0
        assert (await client.lessons.find(known.lesson.id[:8])).lesson == known.lesson
        for wrong in ("", "zzzz"):
            with pytest.raises(InputError, match="There is no lesson"):
                await client.lessons.find(wrong)
        await client.lessons.quarantine(known)
        assert (await client.lessons.find(known.lesson.id)).lesson.quarantined_at is not None
        await client.lessons.quarantine(known, False)
        assert (await client.lessons.find(known.lesson.id)).lesson.quarantined_at is None
        await client.lessons.forget(known)
        assert len((await client.lessons.search()).found) == 1
        debate = await client.find(debate_id)
        assert [each.number for each in await client.versions(debate)] == list(range(1, 8))
        assert (await client.version(debate, 2)).code.startswith("1\n")
        with pytest.raises(InputError, match="has no version 99. It has 7."):
            await client.version(debate, 99)

    with_client(tmp_path, check)


def test_scopes_and_owners_are_respected(tmp_path):
    taught(tmp_path)

    async def check(client: Client) -> None:
        (known, _), *_ = (await client.lessons.search()).found
        reader = client.acting_for(Caller(name="r", scopes=frozenset({"read"})))
        assert len((await reader.lessons.search()).found) == 2
        with pytest.raises(ScopeMissing):
            await reader.lessons.quarantine(known)
        decider = client.acting_for(Caller(name="d", scopes=frozenset({"read", "decide"})))
        await decider.lessons.quarantine(known)
        with pytest.raises(ScopeMissing):
            await decider.lessons.forget(known)
        token = AccessToken(id="t", name="ann", hash="h", scopes=("read",))
        client.app.settings = client.app.settings.model_copy(update={"private_debates": True})
        ann = client.acting_for(Caller(name="ann", scopes=frozenset({"read"}), token=token))
        assert (await ann.lessons.search()).found == []
        assert (await ann.lessons.search("attempt")).found == []
        with pytest.raises(InputError, match="There is no lesson"):
            await ann.lessons.find(known.lesson.id)

    with_client(tmp_path, check)


def test_no_database_has_no_lessons(tmp_path):
    async def check(client: Client) -> None:
        assert (await client.lessons.search("anything")).found == ()
        assert not (tmp_path / "moot.db").exists()

    with_client(tmp_path, check)


@pytest.mark.slow
def test_the_commands(tmp_path):
    moot = Moot(tmp_path)
    debate_id = taught(moot.folder)
    try:
        listed = json.loads(moot("lessons", "--json").out)
        ids = [each["id"] for each in listed["lessons"]]
        assert len(ids) == 2
        assert listed["lessons"][0]["debate"] == debate_id
        assert "confirmed once, contradicted 0 times." in moot("lessons", "--search", "attempt passes").out
        done = moot("lessons", "quarantine", ids[0][:8])
        assert (done.code, done.out.strip()) == (0, f"Lesson {ids[0][:8]} is no longer recalled into new debates.")
        assert "(in quarantine)" in moot("lessons").out
        assert moot("lessons", "quarantine", ids[0], "--off").code == 0
        assert moot("lessons", "forget", ids[0]).code == 0
        assert len(json.loads(moot("lessons", "--json").out)["lessons"]) == 1
        assert moot("lessons", "forget", ids[0]).code == 2
        assert moot("lessons", "forget").code == 2
        assert moot("lessons", "--limit", "0").code == 2
        versions = moot("versions", debate_id[:8]).out.splitlines()
        assert versions[0].split() == ["VERSION", "AUTHOR", "LANGUAGE", "PASS", "QUALITY", "DIFF", "LABEL"]
        assert "100%" in "".join(versions)
        assert moot("versions", debate_id, "1").out == "given\n"
        assert json.loads(moot("versions", debate_id, "1", "--json").out)["code"] == "given\n"
        changed = json.loads(moot("versions", debate_id, "--json").out)
        last = next(each for each in reversed(changed) if each["parent"])
        assert moot("versions", debate_id, str(last["number"]), "--diff").out == last["diff_from_previous"]
        assert moot("versions", debate_id, "99").code == 2
    finally:
        moot.close()
