"""Makes calls to JavaScript code in Node, each in a context of its own. Runs inside the sandbox.

One Node makes all calls to a version that follow each other: starting it takes longer than most of them. A call to
another version, or after one that took too long or took Node down, gets a new Node: code can leave its context. The
messages are those of `python_cases.py`, and so are input and results.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from typing import Any

RESULTS = 3
LENGTH = struct.Struct(">I")
REPORT = struct.Struct(">IIIi?")
LOOK_SECONDS = 0.05
PROGRAM = "/moot/cases.js"
UNREADABLE = b"I"  # the call, not the code


class Node:
    """A process that answers one frame with another. It has written a byte before the first."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        theirs, self.ask = os.pipe()
        self.hear, tell = os.pipe()
        numbers = map(str, (theirs, tell, settings["value_bytes"], settings["depth"]))
        command = [*settings["node"], PROGRAM, *numbers]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=(theirs, tell))
        os.close(theirs)
        os.close(tell)
        self.processor = ((~self.process.pid) << 3) | 2  # the clock of its CPU time
        self.poll = select.poll()
        self.poll.register(self.hear, select.POLLIN)
        self.listen(1, time.monotonic() + settings["start_seconds"], float("inf"))

    def send(self, content: bytes) -> None:
        frame = LENGTH.pack(len(content)) + content
        try:
            while frame:
                frame = frame[os.write(self.ask, frame) :]
        except BrokenPipeError:
            pass

    def cpu(self) -> float:
        try:
            return time.clock_gettime(self.processor)
        except OSError:
            return 0.0

    def listen(self, size: int, deadline: float, cpu_until: float) -> tuple[bytes, bool]:
        """So many bytes, or what there is; and whether the time was over."""
        heard = bytearray()
        while len(heard) < size:
            if time.monotonic() > deadline or self.cpu() > cpu_until:
                return bytes(heard), True
            if self.poll.poll(LOOK_SECONDS * 1000):
                part = os.read(self.hear, min(size - len(heard), 1 << 16))
                if not part:
                    break
                heard += part
        return bytes(heard), False

    def make(self, code: str, call: list[str]) -> tuple[bytes, bool]:
        deadline = time.monotonic() + self.settings["wall_seconds"]
        cpu_until = self.cpu() + self.settings["cpu_seconds"]
        self.send(code.encode())
        self.send(b"\0".join(step.encode() for step in call))
        head, late = self.listen(LENGTH.size, deadline, cpu_until)
        if len(head) < LENGTH.size:
            return b"", late
        (size,) = LENGTH.unpack(head)
        if size > self.settings["value_bytes"] + 1:
            return b"", False
        message, late = self.listen(size, deadline, cpu_until)
        return (message, False) if len(message) == size else (b"", late)

    def end(self) -> int:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.ask)
        os.close(self.hear)
        return self.process.wait()


def frames() -> Iterator[Any]:
    while head := os.read(0, LENGTH.size):
        (size,) = LENGTH.unpack(head)
        content = b""
        while len(content) < size:
            content += os.read(0, size - len(content))
        yield marshal.loads(content)


def main() -> None:
    given = frames()
    settings: dict[str, Any] = next(given)
    node: Node | None = None
    current: int | None = None
    for version, call in given:
        if node is not None and version != current:
            node.end()
            node = None
        node, current = node or Node(settings), version
        begun, cpu = time.monotonic(), node.cpu()
        message, late = node.make(settings["versions"][version], call)
        taken, used, ended = time.monotonic() - begun, node.cpu() - cpu, 0
        if message[:1] == UNREADABLE:
            node.end()
            node = Node(settings)  # in which no code has run that could say so
            message = message if node.make("", call)[0][:1] == UNREADABLE else b""
        if not message:
            ended = node.end()
            node = None
        report = REPORT.pack(round(taken * 1000), max(0, round(used * 1_000_000)), 0, ended, late) + message
        os.write(RESULTS, LENGTH.pack(len(report)) + report)


if __name__ == "__main__":
    main()
