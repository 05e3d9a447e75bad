"""Runs the tests of items over the answers, in the sandbox and after the debates have ended: no arm sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from moot.client.client import Client
from moot.core.types import Json
from moot.core.values import sha256_of
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.tasks import Item
from moot.reasoning.code.cases import passes
from moot.reasoning.code.examples import examples_in
from moot.reasoning.code.requests import MAX_CODE_CHARS, CasesRun, RunCases, RunScript, ScriptRun
from moot.store import Grade


async def stored_grades(client: Client, plan: EvaluationPlan) -> dict[tuple[str, str], Grade]:
    if not plan.task.graded:
        return {}
    return {(each.item, each.answer): each for each in await client.store.grades(plan.id)}


async def grade(client: Client, item: Item, answers: Mapping[str, str]) -> list[Grade]:
    """What the tests of an item make of answers to it. Raises ToolError where nothing can be run."""
    return list(await asyncio.gather(*(_grade(client, item, name, text) for name, text in answers.items())))


async def _grade(client: Client, item: Item, name: str, answer: str) -> Grade:
    code = f"{item.before}\n{answer}\n"
    if len(code) > MAX_CODE_CHARS or "\0" in code:
        return Grade(item=item.id, answer=name, passed=False, examples=0)
    version = sha256_of(code)
    script = RunScript(version=version, tests=sha256_of(item.tests))
    ran = ScriptRun.model_validate(await _use(client, "script", script.model_dump(mode="json"), code, item.tests))
    cases = examples_in(item.question)
    examples = 0
    if cases:
        request = RunCases(version=version, calls=tuple(case.call for case in cases))
        made = CasesRun.model_validate(await _use(client, "cases", request.model_dump(mode="json"), code))
        examples = sum(passes(case, result) for case, result in zip(cases, made.results, strict=True))
    return Grade(item=item.id, answer=name, passed=ran.passed, examples=examples)


async def _use(client: Client, tool: str, request: Json, *texts: str) -> Json:
    return await client.app.tools[tool](request, {sha256_of(text): text for text in texts})
