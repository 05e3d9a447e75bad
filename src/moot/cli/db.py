"""The command `moot db`: where the database is, its schema and its size."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from moot.app import App
from moot.cli.commands import DONE, FAILED
from moot.cli.printer import Span, make_printer, note
from moot.cli.session import open_app
from moot.cli.views import print_json
from moot.core.errors import InputError, StoreError
from moot.core.types import STATUSES
from moot.store import DatabaseStatus

ACTIONS = ("status", "migrate")


async def db(args: Namespace) -> int:
    async with open_app(args) as app:
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
    await app.open()  # opening brings the schema up to date
    if app.queue is not None:
        await app.queue.open()  # workers may lack the privileges to do so
    if before.version == before.newest:
        note(f"{before.place}: the schema is {before.version} already; nothing was changed.")
    else:
        note(f"{before.place}: the schema is {before.newest} now; it was {before.version or 'not there'}.")
    return DONE


async def _condition(app: App) -> DatabaseStatus:
    try:
        return await app.condition()
    except StoreError as error:
        raise InputError(str(error)) from error


def _print(found: DatabaseStatus) -> None:
    counts = [f"{found.debates[status]:,} {status}" for status in STATUSES if status in found.debates]
    rows: list[tuple[str, Span]] = [("database", found.place), ("schema", _schema(found))]
    if found.version:
        rows += [
            ("debates", f"{sum(found.debates.values()):,}{': ' if counts else ''}{', '.join(counts)}"),
            ("turns", f"{found.turns:,}"),
            ("size", _size(found.bytes)),
        ]
    out = make_printer()
    for name, value in rows:
        out.line((f"{name:<10}", "bold"), value)


def _schema(found: DatabaseStatus) -> Span:
    if not found.version:
        return "none yet; the first debate, or `moot db migrate`, creates it"
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
