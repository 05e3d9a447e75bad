"""No code outside of formats/ knows a format: neither its name, nor its events, nor its roles."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.formats import installed
from moot.formats.format import COMMON

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "moot"
BUILT_IN = {name: each for name, each in installed().items() if each.play.__module__.startswith("moot.formats.")}

NAMES = frozenset(BUILT_IN)
EVENTS = frozenset(type for each in BUILT_IN.values() for type in each.events) - COMMON.keys()
WORDS = NAMES | EVENTS

BACKTICKED = re.compile(r"`([^`\s]+)`")
QUOTED = re.compile(r"""'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`""")
KEY = re.compile(r"""(?<![\w$'"`-])(\w+)(?=\s*:\s)""")  # of an object
ROLE_COMPARED = re.compile(r"""\brole\b\)?\s*[!=]==?\s*['"](\w+)['"]|['"](\w+)['"]\s*[!=]==?\s*[\w.]*\brole\b""")


def roles() -> frozenset[str]:
    """Those of the default casts, and those that stand in the source, for seats that a setting adds."""
    cast = {part.role for each in BUILT_IN.values() for part in each.parts(each.settings())}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (SOURCE / "formats").rglob("*.py")]
    given = [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.keyword) and each.arg == "role"]
    return frozenset(cast | {each.value.value for each in given if isinstance(each.value, ast.Constant)})


ROLES = roles()


def named(text: str) -> list[str]:
    """The formats and events that a text names: as a whole, in backticks, or as part of a path such as `moot/duel`."""
    texts = [text, *BACKTICKED.findall(text)]
    return sorted(WORDS & {part for each in texts if not each.count(" ") for part in each.split("/")})


def in_python(source: str) -> Iterator[str]:
    """What a module knows about single formats, each as "line: what"."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (f"{node.lineno}: {word!r}" for word in named(node.value))
        elif isinstance(node, ast.ImportFrom | ast.Import):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [f"{node.module}.{each.name}" if modules else each.name for each in node.names]
            yield from (f"{node.lineno}: import of {name}" for name in sorted(set(map(package, modules)) & NAMES))
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(is_role(side) for side in sides):
                found = [value for side in sides for value in constants(side) if value in ROLES]
                yield from (f"{node.lineno}: role {role!r}" for role in found)


def package(module: str) -> str:
    """`panel`, of `moot.formats.panel.rules`."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["moot", "formats"] and len(parts) > 2 else ""


def is_role(node: ast.expr) -> bool:
    return "role" in (getattr(node, "attr", ""), getattr(node, "id", ""))


def constants(node: ast.expr) -> list[object]:
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]


def in_typescript(source: str) -> Iterator[str]:
    for number, line in enumerate(source.splitlines(), 1):
        quoted = [text for found in QUOTED.finditer(line) for text in found.groups() if text]
        yield from (f"{number}: {word!r}" for text in (*quoted, *KEY.findall(line)) for word in named(text))
        for found in ROLE_COMPARED.finditer(line):
            role = found[1] or found[2]
            if role in ROLES:
                yield f"{number}: role {role!r}"


def files() -> list[Path]:
    python = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "formats"]
    web = [path for kind in ("*.ts", "*.tsx") for path in (ROOT / "web" / "src").rglob(kind)]
    return sorted([*python, *web])


def leaks(path: Path) -> list[str]:
    look = in_python if path.suffix == ".py" else in_typescript
    name = path.relative_to(ROOT).as_posix()
    return [f"{name}:{each}" for each in look(path.read_text(encoding="utf-8"))]


def test_no_file_outside_of_the_formats_knows_one():
    assert len(files()) > 150
    assert [leak for path in files() for leak in leaks(path)] == []


def test_the_words_looked_for_are_those_of_the_built_in_formats():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(BUILT_IN) == set(project["entry-points"]["moot.formats"])
    assert {"TURN", "BALLOT", "MUTED", "CRITIQUE", "CLAIMS"} <= EVENTS
    assert {"debater", "judge", "juror", "moderator", "perspective", "skeptic", "chair"} <= ROLES
    assert not EVENTS & {"HEADER", "CAST", "PERSON", "VERDICT"}


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ('format = "panel"', ["1: 'panel'"]),
        ('if event.type == "MUTED": pass', ["1: 'MUTED'"]),
        ('kinds = ("HEADER", "TURN")', ["1: 'TURN'"]),
        ('match kind:\n    case "SCORE": pass', ["2: 'SCORE'"]),
        ('x = f"{a}/duel"', ["1: 'duel'"]),
        ('"""As in a `council`, `moot/panel` and a `TALLY`."""', ["1: 'TALLY'", "1: 'council'", "1: 'panel'"]),
        ("from moot.formats.panel.rules import ENDINGS", ["1: import of panel"]),
        ("from moot.formats import Format, duel", ["1: import of duel"]),
        ("import moot.formats.crucible.trace as trace", ["1: import of crucible"]),
        ('voices = [seat for seat in cast if seat.role == "debater"]', ["1: role 'debater'"]),
        ('hidden = part.role in ("juror", "judge")', ["1: role 'juror'", "1: role 'judge'"]),
    ],
)
def test_what_is_planted_in_python_is_found(planted: str, found: list[str]):
    assert list(in_python(planted)) == found


@pytest.mark.parametrize(
    "fine",
    [
        "from moot.formats import Format, installed",
        "from moot.formats.shared.ledger import ledger_of",
        'if event.type == "VERDICT" or message.role == "assistant": pass',
        '"""A panel of experts scores every turn of a duel; see the council\'s vote."""',
        "# as in a `panel`\nx = 1",
    ],
)
def test_what_every_module_may_say_is_not_found(fine: str):
    assert list(in_python(fine)) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("if (debate.format === 'panel') return null", ["1: 'panel'"]),
        ("const words = { BALLOT: 'votes', kind: `MUTED` }", ["1: 'MUTED'", "1: 'BALLOT'"]),
        ("\n\nfetch('/v1/formats/duel')", ["3: 'duel'"]),
        ('const judges = "judge" == seat.role', ["1: role 'judge'"]),
    ],
)
def test_what_is_planted_in_typescript_is_found(planted: str, found: list[str]):
    assert list(in_typescript(planted)) == found


def test_what_every_page_may_say_is_not_found():
    source = "role === 'status' && type === 'VERDICT' && tier === 'judge' // a panel's 'It is their turn'"
    assert list(in_typescript(source)) == []
