"""`replay:DEBATE` answers with the recorded turns of another debate, at no cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from moot.core.errors import ModelUnavailable
from moot.core.types import Call, Hear, Model, Reply, Turn

Loader = Callable[[str], Awaitable[Mapping[str, Turn]]]
"""Loads the turns of a debate, by key."""


def replay_model(debate_id: str, load: Loader) -> Model:
    recorded: Mapping[str, Turn] | None = None

    async def replayed(call: Call, hear: Hear) -> Reply:
        nonlocal recorded
        if recorded is None:
            recorded = await load(debate_id)
        turn = recorded.get(call.key)
        if turn is None or (
            turn.failure is not None and turn.failure.kind == "limit"
        ):  # a limit was reached: no model was called
            raise ModelUnavailable(
                f"Debate {debate_id} has no turn {call.key!r} to replay. Replay it with the format and settings it was "
                "recorded with, or choose another model.",
                model=f"replay:{debate_id}",
            )
        if turn.written:
            hear(turn.written)
        return Reply(
            text=turn.written,
            model=turn.model or f"replay:{debate_id}",
            provider="replay",
            usage=replace(turn.usage, cost_usd=0.0),
            finish_reason=turn.finish_reason or "stop",
            first_token_ms=0,
        )

    return replayed
