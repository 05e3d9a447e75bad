"""The code grows only where a commit says so: the stored figures are those of the tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import figures
from tests.house.figures import ROOT, STORED, declared, differences, measured, read, ways_round, write

OR_ACCEPT = "or run `make house ARGS=--accept` and say in the message of the same commit what for."
SMALLER = f"Make it smaller, {OR_ACCEPT}"
KEEP = "Run `make house ARGS=--accept` to keep the gain."


def test_the_stored_figures_are_those_of_the_code():
    found = differences(read(STORED), measured(ROOT, declared()))
    assert not found, "\n".join(found)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {
        "README.md": "What it is.\n",
        "docs/more.md": "word " * 490,
        "src/moot/__init__.py": "",
        "src/moot/cli/run.py": "class Follower: ...\n\n\ndebate = client.store.get(1)\n",
        "src/moot/core/steps.py": "step = 1\n" * 49,
        "src/moot/core/rules.py": "",
        "src/moot/store/sql/get.sql": "SELECT 1\n",
        "packages/moot-eval/src/moot_eval/rules.py": "rules = 1\n",
        "packages/moot-eval/src/moot_eval/report/table.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def adds(name: str, text: str) -> Callable[[Path], None]:
    def add(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        with (root / name).open("a") as file:
            file.write(text)

    return add


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(adds("src/moot/core/more.py", ""), f"moot/core: files 3, stored 2. {SMALLER}", id="a file"),
        pytest.param(adds("src/moot/top.py", ""), f"moot: files 2, stored 1. {SMALLER}", id="a file at the top"),
        pytest.param(adds("src/moot/new/some.py", ""), f"moot/new: files 1, stored 0. {SMALLER}", id="a room"),
        pytest.param(
            adds("packages/moot-eval/src/moot_eval/report/more.py", ""),
            f"moot_eval/report: files 2, stored 1. {SMALLER}",
            id="a file of another package",
        ),
        pytest.param(adds("src/moot/core/steps.py", "\n\n"), f"moot/core: lines 100, stored 50. {SMALLER}", id="lines"),
        pytest.param(adds("src/moot/store/sql/put.sql", ""), f"moot/store: SQL files 2, stored 1. {SMALLER}", id="SQL"),
        pytest.param(
            adds("src/moot/cli/run.py", "client.app.runtime\n"),
            f"moot/cli: ways round the client 2, stored 1. Give `Client` a method for it, {OR_ACCEPT}",
            id="a way round the client",
        ),
        pytest.param(
            adds("packages/moot-eval/src/moot_eval/rules.py", "client.store\n"),
            f"moot_eval: ways round the client 1, stored 0. Give `Client` a method for it, {OR_ACCEPT}",
            id="a way round the client in another package",
        ),
        pytest.param(
            adds("src/moot/core/rules.py", "class Follower: ...\n"),
            "classes: Follower 2, stored 1 (src/moot/cli/run.py, src/moot/core/rules.py). "
            f"Find a name that says which, {OR_ACCEPT}",
            id="a class of the same name",
        ),
        pytest.param(
            lambda root: (root / "src/moot/core/rules.py").rename(root / "src/moot/core/run.py"),
            "modules: run 2, stored 1 (src/moot/cli/run.py, src/moot/core/run.py). "
            f"Find a name that says which, {OR_ACCEPT}",
            id="a module of the same name",
        ),
        pytest.param(
            adds("docs/other.md", "word " * 8),
            f"whole: words of documents 1000, stored 500. {SMALLER}",
            id="words of documents",
        ),
        pytest.param(
            lambda root: (root / "src/moot/core/rules.py").unlink(),
            f"moot/core: files 1, stored 2. {KEEP}",
            id="a file less",
        ),
        pytest.param(
            lambda root: (root / "src/moot/cli/run.py").write_text("class Follower: ...\n"),
            f"moot/cli: ways round the client 0, stored 1. {KEEP}",
            id="a way round the client less",
        ),
    ],
)
def test_what_changes_is_named_with_what_to_do(tree: Path, change: Callable[[Path], object], told: str):
    stored = measured(tree, {"commands": 5})
    change(tree)
    assert differences(stored, measured(tree, {"commands": 5})) == [told]


def test_what_the_code_declares_is_counted_too(tree: Path):
    stored, found = measured(tree, {"commands": 5}), measured(tree, {"commands": 6})
    assert differences(stored, found) == [f"whole: commands 6, stored 5. {SMALLER}"]
    assert differences(found, stored) == [f"whole: commands 5, stored 6. {KEEP}"]


def test_small_changes_leave_the_figures_alone(tree: Path):
    stored = measured(tree, {})
    adds("src/moot/cli/run.py", "# more\n" * 40)(tree)
    adds("README.md", "More of it.")(tree)
    assert differences(stored, measured(tree, {})) == []


def test_figures_that_are_accepted_are_stored(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    path = tree / "figures.toml"
    monkeypatch.setattr(figures, "ROOT", tree)
    monkeypatch.setattr(figures, "STORED", path)
    write(measured(tree, {}), path)
    adds("src/moot/core/run.py", "class Follower: ...\n")(tree)
    figures.main([])
    printed = capsys.readouterr().out
    assert "moot/core: files 3, stored 2." in printed
    assert "modules: run 2, stored 1" in printed
    figures.main(["--accept"])
    assert "stored" not in capsys.readouterr().out
    assert differences(read(path), measured(tree, declared())) == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("await client.store.get(id)", 1),
        ("self._client.app.runtime.stop(id)", 1),
        ("store = context.store; store.get(id)", 1),
        ("(await app.open()).store.tokens()", 1),
        ("context.app.runtime, self.client.dispatcher", 2),
        ("await self.runtime.store.page()", 1),
        ("self.store = given; await self.app(scope, receive, send)", 0),
        ("request.app.state.context.client.debate(id)", 0),
        ("# client.store\nwords = 'client.store'", 0),
        ("from moot.store import Page; path.open()", 0),
    ],
)
def test_a_way_round_the_client_is_what_is_behind_it(source: str, count: int):
    assert ways_round(source) == count
