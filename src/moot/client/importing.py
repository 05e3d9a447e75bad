"""Reading an export back: bytes in any pieces, packed or not, become lines."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from typing import Any

from moot.core.errors import InputError
from moot.runtime.threads import in_thread
from moot.runtime.transfer import MAX_LINE

GZIP = b"\x1f\x8b"
PIECE = 1_000_000  # bytes that are unpacked at once


class TooLong(InputError):
    """An export has more bytes than may be read."""


class _Lines:
    """Cuts bytes into lines. Of a line that is too long it gives the beginning, which is too long as well."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def cut(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._add(line + b"\n")
            yield self._take()
        if rest:
            self._add(rest)

    def rest(self) -> Iterator[bytes]:
        if self._parts:
            yield self._take()

    def _add(self, part: bytes) -> None:
        if self._length <= MAX_LINE:
            self._parts.append(part[: MAX_LINE + 1 - self._length])
            self._length += len(self._parts[-1])

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        self._parts, self._length = [], 0
        return line


class _Unpacked:
    """Unpacks what was packed by gzip, and passes on what was not. What is damaged ends there."""

    def __init__(self) -> None:
        self.begun = False  # it is known whether it is packed
        self._unpacker: Any = None  # None: it is not packed
        self._broken = False

    def unpack(self, data: bytes) -> Iterator[bytes]:
        """Yields pieces of at most `PIECE` bytes, or `data` as it is."""
        if not self.begun:
            self.begun, self._unpacker = True, _unpacker() if data.startswith(GZIP) else None
        if self._unpacker is None:
            yield data
            return
        while data and not self._broken:
            try:
                piece = self._unpacker.decompress(data, PIECE)
            except zlib.error:
                self._broken = True
                return
            if piece:
                yield piece
            data = self._unpacker.unconsumed_tail
            if self._unpacker.eof:  # one packed file may follow another
                data, self._unpacker = self._unpacker.unused_data, _unpacker()


def _unpacker() -> Any:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


async def lines_of(chunks: AsyncIterable[bytes], most: int | None) -> AsyncGenerator[list[bytes], None]:
    """The lines of an export, as they arrive. Raises TooLong when there are more than `most` bytes, unpacked."""
    lines, unpacked, begun, read = _Lines(), _Unpacked(), b"", 0
    async for chunk in chunks:
        begun += chunk
        if not unpacked.begun and len(begun) < len(GZIP):  # too little to tell whether it is packed
            continue
        pieces, begun = unpacked.unpack(begun), b""
        while (piece := await in_thread(lambda pieces=pieces: next(pieces, None))) is not None:
            read += len(piece)
            if most is not None and read > most:
                raise TooLong(f"it has more than {most // 1_000_000:,} MB, unpacked; what follows was not read")
            yield await in_thread(lambda piece=piece: list(lines.cut(piece)))
    yield [*lines.cut(begun), *lines.rest()]


async def first_line(lines: AsyncGenerator[list[bytes], None]) -> tuple[bytes, list[bytes]]:
    """The first line of all, and those that came with it."""
    async for some in lines:
        if some:
            return some[0], some[1:]
    return b"", []


async def after(some: list[bytes], more: AsyncIterable[list[bytes]]) -> AsyncGenerator[list[bytes], None]:
    yield some
    async for each in more:
        yield each
