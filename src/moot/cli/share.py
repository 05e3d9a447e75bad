"""The command `moot share`: links that show one debate, and the debate as one file."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from moot.cli.commands import DONE
from moot.cli.printer import make_printer, note, table
from moot.cli.session import open_client
from moot.cli.words import ago, clock, read_age
from moot.client import Client
from moot.core.errors import InputError
from moot.core.types import Debate
from moot.records.files import write_file
from moot.store import AccessToken


async def share(args: Namespace) -> int:
    chosen = [name for name in ("html", "list", "revoke") if getattr(args, name)]
    if len(chosen) > 1 or (chosen and args.expires):
        raise InputError("Give one of --html, --list and --revoke, and --expires without them.")
    async with open_client(args) as client:
        found = await client.find(args.id)
        if args.html:
            path = _write(args.html, await client.html(found))
            print(f"Debate {found.short} is written to {path}.")
        elif args.list:
            _print(found, await client.shares.valid(found))
        elif args.revoke:
            await _revoke(client, found, args.revoke)
        else:
            await _link(client, found, None if args.expires is None else time.time() + read_age(args.expires))
    return DONE


def _write(name: str, text: str) -> Path:
    path = Path(name).expanduser()
    if path.exists():
        raise InputError(f"{path} exists already, and nothing is ever overwritten. Choose another file.")
    write_file(path, text)
    return path


async def _link(client: Client, debate: Debate, ends: float | None) -> None:
    secret, made = await client.shares.make(debate, ends)
    settings = client.app.settings
    print(f"http://{settings.serve_host}:{settings.serve_port}/shared/{secret}")
    until = "" if ends is None else f" until {clock(ends)}"
    note(f"Whom you give it to sees debate {debate.short}{until}, and nothing else, while `moot serve` runs.")
    note(f"It is shown this once. Take it back with: moot share {debate.short} --revoke {made.id[:8]}")


async def _revoke(client: Client, debate: Debate, which: str) -> None:
    ids = [each.id for each in await client.shares.valid(debate)] if which == "all" else [which]
    for each in ids:
        await client.shares.revoke(debate, each)
    print(f"{len(ids)} {'link is' if len(ids) == 1 else 'links are'} no longer valid.")


def _print(debate: Debate, shares: Sequence[AccessToken]) -> None:
    if not shares:
        note(f"No link shows debate {debate.short}. Make one with: moot share {debate.short}")
        return
    now = time.time()
    rows = [
        (
            (each.id[:8], "bold"),
            each.name,
            clock(each.created_at),
            "never" if each.last_used_at is None else ago(each.last_used_at, now),
            "never" if each.expires_at is None else clock(each.expires_at),
        )
        for each in shares
    ]
    table(make_printer(), ("LINK", "MADE BY", "MADE", "USED", "ENDS"), rows)
