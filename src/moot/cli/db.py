"""The command about the database itself: where it is, which schema it has, what it holds."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from moot.app import App
from moot.cli.commands import DONE, FAILED
from moot.cli.door import database, opened
from moot.cli.lines import print_json
from moot.cli.paper import Span, note, paper
from moot.errors import InputError, StoreError
from moot.store import Condition
from moot.types import STATUSES

ACTIONS = ("status", "migrate")


async def db(args: Namespace) -> int:
    async with opened(args) as app:
        return await (_migrate(app) if args.action == "migrate" else _status(app, args))


async def _status(app: App, args: Namespace) -> int:
    found = await _condition(app)
    if args.json:
        print_json({**asdict(found), "current": found.version == found.newest})
    else:
        _print(found)
    return DONE if found.version in (0, found.newest) else FAILED


async def _migrate(app: App) -> int:
    before = await _condition(app)
    await database(app)  # whatever opens a database brings its schema up to date
    if app.queue is not None:
        await app.queue.open()  # workers may be users who can't
    if before.version == before.newest:
        note(f"{before.place}: the schema is {before.version} already; nothing was changed.")
    else:
        note(f"{before.place}: the schema is {before.newest} now; it was {before.version or 'not there'}.")
    return DONE


async def _condition(app: App) -> Condition:
    try:
        return await app.condition()
    except StoreError as error:
        raise InputError(str(error)) from error


def _print(found: Condition) -> None:
    counts = [f"{found.debates[status]:,} {status}" for status in STATUSES if status in found.debates]
    rows: list[tuple[str, Span]] = [("database", found.place), ("schema", _schema(found))]
    if found.version:
        rows += [
            ("debates", f"{sum(found.debates.values()):,}{': ' if counts else ''}{', '.join(counts)}"),
            ("turns", f"{found.turns:,}"),
            ("size", _size(found.bytes)),
        ]
    out = paper()
    for name, value in rows:
        out.line((f"{name:<10}", "bold"), value)


def _schema(found: Condition) -> Span:
    if not found.version:
        return "none yet; the first debate, or `moot db migrate`, makes it"
    if found.version < found.newest:
        return (
            f"{found.version} of {found.newest}; `moot db migrate`, or the next use, brings it up to date",
            "yellow",
        )
    if found.version > found.newest:
        return (f"{found.version}; this moot knows {found.newest}: upgrade moot", "bold red")
    return f"{found.version}, current"


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
