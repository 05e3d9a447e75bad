"""Commands that read debates: list, show, watch, replay, audit."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.cli.conftest import ANSWER


@pytest.mark.slow
def test_list_is_newest_first_with_progress_and_pages(moot):
    for number in range(3):
        assert moot(f"Is it {number}?", "--rounds", "1", "--model", "sim:").code == 0
    assert moot("A duel?", "--format", "duel", "--turns", "2", "--model", "sim:").code == 0
    lines = moot("list").out.splitlines()
    assert lines[0].split() == ["ID", "STATUS", "PROGRESS", "FORMAT", "AGE", "QUESTION", "ANSWER"]
    assert [line.split()[0] for line in lines[1:]] == [each[:8] for each in reversed(moot.ids)]
    assert "turn 2 of 2" in lines[1]
    assert "round 1 of 1" in lines[2]
    page = moot("list", "--limit", "3")
    assert len(page.out.splitlines()) == 4
    mark = page.err.strip().rpartition(" ")[2]
    assert page.err == f"There are more: moot list --after {mark}\n"
    assert moot("list", "--after", mark).out.splitlines()[1].split()[0] == moot.ids[0][:8]
    assert len(moot("list", "--format", "duel").out.splitlines()) == 2
    assert [line.split()[0] for line in moot("list", "--contains", "IT 1").out.splitlines()[1:]] == [moot.ids[1][:8]]
    page = moot("list", "--contains", "is it", "--status", "completed", "--limit", "2")
    assert page.err.startswith("There are more: moot list --status completed --contains 'is it' --after ")
    nothing = moot("list", "--status", "failed")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == "No debate matches. See all of them with: moot list\n"


@pytest.mark.slow
def test_list_as_json(finished):
    moot, _ = finished
    document = json.loads(moot("list", "--json").out)
    assert document["next"] is None
    [debate] = document["debates"]
    assert (debate["id"], debate["status"], debate["winner"]) == (moot.ids[0], "completed", "a")
    assert (debate["rounds"], debate["turns"], debate["interrupted"]) == (2, 5, False)


@pytest.mark.slow
def test_list_of_nothing_writes_nothing(moot):
    result = moot("list")
    assert (result.code, result.out) == (0, "")
    assert "Begin one" in result.err
    assert json.loads(moot("list", "--json").out) == {"debates": [], "next": None}
    assert moot("resume", "--all").code == 0
    assert not moot.db.exists()


def test_show_finds_a_debate_by_the_beginning_of_its_id(finished):
    moot, _ = finished
    result = moot("show", moot.ids[0][:4].upper())
    assert result.code == 0
    assert result.out.startswith(f"Redis or PostgreSQL?\n  {ANSWER}\n")
    for key in moot.turns()[:-1]:
        assert f"[{key}]\n  " in result.out
    assert f"Verdict\n  {ANSWER}\n" in result.out


@pytest.mark.slow
def test_watch_follows_from_another_process_to_the_end(moot):
    process = moot.start("Is it so?", "--model", moot.held(), "--rounds", "2", "--json")
    moot.called("1/speak/a")
    watching = moot.start("watch", moot.ids[0][:8], "--json")
    plain = moot.start("watch", moot.ids[0][:8])
    watched, text = watching.stdout.readline(), plain.stdout.readline()
    assert text == "Is it so?\n"
    moot.release()
    out, _ = process.communicate(timeout=60)
    watched += watching.stdout.read()
    assert (process.returncode, watching.wait(timeout=60)) == (0, 0)
    assert watched == out
    assert "won 7 to 5" in plain.stdout.read()
    err = plain.stderr.read()
    assert err.endswith(f"moot record {moot.ids[0][:8]}\n")


@pytest.mark.parametrize("command", ["show", "watch"])
def test_a_finished_debate_is_printed_again_as_the_same_lines(finished, command):
    moot, result = finished
    again = moot(command, moot.ids[0], "--json")
    assert (again.code, again.out) == (0, result.out)


@pytest.mark.slow
def test_leaving_watch_leaves_the_debate_alone(moot):
    process = moot.start("Is it so?", "--model", moot.held(), "--rounds", "1")
    moot.called("1/speak/a")
    terminal = moot.terminal("watch", moot.ids[0])
    terminal.until("Ctrl-C leaves")
    terminal.press("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.text
    moot.release()
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_replay_prints_a_proof(finished):
    moot, _ = finished
    result = moot("replay", moot.ids[0][:8])
    assert result.code == 0
    assert "byte for byte: 5 turns" in result.out
    digest = result.out.split("sha256 ")[1].split(",")[0]
    assert len(digest) == len(hashlib.sha256().hexdigest())


def test_replay_names_the_first_difference(done):
    done.sql('update debate_sessions set outcome = replace(outcome, \'"winner":"a"\', \'"winner":"b"\')')
    result = done("replay", done.ids[0])
    assert result.code == 1
    assert "first in line" in result.out
    assert '"winner": "b"' in result.out.split("recorded: ")[1].splitlines()[0]
    assert '"winner": "a"' in result.out.split("replayed: ")[1].splitlines()[0]


def test_audit_accounts_for_every_step(finished):
    moot, _ = finished
    result = moot("audit", moot.ids[0])
    assert result.code == 0
    for key in moot.turns():
        assert key in result.out
    assert f"Verdict: {ANSWER}" in result.out
    document = json.loads(moot("audit", moot.ids[0], "--json").out)
    assert [turn["key"] for turn in document["turns"]] == moot.turns()
    assert "Redis or PostgreSQL?" in document["turns"][0]["messages"][0]["text"]
