"""A model on the loopback that says half of an answer and waits to be told to go on: a test that looks at text in
flight has all the time it needs."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FIRST, SECOND = "This is the first half of what is said, ", "and this is the second."


class Talk:
    """Speaks OpenAI's chat completions. Answers are given one after the other."""

    def __init__(self, first: str = FIRST) -> None:
        self.first = first
        self._released = threading.Semaphore(0)

    def __enter__(self) -> Talk:
        talk = self

        class Handler(_Handler):
            owner = talk

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.release(1000)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def model(self) -> str:
        return f"openai:any@http://127.0.0.1:{self._server.server_address[1]}/v1"

    def go_on(self, times: int = 1) -> None:
        """The answer that waits is said to its end; and so many in all, without waiting."""
        self._released.release(times)

    def wait(self) -> None:
        self._released.acquire()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Talk

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._start("application/json")
        self._write(json.dumps({"data": []}))
        self.wfile.write(b"0\r\n\r\n")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}

        def say(choices: list[Any], **more: Any) -> None:
            self._write(f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n")

        self._start("text/event-stream")
        try:
            for word in self.owner.first.split(" ")[:-1]:
                say([{"index": 0, "delta": {"content": f"{word} "}}])
            self.owner.wait()
            say([{"index": 0, "delta": {"content": SECOND}}])
            say([{"index": 0, "delta": {}, "finish_reason": "stop"}])
            say([], usage={"prompt_tokens": 10, "completion_tokens": 12, "total_tokens": 22})
            self._write("data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _start(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _write(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
