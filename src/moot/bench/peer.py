"""LangGraph in an environment and a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_HERE = Path(__file__).parent
_INSTALL_SECONDS = 300
_ANSWER_SECONDS = 120


class Peer:
    """Use as a context: the process ends with it."""

    def __init__(self, folder: Path, home: Path, *, texts: Sequence[str]) -> None:
        python = environment(home / "langgraph", _HERE / "peer_requirements.txt")
        self._complaints = folder / "langgraph.txt"  # a file: a pipe that nobody reads would fill up
        with self._complaints.open("w") as complaints:
            self._process = subprocess.Popen(
                [python, _HERE / "peer_langgraph.py", folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                env={"PATH": "", "LANGSMITH_TRACING": "false"},
            )
        self._steps = len(texts)
        self.checkpoints = sys.maxsize  # of the debate that had the fewest
        self._pragmas = ""
        versions = self._ask(list(texts))
        self._versions = ", ".join(f"{name} {number}" for name, number in versions.items())

    @property
    def about(self) -> str:
        return f'{self._versions}, durability="sync", {self._pragmas}'

    def seconds_for(self, debates: int) -> float:
        answer = self._ask(debates)
        self.checkpoints = min(self.checkpoints, answer["checkpoints"])
        if self.checkpoints < self._steps:
            raise RuntimeError(f"LangGraph stored {self.checkpoints} checkpoints for {self._steps} steps")
        self._pragmas = f"journal {answer['journal_mode']}, synchronous={answer['synchronous']}"
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
            raise RuntimeError(f"LangGraph's process ended: {_last_line(self._complaints.read_text())}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


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
        raise RuntimeError(f"LangGraph could not be installed: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]
