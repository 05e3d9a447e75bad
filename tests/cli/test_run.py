"""Running debates: how they are asked for, how they end, and with which exit code."""

from __future__ import annotations

import json
import signal

import pytest

from tests.cli.conftest import wait_for

CODES = {"completed": 0, "failed": 1, "stopped": 3, "canceled": 4}
FAILING = {"2/speak/a": {"fail": "unavailable", "message": "The server is gone; start it."}}


def test_a_question_needs_no_command(moot):
    result = moot("Redis?", "--rounds", "1", "--model", "sim:")
    assert result.code == 0
    assert result.out.startswith("Redis?\n")
    assert moot.status() == "completed"


@pytest.mark.slow
def test_flags_may_come_before_the_question(moot):
    assert moot("--db", str(moot.db), "Is it so?", "--model", "sim:", "--rounds", "1").code == 0
    assert moot("--plain", "--model", "sim:", "--rounds", "1", "Is it so?").code == 0
    assert len(moot.ids) == 2


@pytest.mark.parametrize("args", [["debate", "-"], []])
def test_a_question_from_standard_input(moot, args):
    environ = {"MOOT_MODEL": "sim:?tokens=5", "MOOT_DEFAULTS": "{classic: {max_rounds: 1}}"}
    result = moot(*args, input="Is this\nfrom a file?\n", **environ)
    assert result.code == 0, result.err
    assert "Is this\nfrom a file?" in result.out.replace("  ", "")
    assert moot.sql("select topic from debate_sessions") == [("Is this\nfrom a file?",)]


def test_nothing_in_a_pipe_is_no_question(moot):
    result = moot(input="")
    assert result.code == 2
    assert "The question is empty." in result.err
    assert not moot.db.exists()


def test_a_pipe_is_not_read_when_there_is_a_question(moot):
    result = moot("Is it so?", "--rounds", "1", "--model", "sim:?tokens=5", input="Is it something else?")
    assert result.code == 0, result.err
    assert moot.sql("select topic from debate_sessions") == [("Is it so?",)]


def test_a_file_with_flags_over_it(moot):
    (moot.folder / "spec.yaml").write_text("topic: Is it so?\nmax_rounds: 3\na_stance: con\nmodel_debater: 'sim:'\n")
    args = ("--file", "spec.yaml", "--judge-model", "sim:?seed=2", "--rounds", "2", "--set", "debater_max_tokens=50")
    assert moot("debate", *args).code == 0
    config, cast = moot.sql('select config, "cast" from debate_sessions')[0]
    config = json.loads(config)
    assert (config["max_rounds"], config["a_stance"], config["debater_max_tokens"]) == (2, "con", 50)
    assert [seat["model"] for seat in json.loads(cast)] == ["sim:", "sim:", "sim:?seed=2"]


def test_a_question_that_is_the_same_as_the_files(moot):
    (moot.folder / "spec.yaml").write_text("topic: Is it so?\nmax_rounds: 1\n")
    assert moot("debate", "Is it so?", "--file", "spec.yaml", "--model", "sim:").code == 0


def test_the_choice_of_model_and_its_reason_are_said_first(moot):
    result = moot("Is it so?", "--rounds", "1", MOOT_MODEL="sim:", MOOT_MODEL_JUDGE="sim:?seed=3")
    chosen, first, second, _, large = result.err.splitlines()[:5]
    assert large == "At full length: 3 calls, 1,600 tokens written, $0."
    assert chosen == "Format classic, because the question can be answered with yes or no."
    assert "Debater A and Debater B: sim:, because MOOT_MODEL is set" in first
    assert "Judge: sim:?seed=3, because MOOT_MODEL_JUDGE is set" in second


def test_what_is_printed_when_piped_is_plain_and_whole(moot):
    result = moot("Is it so?", "--rounds", "1", "--model", moot.script())
    assert result.code == 0
    assert "\x1b" not in result.out + result.err
    assert "Debater A (Yes), round 1  [1/speak/a]\n  a speaks at 1/speak/a.\n" in result.out
    answer = "Yes. Debater A, who argued for it, won 7 to 5 (not checked in the other order)."
    assert f"Verdict\n  {answer}\n  Points of 10: 7 for Debater A (Yes), 5 for Debater B (No)\n" in result.out
    short = moot.ids[0][:8]
    assert f"Debate {short}: completed, round 1 of 1" in result.err
    assert result.err.endswith(f"moot record {short}\n")


