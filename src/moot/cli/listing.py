"""The lines of `moot list`: facts, question and answer of each debate, for a pipe, a wide and a narrow terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moot.cli.printer import Printer, Span, table, text_of
from moot.cli.words import ago, progress
from moot.core.types import Debate
from moot.reasoning.fence import one_line

FACTS = ("ID", "STATUS", "PROGRESS", "FORMAT", "AGE")
LEAST_ROOM = 50  # columns for question and answer beside the facts
STYLES = {
    "running": "green",
    "interrupted": "red",
    "waiting": "yellow",
    "stopping": "yellow",
    "stopped": "yellow",
    "failed": "red",
    "canceled": "dim",
}


@dataclass(frozen=True, kw_only=True)
class Listed:
    facts: Sequence[Span]
    question: str
    answer: str  # empty: there is none yet


def listed(debate: Debate, answer: str, dead: frozenset[str], now: float) -> Listed:
    queued = debate.status == "running" and debate.owner is None
    status = "interrupted" if debate.id in dead else "queued" if queued else debate.status
    return Listed(
        facts=(
            (debate.short, "bold"),
            (status, STYLES.get(status, "")),
            progress(debate),
            debate.format,
            ago(debate.created_at, now),
        ),
        question=one_line(" ".join(_labelled(debate)), 200),
        answer=answer,
    )


def _labelled(debate: Debate) -> list[str]:
    return [*(["(pinned)"] if debate.pinned else []), *(f"#{tag}" for tag in debate.tags), debate.name]


def print_debates(printer: Printer, debates: Sequence[Listed]) -> None:
    """One line for each debate in a pipe. In a terminal the answer stands below the question, and both below the facts
    where there is little room beside them."""
    if printer.width is None:
        table(printer, (*FACTS, "QUESTION", "ANSWER"), [(*each.facts, each.question, each.answer) for each in debates])
        return
    columns = zip(FACTS, *(each.facts for each in debates), strict=True)
    taken = sum(max(len(text_of(span)) for span in column) + 2 for column in columns)
    if printer.width - taken >= LEAST_ROOM:
        _beside(printer, debates)
    else:
        _below(printer, debates, printer.width)


def _beside(printer: Printer, debates: Sequence[Listed]) -> None:
    rows: list[Sequence[Span]] = []
    for each in debates:
        rows.append((*each.facts, (each.question, "bold")))
        if each.answer:
            rows.append((*[""] * len(FACTS), each.answer))
    table(printer, (*FACTS, "QUESTION AND ANSWER"), rows, cut=True)


def _below(printer: Printer, debates: Sequence[Listed], width: int) -> None:
    for each in debates:
        id_, status, *others = each.facts
        printer.line(id_, "  ", status, f", {', '.join(map(text_of, others))}")
        for text, style in ((each.question, "bold"), (each.answer, "")):
            if text:
                printer.line((f"  {one_line(text, max(10, width - 2))}", style))
