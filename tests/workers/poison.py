"""Poison for real processes: simulated models that kill their process with SIGKILL in the middle of a step, have it
stand still, or give no answer."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from moot.core.types import Call, Hear, Model, Reply
from moot.models.providers import sim
from moot.models.spec import ModelSpec

POISON, STUCK = "sim:?seed=666", "sim:?seed=667"
MUTE_SEEDS = range(700, 800)  # of models that give no answer
ANTIDOTE = "TESTS_ANTIDOTE"  # names a file: once it exists, the models are as others


def poisoned(folder: Path) -> Mapping[str, str]:
    """The variables of a process whose models may be poison, as those are of its children."""
    here = Path(__file__).parent
    path = [str(here / "poisoned"), str(here.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(path), ANTIDOTE: str(folder / "antidote")}


def install() -> None:
    real = sim.sim_model

    def poisonous(spec: ModelSpec, log: str | None = None) -> Model:
        model = real(spec, log)

        seed = int(dict(spec.options).get("seed", "0"))

        async def harm(call: Call, hear: Hear) -> Reply:
            while not Path(os.environ[ANTIDOTE]).exists():
                if f"sim:?seed={seed}" == POISON:
                    os.kill(os.getpid(), signal.SIGKILL)
                if seed in MUTE_SEEDS:
                    await asyncio.sleep(0.01)
            return await model(call, hear)

        harmful = seed in MUTE_SEEDS or f"sim:?seed={seed}" in (POISON, STUCK)
        return harm if harmful else model

    sim.sim_model = poisonous
