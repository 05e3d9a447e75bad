"""The commands of built-in formats, by the name of the format. Imports as little as moot.formats.command."""

from __future__ import annotations

from moot.formats.command import FormatCommand, Option, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import PurePath

    from moot.core.types import Json


def _read_tests(path: PurePath, text: str, settings: Json) -> tuple[Json, str]:
    from moot.formats.forge.given_tests import read_tests

    return read_tests(path, text, settings)


COMMANDS = {
    "forge": FormatCommand(
        "Have code written, run, tested and attacked, and get the version that stands.",
        topic="TASK",
        about="what the code should do",
        question="What should the code do?",
        example="Write a function that …",
        options=(
            Option("--lang", "language", "the language: python or javascript (default: python)"),
            Option(
                "--tests",
                "tests",
                "tests that it must pass: lines such as add(1, 2) == 3, or a file for pytest that imports `solution`",
                value="FILE",
                kind="file",
                read=_read_tests,
            ),
            Option(
                "--repo",
                "repo",
                "change this git repository: its tests must pass, and the result is a branch in it, debate/ID",
                value="PATH",
                kind="path",
            ),
            Option("--preset", "preset", "quick: fewer seats and phases, 12 calls at most"),
            Option(
                "--gate",
                "gates",
                "ask you to approve after this phase; can be repeated",
                value="PHASE",
                kind="list",
                asks=True,
            ),
        ),
        about_judge_model="model of those who don't write code",
        result=Result(
            "code",
            "write the winning code or patch there (default: print it)",
            {"Branch": "The branch {} is in your repository; nothing else changed. See it: git diff HEAD...{}"},
        ),
    ),
}
