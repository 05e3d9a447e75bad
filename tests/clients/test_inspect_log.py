"""The logs of evaluations that Inspect reads; test_inspect.py has it read one."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

from moot.core.types import Usage
from moot.evaluate.inspect_log import InspectRow, inspect_log

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
