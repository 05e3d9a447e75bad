"""`replay:DEBATE` answers with the recorded turns of another debate, at no cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from moot.core.errors import InputError, ModelUnavailable, UnknownModel
from moot.core.types import Call, Hear, Model, Reply, Turn
from moot.models.providers.provider import EVERY_SETTING, FREE, Loader, ModelSpec, Opened, Opening, Provider


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


def _read(rest: str, text: str) -> ModelSpec:
    if not rest:
        raise UnknownModel("'replay' needs a debate: replay:3f2a91c0.")
    return ModelSpec(provider="replay", model=rest)


def _open(spec: ModelSpec, opening: Opening) -> Opened:
    model = replay_model(spec.model, _loader(spec, opening))
    return Opened(model=model, timed=False, priced=False, counted=False)


def _loader(spec: ModelSpec, opening: Opening) -> Loader:
    if opening.load_turns is None:
        raise InputError("Recorded debates can't be replayed here.")
    return opening.load_turns


def _check(spec: ModelSpec, opening: Opening) -> None:
    _loader(spec, opening)


PROVIDER = Provider(
    name="replay",
    example="replay:3f2a91c0",
    about="the answers of a recorded debate",
    open=_open,
    read=_read,
    check=_check,
    rank=34,
    sampling=EVERY_SETTING,  # no model is called, so none is refused
    price=lambda spec: FREE,
)
