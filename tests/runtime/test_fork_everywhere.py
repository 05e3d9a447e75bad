"""Forks at every step of every format: the parent stays byte for byte the same, and the fork runs to its own end."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.app import App
from moot.client import creating, documents
from moot.core.types import Debate, Turn
from moot.formats import installed
from tests.formats.examples import EXAMPLES, Example, fitting
from tests.formats.forge.tools import in_process
from tests.running import new_debate, run_to_end, run_to_rest

pytestmark = pytest.mark.slow

GUIDANCE = "Think of the night shift."
EXACT = ("code", "cases", "predictions")


def scripted(folder: Path, name: str, answers: Mapping[str, Any]) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"answers": dict(answers)}, sort_keys=False))
    return f"scripted:{path}"


def otherwise(value: Any) -> Any:
    """The same answer in other words, where these are free: code and tests stay as they are."""
    if isinstance(value, dict):
        return {name: inner if name in EXACT else otherwise(inner) for name, inner in value.items()}
    if isinstance(value, str) and " " in value:
        return f"{value} In other words."
    return [otherwise(inner) for inner in value] if isinstance(value, list) else value


def rows(folder: Path, debate_id: str) -> list[list[tuple[Any, ...]]]:
    """Everything that is stored of a debate."""
    tables = {"debate_sessions": "id", "debate_turns": "session_id", "debate_events": "session_id"}
    tables["debate_gates"] = "session_id"
    with closing(sqlite3.connect(folder / "moot.db")) as connection:
        return [
            connection.execute(f"select * from {table} where {column} = ? order by rowid", (debate_id,)).fetchall()
            for table, column in tables.items()
        ]


class Family:
    """A finished debate of a format, and forks of it at every step."""

    def __init__(self, folder: Path, app: App, example: Example, parent: Debate, turns: list[Turn]) -> None:
        self.folder, self.app, self.example = folder, app, example
        self.parent, self.turns = parent, turns
        self._before = rows(folder, parent.id)

    async def fork(
        self, at: str, changes: Mapping[str, Any], people: Mapping[str, Any] | None = None, guidance: str | None = None
    ) -> tuple[Debate, list[Turn]]:
        made = await creating.fork(self.app, self.parent.id, at, changes, guidance=guidance)
        done = await run_to_end(self.app, made, people or self.example.people)
        turns = list(await self.app.runtime.store.turns(done.id))
        kept = [turn.key for turn in self.turns].index(at)
        assert turns[:kept] == self.turns[:kept], at
        assert (done.parent_id, done.forked_at) == (self.parent.id, at)
        assert (await documents.prove(self.app, done.id)).same, at
        return done, turns[kept:]

    async def beside(self, *forks: Any) -> list[Any]:
        """All at once; then look at the parent again."""
        made = await asyncio.gather(*forks)
        assert rows(self.folder, self.parent.id) == self._before
        assert (await documents.prove(self.app, self.parent.id)).same
        return made

    async def everywhere(self, changes: Mapping[str, Any], guidance: str | None = None) -> list[Any]:
        return await self.beside(*(self.fork(turn.key, changes, guidance=guidance) for turn in self.turns))


async def new(folder: Path, app: App, format_name: str) -> Debate:
    # In a sandbox, the code of the examples takes another time each time.
    app.tools.update({name: in_process(name) for name in ("cases", "script", "checks")})
    example = EXAMPLES[format_name]
    return await new_debate(app, scripted(folder, "answers", example.answers), format_name, **example.settings)


@pytest.fixture
def family(loop, app, tmp_path, format_name) -> Family:
    async def made() -> Family:
        parent = await run_to_end(app, await new(tmp_path, app, format_name), EXAMPLES[format_name].people)
        turns = list(await app.runtime.store.turns(parent.id))
        return Family(tmp_path, app, EXAMPLES[format_name], parent, turns)

    return loop.run(made())


def in_each(formats: Iterable[str], longest: pytest.MarkDecorator = pytest.mark.slow) -> pytest.MarkDecorator:
    """`longest`: how the format with the most steps is marked."""
    marks = {"panel": pytest.mark.slow, "forge": longest}
    return pytest.mark.parametrize("format_name", [pytest.param(name, marks=marks.get(name, ())) for name in formats])


in_each_format = in_each(installed())
in_each_short_format = in_each(installed(), longest=pytest.mark.soak)
in_each_that_asks_people = in_each(name for name in installed() if EXAMPLES[name].people)


@in_each_format
async def test_with_nothing_changed_it_comes_out_the_same(family):
    for done, turns in await family.everywhere({}):
        assert done.outcome == family.parent.outcome, done.forked_at
        said = {turn.key: (turn.content, turn.data, turn.prompt_hash) for turn in turns}
        assert said == {t.key: (t.content, t.data, t.prompt_hash) for t in family.turns if t.key in said}


@in_each_short_format
async def test_with_other_models_only_what_follows_is_said_anew(family, tmp_path):
    answers = otherwise(dict(family.example.answers))
    other = scripted(tmp_path, "other", answers)
    for done, turns in await family.everywhere({"model_debater": other, "model_judge": other}):
        assert {seat.model for seat in done.cast} == {other}
        asked = [turn for turn in turns if turn.kind == "ask"]
        assert all(turn.model == other for turn in asked), done.forked_at
        free = [turn for turn in asked if "In other words." in str(fitting(answers, turn.key))]
        assert all("In other words." in turn.written for turn in free), done.forked_at


@in_each_short_format
async def test_with_guidance_it_is_heard_by_the_step_asked_anew(family):
    for done, turns in await family.everywhere({}, GUIDANCE):
        audit = await documents.audit(family.app, done.id)
        read = {turn["key"]: turn["messages"][-1]["text"] for turn in audit["turns"] if turn["kind"] == "ask"}
        # Lists of claims are made beside the debate, and guidance is not for them.
        asked = [turn.key for turn in turns if turn.kind == "ask" and not turn.phase.startswith("claims-")]
        assert not asked or any(GUIDANCE in read[key] for key in asked), done.forked_at
        if done.forked_at in asked:
            assert GUIDANCE in read[done.forked_at]
        assert not any(GUIDANCE in text for key, text in read.items() if key not in asked)


OTHERS = [
    {"choice": "guide", "text": GUIDANCE},
    {"choice": "continue", "text": ""},
    {"choice": "end", "text": ""},
    {"choice": "approve", "text": ""},
    {"choice": "reject", "text": ""},
    {"text": GUIDANCE},
    {"text": ""},
]


@in_each_that_asks_people
async def test_with_another_word_at_a_gate(family):
    """Every question that a person was asked, answered in every other way."""
    answers = [
        (gate.key, given)
        for gate in await family.app.runtime.store.gates(family.parent.id)
        for given in OTHERS
        if ("choice" in given) == bool(gate.choices)
        and given.get("choice") in (None, *gate.choices)
        and given != gate.decision
    ]
    assert answers
    forks = [family.fork(key, {}, people={key: given, **family.example.people}) for key, given in answers]
    made = await family.beside(*forks)
    for (key, given), (done, turns) in zip(answers, made, strict=True):
        assert (turns[0].key, turns[0].data) == (key, given)
        assert (done.outcome.ended_by == "person") == (given.get("choice") == "end")
        if not given["text"]:
            continue
        audit = await documents.audit(family.app, done.id)
        after = [turn for turn in audit["turns"] if turn["seq"] > turns[0].seq and turn["kind"] == "ask"]
        assert any(GUIDANCE in message["text"] for turn in after for message in turn["messages"])


@in_each_that_asks_people
async def test_the_question_of_a_waiting_parent_stays_open(app, tmp_path, format_name):
    waiting = await run_to_rest(app, await new(tmp_path, app, format_name))
    assert waiting.status == "waiting"
    before = rows(tmp_path, waiting.id)
    for at in (None, waiting.cursor.open[0]):
        done = await run_to_end(app, await creating.fork(app, waiting.id, at, {}), EXAMPLES[format_name].people)
        assert (await documents.prove(app, done.id)).same
    assert rows(tmp_path, waiting.id) == before
    assert (await app.runtime.gates.open(waiting.id)).status == "open"
