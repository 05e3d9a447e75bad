"""Evaluations over a real database: killed, stopped, short of money, and folded again."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from moot.core.values import sha256_of
from moot.evaluate.folding import as_bytes
from moot.evaluate.tasks import load_task
from tests.cli.conftest import Moot

pytestmark = pytest.mark.slow

PRICED = "sim:?price_in=1&price_out=5"
SMALL = ("sim_choice", "--limit", "4", "--pool", "3", "--arms", "single,sc,reflect,council")
SMALL += ("--set", "council.depth=vote")
SIM = ("--model", "sim:?skill=.6&cases=.85")  # without one, the embedded model would run


def report(done: Any) -> dict[str, Any]:
    assert done.code == 0, done.err
    return json.loads(done.out)


def lasting(found: dict[str, Any]) -> bytes:
    return as_bytes(found, timing=False)


def test_an_evaluation_is_repeatable_and_its_cells_stay_apart(moot: Moot):
    first = report(moot("eval", "run", *SMALL, "--model", "sim:", "--json"))
    assert (first["complete"], first["unfinished"], first["not_begun"]) == (4, 0, 0)
    assert {each["baseline"] for each in first["comparisons"]} == {"single", "self-consistency", "reflect"}
    assert all(each["finding"] in ("helped", "hurt", "did not help", "can't tell") for each in first["comparisons"])
    steps = stored(moot)
    assert report(moot("eval", "run", *SMALL, "--model", "sim:", "--json")) == first  # nothing is made again
    assert stored(moot) == steps
    assert "No debates here" in moot("list").err + moot("list").out
    assert first["cells"][0]["debate"][:8] not in moot("search", "which option is marked as right").out
    debate = first["cells"][0]["debate"]
    assert moot("replay", debate).code == 0
    replayed = moot("eval", "replay", first["evaluation"], "--json")
    assert json.loads(replayed.out) == {
        "type": "moot.eval.replay",
        "cells": 12,
        "differ": 0,
        "deleted": [],
        "grades": {"checked": 0, "differ": 0, "unchecked": 0},
        "same_report": None,
    }
    assert "12 cells replayed; 0 differ. No report was compared" in moot("eval", "replay", first["evaluation"]).out


def test_how_a_cell_turned_out_is_kept_and_said_to_be_left_out_of_calibration(moot: Moot):
    first = report(moot("eval", "run", "sim_choice", "--limit", "1", "--pool", "1", "--arms", "single", *SIM, "--json"))
    cell = first["cells"][0]["debate"]
    told = moot("outcome", cell, "right")
    assert told.code == 0
    assert "moot calibration leaves it out" in told.err
    assert f"answers agree: moot eval report {first['evaluation'][:8]}" in told.err
    assert "debates of evaluations are left out: moot eval report ID" in moot("calibration").err
    assert json.loads(moot("calibration", "--json").out)["decisions"] == 0


def test_samples_are_called_so_in_plans(moot: Moot):
    both = ("--arms", "sc,majority", "--models", "sim:,sim:?seed=2", "--pool", "4", "--limit", "1")
    planned = moot("eval", "plan", "sim_choice", *both)
    assert planned.code == 0, planned.err
    assert [line.split("  ")[0] for line in planned.out.splitlines()[1:3]] == ["4 samples", "4 samples of one model"]
    assert "pool" not in planned.out


def test_grades_that_were_changed_are_found(moot: Moot, tmp_path: Path):
    (tmp_path / "items.jsonl").write_text('{"id": "even", "question": "Why is 2 even?", "target": "Halve it."}')
    (tmp_path / "task.yaml").write_text(
        "name: whys\nkind: text\nscore: graded\nitems: items.jsonl\njudge: sim:?seed=7\n"
    )
    asked = ("--arms", "single", "--pool", "2", *SIM, "--json")
    judged = report(moot("eval", "run", str(tmp_path / "task.yaml"), *asked))
    tested = report(moot("eval", "run", "sim_code", "--limit", "1", *asked))

    def replayed(found: dict[str, Any], *more: str) -> tuple[int, dict[str, int], str]:
        done = moot("eval", "replay", found["evaluation"], *more, "--json")
        return done.code, json.loads(done.out)["grades"], done.err

    by_judge, by_tests = (
        moot.sql("select count(*) from grades where evaluation = ?", found["evaluation"])[0][0]
        for found in (judged, tested)
    )
    assert min(by_judge, by_tests) > 0
    assert replayed(judged)[:2] == (0, {"checked": by_judge, "differ": 0, "unchecked": 0})
    assert replayed(tested)[:2] == (0, {"checked": 0, "differ": 0, "unchecked": by_tests})
    assert "by tests not run again; --tests runs them." in moot("eval", "replay", tested["evaluation"]).out
    assert replayed(tested, "--tests")[:2] == (0, {"checked": by_tests, "differ": 0, "unchecked": 0})

    moot.sql("update grades set passed = 1 - passed")
    code, grades, said = replayed(judged)
    assert (code, grades) == (1, {"checked": by_judge, "differ": by_judge, "unchecked": 0})
    assert "to item even is stored as" in said
    assert f"{by_judge} differ." in moot("eval", "replay", judged["evaluation"]).out
    assert replayed(tested, "--tests")[:2] == (1, {"checked": by_tests, "differ": by_tests, "unchecked": 0})

    moot.sql("update grades set passed = 1 - passed, answer = 'x' || answer")
    code, grades, said = replayed(tested)
    assert (code, grades) == (1, {"checked": by_tests, "differ": by_tests, "unchecked": 0})
    assert "is of an answer that no cell has given" in said


KILLED = """
import os, signal
from moot.store.sqlite import SqliteStore
commit, kept = SqliteStore.commit, []
async def commit_seven(self, given):
    done = await commit(self, given)
    kept.extend(given.turns)
    if len(kept) >= 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
