"""Printing: plain lines for pipes and files here, colours for a terminal in `screen.py`.

All output passes through a printer, which removes control characters.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Sequence
from typing import Protocol

from moot.cli import colour
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


class Printer(Protocol):
    @property
    def width(self) -> int | None:
        """Columns; None: unlimited."""
        ...

    def line(self, *spans: Span) -> None: ...

    def block(self, block: Block) -> None: ...

    def passage(self, *spans: Span) -> None:
        """Print indented text, which can't be mistaken for a heading. Plain text puts styled spans in brackets."""
        ...

    def note(self, text: str) -> None:
        """Print a remark for the person at the keyboard, which is not part of the output."""
        ...


class PlainPrinter:
    width = None

    def line(self, *spans: Span) -> None:
        print("".join(clean(text_of(span)) for span in spans).rstrip(), flush=True)

    def block(self, block: Block) -> None:
        heading = clean(block.heading) + (f"  [{clean(block.key)}]" if block.key else "")
        # Indented, so that no statement can look like a heading.
        inner = [block.lead] if block.lead else []
        inner += [block.body, *(line for _, line in block.cast)]
        inner += [f"! {block.warning}"] if block.warning else []
        lines = (f"  {line}".rstrip() for part in inner for line in clean(part).splitlines())
        print("\n".join([heading, *lines]) + "\n", flush=True)

    def passage(self, *spans: Span) -> None:
        text = "".join(clean(span if isinstance(span, str) else f"[{span[0]}]") for span in spans)
        print("\n".join(f"  {line}".rstrip() for line in text.splitlines()), flush=True)

    def note(self, text: str) -> None:
        note(text)


def note(text: str) -> None:
    print(clean(text), file=sys.stderr, flush=True)


def text_of(span: Span) -> str:
    return span if isinstance(span, str) else span[0]


def make_printer(*, plain: bool = False) -> Printer:
    if plain or not (sys.stdout.isatty() or colour.wanted(os.environ)):
        return PlainPrinter()
    from moot.cli.screen import RichPrinter

    return RichPrinter()


def table(printer: Printer, head: Sequence[str], rows: Sequence[Sequence[Span]], *, cut: bool = False) -> None:
    """Print columns as wide as their contents; `cut` shortens the last one to the width of the terminal."""
    widths = [max(len(text_of(row[at])) for row in (head, *rows)) for at in range(len(head) - 1)]
    left = None if printer.width is None or not cut else max(10, printer.width - sum(widths) - 2 * len(widths))
    for number, row in enumerate([head, *rows]):
        spans: list[Span] = []
        for at, span in enumerate(row):
            text, style = (span, "bold" if number == 0 else "") if isinstance(span, str) else span
            if at < len(widths):
                spans.append((f"{text:<{widths[at]}}  ", style))
            else:
                spans.append((text if left is None or len(text) <= left else f"{text[: left - 1]}…", style))
        printer.line(*spans)


def replace_unprintable() -> None:
    """Print a similar character, or `?`, where the terminal's encoding lacks one."""

    def nearest(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        bad = error.object[error.start : error.end]
        return "".join(_ASCII.get(c, "?") for c in bad), error.end

    codecs.register_error("moot", nearest)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="moot")
