"""Reads what models write around code: fenced blocks, and tests as lines such as `add(1, 2) == 3`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from moot.reasoning.code.cases import MAX_CALL_CHARS, MAX_STEPS, Case
from moot.reasoning.code.literals import is_literal

CASES = "cases"  # the tag of a block with tests
_CASE_TAGS = frozenset({CASES, "tests", "test", "case", "predictions"})
_NOT_CODE = _CASE_TAGS | {"json", "text", "txt", "output", "console", "markdown", "md", "bash", "sh", "diff"}
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[\w+#.-]*)[^\n`]*$")
_CODE_BEGINS = re.compile(r"(?:def|class|import|from|async|function|const|let|var|export)\b|@\w|#!")
_BULLET = re.compile(r"^(?:[-*•]\s+|\d+[.)]\s+|>>>\s*)")
_SEPARATOR = re.compile(r"===|==|=>|->|\braises\b|\bthrows\b|\bis\b(?!\s+not\b)")
_RAISES = re.compile(r"^(?:raises|throws)\s+(?:an?\s+)?([A-Za-z_][\w.]*)", re.IGNORECASE)
_NAME = re.compile(r"^([A-Za-z_][\w.]*)")
_MESSAGE = re.compile(r"""\s*[fFrRuU]{0,2}["']""")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_MAX_LINES = 60  # of one test that spans several


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced part of a text."""

    tag: str
    text: str
    mark: str = "```"
    closed: bool = True


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a text, in order. The last may be left open."""
    found: list[Block] = []
    mark, tag = "", ""
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        fence = _FENCE.match(line)
        if not mark:
            if fence:
                mark, tag, lines = fence["mark"], fence["tag"].lower(), []
        elif fence and not fence["tag"] and fence["mark"].startswith(mark):
            found.append(Block(tag=tag, text="\n".join(lines), mark=mark))
            mark = ""
        else:
            lines.append(line)
    if mark:
        found.append(Block(tag=tag, text="\n".join(lines), mark=mark, closed=False))
    return found


def closed(text: str) -> str:
    """A text whose last block is not left open."""
    last = blocks(text)[-1:]
    return f"{text}\n{last[0].mark}" if last and not last[0].closed else text


def code_in(text: str) -> str:
    """The code of an answer: its longest block that is not of another kind, or the whole text if it begins like code.
    Raises ValueError, in words for the model, if there is none or it breaks off."""
    found = [block for block in blocks(text) if block.tag not in _NOT_CODE and block.text.strip()]
    if not found and _CODE_BEGINS.match(text.lstrip()) and "```" not in text:
        return _ending(text.strip())
    if not found:
        raise ValueError("there is no code in it; put the whole code between ```python and ```")
    longest = max(found, key=lambda block: len(block.text))
    if not longest.closed:
        raise ValueError("its code block is not closed; write the whole code, and ``` after it")
    return _ending(longest.text.strip("\n"))


def _ending(code: str) -> str:
    return code if code.endswith("\n") else f"{code}\n"


_TICKS = re.compile("`+")


