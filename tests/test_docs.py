"""Docs can fail: what they name exists, and what exists is named."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
import yaml

import moot.core.script
import moot.core.stage
import moot.core.steps
import moot.core.types
import moot.formats.format
import moot.formats.wording
from challenges.__main__ import NAMES as CHALLENGES
from moot.config import OTHER_VARIABLES, variable
from moot.core.settings import Settings, read
from moot.formats import installed
from moot.request import read_spec
from tests.plugins import BUILT_IN

ROOT = Path(__file__).parent.parent
SOAK = "pytest.mark.soak"
DOCS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "tests/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]


def settings_table() -> str:
    rows = ["| name | variable | default | what |", "|---|---|---|---|"]
    for name, info in Settings.model_fields.items():
        default = "" if info.default_factory or info.default is None else f"`{info.default}`"
        rows.append(f"| `{name}` | `{variable(name)}` | {default} | {info.description} |")
    return "\n".join(rows)


def variables_table() -> str:
    rows = ["| variable | what |", "|---|---|"]
    return "\n".join([*rows, *(f"| `{name}` | {what} |" for name, what in OTHER_VARIABLES.items())])


@pytest.mark.parametrize(("name", "table"), [("settings", settings_table), ("variables", variables_table)])
def test_every_setting_and_variable_is_listed_with_its_default(name: str, table: Callable[[], str]):
    text = (ROOT / "docs" / "config.md").read_text()
    found = re.search(rf"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", text, re.DOTALL)
    assert found is not None
    assert found[1] == table()


def glossary_nouns() -> set[str]:
    found = re.findall(r"^\| ([A-Z]\w+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    assert len(found) == len(set(found))
    return set(found)


def test_every_noun_of_the_code_is_in_the_glossary():
    core, formats = moot.core, moot.formats
    public = {
        name
        for module in (core.types, core.outcome, core.stage, core.script, core.steps, formats.format, formats.wording)
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    helpers = {"Hear", "Models", "Message", "Frozen", "Closing", "Running", "Director", "Task"}
    assert public - helpers - glossary_nouns() == set()


def test_every_noun_of_the_glossary_is_in_the_code():
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    defined = set(re.findall(r"^(?:class )?(\w+)(?:: .*)?(?:\(|:| = )", code, re.MULTILINE))
    ideas = {"Cast", "Voice", "Fence", "Guidance", "Flip", "Quorum", "Precedent", "Lease", "Epoch"}
    assert glossary_nouns() - ideas - defined == set()


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_and_files_named_in_the_docs_exist(path: Path):
    text = path.read_text()
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (path.parent / target).exists(), target
    for target in re.findall(r"`((?:src|tests|docs|examples)/[\w/.*-]+)`", text):
        if f"**`{target}`**" not in text:  # a file that the page itself writes
            assert list(ROOT.glob(target.rstrip("/"))), target
    for target in re.findall(r"`((?:runtime|store|formats|models)/[\w/.*-]+)`", text):
        assert list((ROOT / "src" / "moot").glob(target.rstrip("/"))), target


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_valid(path: Path):
    request = read_spec(path)
    assert request.topic
    read(installed()[request.format].settings, request.settings)
    assert yaml.safe_load(path.read_text())


def test_formats_are_named_in_the_readme():
    text = (ROOT / "README.md").read_text()
    for name in BUILT_IN:
        assert f"| `{name}` |" in text


def test_statuses_are_explained():
    text = (ROOT / "docs" / "architecture.md").read_text()
    for status in moot.core.types.STATUSES:
        assert f"| `{status}` |" in text


@cache
def names_of_tests(path: Path) -> set[str]:
    """The tests of a file that `make test` runs, by name and by class and name. A file that is not there has none."""
    found: set[str] = set()
    body = ast.parse(path.read_text()).body if path.exists() else []
    set_here = [ast.unparse(node) for node in body if isinstance(node, ast.Assign)]
    if any(line.startswith("pytestmark =") and SOAK in line for line in set_here):
        return found
    for node in body:
        inside = [(f"{node.name}::", each) for each in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, each in inside:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_"):
                marks = [*each.decorator_list, *(node.decorator_list if isinstance(node, ast.ClassDef) else ())]
                if SOAK not in map(ast.unparse, marks):
                    found |= {each.name, f"{prefix}{each.name}"}
    return found


def check_names_of_tests(text: str, rows: Iterable[str]) -> None:
    """Every test that is named is run by `make test`, and the last cell of each row names one."""
    named = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")
    missing = [f"{file}::{name}" for file, name in named.findall(text) if name not in names_of_tests(ROOT / file)]
    assert not missing, "\n".join(missing)
    assert [row for row in rows if not named.search(row.rpartition(" | ")[2])] == []


def rows_in(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [line for line in lines if not line.startswith(("| promise |", "| asked for |"))]


def test_every_promise_of_security_names_tests_that_exist():
    text = (ROOT / "docs" / "security.md").read_text()
    rows = rows_in(text.partition("## What is promised")[2].partition("## What is not promised")[0])
    assert len(rows) > 30
    check_names_of_tests(text, rows)
    assert len(re.findall(r"^\| LLM\d\d \|", text, re.MULTILINE)) == 10
    assert len(re.findall(r"^\| API\d+ \|", text, re.MULTILINE)) == 10


def test_the_tests_named_for_every_promise_exist():
    text = (ROOT / "tests" / "README.md").read_text()
    check_names_of_tests(text, rows_in(text))
    promised = (ROOT / "README.md").read_text().partition("## What it promises")[2].partition("\n## ")[0]
    bold = re.findall(r"^\*\*.+?\*\*", promised, re.MULTILINE)
    assert bold
    assert [each for each in [*bold, *(f"`{name}`" for name in CHALLENGES)] if each not in text] == []


def test_a_test_that_only_a_soak_runs_keeps_no_promise(tmp_path: Path):
    one, all_ = tmp_path / "test_one.py", tmp_path / "test_all.py"
    one.write_text(
        "def test_a(): ...\n\n@pytest.mark.soak\ndef test_b(): ...\n\n"
        "class TestC:\n    def test_d(self): ...\n\n@pytest.mark.soak\nclass TestE:\n    def test_f(self): ...\n"
    )
    all_.write_text("pytestmark = [pytest.mark.slow, pytest.mark.soak]\n\ndef test_a(): ...\n")
    assert names_of_tests(one) == {"test_a", "test_d", "TestC::test_d"}
    assert names_of_tests(all_) == names_of_tests(tmp_path / "gone.py") == set()
