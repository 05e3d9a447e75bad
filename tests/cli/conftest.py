"""The real executable, in real processes and terminals, with a database of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.forking import PATCH, Piped, Started, run_moot, start_in_terminal

MOOT = str(Path(sys.executable).parent / "moot")
DEADLINE = 120.0
RULING = {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False}
ANSWERS = {"*/speak/*": "{seat} speaks at {key}.", "*/verdict/judge": RULING, "*/rule/judge": RULING}
# To "Redis or PostgreSQL?", in a classic with these answers.
ANSWER = "Redis. Debater A, who argued for it, won 7 to 5 (not checked in the other order)."
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Poll until the condition holds; fail after a deadline."""
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {DEADLINE} s")


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Terminal:
    """A command of moot, or another program, in a terminal of its own."""

    def __init__(
        self, args: list[str], env: dict[str, str], cwd: Path, *, columns: int, rows: int, program: str | None
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process: Started | subprocess.Popen[bytes]
        with open(theirs, "wb", buffering=0) as screen:
            if program is None:
                self.process = start_in_terminal(args, env, cwd, screen)
            else:
                self.process = subprocess.Popen(
                    [program, *args],
                    stdin=screen,
                    stdout=screen,
                    stderr=screen,
                    env=env,
                    cwd=cwd,
                    start_new_session=True,
                    preexec_fn=self._take_over,
                )
        self.raw = ""

    @staticmethod
    def _take_over() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts what runs in the background without it

    @property
    def text(self) -> str:
        return ESCAPES.sub("", self.raw)

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def until(self, text: str) -> None:
        wait_for(lambda: self._read() and text in self.text, f"{text!r} on the screen, which has {self.text!r},")

    def end(self) -> int:
        wait_for(lambda: self._read() and self.process.poll() is not None, "the end of the process")
        self._read()
        return self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)

    def _read(self) -> bool:
        while select.select([self._ours], [], [], 0)[0]:
            try:
                read = os.read(self._ours, 65536)
            except OSError:  # the other side is closed
                break
            if not read:
                break
            self.raw += read.decode("utf-8", "replace")
        return True


class Moot:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "moot.db"
        self.log = folder / "calls.log"
        kept = ("PATH", "PYTHONPATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
        self.env = {name: os.environ[name] for name in kept if name in os.environ}
        (folder / ".git").mkdir(exist_ok=True)  # so that no moot.yaml above is found
        self.env |= {
            "MOOT_CONFIG": os.devnull,
            "MOOT_DATABASE_URL": str(self.db),
            "MOOT_DATA_DIR": str(folder / "data"),
            "MOOT_BACKOFF_TRIES": "0",
            "MOOT_EMBEDDER": "none",  # loading one takes a second
            "OLLAMA_HOST": "127.0.0.1:1",
            "PYTHONUTF8": "1",
            "TERM": "xterm-256color",
        }
        self._started: list[Piped] = []
        self._terminals: list[Terminal] = []

    def __call__(self, *args: str, input: str | bytes | None = None, **env: str) -> Result:
        given = input.encode() if isinstance(input, str) else input
        forked = run_moot(args, self.env | env, self.folder, DEADLINE, given)
        return Result(code=forked.code, out=forked.out.decode("utf-8", "replace"), err=forked.err.decode())

    def patched(self, patch: str, *args: str, **env: str) -> Result:
        """Run moot after statements that change it."""
        return self(*args, **{PATCH: patch}, **env)

    def next_version(self, *args: str) -> Result:
        """Run a later moot, which has one migration more."""
        newer = "from moot.store.sqlite import schema; known = schema.migrations()"
        return self.patched(f"{newer}; schema.migrations = lambda: [*known, 'create table brand_new (x);']", *args)

    def start(self, *args: str, unread: bool = False) -> Piped:
        """Start a command; if its output is `unread`, it writes into a pipe that nobody reads."""
        self._started.append(Piped(args, self.env, self.folder, unread=unread))
        return self._started[-1]

    def terminal(
        self, *args: str, columns: int = 100, rows: int = 30, program: str | None = None, **env: str
    ) -> Terminal:
        terminal = Terminal(list(args), self.env | env, self.folder, columns=columns, rows=rows, program=program)
        self._terminals.append(terminal)
        return terminal

    def script(self, answers: dict[str, Any] | None = None, **more: Any) -> str:
        """The spec of a scripted model."""
        content = {"answers": ANSWERS | (answers or {}), "default": "Nothing to add.", "log": self.log.name, **more}
        (self.folder / "answers.yaml").write_text(yaml.safe_dump(content))
        return "scripted:answers.yaml"

    def held(self, answers: dict[str, Any] | None = None) -> str:
        """The spec of a scripted model whose answers wait for `release`."""
        return self.script(answers, hold="released")

    def release(self, file: str = "released") -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def called(self, key: str) -> None:
        """Wait until the model is asked for a step."""
        wait_for(lambda: self.log.exists() and f"{key}\t" in self.log.read_text(), f"a call for {key}")

    def until(self, status: str) -> None:
        """Wait until the newest debate has this status."""
        wait_for(lambda: self.status() == status, f"the status {status}")

    def sql(self, query: str, *values: Any) -> list[Any]:
        if not self.db.exists():
            return []
        with closing(sqlite3.connect(self.db, timeout=30)) as connection, connection:
            return connection.execute(query, values).fetchall()

    @property
    def ids(self) -> list[str]:
        return [row[0] for row in self.sql("select id from debate_sessions order by created_at")]

    def status(self, debate_id: str | None = None) -> str:
        return self.sql("select status from debate_sessions where id = ?", debate_id or self.ids[-1])[0][0]

    def turns(self, debate_id: str | None = None) -> list[str]:
        rows = self.sql("select key from debate_turns where session_id = ? order by seq", debate_id or self.ids[-1])
        return [row[0] for row in rows]

    def interrupted(self, key: str = "1/speak/a") -> str:
        """A debate whose process was killed while it was asking for `key`; its model is no longer held."""
        self.log.unlink(missing_ok=True)
        process = self.start("debate", "Is it dead?", "--rounds", "1", "--model", self.held())
        self.called(key)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.script()
        return self.ids[-1]

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()
            process.close()
        for terminal in self._terminals:
            terminal.close()


@pytest.fixture
def moot(tmp_path: Path) -> Iterator[Moot]:
    made = Moot(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moot]:
    """A database that the tests of a module share."""
    made = Moot(tmp_path_factory.mktemp("shared"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Moot, Result]]:
    """One completed debate, shared by tests that only read it."""
    made = Moot(tmp_path_factory.mktemp("finished"))
    result = made("debate", "Redis or PostgreSQL?", "--rounds", "2", "--model", made.script(), "--json")
    assert result.code == 0, result.err
    yield made, result
    made.close()


@pytest.fixture
def done(finished: tuple[Moot, Result], moot: Moot) -> Moot:
    """A copy of the completed debate, to be changed."""
    moot.db.write_bytes(finished[0].db.read_bytes())
    return moot
