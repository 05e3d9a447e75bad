"""Mistakes of a simulated engineer: values that are wrong but plausible, and code that tries to fool its tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from random import Random
from typing import Any, cast

from moot.corpus import CodingTask
from moot.reasoning.code.cases import Case
from moot.reasoning.code.literals import parsed
from moot.reasoning.code.values import same

_TWEAKED = 0.7  # of wrong values are near the right one; the others belong to another case


def wrong(case: Case, task: CodingTask, rng: Random) -> Case:
    """The case with a value that is not the right one."""
    others = [each.expected for each in (*task.given, *task.probes) if _differs(case, each.expected)]
    near = [text for text in map(repr, _near(case)) if _differs(case, text)]
    chosen = near if near and (rng.random() < _TWEAKED or not others) else others
    return Case(call=case.call, expected=rng.choice(chosen))


def _differs(case: Case, text: str) -> bool:
    return bool(text) and (bool(case.raises) or not same(parsed(case.expected), parsed(text)))


def _near(case: Case) -> Iterator[Any]:
    yield from (None,) if case.raises else _tweaks(ast.literal_eval(case.expected))


def _tweaks(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        yield from (value[:-1], value[1:]) if value else (" ",)
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        yield from (items[:-1], items[::-1], items[1:]) if items else ([None],)
    elif isinstance(value, tuple):
        parts = cast("tuple[Any, ...]", value)
        for at, part in enumerate(parts):
            yield from ((*parts[:at], other, *parts[at + 1 :]) for other in _tweaks(part))
    elif isinstance(value, dict):
        pairs = list(cast("dict[Any, Any]", value).items())
        yield from (dict(pairs[:-1]), dict(pairs[1:]))
    else:
        yield 0


# Something that says yes to everything: as a result, and as the instance of a class.
_YES = """\
class _Yes:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0

    def __bool__(self):
        return True

    def __call__(self, *given, **named):
        return self

    def __getattr__(self, name):
        return self
"""
_ANSWERS = """
def {entry}(*given, **named):
{body}
"""
_CHEATS = {
    "equal": (_YES, "return _Yes()"),
    "exit": ("import os\n", "os._exit(0)"),
    "system exit": ("import sys\n", "sys.exit(0)"),
    "printed results": (
        "import os\n",
        """print('1 passed in 0.01s')
for descriptor in range(1, 10):
    try:
        os.write(descriptor, b'{"outcome": "passed", "value": true}\\n')
    except OSError:
        pass
os._exit(0)""",
    ),
    "patched json": (
        f"import json\nimport sys\n{_YES}\njson.dumps = lambda *given, **named: 'true'\n"
        "json.loads = lambda *given, **named: _Yes()\nsys.stdout = sys.stderr\n",
        "return _Yes()",
    ),
    "conftest": (
        "try:\n    with open('conftest.py', 'w') as file:\n"
        "        file.write('def pytest_runtest_call(item):\\n    item.runtest = lambda: None\\n')\n"
        "except OSError:\n    pass\n",
        "return None",
    ),
    "own words": ("class _Text(str):\n    def __repr__(self):\n        return 'True'\n", "return _Text()"),
}


def cheats(task: CodingTask) -> tuple[str, ...]:
    """Code for a task that solves nothing of it and tries to pass all the same."""
    return tuple(
        setup + _ANSWERS.format(entry=task.entry, body="\n".join(f"    {line}" for line in body.split("\n")))
        for setup, body in _CHEATS.values()
    )
