"""Server-sent events: from readers to bytes, with heartbeats, until the debate, the server or the client ends, or the
caller's token is revoked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Hashable, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from fastapi.sse import EventSourceResponse
from starlette.types import Receive, Scope, Send

from moot.core.types import Debate, Event
from moot.server.encoders import Encoder
from moot.server.live import Channels, Delta, Item, Reader
from moot.server.newest import ListReader
from moot.store import Viewer

RECONNECT_MS = 1000
HOPELESS_SECONDS = 30.0  # a client that takes nothing for so long is disconnected
MAX_SHARED = 100  # encoded items that are kept until something new happens

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Stream:
    """The events of one connection. Use it once."""

    def __init__(
        self,
        live: Channels,
        encoder: Encoder,
        debates: Sequence[tuple[Debate, int]],
        *,
        with_list: bool = False,
        viewer: Viewer | None = None,
        until_rest: bool = False,
        lasting: bool = False,
        closing: asyncio.Event,
    ) -> None:
        """`debates` come with the event after which each begins; `viewer` sees the debates that are sent. A
        `lasting` stream goes on when they have ended."""
        self._live, self._encoder, self._debates = live, encoder, debates
        self._with_list, self._viewer, self._until_rest, self._lasting = with_list, viewer, until_rest, lasting
        self._closing = closing
        self._news = asyncio.Event()
        self._readers: list[Reader] = []
        self._list: ListReader | None = None
        self._ended: set[str] = set()

    async def frames(self) -> AsyncGenerator[bytes, None]:
        ending = asyncio.ensure_future(self._closing.wait())
        ending.add_done_callback(lambda _: self._news.set())
        try:
            self._readers = [
                self._live.join(debate, after, self._news, self._viewer) for debate, after in self._debates
            ]
            self._list = self._live.join_list(self._news, self._viewer) if self._with_list else None
            yield f"retry: {RECONNECT_MS}\n\n".encode()
            while not self._closing.is_set():
                self._news.clear()
                chunk = await self._take()
                if chunk:
                    yield chunk
                if self._over():
                    return
                await self._news.wait()
        finally:
            ending.cancel()
            for reader in self._readers:
                await self._live.leave(reader)
            if self._list is not None:
                await self._live.leave_list(self._list)

    def _over(self) -> bool:
        broken = any(reader.channel.broken for reader in self._readers)
        return broken or (not self._lasting and len(self._ended) == len(self._readers))

    async def _take(self) -> bytes:
        parts: list[bytes] = []
        for reader in self._readers:
            if reader.channel.id in self._ended:
                continue
            parts += [await self._encoded(reader, item) for item in await reader.take()]
            if reader.finished(at_rest=self._until_rest):
                self._ended.add(reader.channel.id)
                parts.append(self._encoder.end(reader.channel, self._place(reader), gone=reader.gone))
        if self._list is not None:
            kind, encode = self._encoder.kind, self._encoder.debate
            parts += [self._list.encoded(debate, kind, encode) for debate in self._list.take()]
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


Revoked = Callable[[], Coroutine[Any, Any, None]]


class Events(EventSourceResponse):
    """The response around a stream. It ends when the client disconnects, takes nothing for `HOPELESS_SECONDS`, or when
    its token is revoked; a comment is sent when nothing else was for `heartbeat_seconds`.

    Both are watched beside the stream, which may wait for the store, or for a client that does not read.
    """

    def __init__(
        self,
        stream: Frames,
        *,
        heartbeat_seconds: float,
        revoked: Revoked,
        beat: bytes = b": beat\n\n",
        farewell: Callable[[], bytes] = bytes,
    ) -> None:
        """`revoked` returns when the caller's token is no longer valid; `farewell` gives what is sent then, last."""
        self._stream, self._revoked, self._heartbeat_seconds = stream, revoked, heartbeat_seconds
        self._beat, self._farewell = beat, farewell
        self._sent_at = asyncio.get_running_loop().time()
        self._sending_since: float | None = None
        super().__init__(iter(()), headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self.stream_response(send), name="stream")
        gone = asyncio.create_task(self.listen_for_disconnect(receive), name="stream-gone")
        revoked = asyncio.create_task(self._revoked(), name="stream-token")
        tasks, done = [sending, gone, revoked], set[asyncio.Task[None]]()
        try:
            while not done and not self._hopeless():
                done, _ = await asyncio.wait(
                    {sending, gone, revoked}, timeout=self._pause(), return_when=asyncio.FIRST_COMPLETED
                )
                if not done and self._silent():  # a task, since a client that does not read makes it wait
                    tasks[3:] = [asyncio.create_task(self._send(send, self._beat), name="stream-beat")]
        finally:
            for task in tasks:
                task.cancel()
            ended, *_ = await asyncio.gather(*tasks, return_exceptions=True)
        if revoked in done and sending not in done and self._sending_since is None:
            await self._send(send, self._farewell(), more=False)
        if isinstance(ended, Exception) and not isinstance(ended, OSError):
            raise ended

    async def stream_response(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._stream.frames()) as frames:
            async for frame in frames:
                await self._send(send, frame)
        await self._send(send, b"", more=False)

    async def _send(self, send: Send, frame: bytes, *, more: bool = True) -> None:
        self._sending_since = asyncio.get_running_loop().time()
        await send({"type": "http.response.body", "body": frame, "more_body": more})
        self._sending_since, self._sent_at = None, asyncio.get_running_loop().time()

    def _pause(self) -> float:
        """Seconds until there may be something to do. Polled, since a timer for each frame would cost as much as the
        frame."""
        pause = min(HOPELESS_SECONDS / 2, self._heartbeat_seconds)
        if self._sending_since is not None:
            return pause
        return max(0.0, min(pause, self._sent_at + self._heartbeat_seconds - asyncio.get_running_loop().time()))

    def _silent(self) -> bool:
        now = asyncio.get_running_loop().time()
        return self._sending_since is None and now - self._sent_at >= self._heartbeat_seconds

    def _hopeless(self) -> bool:
        since = self._sending_since
        return since is not None and asyncio.get_running_loop().time() - since >= HOPELESS_SECONDS
