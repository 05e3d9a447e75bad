"""What both databases have in common about their schema: numbered files of SQL, and whether a database was made from
the same ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from moot.core.errors import WrongSchema

_COMMENT = re.compile(r"--[^\n]*")


def read_migrations(package: str) -> Sequence[str]:
    """The SQL of a package's migrations, in their order."""
    folder = files(package) / "migrations"
    return [
        entry.read_text() for entry in sorted(folder.iterdir(), key=lambda e: e.name) if entry.name.endswith(".sql")
    ]


def fingerprint(migrations: Sequence[str]) -> int:
    """What tells these migrations from others, in 31 bits. Comments and spaces make no difference."""
    words = "\0".join(" ".join(_COMMENT.sub("", text).split()) for text in migrations)
    return int.from_bytes(sha256(words.encode()).digest()[:4], "big") >> 1


def check_schema(place: str, version: int, found: int, known: Sequence[str]) -> None:
    """Raises WrongSchema unless this moot can use or migrate a database. `found`: the fingerprint stored in it."""
    if version > len(known):
        raise WrongSchema(
            f"The database {place} has schema {version}, this moot knows {len(known)}. "
            "Upgrade moot, or choose another database with --db."
        )
    if version and found != fingerprint(known[:version]):
        raise WrongSchema(
            f"The database {place} was made by another build of moot: its schema {version} is not the one that this "
            "moot knows. Nothing in it was changed. Open it with that build, or choose another database with --db."
        )
