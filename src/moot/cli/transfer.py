"""Commands that carry debates from one database to another: export, import."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import BinaryIO

from moot.cli.commands import DONE, FAILED
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.client.exporting import file_of, write_file, write_lines
from moot.core.amounts import count
from moot.core.errors import InputError
from moot.reasoning.fence import one_line

STDIN = "-"
CHUNK = 1_000_000  # bytes


async def export(args: Namespace) -> int:
    if bool(args.ids) == args.all:
        raise InputError("Which debates? Give ids, or --all for every one.")
    async with open_client(args) as client:
        if args.all and not client.app.has_database:
            raise InputError("No debates here: there is nothing to export.")
        found = {each.id: each for each in [await client.find(each) for each in args.ids]}
        lines = client.transfer.export(None if args.all else list(found.values()))
        if args.out is None:
            if sys.stdout.isatty():
                raise InputError("This would fill the terminal. Name a file with --out FILE, or pipe it on.")
            await write_lines(lines, sys.stdout.buffer)
        else:
            written = await write_file(lines, file_of(args.out))
            print(f"{count(written, 'debate')} written to {args.out}")
    return DONE


async def import_(args: Namespace) -> int:
    done: Counter[str] = Counter()
    async with open_client(args) as client:
        with _opened(args.file) as file:
            async with aclosing(client.transfer.adopt(_chunks(file))) as adopted:
                async for each in adopted:
                    done[each.result] += 1
                    if each.result == "refused":
                        name = f"Debate {one_line(each.id, 40)[:8]}" if each.id else "A part of the file"
                        note(f"{name} was skipped: {one_line(each.why, 300)}.")
    already = f", {count(done['same'], 'debate')} already here" if done["same"] else ""
    print(f"{count(done['new'], 'debate')} imported{already}.")
    if done["refused"]:
        note("What is named above was not imported; all else was. To repeat the import is safe.")
    return FAILED if done["refused"] else DONE


def _opened(name: str) -> BinaryIO:
    if name == STDIN:
        return sys.stdin.buffer
    path = file_of(name)
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}).") from error


async def _chunks(file: BinaryIO) -> AsyncGenerator[bytes, None]:
    """A file that can't be read to its end ends there: the reader misses its last line."""
    with suppress(OSError):
        while chunk := file.read(CHUNK):
            yield chunk
