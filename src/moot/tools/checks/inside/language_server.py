"""Asks a language server what is wrong with a file: a client of the Language Server Protocol. Runs inside the sandbox.

Input: JSON. Result: one line of JSON with `diagnostics` and `server`, or with `problem`: why there are none.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from typing import IO, Any, cast

RESULTS = 3
FOLDER = "/tmp/work"
ERRORS = "/tmp/errors"
MAX_HEADER = 4_096
MAX_MESSAGE = 4_000_000
MOST_DIAGNOSTICS = 500
MAX_WORDS = 300
CHUNK = 1 << 16
SETTLE_SECONDS = 1.0  # of silence, after which what a server has published is all
END_SECONDS = 2.0  # for a server to end when it was asked to

Message = dict[str, Any]


class Problem(Exception):
    """Why nothing is known of the code."""


class Server:
    def __init__(self, command: list[str], seconds: float, errors: IO[bytes]) -> None:
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self._buffer = bytearray()
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        except OSError as error:
            raise Problem(f"it can't be started: {error.strerror}") from None

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Problem(self._ended()) from None

    def receive(self, quiet: float | None = None) -> Message | None:
        """The next message; None after `quiet` seconds without one. Requests of the server are answered here."""
        while True:
            message = self._next(quiet)
            if message is None or "method" not in message or "id" not in message:
                return message
            asks = message["method"] == "workspace/configuration"
            items = a_list(an_object(message.get("params")).get("items")) if asks else None
            self.send(id=message["id"], result=None if items is None else [None for _ in items])

    def answer(self, id: int) -> Any:
        """The result of a request. What is published meanwhile is not wanted yet."""
        while True:
            message = self.receive()
            assert message is not None
            if message.get("id") == id:
                if "error" in message:
                    raise Problem(f"it refused: {words(an_object(message['error']).get('message', ''))}")
                return message.get("result")

    def close(self) -> None:
        """Ask it to end, as the protocol has it; what remains of it ends with the sandbox."""
        self._until = time.monotonic() + END_SECONDS
        try:
            self.send(id=99, method="shutdown")
            self.answer(99)
            self.send(method="exit")
            self._process.wait(END_SECONDS)
        except (Problem, subprocess.TimeoutExpired):
            self._process.kill()

    def _next(self, quiet: float | None) -> Message | None:
        size = None
        while size is None:
            line = self._line(quiet)
            if line is None:
                return None
            size = self._size(line)
        while len(self._buffer) < size:
            self._fill(None)
        body = bytes(self._buffer[:size])
        del self._buffer[:size]
        try:
            message = json.loads(body)
        except ValueError:
            raise Problem("it does not speak the protocol: a message is no JSON") from None
        return an_object(message)

    def _size(self, header: bytes) -> int:
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit() and len(value) < 20:
                size = int(value)
                if size > MAX_MESSAGE:
                    raise Problem(f"it sent a message of {size:,} bytes; {MAX_MESSAGE:,} is the most")
                return size
        raise Problem("it does not speak the protocol: a message has no length")

    def _line(self, quiet: float | None) -> bytes | None:
        """The header of the next message."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > MAX_HEADER:
                raise Problem("it does not speak the protocol: what it sent begins with no header")
            if not self._fill(quiet if not self._buffer else None):
                return None
        header = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return header

    def _fill(self, quiet: float | None) -> bool:
        """Read more; False when nothing came for `quiet` seconds."""
        assert self._process.stdout is not None
        left = self._until - time.monotonic()
        wait = left if quiet is None else min(left, quiet)
        if not select.select([self._process.stdout], [], [], max(0.0, wait))[0]:
            if quiet is not None and left > quiet:
                return False
            raise Problem(f"it took longer than {self._seconds:g} s")
        part = os.read(self._process.stdout.fileno(), CHUNK)
        if not part:
            raise Problem(self._ended())
        self._buffer += part
        return True

    def _ended(self) -> str:
        code = self._process.wait()
        with open(ERRORS, "rb") as errors:
            said = words(errors.read()[-4 * MAX_WORDS :].decode(errors="replace"))
        return f"it ended with {code}: {said}" if said else f"it ended with {code}"


def words(said: Any) -> str:
    return " ".join(str(said).split())[-MAX_WORDS:]


def an_object(value: Any) -> Message:
    if not isinstance(value, dict):
        raise Problem("it does not speak the protocol: something is no object")
    return cast(Message, value)


def a_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Problem("it does not speak the protocol: something is no list")
    return cast("list[Any]", value)


def diagnosed(server: Server, given: dict[str, Any]) -> dict[str, Any]:
    root, uri = f"file://{FOLDER}", f"file://{FOLDER}/{given['source']}"
    can = {"publishDiagnostics": {"versionSupport": True}, "diagnostic": {"dynamicRegistration": False}}
    server.send(
        id=1,
        method="initialize",
        params={
            "processId": None,
            "rootUri": root,
            "capabilities": {"textDocument": can, "workspace": {"configuration": True, "workspaceFolders": True}},
            "workspaceFolders": [{"uri": root, "name": "work"}],
        },
    )
    begun = an_object(server.answer(1))
    able = an_object(begun.get("capabilities"))
    document = {"uri": uri, "languageId": given["language"], "version": 1, "text": given["code"]}
    server.send(method="initialized", params={})
    server.send(method="textDocument/didOpen", params={"textDocument": document})
    info = an_object(begun.get("serverInfo") or {})
    if able.get("diagnosticProvider"):
        server.send(id=2, method="textDocument/diagnostic", params={"textDocument": {"uri": uri}})
        found = a_list(an_object(server.answer(2)).get("items"))
    else:
        found = published(server, uri)
    about = f"{info.get('name', '')} {info.get('version', '')}".strip()
    return {"diagnostics": found[:MOST_DIAGNOSTICS], "server": about}


def published(server: Server, uri: str) -> list[Any]:
    """The diagnostics that a server publishes last. Some publish what they see at once, and the rest a little later."""
    found: list[Any] | None = None
    while True:
        message = server.receive(None if found is None else SETTLE_SECONDS)
        if message is None:
            return found or []
        if message.get("method") != "textDocument/publishDiagnostics":
            continue
        params = an_object(message.get("params"))
        if params.get("uri") == uri and params.get("version") in (None, 1):
            found = a_list(params.get("diagnostics"))


def main() -> None:
    with open(0, "rb", closefd=False) as request:
        given: dict[str, Any] = json.load(request)
    os.makedirs(FOLDER)
    os.chdir(FOLDER)
    with open(given["source"], "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(given["code"])
    with open(ERRORS, "wb") as errors:
        try:
            server = Server(given["command"], given["seconds"], errors)
            found = diagnosed(server, given)
            server.close()
        except Problem as problem:
            found = {"problem": str(problem)}
    with open(RESULTS, "wb", closefd=False) as results:
        results.write(json.dumps(found).encode() + b"\n")


if __name__ == "__main__":
    main()
