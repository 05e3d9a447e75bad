"""Bad input: one line that says what to do, exit code 2, and nothing is written."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

pytestmark = pytest.mark.slow

CASES = {
    "unknown command": (["lst"], ["no command 'lst'", "moot list"]),
    "unknown command, nothing near": (["frobnicate"], ["no command 'frobnicate'", "debate, forge, list"]),
    "unknown flag": (["debate", "A b", "--fromat", "duel"], ["no flag '--fromat'", "--format"]),
    "missing id": (["show"], ["Missing: ID"]),
    "unquoted question": (["debate", "Redis", "or", "what"], ["quotes"]),
    "unknown format": (["debate", "A b", "--format", "clasic"], ["no format 'clasic'", "'classic'"]),
    "a model that is empty": (["debate", "A b", "--judge-model", " "], ["--judge-model is empty", "leave it out"]),
    "unknown setting": (["debate", "A b", "--set", "max_roundz=3"], ["no setting 'max_roundz'", "'max_rounds'"]),
    "unknown setting beside a known one": (["debate", "A b", "--turns", "2", "--set", "frob=3"], ["no setting 'frob'"]),
    "a format's other name": (["debate", "A b", "--set", "token_budget=9"], ["Call it 'token_budget_per_round' here."]),
    "settings of two formats": (
        ["debate", "A b", "--turns", "2", "--perspectives", "3"],
        ["No format takes turns and perspectives together."],
    ),
    "a flag that is no number": (["debate", "A b", "--set", "max_rounds=true"], ["max_rounds must be a whole number"]),
    "unknown nested setting": (["debate", "A b", "--set", "seats.a.modle=x"], ["modle", "model"]),
    "unknown seat": (["debate", "A b", "--set", "seats.z.model=sim:?seed=1"], ["no seat 'z'"]),
    "not an assignment": (["debate", "A b", "--set", "max_rounds"], ["name=value", "max_rounds"]),
    "no question": (["debate"], ["What is the question?"]),
    "empty question": (["debate", ""], ["The question is empty"]),
    "blank question": (["debate", "  \n "], ["The question is empty"]),
    "missing file": (["debate", "--file", "no.yaml"], ["There is no spec no.yaml", "YAML file"]),
    "malformed file": (["debate", "--file", "malformed.yaml"], ["malformed.yaml", "not valid YAML", "line 2"]),
    "file without a mapping": (["debate", "--file", "list.yaml"], ["should be a mapping", "a list"]),
    "file without a topic": (["debate", "--file", "topicless.yaml"], ["The question is empty"]),
    "unknown key in a file": (["debate", "--file", "unknown.yaml"], ["no setting 'max_round'", "'max_rounds'"]),
    "two different questions": (["debate", "Another?", "--file", "topic.yaml"], ["topic.yaml differ"]),
    "negative rounds": (["debate", "A b", "--rounds", "-1"], ["max_rounds", "-1"]),
    "absurd rounds": (["debate", "A b", "--rounds", "999999999"], ["max_rounds", "999999999"]),
    "rounds that are no number": (["debate", "A b", "--rounds", "many"], ["--rounds", "many"]),
    "negative cost": (["debate", "A b", "--set", "max_cost_usd=-1"], ["max_cost_usd", "-1"]),
    "absurd time": (["debate", "A b", "--set", "max_runtime_seconds=1e12"], ["max_runtime_seconds"]),
    "unknown provider": (["debate", "A b", "--model", "opnai:x"], ["opnai", "openai:x"]),
    "model without a key": (["debate", "A b", "--model", "openai:gpt-6-luna"], ["OPENAI_API_KEY"]),
    "missing script": (["debate", "A b", "--model", "scripted:none.yaml"], ["none.yaml"]),
    "bad judge model": (["debate", "A b", "--judge-model", "what"], ["what"]),
    "rounds in a duel": (["debate", "A b", "--format", "duel", "--rounds", "2"], ["no --rounds", "--turns"]),
    "turns in a classic": (["debate", "A b", "--format", "classic", "--turns", "2"], ["no --turns", "--rounds"]),
    "stance in a duel": (["debate", "A b", "--format", "duel", "--stance", "pro"], ["no --stance", "--turns"]),
    "unknown stance": (["debate", "A b", "--stance", "maybe"], ["maybe", "'pro', 'con'"]),
    "json and plain": (["debate", "A b", "--json", "--plain"], ["--plain", "--json"]),
    "show nothing": (["show", "abc"], ["no debate 'abc'", "moot list"]),
    "watch nothing": (["watch", "abc"], ["no debate 'abc'"]),
    "stop nothing": (["stop", "abc"], ["no debate 'abc'"]),
    "cancel nothing": (["cancel", "abc"], ["no debate 'abc'"]),
    "retry nothing": (["retry", "abc"], ["no debate 'abc'"]),
    "fork nothing": (["fork", "abc", "--at", "1/speak/a"], ["no debate 'abc'"]),
    "replay nothing": (["replay", "abc"], ["no debate 'abc'"]),
    "audit nothing": (["audit", "abc"], ["no debate 'abc'"]),
    "resume what": (["resume"], ["moot resume ID", "--all"]),
    "resume one and all": (["resume", "abc", "--all"], ["not both"]),
    "unknown status": (["list", "--status", "runing"], ["no status 'runing'", "'running'"]),
    "unknown format in list": (["list", "--format", "duell"], ["no format 'duell'", "'duel'"]),
    "limit of nothing": (["list", "--limit", "0"], ["--limit", "1 to 1000"]),
    "unknown format name": (["formats", "dual"], ["no format 'dual'", "'duel'"]),
    "database of another kind": (["list", "--db", "mysql://x/y"], ["mysql://", "--db"]),
    "empty database path": (["list", "--db", ""], ["--db"]),
}
FILES = {
    "malformed.yaml": "topic: [unclosed\n",
    "list.yaml": "- a\n",
    "topicless.yaml": "max_rounds: 2\n",
    "unknown.yaml": "topic: A b?\nmax_round: 2\n",
    "topic.yaml": "topic: A b?\n",
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_in_one_line_and_nothing_is_written(moot, name):
    args, said = CASES[name]
    for file, text in FILES.items():
        (moot.folder / file).write_text(text)
    if args[0] == "debate" and "--model" not in args:
        args = [*args, "--model", "sim:"]
    result = moot(*args)
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.startswith("moot: ")
    assert result.err.count("\n") == 1
    for words in said:
        assert words in result.err
    assert not moot.db.exists()


def test_a_question_of_a_megabyte(moot):
    result = moot("debate", "-", "--model", "sim:", input="a " * 500_000)
    assert result.code == 2
    assert "999,999 characters; 20,000 is the most" in result.err
    assert not moot.db.exists()


def test_a_question_that_is_no_text(moot):
    result = moot("debate", "-", "--model", "sim:", input=b"\xff\xfe")
    assert result.code == 2
    assert "not UTF-8" in result.err


@pytest.mark.parametrize("path", [".", "/proc/moot/moot.db"])
def test_a_database_that_cannot_be_written(moot, path):
    result = moot("debate", "Is it so?", "--model", "sim:", "--db", path)
    assert result.code == 2
    assert "--db" in result.err
    assert result.err.count("\n") == 1


def test_a_database_that_is_something_else(moot):
    (moot.folder / "letter.txt").write_text("Dear Sir or Madam, this is not a database at all. " * 10)
    result = moot("debate", "Is it so?", "--model", "sim:", "--db", "letter.txt")
    assert result.code == 2
    assert "letter.txt" in result.err
    assert "not a moot database" in result.err


@pytest.mark.parametrize("command", [["debate", "Is it so?", "--model", "sim:"], ["list"], ["show", "abc"]])
def test_a_database_of_a_newer_moot(moot, command):
    with closing(sqlite3.connect(moot.db)) as connection, connection:
        connection.execute("pragma user_version = 999")
    result = moot(*command)
    assert result.code == 2
    assert "schema 999" in result.err
    assert "Upgrade moot" in result.err


def test_an_unknown_environment_setting_is_named(moot):
    result = moot("list", MOOT_CONCURRENCY="none")
    assert result.code == 2
    assert "concurrency" in result.err.lower()


def test_a_message_cannot_carry_escapes(moot):
    result = moot("show", "\x1b[31mred\nmoot: all is well")
    assert result.code == 2
    assert "\x1b" not in result.err
    assert result.err.count("\n") == 1


def test_an_ambiguous_prefix(moot):
    assert moot("Is it so?", "--rounds", "1", "--model", "sim:").code == 0
    first = moot.ids[0]
    twin = first[:9] + ("0" if first[9] != "0" else "1") + first[10:]
    columns = [row[1] for row in moot.sql("pragma table_info(debate_sessions)") if row[1] != "id"]
    names = ", ".join(f'"{name}"' for name in columns)
    moot.sql(f"insert into debate_sessions (id, {names}) select ?, {names} from debate_sessions", twin)
    result = moot("show", first[:6])
    assert result.code == 2
    assert "could be any of" in result.err
    assert first[:13] in result.err
    assert twin[:13] in result.err
    assert moot("show", first[:10]).code == 0


@pytest.mark.parametrize("command", ["resume", "retry", "stop", "cancel"])
def test_the_wrong_command_for_a_completed_debate(finished, command):
    moot, _ = finished
    result = moot(command, moot.ids[0][:6])
    assert result.code == 2
    assert "is completed" in result.err
    assert result.err.endswith(f"moot record {moot.ids[0][:8]}\n")
    assert moot.status() == "completed"


def test_forking_at_a_step_that_never_was(finished):
    moot, _ = finished
    result = moot("fork", moot.ids[0], "--at", "1/speek/a")
    assert result.code == 2
    assert "'1/speak/a'" in result.err
    assert len(moot.ids) == 1


def test_forking_a_complete_debate_needs_a_step(finished):
    moot, _ = finished
    result = moot("fork", moot.ids[0])
    assert result.code == 2
    assert "--at 2/verdict/judge" in result.err
    assert len(moot.ids) == 1


def test_forking_with_settings_that_change_what_was_said(finished):
    moot, _ = finished
    result = moot("fork", moot.ids[0], "--at", "2/speak/a", "--set", "a_stance=con")
    assert result.code == 2
    assert "1/speak/a" in result.err
    assert len(moot.ids) == 1
