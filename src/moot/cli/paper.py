"""Where text goes: plain lines for pipes and files. `screen.py` has the one with colours.

Everything printed passes through here once, so this is where control characters are taken out."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Sequence
from typing import Protocol

from moot.cli.blocks import Block
from moot.reasoning.fence import clean

Span = str | tuple[str, str]  # text, or text and style

_ASCII = {
    "…": "...",
    "─": "-",
    "│": "|",
    "·": "-",
    "’": "'",
    "“": '"',
    "”": '"',
    "—": "-",
    "–": "-",
    "█": "#",
    "░": ".",
}


class Paper(Protocol):
    @property
    def width(self) -> int | None:
        """None: lines may be as long as they like."""
        ...

    def line(self, *spans: Span) -> None: ...

    def block(self, block: Block) -> None: ...

    def passage(self, *spans: Span) -> None:
        """Text that can never pass for a heading. Styled spans are marked: in plain text, by brackets."""
        ...

    def note(self, text: str) -> None:
        """For the person at the keyboard, not part of the output."""
        ...


class PlainPaper:
    width = None

    def line(self, *spans: Span) -> None:
        print("".join(clean(words(span)) for span in spans).rstrip(), flush=True)

    def block(self, block: Block) -> None:
        text = clean(block.heading) + (f"  [{clean(block.key)}]" if block.key else "")
        # Indented, so that nothing anyone says can look like a heading.
        inner = [block.lead] if block.lead else []
        inner += [block.body, *(line for _, line in block.cast)]
        inner += [f"! {block.warning}"] if block.warning else []
        lines = (f"  {line}".rstrip() for part in inner for line in clean(part).splitlines())
        print("\n".join([text, *lines]) + "\n", flush=True)

    def passage(self, *spans: Span) -> None:
        text = "".join(clean(span if isinstance(span, str) else f"[{span[0]}]") for span in spans)
        print("\n".join(f"  {line}".rstrip() for line in text.splitlines()), flush=True)

    def note(self, text: str) -> None:
        note(text)


def note(text: str) -> None:
    print(clean(text), file=sys.stderr, flush=True)


def words(span: Span) -> str:
    return span if isinstance(span, str) else span[0]


def paper(*, plain: bool = False) -> Paper:
    if plain or not sys.stdout.isatty():
        return PlainPaper()
    from moot.cli.screen import RichPaper

    return RichPaper()


def table(paper: Paper, head: Sequence[str], rows: Sequence[Sequence[Span]], *, cut: bool = False) -> None:
    """Columns as wide as they need to be; `cut` keeps the last one within what is left of the line."""
    widths = [max(len(words(row[at])) for row in (head, *rows)) for at in range(len(head) - 1)]
    left = None if paper.width is None or not cut else max(10, paper.width - sum(widths) - 2 * len(widths))
    for number, row in enumerate([head, *rows]):
        spans: list[Span] = []
        for at, span in enumerate(row):
            text, style = (span, "bold" if number == 0 else "") if isinstance(span, str) else span
            if at < len(widths):
                spans.append((f"{text:<{widths[at]}}  ", style))
            else:
                spans.append((text if left is None or len(text) <= left else f"{text[: left - 1]}…", style))
        paper.line(*spans)


def forgive_encoding() -> None:
    """A terminal that can't show a character gets the nearest one, never a crash."""

    def nearest(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        bad = error.object[error.start : error.end]
        return "".join(_ASCII.get(c, "?") for c in bad), error.end

    codecs.register_error("moot", nearest)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="moot")
