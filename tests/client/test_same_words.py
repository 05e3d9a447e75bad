"""The same mistake gets the same words through every way in; each adds only how to go on there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.caller import Caller
from moot.cli.main import main
from moot.client import Client
from moot.mcp.service import ToolService, explained
from tests.running import an_app
from tests.server.serving import Served, served

TOPIC = "Redis or PostgreSQL?"
Ask = dict[str, Any]


@dataclass(frozen=True)
class Place:
    folder: Path
    server: Served
    debate: str  # a completed one

    def of_library(self, work: Callable[[moot.Moot, str], object]) -> str:
        with (
            pytest.raises(moot.errors.MootError) as refused,
            moot.open(database=self.folder / "moot.db", config={"embedder": "none"}, environ={}) as m,
        ):
            work(m, self.debate)
        return str(refused.value)

    def of_command(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
        capsys.readouterr()
        database = str(self.folder / "moot.db")
        assert main([*(each.format(self.debate) for each in arguments), "--db", database]) == 2
        return capsys.readouterr().err.removeprefix("moot: ").strip()

    def of_http(self, method: str, path: str, body: Ask | None) -> str:
        response = self.server.client.request(method, path.format(self.debate), json=body)
        assert response.status_code >= 400
        return response.json()["detail"]

    def of_chat(self, body: Ask) -> str:
        whole = {"messages": [{"role": "user", "content": TOPIC}], **body}
        response = self.server.client.post("/v1/chat/completions", json=whole)
        assert response.status_code >= 400
        return response.json()["error"]["message"]

    def of_mcp(self, work: Callable[[ToolService, Caller, str], Any]) -> str:
        async def inside() -> str:
            async with an_app(self.folder) as app:
                await app.open()
                with pytest.raises(moot.errors.MootError) as refused:
                    await work(ToolService(Client(app), asyncio.Event()), Caller(name="ann"), self.debate)
                return explained(refused.value)

        return asyncio.run(inside())


@dataclass(frozen=True)
class Mistake:
    says: str
    library: Callable[[moot.Moot, str], object]
    command: tuple[str, ...]
    http: tuple[str, str, Ask | None]
    mcp: Callable[[ToolService, Caller, str], Any] | None = None
    chat: Ask = field(default_factory=dict)


def of_request(says: str, flags: tuple[str, ...], asked: Ask) -> Mistake:
    """A request for a debate that can't be had."""
    format_, settings = asked.get("format", "duel"), asked.get("settings", {})
    model = f"moot/{format_}" if "format" not in asked else "moot/duel"
    return Mistake(
        says=says,
        library=lambda m, _: m.debate(TOPIC, format=format_, **settings),
        command=("debate", TOPIC, *(() if "--format" in flags else ("--format", "duel")), *flags),
        http=("POST", "/v1/debates", {"topic": TOPIC, "format": format_, "settings": settings}),
        mcp=lambda service, caller, _: service.start(caller, TOPIC, format_, settings),
        chat={"model": model, "metadata": {"moot_settings": settings}} if "format" not in asked else {},
    )


MISTAKES = {
    "unknown format": of_request(
        "There is no format 'duell'. Did you mean 'duel'?", ("--format", "duell"), {"format": "duell"}
    ),
    "no such format at all": of_request("There is no format 'xyz'. Known: ", ("--format", "xyz"), {"format": "xyz"}),
    "unknown setting": of_request(
        "There is no setting 'turnz'. Did you mean 'turns'?", ("--set", "turnz=3"), {"settings": {"turnz": 3}}
    ),
    "out of range": of_request(
        "Setting turns must be a whole number from 2 to 200; it is 9999.",
        ("--set", "turns=9999"),
        {"settings": {"turns": 9999}},
    ),
    "unknown model": of_request(
        "There is no model provider 'gpt'.", ("--set", "model_debater=gpt"), {"settings": {"model_debater": "gpt"}}
    ),
    "unknown debate": Mistake(
        says="There is no debate 'nope'. Look it up in the list of debates",
        library=lambda m, _: m.get("nope"),
        command=("show", "nope"),
        http=("GET", "/v1/debates/nope", None),
        mcp=lambda service, caller, _: service.status(caller, "nope"),
    ),
    "wrong status": Mistake(
        says="is completed; it can't be stopped. It is complete. Get its decision record",
        library=lambda m, debate: m.get(debate).stop(),
        command=("stop", "{}"),
        http=("POST", "/v1/debates/{}/stop", None),
        mcp=lambda service, caller, debate: service.stop(caller, debate),
    ),
    "a fork without a step": Mistake(
        says="is complete: say which step to ask anew, for example ",
        library=lambda m, debate: m.get(debate).fork(),
        command=("fork", "{}"),
        http=("POST", "/v1/debates/{}/fork", {}),
    ),
    "an empty search": Mistake(
        says="There is nothing to search for. Give words, or a whole question.",
        library=lambda m, _: m.search("  "),
        command=("search", " "),
        http=("GET", "/v1/search?q=%20", None),
        mcp=lambda service, caller, _: service.search(caller, " ", 5),
    ),
    "a rating": Mistake(
        says="is canceled; it can't be rated, only a completed debate can.",
        library=lambda m, _: m.debates(status="canceled")[0].rate(3),
        command=("rate", "{canceled}", "3"),
        http=("POST", "/v1/debates/{canceled}/rate", {"rating": 3}),
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("words")
    with served(folder) as server:
        yield Place(folder, server, server.completed(settings={"max_rounds": 1})["id"])


@pytest.fixture(scope="module")
def canceled(place: Place) -> str:
    made = place.server.made(start=False)["id"]
    place.server.post(f"/v1/debates/{made}/cancel").raise_for_status()
    return made


@pytest.mark.parametrize("name", MISTAKES)
def test_every_way_in_says_the_same(
    name: str, place: Place, canceled: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    for variable in ("MOOT_MODEL", "MOOT_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("MOOT_CONFIG", str(place.folder / "none.yaml"))
    (place.folder / "none.yaml").write_text("embedder: none\n")
    mistake = MISTAKES[name]
    where = [each.replace("{canceled}", canceled) for each in (*mistake.command, mistake.http[1])]
    said = {
        "library": place.of_library(mistake.library),
        "command": place.of_command(capsys, *where[:-1]),
        "http": place.of_http(mistake.http[0], where[-1], mistake.http[2]),
    }
    if mistake.mcp is not None:
        said["mcp"] = place.of_mcp(mistake.mcp)
    if mistake.chat:
        said["chat"] = place.of_chat(mistake.chat)
    for way, text in said.items():
        assert mistake.says in text, f"{way}: {text}"
    # What the library says is the neutral text: the others begin with it.
    neutral = said["library"].removesuffix(".")
    if name != "a fork without a step":  # a flag on the command line
        assert {way: text[: len(neutral)] for way, text in said.items()} == dict.fromkeys(said, neutral)
    assert "moot " not in said["http"] + said.get("mcp", ""), "no commands to programs and browsers"
    assert sys.stdout is not None
