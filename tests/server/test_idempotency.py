"""`Idempotency-Key`: what is sent twice is done once, whatever dies in between."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from moot.runtime import idempotency
from tests.server.serving import Served, served
from tests.server.test_debates import problem

pytestmark = pytest.mark.slow


def count(server: Served) -> int:
    return len(server.get("/v1/debates?limit=200").json()["items"])


def test_the_same_request_creates_one_debate_and_gets_the_same_response(tmp_path):
    with served(tmp_path) as server:
        key = {"Idempotency-Key": "k 1"}
        first = server.ask(headers=key, settings={"max_rounds": 1})
        server.rested(first.json()["id"])
        again = server.ask(headers=key, settings={"max_rounds": 1})
        assert again.status_code == first.status_code == 201
        assert again.content == first.content
        assert again.headers["location"] == first.headers["location"]
        assert again.headers["idempotency-replayed"] == "true"
        assert "idempotency-replayed" not in first.headers
        assert count(server) == 1
    with served(tmp_path) as server:  # it is remembered
        again = server.ask(headers=key, settings={"max_rounds": 1})
        assert again.content == first.content
        assert count(server) == 1


def test_another_request_with_the_same_key_is_refused(server: Served):
    key = {"Idempotency-Key": "k-2"}
    problem(server.ask(headers=key, settings={"max_rounds": 0}), 422, "invalid")  # which does not use it up
    made = server.ask(headers=key, start=False).json()
    before = count(server)
    problem(server.ask(headers=key, start=False, topic="Something else?"), 422, "key-reused")
    problem(server.post(f"/v1/debates/{made['id']}/fork", {}, headers=key), 422, "key-reused")
    assert count(server) == before


def test_many_at_once_create_one(server: Served):
    before = count(server)
    with ThreadPoolExecutor(8) as several:
        responses = list(several.map(lambda _: server.ask(headers={"Idempotency-Key": "k-4"}), range(8)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.content for response in responses}) == 1
    assert count(server) == before + 1


def test_two_servers_that_get_the_same_request_create_and_start_one(tmp_path, monkeypatch):
    """The other one is faster whenever it can be: before the debate is made, and before it is started."""
    key = {"Idempotency-Key": "k-7"}
    for late in ("create", "claim"):
        url = str(tmp_path / f"{late}.db")
        folders = [tmp_path / f"{late}-{n}" for n in range(2)]
        for folder in folders:
            folder.mkdir()
        with served(folders[0], database_url=url) as fast, served(folders[1], database_url=url) as slow:
            models = {"model_debater": fast.model, "model_judge": fast.model, "max_rounds": 1}
            store, happened = slow.app.runtime.store, []
            real = getattr(store, late)

            async def second(*args, fast=fast, models=models, real=real, happened=happened, **more):
                if not happened:
                    happened.append(await asyncio.to_thread(fast.ask, headers=key, settings=models))
                return await real(*args, **more)

            monkeypatch.setattr(store, late, second)
            lost = slow.ask(headers=key, settings=models)
            assert (lost.status_code, happened[0].status_code) == (201, 201)
            assert lost.json()["id"] == happened[0].json()["id"]
            assert count(fast) == 1
            assert fast.rested(lost.json()["id"])["status"] == "completed"


def test_forks_are_created_once(server: Served):
    parent = server.completed(settings={"max_rounds": 1})
    path, body, key = f"/v1/debates/{parent['id']}/fork", {"at": "1/speak/b"}, {"Idempotency-Key": "k-5"}
    ids = {server.post(path, body, headers=key).json()["id"] for _ in range(3)}
    assert len(ids) == 1


@pytest.mark.parametrize("made", [False, True], ids=["before it was made", "after it was made"])
def test_a_server_that_died_over_a_request_takes_it_up_again(tmp_path, monkeypatch, made):
    real = idempotency._make

    async def dying(store, debate_id, make):
        if made:
            await real(store, debate_id, make)
        raise RuntimeError("as if the process had died here")

    key = {"Idempotency-Key": "k-6"}
    with served(tmp_path) as server:
        monkeypatch.setattr(idempotency, "_make", dying)
        problem(server.ask(headers=key, settings={"max_rounds": 1}), 500, "internal")
        assert count(server) == made
    monkeypatch.setattr(idempotency, "_make", real)
    with served(tmp_path) as server:
        again = server.ask(headers=key, settings={"max_rounds": 1})
        assert again.status_code == 201
        assert count(server) == 1
        assert server.rested(again.json()["id"])["status"] == "completed"
