"""Runs the tests of items over the answers, in the sandbox and after the debates have ended: no arm sees them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from moot.client.client import Client
from moot.core.types import Json
from moot.core.values import sha256_of
from moot.evaluate.tasks import Item
from moot.reasoning.code.cases import Case, passes
from moot.reasoning.code.examples import examples_in
from moot.reasoning.code.patches import applied
from moot.reasoning.code.requests import (
    FILE_PATH,
    MAX_CODE_CHARS,
    CasesRun,
    ExtraFile,
    RunCases,
    RunScript,
    ScriptRun,
)
from moot.reasoning.code.test_files import SOLUTION, cases_of, has_tests, is_test_path
from moot.store import Grade

_PATHS = re.compile(FILE_PATH)
_SOLUTION = f"{SOLUTION}.py"


async def stored_grades(client: Client, evaluation_id: str) -> dict[tuple[str, str], Grade]:
    """The grades of an evaluation; none where answers are not run."""
    return {(each.item, each.answer): each for each in await client.store.grades(evaluation_id)}


async def grade(client: Client, item: Item, answers: Mapping[str, str]) -> list[Grade]:
    """What the tests of an item make of answers to it. Raises ToolError where nothing can be run."""
    return list(await asyncio.gather(*(_grade(client, item, name, text) for name, text in answers.items())))


async def _grade(client: Client, item: Item, name: str, answer: str) -> Grade:
    if item.files:
        return await _grade_patch(client, item, name, answer)
    code = f"{item.before}\n{answer}\n"
    if not _is_text(code):
        return Grade(item=item.id, answer=name, passed=False, examples=0)
    hidden, examples = cases_of(item.tests) or (), examples_in(item.question)
    made = await _made(client, code, (*hidden, *examples))
    passed = all(made[: len(hidden)]) if hidden else (await run_tests(client, {_SOLUTION: code}, item.tests)).passed
    return Grade(item=item.id, answer=name, passed=passed, examples=sum(made[len(hidden) :]))


async def _made(client: Client, code: str, cases: Sequence[Case]) -> list[bool]:
    """Which calls lead to what their cases expect: compared outside of the process of the code."""
    if not cases:
        return []
    request = RunCases(version=sha256_of(code), calls=tuple(case.call for case in cases))
    run = CasesRun.model_validate(await _use(client, "cases", request.model_dump(mode="json"), code))
    return [passes(case, result) for case, result in zip(cases, run.results, strict=True)]


async def _grade_patch(client: Client, item: Item, name: str, patch: str) -> Grade:
    """A patch is right if the hidden tests pass and so do those among the item's files; the latter, which its author
    has seen, are its examples. One that can't be used is wrong."""
    files = patched(item.files, patch)
    if files is None:
        return Grade(item=item.id, answer=name, passed=False, examples=0)
    shown = [text for path, text in item.files.items() if is_test_path(path) and has_tests(text)]
    hidden, *visible = [await run_tests(client, files, tests) for tests in (item.tests, *shown)]
    return Grade(
        item=item.id,
        answer=name,
        passed=hidden.passed and all(run.passed for run in visible),
        examples=sum(test.outcome == "passed" for run in visible for test in run.tests),
    )


def patched(files: Mapping[str, str], patch: str) -> dict[str, str] | None:
    """A repository with a patch applied; None if it does not apply, changes nothing or changes tests, or if what it
    leaves can't be run."""
    if len(patch) > MAX_CODE_CHARS:
        return None
    try:
        now = applied(files, patch)
    except ValueError:
        return None
    changed = [path for path in {*files, *now} if files.get(path) != now.get(path)]
    fit = all(_PATHS.fullmatch(path) and not is_test_path(path) for path in changed)
    return now if changed and fit and all(map(_is_text, now.values())) else None


def _is_text(code: str) -> bool:
    whole = not any("\ud800" <= char <= "\udfff" for char in code)
    return len(code) <= MAX_CODE_CHARS and "\0" not in code and whole


async def run_tests(client: Client, files: Mapping[str, str], tests: str) -> ScriptRun:
    """Run a test file beside the files of a repository."""
    others = {path: text for path, text in files.items() if path != _SOLUTION}
    code = files.get(_SOLUTION, "")
    request = RunScript(
        version=sha256_of(code),
        tests=sha256_of(tests),
        base=tuple(ExtraFile(path=path, text=sha256_of(text)) for path, text in others.items()),
    )
    return ScriptRun.model_validate(
        await _use(client, "script", request.model_dump(mode="json"), code, tests, *others.values())
    )


async def _use(client: Client, tool: str, request: Json, *texts: str) -> Json:
    return await client.app.tools[tool](request, {sha256_of(text): text for text in texts})
