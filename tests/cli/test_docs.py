"""docs/cli.md names every command, flag, exit code and JSON field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.cli import commands
from moot.cli.blocks import RenderContext
from moot.cli.commands import COMMANDS
from moot.cli.parser import parser_of
from moot.cli.views import debate_json, event_json
from moot.core.types import Debate, Event

DOCS = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
DEBATE = Debate(id="x", topic="", format="classic", format_version=1, status="pending", config={}, cast=())


def section(name: str) -> str:
    found = re.search(rf"^## `moot {name}\b.*?(?=^## |\Z)", DOCS, re.MULTILINE | re.DOTALL)
    assert found, f"docs/cli.md has no section for `moot {name}`"
    return found[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_flag(name):
    text = section(name)
    for action in parser_of(name, COMMANDS[name])._actions:
        for flag in action.option_strings:
            if flag in ("-h", "--help", "--db"):
                continue
            assert f"`{flag}" in text, f"docs/cli.md: `moot {name}` does not document {flag}"
        if not action.option_strings:
            assert str(action.metavar) in text


def test_flags_of_every_command():
    assert "`--db PATH`" in DOCS
    assert "--help" in DOCS
    assert "--version" in DOCS


@pytest.mark.parametrize("name", COMMANDS)
def test_no_flag_is_documented_that_is_not_there(name):
    table = [line for line in section(name).splitlines() if line.startswith("| `--")]
    documented = {flag for line in table for flag in re.findall(r"`(--[a-z-]+)", line.split("|")[1])}
    assert documented <= set(parser_of(name, COMMANDS[name]).flags())


def test_every_exit_code():
    for name in ("DONE", "FAILED", "BAD_INPUT", "STOPPED", "CANCELED", "INTERRUPTED", "BROKEN_PIPE"):
        assert f"| {getattr(commands, name)} |" in DOCS


def test_every_field_of_the_json():
    context = RenderContext.of(DEBATE, demonstration=False)
    event = Event(seq=1, type="status", key="", data={}, created_at=0.0)
    for field in [*event_json(event, context), *debate_json(DEBATE, demonstration=False, interrupted=False)]:
        assert f"`{field}`" in DOCS, field


def test_in_the_overview_every_name_stands_apart_from_its_summary(moot):
    lines = moot("--help").out.splitlines()
    columns = set()
    for name, command in COMMANDS.items():
        (line,) = [line for line in lines if line.split()[:1] == [name] and line.endswith(command.summary)]
        columns.add(len(line) - len(command.summary))
    assert columns == {2 + max(map(len, COMMANDS)) + 2}
