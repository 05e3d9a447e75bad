"""Exported debates in a file."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import BinaryIO, cast

from moot.core.errors import InputError


async def write_lines(lines: AsyncGenerator[bytes, None], file: BinaryIO) -> int:
    """Write what `Transfer.export` gives; return how many debates it has."""
    pieces = 0
    async with aclosing(lines):
        async for line in lines:
            file.write(line)
            pieces += 1
    file.flush()
    return pieces - 2  # without the first and the last line


async def write_file(lines: AsyncGenerator[bytes, None], path: Path) -> int:
    """Write an export beside the file, readable by its owner only, and put it there when it is whole. Packed if its
    name ends with `.gz`. Raises InputError if it can't be written."""
    try:
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        with os.fdopen(handle, "wb") as plain:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as packed:
                    written = await write_lines(lines, cast(BinaryIO, packed))
            else:
                written = await write_lines(lines, plain)
            plain.flush()
            os.fsync(plain.fileno())
        os.replace(unfinished, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(unfinished)
        if isinstance(error, OSError):
            raise _refusal(path, error) from error
        raise
    return written


def file_of(name: str | Path) -> Path:
    return Path(name).expanduser()


def _refusal(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} can't be written ({error.strerror}). Choose another file.")
