"""Commands that act on a debate, wherever it runs: stop, cancel, guide, rate, quarantine."""

from __future__ import annotations

from argparse import Namespace

from moot.app import person
from moot.cli.commands import DONE
from moot.cli.printer import note
from moot.cli.session import find_debate, open_app
from moot.cli.words import next_step, rating


async def stop(args: Namespace) -> int:
    async with open_app(args) as app:
        found = await find_debate(app, args.id)
        moved = await app.runtime.stop(found.id)
        if moved.status == "stopping":
            print(f"Debate {moved.short} is stopping: the step in progress finishes first.")
            note(f"Then go on with: moot resume {moved.short}")
        else:
            print(f"Debate {moved.short} is stopped.")
            note(next_step(moved))
    return DONE


async def cancel(args: Namespace) -> int:
    async with open_app(args) as app:
        found = await find_debate(app, args.id)
        moved = await app.runtime.cancel(found.id)
        print(f"Debate {moved.short} is canceled: it has no verdict and can't be resumed.")
        note(next_step(moved))
    return DONE


async def guide(args: Namespace) -> int:
    async with open_app(args) as app:
        found = await find_debate(app, args.id)
        await app.runtime.guide(found.id, " ".join(args.words), by=person())
        when = "at its next step" if found.status == "running" else "when it goes on"
        print(f"Debate {found.short} will hear it {when}.")
        if found.status != "running":
            note(next_step(found))
    return DONE


async def rate(args: Namespace) -> int:
    async with open_app(args) as app:
        found = await find_debate(app, args.id)
        rated = await app.runtime.rate(found.id, args.rating)
        before = found.user_rating
        changed = f", before {before}" if before not in (None, rated.user_rating) else ""
        print(f"Debate {rated.short} is {rating(rated)}{changed}.")
    return DONE


async def quarantine(args: Namespace) -> int:
    async with open_app(args) as app:
        found = await find_debate(app, args.id)
        await app.runtime.quarantine(found.id, by=None if args.off else person())
        if args.off:
            print(f"The decision of debate {found.short} can be recalled into new debates.")
        else:
            print(f"The decision of debate {found.short} is no longer recalled into new debates.")
            note(f"Let it be recalled again with: moot quarantine {found.short} --off")
    return DONE
