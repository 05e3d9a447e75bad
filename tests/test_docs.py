"""Docs can fail: what they name exists, and what exists is named."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import moot.core.script
import moot.core.stage
import moot.core.steps
import moot.core.types
import moot.formats.format
import moot.formats.wording
from moot.config import OTHER_VARIABLES, variable
from moot.core.settings import Settings, read
from moot.formats import installed
from moot.request import read_spec
from tests.plugins import BUILT_IN

ROOT = Path(__file__).parent.parent
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


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


def names_of_tests(path: Path) -> set[str]:
    """The tests of a file, by name and by class and name."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        inside = [(f"{node.name}::", each) for each in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, each in inside:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_"):
                found |= {each.name, f"{prefix}{each.name}"}
    return found


def test_every_promise_of_security_names_tests_that_exist():
    text = (ROOT / "docs" / "security.md").read_text()
    section = text.partition("## What is promised")[2].partition("## What is not promised")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| promise ")]
    assert len(rows) > 30
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", row.rpartition(" | ")[2] or row)
        assert named, f"no test: {row}"
        for file, name in named:
            assert name in names_of_tests(ROOT / file), f"{file} has no test {name}"
    assert len(re.findall(r"^\| LLM\d\d \|", text, re.MULTILINE)) == 10
    assert len(re.findall(r"^\| API\d+ \|", text, re.MULTILINE)) == 10
