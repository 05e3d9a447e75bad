"""Caps on what a server may send: bytes of one answer, after decompression, and of one line of an event stream.

Without them a small compressed answer, or a line that never ends, takes all memory of the process.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import TYPE_CHECKING

from moot.core.errors import ModelUnavailable

if TYPE_CHECKING:
    import httpx2

ENCODINGS = "gzip, deflate"  # what `capped` can decompress piece by piece; ask for nothing else
MAX_ANSWER_BYTES = 32_000_000  # far more than any model writes, little enough to hold in memory for each call
LINES = 16  # a line of an event stream may have this part of what an answer may have
_PIECE = 65_536  # bytes decompressed at a time
_EVENTS = "text/event-stream"


class AnswerRefused(ModelUnavailable):
    """A server sent more than `MAX_ANSWER_BYTES`, or compressed it in a way not asked for."""


def capped(model: str) -> Callable[[httpx2.Response], Awaitable[None]]:
    """An event hook for an `httpx2.AsyncClient`, called before an answer is read. Reading raises AnswerRefused as soon
    as there is more than `MAX_ANSWER_BYTES`."""

    async def cap(response: httpx2.Response) -> None:
        import httpx2

        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        count = _Count(model, MAX_ANSWER_BYTES, lines=kind == _EVENTS)

        class Capped(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncGenerator[bytes]:
                async for piece in _decompressed(model, stream, encoding):
                    count.add(piece)
                    yield piece

            async def aclose(self) -> None:
                await stream.aclose()

        response.stream = Capped()

    return cap


class _Count:
    def __init__(self, model: str, most: int, *, lines: bool) -> None:
        self._model, self._most, self._most_in_line = model, most, most // LINES if lines else most
        self._all = self._line = 0

    def add(self, piece: bytes) -> None:
        """Raises AnswerRefused."""
        self._all += len(piece)
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
        self._line = self._line + len(piece) if end < 0 else len(piece) - end - 1
        if self._all > self._most:
            self._refuse(f"an answer of more than {self._most:,} bytes")
        if self._line > self._most_in_line:
            self._refuse(f"a line of more than {self._most_in_line:,} bytes")

    def _refuse(self, what: str) -> None:
        raise AnswerRefused(
            f"{self._model} sent {what}, and was cut off. Check what answers at its address.", model=self._model
        )


def _decompressed(model: str, chunks: AsyncIterable[bytes], encoding: str) -> AsyncGenerator[bytes]:
    match encoding:
        case "identity":
            return _as_they_are(chunks)
        case "gzip" | "deflate":
            return _inflated(chunks)
        case _:
            what = f"an answer encoded as {encoding[:40]!r}, which was not asked for"
            raise AnswerRefused(f"{model} sent {what}. Check what answers at its address.", model=model)


async def _as_they_are(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    async for chunk in chunks:
        yield chunk


async def _inflated(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """Decompress in pieces of bounded size, however much a chunk holds."""
    import httpx2

    unzip = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, by its first bytes
    async for chunk in chunks:
        try:
            while chunk:
                yield unzip.decompress(chunk, _PIECE)
                chunk = unzip.unconsumed_tail
        except zlib.error as error:
            raise httpx2.DecodingError(str(error)) from None
