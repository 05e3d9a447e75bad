"""The client: use cases for one caller, whichever way in they came through."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.caller import Caller, local_caller
from moot.client import Client
from moot.core.errors import InputError, KeyReused, NoSuchDebate, ScopeMissing
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


def test_what_a_caller_may_not_do_is_refused(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
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

    asyncio.run(main())


@pytest.mark.parametrize("model", ["openai:m@https://evil.example/v1", "scripted:/etc/passwd"])
def test_only_an_admin_may_name_models_with_addresses_or_files(tmp_path: Path, model: str):
    async def main() -> None:
        async with an_app(tmp_path, presets={"own": {"format": "classic", "settings": {"model_judge": "sim:"}}}) as app:
            runner = Client(app).acting_for(a_caller("ann", "read", "run"))
            with pytest.raises(ScopeMissing, match="model_judge names the model .* takes the scope 'admin'"):
                await runner.plan(a_request(model_judge=model))
            with pytest.raises(ScopeMissing, match="takes the scope 'admin'"):
                await runner.plan(Request(topic=TOPIC, format="own", settings={"model_judge": model}))
            debate = await runner.create(await runner.plan(a_request()), start=False)
            with pytest.raises(ScopeMissing, match="takes the scope 'admin'"):
                await runner.fork(debate, changes={"model_judge": model})

    asyncio.run(main())


def test_a_preset_is_a_format_with_settings_that_can_be_overridden(tmp_path: Path):
    async def main() -> None:
        presets = {"brief": {"format": "classic", "settings": {"max_rounds": 1, "model_debater": "sim:?seed=2"}}}
        async with an_app(tmp_path, presets=presets, model="sim:") as app:
            client = Client(app)
            plan = await client.plan(Request(topic=TOPIC, format="brief"))
            assert (plan.format.name, plan.config["max_rounds"]) == ("classic", 1)
            own = await client.plan(Request(topic=TOPIC, format="brief", settings={"max_rounds": 2}))
            assert (own.config["max_rounds"], own.config["model_debater"]) == (2, "sim:?seed=2")
            with pytest.raises(InputError, match="Did you mean 'brief'"):
                await client.plan(Request(topic=TOPIC, format="breif"))

    asyncio.run(main())


def test_callers_see_their_own_debates_where_debates_are_private(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path, private_debates=True) as app:
            ann, bob = (Client(app).acting_for(a_caller(name, "read", "run")) for name in ("ann", "bob"))
            debate = await ann.create(await ann.plan(a_request()), start=False)
            assert [each.id for each in (await ann.page()).debates] == [debate.id]
            assert not (await bob.page()).debates
            for wanted in (debate.id, debate.short):
                with pytest.raises(NoSuchDebate):
                    await bob.find(wanted)
            assert (await Client(app, caller=local_caller()).find(debate.short)).initiated_by == "ann"

    asyncio.run(main())


def test_a_key_belongs_to_one_request_of_one_caller(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
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

    asyncio.run(main())


def test_reading_creates_no_database(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            client = Client(app)
            assert not (await client.page()).debates
            assert not await client.gates()
            assert not (await client.search("anything")).past
            assert not await client.interrupted()
            with pytest.raises(NoSuchDebate):
                await client.find("nope")
            assert not list(tmp_path.iterdir())

    asyncio.run(main())
