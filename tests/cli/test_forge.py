"""`moot forge`: a task in, code and a report out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from moot.cli.delivery import Delivery
from moot.corpus import tasks
from moot.formats.command import Result as Delivered
from tests.cli.conftest import Moot, Result

pytestmark = pytest.mark.slow

TASK = next(iter(tasks()))
MODEL = "sim:?seed=3&skill=1&cases=1&repair=1&red=1"
CHECKED = ("forge", TASK.spec, "--preset", "quick", "--model", MODEL)
ASKED = ("forge", TASK.spec, "--set", "hooks=[]", "--preset", "quick", "--model", MODEL)  # type checkers take longest


@pytest.fixture(scope="module")
def won(shared: Moot) -> tuple[Moot, Result]:
    """A debate that has ended with code, as it was printed and written."""
    return shared, shared(*CHECKED, "--plain", "--out", "won.py")


@pytest.fixture(scope="module")
def at_a_gate(tmp_path_factory: pytest.TempPathFactory):
    made = Moot(tmp_path_factory.mktemp("gated"))
    gate = ("--gate", "proposal", "--set", "on_timeout=reject")
    yield made, made(*ASKED, *gate, "--plain", "--out", "gated code.py")
    made.close()


@pytest.fixture
def gated(moot: Moot, at_a_gate: tuple[Moot, Result]) -> tuple[Moot, str]:
    """A debate of one's own that waits for an answer, and its id."""
    moot.db.write_bytes(at_a_gate[0].db.read_bytes())
    return moot, moot.ids[0]


def test_the_code_that_won_is_written_and_the_report_printed_once(won: tuple[Moot, Result]):
    moot, result = won
    assert result.code == 0, result.err
    assert "def " in (moot.folder / "won.py").read_text()
    assert re.search(
        r"\nThe code of Engineer A passes, of the tests that its author knows, \d of \d  [✓✗·]+\n", result.out
    )
    for title in ("The case matrix", "Versions", "Not checked"):
        assert result.out.lower().count(f"\n{title.lower()}\n") == 1
    assert "The code is in won.py." in result.err
    assert "steps," in result.err
    assert "round" not in result.err


def test_a_debate_that_is_shown_again_has_its_code(won: tuple[Moot, Result]):
    moot, _ = won
    code = (moot.folder / "won.py").read_text()
    shown = moot("show", moot.ids[0], "--plain")
    assert "\n".join(f"  {line}".rstrip() for line in code.strip().splitlines()) in shown.out


def test_a_terminal_shows_how_far_it_is_and_ctrl_c_at_the_questions_in_the_end_loses_no_code(moot: Moot):
    terminal = moot.terminal(*ASKED[:-1], f"{MODEL}&tps=100", "--out", "won.py", rows=20)
    terminal.until("Write the decision to docs/decisions/? [y/N] ")
    assert "✓ Self-evolvement  ▸ Proposal  · Adversarial rounds  · Convergence" in terminal.text
    assert "off: Dehallucination, Critique, Review" in terminal.text
    before, _, after = terminal.text.partition("The case matrix")
    assert re.search(r"Engineer [AB]  \d+ of \d+  [✓✗·]+\r?\n.*▸ ", before), "it fills before there is a whole one"
    assert re.search(r"V2  \d+ of \d+  [✓✗·]+\r?\n", after)
    assert "def " in (moot.folder / "won.py").read_text()
    assert "The code is in won.py." in terminal.text
    terminal.press("\x03")
    terminal.end()


def test_json_and_a_file_go_together(moot: Moot):
    result = moot(*ASKED, "--json", "--out", "won.py")
    assert result.code == 0, result.err
    assert "def " in (moot.folder / "won.py").read_text()
    assert all(json.loads(line) for line in result.out.splitlines())


def test_code_that_can_not_be_written_in_the_end_is_printed(tmp_path: Path, capsys):
    out = tmp_path / "gone" / "won.py"
    assert Delivery(Delivered("code", ""), out, as_json=False).write(out, "def f(): ...\n") == 1
    shown = capsys.readouterr()
    assert "def f(): ..." in shown.out
    assert "can't be written: No such file or directory" in shown.err