def test_json_lines_are_events_in_order(finished):
    moot, result = finished
    events = result.events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["debate"] for event in events} == {moot.ids[0]}
    assert len({frozenset(event) for event in events}) == 1, "every line has every field"
    types = [event["type"] for event in events if event["type"].isupper()]
    assert types == ["HEADER", "TURN", "TURN", "TURN", "TURN", "VERDICT"]
    turn = next(event for event in events if event["type"] == "TURN")
    assert (turn["key"], turn["seat"], turn["name"], turn["round"]) == ("1/speak/a", "a", "Debater A", 1)
    assert turn["content"] == "a speaks at 1/speak/a."
    assert turn["tokens_out"] > 0
    verdict = next(event for event in events if event["type"] == "VERDICT")
    assert verdict["data"]["winner"] == "a"
    assert verdict["demonstration"] is False
    assert events[-1]["data"]["status"] == "completed"


@pytest.mark.slow
def test_a_failed_debate_says_why_and_retry_goes_on(moot):
    model = moot.script(FAILING)
    result = moot("Is it so?", "--rounds", "2", "--model", model)
    short = moot.ids[0][:8]
    assert result.code == CODES["failed"]
    assert "Failed (unavailable)\n  The server is gone; start it." in result.out
    assert result.err.endswith(f"moot retry {short}\n")
    before = moot.turns()
    assert before == ["1/speak/a", "1/speak/b"]
    assert "moot retry" in moot("resume", short).err
    moot.script()
    again = moot("retry", short)
    assert again.code == 0
    assert "1/speak/a" not in again.out, "what is persisted is neither run nor told again"
    assert moot.turns() == [*before, "2/speak/a", "2/speak/b", "2/verdict/judge"]


def test_an_invalid_verdict_is_undecided_and_no_failure(moot):
    result = moot("Is it so?", "--rounds", "1", "--model", moot.script({"*/verdict/judge": "I would rather not."}))
    assert result.code == 0
    assert "Undecided. The judge gave no valid verdict:" in result.out
    assert "Reason: " not in result.out  # the headline says it
    assert "Ruling" not in result.out


@pytest.mark.slow
def test_a_demonstration_model_is_named_wherever_a_verdict_is_shown(done):
    done.sql("update debate_sessions set \"cast\" = replace(\"cast\", 'scripted:answers.yaml', 'local')")
    debate = done.ids[0]
    for command in (["show", debate], ["audit", debate], ["show", debate, "--plain"]):
        assert "means nothing beyond that" in done(*command).out
    assert done("show", debate, "--json").events[0]["demonstration"] is True
    assert json.loads(done("list", "--json").out)["debates"][0]["demonstration"] is True
    assert json.loads(done("audit", debate, "--json").out)["debate"]["demonstration"] is True


@pytest.mark.slow
def test_stop_from_another_process_lets_the_step_finish(moot):
    process = moot.start("Is it so?", "--model", moot.held(), "--rounds", "3")
    moot.called("1/speak/a")
    told = moot("stop", moot.ids[0][:6])
    assert told.code == 0
    assert "stopping" in told.out
    moot.release()
    out, err = process.communicate(timeout=60)
    assert process.returncode == CODES["stopped"]
    assert moot.status() == "stopped"
    assert moot.turns(), "the step in progress was finished"
    assert "Stopped." in out
    assert err.endswith(f"moot resume {moot.ids[0][:8]}\n")
    moot.script()
    resumed = moot("resume", moot.ids[0][:8])
    assert resumed.code == 0
    assert moot.turns()[:2] == ["1/speak/a", "1/speak/b"]


@pytest.mark.slow
def test_cancel_from_another_process(moot):
    process = moot.start("Is it so?", "--model", moot.held())
    moot.called("1/speak/a")
    told = moot("cancel", moot.ids[0])
    assert told.code == 0
    assert "canceled" in told.out
    process.communicate(timeout=60)
    assert process.returncode == CODES["canceled"]
    assert moot.status() == "canceled"
    assert moot("resume", moot.ids[0]).code == 2


@pytest.mark.slow
def test_sigterm_is_like_the_first_ctrl_c(moot):
    process = moot.start("Is it so?", "--model", moot.held(), "--rounds", "3")
    moot.called("1/speak/a")
    process.send_signal(signal.SIGTERM)
    moot.until("stopping")
    moot.release()
    _, err = process.communicate(timeout=60)
    assert "the step in progress finishes first" in err
    assert process.returncode == CODES["stopped"]
    assert moot.status() == "stopped"
    assert moot.turns() == ["1/speak/a"]


