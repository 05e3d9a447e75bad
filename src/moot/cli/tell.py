"""Commands that tell a debate something, wherever it runs: stop, cancel, guide, rate."""

from __future__ import annotations

from argparse import Namespace

from moot.app import person
from moot.cli.commands import DONE
from moot.cli.door import find, opened
from moot.cli.paper import note
from moot.cli.words import next_step, rating


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


async def guide(args: Namespace) -> int:
    async with opened(args) as app:
        found = await find(app, args.id)
        await app.runtime.guide(found.id, " ".join(args.words), by=person())
        print(f"Debate {found.short} will hear it: {'now' if found.status == 'running' else 'when it goes on'}.")
        if found.status != "running":
            note(next_step(found))
    return DONE


async def rate(args: Namespace) -> int:
    async with opened(args) as app:
        found = await find(app, args.id)
        rated = await app.runtime.rate(found.id, args.rating)
        before = found.user_rating
        changed = f", before {before}" if before not in (None, rated.user_rating) else ""
        print(f"Debate {rated.short} is {rating(rated)}{changed}.")
    return DONE
