"""Downloads a file from its publisher's repository on the model hub, over HTTPS, resumed where it broke off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

_CONNECT_SECONDS = 3.0
_READ_SECONDS = 30.0
_TRIES = 3  # in a row without a single byte
_TRUE = frozenset({"1", "on", "yes", "true"})


class HubUnavailable(Exception):
    """The hub does not have the file for us; the message says why."""


def url(repository: str, name: str, environ: Mapping[str, str]) -> str | None:
    """Return the file's address, or None if HF_HUB_OFFLINE is set. HF_ENDPOINT names another hub."""
    if environ.get("HF_HUB_OFFLINE", "").strip().lower() in _TRUE:
        return None
    endpoint = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or "https://huggingface.co"
    return f"{endpoint}/{repository}/resolve/main/{name}"


def download(
    address: str,
    part: Path,
    size: int,
    advanced: Callable[[int], None],
    checkpoint: Callable[[], None],
) -> None:
    """Append what `part` lacks of a file of `size` bytes. Calls `advanced` with the bytes that are there.

    Raises HubUnavailable; what has arrived stays in `part`. Raises OSError when `part` can't be written, and whatever
    `checkpoint`, which is called now and then, raises to stop it.
    """
    import httpx2

    failures = 0
    timeout = httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
    try:
        client = httpx2.Client(timeout=timeout, follow_redirects=True)
    except Exception as error:  # a proxy or a certificate of the environment that can't be read
        raise HubUnavailable(_why(error)) from None
    with client:
        while (have := _size(part)) < size:
            try:
                _continue(client, address, part, have, size, advanced, checkpoint)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                # Only a download under way is tried again: a hub that does not answer is left at once.
                got = _size(part) - have
                failures = 0 if got > 0 else failures + 1
                if _size(part) == 0 or failures >= _TRIES:
                    raise HubUnavailable(_why(error)) from None


def _continue(
    client: object,
    address: str,
    part: Path,
    have: int,
    size: int,
    advanced: Callable[[int], None],
    checkpoint: Callable[[], None],
) -> None:
    import httpx2

    assert isinstance(client, httpx2.Client)
    # Without compression: ranges count the bytes of the file.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", address, headers=headers) as answer:
        if answer.status_code not in (200, 206):
            raise HubUnavailable(f"it answered {answer.status_code}")
        if answer.status_code == 200:
            have = 0  # it knows no ranges
        whole = f"bytes {have}-{size - 1}/{size}" if answer.status_code == 206 else str(size)
        told = answer.headers.get("Content-Range" if answer.status_code == 206 else "Content-Length")
        if told != whole:
            raise HubUnavailable(f"it has another file (its size is {told}, not {whole})")
        with part.open("r+b" if part.exists() else "wb") as out:
            out.truncate(have)
            out.seek(have)
            for block in answer.iter_raw():
                checkpoint()
                out.write(block)
                have += len(block)
                advanced(have)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _why(error: Exception) -> str:
    said = str(error) or type(error).__name__
    return f"no connection ({said[:200]})"