@pytest.mark.slow
def test_a_killed_debate_is_shown_as_such_and_resumed(moot):
    debate = moot.interrupted()
    assert moot.status() == "running"
    listed = moot("list")
    assert "interrupted" in listed.out
    assert f"moot resume {debate[:8]}" in listed.err
    row = json.loads(moot("list", "--json").out)["debates"][0]
    assert (row["status"], row["interrupted"]) == ("running", True)
    watched = moot("watch", debate)
    assert watched.code == CODES["stopped"]
    assert f"moot resume {debate[:8]}" in watched.err
    assert moot("resume", debate).code == 0
    assert moot.turns() == ["1/speak/a", "1/speak/b", "1/verdict/judge"]


@pytest.mark.slow
def test_resume_all(moot):
    debates = [moot.interrupted(), moot.interrupted()]
    assert "moot resume --all" in moot("list").err
    result = moot("resume", "--all")
    assert result.code == 0, result
    for debate in debates:
        assert moot.status(debate) == "completed"
        assert f"{debate[:8]} completed: Yes. Debater A, who argued for it, won 7 to 5 " in result.out
    again = moot("resume", "--all")
    assert (again.code, again.out) == (0, "")


@pytest.mark.slow
def test_a_fork_runs_or_waits(moot):
    model = moot.script()
    assert moot("Is it so?", "--rounds", "2", "--model", model).code == 0
    parent = moot.ids[0]
    moot.script({"2/speak/a": "Something else."})
    result = moot("fork", parent[:6], "--at", "2/speak/a", "--set", "max_rounds=3")
    assert result.code == 0
    fork = moot.ids[1]
    assert f"Branched off from {parent[:8]} at 2/speak/a." in result.out
    assert "a speaks at 1/speak/a." in result.out
    assert "Something else." in result.out
    assert moot.turns(fork)[-1] == "3/verdict/judge"
    waiting = moot("fork", parent, "--at", "1/speak/b", "--no-run")
    assert waiting.code == 0
    made = waiting.out.strip()
    assert moot.status(made) == "pending"
    assert moot.turns(made) == ["1/speak/a"]
    assert moot("resume", made).code == 0
    assert moot.status(made) == "completed"


@pytest.mark.slow
def test_a_reader_that_leaves_stops_the_debate(moot):
    process = moot.start("Is it so?", "--model", moot.script(hold="go/{key}"), "--rounds", "2")
    process.stdout.readline()
    process.stdout.close()
    moot.release("go/1/speak/a")  # what it says finds nobody
    wait_for(lambda: moot.status() in ("stopping", "stopped"), "the stop")
    moot.release("go/1/speak/b")  # perhaps it is in progress
    assert process.wait(timeout=60) == 141
    err = process.stderr.read()
    assert "Traceback" not in err
    assert moot.status() == "stopped"
    assert err.endswith(f"moot resume {moot.ids[0][:8]}\n")


@pytest.mark.parametrize("command", [["show"], ["--help"]])
def test_a_closed_pipe_is_silent(finished, command):
    moot, _ = finished
    process = moot.start(*command, *([moot.ids[0]] if command == ["show"] else []), unread=True)
    assert process.wait(timeout=60) == 141
    assert "Traceback" not in process.stderr.read()


def test_an_unexpected_error_is_one_line(moot):
    code = "import moot.cli.browse as browse; browse.open_client = 1"
    quiet = moot.patched(code, "show", "abc")
    assert quiet.code == 1
    assert quiet.err.count("\n") == 1
    assert "MOOT_DEBUG=1" in quiet.err
    assert "Traceback" in moot.patched(code, "show", "abc", MOOT_DEBUG="1").err


FULL_DISK = """
from moot.core.errors import NotWritable
from moot.store.sqlite import SqliteStore
commit = SqliteStore.commit
async def full(self, given):
    if any(turn.round == 2 for turn in given.turns):
        raise NotWritable("The disk is full.")
    return await commit(self, given)
SqliteStore.commit = full
"""


def test_a_store_that_fails_under_way_ends_the_command(moot):
    result = moot.patched(FULL_DISK, "Is it so?", "--model", "sim:", "--rounds", "3")
    assert result.code == 1
    assert result.err.splitlines()[-1] == "moot: The disk is full."
    assert "Traceback" not in result.err
    assert moot.turns() == ["1/speak/a", "1/speak/b"]
    assert moot("resume", moot.ids[0]).code == 0
