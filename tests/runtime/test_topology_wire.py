"""Who hears whom in panel and council, read off the requests that arrive at a model's server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from moot.app import App
from moot.client import creating
from moot.core.settings import Settings
from moot.request import Request as Wanted
from tests.formats.panel.answers import SYNTHESIS, analysis, assessment
from tests.formats.test_topology import PERSPECTIVES, SEATS, SETTINGS, neighbours
from tests.models.wire import Request, Say, Wire
from tests.running import run_to_rest

CHAIRS = {"panel": "moderator", "council": "chair"}
SHAPES = {"analyze": analysis(debaters=4, perspectives=PERSPECTIVES), "evaluate": assessment(), "synthesize": SYNTHESIS}


class Speaking(Wire):
    """Answers as each seat should, with a mark that tells whose words they are. A seat's model has the seat's name."""

    def __init__(self) -> None:
        super().__init__()
        self.said = 0

    def take(self, request: Request) -> Say:
        super().take(request)
        with self._lock:
            self.said += 1
            return Say(self._answer(request.body, self.said))

    def _answer(self, body: Any, n: int) -> str:
        seat = body["model"]
        words = f"mark{seat} {' '.join(f'{seat}{n}word{each}' for each in range(12))}"
        schema = shape_of(body)
        if not schema:
            return words
        opinion = {"position": words, "answer": f"{words}.", "reasons": [f"mark{seat}"], "confidence": 50}
        if "against" in schema:
            against = schema["against"]
            return json.dumps({"against": against.get("const") or against["enum"][0], "objection": words})
        if "ranking" in schema:
            labels = schema["ranking"]["items"]
            ranking = labels.get("enum") or [labels["const"]]
            return json.dumps({"reasoning": "It reads well.", "ranking": ranking, "stands_behind": []})
        known = {
            **dict.fromkeys(("rebuttal", "recommendation"), words),
            **opinion,
            "revised": opinion,
            "concedes_to": "",
            "departs": False,
        }
        if "concedes_to" in schema:
            known["position"] = "hold"
        for made in SHAPES.values():
            if made.keys() >= schema.keys():
                known = made
        return json.dumps({name: known[name] for name in schema})


def shape_of(body: Any) -> dict[str, Any]:
    """The fields that are asked for; none where words are."""
    given = body.get("response_format")
    return given["json_schema"]["schema"]["properties"] if given else {}


@pytest.mark.parametrize("topology", ["star", "chain"])
@pytest.mark.parametrize("format", list(SEATS))
def test_only_words_of_neighbours_arrive(tmp_path, format: str, topology: str):
    seats = [*SEATS[format], CHAIRS[format]]

    async def main() -> list[Request]:
        with Speaking() as wire:
            app = App(Settings(database_url=str(tmp_path / "moot.db"), embedder="none"), {"MOOT_API_KEY": "sk-x"})
            models = {seat: {"model": f"openai:{seat}@{wire.openai}"} for seat in seats}
            settings = {**SETTINGS[format], "topology": topology, "seats": models}
            wanted = Wanted(topic="Redis or PostgreSQL?", format=format, settings=settings)
            done = await run_to_rest(app, await creating.create(app, app.plan(wanted)))
            await app.close()
            assert done.status == "completed", done.error
            return wire.requests

    heard: dict[str, set[str]] = {seat: set() for seat in SEATS[format]}
    for request in asyncio.run(main()):
        reader = request.body["model"]
        if reader in heard and "ranking" not in shape_of(request.body):  # ballots are blind, and on all answers
            told = [each["content"] for each in request.body["messages"] if each["role"] != "assistant"]
            heard[reader] |= {seat for seat in heard if seat != reader and f"mark{seat}" in json.dumps(told)}
    assert heard == neighbours(format, topology)
