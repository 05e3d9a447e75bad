"""Deliveries to a real server on this machine."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from moot.core.errors import InputError, MootError
from moot.records.webhook import TRIES, deliver, from_environ

SECRET = "0123456789abcdef0123456789abcdef"
DOCUMENT = {"type": "moot.record", "title": "Redis – or PostgreSQL? \U0001f600", "rounds": 2}


class Receiver:
    """Answers with each of `answers` in order (a status, or a status and headers), and repeats the last; `silent`, only
    when it is closed."""

    def __init__(self, *answers: int | tuple[int, dict[str, str]] | None, silent: bool = False) -> None:
        self.answers, self.requests = list(answers), []
        self._answer = threading.Event()
        if not silent:
            self._answer.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.requests.append((self.path, dict(self.headers.items()), body))
                answer = outer.answers[min(len(outer.requests), len(outer.answers)) - 1]
                outer._answer.wait()
                if answer is None:  # hang up
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in {"content-length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/hooks/t0ps3cret"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._answer.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def send(url: str, secret: str = SECRET, **options: float) -> str:
    hook = from_environ({"MOOT_WEBHOOK_URL": url, "MOOT_WEBHOOK_SECRET": secret})
    assert hook is not None
    return asyncio.run(deliver(hook, DOCUMENT, **{"first_wait": 0.001, **options}))


def verify(headers: dict[str, str], body: bytes, key: bytes) -> bool:
    """Verify a signature as an independent receiver would."""
    signed = headers["webhook-id"].encode() + b"." + headers["webhook-timestamp"].encode() + b"." + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return any(
        version == "v1" and hmac.compare_digest(given, expected)
        for version, _, given in (each.partition(",") for each in headers["webhook-signature"].split(" "))
    )


@pytest.mark.parametrize(
    ("secret", "key"),
    [(SECRET, SECRET.encode()), ("whsec_" + base64.b64encode(b"k" * 24).decode(), b"k" * 24)],
)
def test_the_signature_is_that_of_standard_webhooks(secret, key):
    with Receiver(204) as receiver:
        delivery = send(receiver.url, secret)
    [(path, headers, body)] = receiver.requests
    assert path == "/hooks/t0ps3cret"
    assert json.loads(body) == DOCUMENT
    assert headers["webhook-id"] == delivery
    assert headers["content-type"] == "application/json"
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 60
    assert verify(headers, body, key)
    assert not verify(headers, body + b" ", key)
    assert not verify(headers | {"webhook-timestamp": "1"}, body, key)
    assert not verify(headers, body, b"another")


def test_it_is_tried_again_with_the_same_id():
    with Receiver(503, None, 429, 200) as receiver:
        delivery = send(receiver.url)
    assert [headers["webhook-id"] for _, headers, _ in receiver.requests] == [delivery] * 4
    assert all(verify(headers, body, SECRET.encode()) for _, headers, body in receiver.requests)


def test_it_gives_up():
    with (
        Receiver(500) as receiver,
        pytest.raises(MootError, match=r"127\.0\.0\.1: it answered with status 500") as error,
    ):
        send(receiver.url)
    assert len(receiver.requests) == TRIES
    assert "t0ps3cret" not in str(error.value)


def test_a_refusal_is_not_tried_again():
    with Receiver(404, 200) as receiver, pytest.raises(MootError, match="status 404"):
        send(receiver.url)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [302, 308])
def test_redirects_are_not_followed(status):
    with (
        Receiver(200) as other,
        Receiver((status, {"location": other.url})) as receiver,
        pytest.raises(MootError, match=r"redirect.*MOOT_WEBHOOK_URL"),
    ):
        send(receiver.url)
    assert (len(receiver.requests), len(other.requests)) == (1, 0)


def test_one_that_never_answers():
    with Receiver(200, silent=True) as receiver, pytest.raises(MootError, match="did not answer in time"):
        send(receiver.url, timeout=0.05)


def test_one_that_is_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(MootError, match="can't be reached"):
            send(f"http://127.0.0.1:{taken.getsockname()[1]}/")


def test_it_waits_as_long_as_it_is_asked_to(monkeypatch):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("moot.records.webhook.asyncio.sleep", sleep)
    with Receiver(
        (503, {"retry-after": "7"}), (503, {"retry-after": "9999"}), (503, {"retry-after": "soon"}), 200
    ) as r:
        send(r.url, first_wait=0.5)
    assert waits == [7.0, 30.0, 2.0]


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with Receiver(200) as receiver:
        send(receiver.url)
    assert len(receiver.requests) == 1


def test_nothing_is_from_environ():
    assert from_environ({}) is None
    assert from_environ({"MOOT_WEBHOOK_URL": " ", "MOOT_WEBHOOK_SECRET": SECRET}) is None


@pytest.mark.parametrize("url", ["HTTPS://example.com", "http://localhost:8080", "http://[::1]:80/x"])
def test_addresses_that_are_safe(url):
    hook = from_environ({"MOOT_WEBHOOK_URL": url, "MOOT_WEBHOOK_SECRET": SECRET})
    assert hook is not None
    assert SECRET not in repr(hook)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x",
        "http://localhost.example.com/",
        "http://10.0.0.1/",
        "http://127.0.0.1.nip.io/",
        "ftp://example.com",
        "https://",
        "https://[::1",
        "https://example.com:99999/",
        "https://me:secret@example.com/",
    ],
)
def test_addresses_that_are_not(url):
    with pytest.raises(InputError, match="MOOT_WEBHOOK_URL") as error:
        from_environ({"MOOT_WEBHOOK_URL": url, "MOOT_WEBHOOK_SECRET": SECRET})
    assert "secret@" not in str(error.value)


@pytest.mark.parametrize("secret", ["", "short", "whsec_not base64!", "whsec_c2hvcnQ="])
def test_secrets_that_are_none(secret):
    with pytest.raises(InputError, match="MOOT_WEBHOOK_SECRET") as error:
        from_environ({"MOOT_WEBHOOK_URL": "https://example.com", "MOOT_WEBHOOK_SECRET": secret})
    assert not secret or secret not in str(error.value)
