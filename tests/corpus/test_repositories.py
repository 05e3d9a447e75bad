"""The repositories of the corpus: each is proven in the sandbox, its solution right and everything else wrong."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path

import pytest

from moot.client.client import Client
from moot.core.settings import MAX_TOPIC_CHARS
from moot.corpus.repository import (
    FOLDER,
    RepositoryTask,
    recognised_repository,
    repository_tasks,
    shown_with_files,
)
from moot.evaluate.grading import run_tests
from moot.reasoning.code.patches import applied
from moot.reasoning.code.requests import ScriptRun
from moot.reasoning.code.test_files import flaw_of, has_tests, is_test_path, modules_of
from tests.client.test_client import an_app

# A test for each version of each repository, which the sandbox forks a process for: one run instead of 80.
PROOF = """
import pathlib
import sys


def failed(folder, pattern):
    found = []
    for path in sorted(pathlib.Path(folder).glob(pattern)):
        space = {"__name__": "tests"}
        exec(compile(path.read_text(), str(path), "exec"), space)
        tests = {name: each for name, each in space.items() if name.startswith("test")}
        assert tests
        for name, test in tests.items():
            try:
                test()
            except Exception as error:
                found.append(f"{name}: {error!r}")
    return found


def prove(folder, kind):
    sys.path.insert(0, folder)
    shown, hidden = failed(folder, "tests/test_*.py"), failed(folder, "hidden.py")
    assert bool(hidden) == (kind != "solution"), hidden
    assert not shown or kind == "mistake", shown
"""


def test_there_are_enough_and_no_two_are_alike():
    every = repository_tasks()
    assert len(every) == 10
    for name in ("id", "domain", "title", "issue", "solution"):
        assert Counter(getattr(each, name) for each in every).most_common(1)[0][1] == 1, name
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 100_000


@pytest.mark.parametrize("each", repository_tasks(), ids=lambda each: each.id)
def test_a_repository_is_whole(each: RepositoryTask):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.id)
    assert 2 <= sum(not is_test_path(path) for path in each.files) <= 4
    assert any(is_test_path(path) and has_tests(text) for path, text in each.files.items())
    assert flaw_of(each.tests, "python", modules_of(each.files)) == ""
    assert len(each.mistakes) == 2
    assert each.solution not in each.mistakes
    asked = shown_with_files(each.issue, each.files)
    assert len(asked) < MAX_TOPIC_CHARS / 4
    assert recognised_repository(f"A question:\n{asked}".replace("\n", "\n  ")) == each
    hidden = [line for line in each.tests.splitlines() if line.startswith("def test_")]
    assert len(hidden) >= 4
    assert not any(line in asked for line in hidden)


@pytest.mark.slow
def test_solutions_pass_the_hidden_tests_and_nothing_else_does(tmp_path: Path):
    files: dict[str, str] = {}
    proofs: list[str] = []
    for each in repository_tasks():
        versions = {"base_0": each.files, "solution_0": applied(each.files, each.solution)}
        versions |= {f"mistake_{n}": applied(each.files, patch) for n, patch in enumerate(each.mistakes)}
        for kind, version in versions.items():
            folder = f"{each.id}/{kind}"
            files |= {f"{folder}/{path}": text for path, text in version.items()}
            files[f"{folder}/hidden.py"] = each.tests
            name = f"{each.id.replace('-', '_')}_{kind}"
            proofs.append(f"def test_{name}():\n    prove({folder!r}, {kind.partition('_')[0]!r})\n")

    async def main() -> ScriptRun:
        async with an_app(tmp_path) as app:
            return await run_tests(Client(app), files, "\n".join((PROOF, *proofs)))

    run = asyncio.run(main())
    assert [f"{test.name}: {test.message}" for test in run.tests if test.outcome != "passed"] == []
    assert len(run.tests) == len(proofs) == 4 * len(repository_tasks())
