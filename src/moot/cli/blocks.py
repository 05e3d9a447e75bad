"""Events as blocks of text, for the live view, plain output and `moot show`.

A format's own events are worded by its vocabulary (`moot.formats.wording`); those of the stage and the runtime are
rendered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from moot import formats
from moot.core.amounts import count
from moot.core.stage import CAST, HEADER, VERDICT
from moot.core.types import Debate, Event, Outcome, SeatSpec
from moot.formats.format import Grid
from moot.formats.wording import Wording, checks_words, points_words, tally_words, words_of
from moot.reasoning.fence import one_line
from moot.records.transcript import early_end

DEMONSTRATION = (
    "A demonstration model takes part: it shows how moot works, and the verdict means nothing beyond that. "
    "For a verdict that does, choose a real model (see: moot models)."
)
MEANS_NOTHING = "(a demonstration: it means nothing)"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading in its speaker's colour, and indented text under it."""

    heading: str
    lead: str = ""  # an emphasized first line
    cast: Sequence[tuple[str, str]] = ()  # seat id and line, one for each seat
    body: str = ""
    seat: str = ""
    key: str = ""  # of the step, for `moot fork --at`
    quiet: bool = False  # thoughts and notices: dimmed
    alarm: bool = False  # a failure: red
    warning: str = ""


@dataclass(frozen=True, kw_only=True)
class RenderContext:
    """What rendering needs to know of a debate, beside each event."""

    debate: Debate
    demonstration: bool
    wording: Wording
    shows_code: bool = True  # with the verdict; False: the command prints it by itself
    last_words: list[str] = field(default_factory=list[str])  # of the latest turn; the verdict does not repeat them

    @classmethod
    def of(cls, debate: Debate, *, demonstration: bool, shows_code: bool = True) -> RenderContext:
        return cls(
            debate=debate, demonstration=demonstration, wording=formats.wording_of(debate), shows_code=shows_code
        )


def block_of(event: Event, context: RenderContext) -> Block | None:
    """Render an event; None if there is nothing to show."""
    context.wording.hear(event)
    renderer = _RENDERERS.get(event.type)
    if renderer is not None:
        return renderer(event, context)
    return _of_format(event, context) if event.type.isupper() else None


def drawn(grid: Grid) -> list[str]:
    """A table of marks in lines: the columns' names once, then a row for each case."""
    widths = [max(len(name), *(len(row.cells[at]) for row in grid.rows), 0) for at, name in enumerate(grid.columns)]

    def line(cells: Sequence[str], rest: str) -> str:
        return "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), rest]).rstrip()

    rows = [line(row.cells, f"{row.name} ({row.note})" if row.note else row.name) for row in grid.rows]
    more = [f"and {grid.more:,} more"] if grid.more else []
    return [line(grid.columns, ""), *rows, *more] if rows else []


def _of_format(event: Event, context: RenderContext) -> Block | None:
    kind, turn = context.wording.type(event.type), event.turn
    if kind.hidden:
        return None
    caption, quiet = context.wording.caption(event), kind.quiet or not kind.public
    if turn is None:
        lines = caption.lines if caption.grid is None else drawn(caption.grid)
        return Block(heading=caption.headline, body="\n".join(lines), key=event.key, quiet=quiet)
    context.last_words[:] = [turn.content.strip()]
    return Block(
        heading=caption.headline,
        body=words_of(turn),
        seat=turn.seat,
        key=event.key,
        quiet=quiet,
        alarm=turn.failure is not None,
    )


def _header(event: Event, context: RenderContext) -> Block:
    debate = context.debate
    seats = [seat for seat in debate.cast if seat.id in context.wording.named]
    width = max((len(seat.name) for seat in seats), default=0)
    return Block(
        heading=debate.topic,
        lead=answer_line(debate, demonstration=context.demonstration),
        body="\n".join([f"{debate.format}, debate {debate.short}", *context.wording.header(event)]),
        cast=[(seat.id, _seat_line(seat, width)) for seat in seats],
    )


