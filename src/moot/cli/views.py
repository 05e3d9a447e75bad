"""Views that show a debate event by event: JSON lines, plain text, a terminal; and its JSON documents."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from moot.cli import colour
from moot.cli.blocks import RenderContext, block_of
from moot.cli.download import Download
from moot.cli.printer import PlainPrinter, Printer, make_printer, note
from moot.cli.session import is_interactive
from moot.core.types import Debate, Event, Json
from moot.runtime.hub import Flight


class View:
    """Shows the events of a debate."""

    live = False  # whether to call `update` with the steps in flight

    def event(self, event: Event) -> None:
        raise NotImplementedError

    def update(self, flights: Mapping[str, Flight], debate: Debate) -> None:
        pass

    def note(self, text: str) -> None:
        note(text)

    def shown(self) -> AbstractContextManager[None]:
        """Wraps the time in which events are shown."""
        return nullcontext()


class JsonView(View):
    def __init__(self, context: RenderContext) -> None:
        self.context = context

    def event(self, event: Event) -> None:
        self.context.wording.hear(event)
        print_json(event_json(event, self.context))


class TextView(View):
    def __init__(self, printer: Printer, context: RenderContext) -> None:
        self.printer, self.context = printer, context

    def event(self, event: Event) -> None:
        block = block_of(event, self.context)
        if block is not None:
            self.printer.block(block)

    def note(self, text: str) -> None:
        self.printer.note(text)


def view_of(args: Namespace, context: RenderContext, *, hint: str = "", download: Download | None = None) -> View:
    """The view for these flags and this terminal. `hint` ends a live view's footer; without one, nothing is live."""
    if args.json:
        return JsonView(context)
    interactive = is_interactive(args)
    if not interactive and (args.plain or not colour.wanted(os.environ)):
        return TextView(PlainPrinter(), context)
    from moot.cli.screen import LiveView, RichPrinter

    printer = RichPrinter([seat.id for seat in context.debate.cast])
    live = interactive and hint
    return LiveView(printer, context, hint=hint, download=download) if live else TextView(printer, context)


def printer_of(args: Namespace) -> Printer:
    return make_printer(plain=bool(getattr(args, "plain", False)))


def event_json(event: Event, context: RenderContext) -> Json:
    """One line of `--json`. Every field is always there; docs/cli.md describes them."""
    turn = event.turn
    return {
        "seq": event.seq,
        "type": event.type,
        "debate": context.debate.id,
        "key": event.key or None,
        "seat": turn.seat if turn else None,
        "name": context.wording.speaker(turn.seat) if turn else None,
        "role": turn.role if turn else None,
        "round": turn.round if turn else None,
        "phase": turn.phase if turn else None,
        "content": turn.content if turn else None,
        "data": event.data or (turn.data if turn else None) or {},
        "metadata": turn.metadata if turn else {},
        "failure": {"kind": turn.failure.kind, "message": turn.failure.message} if turn and turn.failure else None,
        "model": turn.model if turn else None,
        "finish_reason": turn.finish_reason if turn else None,
        "tokens_in": turn.tokens_in if turn else 0,
        "tokens_out": turn.tokens_out if turn else 0,
        "tokens_cached": turn.tokens_cached if turn else 0,
        "cost_usd": turn.cost_usd if turn else 0.0,
        "duration_ms": turn.duration_ms if turn else 0,
        "demonstration": context.demonstration,
        "created_at": event.created_at,
    }


def debate_json(debate: Debate, *, demonstration: bool, interrupted: bool) -> Json:
    """One debate in `moot list --json`."""
    outcome = debate.outcome
    return {
        "id": debate.id,
        "topic": debate.topic,
        "format": debate.format,
        "status": debate.status,
        "interrupted": interrupted,
        "rounds": debate.total_rounds,
        "turns": debate.turn_count,
        "open": list(debate.cursor.open),
        "winner": outcome.winner if outcome else None,
        "headline": outcome.headline if outcome else None,
        "how": outcome.how if outcome else None,
        "user_rating": debate.user_rating,
        "title": debate.title,
        "pinned": debate.pinned,
        "archived": debate.archived,
        "tags": list(debate.tags),
        "turned_out": None if debate.turned_out is None else debate.turned_out.model_dump(),
        "demonstration": demonstration,
        "error": {"kind": debate.error.kind, "message": debate.error.message} if debate.error else None,
        "tokens_in": debate.usage.tokens_in,
        "tokens_out": debate.usage.tokens_out,
        "cost_usd": debate.usage.cost_usd,
        "parent": debate.parent_id,
        "forked_at": debate.forked_at,
        "follows": debate.follows,
        "created_at": debate.created_at,
        "updated_at": debate.updated_at,
        "completed_at": debate.completed_at,
    }


def print_json(value: Any, *, indent: int | None = None) -> None:
    # ASCII only: it survives every encoding, and no control character reaches a terminal.
    print(json.dumps(value, indent=indent, default=str), flush=True)
