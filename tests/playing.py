"""Playing scripts by hand in tests: no runtime, no model, no clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from moot.formats import installed
from moot.script import Script, Step
from moot.types import Debate, Failure, SeatSpec, Shown, Turn

GOOD: dict[str, dict[str, Any]] = {
    "Score": {"reasoning": "It holds.", "score": 7},
    "Ruling": {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False},
    "Ballot": {"reasoning": "The first is clearer.", "score_first": 6, "score_second": 4},
    "Claims": {"claims": []},
    "Critique": {"assessment": "It holds.", "issues": [], "score": 7, "ready": False},
    "Recollection": {"found": [], "by": "bm25", "note": ""},
    "Likeness": {"scores": [], "by": "", "note": ""},
}


def cast_of(format_name: str, **settings: Any) -> tuple[SeatSpec, ...]:
    format_ = installed()[format_name]
    read = format_.settings(**settings)
    return tuple(
        SeatSpec(
            id=part.id,
            name=part.name,
            role=part.role,
            model=part.model or "scripted:none",
            max_tokens=part.max_tokens or (read.judge_max_tokens if part.role == "judge" else read.debater_max_tokens),
        )
        for part in format_.parts(read)
    )


def debate_of(format_name: str, topic: str = "Redis or PostgreSQL?", **settings: Any) -> Debate:
    format_ = installed()[format_name]
    return Debate(
        id="00000000-0000-4000-8000-000000000000",
        topic=topic,
        format=format_name,
        format_version=format_.version,
        status="running",
        config=format_.settings(**settings).model_dump(mode="json"),
        cast=cast_of(format_name, **settings),
    )


def script_of(format_name: str, topic: str = "Redis or PostgreSQL?", **settings: Any) -> Script:
    return installed()[format_name].script(debate_of(format_name, topic, **settings))


def good(step: Step) -> Any:
    """A valid answer: text, or the data of the typed answer."""
    if step.returns is None:
        return f"Words of {step.seat.id} at {step.key}."
    properties = step.returns.model_json_schema()["properties"]
    if step.returns.__name__ == "ChoiceOfWinner":
        return {"winner": properties["winner"]["enum"][0]}
    if step.returns.__name__ == "VerdictOnRecord":
        winner = properties["winner"]["const"]
        names = step.returns.model_json_schema()["$defs"]["Scores"]["properties"]
        return {"winner": winner, "scores": {name: 8 if name == winner else 6 for name in names}}
    return GOOD[step.returns.__name__]


def turn_for(step: Step, answer: Any, seq: int = 0, **changes: Any) -> Turn:
    failed = isinstance(answer, Failure)
    text = answer.message if failed else answer if isinstance(answer, str) else json.dumps(answer)
    fields: dict[str, Any] = {
        "key": step.key,
        "seq": seq,
        "kind": "ask",
        "round": step.round,
        "phase": step.phase,
        "seat": step.seat.id,
        "role": step.seat.role,
        "content": text,
        "data": answer if isinstance(answer, dict) else None,
        "failure": answer if failed else None,
        "metadata": {"limit": "max_total_output_tokens"} if failed and answer.kind == "limit" else {},
        "prompt": step.prompt.name,
        "prompt_hash": step.prompt_hash,
        "tokens_out": 10,
    }
    return Turn(**{**fields, **changes})


class Played:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.turns: list[Turn] = []
        self.steps: list[Step] = []
        self.sent: list[tuple[Step, list[Any]]] = []  # every message ever sent, with its step
        self.shown: list[Shown] = []
        self.waves = 0

    @property
    def keys(self) -> list[str]:
        return [turn.key for turn in self.turns]

    def step(self, key: str) -> Step:
        return next(step for step in self.steps if step.key == key)


def play(
    script: Script,
    answer: Callable[[Step], Any] = good,
    *,
    order: Callable[[list[Step]], Iterable[Step]] = lambda steps: steps,
    one_by_one: bool = False,
) -> Played:
    """Answer all that is open, wave by wave (or one step at a time, in the order that `order` prefers)."""
    played = Played(script)
    played.shown += script.begin()
    while script.open:
        played.waves += 1
        steps = list(order(list(script.open.values())))
        for step in steps[:1] if one_by_one else steps:
            played.steps.append(step)
            played.sent.append((step, step.messages))
            turn = turn_for(step, answer(step), seq=len(played.turns) + 1)
            played.turns.append(turn)
            played.shown += script.resolve(turn)
    return played
