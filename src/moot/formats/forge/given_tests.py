"""The tests in a file that a user gives."""

from __future__ import annotations

from pathlib import PurePath

from moot.core.errors import InputError
from moot.core.types import Json
from moot.reasoning.code.requests import MAX_CODE_CHARS
from moot.reasoning.code.test_files import cases_of, is_python, line_at_fault
from moot.reasoning.fence import one_line


def read_tests(path: PurePath, text: str, settings: Json) -> tuple[Json, str]:
    """The tests as cases where that is possible, else the file as it is, which is weaker evidence and is said in a
    note; for a repository, as it is in any case. Raises InputError."""
    if not text.strip():
        raise InputError(f"The tests {path} are empty. Write a line such as add(1, 2) == 3, or leave --tests out.")
    if len(text) > MAX_CODE_CHARS:
        raise InputError(f"The tests {path} have {len(text):,} characters; {MAX_CODE_CHARS:,} is the most.")
    if settings.get("repo"):
        return {"tests": text}, ""
    cases = cases_of(text)
    python = settings.get("language", "python") == "python"
    wrong = line_at_fault(text) if cases is None and python else None
    if wrong is not None:
        line = one_line(text.splitlines()[wrong - 1], 100)
        why = "and does not say what is right" if is_python(text) else "and no Python"
        raise InputError(
            f"The tests {path} can't be used: line {wrong} ({line}) is no test such as add(1, 2) == 3, {why}."
        )
    if cases is None:
        weaker = "is run as it is, in the process of the code: that is weaker evidence than single calls."
        return {"tests": text}, f"{path.name} {weaker}"
    return {"cases": [case.model_dump(mode="json") for case in cases]}, ""
