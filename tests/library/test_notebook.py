"""Debates as cards: what they show, that they are safe, and that a notebook displays them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environment import Clients
from tests.library.test_library import TOPIC, opened
from tests.running import answers_file

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)> **bold**'


class Tags(HTMLParser):
    """Checks that every tag is closed, and collects them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_card_shows_the_answer_and_nothing_of_it_is_code(tmp_path: Path):
    model = answers_file(tmp_path, {"1/speak/a": EVIL})
    with opened(tmp_path) as m:
        debate = m.debate(f"Redis or PostgreSQL? {EVIL}", format="classic", model=model, rounds=1)
    card = debate._repr_html_()
    tags = Tags(card)
    assert not tags.seen & {"script", "img", "style", "iframe"}
    assert "<strong>bold</strong>" in card
    assert debate.decision is not None
    for words in (debate.decision.split(".")[0], "What was said", "Checked", debate.id[:8]):
        assert words in card


def test_a_card_of_a_debate_that_waits_says_how_to_go_on(tmp_path: Path):
    with opened(tmp_path) as m:
        debate = m.debate(TOPIC, format="panel", model="sim:", rounds=1)
    assert debate.status == "waiting"
    assert re.search(r"waits for a person.*answer", debate._repr_html_())


RUNNER = """
import json, sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in json.load(sys.stdin)])
NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
print(json.dumps([[dict(output.get("data", {})) for output in cell.outputs] for cell in notebook.cells]))
"""
CELLS = [
    'import moot\ndebate = moot.debate("Tabs or spaces?", format="duel", model="sim:", turns=2)\ndebate',
    'moot.debate("Redis or PostgreSQL?", format="classic", model="sim:", rounds=1)',
    "async with moot.open() as m:\n"
    '    live = await m.debate("Go or Rust?", format="duel", model="sim:", turns=2)\n'
    "    await live.wait()\n"
    "live",
    'import pandas\npandas.DataFrame(debate.turns.records)[["key", "name"]].head(2)',
]


@pytest.mark.slow
def test_a_real_notebook(tmp_path: Path, clients: Clients):
    environ = os.environ | {
        "MOOT_DATABASE_URL": str(tmp_path / "moot.db"),
        "MOOT_EMBEDDER": "none",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    ran = subprocess.run(
        [clients.python, "-c", RUNNER],
        input=json.dumps(CELLS),
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert ran.returncode == 0, ran.stderr
    *debates, table = json.loads(ran.stdout)
    for outputs in debates:
        assert len(outputs) == 1, "one card for each cell"
        assert 'class="moot-debate"' in outputs[0]["text/html"]
        assert "completed" in outputs[0]["text/plain"]
    assert "Ada" in table[0]["text/plain"]
