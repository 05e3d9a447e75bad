"""Runs a debate of the format that produces artifacts, in a process of its own that can be killed:
`python -m tests.runtime.kept FOLDER ID`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.runtime.small import a_runtime
from tests.runtime.workshop import WORKSHOP


async def main(folder: Path, debate_id: str) -> None:
    async with a_runtime(folder, WORKSHOP) as runtime:
        debate = await runtime.store.get(debate_id)
        await (runtime.start if debate.status == "pending" else runtime.resume)(debate_id)
        assert (await runtime.wait(debate_id)).status == "completed"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
