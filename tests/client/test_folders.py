"""Folders of the machine are named by admins only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.caller import Caller
from moot.client import Client
from moot.core.errors import InputError, ScopeMissing
from moot.dispatch import dispatcher_of
from moot.request import Request
from tests.running import an_app


def test_a_repository_takes_the_scope_admin_and_must_be_one(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path, model="sim:") as app:
            client = Client(app, dispatcher_of(app))
            asked = Request(topic="Write f.", format="forge", settings={"repo": str(tmp_path)})
            caller = Caller(name="ann", scopes=frozenset({"run"}))
            with pytest.raises(ScopeMissing, match="setting repo names a folder of the machine"):
                await client.acting_for(caller).plan(asked)
            with pytest.raises(InputError, match="is no git repository"):
                await client.acting_for(Caller(name="eve", scopes=frozenset({"run", "admin"}))).plan(asked)

    asyncio.run(main())
