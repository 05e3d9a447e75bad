"""A loopback wire to the database that can be cut in the middle of a write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit


class Wire:
    """`lose_answer`: the next statement reaches the server and is executed; its answer is lost, with the connection.
    `lose_question`: the next statement never reaches the server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        self._socket = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}" if "host" in query else None
        self._tcp = (parts.hostname, parts.port)
        self._user, self._database = parts.username, parts.path
        self._password = f":{parts.password}" if parts.password else ""
        self._writers: set[asyncio.StreamWriter] = set()
        self.lose_answer = self.lose_question = False
        self.port = 0

    @property
    def url(self) -> str:
        return f"postgresql://{self._user}{self._password}@127.0.0.1:{self.port}{self._database}?sslmode=disable"

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._socket:
            far_reader, far_writer = await asyncio.open_unix_connection(self._socket)
        else:
            far_reader, far_writer = await asyncio.open_connection(*self._tcp)
        self._writers |= {writer, far_writer}
        cut = asyncio.Event()

        async def there() -> None:
            while data := await reader.read(1 << 20):
                if self.lose_question and b"E" in data:
                    self.lose_question = False
                    return
                if self.lose_answer:
                    self.lose_answer = False
                    cut.set()
                far_writer.write(data)

        async def back() -> None:
            while data := await far_reader.read(1 << 20):
                if cut.is_set():
                    return
                writer.write(data)

        tasks = {asyncio.create_task(there()), asyncio.create_task(back())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for each in (writer, far_writer):
                each.transport.abort()
                self._writers.discard(each)
                with suppress(ConnectionError):
                    await each.wait_closed()


@asynccontextmanager
async def wire_to(url: str) -> AsyncIterator[Wire]:
    wire = Wire(url)
    server = await asyncio.start_server(wire.carry, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        for writer in list(wire._writers):
            writer.transport.abort()
        await server.wait_closed()
