"""Playing scripts by hand in tests: no runtime, no model, no clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from moot.core.script import Script, Step
from moot.core.steps import Ask, Failed
from moot.core.types import Answer, Debate, Event, Failure, Outcome, SeatSpec, Shown, Turn
from moot.formats import installed

GOOD: dict[str, dict[str, Any]] = {
    "Score": {"reasoning": "It holds.", "score": 7},
    "Ruling": {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False},
    "Reading": {"reasoning": "The first is clearer.", "score_first": 6, "score_second": 4},
    "Claims": {"claims": []},
    "Critique": {"assessment": "It holds.", "issues": [], "score": 7, "ready": False},
    "Recollection": {"found": [], "by": "bm25", "note": ""},
    "Likeness": {"scores": [], "by": "", "note": ""},
}


def cast_of(format_name: str, *, small: bool = False, **settings: Any) -> tuple[SeatSpec, ...]:
    format_ = installed()[format_name]
    read = format_.settings(**settings)
    seats = (part.seated(part.model or "scripted:none", read) for part in format_.parts(read))
    return tuple(replace(seat, small=small) for seat in seats)


def debate_of(format_name: str, topic: str = "Redis or PostgreSQL?", *, small: bool = False, **settings: Any) -> Debate:
    format_ = installed()[format_name]
    return Debate(
        id="00000000-0000-4000-8000-000000000000",
        topic=topic,
        format=format_name,
        format_version=format_.version,
        status="running",
        config=format_.settings(**settings).model_dump(mode="json"),
        cast=cast_of(format_name, small=small, **settings),
    )


def finished(format_name: str, played: Played, topic: str = "Redis or PostgreSQL?", **settings: Any) -> Debate:
    """The debate of a script that was played to its end."""
    return replace(
        debate_of(format_name, topic, **settings),
        status="completed",
        outcome=played.outcome,
        total_rounds=played.rounds,
        turn_count=len(played.turns),
        completed_at=86_400.0,
    )


def script_of(format_name: str, topic: str = "Redis or PostgreSQL?", **settings: Any) -> Script:
    return installed()[format_name].script(debate_of(format_name, topic, **settings))


@lru_cache(maxsize=1024)
def schema_of(returns: type[Answer]) -> dict[str, Any]:
    """The JSON schema of a typed answer, made once. Not to be changed."""
    return returns.model_json_schema()


def good(step: Step) -> Any:
    """A valid answer: text, or the data of the typed answer."""
    if step.returns is None:
        return f"Words of {step.seat.id} at {step.key}."
    properties = schema_of(step.returns)["properties"]
    if step.returns.__name__ == "ChoiceOfWinner":
        return {"winner": properties["winner"]["enum"][0]}
    if step.returns.__name__ == "VerdictOnRecord":
        winner = properties["winner"]["const"]
        names = schema_of(step.returns)["$defs"]["Scores"]["properties"]
        return {"winner": winner, "scores": {name: 8 if name == winner else 6 for name in names}}
    return GOOD[step.returns.__name__]


def turn_for(step: Step, answer: Any, seq: int = 0, **changes: Any) -> Turn:
    """The turn of an answered step as the runtime makes it: `answer` is text, typed data or a Failure."""
    failure = answer if isinstance(answer, Failure) else None
    typed = None if failure or step.returns is None else step.returns.model_validate(answer)
    written = failure.message if failure else answer if isinstance(answer, str) else json.dumps(answer)
    fields: dict[str, Any] = {
        "key": step.key,
        "seq": seq,
        "kind": step.kind,
        "round": step.round,
        "phase": step.phase,
        "seat": step.seat.id,
        "role": step.seat.role,
        "content": typed.prose() if typed else written,
        "raw": written if typed else None,
        "data": answer if typed else None,
        "failure": failure,
        "metadata": metadata_of(step, failure, typed),
        "prompt": step.prompt.name,
        "prompt_hash": step.prompt_hash,
        "tokens_out": 10,
    }
    return Turn(**{**fields, **changes})


def metadata_of(step: Step, failure: Failure | None, typed: Answer | None) -> dict[str, Any]:
    about = {"off_record": True} if isinstance(step, Ask) and step.off_record else {}
    if failure and failure.kind == "limit":
        return about | {"limit": "max_total_output_tokens"}
    return about | ({} if step.record is None else step.record(Failed(failure=failure, raw="") if failure else typed))


class Played:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.turns: list[Turn] = []
        self.steps: list[Step] = []
        self.sent: list[tuple[Step, list[Any]]] = []  # each step with its messages
        self.shown: list[Shown] = []
        self.waves = 0

    @property
    def keys(self) -> list[str]:
        return [turn.key for turn in self.turns]

    @property
    def outcome(self) -> Outcome:
        assert self.script.outcome is not None
        return self.script.outcome

    @property
    def rounds(self) -> int:
        """The highest round of any step."""
        return max(step.round for step in self.steps)

    @property
    def events(self) -> list[Event]:
        """What was shown, numbered as a store does it."""
        return [
            Event(seq=n, type=each.type, key=each.key, data=each.data, created_at=0.0, turn=each.turn)
            for n, each in enumerate(self.shown, 1)
        ]

    def step(self, key: str) -> Step:
        return next(step for step in self.steps if step.key == key)


def play(
    script: Script,
    answer: Callable[[Step], Any] = good,
    *,
    order: Callable[[list[Step]], Iterable[Step]] = lambda steps: steps,
    one_by_one: bool = False,
    times: Callable[[Step], Mapping[str, Any]] = lambda _: {},
) -> Played:
    """Answer all that is open, wave by wave (or one step at a time, in the order that `order` prefers). `times` gives
    when a step started and ended."""
    played = Played(script)
    played.shown += script.begin()
    while script.open:
        played.waves += 1
        steps = list(order(list(script.open.values())))
        for step in steps[:1] if one_by_one else steps:
            played.steps.append(step)
            played.sent.append((step, step.messages))
            turn = turn_for(step, answer(step), seq=len(played.turns) + 1, **times(step))
            played.turns.append(turn)
            played.shown += script.resolve(turn)
    return played
