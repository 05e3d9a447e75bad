"""A format that someone else has written gets its command at the terminal from what it declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.cli.completion import script
from moot.formats import commands, get
from moot.formats.command import COMMON_FLAGS, FormatCommand, Option, problems_of
from tests.cli.conftest import Moot
from tests.plugins import write

pytestmark = pytest.mark.slow

TOPIC = "Is the backup plan sound?"

# A format with the name of a command of moot's own, and one that delivers what it is given.
MODULE = """
from dataclasses import replace
from moot.core.errors import InputError
from moot.formats.command import FormatCommand, Option, Result
from moot_interview import FORMAT as INTERVIEW

def read(path, text, settings):
    if not text.strip():
        raise InputError(f"{path.name} has no number.")
    return {"pass_mark": int(text)}, f"{path.name} was read, beside {settings['questions']}."

COMMAND = FormatCommand(
    "Have it approved.", topic="PLAN", about="what is planned", question="Which plan?", example="Move house",
    options=(
        Option("--questions", "questions", "how many", kind="number"),
        Option("--marks", "pass_mark", "the mark", value="FILE", kind="file", read=read),
        Option("--confirm", "confirm", "who confirms", asks=True),
    ),
    result=Result("approval", "write it there"),
)
LIST = replace(INTERVIEW, name="list", command=COMMAND)
APPROVE = replace(INTERVIEW, name="approve", command=COMMAND, unattended={"confirm": False})
"""


@pytest.fixture
def plugged(moot: Moot, tmp_path: Path) -> Moot:
    entries = {"moot.formats": {"list": "approvals:LIST", "approve": "approvals:APPROVE"}}
    folder = write(tmp_path / "site", "moot-approvals", entries, {"approvals.py": MODULE})
    moot.env["PYTHONPATH"] = f"{folder}:{moot.env['PYTHONPATH']}"
    return moot


def test_it_is_run_with_its_own_flags(moot: Moot):
    done = moot("interview", TOPIC, "--questions", "1", "--pass-mark", "3", "--model", "sim:", "--plain")
    assert done.code == 0, done.err
    assert "Passing takes 3 of 20." in done.out
    assert "Question 1 of 1" in done.out


def test_its_help_is_what_it_declares(moot: Moot):
    done = moot("interview", "--help")
    assert done.code == 0
    assert "usage: moot interview " in done.out
    assert "Have an answer questioned until its gaps show." in done.out
    assert "(50% by default)" in done.out
    assert moot("help", "interview").out == done.out
    assert "--out" not in done.out


def test_it_is_in_completion(moot: Moot):
    assert "--pass-mark" in script("bash")
    assert "Commands of formats: moot forge, moot interview" in moot("formats").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([" "], 'The question is empty. Say what the answer is about: moot interview "Is the backup plan sound?"'),
        ([TOPIC, "--questions", "many"], "it takes a whole number, not 'many'"),
        ([TOPIC, "--question", "1"], "Did you mean '--questions'?"),
        ([TOPIC, "--no-checkpoints"], "The format 'interview' has no checkpoints to leave out."),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(moot: Moot, arguments: list[str], said: str):
    done = moot("interview", *arguments, "--model", "sim:")
    assert done.code == 2
    assert said in done.err
    assert not moot.db.exists()


def test_a_topic_that_is_missing_is_asked_for(moot: Moot):
    terminal = moot.terminal("interview")
    assert terminal.end() == 2
    assert 'What is the interview about? moot interview "Is the backup plan sound?"' in " ".join(terminal.text.split())


def test_what_it_delivers_is_written_and_a_file_gives_settings(plugged: Moot, tmp_path: Path):
    marks, out = tmp_path / "marks.txt", tmp_path / "approval.txt"
    marks.write_text("0\n")
    flags = ("--questions", "1", "--marks", str(marks), "--model", "sim:", "--plain")
    done = plugged("approve", TOPIC, *flags, "--out", str(out))
    assert done.code == 0, done.err
    assert "marks.txt was read, beside 1." in done.err
    assert f"The approval is in {out}." in done.err
    assert out.read_text()
    marks.write_text("\n")
    assert "marks.txt has no number." in plugged("approve", TOPIC, *flags).err
    asked = plugged("approve", TOPIC, "--confirm", "true", "--no-checkpoints", "--model", "sim:")
    assert "A confirm asks you, and --no-checkpoints says not to ask: leave one of them out." in asked.err


def test_one_with_the_name_of_a_command_of_moot_is_refused(plugged: Moot):
    assert plugged("list", "--json").out.startswith("{")
    refusal = "`moot list` is moot's own command. Use `moot debate --format list`, and ask"
    assert f"The command of the format list (moot-approvals 1.0) can't be used. {refusal}" in plugged("formats").out
    doctor = plugged("doctor", "--model", "sim:")
    assert doctor.code == 1
    assert f"the command of the format list (moot-approvals 1.0)\n        {refusal}" in doctor.out


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (Option("--model", "questions", ""), "The flag '--model' of its command is no flag of the form --name, or is"),
        (Option("-q", "questions", ""), "The flag '-q' of its command is no flag"),
        (Option("--q", "nope", ""), "The flag '--q' of its command sets 'nope', which the settings don't have."),
    ],
)
def test_a_declaration_that_can_not_be_used_is_named(option: Option, said: str):
    command = FormatCommand("", topic="T", about="a", question="q", example="e", options=(option,))
    found = problems_of(command, {"questions": 1})
    assert found[0] == "`summary` of its command is empty."
    assert found[1].startswith(said)


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_what_is_read_without_its_format_is_what_the_format_declares(name: str):
    assert get(name).command is commands.COMMANDS[name]


def test_the_flags_of_every_command_are_those_that_a_format_may_not_take(moot: Moot):
    shown = moot("forge", "--help").out
    assert all(flag in shown for flag in COMMON_FLAGS)
