"""Commands that act on a debate, wherever it runs: stop, cancel, guide, rate, outcome, quarantine, private."""

from __future__ import annotations

from argparse import Namespace

from moot.cli.commands import DONE
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.cli.words import how_it_turned_out, next_step, rating
from moot.client.reading import FULL_ID
from moot.core.types import Debate


async def stop(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        moved = await client.stop(found)
        if moved.status == "stopping":
            print(f"Debate {moved.short} is stopping: the step in progress finishes first.")
            note(f"Then go on with: moot resume {moved.short}")
        else:
            print(f"Debate {moved.short} is stopped.")
            note(next_step(moved))
    return DONE


async def cancel(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        moved = await client.cancel(found)
        print(f"Debate {moved.short} is canceled: it has no verdict and can't be resumed.")
        note(next_step(moved))
    return DONE


async def guide(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        await client.guide(found, " ".join(args.words))
        when = "at its next step" if found.status == "running" else "when it goes on"
        print(f"Debate {found.short} will hear it {when}.")
        if found.status != "running":
            note(next_step(found))
    return DONE


async def rate(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        rated = await client.rate(found, args.rating)
        before = found.user_rating
        changed = f", before {before}" if before not in (None, rated.user_rating) else ""
        print(f"Debate {rated.short} is {rating(rated)}{changed}.")
    return DONE


async def outcome(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        kept = await client.turned_out(found, args.right, args.note)
        if kept.turned_out is None:
            print(f"How the decision of debate {found.short} turned out is not recorded any more.")
        else:
            print(f"Debate {found.short}: {how_it_turned_out(kept)}")
            note(_summed_up(found))
    return DONE


def _summed_up(debate: Debate) -> str:
    """Where to see how well confidence and outcomes agree: `moot calibration` has no debates of evaluations."""
    if not debate.evaluation:
        return "How well confidence and outcomes agree: moot calibration"
    if len(debate.evaluation) != FULL_ID:
        return "It was made for an evaluation, so moot calibration leaves it out."
    return (
        "It is a cell of an evaluation, so moot calibration leaves it out. How well confidence and answers agree: moot "
        f"eval report {debate.evaluation[:8]}"
    )


async def quarantine(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        await client.quarantine(found, not args.off)
        if args.off:
            print(f"The decision of debate {found.short} can be recalled into new debates.")
        else:
            print(f"The decision of debate {found.short} is no longer recalled into new debates.")
            note(f"Let it be recalled again with: moot quarantine {found.short} --off")
    return DONE


async def private(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        await client.set_private(found, not args.off)
        if args.off:
            print(f"Debate {found.short} is no longer private: every caller sees it.")
        else:
            print(f"Debate {found.short} is private: over HTTP, chat and MCP, its own token and admins see it.")
            note(f"Let every caller see it with: moot private {found.short} --off")
    return DONE
