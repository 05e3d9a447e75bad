"""Views of a debate, one event at a time: JSON lines, plain text, the screen. All may be fed from any source."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from moot.cli.blocks import Scene, block_of
from moot.cli.door import wants_screen
from moot.cli.download import Download
from moot.cli.paper import Paper, PlainPaper, note, paper
from moot.runtime.hub import Flight
from moot.types import Debate, Event, Json


class View(Protocol):
    moves: bool  # whether it wants to be told of what is in flight

    def event(self, event: Event) -> None: ...

    def moving(self, flights: Mapping[str, Flight], debate: Debate) -> None: ...

    def note(self, text: str) -> None: ...

    @contextmanager
    def shown(self) -> Generator[None]: ...


class JsonView:
    moves = False

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def event(self, event: Event) -> None:
        print_json(event_json(event, self.scene))

    def moving(self, flights: Mapping[str, Flight], debate: Debate) -> None:
        pass

    def note(self, text: str) -> None:
        note(text)

    @contextmanager
    def shown(self) -> Generator[None]:
        yield


class TextView:
    moves = False

    def __init__(self, paper: Paper, scene: Scene) -> None:
        self.paper, self.scene = paper, scene

    def event(self, event: Event) -> None:
        block = block_of(event, self.scene)
        if block is not None:
            self.paper.block(block)

    def moving(self, flights: Mapping[str, Flight], debate: Debate) -> None:
        pass

    def note(self, text: str) -> None:
        self.paper.note(text)

    @contextmanager
    def shown(self) -> Generator[None]:
        yield


def view_of(args: Namespace, scene: Scene, *, hint: str = "", download: Download | None = None) -> View:
    """`hint` ends the footer; without one, nothing will move."""
    if args.json:
        return JsonView(scene)
    if not wants_screen(args):
        return TextView(PlainPaper(), scene)
    from moot.cli.screen import LiveView, RichPaper

    on_screen = RichPaper([seat.id for seat in scene.debate.cast])
    return LiveView(on_screen, scene, hint=hint, download=download) if hint else TextView(on_screen, scene)


def paper_of(args: Namespace) -> Paper:
    return paper(plain=bool(getattr(args, "plain", False)))


def event_json(event: Event, scene: Scene) -> Json:
    """One line of `--json`. Every field is always there; docs/cli.md describes them."""
    turn = event.turn
    return {
        "seq": event.seq,
        "type": event.type,
        "debate": scene.debate.id,
        "key": event.key or None,
        "seat": turn.seat if turn else None,
        "name": scene.name(turn.seat) if turn else None,
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
        "demonstration": scene.demonstration,
        "created_at": event.created_at,
    }


def debate_json(debate: Debate, *, demonstration: bool, interrupted: bool) -> Json:
    """One debate in `moot list --json`."""
    outcome = debate.outcome or {}
    return {
        "id": debate.id,
        "topic": debate.topic,
        "format": debate.format,
        "status": debate.status,
        "interrupted": interrupted,
        "rounds": debate.total_rounds,
        "turns": debate.turn_count,
        "open": list(debate.cursor.open),
        "winner": outcome.get("winner"),
        "headline": outcome.get("headline"),
        "user_rating": debate.user_rating,
        "demonstration": demonstration,
        "error": {"kind": debate.error.kind, "message": debate.error.message} if debate.error else None,
        "tokens_in": debate.usage.tokens_in,
        "tokens_out": debate.usage.tokens_out,
        "cost_usd": debate.usage.cost_usd,
        "parent": debate.parent_id,
        "forked_at": debate.forked_at,
        "created_at": debate.created_at,
        "updated_at": debate.updated_at,
        "completed_at": debate.completed_at,
    }


def print_json(value: Any, *, indent: int | None = None) -> None:
    # ASCII only: it survives every encoding, and no control character reaches a terminal.
    print(json.dumps(value, indent=indent, default=str), flush=True)