def answer_line(debate: Debate, *, demonstration: bool) -> str:
    """The answer for lists and headers, marked where it means nothing; empty if there is no outcome."""
    if debate.outcome is None:
        return ""
    line = one_line(debate.outcome.headline)
    return f"{line}  {MEANS_NOTHING}" if demonstration else line


def _seat_line(seat: SeatSpec, width: int) -> str:
    return f"{seat.name:<{width}}  {f'{seat.stance}, ' if seat.stance else ''}{seat.model}"


def _cast(event: Event, context: RenderContext) -> Block:
    names: Mapping[str, str] = event.data["names"]
    width = max((len(seat) for seat in names), default=0)
    return Block(heading="Taking part", cast=[(seat, f"{seat:<{width}}  {name}") for seat, name in names.items()])


def _verdict(event: Event, context: RenderContext) -> Block:
    outcome = Outcome.model_validate(event.data)
    judge = next((seat.id for seat in context.debate.cast if not seat.voice), "")
    return Block(
        heading="Verdict",
        lead=outcome.headline,
        body="\n".join(_grounds(outcome, context)),
        seat=judge,
        warning=DEMONSTRATION if context.demonstration else "",
    )


def _grounds(outcome: Outcome, context: RenderContext) -> list[str]:
    lines: list[str] = [outcome.how] if outcome.how else []
    name = context.wording.side
    points = points_words(outcome.scores, outcome.scale, name, outcome.scored_by)
    if points:
        lines.append(points)
    if outcome.tally:
        lines.append(f"Votes: {tally_words(outcome.tally, name)}")
    if outcome.flip_rate is not None:
        lines.append(f"Read in both orders: {outcome.flip_rate:.0%} of the readings came out differently.")
    if outcome.further_reason:
        lines.append(f"Reason: {outcome.further_reason}")
    checked = checks_words(outcome.checks)
    if checked:
        lines.append(checked)
    lines += outcome.notes
    lines.append(early_end(outcome) or f"Ended because {context.wording.ending(outcome.ended_by)}.")
    if outcome.statement.strip() and outcome.statement.strip() not in (outcome.headline, *context.last_words):
        lines += ["", outcome.statement]
    if context.shows_code and outcome.answer is not None and outcome.answer.is_code:
        lines += ["", outcome.answer.value]
    return lines


def _status(event: Event, context: RenderContext) -> Block | None:
    data = event.data
    status = data.get("status")
    if status == "failed":
        partial: Mapping[str, str] = data.get("partial") or {}
        kept = [f"\nWritten until then at {key}, and not part of the debate:\n{text}" for key, text in partial.items()]
        body = "\n".join([str(data.get("error", "")), *kept])
        return Block(heading=f"Failed ({data.get('kind', 'error')})", body=body, alarm=True)
    if status == "running":
        turns = int(data.get("turns", 0))
        return Block(heading=f"Goes on after {count(turns, 'turn')}.", quiet=True) if turns else None
    if status == "pending" and data.get("parent"):
        at = f" at {data['at']}" if data.get("at") else ""
        return Block(heading=f"Branched off from {str(data['parent'])[:8]}{at}.", quiet=True)
    return Block(heading=f"{status.capitalize()}.", quiet=True) if status in ("stopped", "canceled") else None


def _notice(event: Event, context: RenderContext) -> Block:
    return Block(heading="Note", body=str(event.data.get("text", "")), quiet=True)


def _gate(event: Event, context: RenderContext) -> Block:
    choices = ", ".join(event.data.get("choices") or [])
    body = str(event.data.get("question", "")) + (f"\n\nChoices: {choices}" if choices else "")
    return Block(heading="Your turn", body=body, key=event.key)


_RENDERERS: Mapping[str, Callable[[Event, RenderContext], Block | None]] = {
    HEADER: _header,
    CAST: _cast,
    VERDICT: _verdict,
    "status": _status,
    "notice": _notice,
    "gate": _gate,
}
