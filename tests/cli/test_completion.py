"""Completion in real shells: what a person gets who presses Tab."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import MOOT, Moot, Result

pytestmark = pytest.mark.slow

SHELLS = [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)]
FIND_MOOT = f"{Path(MOOT).parent}:/usr/bin:/bin"

Shared = tuple[Moot, Result]


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, finished: Shared) -> Iterator[str]:
    """A shell whose script is in the file `_moot`, the name that zsh looks for."""
    moot, name = finished[0], request.param
    made = moot("completion", name)
    assert made.code == 0, made.err
    (moot.folder / "_moot").write_text(made.out)
    return name


def lines(moot: Moot) -> dict[str, str]:
    """What is typed before Tab, and the word that it completes."""
    (debate,) = moot.ids
    return {
        "moot sho": "show",
        f"moot show {debate[:3]}": debate[:8],
        f"moot diff {debate[:8]} {debate[:3]}": debate[:8],
        "moot --form": "--format",
        "moot debate --format pan": "panel",
        "moot 'Redis or PostgreSQL?' --effort th": "thorough",
        "moot formats du": "duel",
        "moot list --status fa": "failed",
        "moot debate --file sp": "spec.yaml",
    }


def test_tab_completes_commands_flags_ids_and_names(finished: Shared, shell: str):
    moot, _ = finished
    (moot.folder / "spec.yaml").touch()
    if shell == "fish":
        for line, word in lines(moot).items():
            assert word in [each.partition("\t")[0] for each in fish(moot, line)], line
        return
    start = ["--norc", "--noprofile", "-i"] if shell == "bash" else ["-f", "-i"]
    terminal = moot.terminal(*start, program=shell, PATH=FIND_MOOT)
    load = ". ./_moot" if shell == "bash" else f"fpath=({moot.folder} $fpath); autoload -Uz compinit; compinit -u -D"
    terminal.press(f"{load}; PS1='loaded''> '\n")
    terminal.until("loaded> ")
    for line, word in lines(moot).items():
        terminal.press(f"{line}\t")
        terminal.until(f"{line.rpartition(' ')[0]} {word} ")
        terminal.press("\x15")  # Ctrl-U: forget it


def fish(moot: Moot, line: str) -> list[str]:
    program = ["fish", "--no-config", "-c", 'source ./_moot; complete -C "$argv"', line]
    env = moot.env | {"PATH": FIND_MOOT}
    done = subprocess.run(program, capture_output=True, text=True, env=env, cwd=moot.folder, timeout=60, check=True)
    assert not done.stderr
    return done.stdout.splitlines()


def test_ids_come_with_the_question(finished: Shared):
    moot, _ = finished
    assert moot("completion", "ids").out == f"{moot.ids[0][:8]}\tRedis or PostgreSQL? (completed)\n"


def test_there_are_no_ids_without_a_database(moot: Moot):
    result = moot("completion", "ids")
    assert (result.code, result.out) == (0, "")
    assert not moot.db.exists()


def test_a_question_cannot_bring_escapes_or_lines_into_the_shell(moot: Moot):
    moot("Is \x1b]0;title\x07 it\nso\there?", "--rounds", "1", "--model", "sim:?tokens=5")
    (line,) = moot("completion", "ids").out.splitlines()
    assert line.count("\t") == 1
    assert "\x1b" not in line
