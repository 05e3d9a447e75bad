"""A worker's metrics over HTTP."""

from __future__ import annotations

import asyncio
import socket

import pytest

from moot.core.errors import InputError, StoreError
from moot.telemetry.endpoint import serve_metrics


def asked(*requests: bytes, render=None) -> list[bytes]:
    async def say() -> str:
        return "moot_up 1\n"

    async def main() -> list[bytes]:
        answers = []
        async with serve_metrics(render or say, "127.0.0.1", 0) as url:
            port = int(url.rsplit(":", 1)[1].partition("/")[0])
            for request in requests:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(request)
                if not request.endswith(b"\r\n\r\n"):
                    writer.write_eof()
                answers.append(await reader.read())
                writer.close()
        return answers

    return asyncio.run(main())


def test_metrics_and_a_sign_of_life():
    metrics, alive, head = asked(
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /healthz HTTP/1.1\r\n\r\n", b"HEAD /metrics HTTP/1.1\r\n\r\n"
    )
    assert metrics.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4")
    assert metrics.endswith(b"Content-Length: 10\r\nConnection: close\r\n\r\nmoot_up 1\n")
    assert alive.endswith(b"ok\n")
    assert head.endswith(b"Content-Length: 10\r\nConnection: close\r\n\r\n")


def test_anything_else_is_refused_and_harms_nothing():
    post, lost, nonsense, cut, huge, after = asked(
        b"POST /metrics HTTP/1.1\r\n\r\n",
        b"GET /etc/passwd HTTP/1.1\r\n\r\n",
        b"\x00\xff\r\n\r\n",
        b"GET /metr",
        b"GET /" + b"x" * 20_000,
        b"GET /healthz HTTP/1.1\r\n\r\n",
    )
    assert post.startswith(b"HTTP/1.1 405 ")
    assert lost.startswith(b"HTTP/1.1 404 ")
    assert nonsense.startswith(b"HTTP/1.1 405 ")
    assert (cut, huge) == (b"", b"")
    assert after.endswith(b"ok\n")


def test_a_failure_to_measure_is_said():
    async def fail() -> str:
        raise StoreError("The server is gone.")

    (answer,) = asked(b"GET /metrics HTTP/1.1\r\n\r\n", render=fail)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert answer.endswith(b"The server is gone.\n")


def test_an_address_that_can_not_be_had_is_bad_input():
    async def main(host: str, port: int) -> None:
        async with serve_metrics(lambda: asyncio.sleep(0, ""), host, port):
            pass

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="is taken"):
            asyncio.run(main("127.0.0.1", taken.getsockname()[1]))
    with pytest.raises(InputError, match="can't be shown on 203.0.113.7"):
        asyncio.run(main("203.0.113.7", 0))
