"""A short panel with the small embedded model at a terminal, from the question to the record."""

from __future__ import annotations

import os
import re
import time

import pytest

from moot.core.settings import Settings
from moot.folders import data_dir
from tests.records.making import SECTIONS, headings, split

PROMPT = re.compile(r"[\r\n]> |\[y/N\] ")  # where an answer is typed
MINUTES = 10  # what takes one on an idle machine may take several on a busy one


def end_at_the_first_checkpoint(terminal) -> int:
    """Answer what the debate asks with `e`, and what is offered at the end with Enter; returns how much it asked."""
    asked, until = 0, time.monotonic() + 60 * MINUTES
    while terminal.process.poll() is None:
        assert time.monotonic() < until, f"no end within {MINUTES} minutes: {terminal.text[-2000:]!r}"
        terminal._read()
        if len(PROMPT.findall(terminal.text)) > asked:
            asked += 1
            terminal.press("\n" if terminal.text.endswith("[y/N] ") else "e\n")
        time.sleep(0.02)
    assert terminal.end() == 0, terminal.text[-2000:]
    return asked - terminal.text.count("[y/N] ")  # what is offered at the end is no question of the debate


@pytest.mark.slow
@pytest.mark.soak
def test_a_panel_on_the_embedded_model_comes_to_a_record(moot):
    weights = {"MOOT_DATA_DIR": str(data_dir(Settings(data_dir=os.environ.get("MOOT_DATA_DIR"))))}
    small = ("debater_max_tokens=40", "judge_max_tokens=250", "round_timeout_seconds=1")
    flags = [flag for each in small for flag in ("--set", each)]
    question = ("Tea or coffee in the office kitchen?", "--format", "panel", "--perspectives", "2", "--max-rounds", "2")
    terminal = moot.terminal(*question, *flags, "--model", "local:small", MOOT_EMBEDDER="none", **weights)
    asked = end_at_the_first_checkpoint(terminal)
    gates = moot.sql("select key, decision from debate_gates order by requested_at")
    assert asked == len(gates) == 1
    assert moot.status() == "completed"
    short = moot.ids[0][:8]
    written = moot("record", short)
    assert written.code == 0, written.err
    assert written.out == "docs/decisions/0001-tea-or-coffee-in-the-office-kitchen.md\n"
    front, body = split((moot.folder / written.out.strip()).read_text())
    assert (front["format"], front["debate"], front["confidence"]) == ("panel", moot.ids[0], "Low")
    assert front["demonstration"] is True
    found = [name for level, name in headings(body) if level == "h2"]
    assert [name for name in SECTIONS if name in found] == SECTIONS
    assert len([name for level, name in headings(body) if level == "h3"]) >= 2
    assert moot("replay", short).code == 0
