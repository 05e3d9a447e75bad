"""Wall time of a debate on the embedded model, against the bare engine that is given the same prompts.

The reference is a second engine with the same weights and settings in this process, called over HTTP with bare bodies:
the same messages, samplers and seeds in the same order, those at once that the rules ask at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2

from moot.core.types import Call, Message
from moot.models.local import DRY, FIT, SERVERS, TEXT_DEFAULTS, TYPED_DEFAULTS, Address
from moot.models.weights import EMBEDDED
from perf.rig import app_in, plan, play, run, timed
from perf.table import Goal, Row

MODEL = "local"
_GOAL = Goal(sign="<=", bound=1.15)
_SAME = 0.02  # share by which the tokens written may differ
_SECONDS = 900


def measure(folder: Path) -> list[Row]:
    return [run(_measure(folder), seconds=_SECONDS)]


async def _measure(folder: Path) -> Row:
    data = os.environ.get("MOOT_DATA_DIR")
    async with app_in(folder, embedder=None, data_dir=data) as app:
        # Weights are fetched and read before the clock starts.
        await app.models.open(MODEL)(_hello(), lambda _: None)
        played = await play(app, plan(app, MODEL, format="auto"))
        weights = _weights()
    same = folder / "same.gguf"
    same.symlink_to(weights)
    engine = await asyncio.to_thread(SERVERS.start, same, FIT)
    async with httpx2.AsyncClient(trust_env=False, timeout=_SECONDS) as http:
        await _ask(http, engine, _hello())
        written: list[int] = []
        bare = await timed(_ask_all(http, engine, played.waves, written))
    debated = sum(turn.tokens_out for turn in played.turns)
    if abs(sum(written) - debated) > _SAME * debated:
        raise RuntimeError(f"the bare engine wrote {sum(written)} tokens where the debate wrote {debated}")
    return Row(
        name=f"wall time of a debate on the embedded model, {played.debate.format}",
        value=played.seconds,
        unit="s",
        reference=bare,
        against=f"{bare:.3g} s: the bare engine, for the same prompts and {sum(written):,} tokens",
        goal=_GOAL,
        note=f"{len(played.calls)} calls, {debated:,} tokens written, {sum(t.tokens_in for t in played.turns):,} read",
    )


async def _ask_all(http: Any, engine: Address, waves: Sequence[Sequence[Call]], written: list[int]) -> None:
    for wave in waves:
        written += await asyncio.gather(*(_ask(http, engine, call) for call in wave))


async def _ask(http: Any, engine: Address, call: Call) -> int:
    headers = {"Authorization": f"Bearer {engine.key}"}
    answer = await http.post(f"{engine.url}/chat/completions", json=_body(call), headers=headers)
    answer.raise_for_status()
    return int(answer.json()["usage"]["completion_tokens"])


def _body(call: Call) -> Mapping[str, Any]:
    typed = call.returns is not None
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.text} for message in call.messages],
        "max_tokens": call.max_tokens,
        "cache_prompt": True,
        **call.sampling.over(TYPED_DEFAULTS if typed else TEXT_DEFAULTS).given,
        **({} if typed else dict(DRY)),
    }
    if call.returns is not None:
        shape = {"name": call.returns.__name__, "schema": call.returns.model_json_schema()}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return body


def _hello() -> Call:
    return Call(key="", seat="", messages=[Message(role="user", text="Say hello.")], max_tokens=8)


def _weights() -> Path:
    return next(path for path in SERVERS.running if path.name == EMBEDDED[""].name)
