"""`AskPerson` steps. The question is stored as a gate; its answer becomes the turn when the debate goes on."""

from __future__ import annotations

from typing import get_args

from moot.core.errors import InputError, LimitReached, ScriptError
from moot.core.gates import TIMED_OUT, Clarification, Decision
from moot.core.limits import Limits
from moot.core.settings import read
from moot.core.steps import AskPerson, Step
from moot.core.types import HUMAN, Gate, Hear, Json, Models, Reply, Turn
from moot.reasoning.fence import clean
from moot.runtime.budget import Allowance, Used
from moot.runtime.executors.ask import simulated
from moot.runtime.executors.executor import FREE, Uncounted, typed
from moot.runtime.turns import identity


class GateExecutor(Uncounted):
    waits = True
    live = False

    def __init__(self, models: Models) -> None:
        self._models = models

    def allow(self, step: AskPerson, limits: Limits, used: Used) -> Allowance | LimitReached:
        return FREE

    async def execute(self, step: AskPerson, allowance: Allowance, hear: Hear) -> Reply:
        raise ScriptError(f"Step {step.key!r} asks a person; only a person answers it.")

    async def rehearse(self, step: AskPerson, seed: int) -> Reply:
        """Answer with the first choice, which by convention goes on."""
        if step.returns is None:
            return Reply(text="", model="", provider="")
        choices = choices_of(step)
        if choices:
            return typed(step.returns.model_validate({"choice": choices[0]}))
        return await simulated(self._models, step, seed)


def gate_for(step: AskPerson, debate_id: str, now: float) -> Gate:
    """The gate that is stored while the step waits for a person."""
    return Gate(
        debate_id=debate_id,
        key=step.key,
        kind=step.gate,
        question=step.prompt.text,
        choices=choices_of(step),
        artifacts=step.artifacts,
        expires_at=None if step.timeout_seconds is None else now + step.timeout_seconds,
    )


def choices_of(step: Step) -> tuple[str, ...]:
    field = None if step.returns is None else step.returns.model_fields.get("choice")
    return () if field is None else tuple(str(choice) for choice in get_args(field.annotation))


def read_decision(step: AskPerson, given: Json) -> Json:
    """Validate a person's answer against the type that the step asks for. Raises InputError."""
    shape = step.returns or Clarification
    if "choice" in given and "choice" not in shape.model_fields:
        raise InputError(f"{step.key} asks for words and has no choices: answer it with text.")
    return read(shape, given, "answer").model_dump(mode="json")


def turn_of_decision(step: AskPerson, gate: Gate, seq: int) -> Turn:
    """The turn of a person's answer. It has no duration: waiting is not running time."""
    assert gate.decision is not None
    answer = None if step.returns is None else step.returns.model_validate(gate.decision)
    if isinstance(answer, Decision):
        answer = answer.decided(gate.reviewer or "")
    at = gate.decided_at or 0.0
    return Turn(
        content=clean(str(gate.decision["text"]) if answer is None else answer.prose()),
        data=None if answer is None else gate.decision,
        model=HUMAN,
        provider=HUMAN,
        finish_reason="timed_out" if gate.reviewer == TIMED_OUT else "answered",
        seq=seq,
        started_at=at,
        created_at=at,
        metadata={"by": gate.reviewer, "asked_at": gate.requested_at},
        **identity(step),
    )
