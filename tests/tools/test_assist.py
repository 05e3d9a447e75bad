"""Assistance: formatting, diagnostics, memory, and those MCP tools that the operator has listed."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot import formats
from moot.app import App
from moot.core.errors import InputError, ToolError
from moot.core.script import Stage
from moot.core.settings import DebateSettings, Settings, read
from moot.core.types import Asker, Outcome, Recalled, Recollection, Usage
from moot.core.values import sha256_of
from moot.formats import Format
from moot.reasoning.code.assist import AssistRun
from moot.tools.sandbox.supervisor import tree
from tests.running import an_app, new_debate, run_to_rest
from tests.runtime.small import a_format, a_runtime, outcome, run

pytestmark = pytest.mark.slow

UGLY = "def  double( n:int )->int :\n  return 2*n\n\n\ndef wrong() -> str:\n  import os\n  return double(2)\n"
TOOLS = ["look_up", "long_text", "hang", "fail", "keep", "nowhere"]
COMMAND = [sys.executable, "-m", "tests.tools.serving"]
QUERY = "Redis or PostgreSQL for caching? Which database should we choose?"


def bench(**more: Any) -> dict[str, Any]:
    return {"tool_servers": {"bench": {"command": COMMAND, "tools": TOOLS, "timeout_seconds": 250, **more}}}


def ask(folder: Path, settings: dict[str, Any] | None = None, environ: dict[str, str] | None = None, **request: Any):
    async def main() -> AssistRun:
        app = App(Settings(database_url=str(folder / "moot.db"), embedder="none", **settings or {}), environ or {})
        try:
            texts = {sha256_of(text): text for text in (UGLY, "no code at all (")}
            return AssistRun.model_validate(await app.tools["assist"]({"request": request}, texts))
        finally:
            await app.close()

    return asyncio.run(main())


class TestCode:
    def test_code_is_formatted(self, tmp_path):
        done = ask(tmp_path, what="format", version=sha256_of(UGLY))
        assert done.text.startswith("def double(n: int) -> int:\n    return 2 * n\n")
        assert done.fingerprint.startswith("ruff ")
        assert done.limits is not None

    def test_what_is_no_code_is_not_formatted(self, tmp_path):
        with pytest.raises(ToolError, match="could not be formatted"):
            ask(tmp_path, what="format", version=sha256_of("no code at all ("))

    def test_another_language_has_no_formatter(self, tmp_path):
        with pytest.raises(ToolError, match="There is no formatter for cobol"):
            ask(tmp_path, what="format", version=sha256_of(UGLY), language="cobol")

    def test_diagnostics(self, tmp_path):
        done = ask(tmp_path, what="diagnose", version=sha256_of(UGLY))
        assert {each.rule for each in done.findings} == {"F401", "return-value"}
        assert "line 7" in done.text
        assert done.missing == ()

    def test_a_missing_tool_is_named_and_never_a_pass(self, tmp_path, monkeypatch):
        monkeypatch.setattr("moot.tools.checks.linters.installed", lambda name: None)
        monkeypatch.setattr("moot.tools.checks.linters.ruff_program", lambda: None)
        done = ask(tmp_path, what="diagnose", version=sha256_of(UGLY))
        assert (done.findings, done.missing) == ((), ("ruff", "mypy"))
        assert "Not installed: ruff, mypy." in done.prose()


def looking(corpus: str, k: int = 2) -> Format:
    """Rules that look something up in memory."""

    async def look(stage: Stage, settings: DebateSettings) -> Outcome:
        request = {"request": {"what": "retrieve", "query": QUERY, "corpus": corpus, "k": k}}
        return outcome("tie", (await stage.use("assist", "look", request, returns=AssistRun)).text)

    return a_format(look)


@pytest.mark.parametrize("corpus", ["templates", "lessons"])
async def test_memory_is_asked_and_what_it_costs_is_on_the_turn(app, tmp_path, corpus):
    asked_by: list[str] = []

    async def recall(query: str, corpus: str, k: int, asker: Asker) -> tuple[Recollection, Usage]:
        asked_by.append(asker.debate_id)
        found = Recalled(id="1", title=f"{corpus} on {query}", text="Use sets.", score=1.0)
        return Recollection(found=(found,) * k, by="bm25 + wire:e"), Usage(tokens_in=12, cost_usd=0.5)

    async def learned(query: str, corpus: str, k: int, agent: str, asker: Asker) -> tuple[Recollection, Usage]:
        assert agent == ""
        return await recall(query, corpus, k, asker)

    app.memory.recall, app.memory.learned = recall, learned  # type: ignore[method-assign]
    async with a_runtime(tmp_path, looking(corpus), tools=app.tools) as runtime:
        done = await run(runtime, looking(corpus))
        assert done.outcome is not None, done.error
        assert done.outcome.headline.count(f"{corpus} on {QUERY}\nUse sets.") == 2
        assert asked_by == [done.id]  # what its readers may not see is not recalled
        (turn,) = await runtime.store.turns(done.id)
        assert (turn.tokens_in, turn.cost_usd) == (12, 0.5)
        (call,) = turn.tool_calls or ()
        assert (call["tool"], call["fingerprint"]) == ("assist", "bm25 + wire:e")
        assert turn.metadata["arguments"]["request"]["query"] == QUERY


def test_memory_is_asked_by_debates_alone(tmp_path):
    with pytest.raises(ToolError, match="Memory is asked by debates alone"):
        ask(tmp_path, what="retrieve", query=QUERY)


async def test_real_memory_is_asked(tmp_path):
    with formats.DOOR.adding("look", looking("templates", 10)):
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, "sim:", "look"))
            assert done.outcome is not None, done.error
            recalled, _ = await app.memory.recall(QUERY, "templates", 10)
            assert done.outcome.headline == "\n\n".join(f"{each.title}\n{each.text}" for each in recalled.found)
            assert done.outcome.headline


class TestServers:
    def use(self, folder: Path, tool: str, more: dict[str, Any] | None = None, **request: Any) -> AssistRun:
        environ = {"SECRET_KEY": "sk-of-moot", "SHARED": "a word"}
        return ask(folder, bench(**more or {}), environ, what="mcp", tool=f"bench/{tool}", **request)

    def test_a_listed_tool_that_only_reads(self, tmp_path):
        done = self.use(tmp_path, "look_up", arguments={"word": "moot"})
        assert done.text == "moot means nothing. Key: none. Shared: ."  # it gets none of our environment
        assert done.fingerprint == "workbench 1.2"

    def test_it_gets_the_variables_that_are_named(self, tmp_path):
        done = self.use(tmp_path, "look_up", {"environment": ["SHARED"]}, arguments={"word": "x"})
        assert done.text == "x means nothing. Key: none. Shared: a word."

    @pytest.mark.parametrize("name", ["bench/unlisted", "other/look_up"])
    def test_one_that_is_not_listed_is_never_called(self, tmp_path, name):
        with pytest.raises(ToolError, match=f"'{name}' is not among those .*: bench/look_up, "):
            ask(tmp_path, bench(), what="mcp", tool=name)

    def test_effects_are_refused_unless_they_are_allowed(self, tmp_path):
        with pytest.raises(ToolError, match="may change something, and the operator allows it only to read"):
            self.use(tmp_path, "keep", artifacts={"text": sha256_of(UGLY)})

    def test_words_never_reach_a_tool_with_effects(self, tmp_path):
        allowed = {"effects": ["keep"]}
        with pytest.raises(ToolError, match="gets texts as artifacts and no words"):
            self.use(tmp_path, "keep", allowed, arguments={"text": "rm -rf /"})
        with pytest.raises(ToolError, match="was not handed over"):
            self.use(tmp_path, "keep", allowed, artifacts={"text": sha256_of("words of a debater")})
        done = self.use(tmp_path, "keep", allowed, arguments={"copies": 2}, artifacts={"text": sha256_of(UGLY)})
        assert done.text == f"kept {len(UGLY)} characters 2 times"

    def test_a_tool_that_hangs_is_given_up_and_ended(self, tmp_path):
        before = tree(os.getpid())[3]
        with pytest.raises(ToolError, match="took longer than 3 s"):
            self.use(tmp_path, "hang", {"timeout_seconds": 3})
        assert tree(os.getpid())[3] == before

    def test_a_program_that_does_not_start(self, tmp_path):
        with pytest.raises(ToolError, match="'bench/look_up' can't be used: FileNotFoundError"):
            self.use(tmp_path, "look_up", {"command": ["/nowhere/server"]})

    def test_over_http(self, tmp_path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with subprocess.Popen([*COMMAND, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                while True:
                    assert process.poll() is None
                    with socket.socket() as tried:
                        if tried.connect_ex(("127.0.0.1", port)) == 0:
                            break
                there = {"command": [], "url": f"http://127.0.0.1:{port}/mcp"}
                done = self.use(tmp_path, "look_up", there, arguments={"word": "moot"})
                assert done.text.startswith("moot means nothing.")
                with pytest.raises(ToolError, match="'bench/fail' failed: Error executing tool fail"):
                    self.use(tmp_path, "fail", there)
                long = self.use(tmp_path, "long_text", there)
                assert (len(long.text), long.truncated) == (64_000, True)
                with pytest.raises(ToolError, match="has no tool of that name"):
                    self.use(tmp_path, "nowhere", there)
            finally:
                process.kill()

    @pytest.mark.parametrize(
        ("server", "problem"),
        [
            ({"tools": ["a"]}, "either `command` or `url`"),
            ({"tools": ["a"], "command": ["x"], "effects": ["b"]}, "`effects` names 'b'"),
            ({"tools": ["a"], "url": "ftp://x"}, "url"),
        ],
    )
    def test_configuration_that_is_not_valid(self, server, problem):
        with pytest.raises(InputError) as refused:
            read(Settings, {"tool_servers": {"bench": server}})
        assert problem in str(refused.value)


def test_a_request_that_is_none(tmp_path):
    with pytest.raises(ToolError, match="The request can't be read"):
        ask(tmp_path, what="delete", version="x")
