"""docs/python.md can fail: its examples run, and it names everything that the library has."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.library.view import DebateView

DOCS = (Path(__file__).parents[2] / "docs" / "python.md").read_text()


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    for name, value in {"DATABASE_URL": str(tmp_path / "moot.db"), "MODEL": "sim:", "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"MOOT_{name}", value)
    examples = re.findall(r"^```python\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)
    assert len(examples) == 9
    names: dict[str, Any] = {}
    for example in examples:
        capsys.readouterr()
        exec(compile(example, "docs/python.md", "exec"), names)
        printed = capsys.readouterr().out
        promised = re.search(r"print\(error\) +# (.*)", example)
        assert promised is None or promised[1] == printed.strip()
    assert (tmp_path / "decisions.db").exists()
    assert names["debate"].status == "completed"
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


@pytest.mark.parametrize("kind", [moot.Debate, moot.Moot])
def test_everything_public_is_described(kind: type):
    public = {name for each in (kind, DebateView) for name in vars(each) if not name.startswith("_")}
    internal = {"run", "call"}
    assert sorted(name for name in public - internal if not re.search(rf"\b{name}\b", DOCS)) == []


def test_every_error_is_described():
    assert [name for name in moot.errors.__all__ if f"`{name}`" not in DOCS and f"errors.{name}`" not in DOCS] == []
