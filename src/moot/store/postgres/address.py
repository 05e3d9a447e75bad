"""Addresses of PostgreSQL databases. The password is in `url` and nowhere else."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from moot.core.errors import InputError
from moot.core.types import record

SCHEMES = ("postgresql", "postgres")
_FORM = "Write postgresql://USER:PASSWORD@HOST:5432/DATABASE"


@record
class Address:
    url: str
    user: str  # empty: from the environment
    server: str  # host and port, or the folder of a socket
    database: str

    def __str__(self) -> str:
        """The address for people, without password and parameters."""
        return f"postgresql://{f'{self.user}@' if self.user else ''}{self.server}/{self.database}"

    def exists(self) -> bool:
        """Always True: only the server knows."""
        return True


def is_address(text: str) -> bool:
    return text.partition("://")[0].partition("+")[0] in SCHEMES


def read_address(url: str) -> Address:
    """Raises InputError. Its message never quotes the address: an unreadable part may belong to the password."""
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES:
        raise InputError(f"The database's address begins with a scheme that moot does not know. {_FORM}.")
    try:
        parts = urlsplit(url)
        servers = parts.netloc.rpartition("@")[2]
        if "," not in servers:
            _ = parts.port  # raises when it is none
        query = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:
        raise InputError(_unreadable()) from None
    if parts.fragment or rest.count("@") > 1 or (rest.count("@") and "@" not in parts.netloc):
        raise InputError(_unreadable())
    elsewhere = ":".join(query[name] for name in ("host", "port") if name in query)
    return Address(
        url=url,
        user=unquote(parts.username or query.get("user", "")),
        server=servers or elsewhere,
        database=unquote(parts.path.lstrip("/")) or query.get("dbname", ""),
    )


def _unreadable() -> str:
    return (
        f"The database's address can't be read. {_FORM}, and in the password %40 for @, %2F for /, %3A for :, "
        "%23 for #, %3F for ?, %25 for %."
    )
