"""Writing records as `NNNN-title.md`: numbered, written atomically, never over another file."""

from __future__ import annotations

import errno
import os
import re
import sys
import unicodedata
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from moot.core.errors import InputError
from moot.core.types import record

FOLDER = Path("docs", "decisions")
SLUG_CHARS = 60

# A leading date is not a number.
_NUMBERED = re.compile(r"([0-9]{4,5})(?![0-9])(?!-[0-9]{2}-[0-9]{2}(?![0-9]))")
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV, errno.EMLINK, errno.EACCES)
_READ = 65_536

_LETTERS = str.maketrans(
    {
        **dict(zip("абвгдезийклмнопрстуфыэ", "abvgdeziiklmnoprstufye", strict=True)),
        **{"ё": "e", "ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya"},
        **{"ъ": "", "ь": "", "і": "i", "ї": "yi", "є": "ye", "ґ": "g"},
        **dict(zip("αβγδεζηικλμνξοπρστυφωσς", "avgdeziiklmnxoprstyfoss", strict=True)),
        **{"θ": "th", "χ": "ch", "ψ": "ps"},
        **{"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"},
    }
)


@record
class Written:
    path: Path
    new: bool  # False: the file existed
    same: bool = True  # whether an existing file has the expected content


def project_folder(start: Path) -> Path:
    """The nearest git checkout from `start` upwards; else `start`."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def slug(title: str) -> str:
    """The title as a file name: lower-case ASCII letters, digits and hyphens, never empty."""
    text = unicodedata.normalize("NFC", title).casefold().translate(_LETTERS)
    plain = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    ascii_ = "".join(c for c in plain if not unicodedata.combining(c))
    # An apostrophe does not separate words.
    words = re.sub(r"[^a-z0-9]+", "-", re.sub(r"['’]", "", ascii_)).strip("-")
    if len(words) > SLUG_CHARS:
        cut = words[: SLUG_CHARS + 1].rpartition("-")[0]
        words = cut if len(cut) > SLUG_CHARS // 2 else words[:SLUG_CHARS]
    return words or "decision"


def write_numbered(folder: Path, title: str, debate_id: str, text: str) -> Written:
    """Write a debate's record under the next free number. An existing record of the debate is left alone, even if it
    was edited since. Raises InputError if the file can't be written."""
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            there = _record_of(folder, debate_id)
            if there is not None:
                return Written(path=there, new=False, same=_read(there) == text)
            number = _next_number(folder)
            while True:
                path = folder / f"{number:04}-{slug(title)}.md"
                if _create(path, text):
                    return Written(path=path, new=True)
                number += 1  # another writer took it: the folder could not be locked


def write_file(path: Path, text: str) -> Written:
    """Write to exactly this path. Raises InputError if the file exists with another content."""
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if _create(path, text):
            return Written(path=path, new=True)
        if path.is_file() and _read(path) == text:
            return Written(path=path, new=False)
    raise InputError(f"{path} exists already, and nothing is ever overwritten. Choose another name with --out.")


def write_beside(path: Path, text: str) -> Written:
    """Like `write_file`, but append `-2`, `-3` and so on to the name if the file exists with another content."""
    stem, suffix = path.name.split(".", 1)
    number = 1
    while True:
        candidate = path if number == 1 else path.with_name(f"{stem}-{number}.{suffix}")
        with _explained(candidate):
            if _create(candidate, text):
                return Written(path=candidate, new=True)
            if candidate.is_file() and _read(candidate) == text:
                return Written(path=candidate, new=False)
        number += 1


def _next_number(folder: Path) -> int:
    numbers = [int(found[1]) for name in os.listdir(folder) if (found := _NUMBERED.match(name))]
    return max(numbers, default=0) + 1


def _record_of(folder: Path, debate_id: str) -> Path | None:
    """The lowest-numbered record whose front matter names the debate."""
    line = re.compile(rf"^debate: ['\"]?{re.escape(debate_id)}['\"]?\s*$", re.MULTILINE)
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if _NUMBERED.match(name) and name.endswith(".md") and path.is_file():
            with path.open("rb") as file:
                start = file.read(_READ).decode("utf-8", "replace").replace("\r\n", "\n")
            if start.startswith("---\n") and line.search(start.partition("\n---\n")[0]):
                return path
    return None


def _create(path: Path, text: str) -> bool:
    """Create the file atomically. Returns False if the name is taken."""
    if os.path.lexists(path):
        return False
    scratch = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        _write_new(scratch, text)
        try:
            os.link(scratch, path)  # unlike a rename, never replaces a file
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _create_in_place(path, text)
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()
    return True


def _create_in_place(path: Path, text: str) -> bool:
    """Fallback for file systems without hard links."""
    try:
        _write_new(path, text)
    except FileExistsError:
        return False
    return True


def _write_new(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Lock the folder, so that two writers never take the same number. The lock dies with its process."""
    if sys.platform == "win32":
        yield  # folders can't be locked there; a name is still never taken twice
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not supported by some network file systems
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _explained(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} can't be written: {error.strerror or error}. Choose another place with --out, or use --print."
        ) from error