SqliteStore.commit = commit_seven
"""


def test_a_killed_evaluation_comes_to_the_same_report(moot: Moot, tmp_path: Path):
    asked = (*SMALL, "--model", "sim:", "--json")
    whole = report(moot("eval", "run", *asked))
    (tmp_path / "other").mkdir()
    other = Moot(tmp_path / "other")
    assert other.patched(KILLED, "eval", "run", *asked).code == -signal.SIGKILL
    assert 0 < stored(other) < stored(moot)
    assert lasting(report(other("eval", "run", *asked))) == lasting(whole)
    assert stored(other) == stored(moot)


def stored(moot: Moot) -> int:
    return moot.sql("select count(*) from debate_turns")[0][0]


def test_a_budget_is_kept_by_whole_items(moot: Moot, tmp_path: Path):
    plan = report(moot("eval", "plan", *SMALL, "--model", PRICED, "--json"))
    budget = plan["worst_usd"] / 4 * 1.001  # what one item takes at worst, and hardly more
    found = report(moot("eval", "run", *SMALL, "--model", PRICED, "--max-cost-usd", str(budget), "--json"))
    assert 0 < found["complete"] < 4
    assert found["unfinished"] == 0
    assert found["complete"] + found["not_begun"] == 4
    assert 0 < found["spent"]["usd"] <= budget
    cut = moot("eval", "resume", found["evaluation"])
    assert re.search(r"the budget does not last: \$[\d.]+ of \$[\d.]+ is spent, and an item can cost \$[\d.]+", cut.err)
    assert f"moot eval resume {found['evaluation'][:8]} --max-cost-usd USD" in cut.err
    unused = moot("eval", "resume", found["evaluation"], "--model", "sim:", "--max-cost-usd", "1")
    assert (unused.code, "--model was decided when the evaluation was planned" in unused.err) == (2, True)
    paid = stored(moot)
    whole = report(moot("eval", "resume", found["evaluation"], "--max-cost-usd", "1", "--json"))
    assert moot("eval", "report", found["evaluation"], "--json", "whole.json").code == 0
    assert (whole["evaluation"], whole["complete"], whole["budget"]["max_cost_usd"]) == (found["evaluation"], 4, 1)
    assert stored(moot) > paid
    assert report(moot("eval", "run", *SMALL, "--model", PRICED, "--max-cost-usd", "1", "--json")) == whole
    assert json.loads(moot("eval", "replay", found["evaluation"], "whole.json", "--json").out)["same_report"] is True
    (tmp_path / "other.json").write_text("{}")
    other = moot("eval", "replay", found["evaluation"], str(tmp_path / "other.json"))
    assert (other.code, "The report differs from" in other.out) == (1, True)
    refused = moot("eval", "run", *SMALL, "--model", PRICED, "--max-cost-usd", "0.000001")
    assert refused.code != 0
    assert "the budget is $0.000001. Nothing could be compared" in refused.err


def test_files_that_change_under_an_evaluation_are_refused_even_if_its_items_do_not(moot: Moot, tmp_path: Path):
    file = tmp_path / "test.jsonl"
    lines = [json.dumps({"question": f"{n} + 1?", "answer": f"#### {n + 1}"}) for n in range(6)]
    file.write_text("\n".join(lines))
    items = ("gsm8k", "--items", str(file), "--limit", "2")
    asked = (*items, "--arms", "single", "--pool", "1", "--model", PRICED, "--json")
    planned = report(moot("eval", "plan", *asked))
    short = ("--max-cost-usd", str(planned["worst_usd"] / 2 * 1.001))
    begun = report(moot("eval", "run", *asked, *short))
    assert (begun["complete"], begun["files_sha256"]) == (1, planned["files_sha256"])
    assert len(begun["files_sha256"]) == 64
    file.write_text("\n".join(lines) + "\n")  # the same items
    for given in (("resume", begun["evaluation"]), ("run", *asked)):
        refused = moot("eval", *given)
        assert refused.code == 2
        assert f"The items of {file} have changed (sha256 was {begun['files_sha256'][:12]}" in refused.err
        assert "--old-items" in refused.err
    assert report(moot("eval", "run", *asked, "--new"))["complete"] == 2
    gone_on = moot("eval", "resume", begun["evaluation"], "--old-items", "--max-cost-usd", "1", "--json")
    assert report(gone_on)["complete"] == 2


def test_a_report_is_written_as_page_json_and_logs_at_once(moot: Moot, tmp_path: Path):
    begun = report(moot("eval", "run", *SMALL, "--model", "sim:", "--json"))
    files = {name: tmp_path / name for name in ("out.html", "out.json", "logs")}
    done = moot(
        *("eval", "report", begun["evaluation"][:8], "--html", str(files["out.html"])),
        *("--json", str(files["out.json"]), "--inspect", f"{files['logs']}/"),
    )
    assert done.code == 0, done.err
    assert "Evaluation " in done.out
    assert "{" not in done.out  # in words: the JSON is in the file
    assert json.loads(files["out.json"].read_text()) == begun
    page = files["out.html"].read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") >= 3
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page
    assert all(cell["debate"] in page for cell in begun["cells"])
    logs = sorted(each.name for each in files["logs"].iterdir())
    assert logs == [f"sim-choice-{arm}-{begun['evaluation'][:8]}.eval" for arm in ("council", "reflect", "samples")]
    misread = moot("eval", "report", "--json", begun["evaluation"])
    assert (misread.code, "ends with .json" in misread.err) == (2, True)
    lost = moot("eval", "report", begun["evaluation"], "--json", str(tmp_path / "no" / "out.json"))
    assert (lost.code, "can't be written" in lost.err) == (2, True)


def test_two_evaluations_are_compared_in_a_sentence_for_each_arm(moot: Moot):
    ids = [
        report(moot("eval", "run", *SMALL, "--model", model, "--json"))["evaluation"]
        for model in ("sim:?skill=0", "sim:?skill=1")
    ]
    done = moot("eval", "compare", *ids)
    assert done.code == 0, done.err
    assert "P, CORRECTED" in done.out
    assert "council does better in the second evaluation can't be told from 4 answers (+100.0 points" in done.out
    assert "Whether reflect does better" in done.out
    assert "Whether single does better" in done.out
    assert "Whether self-consistency of 3 does better" in done.out
    assert "Asked in both: 4 items; 0 only in" in done.out
    assert f"They differ in model_debater: sim:?skill=0 in {ids[0][:8]}, sim:?skill=1 in {ids[1][:8]}." in done.out
    same = moot("eval", "compare", ids[0], ids[0])
    assert (same.code, "Both are evaluation" in same.err) == (2, True)


def test_a_terminal_shows_more_about_each_arm_and_names_what_failed(moot: Moot):
    asked = ("sim_choice", "--limit", "2", "--pool", "3", "--arms", "single,council", "--model", "sim:")
    shown = moot("eval", "run", *asked, "--set", "council.depth=vote").out
    assert "More about each arm" in shown
    assert re.search(r"ARM +UNDECIDED +TIES .*P50 +P95", shown)
    assert re.search(
        r"Accuracy over cost\nCHEAPEST FIRST +COST OF AN ITEM +OF ONE SAMPLE'S +RIGHT +AT EQUAL COST\none sample", shown
    )
    assert "2 items can't show anything, however the arms differ: they are too few." in shown
    failing = ("--set", "council.model_debater=sim:?fail=1", "--set", "council.model_judge=sim:?fail=1")
    failed = moot("eval", "run", *asked, *failing)
    assert failed.code == 1
    assert "2 items left out, because a debate failed or was stopped." in failed.out
    assert re.search(
        r"council failed on item sim-1-1: The simulated model failed, .*\. See: moot show [0-9a-f]{8}\n", failed.out
    )


def test_an_evaluation_says_what_was_deleted_of_it_and_goes_on_without(moot: Moot):
    found = report(moot("eval", "run", *SMALL, "--model", "sim:", "--json"))
    assert moot("eval", "report", found["evaluation"], "--json", "whole.json").code == 0
    gone = [each for each in found["cells"] if each["arm"] == "council"][:2]
    ids, evaluation = [each["debate"] for each in gone], found["evaluation"][:8]
    unasked = moot("delete", *ids)
    done = moot("delete", ids[0], "--yes")
    said = "its report counts what is deleted as failed, and it can't be run again."
    assert f"2 of them are cells of evaluation {evaluation}: {said}" in unasked.err
    assert (done.code, f"It is a cell of evaluation {evaluation}: {said}" in done.err) == (0, True)
    purge = moot("purge", "--older-than", "0h", "--dry-run").err
    assert f"11 of them are cells of evaluation {evaluation}: {said}" in purge
    assert moot("delete", ids[1], "--yes").code == 0
    shown = moot("eval", "report", evaluation).out
    assert "2 items left out, because a debate was deleted, which counts as failed.\n" in shown
    assert f"council failed on item {gone[0]['item']}: it was deleted.\n" in shown
    resumed = moot("eval", "resume", evaluation)
    assert resumed.code == 0, resumed.err
    items = ", ".join(each["item"] for each in gone)
    assert f"2 items can't be completed, because debates were deleted: {items}. The report counts" in resumed.err
    assert report(moot("eval", "run", *SMALL, "--model", "sim:", "--json"))["complete"] == 2
    replayed = moot("eval", "replay", evaluation, "whole.json")
    assert (replayed.code, "10 cells replayed; 0 differ; 2 deleted. The report differs" in replayed.out) == (1, True)
    assert f"Deleted, so they can't be replayed: {', '.join(sorted(id[:8] for id in ids))}." in replayed.err
    said = f"2 debates of evaluation {evaluation} were deleted and can't be checked"
    audit = moot("eval", "audit")
    assert (audit.code, said in audit.out) == (0, True)
    assert json.loads(moot("eval", "audit", "--json").out)["deleted"] == {found["evaluation"]: 2}


def test_a_stop_leaves_complete_pairs(moot: Moot):
    plan = report(moot("eval", "plan", *SMALL, "--model", "sim:", "--json"))
    assert moot("eval", "run", *SMALL, "--model", "sim:", "--json").code == 0
    stopped = moot("eval", "stop", plan["evaluation"])
    assert (stopped.code, "begins no new item" in stopped.err) == (0, True)
    moot.sql("insert into evaluations (id, name, plan, created_at) values ('f0', 'old', '{\"later\": 1}', 0)")
    listed = moot("eval", "show")
    assert listed.code == 0, listed.err
    assert re.search(r"sim_choice +4 +12 of 12 +reflect, council +stopped", listed.out)
    assert re.search(r"f0 +old +0 +of another version of moot", listed.out)
    other = moot("eval", "report", "f0")
    assert (other.code, "another version of moot has made it. Read it with that version" in other.err) == (2, True)
    found = report(moot("eval", "show", plan["evaluation"], "--json"))
    assert (found["complete"], found["unfinished"]) == (4, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("plan", "sim_choice", "--arms", "nonsense"), "nonsense"),
        (("plan", "sim_choice", "--arms", "majority"), "several models"),
        (("plan", "mmlu"), "not downloaded"),
        (("run", "human_eval", "--arms", "sc"), "no two answers of the kind 'code' are equal"),
        (("run", "swe_mini", "--arms", "forge"), "'forge' can't come to an answer of the kind 'patch', which the task"),
        (("run", "reasoning", "--max-output-tokens", "10"), "Nothing could be compared"),
        (
            ("plan", "sim_choice", "--arms", "majority", "--models", "sim:?seed=1,sim:?seed=2", "--pool", "1"),
            "a sample of each of its 2 models; --pool 1 is too few",
        ),
        (("run", "reasoning", "--models", "sim:,echo:"), "the arm `majority`, which is not among the arms"),
        (("show", "abcdef"), "abcdef"),
        (("compare", "abcdef"), "Two evaluations"),
        (("run", "a", "b"), "One task at a time"),
        (("run", "--limit", "0"), "--limit: it takes a whole number of 1 or more, not '0'"),
        (("run", "--pool", "65"), "draws 1 to 64 samples of each item; --pool 65 can't be met"),
        (("run", "--max-cost-usd", "nan"), "it takes an amount of US dollars such as 5 or 0.50, not 'nan'"),
        (("run", "--arms", ","), "--arms names nothing"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_spent(moot: Moot, given: tuple[str, ...], said: str):
    done = moot("eval", *given, "--model", "sim:")
    assert (done.code, said in done.err) == (2, True), done.err
    assert not Path(moot.db).exists()


@pytest.mark.parametrize("name", ["panel", "duel"])
def test_a_debate_comes_to_an_answer_of_the_kind_that_is_asked_for(moot: Moot, name: str):
    asked = ("--set", "answer={kind: choice, options: [red, blue]}", "--set", "max_calls=100")
    flags = ("--no-checkpoints",) if name == "panel" else ()
    done = moot("debate", "Which colour?", "--format", name, "--model", "sim:", *asked, "--json", *flags)
    assert done.code == 0, done.err
    outcome = json.loads(moot.sql("select outcome from debate_sessions")[0][0])
    if outcome["answer"] is not None:  # none is an abstention
        assert (outcome["answer"]["kind"], outcome["answer"]["options"]) == ("choice", ["red", "blue"])
        assert outcome["answer"]["value"] in ("red", "blue")
        assert outcome["answer"]["value"] in outcome["headline"].lower()
    assert moot("replay", moot.ids[0]).code == 0


def test_workers_come_to_the_same_report_as_one_process(moot: Moot, database_url: str):
    here = report(moot("eval", "run", *SMALL, "--model", "sim:", "--json"))
    shared = ("--db", database_url)
    workers = [moot.start("worker", *shared) for _ in range(2)]
    there = report(moot("eval", "run", *SMALL, "--model", "sim:", "--json", "--workers", *shared))
    assert all(each.poll() is None for each in workers)
    assert lasting(there) == lasting(here)


def test_code_is_scored_by_tests_that_no_arm_sees(moot: Moot):
    asked = ("sim_code", "--limit", "1", "--pool", "2", "--set", "forge.preset=quick")
    found = report(moot("eval", "run", *asked, *SIM, "--json"))
    assert (found["complete"], {*found["arms"]}, {*found["baselines"]}) == (1, {"forge"}, {"single", "best of 2"})
    task = load_task("sim_code", seed=1, limit=1)
    for cell in found["cells"]:
        item = next(each for each in task.items if each.id == cell["item"])
        assert moot("show", cell["debate"], "--json").code == 0
        hidden = [line for line in item.tests.splitlines() if line not in item.question]
        shown = moot("audit", cell["debate"], "--json").out
        assert hidden
        assert not any(json.dumps(line)[1:-1] in shown for line in hidden)
    graded = moot.sql("select item, answer, passed from grades")
    assert {item for item, _, _ in graded} == {item.id for item in task.items}
    right = {(item, answer) for item, answer, passed in graded if passed}
    stated = {(each["item"], sha256_of(each["answer"])) for each in found["cells"] if each["right"]}
    assert stated <= right
    # Grades that were lost, as after a kill between a debate and its tests, are made again: the report is the same.
    moot.sql("delete from grades")
    assert report(moot("eval", "report", found["evaluation"], "--json"))["complete"] == 0
    assert lasting(report(moot("eval", "resume", found["evaluation"], "--json"))) == lasting(found)
    assert moot.sql("select count(*) from grades") == [(len(graded),)]


def test_patches_are_scored_by_hidden_tests_and_a_debate_is_compared_with_samples(moot: Moot):
    asked = ("swe_mini", "--limit", "1", "--pool", "2", "--set", "council.depth=vote")
    found = report(moot("eval", "run", *asked, "--model", "sim:?skill=1", "--json"))
    assert (found["complete"], {*found["arms"]}, {*found["baselines"]}) == (1, {"council"}, {"single", "best of 2"})
    assert (found["arms"]["council"]["accuracy"], found["baselines"]["single"]["accuracy"]) == (1.0, 1.0)
    assert all(cell["answer"].startswith("--- a/") for cell in found["cells"])
    assert moot.sql("select count(*), min(passed), min(examples) > 0 from grades") == [(1, 1, 1)]
    asked = ("swe_mini", "--limit", "1", "--pool", "2", "--arms", "single,crucible")
    other = report(moot("eval", "run", *asked, "--model", "sim:?skill=0&repair=0", "--json"))
    assert {*other["arms"]} == {"crucible"}
    assert [each["accuracy"] for each in (*other["arms"].values(), *other["baselines"].values())] == [0.0] * 3
