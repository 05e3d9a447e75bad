"""Terminal output: colours, and a live region at the bottom. Finished text is printed once, above the region."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.text import Text

from moot.cli import colour
from moot.cli.blocks import Block, RenderContext, block_of
from moot.cli.download import Download
from moot.cli.printer import Span, note
from moot.cli.views import View
from moot.cli.words import progress, spent
from moot.core.amounts import count
from moot.core.types import CHARS_PER_TOKEN, Debate, Event
from moot.reasoning.fence import clean
from moot.runtime.hub import Flight

PALETTE = ("cyan", "magenta", "yellow", "green", "blue", "bright_cyan", "bright_magenta", "bright_yellow")
REGION_LINES = 8
TAIL_LINES = 3
CANDIDATE_LINES = 6  # beside the lines of the region, where the terminal is high enough
TAIL_CHARS = 2000  # more than the tail lines of any sensible terminal


class RichPrinter:
    def __init__(self, seats: Sequence[str] = ()) -> None:
        # Models write brackets and colons: nothing they say is markup.
        self.console = Console(markup=False, highlight=False, emoji=False, **_colouring())
        self.colours = {seat: PALETTE[at % len(PALETTE)] for at, seat in enumerate(seats)}

    @property
    def width(self) -> int | None:
        return self.console.width

    def line(self, *spans: Span) -> None:
        self._print([Text.assemble(*(_styled(span) for span in spans))])

    def block(self, block: Block) -> None:
        colour = "red" if block.alarm else self.colours.get(block.seat, "")
        dim = "dim " if block.quiet else ""
        heading = Text(clean(block.heading), style=f"{dim}{colour}" if block.quiet else f"bold {colour}")
        if block.key:
            heading.append(f"  {clean(block.key)}", style="dim not bold default")
        lines = [heading]
        lines += self._gutter(clean(block.lead), "bold", colour)
        lines += self._gutter(clean(block.body), dim.strip(), f"{dim}{colour}")
        for seat, line in block.cast:
            lines += self._gutter(clean(line), self.colours.get(seat, ""), "")
        lines += self._gutter(block.warning, "bold red", "red")
        self._print([*lines, Text()])

    def passage(self, *spans: Span) -> None:
        self._print(self._lines(Text.assemble(*(_styled(span) for span in spans)), ""))

    def note(self, text: str) -> None:
        if sys.stderr.isatty():
            self._print([Text(clean(text), style="dim")])
        else:
            note(text)

    def _gutter(self, text: str, style: str, colour: str) -> list[Text]:
        return self._lines(Text("\n".join(text.splitlines()), style=style), colour) if text else []

    def _lines(self, text: Text, colour: str) -> list[Text]:
        lines: list[Text] = []
        for line in text.wrap(self.console, max(4, self.console.width - 2), overflow="fold"):
            line.rstrip()
            lines.append(Text.assemble(("│ ", colour), line))
        return lines

    def _print(self, lines: list[Text]) -> None:
        self.console.print(Group(*lines), overflow="fold")


class Region:
    """Lines at the bottom of the terminal that are redrawn in place.

    rich's `Live` tears when the window is narrowed, and hides the cursor, which a killed process leaves hidden.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._widths: list[int] = []

    def draw(self, lines: Sequence[Text]) -> None:
        self.clear()
        self.console.print(Text("\n").join(lines), end="", no_wrap=True, overflow="ignore", crop=False)
        self._widths = [line.cell_len for line in lines]

    def clear(self) -> None:
        if not self._widths:
            return
        # A terminal that became narrower has wrapped these lines since.
        columns = max(1, self.console.width)
        rows = sum(max(1, -(-width // columns)) for width in self._widths)
        up = f"\x1b[{rows - 1}A" if rows > 1 else ""
        self.console.file.write(f"\r{up}\x1b[J")
        self.console.file.flush()
        self._widths = []


class LiveView(View):
    """Prints finished events into the scrollback. The region below shows a heading and the latest text of each step in
    flight, and a footer."""

    live = True

    def __init__(
        self, printer: RichPrinter, context: RenderContext, *, hint: str, download: Download | None = None
    ) -> None:
        self.printer, self.context, self.hint = printer, context, hint
        self.download = download or Download()
        self.began = time.monotonic()
        self._region = Region(printer.console)

    def event(self, event: Event) -> None:
        block = block_of(event, self.context)
        if block is not None:
            self._region.clear()
            self.printer.block(block)

    def note(self, text: str) -> None:
        self._region.clear()
        self.printer.note(text)

    @contextmanager
    def shown(self) -> Generator[None]:
        self.download.embedded = True
        try:
            with _no_echo():
                yield
        finally:
            self._region.clear()
            self.download.embedded = False

    def update(self, flights: Mapping[str, Flight], debate: Debate) -> None:
        room = max(2, min(REGION_LINES, self.printer.console.height - 2)) - 1
        fetching = self.download.text
        rail = self._rail()[: max(0, room - 2)] if not fetching else []
        candidates = self._candidates(self.printer.console.height - 3 - room) if not fetching else []
        shown = list(flights.values())
        lines = [Text(fetching, style="dim")] if fetching else self._flights(shown, room - len(rail))
        lines += [*candidates, *rail]
        lines.append(self._footer(flights, debate))
        for line in lines:
            line.truncate(max(4, self.printer.console.width - 3), overflow="ellipsis")
        self._region.draw(lines)

    def _flights(self, flights: list[Flight], room: int) -> list[Text]:
        if not flights:
            return []
        fit = max(1, room // 2)
        hidden = len(flights) - fit
        if hidden > 0:
            fit = max(1, (room - 1) // 2)
            hidden = len(flights) - fit
        tail = min(TAIL_LINES, max(1, room // min(fit, len(flights)) - 1))
        lines: list[Text] = []
        for flight in flights[:fit]:
            lines += self._flight(flight, tail)
        if hidden > 0:
            lines.append(Text(f"and {hidden} more at work", style="dim"))
        return lines[:room]

    def _flight(self, flight: Flight, tail: int) -> list[Text]:
        colour = self.printer.colours.get(flight.seat, "")
        name = clean(self.context.wording.speaker(flight.seat))
        heading = Text.assemble(
            (f"{name} {self.context.wording.doing(flight.shows, flight.phase)} ", f"bold {colour}"), ("…", "dim")
        )
        width = max(4, self.printer.console.width - 5)
        if code := code_in_flight(flight.text):
            return [heading, *(Text.assemble(("│ ", colour), (line, "dim")) for line in code[-tail:])]
        text = " ".join(clean(flight.text[-TAIL_CHARS:]).split())
        if not text:
            return [heading]
        wrapped = list(Text(text, style="dim").wrap(self.printer.console, width, overflow="fold"))
        return [heading, *(Text.assemble(("│ ", colour), line) for line in wrapped[-tail:])]

    def _candidates(self, room: int) -> list[Text]:
        """How the newest candidates stand, a line for each."""
        fit = max(0, min(CANDIDATE_LINES, room))
        shown = [*self.context.wording.candidates.items()][-fit:] if fit else []
        width = max((len(clean(name)) for name, _ in shown), default=0)
        return [Text(f"{clean(name).ljust(width)}  {clean(stands)}") for name, stands in shown]

    def _rail(self) -> list[Text]:
        """The parts of the debate in a line: by name where there is room, else a mark for each. Below it stand those
        that are off."""
        parts, at = self.context.wording.parts, self.context.wording.part
        marks = ["✓" if n < at else "▸" if n == at else "·" for n in range(1, len(parts) + 1)]
        named = "  ".join(f"{mark} {clean(name)}" for mark, name in zip(marks, parts, strict=True))
        names = ", ".join(clean(name) for name in self.context.wording.parts_off)
        fits = len(named) <= self.printer.console.width - 3
        lines = [named if fits else " ".join(marks), *([f"off: {names}"] if names else [])] if parts else []
        return [Text(line, style="dim") for line in lines]

    def _footer(self, flights: Mapping[str, Flight], debate: Debate) -> Text:
        now = max((flight.round for flight in flights.values()), default=0)
        writing = sum(len(flight.text) for flight in flights.values()) // CHARS_PER_TOKEN
        hint = "stopping after this step" if debate.status == "stopping" else self.hint
        chapter = self.context.wording.chapter
        parts = [progress(debate, now), *spent(debate, time.monotonic() - self.began, writing), hint]
        if not flights and debate.cursor.open and debate.status == "running":
            parts.insert(1, f"{count(len(debate.cursor.open), 'step')} at work")
        parts = [chapter, *parts] if chapter else parts
        return Text(" · ".join(parts), style="dim")


def code_in_flight(text: str) -> list[str]:
    """The lines of a block of code that has begun and not ended; none where words come in."""
    if text.count("```") % 2 == 0:
        return []
    _, _, block = text.rpartition("```")
    _, newline, code = block[-TAIL_CHARS:].partition("\n")  # what stands beside the marks is its language
    return [line.expandtabs(4).rstrip() for line in clean(code).splitlines() if line.strip()] if newline else []


def _colouring() -> dict[str, Any]:
    wanted = colour.wanted(os.environ)
    dumb = os.environ.get("TERM", "dumb") == "dumb"  # as in most CI, whose logs show colours all the same
    system = "standard" if wanted and dumb else "auto"
    return {"force_terminal": wanted or None, "no_color": wanted is False, "color_system": system}


def _styled(span: Span) -> tuple[str, str]:
    return (clean(span), "") if isinstance(span, str) else (clean(span[0]), span[1])


@contextmanager
def _no_echo() -> Generator[None]:
    """Turn the echo of typed keys off: it would tear the region."""
    try:
        import termios

        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        quiet = termios.tcgetattr(descriptor)
        quiet[3] &= ~termios.ECHO
        # A process in the background must not touch the terminal: it would be stopped.
        if os.getpgrp() == os.tcgetpgrp(descriptor):
            termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
    except Exception:  # no termios, no terminal, or not ours
        yield
        return
    try:
        yield
    finally:
        if os.getpgrp() == os.tcgetpgrp(descriptor):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
