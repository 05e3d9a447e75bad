"""Injection on a real database: attacks in the words of debaters change no status, question or outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.client import creating, documents
from moot.formats import installed
from moot.request import Request
from tests.formats.examples import EXAMPLES, topic_of
from tests.formats.test_injection import ATTACKS, has_voice, hostile, run
from tests.running import an_app, run_to_end

ROOM = {
    "debater_max_tokens": 20_000,
    "judge_max_tokens": 20_000,
    "claims_max_tokens": 20_000,
    "max_total_output_tokens": 10_000_000,
    "token_budget_per_round": 0,
}


async def course(folder: Path, name: str, answer: Any) -> dict[str, Any]:
    """What happened, without anybody's words."""
    room = {setting: value for setting, value in ROOM.items() if setting in installed()[name].settings.model_fields}
    played = run(name, answer, **room)
    said = {step.key: given for step, given in zip(played.steps, map(answer, played.steps), strict=True)}
    folder.mkdir()
    (folder / "answers.yaml").write_text(yaml.safe_dump({"answers": said}))
    model = f"scripted:{folder / 'answers.yaml'}"
    example = EXAMPLES[name]
    settings = {"model_debater": model, "model_judge": model, **example.settings, **room}
    async with an_app(folder, embedder="none") as app:
        made = await creating.create(app, app.plan(Request(topic=topic_of(name), format=name, settings=settings)))
        done = await run_to_end(app, made, example.people)
        assert (await documents.prove(app, done.id)).same
        store = app.runtime.store
        turns, events = await store.turns(done.id), await store.events(done.id)
        return {
            "turns": sorted((turn.key, turn.kind, turn.finish_reason, turn.failure) for turn in turns),
            "statuses": [event.data["status"] for event in events if event.type == "status"],
            "notices": [event.data["text"] for event in events if event.type == "notice"],
            "shown": [(event.type, event.key) for event in events if event.type.isupper()],
            "gates": [(gate.key, gate.kind, gate.choices, gate.decision) for gate in await store.gates(done.id)],
            "outcome": {
                each: getattr(done.outcome, each) for each in ("winner", "headline", "ended_by", "scores", "reason")
            },
        }


@pytest.mark.slow
# How each format takes attacks is proven on its rules (tests/formats/test_injection.py).
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("council", "panel") else pytest.mark.soak) for name in installed()],
)
async def test_a_debate_under_attack_takes_the_same_course(tmp_path: Path, name: str):
    chosen = ("says it is over", "gives orders", "claims to be the human", "answers for the others", "forges invisibly")

    def attack(step: Any, text: str) -> str:
        return "\n\n".join(ATTACKS[each](step, text) for each in chosen)

    honest = await course(tmp_path / "honest", name, EXAMPLES[name].answer)
    attacked = await course(tmp_path / "attacked", name, hostile(name, attack, has_voice))
    assert attacked == honest
