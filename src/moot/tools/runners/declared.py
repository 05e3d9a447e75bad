"""Languages that code can be run in: those of `runners.yaml` beside this file, and those that the user declares."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, StringConstraints

from moot.core.errors import InputError, UnknownName
from moot.core.settings import read
from moot.core.values import Frozen, Json, NonEmpty
from moot.yamlfile import read_mapping

BUILT_IN = Path(__file__).with_name("runners.yaml")
PATH = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))

FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
Command = tuple[NonEmpty, ...]


class Runner(Frozen):
    """How code of a language is run."""

    cases: Literal["python", "javascript"] | None = None  # which harness makes single calls; None: it has none
    tests: Literal["python"] | None = None  # which harness tells tests apart; None: a command is all there is
    source: FileName  # the file that holds the code
    test_source: FileName  # the file that holds the tests
    build: Command = ()
    test: Command = ()
    needs: tuple[NonEmpty, ...] = ()  # programs that must be installed
    mounts: tuple[NonEmpty, ...] = ()  # folders of the machine that it needs beside /usr: they can be read inside
    environment: Mapping[NonEmpty, str] = Field(default_factory=dict[str, str])

    @property
    def missing(self) -> list[str]:
        """Programs that it needs and that are not installed."""
        places = os.pathsep.join((PATH, *(f"{mount}/bin" for mount in self.mounts)))
        return [name for name in self.needs if shutil.which(name, path=places) is None]


class Runners:
    """The declared languages by name."""

    def __init__(self, own: Path | None = None) -> None:
        """`own`: a file of the user's, which may replace what is built in. Raises InputError if it is not valid."""
        self._by_name = _read(BUILT_IN)
        if own is not None and own.exists():
            self._by_name |= _read(own)

    def __getitem__(self, language: str) -> Runner:
        runner = self._by_name.get(language.lower())
        if runner is None:
            raise UnknownName("language", language, self._by_name, hint=f"Declared: {', '.join(self._by_name)}.")
        return runner

    def items(self) -> Mapping[str, Runner]:
        return self._by_name


def _read(file: Path) -> dict[str, Runner]:
    given = read_mapping(file, "list of runners", "languages and how they are run", may_be_empty=True)
    found: dict[str, Runner] = {}
    for name, runner in given.items():
        if not isinstance(runner, Mapping):
            raise InputError(f"{file}: {name} should be a mapping with source, test_source and test.")
        found[name.lower()] = read(Runner, cast(Json, runner), f"runner {name}")
    return found
