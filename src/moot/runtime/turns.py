"""Turns: what is stored of an executed step, whether it succeeded or failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moot.core.errors import (
    BadOutput,
    InputError,
    LimitReached,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
    MootError,
    ToolError,
)
from moot.core.gates import MAX_WORDS
from moot.core.steps import ABSENT, Failed, Step, Use
from moot.core.types import HUMAN, Failure, FailureKind, Gate, Reply, Turn, Usage
from moot.core.values import storable
from moot.reasoning.fence import clean
from moot.runtime.budget import Allowance


def turn_of_reply(step: Step, reply: Reply, allowance: Allowance, **at: Any) -> Turn:
    """The turn of a step that succeeded; `at` has its number and times."""
    answer, usage, text = reply.answer, reply.usage, storable(reply.text)
    content = clean(text if answer is None else answer.prose())
    metadata = {**step.about, **({} if step.record is None else step.record(answer))}
    if reply.attempts:
        metadata["attempts"] = list(reply.attempts)
    if usage.estimated:
        metadata["estimated"] = True
    if allowance.shrunk:
        metadata["shrunk_to"] = allowance.max_tokens
    return Turn(
        content=content,
        raw=None if content == text else text,
        data=None if answer is None else answer.model_dump(mode="json", by_alias=True),
        tool_calls=list(reply.tool_calls) or None,
        test_results=answer.tests_run(step.arguments) if answer is not None and isinstance(step, Use) else None,
        reflections=None if answer is None else answer.reflected(),
        model=reply.model,
        provider=reply.provider,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        cost_usd=usage.cost_usd,
        finish_reason=reply.finish_reason,
        response_time_ms=reply.first_token_ms,
        metadata=metadata,
        **identity(step),
        **at,
    )


def read_guidance(text: str) -> str:
    """Validate guidance and return it without control characters. Raises InputError."""
    words = clean(text).strip()
    if not words:
        raise InputError("Guidance needs words: what should the debate look at?")
    if len(words) > MAX_WORDS:
        raise InputError(f"The guidance has {len(words):,} characters; {MAX_WORDS:,} is the most.")
    return words


def turn_of_guidance(gate: Gate, seq: int, reaches: Sequence[str]) -> Turn:
    """Guidance as a turn; `reaches` has the keys of the open steps whose prompts include it."""
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
    """The turn of a failure that the rules can handle: a limit, an invalid answer to a tolerant step, a model that a
    spared step can't have. None for any other: it leaves the step open."""
    if isinstance(error, LimitReached):
        return Turn(
            content=str(error),
            failure=Failure(kind="limit", message=str(error)),
            metadata={**step.about, "limit": error.limit},
            **identity(step),
            **at,
        )
    invalid = isinstance(error, BadOutput | ToolError)
    failure = failure_of(error)
    if (invalid and step.tolerant) or (step.spared and failure.kind in ABSENT):
        usage, raw, model = Usage(), "", ""
        if isinstance(error, ModelError):
            usage, raw, model = error.usage or usage, storable(error.raw), error.model
        return Turn(
            content=f"({'no valid answer' if invalid else 'no answer'}: {failure.message})",
            raw=raw,
            failure=failure,
            model=model or step.seat.model,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            tokens_cached=usage.tokens_cached,
            cost_usd=usage.cost_usd,
            finish_reason="invalid" if invalid else "failed",
            metadata={
                **step.about,
                **({} if step.record is None else step.record(Failed(failure=failure, raw=raw))),
                **({"estimated": True} if usage.estimated else {}),
            },
            tool_calls=[error.call] if isinstance(error, ToolError) and error.call else None,
            **identity(step),
            **at,
        )
    return None


# The first that fits.
_KINDS: Mapping[type[Exception], FailureKind] = {
    BadOutput: "invalid",
    ModelTimeout: "timeout",
    ModelUnavailable: "unavailable",
    ModelUnreachable: "unreachable",
    ModelError: "overloaded",
    ToolError: "tool",
    MootError: "script",
    Exception: "error",
}


def failure_of(error: Exception) -> Failure:
    kind: FailureKind = next(kind for type_, kind in _KINDS.items() if isinstance(error, type_))
    text = str(error) if isinstance(error, MootError) else f"{type(error).__name__}: {error}"
    return Failure(kind=kind, message=text)


def identity(step: Step) -> dict[str, Any]:
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
