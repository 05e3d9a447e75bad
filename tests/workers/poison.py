"""Poison for real processes: simulated models that kill their process with SIGKILL in the middle of a step, or have it
stand still."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from moot.core.types import Call, Hear, Model, Reply
from moot.models.providers import sim
from moot.models.spec import ModelSpec

SEED = "666"
POISON = f"sim:?seed={SEED}"
STUCK_SEED = "667"
STUCK = f"sim:?seed={STUCK_SEED}"
ANTIDOTE = "TESTS_ANTIDOTE"  # names a file: once it exists, the model does no harm


def install() -> None:
    """Called in a process of moot, before its command runs."""
    real = sim.sim_model

    def poisonous(spec: ModelSpec, log: str | None = None) -> Model:
        model = real(spec, log)

        async def kill(call: Call, hear: Hear) -> Reply:
            if not Path(os.environ[ANTIDOTE]).exists():
                os.kill(os.getpid(), signal.SIGKILL)
            return await model(call, hear)

        async def stand_still(call: Call, hear: Hear) -> Reply:
            while not Path(os.environ[ANTIDOTE]).exists():
                pass
            return await model(call, hear)

        return {SEED: kill, STUCK_SEED: stand_still}.get(dict(spec.options).get("seed", ""), model)

    sim.sim_model = poisonous
