"""Changes to a repository as engineers write them: whole files under their paths, and unified diffs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from moot.reasoning.code.written import fenced

_BEFORE, _AROUND = r"[\s*_#`'\"]*+", r"(?:_+\s)?[\s*#`'\"]*+"  # a path may begin and end with _, as __init__.py does
_PATH = rf"{_AROUND}([\w./-]++){_AROUND}"
FILE = re.compile(rf"^{_BEFORE}file:?{_PATH}$", re.IGNORECASE)
DELETED = re.compile(rf"^{_BEFORE}delete:?{_PATH}$", re.IGNORECASE)
_OPENS = re.compile(r"^\s*(`{3,}|~{3,})\s*(\S*)")
_DIFF_TAGS = ("diff", "patch", "udiff")


@dataclass(frozen=True, kw_only=True)
class Change:
    files: tuple[tuple[str, str], ...] = ()  # path and text
    deleted: tuple[str, ...] = ()
    patch: str = ""


def change_in(text: str) -> Change:
    """The change of an answer. A line `FILE: path` stands before the block with the whole of that file, `DELETE: path`
    stands alone, and blocks of the kind `diff` are patches. Raises ValueError, in words for the model."""
    files: dict[str, str] = {}
    deleted: list[str] = []
    patches: list[str] = []
    named, inside, lines = "", "", list[str]()
    tag = ""
    for line in text.split("\n"):
        if inside:
            if line.strip() == inside:
                body = "\n".join(lines)
                if tag in _DIFF_TAGS:
                    patches.append(body)
                elif named:
                    files[named] = body
                inside, named = "", ""
            else:
                lines.append(line)
            continue
        opened = _OPENS.match(line)
        if opened:
            inside, tag, lines = opened[1], opened[2].lower(), []
        elif found := DELETED.match(line):
            deleted.append(found[1])
        elif found := FILE.match(line):
            named = found[1]
    if inside:
        raise ValueError(f"a block is not closed; write the whole of it, and {inside} after it")
    if not (files or deleted or patches):
        raise ValueError("there is no change in it; write FILE: path, and the whole file in a block below it")
    return Change(
        files=tuple((path, _ending(body)) for path, body in files.items()),
        deleted=tuple(deleted),
        patch="".join(map(_ending, patches)),
    )


def written_change(change: Change) -> str:
    """A change as `change_in` reads it."""
    parts = [f"FILE: {path}\n{fenced('', body)}" for path, body in change.files]
    parts += [f"DELETE: {path}" for path in change.deleted]
    parts += [fenced("diff", change.patch)] if change.patch else []
    return "\n".join(parts)


def _ending(body: str) -> str:
    return body if body.endswith("\n") or not body else f"{body}\n"
