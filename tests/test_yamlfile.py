"""YAML from anywhere: what is read, and that no file takes memory or time out of proportion."""

from __future__ import annotations

import ast
import itertools
import json
import math
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import InputError
from moot.evaluate import tasks
from moot.memory.library import library
from moot.memory.library import parse as parse_template
from moot.models.providers.scripted import load as load_script
from moot.request import read_assignments, read_spec
from moot.yamlfile import MAX_BYTES, MAX_DEPTH, MAX_NUMBER_CHARS, MAX_VALUES, Malformed, parse, read_mapping

SOURCES = Path(__file__).parent.parent / "src" / "moot"
MEMORY = 600 << 20  # of address space: Python and all of moot take 200 MB of it
HANG = 120.0

MERGE = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9))
LAUGHS = "a: &a [lol]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 20)}]\n" for a, b in itertools.pairwise("abcdefgh")
)
BOMBS: dict[str, tuple[str, str]] = {
    "merge keys": (MERGE, "more than 10,000 values"),
    "billion laughs": (LAUGHS, "more than 10,000 values"),
    "base of 60": ("concurrency: 1" + ":59" * 50_000, "whole number"),
    "longer base of 60": ("concurrency: 1" + ":59" * 170_000, "500,000 is the most"),
    "huge integer": ("concurrency: " + "9" * 100_000, "40 is the most"),
    "huge hexadecimal": ("concurrency: 0x" + "f" * 100_000, "40 is the most"),
    "huge float": ("concurrency: 0." + "1" * 100_000, "40 is the most"),
    "nested lists": ("[" * 100_000, "nested too deeply"),
    "nested mappings": ("{a: " * 200_000, "nested too deeply"),
    "nested entries": ("- " * 100_000, "nested too deeply"),
    "nested keys": ("? " * 100_000, "a key must be a text"),
    "keys that are lists": ("{[" * 100_000, "a key must be a text"),
    "long list": ("[" + "a," * 100_000 + "]", "more than 10,000 values"),
    "long lines": ("[\n" + "a,\n" * 100_000 + "]", "more than 10,000 values"),
    "many keys": ("".join(f"k{n}: 1\n" for n in range(80_000)), "more than 10,000 values"),
    "documents": ("---\n" * 200_000, "second document"),
    "itself": ("a: &a [*a]\n", "stands inside of what it stands for"),
    "itself, merged": ("a: &a {<<: *a}\n", "stands inside of what it stands for"),
}


@pytest.mark.slow
def test_a_project_with_a_bomb_is_refused_by_the_command_line(tmp_path: Path):
    """The three files of the report, and others, in a process that has little memory."""
    for n, (text, _) in enumerate(BOMBS.values()):
        (tmp_path / str(n)).mkdir()
        (tmp_path / str(n) / "moot.yaml").write_text(text)
    program = (
        "import sys\nfrom pathlib import Path\nfrom moot.config import load\nfrom moot.core.errors import InputError\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n        load({'MOOT_CONFIG': '/dev/null'}, folder=Path(name))\n        print('taken')\n"
        "    except InputError as error:\n        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, range(len(BOMBS)))],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=HANG,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(BOMBS)
    for (name, (_, expected)), message in zip(BOMBS.items(), said, strict=True):
        assert expected in message, name
        assert "moot.yaml" in message, name
        assert len(message) < 1000, name


def test_every_way_in_has_the_limits(tmp_path: Path):
    file = tmp_path / "bomb.yaml"
    file.write_text(LAUGHS)
    for read in (read_spec, lambda path: load_script(str(path)), lambda path: read_mapping(path, "file", "x")):
        with pytest.raises(InputError, match=r"bomb\.yaml, line 4, column \d+: it holds more than 10,000 values"):
            read(file)
    with pytest.raises(InputError, match=r"t\.md, line 5, column \d+: it holds more than 10,000 values"):
        parse_template(f"---\n{LAUGHS}---\nText.\n".encode(), Path("t.md"))
    flow = (
        "{a: &a [x], "
        + ", ".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 20)}]" for a, b in itertools.pairwise("abcdefgh"))
        + "}"
    )
    with pytest.raises(InputError, match="--set rounds, line 1, column"):
        read_assignments([f"rounds={flow}"])
    with pytest.raises(InputError, match="levels"):
        read_assignments([f"{'a.' * 100_000}a=1"])


LIBRARIES = ("yaml", "ruamel", "oyaml", "pydantic_settings")


def test_no_other_module_loads_yaml():
    """Records are written with `yaml.safe_dump`; everything else of PyYAML is for moot/yamlfile.py alone."""
    importers: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())) if "yaml" in path.read_text() else ():
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(name.split(".")[0] in LIBRARIES for name in names):
                importers.add(path.relative_to(SOURCES).as_posix())
    assert importers == {"yamlfile.py", "records/markdown.py"}
    writer = ast.parse((SOURCES / "records" / "markdown.py").read_text())
    used = [node.attr for node in ast.walk(writer) if isinstance(node, ast.Attribute) and is_yaml(node.value)]
    assert used == ["safe_dump"]
    assert sum(map(is_yaml, ast.walk(writer))) == 1
    loader = (SOURCES / "yamlfile.py").read_text()
    assert not re.search(r"\b(?:\w*_)?(?:load|compose|construct)\w*\(", loader)


