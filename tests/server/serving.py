"""The real server on a real socket, in a thread, with a database of its own."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from moot.app import App
from moot.core.settings import Settings
from moot.mcp.endpoint import PATH, McpEndpoint
from moot.server.app import create_app
from moot.server.serving import Server, address_of, listen
from tests.running import answers_file

DEADLINE = 120.0
REST = ("completed", "canceled", "stopped", "failed", "waiting")


@dataclass
class Served:
    folder: Path
    url: str
    app: App
    server: Server
    loop: asyncio.AbstractEventLoop
    model: str  # answers everything
    client: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx2.Client(base_url=self.url, timeout=DEADLINE, verify=False)

    def get(self, path: str, **more: Any) -> httpx2.Response:
        return self.client.get(path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx2.Response:
        return self.client.post(path, json=body, **more) if body is not None else self.client.post(path, **more)

    def ask(self, **request: Any) -> httpx2.Response:
        """Create a debate; the model is the scripted one unless the settings say otherwise."""
        more = {name: request.pop(name) for name in ("headers",) if name in request}
        models = {"model_debater": self.model, "model_judge": self.model}
        body = {"format": "classic", **request}
        body.setdefault("topic", "Sum two numbers." if body["format"] == "forge" else "Redis or PostgreSQL?")
        body["settings"] = {**models, **body.get("settings", {})}
        return self.post("/v1/debates", body, **more)

    def made(self, **request: Any) -> dict[str, Any]:
        response = self.ask(**request)
        assert response.status_code == 201, response.text
        return response.json()

    def debate(self, debate_id: str) -> dict[str, Any]:
        return self.get(f"/v1/debates/{debate_id}").raise_for_status().json()

    def rested(self, debate_id: str, *statuses: str) -> dict[str, Any]:
        return self.until(debate_id, *(statuses or REST))

    def until(self, debate_id: str, *statuses: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def there() -> bool:
            found.update(self.debate(debate_id))
            return found["status"] in statuses

        wait_for(there, f"{debate_id} to be {statuses}")
        return found

    def completed(self, **request: Any) -> dict[str, Any]:
        done = self.rested(self.made(**request)["id"])
        assert done["status"] == "completed", done
        return done

    def in_loop(self, coroutine: Any) -> Any:
        """Run something in the server's own event loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(DEADLINE)


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what}")


@contextmanager
def served(
    folder: Path,
    *,
    environ: dict[str, str] | None = None,
    host: str = "127.0.0.1",
    answers: dict[str, Any] | None = None,
    delay_ms: float = 0,
    behind_proxy: bool = False,
    **settings: Any,
) -> Iterator[Served]:
    """`host` is what the server believes it is bound to; it listens on loopback in any case."""
    values = {
        "database_url": str(folder / "moot.db"),
        "serve_rate": 100_000,
        "embedder": "none",
        **settings,
    }
    model = answers_file(folder, answers, delay_ms=delay_ms)
    bound = listen("127.0.0.1", 0)
    url = address_of(bound, "127.0.0.1")
    ready: list[Served] = []
    failed: list[BaseException] = []

    async def serve() -> None:
        app = App(Settings(**values), environ or {})
        server = Server(create_app(app, host=host, mounts={PATH: McpEndpoint}), behind_proxy=behind_proxy)
        ready.append(Served(folder, url, app, server, asyncio.get_running_loop(), model))
        try:
            await server.run_on(bound)
        finally:
            await app.close()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="moot-serve")
    thread.start()
    try:
        wait_for(lambda: failed or (ready and ready[0].server.started), "the server to start")
        if failed:
            raise failed[0]
        yield ready[0]
    finally:
        if ready:
            ready[0].client.close()
            ready[0].server.should_exit = True
        thread.join(DEADLINE)
        bound.close()
    assert not failed, failed


@dataclass
class Told:
    """One server-sent event."""

    event: str
    data: Any
    id: str | None

    @property
    def seq(self) -> int:
        return int(self.id or 0)


def told(lines: Iterator[str]) -> Iterator[Told]:
    """Parse a stream as a browser would; comments come as events named `:`."""
    name, data, last_id = "", [], None
    for line in lines:
        if not line:
            if data:
                yield Told(name or "message", json.loads("\n".join(data)), last_id)
            name, data, last_id = "", [], None
        elif line.startswith(":"):
            yield Told(":", line[1:].strip(), None)
        else:
            field_name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field_name == "event":
                name = value
            elif field_name == "data":
                data.append(value)
            elif field_name == "id":
                last_id = value


STREAM = {"Accept": "text/event-stream"}


@contextmanager
def connected(server: Served, sent: bytes = b"", *, deaf: bool = False) -> Iterator[socket.socket]:
    """A connection by which `sent` was sent. One that is `deaf` has hardly room for what it does not read."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.socket() as client:
        if deaf:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(DEADLINE)
        client.connect((host, int(port)))
        client.sendall(sent)
        yield client


@contextmanager
def watching(server: Served, path: str, headers: dict[str, str] | None = None) -> Iterator[Iterator[Told]]:
    with server.client.stream("GET", path, headers={**STREAM, **(headers or {})}) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield told(response.iter_lines())