def fenced(tag: str, text: str) -> str:
    """A text as a block, with a fence that it does not contain."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{tag}\n{text.rstrip()}\n{mark}"


def cases_in(text: str) -> tuple[Case, ...]:
    """The tests in an answer: from its blocks of tests, or from all of its lines if it has no such block. Lines that
    are none are passed over; of equal ones, the first counts."""
    marked = [block.text for block in blocks(text) if block.tag in _CASE_TAGS]
    found = (case_of(line) for part in marked or [text] for line in _logical_lines(part))
    return tuple(dict.fromkeys(case for case in found if case is not None))


def case_of(line: str) -> Case | None:
    """The test that a line stands for, if any: `f(1) == 2`, `s = S(); s.pop() raises IndexError`, `assert not f(0)`."""
    text = _BULLET.sub("", line.strip()).strip("` \t")
    asserted = text.startswith("assert ")
    text = _without_message(text.removeprefix("assert ").strip()) if asserted else text
    if asserted and len(apart(text, ",")) > 1:
        return None
    called, mark, rest = separated(text)
    if not mark and asserted:
        called, rest = (called[4:].strip(), "False") if called.startswith("not ") else (called, "True")
    elif not mark:
        return None
    call = _steps(called)
    if call is None:
        return None
    if mark in ("raises", "throws"):
        name = _NAME.match(rest.strip())
        return Case(call=call, raises=_last(name[1])) if name else None
    expected = _literal(rest)
    return None if expected is None else Case(call=call, expected=expected)


def written_case(case: Case) -> str:
    """A case as the line that `case_of` reads."""
    ends = f"raises {case.raises}" if case.raises else f"== {case.expected}"
    return f"{'; '.join(case.call)} {ends}"


def expectation(text: str) -> tuple[str, str]:
    """What a text says comes of a call: a literal, or the name of an exception; both empty if it says neither."""
    text = text.strip().strip("`").strip()
    raised = _RAISES.match(text)
    if raised:
        return "", _last(raised[1])
    found = _literal(text)
    if found is None:
        _, mark, rest = separated(text)
        if mark in ("raises", "throws"):
            name = _NAME.match(rest.strip())
            return "", _last(name[1]) if name else ""
        found = _literal(rest) if mark else None
    return found or "", ""


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _steps(called: str) -> tuple[str, ...] | None:
    steps = tuple(part.strip() for part in apart(called, ";") if part.strip())
    if not steps or len(steps) > MAX_STEPS or "(" not in steps[-1]:
        return None
    return None if any(len(step) > MAX_CALL_CHARS for step in steps) else steps


def _without_message(assertion: str) -> str:
    """An assertion without the text that it shows when it fails."""
    parts = apart(assertion, ",")
    return parts[0].strip() if len(parts) > 1 and _MESSAGE.match(parts[1]) else assertion


def _literal(text: str) -> str | None:
    """The literal that a text is, if it is one. `3, 1` is a tuple; `1,000` could be that or a number, so it is none."""
    plain = text.strip().rstrip(";,.")
    if _GROUPED.fullmatch(plain):
        return None
    ways = (plain, f"({plain})") if len(apart(plain, ",")) > 1 else (plain,)
    return next(filter(is_literal, ways), None)


def separated(text: str) -> tuple[str, str, str]:
    """What stands before the first separator outside of brackets and strings, the separator, and what follows it."""
    outside = set(_outside(text))
    end = next((at for at in sorted(outside) if text[at] == "#" or text.startswith("//", at)), len(text))
    for found in _SEPARATOR.finditer(text):
        if found.start() in outside and found.start() < end:
            return text[: found.start()].strip(), found[0], text[found.end() : end].strip()
    return text[:end].strip(), "", ""


def apart(text: str, mark: str) -> list[str]:
    parts, last = list[str](), 0
    for at in _outside(text):
        if text[at] == mark:
            parts.append(text[last:at])
            last = at + 1
    return [*parts, text[last:]]


def places(text: str) -> Iterator[tuple[int, int, bool]]:
    """The places of a text that are not inside of a string, with how many brackets are open there. At the end comes
    one more, which also says whether a string is open."""
    depth, quote, at = 0, "", 0
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"  # what it escapes is passed over, too
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char in "([{") - (char in ")]}")
            yield at, depth, False
        at += 1
    yield len(text), depth, bool(quote)


def _outside(text: str) -> Iterator[int]:
    """The places of a text outside of brackets and strings."""
    for at, depth, _ in places(text):
        if depth <= 0 and at < len(text) and text[at] not in "([{)]}":
            yield at


def _logical_lines(text: str) -> Iterator[str]:
    """Lines, where one whose brackets are open goes on in the next."""
    held: list[str] = []
    for line in text.split("\n"):
        held.append(line.strip())
        joined = " ".join(held)
        if not _is_open(joined) or len(held) >= _MAX_LINES:
            yield joined
            held = []
    yield from held


def _is_open(text: str) -> bool:
    *_, (_, depth, quoted) = places(text)
    return depth > 0 and not quoted
