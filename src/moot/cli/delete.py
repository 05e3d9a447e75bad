"""Commands that delete debates: delete, purge."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing

from moot.cli.commands import DONE, FAILED
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.cli.words import clock
from moot.client import Client
from moot.core.amounts import count
from moot.core.errors import DamagedDebate, InputError, UnknownName
from moot.core.lifecycle import LIVE, OVER, RESTING
from moot.core.types import Debate, Status
from moot.evaluate.model_grading import evaluation_of
from moot.reasoning.fence import one_line
from moot.runtime.retention import DAY_SECONDS

MOST_LISTED = 10
MOST_COUNTED = 10_000
GOES = "Turns, events, questions and memory go with them, for good. Forks and documents that were written stay."
_UNITS = {"h": 3600.0, "d": DAY_SECONDS, "w": 7 * DAY_SECONDS}


async def delete(args: Namespace) -> int:
    async with open_client(args) as client:
        described = [await _described(client, each) for each in args.ids]
        found = {debate_id: evaluation for debate_id, _, evaluation in described}
        for description in {debate_id: line for debate_id, line, _ in described}.values():
            note(description)
        _warn([*found.values()])
        if not _agreed(args, f"Delete {_these(len(found))}?"):
            return FAILED
        for debate_id in found:
            await client.delete(debate_id)
            print(f"Debate {debate_id[:8]} is deleted.")
    return DONE


async def purge(args: Namespace) -> int:
    statuses = _statuses(args.status)
    seconds = _seconds(args.older_than)
    async with open_client(args) as client:
        if not client.app.has_database:
            note("No debates here: there is nothing to delete.")
            return DONE
        runtime = await client.app.open()
        before = runtime.now() - seconds
        found = await runtime.store.untouched(before, statuses, MOST_COUNTED + 1)
        if not found:
            note(f"No {' or '.join(statuses)} debate is that old: there is nothing to delete.")
            return DONE
        more = " or more" if len(found) > MOST_COUNTED else ""
        _list(found)
        _warn([each.evaluation for each in found])
        if args.dry_run:
            print(f"{count(min(len(found), MOST_COUNTED), 'debate')}{more} would be deleted.")
            return DONE
        if not _agreed(args, f"Delete {_these(len(found))}{more}?"):
            return FAILED
        await _purge(client, before, statuses)
    return DONE


async def _purge(client: Client, before: float, statuses: Sequence[Status]) -> None:
    deleted = 0
    try:
        async with aclosing(client.purge(before, statuses)) as gone:
            async for _ in gone:
                deleted += 1
    finally:
        print(f"{count(deleted, 'debate')} {'is' if deleted == 1 else 'are'} deleted.")


def _warn(evaluations: Sequence[str]) -> None:
    """Say what becomes of evaluations. `evaluations`: that of each debate that is to be deleted, or empty."""
    for name, debates in Counter(filter(None, evaluations)).items():
        evaluation = evaluation_of(name)
        these = "It is" if len(evaluations) == 1 else f"{debates:,} of them {'is' if debates == 1 else 'are'}"
        if name == evaluation:
            what = f"{'a cell' if debates == 1 else 'cells'} of evaluation {evaluation[:8]}"
            then = "its report counts what is deleted as failed, and it can't be run again"
        else:
            what, then = (
                f"of the judge of evaluation {evaluation[:8]}",
                "its report does not show any more what it cost",
            )
        note(f"{these} {what}: {then}.")


async def _described(client: Client, prefix: str) -> tuple[str, str, str]:
    """The id of a debate, a line about it, and its evaluation. A debate whose row is damaged can be deleted, too."""
    try:
        debate = await client.find(prefix)
    except DamagedDebate as damaged:
        debate_id = await client.app.runtime.find(prefix)
        return debate_id, f"{debate_id[:8]}  {damaged.problem}", ""
    return debate.id, _line(debate), debate.evaluation


def _line(debate: Debate) -> str:
    under_way = " (under way: its step in flight is lost, too)" if debate.status in LIVE else ""
    facts = f"{debate.status}, {count(debate.turn_count, 'turn')}, {clock(debate.updated_at)}{under_way}"
    return f"{debate.short}  {facts}: {one_line(debate.topic, 80)}"


def _list(debates: Sequence[Debate]) -> None:
    for debate in debates[:MOST_LISTED]:
        note(_line(debate))
    if len(debates) > MOST_LISTED:
        note(f"… and {len(debates) - MOST_LISTED:,} more")


def _agreed(args: Namespace, question: str) -> bool:
    """Whether to go on: by flag, or asked at a terminal. Raises InputError where no one can be asked."""
    if args.yes:
        return True
    if not sys.stdin.isatty():
        raise InputError("Deleting can't be undone, and there is no terminal to ask at. To do it, say --yes.")
    note(GOES)
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    note("Nothing was deleted.")
    return False


def _these(number: int) -> str:
    return "it" if number == 1 else f"these {number:,} debates"


def _seconds(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,6})([hdw])", text.strip().lower())
    if found is None:
        raise InputError(f"--older-than is {text[:40]!r}. Write a number and h, d or w, for example 90d.")
    return int(found[1]) * _UNITS[found[2]]


def _statuses(given: Sequence[str]) -> Sequence[Status]:
    for status in given:
        if status in LIVE:
            raise InputError(f"A {status} debate is never old. Delete it by its id with: moot delete ID")
        if status not in RESTING:
            raise UnknownName("status", status, RESTING)
    return [each for each in RESTING if each in given] or OVER
