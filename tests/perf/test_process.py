from pathlib import Path

import pytest

from perf import process


def test_a_module_is_found_from_any_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prints.py").write_text("import json, perf, sys; print(json.dumps([perf.__file__, *sys.argv[1:]]))")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    file, *arguments = process.run_module("prints", "x", timeout=60)
    assert Path(file).parent == process.ROOT / "perf"
    assert arguments == ["x"]


def test_what_is_on_the_path_already_stays_there() -> None:
    assert process.environment({"PYTHONPATH": "/one", "A": "b"}) == {"PYTHONPATH": f"{process.ROOT}:/one", "A": "b"}


def test_a_module_that_fails_raises_its_last_line() -> None:
    with pytest.raises(RuntimeError, match=r"No module named perf\.nothing"):
        process.run_module("perf.nothing", timeout=60)
