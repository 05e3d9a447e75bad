"""Other engines to compare with, each in its own virtual environment and process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from perf.process import last_line

PEERS = Path(__file__).parent / "peers"  # a folder without other modules: Python would import those first
_INSTALL_SECONDS = 300
_ANSWER_SECONDS = 120
_STOP_SECONDS = 10


class Peer:
    """A process that runs one of the programs in `peers/`. A context manager that stops it on exit.

    They talk in JSON lines: first the texts of the statements, answered with versions; then a number of debates,
    answered with the seconds they took and the steps stored for each.
    """

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
        python = virtual_environment(home / Path(requirements).stem, PEERS / requirements)
        self.name = name
        self._log = folder / f"{name}.txt"  # a file: a pipe that is not read would fill up
        with self._log.open("w") as stderr:
            self._process = subprocess.Popen(
                [python, PEERS / program, argument],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env={"PATH": "", "LANGSMITH_TRACING": "false", **(environ or {})},
            )
        self._steps = len(texts)
        self.stored = sys.maxsize  # the fewest steps stored for any debate
        self.about = ""  # its description of its own settings
        versions = self._ask(list(texts))
        self.versions = ", ".join(f"{name} {number}" for name, number in versions.items())

    def seconds_for(self, debates: int) -> float:
        """Run so many debates at once. Raises RuntimeError if the engine stored fewer steps than they have."""
        answer = self._ask(debates)
        self.stored = min(self.stored, answer["stored"])
        if self.stored < self._steps:
            raise RuntimeError(f"{self.name} stored {self.stored} of {self._steps} steps")
        self.about = answer.get("about", "")
        return answer["seconds"]

    def _ask(self, message: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        limit = threading.Timer(_ANSWER_SECONDS, self._process.kill)
        limit.start()
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            limit.cancel()
        if not line:
            self._process.communicate()
            raise RuntimeError(f"{self.name}'s process ended: {last_line(self._log.read_text())}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # the program ends at EOF, with its own child processes
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.wait()


def virtual_environment(home: Path, requirements: Path) -> Path:
    """Return the Python of a virtual environment in `home`, installed again when the requirements change."""
    python, made_for = home / "bin" / "python", home / "made-for.txt"
    wanted = requirements.read_text()
    if python.exists() and made_for.exists() and made_for.read_text() == wanted:
        return python
    _install(sys.executable, "-m", "venv", "--clear", home)
    _install(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
    made_for.write_text(wanted)
    return python


def _install(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[-1]} could not be installed: {last_line(done.stderr)}")
