"""Runs a debate of the format that produces artifacts, in a process of its own that can be killed:
`python -m tests.runtime.kept FOLDER ID`. Each call waits until the test lets it answer."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from moot.core.types import Call, Hear, Price, Reply
from tests.runtime.small import a_runtime
from tests.runtime.workshop import WORKSHOP


class Held:
    """A model that notes each call, and answers once there is a file of the step's name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, spec: str) -> Held:
        return self

    def check(self, spec: str) -> None:
        pass

    def price(self, spec: str) -> Price | None:
        return None

    async def __call__(self, call: Call, hear: Hear, /) -> Reply:
        name = call.key.replace("/", "-")
        (self.folder / f"asked-{name}").touch()
        while not (self.folder / f"go-{name}").exists():
            await asyncio.sleep(0.001)
        return Reply(text=f"Words of {call.key}.", model="held", provider="held")


async def main(folder: Path, debate_id: str) -> None:
    async with a_runtime(folder, WORKSHOP, models=Held(folder)) as runtime:
        debate = await runtime.store.get(debate_id)
        await (runtime.start if debate.status == "pending" else runtime.resume)(debate_id)
        assert (await runtime.wait(debate_id)).status == "completed"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
