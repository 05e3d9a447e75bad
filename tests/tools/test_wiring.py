"""The tools for code in the app: they run, each use is recorded, and where there is no sandbox nothing is begun."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from moot import formats
from moot.app import App
from moot.cli.words import explained
from moot.client import Client, creating
from moot.client.code_checkup import check_code
from moot.core.errors import AbilityMissing
from moot.core.script import Stage
from moot.core.settings import DebateSettings, Settings
from moot.core.types import Outcome
from moot.core.values import sha256_of
from moot.dispatch import LocalDispatcher
from moot.formats import Format
from moot.formats.format import problems
from moot.reasoning.code.requests import CasesRun, CheckRun, ScriptRun, SnapshotRun
from moot.request import Request
from moot.tools import abilities
from moot.tools.sandbox import PROCESS, Job, Sandbox, Standing
from moot.tools.sandbox.diagnosis import Diagnosis
from moot.tools.sandbox.slots import Slots
from tests.running import an_app, new_debate, run_to_rest
from tests.runtime import asking
from tests.runtime.small import a_format, outcome

CODE = "def double(n):\n    return 2 * n\n"
TESTS = "from solution import double\n\ndef test_it():\n    assert double(2) == 4\n"
VERSION, SCRIPT = sha256_of(CODE), sha256_of(TESTS)
BROKEN = Standing(problem=Diagnosis(what="bubblewrap is not installed.", fix="Install it: apt-get install bubblewrap."))


async def coding(stage: Stage, settings: DebateSettings) -> Outcome:
    """Every tool for code, once."""
    calls = {"version": VERSION, "calls": [["double(4)"], ["double([])"]]}
    cases = await stage.use("cases", "run", calls, returns=CasesRun, texts=[CODE], shows="TURN")
    script = await stage.use(
        "script", "test", {"version": VERSION, "tests": SCRIPT}, returns=ScriptRun, texts=[CODE, TESTS]
    )
    checks = {"version": VERSION, "tools": ["ruff", "radon"]}
    checked = await stage.use("checks", "check", checks, returns=CheckRun, texts=[CODE])
    versions = [{"message": "First", "files": [{"path": "solution.py", "text": VERSION}]}]
    kept = await stage.use("snapshot", "keep", {"versions": versions}, returns=SnapshotRun, texts=[CODE])
    values = [each.value for each in cases.results]
    return outcome("tie", f"{values} {script.passed} {checked.metrics.complexity} {kept.commit}")


CODING = replace(a_format(coding), needs=("code",))


@pytest.fixture
def coding_format():
    with formats.DOOR.adding(CODING.name, CODING):
        yield CODING


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PROCESS, "standing", BROKEN)


def a_request() -> Request:
    return Request(topic="Double it", format=CODING.name, settings={"model_debater": "sim:", "model_judge": "sim:"})


async def test_rules_use_the_tools_of_every_app_and_each_use_is_recorded(tmp_path, coding_format):
    commits: list[str] = []
    for _ in range(2):
        async with an_app(tmp_path, data_dir=str(tmp_path)) as app:
            client = Client(app)
            made = await creating.create(app, await client.plan(a_request()))
            done = await run_to_rest(app, made)
            assert done.outcome is not None, done.error
            headline = done.outcome.headline
            assert headline.startswith("['8', '[]'] True ")
            commits.append(headline.split()[-1])
            turns = {turn.phase: turn for turn in await app.runtime.store.turns(done.id)}
            calls = {phase: (turn.tool_calls or ())[0] for phase, turn in turns.items()}
            assert [call["tool"] for call in calls.values()] == ["cases", "script", "checks", "snapshot"]
            assert all(len(call["request"]) == 64 and call["exit"] == "ended" for call in calls.values())
            ran = calls["run"]
            assert ran["limits"]["memory_bytes"] == 512 * 1024 * 1024
            assert ran["limits"]["case_cpu_seconds"] == 2
            assert ran["fingerprint"].startswith("Python 3.")
            assert "bubblewrap" in ran["fingerprint"]
            assert calls["test"]["limits"]["processes"] == 256
            assert calls["check"]["limits"]["wall_seconds"] == 120
            assert calls["keep"]["fingerprint"].startswith("git version")
            assert list((tmp_path / "workspaces").iterdir()) == []
    one, two = commits
    assert one == two
    assert len(one) == 40


async def test_a_plan_is_refused_before_anything_is_written(coding_format, no_sandbox, app, tmp_path):
    assert BROKEN.problem is not None
    with pytest.raises(AbilityMissing, match="'coding' runs code.*bubblewrap is not installed") as refused:
        await Client(app).plan(a_request())
    assert "apt-get" not in str(refused.value)  # a browser and a model get this much
    assert "apt-get install bubblewrap" in explained(refused.value)  # the command line
    assert refused.value.__notes__ == [BROKEN.problem.fix]  # a traceback
    assert not (tmp_path / "moot.db").exists()
    assert await Client(app).plan(a_request(), here=False)  # for workers to drive


async def test_a_stored_debate_is_not_driven_where_there_is_no_sandbox(coding_format, no_sandbox, app):
    made = await creating.create(app, app.plan(a_request()))
    with pytest.raises(AbilityMissing):
        await app.runtime.start(made.id)
    assert (await app.runtime.store.get(made.id)).status == "pending"
    await app.runtime.store.move(made.id, "running", expect=["pending"])
    with pytest.raises(AbilityMissing):
        await app.runtime.advance(made.id)
    assert await app.runtime.recover() == []
    left = await app.runtime.store.get(made.id)
    assert (left.status, left.owner, left.turn_count) == ("running", None, 0)


async def test_a_debate_that_waits_is_answered_and_keeps_no_server_from_starting_without_a_sandbox(
    tmp_path, monkeypatch
):
    waiting = replace(asking.FORMAT, needs=("code",))
    monkeypatch.setattr(PROCESS, "standing", Standing(tried=1))
    with formats.DOOR.adding(waiting.name, waiting):
        async with an_app(tmp_path) as app:
            client, asks = Client(app), {"format": waiting.name, "timeout_seconds": 0, "decides": True}
            made = [await run_to_rest(app, await new_debate(app, "sim:", **asks)) for _ in range(2)]
            monkeypatch.setattr(PROCESS, "standing", BROKEN)
            assert (await client.answer(made[0], "guide", "Mind the cost.")).status == "decided"
            with pytest.raises(AbilityMissing):
                await client.fork(made[0])
            assert len((await client.store.page(limit=10)).debates) == 2, "no fork is stored"
            dispatcher = LocalDispatcher(app.runtime)
            await dispatcher.open()
            await dispatcher.close()
            assert [(await client.store.get(each.id)).status for each in made] == ["waiting"] * 2
            assert [gate.status for gate in await client.store.gates(made[1].id)] == ["decided"]


def test_the_sandbox_is_probed_once_for_all_apps_and_loops(monkeypatch, tmp_path, coding_format):
    made = 0
    kept = PROCESS.probed
    probe: Callable[..., object] = abilities._code

    async def counted(run: object) -> Standing:
        nonlocal made
        made += 1
        assert threading.current_thread() is not threading.main_thread()
        return Standing(tried=1)

    monkeypatch.setattr("moot.tools.sandbox.sandbox.probe", counted)
    monkeypatch.setattr(PROCESS, "standing", None)

    async def main() -> None:
        async with an_app(tmp_path) as app:
            await asyncio.gather(*(Client(app).plan(a_request()) for _ in range(5)))

    asyncio.run(main())
    asyncio.run(main())
    assert made == 1
    assert (kept(), probe()) == (Standing(tried=1), None)


async def test_an_app_without_such_a_format_never_probes(monkeypatch, tmp_path):
    monkeypatch.setattr(PROCESS, "standing", None)
    async with an_app(tmp_path) as app:
        await new_debate(app, "sim:", "duel")
        assert {"cases", "script", "checks", "snapshot"} <= set(app.tools)
    assert PROCESS.standing is None


def test_a_format_can_only_need_what_there_is():
    assert problems(CODING) == []
    odd: Format = replace(CODING, needs=("gold",))  # type: ignore[arg-type]
    assert problems(odd) == ["`needs` names the ability 'gold'; there is code."]


class TestDoctor:
    async def findings(self, folder: Path, environ: dict[str, str] | None = None):
        app = App(Settings(database_url=str(folder / "moot.db")), environ=environ or {})
        try:
            return await check_code(app)
        finally:
            await app.close()

    async def test_it_says_what_runs_and_checks_code(self, tmp_path):
        found = await self.findings(tmp_path)
        assert all(each.ok for each in found)
        assert "holds: 16 attempts to get out, none got through" in found[0].what
        assert found[1].what.startswith("code is run with Python 3.")
        assert "git version" in found[1].what
        assert any("ruff 0." in each.what and "mypy" in each.what for each in found)

    async def test_it_names_missing_check_tools(self, tmp_path, monkeypatch):
        kept = "moot.tools.checks.linters.installed"
        monkeypatch.setattr(kept, lambda name: None if name == "bandit" else "1.0")
        missing = [each for each in await self.findings(tmp_path) if "not installed: bandit;" in each.what]
        assert [each.fix for each in missing] == ['Install them with: pip install "moot[forge]"']

    async def test_without_a_sandbox_formats_are_unavailable_and_nothing_is_wrong(
        self, tmp_path, no_sandbox, coding_format
    ):
        (needed,) = await self.findings(tmp_path)
        assert needed.ok
        assert needed.lacks
        assert needed.what == (
            "the formats coding and forge can't be used: no code can be run. bubblewrap is not installed."
        )
        assert "apt-get install bubblewrap" in needed.fix

    async def test_a_list_of_languages_that_is_not_valid(self, tmp_path):
        (tmp_path / "runners.yaml").write_text("cobol: yes\n")
        environ = {"MOOT_CONFIG": str(tmp_path / "config.yaml")}
        wrong = [each for each in await self.findings(tmp_path, environ) if not each.ok]
        assert [each.what for each in wrong] == ["your list of languages"]
        assert "cobol should be a mapping" in wrong[0].fix


class TestSlots:
    def test_they_are_shared_by_event_loops_and_given_in_turn(self):
        sandbox, order = Sandbox(slots=1), list[int]()

        async def one(number: int) -> None:
            await sandbox._run(Job(program=f"print({number})"))
            order.append(number)

        threads = [threading.Thread(target=lambda n=n: asyncio.run(one(n))) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(order) == [0, 1, 2, 3]
        assert sandbox.slots._free == 1

    async def test_who_is_cancelled_in_line_loses_no_slot(self):
        slots, held = Slots(1), asyncio.Event()

        async def hold() -> None:
            async with slots.one():
                await held.wait()

        tasks = [asyncio.create_task(hold()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in tasks[1:4]:
            task.cancel()
        tasks[0].cancel()  # the slot goes to the last
        await asyncio.gather(*tasks[:4], return_exceptions=True)
        held.set()
        await tasks[4]
        last = asyncio.create_task(hold())
        await last
        given = asyncio.create_task(hold())
        await asyncio.sleep(0)
        assert slots._free == 1 or not given.done()
        await given
        assert slots._free == 1
