"""Commands that carry debates from one database to another: export, import."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import zlib
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import BinaryIO, cast

from moot.app import App
from moot.cli.commands import DONE, FAILED
from moot.cli.printer import note
from moot.cli.session import find_debate, open_app, open_database
from moot.cli.words import count
from moot.core.errors import InputError
from moot.reasoning.fence import one_line
from moot.runtime.transfer import MAX_LINE, adopt_all, check_header
from moot.runtime.transfer import export as exported

STDIN = "-"


async def export(args: Namespace) -> int:
    if bool(args.ids) == args.all:
        raise InputError("Which debates? Give ids, or --all for every one.")
    async with open_app(args) as app:
        if args.all and not app.database.exists():
            raise InputError("No debates here: there is nothing to export.")
        ids = None if args.all else list(dict.fromkeys([(await find_debate(app, each)).id for each in args.ids]))
        await open_database(app)
        if args.out is None:
            if sys.stdout.isatty():
                raise InputError("This would fill the terminal. Name a file with --out FILE, or pipe it on.")
            await _write(app, ids, sys.stdout.buffer)
        else:
            written = await _write_file(app, ids, args.out)
            print(f"{count(written, 'debate')} written to {args.out}")
    return DONE


async def import_(args: Namespace) -> int:
    done: Counter[str] = Counter()
    async with open_app(args) as app:
        with _opened(args.file) as file:
            lines = _lines(file)
            check_header(next(lines, b""))
            store = (await open_database(app)).store
            async with aclosing(adopt_all(store, lines)) as all_:
                async for each in all_:
                    done[each.result] += 1
                    if each.result == "refused":
                        name = f"Debate {one_line(each.id, 40)[:8]}" if each.id else "A part of the file"
                        note(f"{name} was skipped: {one_line(each.why, 300)}.")
    already = f", {count(done['same'], 'debate')} already here" if done["same"] else ""
    print(f"{count(done['new'], 'debate')} imported{already}.")
    if done["refused"]:
        note("What is named above was not imported; all else was. To repeat the import is safe.")
    return FAILED if done["refused"] else DONE


async def _write(app: App, ids: Sequence[str] | None, file: BinaryIO) -> int:
    """Write the export; return how many debates it has."""
    pieces = 0
    async with aclosing(exported(app.runtime.store, ids, app.runtime.now())) as lines:
        async for line in lines:
            file.write(line)
            pieces += 1
    file.flush()
    return pieces - 2  # without the first and the last line


async def _write_file(app: App, ids: Sequence[str] | None, name: str) -> int:
    """Write the export beside the file, readable by its owner only, and put it there when it is whole."""
    path = _path(name)
    try:
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path} can't be written ({error.strerror}). Choose another file with --out.") from error
    try:
        with os.fdopen(handle, "wb") as plain:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as packed:
                    written = await _write(app, ids, cast(BinaryIO, packed))
            else:
                written = await _write(app, ids, plain)
            plain.flush()
            os.fsync(plain.fileno())
        os.replace(unfinished, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(unfinished)
        if isinstance(error, OSError):
            raise InputError(f"{path} can't be written ({error.strerror}). Choose another file with --out.") from error
        raise
    return written


def _path(name: str) -> Path:
    return Path(name).expanduser()


def _opened(name: str) -> BinaryIO:
    if name == STDIN:
        return sys.stdin.buffer
    path = _path(name)
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}).") from error
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long, its beginning, which is too long as well. A file that breaks off ends."""
    try:
        while line := file.readline(MAX_LINE + 1):
            yield line
            while len(line) > MAX_LINE and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE + 1)
    except (EOFError, OSError, zlib.error):
        return  # a packed file that was cut off, or is damaged: the reader misses its last line
