"""Unified diffs over files that are held as texts: made, read and applied without touching a disk.

The rules are those of `git apply --recount`: the numbers of lines say where to look first, and the lines that are kept
or removed must be found exactly. Unlike there, a hunk needs no lines around it to be found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

NOWHERE = "/dev/null"
_HUNK = re.compile(r"^@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_NO_NEWLINE = "\\"
_BINARY = ("GIT binary patch", "Binary files ")
_TIME = re.compile(r"\t.*$")


@dataclass(kw_only=True)
class Hunk:
    start: int  # the line at which it begins in the old file, from 1; 0: before the first
    before: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])


@dataclass(kw_only=True)
class FilePatch:
    old: str  # empty: the file is new
    new: str  # empty: the file is deleted
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def diff_of(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The unified diff that leads from some files to others; empty if they are the same."""
    parts: list[str] = []
    for path in sorted({*before, *after}):
        one, two = before.get(path), after.get(path)
        if one == two:
            continue
        made = unified_diff(
            _lines(one or ""),
            _lines(two or ""),
            NOWHERE if one is None else f"a/{path}",
            NOWHERE if two is None else f"b/{path}",
            lineterm="",
        )
        parts.append("\n".join(made) + "\n")
    return "".join(parts)


def applied(files: Mapping[str, str], patch: str) -> dict[str, str]:
    """The files as a patch leaves them, each with a line break at its end. Raises ValueError, in words, if it is no
    patch or does not apply."""
    found = list(_read(patch))
    if not found:
        raise ValueError("it is no unified diff: it changes no file")
    now = dict(files)
    for each in found:
        old, new = _known(each.old, now), each.new
        if each.old and old not in now:
            raise ValueError(f"there is no file {each.old}")
        if not each.old and new in now:
            raise ValueError(f"{new} is there already")
        if each.old and each.new and _known(each.new, now) == old:
            new = old
        text = _text(_changed(_lines(now.get(old, "")), each.hunks, old or new))
        if each.old:
            del now[old]
        if not new:
            if text:
                raise ValueError(f"it deletes {old} and leaves some of its lines")
        elif new in now:
            raise ValueError(f"{new} is there already")
        else:
            now[new] = text
    return now


def _read(patch: str) -> Iterator[FilePatch]:
    """The files that a patch changes. Raises ValueError."""
    lines = patch.replace("\r\n", "\n").split("\n")
    renamed: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(_BINARY):
            raise ValueError("it has a binary file")
        if line.startswith(("rename from ", "rename to ", "copy from ", "copy to ")):
            verb, way, path = line.split(" ", 2)
            if verb == "copy":
                raise ValueError("it copies a file")
            renamed[way] = path
        if line.startswith("diff --git ") and len(renamed) == 2:
            yield FilePatch(old=renamed["from"], new=renamed["to"])
            renamed = {}
        if line.startswith("@@"):
            raise ValueError("a hunk stands before the name of its file")
        if not (line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")):
            at += 1
            continue
        own = FilePatch(old=_path(line, "a/"), new=_path(lines[at + 1], "b/"))
        if not (own.old or own.new):
            raise ValueError("it names no file")
        renamed = {}
        at += 2
        while at < len(lines) and lines[at].startswith("@@"):
            hunk, at = _hunk(lines, at)
            own.hunks.append(hunk)
        if not own.hunks:
            raise ValueError(f"it changes nothing in {own.new or own.old}")
        yield own
    if len(renamed) == 2:
        yield FilePatch(old=renamed["from"], new=renamed["to"])


def _hunk(lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    head = _HUNK.match(lines[at])
    if head is None:
        raise ValueError(f"{lines[at][:80]!r} is no head of a hunk, such as @@ -1,3 +1,4 @@")
    hunk = Hunk(start=int(head[1]))
    blank = 0  # lines without any mark: blank lines of the file, or, at the end, none of the hunk's
    at += 1
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            break
        mark, text = line[:1], line[1:]
        if mark not in (" ", "-", "+", "", _NO_NEWLINE):
            break
        if mark == "":
            blank += 1
        else:
            hunk.before += [""] * blank
            hunk.after += [""] * blank
            blank = 0
        if mark in (" ", "-"):
            hunk.before.append(text)
        if mark in (" ", "+"):
            hunk.after.append(text)
        at += 1
    return hunk, at


def _changed(lines: list[str], hunks: Sequence[Hunk], path: str) -> list[str]:
    """Lines with hunks applied, in order. Each is looked for where it says, then further and further from there."""
    made: list[str] = []
    done, shift = 0, 0  # lines that are behind, and how far the last hunk was from where it said
    for hunk in hunks:
        wanted = hunk.start + shift - (1 if hunk.before else 0)
        place = _place(lines, hunk.before, wanted, done)
        if place is None:
            first = next((each for each in hunk.before if each.strip()), "")
            raise ValueError(f"a hunk does not fit {path}: its lines are not there, beginning with {first[:80]!r}")
        shift += place - wanted
        made += lines[done:place] + hunk.after
        done = place + len(hunk.before)
    return made + lines[done:]


def _place(lines: Sequence[str], before: Sequence[str], wanted: int, least: int) -> int | None:
    if not before:
        return wanted if least <= wanted <= len(lines) else None
    most = len(lines) - len(before)
    fitting = [at for at in range(least, most + 1) if lines[at : at + len(before)] == before]
    return min(fitting, key=lambda at: (abs(at - wanted), at), default=None)


def _path(line: str, prefix: str) -> str:
    """The path of a `---` or `+++` line; empty for the one that stands for none."""
    named = _TIME.sub("", line[4:]).strip()
    if named.startswith('"'):
        raise ValueError(f"the name {named[:80]} is quoted")
    return "" if named == NOWHERE else named.removeprefix(prefix)


def _known(path: str, files: Mapping[str, str]) -> str:
    """A path as the files have it: also one that really begins with what diffs put before names."""
    return next((each for each in (path, f"a/{path}", f"b/{path}") if each in files), path)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""
