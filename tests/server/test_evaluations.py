"""Evaluations over HTTP: listed, reported and paged, for those who may see their cells."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from moot.client import Client
from moot.evaluate import stored, viewing
from moot.evaluate.costs import accuracy_over_cost
from moot.evaluate.html import page
from moot.evaluate.power import few
from moot.evaluate.rows import Row
from moot.evaluate.sentences import missing
from moot.evaluate.summaries import summary
from tests.server.evaluating import ITEMS, evaluated
from tests.server.serving import Served, served
from tests.server.test_owners import Person


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("evaluations")) as server:
        yield server


@pytest.fixture(scope="module")
def plan(site: Served) -> Any:
    return evaluated(site)


def report_of(site: Served, plan: Any) -> dict[str, Any]:
    return site.in_loop(stored.report(Client(site.app), plan))


def test_the_list_says_how_far_each_is(site: Served, plan: Any):
    (listed,) = site.get("/v1/evaluations").json()["items"]
    assert (listed["id"], listed["task"], listed["stopped"]) == (plan.id, "sim_choice", False)
    assert listed["cells"] == listed["begun"] == listed["completed"] == ITEMS * len(plan.arms)


def test_the_report_is_that_of_the_command_line(site: Served, plan: Any):
    whole = report_of(site, plan)
    given = site.get(f"/v1/evaluations/{plan.id[:8]}").raise_for_status().json()
    assert (given["id"], given["demonstration"]) == (whole["evaluation"], True)
    for name in ("task", "items", "complete", "models", "unit", "spent", "curve", "standing", "cut_by", "failed"):
        assert given[name] == whole[name], name
    for part in ("arms", "baselines"):
        assert {name: each["accuracy"] for name, each in given[part].items()} == {
            name: each["accuracy"] for name, each in whole[part].items()
        }
    for mine, theirs in zip(given["comparisons"], whole["comparisons"], strict=True):
        assert mine == {name: theirs[name] for name in mine}
    for mine, theirs in ((given["baselines"]["single"], "single"), (given["arms"]["council"], "council")):
        folded = (whole["baselines"] | whole["arms"])[theirs]
        assert all(mine[name] == folded[name] for name in ("no_answer", "failed", "samples"))
    assert given["arms"]["council"]["first_vote"]["added"] == whole["arms"]["council"]["first_vote"]["added"]
    head, rows = accuracy_over_cost(whole)
    assert given["costs"] == {"head": list(head), "rows": rows}
    assert (given["missing"], given["can_show"], given["failed_count"]) == ([], few(whole), 0)
    assert missing(whole) == []
    file = site.get(f"/v1/evaluations/{plan.id}/report")
    assert file.text == page(whole, str(site.url))
    assert f'href="{str(site.url).rstrip("/")}/debates/{whole["cells"][0]["debate"]}"' in file.text
    assert file.headers["content-disposition"].startswith("attachment")


def test_cells_come_in_pages_by_arm_and_by_their_answer(site: Served, plan: Any):
    whole, after = report_of(site, plan)["cells"], 0
    found: list[str] = []
    while after is not None:
        listed = site.get(f"/v1/evaluations/{plan.id}/cells", params={"limit": 3, "after": after}).json()
        found += [each["debate"] for each in listed["items"]]
        after = listed["next"]
    assert found == [each["debate"] for each in whole]

    def cells(**wanted: Any) -> list[str]:
        listed = site.get(f"/v1/evaluations/{plan.id}/cells", params={"limit": 500, **wanted}).json()
        return [each["debate"] for each in listed["items"]]

    wrong = [each["debate"] for each in whole if each["arm"] == "council" and not each["right"]]
    assert cells(arm="council", right=False) == wrong
    for answered in (True, False):
        expected = [each["debate"] for each in whole if (each["answer"] is not None) is answered]
        assert cells(answered=answered) == expected


def test_a_report_is_made_once_until_a_cell_changes(site: Served, monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []
    plan = evaluated(site, seed=2)
    monkeypatch.setattr(viewing, "REST", 0)
    folded = viewing.fold

    def counted(plan: Any, *more: Any, **how: Any) -> Any:
        made.append(plan.id)
        return folded(plan, *more, **how)

    monkeypatch.setattr(viewing, "fold", counted)
    site.get(f"/v1/evaluations/{plan.id}")
    made.clear()
    for _ in range(3):
        site.get(f"/v1/evaluations/{plan.id}").raise_for_status()
        site.get(f"/v1/evaluations/{plan.id}/cells").raise_for_status()
    assert made == []
    cell = report_of(site, plan)["cells"][0]["debate"]
    site.client.patch(f"/v1/debates/{cell}", json={"archived": True}).raise_for_status()
    assert site.get(f"/v1/evaluations/{plan.id}").json()["complete"] == ITEMS  # the archive is for lists
    made.clear()
    site.client.delete(f"/v1/debates/{cell}").raise_for_status()
    found = site.get(f"/v1/evaluations/{plan.id}").json()
    assert made == [plan.id]
    assert (found["complete"], found["deleted"], found["failed_count"]) == (ITEMS - 1, 1, 1)
    assert (found["failed"][0]["debate"], found["failed"][0]["deleted"]) == (cell, True)
    assert found["missing"][0] == "1 item left out, because a debate was deleted, which counts as failed."
    assert {each["failed_items"] for each in found["comparisons"]} == {1}


def test_what_is_not_there_is_said_without_a_command(site: Served):
    for path in ("", "/cells", "/report"):
        refused = site.get(f"/v1/evaluations/nothing{path}")
        assert refused.status_code == 404
        assert "moot eval" not in refused.text


def test_an_evaluation_whose_cells_are_private_is_not_there_for_others(tmp_path):
    with served(tmp_path, serve_tokens="always") as server:
        plan = evaluated(server, items=2)
        ann, boss = Person(server, "ann", "read"), Person(server, "boss", "admin")
        assert len(ann.get("/v1/evaluations").json()["items"]) == 1
        with closing(sqlite3.connect(tmp_path / "moot.db", timeout=30)) as database, database:
            database.execute("update debate_sessions set private = 1 where evaluation = ?", (plan.id,))
        assert ann.get("/v1/evaluations").json()["items"] == []
        for path in ("", "/cells", "/report"):
            assert ann.get(f"/v1/evaluations/{plan.id}{path}").status_code == 404
        assert json.loads(boss.get(f"/v1/evaluations/{plan.id}").text)["complete"] == 2


def test_a_baseline_without_any_samples_is_in_no_table_and_named(site: Served, monkeypatch: pytest.MonkeyPatch):
    folded = viewing.fold
    row = Row(item="1", epoch=1, cluster="1", score=0, usd=0.0, tokens_in=0, tokens_out=0, drawn=True, lost="samples")

    def without_samples(*given: Any, **how: Any) -> Any:
        report = folded(*given, **how)
        report["baselines"]["single"] = summary([row])
        return report

    monkeypatch.setattr(viewing, "fold", without_samples)
    plan = evaluated(site, items=2, seed=3)
    given = site.get(f"/v1/evaluations/{plan.id}").raise_for_status().json()
    assert list(given["baselines"]) == ["self-consistency of 3"]
    assert given["missing"] == ["single is without 1 answer, for which too few samples could be drawn."]