def test_without_a_winner_the_exit_code_says_so(moot: Moot):
    result = moot("forge", TASK.spec, "--preset", "quick", "--model", MODEL, "--set", "cases=['first_repeat([]) == 9']")
    assert "There is no winner, so no code is delivered." in result.err
    assert result.code == 1


def test_a_gate_whose_time_is_over_is_not_asked_again(gated: tuple[Moot, str]):
    moot, debate = gated
    moot.sql("update debate_gates set expires_at = 1")
    resumed = moot("resume", debate, "--plain")
    assert "No one answered in time" in resumed.out
    assert moot.status() == "completed"


def test_a_gate_that_waits_says_that_the_file_is_not_written_and_the_answer_writes_it(
    gated: tuple[Moot, str], at_a_gate: tuple[Moot, Result]
):
    first, waiting = at_a_gate
    assert waiting.code == 3
    assert "gated code.py is not written yet: add --out 'gated code.py' to that command." in waiting.err
    assert not (first.folder / "gated code.py").exists()
    moot, debate = gated
    ended = moot("answer", debate, "approve", "--plain", "--out", "gated code.py")
    assert ended.code == 0, ended.err
    assert "def " in (moot.folder / "gated code.py").read_text()
    assert "\nNot checked\n" in ended.out
    assert "not written yet" not in ended.err


def test_answering_without_a_file_prints_report_and_code(gated: tuple[Moot, str]):
    moot, debate = gated
    ended = moot("answer", debate, "approve", "--plain")
    assert ended.code == 0, ended.err
    report, _, code = ended.out.rpartition("\n\n")
    assert "def " in code
    assert "Not checked" in report


def test_a_file_is_refused_where_the_debate_does_not_end_here(gated: tuple[Moot, str]):
    moot, debate = gated
    for command, said in (
        (("answer", debate, "approve", "--no-run"), "--no-run only answers"),
        (("resume", "--all"), "--all is about many debates"),
        (("fork", debate, "--no-run"), "--no-run only creates it"),
    ):
        refused = moot(*command, "--out", "x.py")
        assert (refused.code, said in refused.err) == (2, True), refused.err


FILES = {
    "there.py": "mine\n",
    "empty.txt": "\n",
    "bad.txt": "add(1, 1) == 2\nadd(1, 2) = 3\n",
    "constant.txt": "add(1, 2) == 3\nlen([1]) == 1\n",
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--out there.py", "exists already"),
        ("--out dangling.py", "exists already"),
        ("--out no/such/x.py", "There is no folder"),
        ("--gate proposal --no-checkpoints", "leave one of them out"),
        ("--gate critique --preset quick", "no gate after critique: it is off"),
        ("--tests bad.txt", "line 2 (add(1, 2) = 3)"),
        ("--tests empty.txt", "are empty"),
        ("--tests binary.py", "can't be read"),
        ("--tests huge.py", "200,000"),
        ("--tests constant.txt", "The test len([1]) == 1 never uses the code"),
        ("--lang cobol", "language"),
        (
            "--set cases=['add(1,2)==3','add(1,2)==4']",
            "expect different things of 'add(1,2)', so no code can pass both: leave one out",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(moot: Moot, arguments: str, said: str):
    for name, text in FILES.items():
        (moot.folder / name).write_text(text)
    (moot.folder / "dangling.py").symlink_to(moot.folder / "nowhere.py")
    (moot.folder / "binary.py").write_bytes(bytes(range(256)))
    (moot.folder / "huge.py").write_text("#" * 200_001)
    result = moot("forge", "Write add(a, b).", "--model", MODEL, *arguments.split())
    assert (result.code, said in result.err) == (2, True), result.err
    assert (moot.folder / "there.py").read_text() == "mine\n"
    assert not moot.db.exists()
