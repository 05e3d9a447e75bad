"""Commands that tell a debate, wherever it runs, what to do: stop, cancel."""

from __future__ import annotations

from argparse import Namespace

from moot.cli.commands import DONE
from moot.cli.door import find, opened
from moot.cli.paper import note
from moot.cli.words import next_step


async def stop(args: Namespace) -> int:
    async with opened(args) as app:
        found = await find(app, args.id)
        moved = await app.runtime.stop(found.id)
        if moved.status == "stopping":
            print(f"Debate {moved.short} is stopping: the step in progress finishes first.")
            note(f"Then go on with: moot resume {moved.short}")
        else:
            print(f"Debate {moved.short} is stopped.")
            note(next_step(moved))
    return DONE


async def cancel(args: Namespace) -> int:
    async with opened(args) as app:
        found = await find(app, args.id)
        moved = await app.runtime.cancel(found.id)
        print(f"Debate {moved.short} is canceled: it has no verdict and can't be resumed.")
        note(next_step(moved))
    return DONE
