"""Who hears whom in a panel, read off the requests that arrive at a model's server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.panel.answers import SYNTHESIS, analysis, assessment
from tests.formats.test_topology import PERSPECTIVES, SEATS, SETTINGS, neighbours
from tests.models.wire import Request, Say, Wire
from tests.running import new_debate, run_to_rest

pytestmark = pytest.mark.slow

SHAPES = (analysis(debaters=4, perspectives=PERSPECTIVES), assessment(), SYNTHESIS)


class Speaking(Wire):
    """Answers as each seat should, with a mark that tells whose words they are. A seat's model has the seat's name."""

    def take(self, request: Request) -> Say:
        super().take(request)
        with self._lock:
            return Say(self._answer(request.body, len(self.requests)))

    def _answer(self, body: Any, n: int) -> str:
        seat = body["model"]
        words = f"mark{seat} {' '.join(f'{seat}{n}word{each}' for each in range(12))}"
        if "response_format" not in body:
            return words
        asked = body["response_format"]["json_schema"]["schema"]["properties"].keys()
        rebuttal = {"rebuttal": words, "recommendation": words, "position": "hold", "concedes_to": ""}
        known = next((shape for shape in SHAPES if shape.keys() >= asked), rebuttal)
        return json.dumps({name: known[name] for name in asked})


@pytest.mark.parametrize("topology", ["star", "chain"])
async def test_only_words_of_neighbours_arrive(app, topology: str):
    seats = SEATS["panel"]
    with Speaking() as wire:
        models = {seat: {"model": f"openai:{seat}@{wire.openai}"} for seat in (*seats, "moderator")}
        settings = {**SETTINGS["panel"], "topology": topology, "seats": models}
        done = await run_to_rest(app, await new_debate(app, "sim:", "panel", **settings))
    assert done.status == "completed", done.error
    heard: dict[str, set[str]] = {seat: set() for seat in seats}
    for request in wire.requests:
        reader = request.body["model"]
        if reader in heard:
            told = json.dumps([each["content"] for each in request.body["messages"] if each["role"] != "assistant"])
            heard[reader] |= {seat for seat in seats if seat != reader and f"mark{seat}" in told}
    assert heard == neighbours("panel", topology)
