"""The client: use cases for one caller, whichever way in they came through."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.app import App
from moot.caller import Caller
from moot.client import Client
from moot.core.errors import KeyReused, NoSuchDebate, ScopeMissing
from moot.core.types import Scope
from moot.request import Request
from moot.store import AccessToken
from tests.running import an_app

TOPIC = "Redis or PostgreSQL?"


def a_caller(name: str, *scopes: Scope) -> Caller:
    token = AccessToken(id=f"id-{name}", name=name, hash=f"hash-{name}", scopes=scopes)
    return Caller(name=name, scopes=frozenset(scopes), token=token)


def a_request(**settings: object) -> Request:
    return Request(topic=TOPIC, format="classic", settings={"model_debater": "sim:", "model_judge": "sim:", **settings})


async def test_what_a_caller_may_not_do_is_refused(app: App):
    owner = Client(app)
    debate = await owner.create(await owner.plan(a_request()), start=False)
    reader = owner.acting_for(a_caller("ann", "read"))
    assert (await reader.find(debate.id)).id == debate.id
    for refused in (
        reader.plan(a_request()),
        reader.go_on(debate),
        reader.stop(debate),
        reader.cancel(debate),
        reader.fork(debate),
        reader.answer(debate),
        reader.guide(debate, "x"),
        reader.rate(debate, 3),
        reader.turned_out(debate, 1),
        reader.delete(debate.id),
        reader.find("nope", "run"),
    ):
        with pytest.raises(ScopeMissing, match="The token 'ann' lacks the scope"):
            await refused
    assert (await owner.find(debate.id)).status == "pending"


async def test_only_an_admin_may_name_models_with_addresses_or_files(tmp_path: Path):
    model = "scripted:/etc/passwd"
    async with an_app(tmp_path, presets={"own": {"format": "classic", "settings": {"model_judge": "sim:"}}}) as app:
        runner = Client(app).acting_for(a_caller("ann", "read", "run"))
        with pytest.raises(ScopeMissing, match="model_judge names the model .* takes the scope 'admin'"):
            await runner.plan(a_request(model_judge=model))
        with pytest.raises(ScopeMissing, match="takes the scope 'admin'"):
            await runner.plan(Request(topic=TOPIC, format="own", settings={"model_judge": model}))
        debate = await runner.create(await runner.plan(a_request()), start=False)
        with pytest.raises(ScopeMissing, match="takes the scope 'admin'"):
            await runner.fork(debate, changes={"model_judge": model})


async def test_a_key_belongs_to_one_request_of_one_caller(app: App):
    ann, bob = (Client(app).acting_for(a_caller(name, "read", "run")) for name in ("ann", "bob"))

    async def made(client: Client, asked: str) -> str:
        plan = await client.plan(a_request())
        async with client.once("k", asked) as once:
            return (await client.create(plan, once=once, start=False)).id

    first = await asyncio.gather(*(made(ann, "one") for _ in range(5)))
    assert len(set(first)) == 1
    assert await made(bob, "one") not in first
    with pytest.raises(KeyReused):
        await made(ann, "two")


async def test_reading_creates_no_database(app: App, tmp_path: Path):
    client = Client(app)
    assert not (await client.page()).debates
    assert not await client.gates()
    assert not (await client.search("anything")).past
    assert not await client.interrupted()
    with pytest.raises(NoSuchDebate):
        await client.find("nope")
    assert not list(tmp_path.iterdir())
