"""Escaping untrusted text for Markdown, so that it can't change the structure of the document.

Emphasis, lists, code spans and code blocks are kept: models write them, and they are harmless. Headings, links, images,
HTML, footnotes, tables, front matter and the tags of site generators are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from moot.reasoning.fence import clean

_SPECIAL = re.compile(r"[\\`\[\]<>&|$~{]|(?<=\{)[%#:]")
_LITERAL = re.compile(r"[\\`\[\]<>&|${}*_#~]|(?<=\{)[%:]")
_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_ITEM = re.compile(r"(?:[-*+•]|([0-9]{1,9})[.)])[ \t]+(?=\S)")
_BREAK = re.compile(r"(?:[-*_][ \t]*){3,}$")
_STARTS = re.compile(r"[#+=:!%-]|[*](?=\s|$)")
_NUMBER = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*$")
_TAGS = re.compile(r"\{[{%#:]")
_LINES = re.compile(r"[\n\u2028\u2029]")


def literal(text: str) -> str:
    """The text as one line without any formatting, for headings and labels."""
    return _unstarted(_LITERAL.sub(r"\\\g<0>", " ".join(clean(text).split())))


def code(text: str) -> str:
    """The text as a code span, for keys, ids and model names."""
    words = " ".join(clean(text).split())
    if not words or _TAGS.search(words):
        return literal(words)
    mark = "`" * (_longest_run(words) + 1)
    pad = " " if "`" in (words[0], words[-1]) else ""
    return f"{mark}{pad}{words}{pad}{mark}"


def item(text: str) -> str:
    """The text as one line of a list item."""
    return _line(" ".join(clean(text).split()))


def quote(text: str) -> str:
    """The text as a block quote, line by line."""
    return "\n".join(f"> {line}".rstrip() for line in _blocks(text)) or ">"


def source(text: str, tag: str = "") -> str:
    """Code as a block, every character of a line as it is. Site generators expand tags even in code: code that has some
    is written as HTML, in which they are none."""
    lines = clean(text).rstrip().split("\n")
    if not any(_TAGS.search(line) for line in lines):
        mark = "`" * max(3, _longest_run("\n".join(lines)) + 1)
        return "\n".join((f"{mark}{tag}", *lines, mark))
    return f"<pre><code>{escape(chr(10).join(lines)).replace('{', '&#123;')}</code></pre>"


def _blocks(text: str) -> Iterator[str]:
    lines = [line.rstrip().expandtabs(4) for line in _LINES.split(clean(text).strip())]
    before = ""  # the kind of block before this line
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        opened = _FENCE.match(line)
        if opened:
            code_lines, at = _until_closed(lines, at + 1, opened[1])
            if before:
                yield ""
            yield from _code_block(code_lines)
            before = "code"
            continue
        at += 1
        if not line:
            if before:
                yield ""
            before = ""
            continue
        found = None if _BREAK.match(line) else _ITEM.match(line)
        kind = "item" if found else "text"
        if before and before != kind:
            yield ""
        before = kind
        if found:
            mark = f"{int(found[1])}." if found[1] else "-"
            yield f"{mark} {_line(line[found.end() :])}"
        else:
            goes_on = at < len(lines) and _is_text(lines[at].strip())
            yield _line(line) + ("\\" if goes_on else "")


def _is_text(line: str) -> bool:
    return bool(line) and not _FENCE.match(line) and (bool(_BREAK.match(line)) or not _ITEM.match(line))


def _until_closed(lines: list[str], at: int, fence: str) -> tuple[list[str], int]:
    """The lines of a code block, and the index after it. An unclosed block ends with the text."""
    closing = re.compile(rf"\s*{fence[0]}{{{len(fence)},}}\s*$")
    for end in range(at, len(lines)):
        if closing.match(lines[end]):
            return lines[at:end], end + 1
    return lines[at:], len(lines)


def _code_block(lines: list[str]) -> Iterator[str]:
    if any(_TAGS.search(line) for line in lines):  # site generators expand tags even in code
        for number, line in enumerate(lines, 1):
            yield _line(line.strip()) + ("\\" if line.strip() and number < len(lines) and lines[number].strip() else "")
        return
    mark = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    yield from (mark, *lines, mark)


def _line(text: str) -> str:
    """Inline text, escaped so that it begins no block."""
    parts: list[str] = []
    at = 0
    for span in _CODE_SPAN.finditer(text):
        if not span[1].strip() or _TAGS.search(span[1]):
            continue
        parts += [_SPECIAL.sub(r"\\\g<0>", text[at : span.start()]), span[0]]
        at = span.end()
    parts.append(_SPECIAL.sub(r"\\\g<0>", text[at:]))
    return _unstarted("".join(parts))


def _unstarted(line: str) -> str:
    if _STARTS.match(line) or _BREAK.match(line):
        return f"\\{line}"
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
