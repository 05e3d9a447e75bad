"""Server-sent events: from readers to bytes, with heartbeats, until the debate, the server or the client ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Sequence
from contextlib import aclosing
from typing import Protocol

from fastapi.sse import EventSourceResponse
from starlette.types import Receive, Scope, Send

from moot.core.types import Debate, Event
from moot.server.encoders import Encoder
from moot.server.live import Channels, Delta, Item, ListReader, Reader

HEARTBEAT_SECONDS = 10.0
RECONNECT_MS = 1000
HOPELESS_SECONDS = 30.0  # a client that takes nothing for so long is disconnected
MAX_STREAMS = 2000
MAX_SHARED = 100  # encoded items that are kept until something new happens

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_BEAT = b": beat\n\n"

Allowed = Callable[[], Awaitable[bool]]


class Stream:
    """The events of one connection. Use it once."""

    def __init__(
        self,
        live: Channels,
        encoder: Encoder,
        debates: Sequence[tuple[Debate, int]],
        *,
        with_list: bool = False,
        until_rest: bool = False,
        lasting: bool = False,
        closing: asyncio.Event,
        allowed: Allowed,
    ) -> None:
        """`debates` come with the event after which each begins. A `lasting` stream goes on when they have ended.
        `allowed` is called once per heartbeat; when it returns False, the stream ends."""
        self._live, self._encoder, self._debates = live, encoder, debates
        self._with_list, self._until_rest, self._lasting = with_list, until_rest, lasting
        self._closing, self._allowed = closing, allowed
        self._news = asyncio.Event()
        self._readers: list[Reader] = []
        self._list: ListReader | None = None
        self._ended: set[str] = set()
        self._checked = asyncio.get_running_loop().time()

    async def frames(self) -> AsyncGenerator[bytes, None]:
        self._live.streams += 1
        ending = asyncio.ensure_future(self._closing.wait())
        ending.add_done_callback(lambda _: self._news.set())
        try:
            self._readers = [self._live.join(debate, after, self._news) for debate, after in self._debates]
            self._list = self._live.join_list(self._news) if self._with_list else None
            yield f"retry: {RECONNECT_MS}\n\n".encode()
            while not self._closing.is_set():
                self._news.clear()
                chunk = await self._take()
                if chunk:
                    yield chunk
                if self._over():
                    return
                quiet = not await self._wait()
                if quiet:
                    yield _BEAT
                if not await self._may_go_on():
                    return
        finally:
            ending.cancel()
            self._live.streams -= 1
            for reader in self._readers:
                await self._live.leave(reader)
            if self._list is not None:
                await self._live.leave_list(self._list)

    def _over(self) -> bool:
        broken = any(reader.channel.broken for reader in self._readers)
        return broken or (not self._lasting and len(self._ended) == len(self._readers))

    async def _may_go_on(self) -> bool:
        """Check that the caller's token is still valid. Called once per heartbeat, even on a busy stream."""
        now = asyncio.get_running_loop().time()
        if now - self._checked < HEARTBEAT_SECONDS:
            return True
        self._checked = now
        return await self._allowed()

    async def _wait(self) -> bool:
        """Wait up to `HEARTBEAT_SECONDS` for news; return False on time-out."""
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def _take(self) -> bytes:
        parts: list[bytes] = []
        for reader in self._readers:
            if reader.channel.id in self._ended:
                continue
            parts += [await self._encoded(reader, item) for item in await reader.take()]
            if reader.finished(at_rest=self._until_rest):
                self._ended.add(reader.channel.id)
                parts.append(self._encoder.end(reader.channel, self._place(reader)))
        parts += [self._encoder.debate(debate) for debate in (self._list.take() if self._list else ())]
        return b"".join(parts)

    async def _encoded(self, reader: Reader, item: Item) -> bytes:
        """Encode an item once for all connections that get the same bytes."""
        channel, place = reader.channel, self._place(reader, item.seq) if isinstance(item, Event) else ""
        key = self._key(item, place)
        known = channel.encoded.get(key)
        if known is not None:
            return known[1]
        if isinstance(item, Event):
            data = await self._encoder.event(channel, item, place)
        else:
            data = self._encoder.delta(channel.id, item) if isinstance(item, Delta) else self._encoder.debate(item)
        if len(channel.encoded) < MAX_SHARED:
            channel.encoded[key] = item, data
        return data

    def _key(self, item: Item, place: str) -> Hashable:
        """Objects are named by their id, which is theirs as long as they are kept beside their bytes."""
        if isinstance(item, Event):
            return self._encoder.kind, item.seq, place
        if isinstance(item, Delta):
            return self._encoder.kind, id(item.flight), item.attempt, item.offset, len(item.text), item.done
        return self._encoder.kind, id(item)

    def _place(self, reader: Reader, seq: int | None = None) -> str:
        """The event's id, which a client sends back as `Last-Event-ID`: a number, or the place in each of several
        debates."""
        if not self._lasting:
            return str(reader.seq if seq is None else seq)
        places = ((each, seq if each is reader and seq is not None else each.seq) for each in self._readers)
        return ",".join(f"{each.channel.id}:{at}" for each, at in places)


class Frames(Protocol):
    def frames(self) -> AsyncGenerator[bytes, None]: ...


class Events(EventSourceResponse):
    """The response around a stream. It ends when the client disconnects, or takes nothing for `HOPELESS_SECONDS`."""

    def __init__(self, stream: Frames) -> None:
        self._stream = stream
        self._sending_since: float | None = None
        super().__init__(iter(()), headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self.stream_response(send), name="stream")
        gone = asyncio.create_task(self.listen_for_disconnect(receive), name="stream-gone")
        done: set[asyncio.Task[None]] = set()
        try:
            while not done and not self._hopeless():
                done, _ = await asyncio.wait(
                    {sending, gone}, timeout=HOPELESS_SECONDS / 2, return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            for task in (sending, gone):
                task.cancel()
            ended, _ = await asyncio.gather(sending, gone, return_exceptions=True)
        if isinstance(ended, Exception) and not isinstance(ended, OSError):
            raise ended

    async def stream_response(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._stream.frames()) as frames:
            async for frame in frames:
                self._sending_since = asyncio.get_running_loop().time()
                await send({"type": "http.response.body", "body": frame, "more_body": True})
                self._sending_since = None
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _hopeless(self) -> bool:
        """Polled, since a timer for each frame would cost as much as the frame."""
        since = self._sending_since
        return since is not None and asyncio.get_running_loop().time() - since >= HOPELESS_SECONDS
