"""Another engine, in an environment and a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PEERS = Path(__file__).parent / "peers"  # apart: a program finds what lies beside it before any package
_INSTALL_SECONDS = 300
_ANSWER_SECONDS = 120
_END_SECONDS = 10


class Peer:
    """Use as a context: the process ends with it."""

    def __init__(
        self,
        name: str,
        folder: Path,
        home: Path,
        *,
        program: str,
        requirements: str,
        argument: str | Path,
        texts: Sequence[str],
        environ: Mapping[str, str] | None = None,
    ) -> None:
        python = environment(home / Path(requirements).stem, PEERS / requirements)
        self.name = name
        self._complaints = folder / f"{name}.txt"  # a file: a pipe that nobody reads would fill up
        with self._complaints.open("w") as complaints:
            self._process = subprocess.Popen(
                [python, PEERS / program, argument],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                env={"PATH": "", "LANGSMITH_TRACING": "false", **(environ or {})},
            )
        self._steps = len(texts)
        self.stored = sys.maxsize  # steps in the database of the debate that had the fewest
        self.about = ""  # what it told of its settings
        versions = self._ask(list(texts))
        self.versions = ", ".join(f"{name} {number}" for name, number in versions.items())

    def seconds_for(self, debates: int) -> float:
        answer = self._ask(debates)
        self.stored = min(self.stored, answer["stored"])
        if self.stored < self._steps:
            raise RuntimeError(f"{self.name} stored {self.stored} of {self._steps} steps")
        self.about = answer.get("about", "")
        return answer["seconds"]

    def _ask(self, what: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        limit = threading.Timer(_ANSWER_SECONDS, self._process.kill)
        limit.start()
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            limit.cancel()
        if not line:
            self._process.communicate()
            raise RuntimeError(f"{self.name}'s process ended: {_last_line(self._complaints.read_text())}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # it ends by itself, with the processes that it started
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.wait()


def environment(home: Path, requirements: Path) -> Path:
    """Its Python. Made once; made anew when the requirements change."""
    python, made_for = home / "bin" / "python", home / "made-for.txt"
    wanted = requirements.read_text()
    if python.exists() and made_for.exists() and made_for.read_text() == wanted:
        return python
    _do(sys.executable, "-m", "venv", "--clear", home)
    _do(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
    made_for.write_text(wanted)
    return python


def _do(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[-1]} could not be installed: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]
