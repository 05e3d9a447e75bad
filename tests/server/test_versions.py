"""`If-Match` where two people race in two server processes on one database: one of them wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot import formats
from tests.runtime.asking import FORMAT
from tests.server.serving import Served, served
from tests.server.test_debates import problem
from tests.server.test_serve import Process

SIM = {"model_debater": "sim:", "model_judge": "sim:"}
BODIES = {"guide": {"text": "Now."}, "rate": {"rating": 3}, "answer": {"choice": "end"}}


def pending(server: Served) -> str:
    return server.made(start=False)["id"]


def waiting(server: Served) -> str:
    return server.rested(server.made(format="asking")["id"], "waiting")["id"]


def completed(server: Served) -> str:
    return server.completed(settings={"max_rounds": 1})["id"]


@contextmanager
def two_on(folder: Path, url: str) -> Iterator[list[Served]]:
    """Two servers that know nothing of each other, on one database."""
    with ExitStack() as stack:
        folders = [folder / name for name in ("one", "two")]
        for each in folders:
            each.mkdir()
        yield [stack.enter_context(served(each, database_url=url)) for each in folders]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    folder = tmp_path_factory.mktemp("two")
    with formats.DOOR.adding("asking", FORMAT), two_on(folder, str(folder / "shared.db")) as servers:
        yield servers


def just_before(owner: Any, name: str, first: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """`first` happens elsewhere when everything has been checked and only the change itself is left to be made."""
    real, happened = getattr(owner, name), []

    async def late(*args: Any, **more: Any) -> Any:
        if not happened:
            happened.append(await asyncio.to_thread(first))
        return await real(*args, **more)

    monkeypatch.setattr(owner, name, late)
    return happened


def race(two: list[Served], debate_id: str, verb: str, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = two
    path, body = f"/v1/debates/{debate_id}", BODIES.get(verb)
    seen = {"If-Match": slow.get(path).headers["etag"]}
    happened = just_before(owner, name, lambda: fast.post(f"{path}/{verb}", body, headers=seen), monkeypatch)
    lost = slow.post(f"{path}/{verb}", body, headers=seen)
    [won] = happened
    assert won.status_code == 200, won.text
    problem(lost, 412, "stale")
    assert lost.headers["etag"] != seen["If-Match"]


@pytest.mark.parametrize(
    ("verb", "begun", "name"),
    [
        ("start", pending, "claim"),
        ("cancel", pending, "move"),
        ("guide", pending, "guide"),
        ("answer", waiting, "decide"),
        ("rate", completed, "rate"),
    ],
)
def test_of_two_in_two_processes_one_wins(two: list[Served], monkeypatch, verb, begun, name):
    race(two, begun(two[0]), verb, two[1].app.runtime.store, name, monkeypatch)


@pytest.mark.slow
def test_of_two_in_two_processes_one_wins_on_postgres(tmp_path, database_url, monkeypatch):
    with two_on(tmp_path, database_url) as two:
        app = two[1].app
        for verb, owner, name in (
            ("start", app.queue, "put"),
            ("cancel", app.runtime.store, "move"),
            ("guide", app.runtime.store, "guide"),
        ):
            with monkeypatch.context() as patch:
                race(two, pending(two[0]), verb, owner, name, patch)


def test_who_says_nothing_of_what_they_have_seen_is_not_refused(two: list[Served], monkeypatch):
    fast, slow = two
    for headers in ({}, {"If-Match": "*"}):
        path = f"/v1/debates/{pending(fast)}"
        store = slow.app.runtime.store
        with monkeypatch.context() as patch:
            first = partial(fast.post, f"{path}/guide", BODIES["guide"])
            happened = just_before(store, "guide", first, patch)
            assert slow.post(f"{path}/guide", BODIES["guide"], headers=headers).json()["key"] == "guidance/2"
        assert happened[0].json()["key"] == "guidance/1"


@pytest.mark.slow
def test_real_processes_that_change_the_same_version_at_once(tmp_path: Path):
    """Two requests race without waiting for each other; in each round exactly one of them wins."""
    with ExitStack() as stack:
        servers = [Process(tmp_path) for _ in range(2)]  # the environment names the database
        clients = [stack.enter_context(closing(server)).client for server in servers]
        made = clients[0].post("/v1/debates", json={"topic": "Is it so?", "settings": SIM, "start": False}).json()
        path = f"/v1/debates/{made['id']}"
        with ThreadPoolExecutor(2) as pool:
            for n in range(20):
                seen = {"If-Match": clients[n % 2].get(path).headers["etag"]}
                answers = list(
                    pool.map(lambda c, seen=seen: c.post(f"{path}/guide", json={"text": "x"}, headers=seen), clients)
                )
                assert sorted(answer.status_code for answer in answers) == [200, 412]
                [lost] = [answer for answer in answers if answer.status_code == 412]
                assert lost.headers["etag"] == clients[0].get(path).headers["etag"]
        assert len(clients[1].get(f"{path}/gates").json()["items"]) == 20
