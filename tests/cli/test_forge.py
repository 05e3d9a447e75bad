"""`moot forge`: a task in, code and a report out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from moot.cli.delivery import Delivery
from moot.corpus import tasks
from moot.formats.command import Result

TASK = next(iter(tasks()))
MODEL = "sim:?seed=3&skill=1&cases=1&repair=1&red=1"


def test_the_code_that_won_is_written_and_the_report_printed(moot, tmp_path: Path):
    out = tmp_path / "won.py"
    result = moot("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--plain", "--out", str(out))
    assert result.code == 0, result.err
    assert "def " in out.read_text()
    assert re.search(
        r"\nThe code of Engineer A passes, of the tests that its author knows, \d of \d  [✓✗·]+\n", result.out
    )
    for title in ("The case matrix", "Versions", "Not checked"):
        assert f"\n{title}\n" in result.out
    assert f"The code is in {out}." in result.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "rail"),
    [(100, "✓ Self-evolvement  ▸ Proposal  · Adversarial rounds  · Convergence"), (50, "✓ ▸ · ·")],
)
def test_a_terminal_shows_how_far_it_is(moot, columns: int, rail: str):
    terminal = moot.terminal(
        "forge", TASK.spec, "--preset", "quick", "--model", f"{MODEL}&tps=100", rows=20, columns=columns
    )
    for question in ("Write the decision to docs/decisions/? [y/N] ", "Draft a follow-up issue"):
        terminal.until(question)
        terminal.press("\n")
    assert terminal.end() == 0
    assert rail in terminal.text
    assert "off: Dehallucination, Critique, Review" in terminal.text
    before, _, after = terminal.text.partition("The case matrix")
    assert re.search(r"Engineer [AB]  \d+ of \d+  [✓✗·]+\r?\n.*▸ ", before), "it fills before there is a whole one"
    assert re.search(r"V2  \d+ of \d+  [✓✗·]+\r?\n", after)


def test_a_question_for_a_debate_is_refused(moot):
    result = moot("forge", "Redis or PostgreSQL?", "--model", MODEL)
    assert result.code == 2
    assert "asks for a decision, not for code" in result.err
    assert "Redis" not in moot("list").out


def test_json_and_a_file_go_together(moot, tmp_path: Path):
    out = tmp_path / "won.py"
    result = moot("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--json", "--out", str(out))
    assert result.code == 0, result.err
    assert "def " in out.read_text()
    assert all(json.loads(line) for line in result.out.splitlines())


def test_code_that_can_not_be_written_in_the_end_is_printed(tmp_path: Path, capsys):
    out = tmp_path / "gone" / "won.py"
    assert Delivery(Result("code", ""), out, as_json=False).write(out, "def f(): ...\n") == 1
    shown = capsys.readouterr()
    assert "def f(): ..." in shown.out
    assert "can't be written: No such file or directory" in shown.err


def test_the_matrix_is_printed_once_and_the_code_last(moot):
    result = moot("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--plain")
    assert result.code == 0, result.err
    assert result.out.lower().count("case matrix") == 1
    report, _, code = result.out.rpartition("\n\n")
    assert code.startswith("def ") or "def " in code
    assert "Not checked" in report
    assert "steps," in result.err
    assert "round" not in result.err


def test_without_a_winner_the_exit_code_says_so(moot):
    result = moot("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--set", "cases=['first_repeat([]) == 9']")
    assert "There is no winner, so no code is delivered." in result.err
    assert result.code == 1


def test_a_gate_whose_time_is_over_is_not_asked_again(moot):
    asked = ("--preset", "quick", "--gate", "proposal", "--set", "on_timeout=reject", "--model", MODEL, "--plain")
    assert moot("forge", TASK.spec, *asked).code == 3
    moot.sql("update debate_gates set expires_at = 1")
    resumed = moot("resume", moot.ids[-1], "--plain")
    assert "No one answered in time" in resumed.out
    assert moot.status() == "completed"


def test_a_gate_that_waits_says_that_the_file_is_not_written_and_the_answer_writes_it(moot, tmp_path: Path):
    out = tmp_path / "gated code.py"
    asked = ("--preset", "quick", "--gate", "proposal", "--model", MODEL, "--plain", "--out", str(out))
    waiting = moot("forge", TASK.spec, *asked)
    assert waiting.code == 3
    assert f"{out} is not written yet: add --out '{out}' to that command." in waiting.err
    assert not out.exists()
    (id_,) = [each["id"] for each in json.loads(moot("list", "--json").out)["debates"]]
    ended = moot("answer", id_, "approve", "--plain", "--out", str(out))
    assert ended.code == 0, ended.err
    assert "def " in out.read_text()
    assert "\nNot checked\n" in ended.out
    assert "not written yet" not in ended.err


def test_answering_without_a_file_prints_report_and_code(moot):
    moot("forge", TASK.spec, "--preset", "quick", "--gate", "proposal", "--model", MODEL, "--plain")
    (id_,) = [each["id"] for each in json.loads(moot("list", "--json").out)["debates"]]
    ended = moot("answer", id_, "approve", "--plain")
    assert ended.code == 0, ended.err
    report, _, code = ended.out.rpartition("\n\n")
    assert "def " in code
    assert "Not checked" in report


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("answer", "{}", "approve", "--no-run"), "--no-run only answers"),
        (("resume", "--all"), "--all is about many debates"),
        (("fork", "{}", "--no-run"), "--no-run only creates it"),
    ],
)
def test_a_file_is_refused_where_the_debate_does_not_end_here(moot, tmp_path: Path, command, said):
    moot("forge", TASK.spec, "--preset", "quick", "--gate", "proposal", "--model", MODEL, "--plain")
    (id_,) = [each["id"] for each in json.loads(moot("list", "--json").out)["debates"]]
    refused = moot(*(each.format(id_) for each in command), "--out", str(tmp_path / "x.py"))
    assert refused.code == 2
    assert said in refused.err


def test_ctrl_c_at_the_questions_in_the_end_loses_no_code(moot, tmp_path: Path):
    out = tmp_path / "won.py"
    terminal = moot.terminal("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--out", str(out))
    terminal.until("Write the decision to docs/decisions/? [y/N] ")
    assert "def " in out.read_text()
    assert f"The code is in {out}." in terminal.text.replace("\r\n", "")
    terminal.press("\x03")
    terminal.end()


def test_a_debate_that_is_shown_again_has_its_code(moot):
    ended = moot("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--json")
    code = next(each for each in ended.events if each["type"] == "VERDICT")["data"]["answer"]["value"]
    shown = moot("show", ended.events[0]["debate"], "--plain")
    assert "\n".join(f"  {line}".rstrip() for line in code.strip().splitlines()) in shown.out


def test_an_empty_task_is_refused_in_words_about_code(moot):
    result = moot("forge", "  ", "--model", MODEL)
    assert result.code == 2
    assert "The task is empty. Say what the code should do" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "{there}"], "exists already"),
        (["--out", "{folder}/no/such/x.py"], "There is no folder"),
        (["--out", "/proc/x.py"], "can't be written"),
        (["--out", "{dangling}"], "exists already"),
        (["--gate", "proposal", "--no-checkpoints"], "leave one of them out"),
        (["--gate", "critique", "--preset", "quick"], "no gate after critique: it is off"),
        (["--tests", "{bad}"], "line 2 (add(1, 2) = 3)"),
        (["--tests", "{folder}/none.txt"], "can't be read"),
        (["--tests", "{empty}"], "are empty"),
        (["--tests", "{binary}"], "can't be read"),
        (["--tests", "{huge}"], "200,000"),
        (["--tests", "{prose}"], "line 1"),
        (["--tests", "{idle}"], "it asserts nothing, so that every version would pass it"),
        (["--tests", "{stranger}"], "it never uses the code, which it must import from 'solution'"),
        (["--tests", "{constant}"], "The test 1 == 1 never uses the code"),
        (["--tests", "{builtin}"], "The test len([1]) == 1 never uses the code"),
        (
            ["--tests", "{shown}"],
            "line 1 (print(1)) is no test such as add(1, 2) == 3, and does not say",
        ),
        (["--repo", "{folder}", "--tests", "{passing}"], "it asserts nothing, so that every version would pass it"),
        (["--repo", "{folder}", "--tests", "{shown}"], "it has no function whose name begins with test"),
        (["--lang", "cobol"], "language"),
        (["--gate", "lunch"], "gates"),
        (["--set", "cases=['add(1, 2)']"], "is no test"),
        (
            ["--set", "cases=['add(1, 2) == 3', 'add(1, 2) == 4']"],
            "expect different things of 'add(1, 2)', so no code can pass both: leave one out",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(moot, tmp_path: Path, arguments, said):
    there, empty = tmp_path / "there.py", tmp_path / "empty.txt"
    there.write_text("mine\n")
    empty.write_text("\n")
    dangling, bad = tmp_path / "dangling.py", tmp_path / "bad.txt"
    dangling.symlink_to(tmp_path / "nowhere.py")
    bad.write_text("add(1, 1) == 2\nadd(1, 2) = 3\n")
    idle, stranger = tmp_path / "test_idle.py", tmp_path / "test_stranger.py"
    idle.write_text("from solution import add\n\n\ndef test_add():\n    add(1, 2)\n    assert True\n")
    stranger.write_text("import math\n\n\ndef test_add():\n    assert math.fsum([1, 2]) == 3\n")
    binary, huge, prose = tmp_path / "binary.py", tmp_path / "huge.py", tmp_path / "prose.txt"
    binary.write_bytes(bytes(range(256)))
    huge.write_text("# padding\n" * 1_000_000)
    prose.write_text("It should add, of course.\n")
    constant, builtin = tmp_path / "constant.py", tmp_path / "builtin.txt"
    constant.write_text("from solution import add\nassert 1 == 1\n")
    builtin.write_text("add(1, 2) == 3\nlen([1]) == 1\n")
    shown, passing = tmp_path / "shown.py", tmp_path / "test_passing.py"
    shown.write_text("print(1)\n")
    passing.write_text("def test_a():\n    pass\n")
    more = {"constant": constant, "builtin": builtin, "shown": shown, "passing": passing}
    named = {"idle": idle, "stranger": stranger, "binary": binary, "huge": huge, "prose": prose}
    files = {**named, **more, "there": there, "empty": empty, "folder": tmp_path, "dangling": dangling, "bad": bad}
    filled = [each.format(**files) for each in arguments]
    result = moot("forge", "Write add(a, b).", "--model", MODEL, *filled)
    assert result.code == 2
    assert said in result.err
    assert there.read_text() == "mine\n"
