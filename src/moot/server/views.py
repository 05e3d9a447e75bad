"""From the nouns of moot/core/types.py to the schemas of the API. Passwords in addresses are masked wherever a model or
a setting is named."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

from moot.app import App
from moot.config import masked, shown
from moot.core import lifecycle
from moot.core.limits import LIMITS
from moot.core.types import Debate, Event, Failure, Gate, Json, SeatSpec, Turn
from moot.formats import wording_of
from moot.formats.format import COMMON, COMMON_PHASES, GridRow
from moot.formats.wording import Wording, checks_words
from moot.reasoning.fence import unfenced
from moot.server import schemas
from moot.server.markdown import html

V = TypeVar("V", bound=BaseModel)


def filled(schema: type[V], source: object, **given: Any) -> V:
    """Make a view: fields that are not given are taken from the attributes of the same name."""
    taken = {name: getattr(source, name) for name in schema.model_fields if name not in given}
    return schema(**taken, **given)


def actions(app: App, debate: Debate) -> list[lifecycle.Action]:
    return lifecycle.actions(debate.status, interrupted=app.runtime.is_interrupted(debate))


def summary(app: App, debate: Debate) -> schemas.DebateSummary:
    return filled(schemas.DebateSummary, debate, **_summary(app, debate))


def debate(app: App, debate: Debate, *, with_html: bool = False) -> schemas.Debate:
    return filled(
        schemas.Debate,
        debate,
        **_summary(app, debate),
        settings=shown(debate.config),
        seats=[seat(each) for each in debate.cast],
        cursor=filled(schemas.Cursor, debate.cursor),
        lost=filled(schemas.Lost, debate.lost),
        outcome=outcome(debate, wording_of(debate), with_html=with_html),
        vocabulary=vocabulary(debate, wording_of(debate)),
    )


def _summary(app: App, debate: Debate) -> Json:
    """What a summary does not take from the debate as it is."""
    outcome, usage = debate.outcome, debate.usage
    return {
        "interrupted": app.runtime.is_interrupted(debate),
        "progress": progress(app, debate),
        "turns": debate.turn_count,
        "open": debate.cursor.open,
        "winner": None if outcome is None else outcome.winner,
        "headline": None if outcome is None else outcome.headline,
        "how": None if outcome is None else outcome.how,
        "turned_out": None if debate.turned_out is None else debate.turned_out.model_dump(),
        "demonstration": app.is_demonstration(debate),
        "error": failure(debate.error),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost_usd": usage.cost_usd,
        "parent": debate.parent_id,
        "actions": actions(app, debate),
    }


def progress(app: App, debate: Debate) -> schemas.Progress:
    format_ = app.formats.get(debate.format)
    most = None if format_ is None else debate.config.get(format_.length)
    if format_ is None or not isinstance(most, int):
        return schemas.Progress(done=debate.turn_count, of=None, unit="step")
    return schemas.Progress(done=debate.total_rounds, of=most, unit=format_.unit)


def outcome(debate: Debate, wording: Wording, *, with_html: bool) -> schemas.Outcome | None:
    found = debate.outcome
    if found is None:
        return None
    return schemas.Outcome(
        **found.model_dump(),
        checked=checks_words(found.checks),
        ended=wording.ending(found.ended_by),
        limit=found.ended_by if found.ended_by in LIMITS else None,
        html=html(found.statement) if with_html and found.statement else None,
    )


def vocabulary(debate: Debate, wording: Wording) -> schemas.Vocabulary:
    format_ = wording.format
    chart = None if format_ is None else format_.chart
    return schemas.Vocabulary(
        unit="round" if format_ is None else format_.unit,
        length=None if format_ is None else format_.length or None,
        events={
            name: filled(schemas.EventWords, kind)
            for name, kind in (COMMON if format_ is None else format_.vocabulary).items()
        },
        phases={**COMMON_PHASES, **({} if format_ is None else format_.phases)},
        hears=[filled(schemas.Hears, each) for each in (format_.heard_in(debate, wording.named) if format_ else ())],
        chart=None if chart is None else filled(schemas.Chart, chart),
        ledger=format_ is not None and format_.keeps_ledger,
        versions=format_ is not None and "code" in format_.needs,
        chapters="" if format_ is None else format_.chapters,
        table=next((seat.name for seat in debate.cast if not seat.voice), "Events"),
    )


def seat(spec: SeatSpec) -> schemas.Seat:
    return filled(
        schemas.Seat, spec, model=masked(spec.model), sampling=spec.sampling.given, hats=[hat.name for hat in spec.hats]
    )


def failure(failure: Failure | None) -> schemas.Failure | None:
    return None if failure is None else schemas.Failure(kind=failure.kind, message=masked(failure.message))


def turn(turn: Turn, *, with_html: bool = False) -> schemas.Turn:
    return filled(
        schemas.Turn,
        turn,
        html=html(turn.content) if with_html else None,
        failure=failure(turn.failure),
        model=masked(turn.model),
        metadata=shown(turn.metadata) if turn.metadata else {},
    )


def event(debate_id: str, event: Event, wording: Wording, *, with_html: bool = False) -> schemas.Event:
    """`wording` must have heard the events before this one."""
    wording.hear(event)
    kind, from_runtime = wording.type(event.type), not event.type.isupper()
    return filled(
        schemas.Event,
        event,
        debate=debate_id,
        # What the runtime says can name models and their addresses; what the rules say is the debate itself.
        data=shown(event.data) if from_runtime else event.data,
        turn=None if event.turn is None else turn(event.turn, with_html=with_html),
        caption=None if from_runtime else _caption(event, wording),
        points=[filled(schemas.Point, point) for point in wording.points(event)],
        badge=schemas.Badge(seat=str(event.data["seat"]), text=kind.badge)
        if kind.badge and event.data.get("seat")
        else None,
        public=kind.public,
        quiet=kind.quiet,
        hidden=kind.hidden or from_runtime,
    )


def _caption(event: Event, wording: Wording) -> schemas.Caption:
    caption = wording.caption(event)
    grid = caption.grid
    table = None if grid is None else filled(schemas.Grid, grid, rows=[_row(row) for row in grid.rows])
    return filled(schemas.Caption, caption, notes=[filled(schemas.Note, note) for note in caption.notes], grid=table)


def _row(row: GridRow) -> schemas.GridRow:
    return filled(schemas.GridRow, row, cells=list(row.cells))


def gate(gate: Gate, *, with_html: bool = False) -> schemas.Gate:
    shown_as = html(unfenced(gate.question)) if with_html else None
    return filled(schemas.Gate, gate, debate=gate.debate_id, html=shown_as)


def json_of(view: Any) -> bytes:
    return view.model_dump_json().encode()
