"""Inspect itself opens the logs that moot writes."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from moot.core.types import Usage
from moot.evaluate.inspect_log import InspectRow, inspect_log
from tests.clients.environment import Clients
from tests.server.test_serve import environ

PROGRAM = Path(__file__).parent / "programs" / "inspect_log.py"
USED = Usage(tokens_in=10, tokens_out=5, cost_usd=0.25)
FIRST = InspectRow(
    id="one",
    question="Tea or coffee? — 你好",
    options=("tea", "coffee"),
    answer="tea",
    target="tea",
    score=1.0,
    model="moot/council",
    debate="d1",
    usage=USED,
    started_at=100.0,
    completed_at=130.0,
)
ROWS = (
    FIRST,
    replace(FIRST, epoch=2, answer="coffee", score=0.0, debate="d2"),
    replace(FIRST, id="two", answer="", score=None, target="", error="The debate is failed."),
)


def written(rows: tuple[InspectRow, ...] = ROWS) -> bytes:
    return inspect_log(rows, task="drinks", model="moot/council", created=100.0)


def test_the_same_rows_give_the_same_bytes():
    assert written() == written()
    assert written(ROWS[:2]) != written()
    with zipfile.ZipFile(io.BytesIO(written())) as archive:
        assert archive.namelist() == [
            "_journal/start.json",
            "samples/one_epoch_1.json",
            "samples/one_epoch_2.json",
            "samples/two_epoch_1.json",
            "summaries.json",
            "header.json",
        ]
        header = json.loads(archive.read("header.json"))
    assert header["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 0.5
    assert header["stats"]["model_usage"] == {
        "moot/council": {"input_tokens": 30, "output_tokens": 15, "total_tokens": 45}
    }


def test_a_log_without_scores_or_rows():
    for rows in ((), ROWS[2:]):
        with zipfile.ZipFile(io.BytesIO(written(rows))) as archive:
            assert json.loads(archive.read("header.json"))["results"]["scores"] == []


@pytest.mark.slow
def test_inspect_opens_it(clients: Clients, tmp_path: Path):
    path = tmp_path / "moot.eval"
    path.write_bytes(written())
    done = subprocess.run(
        [str(clients.python), str(PROGRAM), str(path)],
        env={**environ(tmp_path), "PYTHONPATH": str(clients.newer)},
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert (got["status"], got["task"], got["model"], got["accuracy"]) == ("success", "drinks", "moot/council", 0.5)
    assert got["samples"] == [
        ["one", 1, FIRST.question, "tea", "tea"],
        ["one", 2, FIRST.question, "tea", "coffee"],
        ["two", 1, FIRST.question, "", ""],
    ]
    assert got["scores"] == [1.0, 0.0, None]
    assert got["summaries"] == [["one", 1, True], ["one", 2, True], ["two", 1, True]]
    assert got["one"] == ["one", 2, "d2"]
    assert got["tokens"] == {"moot/council": 45}
    assert got["header_only"]
