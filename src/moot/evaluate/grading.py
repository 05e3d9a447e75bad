"""Runs the tests of items over the answers, in the sandbox and after the debates have ended: no arm sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from moot.client.client import Client
from moot.core.types import Json
from moot.core.values import sha256_of
from moot.evaluate.tasks import Item
from moot.reasoning.code.cases import Case, passes
from moot.reasoning.code.examples import examples_in
from moot.reasoning.code.requests import MAX_CODE_CHARS, CasesRun, RunCases, RunScript, ScriptRun
from moot.reasoning.code.test_files import cases_of
from moot.store import Grade


async def stored_grades(client: Client, evaluation_id: str) -> dict[tuple[str, str], Grade]:
    """The grades of an evaluation; none where answers are not run."""
    return {(each.item, each.answer): each for each in await client.store.grades(evaluation_id)}


async def grade(client: Client, item: Item, answers: Mapping[str, str]) -> list[Grade]:
    """What the tests of an item make of answers to it. Raises ToolError where nothing can be run."""
    return list(await asyncio.gather(*(_grade(client, item, name, text) for name, text in answers.items())))


async def _grade(client: Client, item: Item, name: str, answer: str) -> Grade:
    code = f"{item.before}\n{answer}\n"
    if len(code) > MAX_CODE_CHARS or "\0" in code:
        return Grade(item=item.id, answer=name, passed=False, examples=0)
    hidden, examples = cases_of(item.tests) or (), examples_in(item.question)
    made = await _made(client, code, (*hidden, *examples))
    passed = all(made[: len(hidden)]) if hidden else await _passes_file(client, code, item.tests)
    return Grade(item=item.id, answer=name, passed=passed, examples=sum(made[len(hidden) :]))


async def _made(client: Client, code: str, cases: Sequence[Case]) -> list[bool]:
    """Which calls lead to what their cases expect: compared outside of the process of the code."""
    if not cases:
        return []
    request = RunCases(version=sha256_of(code), calls=tuple(case.call for case in cases))
    run = CasesRun.model_validate(await _use(client, "cases", request.model_dump(mode="json"), code))
    return [passes(case, result) for case, result in zip(cases, run.results, strict=True)]


async def _passes_file(client: Client, code: str, tests: str) -> bool:
    request = RunScript(version=sha256_of(code), tests=sha256_of(tests))
    run = ScriptRun.model_validate(await _use(client, "script", request.model_dump(mode="json"), code, tests))
    return run.passed


async def _use(client: Client, tool: str, request: Json, *texts: str) -> Json:
    return await client.app.tools[tool](request, {sha256_of(text): text for text in texts})
