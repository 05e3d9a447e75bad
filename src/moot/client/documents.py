"""What is made from stored debates: proofs, audits, traces, claims, records, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from moot import formats
from moot.app import App
from moot.core.types import Debate, Event, Json, Turn
from moot.formats.shared.ledger import ledger_of
from moot.formats.wording import Wording
from moot.reasoning.claims import Ledger
from moot.records import compare as comparing
from moot.records.compare import Comparison
from moot.records.record import Record, record_of
from moot.runtime import replay
from moot.runtime import tally as counting
from moot.runtime.replay import Proof, rerun
from moot.runtime.tally import Tallied
from moot.runtime.threads import in_thread


async def events(app: App, debate_id: str) -> list[Event]:
    """Every stored event of a debate."""
    found: list[Event] = []
    while page := await app.runtime.store.events(debate_id, after=found[-1].seq if found else 0):
        found += page
    return found


async def prove(app: App, debate_id: str) -> Proof:
    """Replay a debate and compare the transcripts."""
    debate, turns = await _stored(app, debate_id)
    recorded = await events(app, debate_id)
    artifacts = await app.runtime.store.artifacts(debate_id)
    return await in_thread(lambda: replay.prove(formats.get(debate.format), debate, turns, recorded, artifacts))


async def audit(app: App, debate_id: str, step: str | None = None) -> Json:
    """Everything stored of a debate, or of one step of it, with every message that was sent to a model."""
    debate, turns = await _stored(app, debate_id)
    recorded = await events(app, debate_id)
    return await in_thread(lambda: _audited(app, debate, turns, recorded, step))


async def trace(app: App, debate_id: str) -> Json | None:
    """The format's own account of a debate so far, or None if the format has none."""
    debate, turns = await _stored(app, debate_id)
    return await in_thread(lambda: _trace(debate, turns))


async def compare(app: App, one: str, two: str) -> Comparison:
    """Compare two debates step by step."""
    (a, turns_a), (b, turns_b) = await _stored(app, one), await _stored(app, two)
    demonstrations = app.is_demonstration(a), app.is_demonstration(b)
    return await in_thread(lambda: comparing.compare(a, turns_a, b, turns_b, demonstrations=demonstrations))


async def ledger(app: App, debate_id: str) -> Ledger | None:
    """The claims of a debate so far, or None if it keeps no ledger."""
    debate, turns = await _stored(app, debate_id)
    return await in_thread(lambda: ledger_of(formats.get(debate.format), debate, turns))


async def tally(app: App, debate_id: str, method: str | None) -> Tallied:
    """Count the votes of a debate again, by `method` as well. Raises InputError if it has none."""
    debate, turns = await _stored(app, debate_id)
    return await in_thread(lambda: counting.tally(app.formats.get(debate.format), debate, turns, method))


async def learn(app: App, wording: Wording, debate: Debate) -> None:
    """Update a wording from the stored events of an unfinished debate; a finished one's outcome has all names."""
    for event in [] if debate.outcome else await events(app, debate.id):
        wording.hear(event)


async def record(app: App, debate_id: str) -> Record:
    """The decision record. Raises WrongStatus if the debate is not completed."""
    debate, turns = await _stored(app, debate_id)
    demonstration = app.is_demonstration(debate)
    return await in_thread(lambda: record_of(debate, turns, formats.wording_of(debate), demonstration=demonstration))


async def page(app: App, debate_id: str) -> str:
    """A debate as one HTML file: its answer, its record and what was said."""
    from moot.records import page as pages  # it loads a parser of Markdown

    debate, turns = await _stored(app, debate_id)
    said, demonstration = await events(app, debate_id), app.is_demonstration(debate)

    def made() -> str:
        wording = formats.wording_of(debate)
        over = debate.status == "completed" and debate.outcome is not None
        record = record_of(debate, turns, wording, demonstration=demonstration) if over else None
        return pages.render(debate, record, said, formats.wording_of(debate), demonstration=demonstration)

    return await in_thread(made)


def _audited(app: App, debate: Debate, turns: Sequence[Turn], recorded: Sequence[Event], step: str | None) -> Json:
    steps = rerun(formats.get(debate.format), debate, turns).steps
    return {
        "debate": {**_debate_json(debate), "demonstration": app.is_demonstration(debate)},
        "turns": [
            {**asdict(turn), "messages": [asdict(m) for m in steps[turn.key].messages] if turn.key in steps else []}
            for turn in turns
            if step in (None, turn.key)
        ],
        "events": [
            {"seq": e.seq, "type": e.type, "key": e.key, "data": e.data, "created_at": e.created_at}
            for e in recorded
            if step in (None, e.key)
        ],
        "trace": _trace(debate, turns),
    }


def _trace(debate: Debate, turns: Sequence[Turn]) -> Json | None:
    account = formats.get(debate.format).trace
    return None if account is None else account(debate, turns)


def _debate_json(debate: Debate) -> Json:
    cast = [seat.as_json for seat in debate.cast]
    outcome = None if debate.outcome is None else debate.outcome.model_dump(mode="json")
    turned_out = None if debate.turned_out is None else debate.turned_out.model_dump()
    return {**asdict(debate), "cast": cast, "outcome": outcome, "turned_out": turned_out}


async def _stored(app: App, debate_id: str) -> tuple[Debate, Sequence[Turn]]:
    return await app.runtime.store.get(debate_id), await app.runtime.store.turns(debate_id)
