"""A runtime on a real database, in tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from moot.app import App
from moot.client import creating
from moot.core.settings import Settings
from moot.core.types import Debate
from moot.formats import installed
from moot.request import Request

VALID_ANSWERS: dict[str, Any] = {
    "*/score/*": {"reasoning": "It holds.", "score": 7},
    "*/confirm/*": {"winner": "Ada"},
    "*/extract/*": {"winner": "Ada", "scores": {"Ada": 8, "Basil": 6}},
    "*/ballot/*": {"reasoning": "The first.", "score_first": 6, "score_second": 4},
    "*/verdict/*": {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False},
    "*/rule/*": {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False},
    "*/claims-*/*": {"claims": []},
    "*/critique/*": {"assessment": "It holds.", "issues": [], "score": 9, "ready": True},
    "*": "Words of {seat} at {key}.",
}


def answers_file(folder: Path, answers: Mapping[str, Any] | None = None, **options: Any) -> str:
    """The spec of a scripted model with `answers`, and valid ones for all other steps of the built-in formats."""
    path = folder / "answers.yaml"
    own = dict(answers or {})
    all_answers = own | {key: answer for key, answer in VALID_ANSWERS.items() if key not in own}
    path.write_text(yaml.safe_dump({"answers": all_answers, **options}, sort_keys=False))
    return f"scripted:{path}"


class Held:
    """A scripted model whose answers wait until the test releases them: all together, or `each` by its key."""

    def __init__(self, folder: Path, answers: Mapping[str, Any] | None = None, *, each: bool = False) -> None:
        (folder / "held").mkdir()
        self._released = folder / "held" / "released"
        self.log = folder / "held" / "calls.log"
        hold = "released/{key}" if each else "released"
        self.model = answers_file(folder / "held", answers, hold=hold, log=self.log.name)

    @property
    def calls(self) -> list[str]:
        """The keys of the steps it was asked for."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split("\t")[0] for line in lines if "\t" in line]

    def release(self, *keys: str) -> None:
        for path in [self._released / key for key in keys] or [self._released]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def hold(self) -> None:
        """Hold the answers again."""
        self._released.unlink()


@asynccontextmanager
async def an_app(folder: Path, **settings: Any) -> AsyncIterator[App]:
    values = {"database_url": str(folder / "moot.db"), "embedder": "none", **settings}
    app = App(Settings(**values), environ={})
    try:
        yield app
    finally:
        await app.close()


def topic_for(format: str) -> str:
    """Something that a format can be asked."""
    return "Sum two numbers." if "code" in installed()[format].needs else "Redis or PostgreSQL?"


async def new_debate(app: App, model: str, format: str = "duel", **settings: Any) -> Debate:
    # Type checkers would take longer than all else.
    unchecked = {"hooks": []} if "hooks" in installed()[format].settings.model_fields else {}
    request = Request(
        topic=topic_for(format),
        format=format,
        settings={"model_debater": model, "model_judge": model, **unchecked, **settings},
    )
    return await creating.create(app, app.plan(request))


async def run_to_rest(app: App, debate: Debate) -> Debate:
    await app.runtime.start(debate.id)
    return await app.runtime.wait(debate.id)


async def run_to_end(app: App, debate: Debate, people: Mapping[str, Any]) -> Debate:
    """Run a debate to its end, answering its gates with `people`, by key or pattern."""
    left = await run_to_rest(app, debate)
    while left.status == "waiting":
        gate = await app.runtime.gates.open(debate.id)
        given = next(given for pattern, given in people.items() if fnmatchcase(gate.key, pattern))
        await app.runtime.gates.answer(debate.id, given, by="ann")
        await app.runtime.resume(debate.id)
        left = await app.runtime.wait(debate.id)
    assert left.status == "completed", left.error
    assert left.outcome is not None
    return left


async def until(condition: Callable[[], Any], seconds: float = 60) -> None:
    """Poll until the condition holds; raises TimeoutError after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