def is_yaml(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "yaml"


VALUES: dict[str, Any] = {
    "1:59": "1:59",
    "1:59:59.5": "1:59:59.5",
    "017": 17,
    "0o17": 15,
    "0x1f": 31,
    "-3": -3,
    "1e3": 1000.0,
    ".5": 0.5,
    "-.inf": -math.inf,
    "1_000": "1_000",
    "2026-01-01": "2026-01-01",
    "yes": True,
    "Off": False,
    "~": None,
    "": None,
    "y": "y",
    "'5'": "5",
    '"\\u00e9"': "é",
    "!!str 5": "5",
    "!!float 3": 3.0,
    '"\\ud83d\\ude42"': "🙂",
    "9" * MAX_NUMBER_CHARS: int("9" * MAX_NUMBER_CHARS),
    f"'{'9' * 5000}'": "9" * 5000,
    "[a, {b: c}]": ["a", {"b": "c"}],
    "{1: a, yes: b, null: c, 2026-01-01: d}": {"1": "a", "yes": "b", "null": "c", "2026-01-01": "d"},
    "[&a x, *a]": ["x", "x"],
    "{&a x: *a}": {"x": "x"},
    "{a: &a {x: 1, y: 2}, b: {<<: *a, y: 3}}": {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}},
    "{<<: [{x: 1}, {x: 2, y: 2}], z: 3}": {"x": 1, "y": 2, "z": 3},
    "{'<<': 1}": {"<<": 1},
    "[" * MAX_DEPTH + "]" * MAX_DEPTH: None,  # see below
}


@pytest.mark.parametrize("text", VALUES)
def test_what_a_text_stands_for(text: str):
    read = parse(text, "It")
    if text.startswith("[["):
        assert str(read) == text
    else:
        assert (read, type(read)) == (VALUES[text], type(VALUES[text]))


WRONG = {
    "a: 1\nb: 2\na: 3": "line 3, column 1: the key 'a' is there twice",
    "a:\n  b: 1\n  'b': 1": "line 3, column 3: the key 'b' is there twice",
    "a: !!python/object/apply:os.system [id]": "line 1, column 4: the tag !!python/object/apply:os.system",
    "a: !!binary c2ltOg==": "!!binary",
    "a: !!timestamp 2026-01-01": "!!timestamp",
    "a: !!set {x}": "!!set",
    "a: !!int x": "'x' is not what its tag !!int says",
    "a: *b": "*b stands for nothing",
    "? [a]\n: b": "a key must be a text",
    "<<: 3": "`<<` takes a mapping",
    'a: "\\ud800"': "half a character",
    'a: "\\UFFFFFFFF"': "not valid YAML",
    "a: \x00": "not valid YAML",
    "a: b: c": "not valid YAML, line 1, column 5",
    "a: [1": "not valid YAML, line 1",
    f"{'k' * 2000}: 1": "not valid YAML",  # YAML's own limit for such a key
    f"? {'k' * 2000}\n: 1": "a key has 2,000 characters",
    f"a: {'9' * 41}": "a number has 41 characters",
    "- a\n" * MAX_VALUES: "line 10000, column 3: it holds more than 10,000 values",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str):
    with pytest.raises(InputError) as caught:
        parse(text, "It")
    assert WRONG[text] in str(caught.value)
    assert str(caught.value).startswith("It")
    assert "\n" not in str(caught.value)


@given(st.text(alphabet=st.sampled_from("ab01:-?[]{},&*!|>'\"%#~<. \n\t\\x_eo@`é"), max_size=60))
def test_anything_is_read_or_refused(text: str):
    try:
        read = parse(text, "It")
    except InputError:
        return
    assert _is_json(read)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_what_is_written_as_json_is_read_back(value: Any):
    """JSON is YAML 1.2."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        read = parse(text, "It")
    except Malformed:  # characters that YAML allows only as escapes
        read = parse(json.dumps(value), "It")
    assert read == value


def test_what_pyyaml_writes_is_read_back():
    content = {"answers": {"1/think/a": "1:59", "*/x": ["yes", "5", {"a": 5, "b": None, "c": True}]}, "delay_ms": 0.5}
    assert parse(yaml.safe_dump(content), "It") == content


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(inner) for key, inner in value.items())
    return all(map(_is_json, value)) if isinstance(value, list) else isinstance(value, str | int | float | None)


def test_a_file_without_an_end_is_read_to_the_limit(tmp_path: Path, monkeypatch):
    with pytest.raises(InputError, match=f"/dev/zero has more than {MAX_BYTES:,} bytes"):
        read_mapping(Path("/dev/zero"), "spec", "x")
    (tmp_path / "endless.md").symlink_to("/dev/zero")
    assert "endless.md has more than 200,000 bytes" in library(tmp_path).problems[0]
    monkeypatch.setattr(tasks, "MAX_ITEMS_BYTES", MAX_BYTES)
    (tmp_path / "task.yaml").write_text("name: endless\nkind: choice\nitems: /dev/zero\n")
    with pytest.raises(InputError, match=f"task.yaml have more than {MAX_BYTES:,} bytes"):
        tasks.load_task(str(tmp_path / "task.yaml"), seed=1, limit=None)
