"""Lessons and versions by the client and at the command line, and who may do what with them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from moot.caller import Caller
from moot.client.client import Client
from moot.core.errors import InputError, ScopeMissing
from moot.store import AccessToken
from tests.cli.conftest import moot
from tests.runtime.small import a_runtime, run
from tests.runtime.workshop import WORKSHOP

__all__ = ["moot"]  # a fixture


async def taught(folder: Path) -> str:
    """A database with a debate that has produced artifacts; its id."""
    async with a_runtime(folder, WORKSHOP) as runtime:
        return (await run(runtime, WORKSHOP)).id


async def test_the_client_finds_and_forgets(app, tmp_path):
    client = Client(app)
    assert (await client.lessons.search("anything")).found == ()
    assert not (tmp_path / "moot.db").exists()
    debate_id = await taught(tmp_path)
    newest = await client.lessons.search()
    assert len(newest.found) == 2
    found = await client.lessons.search("attempt of a passes", 1)
    ((known, score),) = found.found
    assert score > 0
    assert (await client.lessons.find(known.lesson.id[:8])).lesson == known.lesson
    for wrong in ("", "zzzz"):
        with pytest.raises(InputError, match="There is no lesson"):
            await client.lessons.find(wrong)
    await client.lessons.forget(known)
    assert len((await client.lessons.search()).found) == 1
    debate = await client.find(debate_id)
    assert [each.number for each in await client.versions(debate)] == list(range(1, 8))
    assert (await client.version(debate, 2)).code.startswith("1\n")
    with pytest.raises(InputError, match="has no version 99. It has 7."):
        await client.version(debate, 99)


async def test_scopes_and_owners_are_respected(app, tmp_path):
    await taught(tmp_path)
    client = Client(app)
    (known, _), *_ = (await client.lessons.search()).found
    reader = client.acting_for(Caller(name="r", scopes=frozenset({"read"})))
    assert len((await reader.lessons.search()).found) == 2
    decider = client.acting_for(Caller(name="d", scopes=frozenset({"read", "decide"})))
    with pytest.raises(ScopeMissing):
        await decider.lessons.forget(known)
    token = AccessToken(id="t", name="ann", hash="h", scopes=("read",))
    client.app.settings = client.app.settings.model_copy(update={"private_debates": True})
    ann = client.acting_for(Caller(name="ann", scopes=frozenset({"read"}), token=token))
    assert (await ann.lessons.search()).found == []
    assert (await ann.lessons.search("attempt")).found == []
    with pytest.raises(InputError, match="There is no lesson"):
        await ann.lessons.find(known.lesson.id)


@pytest.mark.slow
def test_the_commands(moot):
    debate_id = asyncio.run(taught(moot.folder))
    listed = json.loads(moot("lessons", "--json").out)
    ids = [each["id"] for each in listed["lessons"]]
    assert len(ids) == 2
    assert listed["lessons"][0]["debate"] == debate_id
    assert "confirmed once, contradicted 0 times." in moot("lessons", "--search", "attempt passes").out
    done = moot("lessons", "forget", ids[0][:8])
    assert (done.code, done.out.strip()) == (0, f"Lesson {ids[0][:8]} is forgotten.")
    assert len(json.loads(moot("lessons", "--json").out)["lessons"]) == 1
    for wrong in (("forget", ids[0]), ("forget",), ("--limit", "0")):
        assert moot("lessons", *wrong).code == 2
    versions = moot("versions", debate_id[:8]).out.splitlines()
    assert versions[0].split() == ["VERSION", "AUTHOR", "LANGUAGE", "PASS", "QUALITY", "DIFF", "LABEL"]
    assert "100%" in "".join(versions)
    assert moot("versions", debate_id, "1").out == "given\n"
    assert json.loads(moot("versions", debate_id, "1", "--json").out)["code"] == "given\n"
    changed = json.loads(moot("versions", debate_id, "--json").out)
    last = next(each for each in reversed(changed) if each["parent"])
    assert moot("versions", debate_id, str(last["number"]), "--diff").out == last["diff_from_previous"]
    assert moot("versions", debate_id, "99").code == 2
