"""The same mistake gets the same words through every way in; each adds only how to go on there."""

from __future__ import annotations

import asyncio
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
    canceled: str

    def named(self, text: str) -> str:
        """With the ids of the debates."""
        return text.format(self.debate, canceled=self.canceled)

    def of_library(self, work: Callable[[moot.Moot, str], object]) -> str:
        with (
            pytest.raises(moot.errors.MootError) as refused,
            moot.open(database=self.folder / "moot.db", config={"embedder": "none"}, environ={}) as m,
        ):
            work(m, self.debate)
        return str(refused.value)

    def of_command(self, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> str:
        capsys.readouterr()
        database = str(self.folder / "moot.db")
        assert main([*map(self.named, arguments), "--db", database]) == 2
        return capsys.readouterr().err.removeprefix("moot: ").strip()

    def of_http(self, method: str, path: str, body: Ask | None) -> str:
        response = self.server.client.request(method, self.named(path), json=body)
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


def of_request(says: str, format: str = "duel", **settings: Any) -> Mistake:
    """A request for a debate that can't be had."""
    flags = [flag for name, value in settings.items() for flag in ("--set", f"{name}={value}")]
    return Mistake(
        says=says,
        library=lambda m, _: m.debate(TOPIC, format=format, **settings),
        command=("debate", TOPIC, "--format", format, *flags),
        http=("POST", "/v1/debates", {"topic": TOPIC, "format": format, "settings": settings}),
        mcp=lambda service, caller, _: service.start(caller, TOPIC, format, settings),
        chat={"model": "moot/duel", "metadata": {"moot_settings": settings}} if settings else {},
    )


MISTAKES = {
    "unknown format": of_request("There is no format 'duell'. Did you mean 'duel'?", format="duell"),
    "unknown setting": of_request("There is no setting 'turnz'. Did you mean 'turns'?", turnz=3),
    "out of range": of_request("Setting turns must be a whole number from 2 to 200; it is 9999.", turns=9999),
    "unknown model": of_request("There is no model provider 'gpt'.", model_debater="gpt"),
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
        canceled = server.made(start=False)["id"]
        server.post(f"/v1/debates/{canceled}/cancel").raise_for_status()
        yield Place(folder, server, server.completed(settings={"max_rounds": 1})["id"], canceled)


@pytest.mark.parametrize("name", MISTAKES)
def test_every_way_in_says_the_same(
    name: str, place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MOOT_MODEL", raising=False)
    monkeypatch.setenv("MOOT_CONFIG", str(place.folder / "none.yaml"))
    (place.folder / "none.yaml").write_text("embedder: none\n")
    mistake = MISTAKES[name]
    said = {
        "library": place.of_library(mistake.library),
        "command": place.of_command(capsys, mistake.command),
        "http": place.of_http(*mistake.http),
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
