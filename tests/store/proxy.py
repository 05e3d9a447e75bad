"""A TCP proxy in front of the database that can drop a connection in the middle of a write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit


class Proxy:
    """`drop_reply`: the next statement is executed, but its reply and the connection are lost. `drop_request`: the
    connection is lost before the next statement reaches the server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        self._socket = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}" if "host" in query else None
        self._tcp = (parts.hostname, parts.port)
        self._user, self._database = parts.username, parts.path
        self._password = f":{parts.password}" if parts.password else ""
        self._writers: set[asyncio.StreamWriter] = set()
        self.drop_reply = self.drop_request = False
        self.port = 0

    @property
    def url(self) -> str:
        return f"postgresql://{self._user}{self._password}@127.0.0.1:{self.port}{self._database}?sslmode=disable"

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._socket:
            server_reader, server_writer = await asyncio.open_unix_connection(self._socket)
        else:
            server_reader, server_writer = await asyncio.open_connection(*self._tcp)
        self._writers |= {writer, server_writer}
        dropped = asyncio.Event()

        async def upstream() -> None:
            while data := await reader.read(1 << 20):
                if self.drop_request and b"E" in data:
                    self.drop_request = False
                    return
                if self.drop_reply:
                    self.drop_reply = False
                    dropped.set()
                server_writer.write(data)

        async def downstream() -> None:
            while data := await server_reader.read(1 << 20):
                if dropped.is_set():
                    return
                writer.write(data)

        tasks = {asyncio.create_task(upstream()), asyncio.create_task(downstream())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for each in (writer, server_writer):
                each.transport.abort()
                self._writers.discard(each)
                with suppress(ConnectionError):
                    await each.wait_closed()


@asynccontextmanager
async def proxy_to(url: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(url)
    server = await asyncio.start_server(proxy.forward, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for writer in list(proxy._writers):
            writer.transport.abort()
        await server.wait_closed()
