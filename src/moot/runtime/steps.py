"""From a step to its turn: what is recorded of a call, whether it succeeded or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from moot.errors import (
    BadOutput,
    InputError,
    LimitReached,
    ModelError,
    ModelOverloaded,
    ModelTimeout,
    ModelUnavailable,
    MootError,
)
from moot.gates import MAX_WORDS, Clarification
from moot.reasoning.fence import clean
from moot.runtime.budget import Allowance
from moot.script import Failed, Step
from moot.settings import read
from moot.types import HUMAN, Failure, Gate, Json, Reply, Turn, Usage


def storable(text: str) -> str:
    """Halves of characters that a stream has split are joined, and those left alone replaced: they are no text. Nor is
    NUL, which not every database can keep."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def turn_of_reply(step: Step, reply: Reply, allowance: Allowance, **at: Any) -> Turn:
    answer, usage, text = reply.answer, reply.usage, storable(reply.text)
    content = clean(text if answer is None else answer.prose())
    metadata: Json = {} if step.record is None else step.record(answer)
    if reply.attempts:
        metadata["attempts"] = list(reply.attempts)
    if allowance.max_tokens < step.max_tokens:
        metadata["shrunk_to"] = allowance.max_tokens
    return Turn(
        content=content,
        raw=None if content == text else text,
        data=None if answer is None else answer.model_dump(mode="json", by_alias=True),
        model=reply.model,
        provider=reply.provider,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        cost_usd=usage.cost_usd,
        finish_reason=reply.finish_reason,
        response_time_ms=reply.first_token_ms,
        metadata=metadata,
        **_identity(step),
        **at,
    )


def gate_for(step: Step, debate_id: str, now: float) -> Gate:
    """What is stored while a person is asked."""
    waiting = step.waiting
    assert waiting is not None
    timeout = waiting.timeout_seconds
    return Gate(
        debate_id=debate_id,
        key=step.key,
        kind=waiting.kind,
        question=step.prompt.text,
        choices=choices_of(step),
        artifacts=waiting.artifacts,
        expires_at=None if timeout is None else now + timeout,
    )


def choices_of(step: Step) -> tuple[str, ...]:
    field = None if step.returns is None else step.returns.model_fields.get("choice")
    return () if field is None else tuple(str(choice) for choice in get_args(field.annotation))


def read_decision(step: Step, given: Json) -> Json:
    """A person's answer, in the shape the step asks for. Raises InputError."""
    shape = step.returns or Clarification
    if "choice" in given and "choice" not in shape.model_fields:
        raise InputError(f"{step.key} asks for words and has no choices: answer it with text.")
    return read(shape, given, "answer").model_dump(mode="json")


def turn_of_decision(step: Step, gate: Gate, seq: int) -> Turn:
    """A person's answer is a turn like any other. The time it took is nobody's running time."""
    assert gate.decision is not None
    answer = None if step.returns is None else step.returns.model_validate(gate.decision)
    content = clean(str(gate.decision["text"]) if answer is None else answer.prose())
    at = gate.decided_at or 0.0
    return Turn(
        content=content,
        data=None if answer is None else gate.decision,
        model=HUMAN,
        provider=HUMAN,
        finish_reason="answered",
        seq=seq,
        started_at=at,
        created_at=at,
        metadata={"by": gate.reviewer, "asked_at": gate.requested_at},
        **_identity(step),
    )


def read_guidance(text: str) -> str:
    """What someone says between steps. Raises InputError."""
    words = clean(text).strip()
    if not words:
        raise InputError("Guidance needs words: what should the debate look at?")
    if len(words) > MAX_WORDS:
        raise InputError(f"The guidance has {len(words):,} characters; {MAX_WORDS:,} is the most.")
    return words


def turn_of_guidance(gate: Gate, seq: int, reaches: Sequence[str]) -> Turn:
    """What someone said between steps; `reaches` are the open steps that hear it."""
    assert gate.decision is not None
    at = gate.decided_at or 0.0
    return Turn(
        key=gate.key,
        seq=seq,
        kind="guidance",
        round=0,
        phase="guidance",
        seat="you",
        role="person",
        content=clean(str(gate.decision["text"])),
        model=HUMAN,
        provider=HUMAN,
        finish_reason="answered",
        started_at=at,
        created_at=at,
        metadata={"by": gate.reviewer, "reaches": list(reaches)},
    )


def turn_of_failure(step: Step, error: Exception, **at: Any) -> Turn | None:
    """A failure that the rules can live with is a turn; any other leaves the step open."""
    if isinstance(error, LimitReached):
        return Turn(
            content=str(error),
            failure=Failure(kind="limit", message=str(error)),
            metadata={"limit": error.limit},
            **_identity(step),
            **at,
        )
    if isinstance(error, BadOutput) and step.tolerant:
        failure = failure_of(error)
        usage = error.usage or Usage()
        return Turn(
            content=f"(no valid answer: {failure.message})",
            raw=storable(error.raw),
            failure=failure,
            model=error.model or step.seat.model,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            tokens_cached=usage.tokens_cached,
            cost_usd=usage.cost_usd,
            finish_reason="invalid",
            metadata={} if step.record is None else step.record(Failed(failure=failure, raw=storable(error.raw))),
            **_identity(step),
            **at,
        )
    return None


def failure_of(error: Exception) -> Failure:
    kind = (
        "invalid"
        if isinstance(error, BadOutput)
        else "timeout"
        if isinstance(error, ModelTimeout)
        else "unavailable"
        if isinstance(error, ModelUnavailable)
        else "overloaded"
        if isinstance(error, ModelOverloaded | ModelError)
        else "script"
        if isinstance(error, MootError)
        else "error"
    )
    text = str(error) if isinstance(error, MootError) else f"{type(error).__name__}: {error}"
    return Failure(kind=kind, message=text)


def _identity(step: Step) -> dict[str, Any]:
    return {
        "key": step.key,
        "kind": step.kind,
        "round": step.round,
        "phase": step.phase,
        "seat": step.seat.id,
        "role": step.seat.role,
        "prompt": step.prompt.name,
        "prompt_hash": step.prompt_hash,
    }
