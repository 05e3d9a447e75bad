"""A package with a plug-in for every door: each is found, named with its package, and used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import moot.plugins
from moot import formats
from moot.app import App
from moot.client import documents
from moot.client.checkup import check_plugins
from moot.core.errors import InputError, ModelUnavailable, ScriptError, ToolError
from moot.core.settings import Settings
from moot.core.types import Reply, Sampling
from moot.doors import DOORS
from moot.formats.shared import perspectives, roles
from moot.memory import library
from moot.models import embedding, providers
from moot.models.registry import ModelRegistry
from moot.tools import toolbox
from tests.formats.examples import COUNCIL
from tests.formats.panel.answers import SYNTHESIS, analysis, assessment, rebuttal
from tests.models.calls import GOOD, Listener, Score, call
from tests.models.wire import Say, Wire
from tests.plugins import installed, write
from tests.reasoning.voting.making import result as voted
from tests.reasoning.voting.making import times
from tests.running import an_app, answers_file, new_debate, run_to_rest

PACKAGE = "moot-workshop 1.0"


@pytest.fixture(scope="module")
def folder() -> Path:
    return installed("workshop")


@pytest.fixture(autouse=True)
def workshop(folder: Path, plugged_in: Callable[[Path], None]) -> None:
    plugged_in(folder)


def uninstall() -> None:
    sys.path.remove(str(installed("workshop")))
    moot.plugins.rescan()


async def call_once(spec: str, environ: dict[str, str], **more: Any) -> Reply:
    registry = ModelRegistry(Settings(), environ=environ)
    try:
        return await registry.open(spec)(call(**more), Listener())
    finally:
        await registry.close()


def test_every_door_has_something_of_it():
    brought = {door.group: [name for name in door.names() if door.package(name) == PACKAGE] for door in DOORS}
    assert all(brought.values()), brought
    assert [each.fix for each in check_plugins() if not each.ok] == []
    (found,) = [each.what for each in check_plugins() if PACKAGE in each.what]
    assert "model provider echo, model provider workshop, embedder letters, tool count-words" in found


class TestProvider:
    async def test_a_record_is_all_that_a_provider_needs(self):
        with Wire(Say(GOOD)) as wire:
            environ = {"WORKSHOP_API_KEY": "w-1", "WORKSHOP_BASE_URL": wire.openai}
            reply = await call_once(
                "workshop:hammer-1", environ, returns=Score, sampling=Sampling(seed=3, temperature=0.2)
            )
        assert (reply.answer, reply.provider) == (Score(reasoning="Fair.", score=7, winner="a"), "workshop")
        (request,) = wire.requests
        assert request.headers["authorization"] == "Bearer w-1"
        assert (request.body["random_seed"], request.body["temperature"], request.body["model"]) == (3, 0.2, "hammer-1")
        with pytest.raises(ModelUnavailable, match="Set WORKSHOP_API_KEY"):
            await call_once("workshop:hammer-1", {})

    def test_it_is_chosen_where_its_key_is_all_there_is(self):
        app = App(Settings(), environ={"WORKSHOP_API_KEY": "w-1"})
        choice = app.choose("judge")
        assert (choice.spec, choice.reason) == ("workshop:hammer-1", "WORKSHOP_API_KEY is set")

    async def test_a_provider_can_open_its_models_itself(self, app: App):
        assert (await call_once("echo:any", {}, text="Is it so?")).text == "Is it so?"
        done = await run_to_rest(app, await new_debate(app, "echo:any", "classic", max_rounds=1))
        assert done.status == "completed"
        assert app.is_demonstration(done)

    async def test_what_it_raises_is_said_with_its_package(self, tmp_path: Path, plugged_in):
        module = (
            "from moot.models.providers import Opened, Provider\n"
            "async def fails(call, hear):\n    raise KeyError('lost')\n"
            "X = Provider(name='grumble', example='grumble:x', open=lambda spec, opening: Opened(model=fails))\n"
        )
        entries = {"moot.providers": {"grumble": "grumble:X"}}
        plugged_in(write(tmp_path, "moot-grumble", entries, {"grumble.py": module}))
        with pytest.raises(ModelUnavailable, match=r"grumble:x failed in moot-grumble 1\.0: KeyError: 'lost'"):
            await call_once("grumble:x", {})
        assert (await call_once("grumble:x | echo:any", {}, text="Yes?")).text == "Yes?"


class TestFormat:
    async def test_it_is_played_and_replayed_with_its_tool(self, app: App, tmp_path: Path):
        model = answers_file(tmp_path, {"1/draft/writer": "one two three four", "2/draft/writer": "one two"})
        done = await run_to_rest(app, await new_debate(app, model, "draft", max_words=3))
        assert done.outcome is not None
        assert (done.outcome.ended_by, done.outcome.statement) == ("short", "one two")
        turns = await app.runtime.store.turns(done.id)
        assert [turn.kind for turn in turns] == ["ask", "use", "ask", "use"]
        assert (turns[1].model, turns[1].data) == ("count-words", {"words": 4})
        assert (await documents.prove(app, done.id)).same

    async def test_without_the_plug_in_its_debates_are_listed_and_say_what_is_missing(self, tmp_path: Path):
        model = answers_file(tmp_path, {"*/draft/writer": "one"})
        async with an_app(tmp_path) as app:
            debate_id = (await run_to_rest(app, await new_debate(app, model, "draft"))).id
        uninstall()
        async with an_app(tmp_path) as app:
            (debate,) = (await app.runtime.store.page()).debates
            assert debate.outcome is not None
            assert debate.outcome.headline == "The answer is short enough."
            with pytest.raises(InputError, match="There is no format 'draft'"):
                await documents.prove(app, debate_id)


class TestTool:
    async def test_what_goes_wrong_in_it_is_its_own(self, tmp_path: Path, plugged_in, monkeypatch):
        module = "async def saw(arguments, texts):\n    return 1 / 0\nX = 7\n"
        hangs = "import asyncio\nasync def drill(arguments, texts):\n    await asyncio.Event().wait()\n"
        names = {"saw": "saw", "hammer": "X", "drill": "drill"}
        entries = {"moot.tools": {name: f"grumbling_tools:{value}" for name, value in names.items()}}
        plugged_in(write(tmp_path, "moot-grumble", entries, {"grumbling_tools.py": hangs + module}))
        tools = toolbox.Toolbox()
        assert sorted(tools) == ["count-words", "drill", "hammer", "saw"]
        assert tools.get("nope") is None
        with pytest.raises(ToolError, match=r"'saw' of moot-grumble 1\.0 failed: ZeroDivisionError"):
            await tools["saw"]({}, {})
        monkeypatch.setattr(toolbox, "MOST_SECONDS", 0.1)
        with pytest.raises(ToolError, match=r"'drill' of moot-grumble 1\.0 took longer than 0\.1 s and was given up"):
            await tools["drill"]({}, {})
        with pytest.raises(ToolError, match="'hammer' is installed, but can't be used. It is not an async function"):
            tools.get("hammer")
        with pytest.raises(ToolError, match="needs a text"):
            await tools["count-words"]({}, {})


class TestEmbedder:
    async def test_it_compares_texts(self, tmp_path: Path):
        async with an_app(tmp_path, embedder="letters") as app:
            likeness, _ = await app.memory.compare([("listen", "silent"), ("listen", "buzz")])
            assert likeness.by == "letters"
            assert likeness.scores[0] == 1.0 > likeness.scores[1]

    async def test_one_that_raises_is_left_out_with_the_reason(self, tmp_path: Path, plugged_in):
        module = "class X:\n    name = 'mist'\n    async def __call__(self, texts):\n        raise KeyError('fog')\n"
        entries = {"moot.embedders": {"mist": "grumbling_embedder:X"}}
        plugged_in(write(tmp_path, "moot-grumble", entries, {"grumbling_embedder.py": module}))
        async with an_app(tmp_path, embedder="mist") as app:
            likeness, _ = await app.memory.compare([("a", "b")])
            assert likeness.scores == ()
            assert "The embedder mist failed: KeyError: 'fog'" in likeness.note


class TestVoting:
    def test_a_vote_is_counted_by_it(self):
        tennessee = times((42, "mnck"), (26, "nckm"), (15, "cknm"), (17, "kcnm"))
        counted = voted("minimax", "mnck", tennessee)
        assert (counted.method, counted.winner) == ("minimax", "n")

    async def test_a_council_takes_it_and_without_the_plug_in_its_debate_says_what_is_missing(self, tmp_path: Path):
        model = answers_file(tmp_path, COUNCIL.answers)
        async with an_app(tmp_path) as app:
            settings = {**COUNCIL.settings, "voting": "minimax"}
            done = await run_to_rest(app, await new_debate(app, model, "council", **settings))
            assert done.outcome is not None
            assert {poll.method for poll in done.outcome.polls} == {"minimax"}
            assert (await documents.tally(app, done.id, None)).same
            debate_id = done.id
        uninstall()
        async with an_app(tmp_path) as app:
            (debate,) = (await app.runtime.store.page()).debates
            assert debate.outcome is not None
            with pytest.raises(ScriptError, match="with a plug-in that is not installed here.*voting must be auto, "):
                await documents.prove(app, debate_id)


class TestPerspectives:
    async def test_a_panel_hears_them_and_is_replayed_without_the_plug_in(self, tmp_path: Path):
        names = ["Tool Maker", "Deadline Keeper"]
        answers = {
            "*/analyze/*": analysis(perspectives=names),
            "*/argue/p1": "Sharpen first.",
            "*/argue/p2": "Ship on Friday.",
            "*/rebut/*": rebuttal(),
            "*/evaluate/*": assessment("agreement"),
            "*/synthesize/*": SYNTHESIS,
        }
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path, answers)
            made = await new_debate(app, model, "panel", checkpoints=False, max_rounds=1, perspectives=2)
            assert [each["name"] for each in made.config["custom_perspectives"]] == names
            done = await run_to_rest(app, made)
            assert done.status == "completed", done.error
            heard = next(each for each in await documents.events(app, done.id) if each.type == "CAST").data["names"]
            assert list(heard.values()) == names
            debate_id = done.id
        uninstall()
        assert perspectives.plugged_in() == []
        async with an_app(tmp_path) as app:
            assert (await documents.prove(app, debate_id)).same

    def test_they_are_listed_with_their_package(self):
        catalog = formats.get("panel").catalog
        assert catalog is not None
        about = {each.name: each.about for each in catalog()}
        assert about["Tool Maker"].endswith(f"({PACKAGE})")
        assert not about["Security Advocate"].endswith(")")

    def test_two_of_one_name_are_refused_with_both_packages(self, tmp_path: Path, plugged_in):
        text = "perspectives: [{name: tool maker, priorities: [x], trade_offs: y}]"
        entries = {"moot.perspectives": {"copy": "copied_views"}}
        plugged_in(write(tmp_path, "moot-copy", entries, {"copied_views/__init__.py": "", "copied_views/a.yaml": text}))
        problems = {each.package: each.text for each in perspectives.DOOR.broken()}
        assert problems.keys() == {PACKAGE, "moot-copy 1.0"}
        assert all("moot-copy 1.0" in text and PACKAGE in text for text in problems.values())
        assert "'tool maker'" in problems[PACKAGE]
        assert len(perspectives.built_in()) >= 16


class TestRoles:
    async def test_a_seat_takes_one_on_and_is_replayed_without_the_plug_in(self, tmp_path: Path):
        async with an_app(tmp_path) as app:
            made = await new_debate(app, answers_file(tmp_path), "classic", seats={"a": {"hats": "tool_maker"}})
            assert "which tool would make it easy" in made.cast[0].hats[0].prompt
            debate_id = (await run_to_rest(app, made)).id
        uninstall()
        async with an_app(tmp_path) as app:
            assert (await documents.prove(app, debate_id)).same
            with pytest.raises(InputError, match="no role 'tool_maker'"):
                await new_debate(app, "sim:", "classic", seats={"a": {"hats": "tool_maker"}})

    def test_one_of_moots_is_not_replaced(self, tmp_path: Path, plugged_in):
        modules = {"other_roles/__init__.py": "", "other_roles/a.yaml": "roles: [{name: security, prompt: Relax.}]"}
        plugged_in(write(tmp_path, "moot-copy", {"moot.roles": {"copy": "other_roles"}}, modules))
        (problem,) = roles.DOOR.broken()
        assert "'security'" in problem.text
        assert roles.worn(["security"])[0].prompt != "Relax."


class TestTemplates:
    async def test_they_are_found_and_say_where_they_are_from(self, app: App):
        found = library.library(None).get("measure-twice")
        assert (found.package, found.file) == (PACKAGE, None)
        recalled, _ = await app.memory.recall("Should we delete the old data after the migration?", "templates", 2)
        assert "measure-twice" in [each.id for each in recalled.found]

    def test_one_of_moots_is_not_replaced(self, tmp_path: Path, plugged_in):
        text = "---\nid: base-rates\nname: Other\nsummary: s\n---\nText.\n"
        modules = {"other_templates/__init__.py": "", "other_templates/a.md": text}
        plugged_in(write(tmp_path, "moot-copy", {"moot.templates": {"copy": "other_templates"}}, modules))
        (problem,) = library.DOOR.broken()
        assert re.search(r"Both moot-copy 1\.0 and moot [\d.]+ bring a template 'base-rates'", problem.text)
        assert library.library(None).get("base-rates").front.name != "Other"


async def test_debates_of_a_plug_in_that_is_gone_can_still_be_listed_and_say_what_is_missing(tmp_path: Path):
    async with an_app(tmp_path) as app:
        debate_id = (await new_debate(app, "echo:any", "classic", max_rounds=1)).id
    uninstall()
    assert "echo" not in providers.DOOR
    assert embedding.DOOR.names() == ["offline"]
    async with an_app(tmp_path) as app:
        (debate,) = (await app.runtime.store.page()).debates
        assert debate.id == debate_id
        app.is_demonstration(debate)
        assert app.models.price("echo:any") is None
        with pytest.raises(InputError, match="There is no model provider 'echo'"):
            app.check(debate)


@pytest.mark.slow
def test_at_the_terminal_each_is_listed_with_its_package(tmp_path: Path, folder: Path):
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
        "MOOT_CONFIG": os.devnull,
        "MOOT_DATABASE_URL": str(tmp_path / "moot.db"),
        "NO_COLOR": "1",
    }

    def run(*arguments: str) -> str:
        command = [Path(sys.executable).with_name("moot"), *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert re.search(rf"^workshop:hammer-1 +WORKSHOP_API_KEY +not set \({PACKAGE}\)$", run("models"), re.MULTILINE)
    listed = {each["name"]: each["package"] for each in json.loads(run("models", "--json"))["providers"]}
    assert (listed["echo"], listed["openai"]) == (PACKAGE, None)
    assert re.search(rf"^measure-twice +{PACKAGE} ", run("templates"), re.MULTILINE)
    assert f"the plug-in {PACKAGE} brings: format draft, model provider echo" in run("doctor", "--model", "sim:")
