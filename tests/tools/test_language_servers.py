"""Language servers that the operator lists: real ones find what is wrong, in the sandbox. One that is missing, hangs or
speaks no protocol is named and never counts as passed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot import formats
from moot.client.code_checkup import check_code
from moot.core.errors import InputError
from moot.core.script import Stage
from moot.core.settings import DebateSettings, Settings, read
from moot.core.types import Outcome
from moot.core.values import sha256_of
from moot.reasoning.code.assist import AssistRun
from moot.reasoning.code.requests import CheckRun
from tests.running import an_app, new_debate, run_to_rest
from tests.runtime.small import a_format, outcome
from tests.runtime.test_forge import new_forge

pytestmark = pytest.mark.slow

CODE = "def double(n: int) -> int:\n    return 2 * n\n\n\ndef wrong() -> str:\n    import os\n    return double(2)\n"
VERSION = sha256_of(CODE)
PYRIGHT = {"command": ["pyright-langserver", "--stdio"], "languages": ["python"], "timeout_seconds": 250}
RUFF = {"command": ["ruff", "server"], "languages": ["Python"], "timeout_seconds": 250}


def says(script: str, **more: Any) -> dict[str, Any]:
    """A server that is a script of the shell."""
    return {"command": ["sh", "-c", script], "languages": ["python"], "timeout_seconds": 250, **more}


def message(body: str) -> str:
    """A script that sends a message and then reads for ever."""
    return f"printf 'Content-Length: {len(body)}\\r\\n\\r\\n{body}'; cat >/dev/null"


async def checked(folder: Path, servers: dict[str, Any]) -> CheckRun:
    async with an_app(folder, language_servers=servers) as app:
        made = await app.tools["checks"]({"version": VERSION, "tools": ["servers"]}, {VERSION: CODE})
        return CheckRun.model_validate(made)


async def diagnosing(stage: Stage, settings: DebateSettings) -> Outcome:
    request = {"request": {"what": "diagnose", "version": VERSION}}
    found = await stage.use("assist", "look", request, returns=AssistRun, texts=[CODE])
    return outcome("tie", found.text)


async def test_real_servers_find_what_is_wrong_and_the_call_is_recorded_on_its_turn(tmp_path):
    with formats.DOOR.adding("diagnosing", a_format(diagnosing)):
        servers = {"pyright": PYRIGHT, "ruff": RUFF, "other": {**RUFF, "languages": ["javascript"]}}
        async with an_app(tmp_path, language_servers=servers) as app:
            done = await run_to_rest(app, await new_debate(app, "sim:", "diagnosing"))
            assert done.outcome is not None, done.error
            (turn,) = await app.runtime.store.turns(done.id)
            found = AssistRun.model_validate(turn.data)
            assert (found.missing, found.failed) == ((), ())
            told = {(each.tool, each.rule, each.line, each.severity) for each in found.findings}
            assert ("language server pyright", "reportReturnType", 7, "medium") in told
            assert ("language server ruff", "F401", 6, "low") in told
            assert not any("other" in each.tool for each in found.findings)
            assert "line 7: Type" in done.outcome.headline
            (call,) = turn.tool_calls or ()
            assert call["tool"] == "assist"
            assert call["fingerprint"].startswith("pyright, ruff 0.")
            assert call["limits"]["memory_bytes"] == 1024 * 1024 * 1024


async def test_a_forge_has_its_versions_checked_by_them(tmp_path):
    async with an_app(tmp_path, language_servers={"ruff": RUFF, "none": {**RUFF, "command": ["nowhere"]}}) as app:
        made = await new_forge(app, preset="quick", adversarial=False, hooks=["proposal"])
        ended = await run_to_rest(app, made)
        assert ended.outcome is not None, ended.error
        looks = [turn for turn in await app.runtime.store.turns(ended.id) if turn.phase == "check"]
        assert looks
        for turn in looks:
            assert turn.data is not None
            assert "language server ruff" in turn.data["done"]
            assert turn.data["missing"] == ["language server none"]
        assert ended.outcome.record is not None
        (left,) = [each for each in ended.outcome.record.sections if each.title == "Not checked"]
        assert "Not installed, or without a result: language server none." in left.items


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (says("cat >/dev/null", timeout_seconds=1), "it took longer than 1 s"),
        (says("yes"), "it does not speak the protocol: what it sent begins with no header"),
        (
            says("printf 'Length: x\\r\\n\\r\\n'; cat >/dev/null"),
            "it does not speak the protocol: a message has no length",
        ),
        (says("printf 'Content-Length: 99999999\\r\\n\\r\\n'; cat"), "it sent a message of 99,999,999 bytes"),
        (says(message("hello")), "it does not speak the protocol: a message is no JSON"),
        (says(message('{"id": 1, "result": []}')), "it does not speak the protocol: something is no object"),
        (says(message('{"id": 1, "error": {"message": "no licence"}}')), "it refused: no licence"),
        (says("echo no licence >&2; exit 3"), "it ended with 3: no licence"),
        (says("true", mounts=["/nowhere/at/all"]), "it needs /nowhere/at/all, which is not there"),
    ],
    ids=["hangs", "garbage", "no length", "too much", "no JSON", "no object", "refuses", "ends", "no folder"],
)
async def test_a_server_that_says_nothing_of_use_is_named(tmp_path, server, problem):
    done = await checked(tmp_path, {"odd": server})
    (failed,) = done.failed
    assert failed.startswith(f"language server odd: {problem}")
    assert (done.done, done.missing, done.findings) == ((), (), ())


async def test_one_that_is_missing_is_named(tmp_path):
    done = await checked(tmp_path, {"none": {"command": ["nowhere-at-all"], "languages": ["python"]}})
    assert (done.done, done.missing, done.failed) == ((), ("language server none",), ())
    assert "Not installed: language server none." in done.prose()


async def test_one_that_lies_in_a_folder_of_its_own_is_found_there_and_can_read_it(tmp_path, monkeypatch):
    folder = tmp_path / "lsp"
    (folder / "bin").mkdir(parents=True)
    (folder / "words").write_text("of its own")
    program = folder / "bin" / "odd-server"
    program.write_text('#!/bin/sh\ncat "$(dirname "$0")/../words" >&2; exit 4\n')
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    server = {"command": ["~/lsp/bin/odd-server"], "languages": ["python"], "mounts": ["~/lsp/"]}
    done = await checked(tmp_path, {"odd": server})
    assert done.failed == ("language server odd: it ended with 4: of its own",)


async def test_it_gets_no_variable_but_those_that_are_listed_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVIDER_KEY", "sk-canary")
    script = 'echo "key: $PROVIDER_KEY, given: $GIVEN" >&2; exit 1'
    done = await checked(tmp_path, {"odd": says(script, environment={"GIVEN": "yes"})})
    assert done.failed == ("language server odd: it ended with 1: key: , given: yes",)


async def test_the_doctor_names_them(tmp_path):
    servers = {"ruff": RUFF, "none": {**RUFF, "command": ["nowhere-at-all"]}}
    async with an_app(tmp_path, language_servers=servers) as app:
        found = [(each.ok, each.what) for each in await check_code(app)]
    assert (True, "code is checked by the language server ruff") in found
    assert (False, "the language server none is not installed; what it would find is never known") in found


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ({"command": ["x"], "languages": []}, "languages"),
        ({"command": ["x"], "languages": ["python"], "mounts": ["lib"]}, "mounts"),
    ],
)
def test_configuration_that_is_not_valid(server, problem):
    with pytest.raises(InputError, match=problem):
        read(Settings, {"language_servers": {"odd": server}})
