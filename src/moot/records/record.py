"""The decision record of a completed debate: typed data and quoted words. A part that the format does not ask for is
None; one that it asked for in vain is empty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime

from moot.core.lifecycle import refusal
from moot.core.limits import LIMITS, Spent
from moot.core.types import (
    ABSTAINS,
    ArguedPosition,
    Check,
    Debate,
    FinalAnswer,
    Json,
    Level,
    Outcome,
    SeatSpec,
    Section,
    Turn,
    TurnedOut,
    Usage,
    record,
)
from moot.formats.wording import Wording, side_name
from moot.reasoning.claims import Ledger, read_ledger
from moot.reasoning.fence import clean, one_line, shorten
from moot.records.confidence import rate

VERSION = 1
TITLE_CHARS = 160
EXCERPT_CHARS = 1500
TEXT_CHARS = 12_000
NOT_DECIDED = "not decided: there is no valid verdict"

_LOGIN = re.compile(r"(?<=//)[^/\s@]+@")


@record
class Quote:
    """Words of a participant, verbatim."""

    key: str  # of the step
    text: str
    left_out: int = 0  # characters that follow in the transcript


@record
class RecordedPerspective:
    """A position in the record: who argued it, with what, in which words."""

    name: str
    seat: str = ""
    stance: str = ""
    position: str = ""  # its instruction
    model: str = ""
    arguments: tuple[str, ...] | None = None  # None: the format does not ask for them
    trade_offs: tuple[str, ...] | None = None
    recommendation: str = ""
    quotes: tuple[Quote, ...] = ()
    steps: tuple[str, ...] = ()  # keys of its public statements


@record
class QuotedVote:
    """A vote with the voter's reasons."""

    seat: str
    name: str
    choice: str  # a seat's id, "tie" or "abstains"
    reason: str  # in the voter's words
    key: str
    left_out: int = 0


@record
class Decided:
    """How the debate was decided."""

    winner: str  # a seat's id, "tie", "undecided" or "consensus"
    headline: str
    how: str  # how it came about, in one sentence
    answer: FinalAnswer | None  # None: there is none
    checks: tuple[Check, ...]  # what code has checked about the verdict
    source: str  # "judge", "jury", "rules" or "fallback"
    by: str  # who or what decided, in words
    ended_by: str
    ended: str  # why it ended, in words
    reason: str
    scores: Mapping[str, float | None]  # by seat
    scale: float  # the best possible score
    scored_by: str  # whose scores they are, where more than these decide
    tally: Mapping[str, float] | None
    votes: tuple[QuotedVote, ...]
    flip_rate: float | None
    facts: Mapping[str, str]  # further facts, by label
    limits_reached: tuple[str, ...]
    steps: int
    failed_steps: int

    def as_json(self) -> Json:
        own = {
            "answer": None if self.answer is None else self.answer.model_dump(),
            "checks": [check.model_dump() for check in self.checks],
        }
        return {**asdict(self), **own}


@record
class Record:
    title: str
    date: date
    debate: str
    format: str
    question: str
    rounds: int
    counted: str  # what `rounds` counts: "round" or "turn"
    perspectives: tuple[RecordedPerspective, ...]
    agreements: tuple[str, ...] | None
    tensions: tuple[str, ...] | None
    unsettled: tuple[str, ...]  # tensions found by code
    recommendation: str
    statement: str  # the closing words of the judge, chair or writer
    confidence: Level
    confidence_reasons: tuple[str, ...]
    caveats: tuple[str, ...] | None
    warnings: tuple[str, ...]  # caveats found by code
    dissent: tuple[str, ...] | None
    sections: tuple[Section, ...]  # specific to the format
    decided: Decided
    people: tuple[Quote, ...]  # what people answered while it ran
    seats: tuple[SeatSpec, ...]
    models: tuple[str, ...]
    usage: Usage  # includes attempts that left no turn
    seconds: float
    demonstration: bool
    initiated_by: str
    parent: str | None  # the debate it was branched off from
    user_rating: int | None  # 1 to 5; not in the Markdown, which must not change with it
    turned_out: TurnedOut | None  # how the decision turned out; not in the Markdown either
    ledger: Ledger | None = None  # None: the debate kept none

    @property
    def short(self) -> str:
        return self.debate[:8]

    @property
    def markdown(self) -> str:
        """The record as a document."""
        from moot.records.markdown import render  # it imports this module

        return render(self)

    def name(self, seat_id: str) -> str:
        return next((seat.name for seat in self.seats if seat.id == seat_id), seat_id)

    def side(self, seat_id: str) -> str:
        """A seat's name with what it stands for."""
        return next(
            (side_name(seat.name, seat.stance if seat.voice else "") for seat in self.seats if seat.id == seat_id),
            seat_id,
        )

    def as_json(self) -> Json:
        own = {
            "date": self.date.isoformat(),
            "ledger": None if self.ledger is None else self.ledger.as_json(),
            "sections": [section.model_dump() for section in self.sections],
            "decided": self.decided.as_json(),
            "turned_out": None if self.turned_out is None else self.turned_out.model_dump(),
            "seats": [seat.as_json for seat in self.seats],
        }
        return {"type": "moot.record", "version": VERSION, **asdict(self), **own}


def record_of(debate: Debate, turns: Sequence[Turn], wording: Wording, *, demonstration: bool) -> Record:
    """Make the record. Raises WrongStatus if the debate is not completed."""
    if debate.status != "completed" or debate.outcome is None:
        raise refusal(debate, "record")
    outcome = debate.outcome
    parts = outcome.record
    asked = {turn.seat for turn in turns} or {seat.id for seat in debate.cast}  # optional seats may stay empty
    cast = tuple(
        replace(seat, name=_name(seat, debate.names), role=one_line(seat.role), model=public(seat.model))
        for seat in debate.cast
        if seat.id in asked
    )
    perspectives = _perspectives(cast, parts.positions, _statements(wording, turns))
    decided = _decided(outcome, cast, turns, wording)
    unsettled = parts.converged is False
    level, reasons = rate(
        outcome, limits_reached=decided.limits_reached, unsettled=unsettled, demonstration=demonstration
    )
    spent = Spent()
    for turn in turns:
        if turn.kind != "gate":  # waiting for a person is not running
            spent.add(turn)
    ended = debate.completed_at if debate.completed_at is not None else debate.updated_at
    return Record(
        title=_title(debate.topic),
        date=datetime.fromtimestamp(ended, UTC).date(),
        debate=debate.id,
        format=debate.format,
        question=clean(debate.topic).strip(),
        rounds=debate.total_rounds,
        counted=wording.unit,
        perspectives=perspectives,
        agreements=_texts(parts.agreements),
        tensions=_texts(parts.tensions),
        unsettled=_unsettled(outcome, perspectives, unsettled=unsettled),
        recommendation=_text(parts.recommendation or ""),
        statement=_text(outcome.statement),
        confidence=level,
        confidence_reasons=reasons,
        caveats=_texts(parts.caveats),
        warnings=_warnings(decided, cast, _statements(wording, turns), demonstration=demonstration),
        dissent=_texts(parts.dissent),
        sections=tuple(Section(title=one_line(each.title), items=_texts(each.items) or ()) for each in parts.sections),
        decided=decided,
        people=_quoted([turn for turn in turns if turn.kind == "gate" and turn.failure is None]),
        seats=cast,
        models=tuple(dict.fromkeys(seat.model for seat in cast)),
        usage=debate.usage,
        seconds=round(spent.seconds, 3),
        demonstration=demonstration,
        initiated_by=one_line(debate.initiated_by),
        parent=debate.parent_id,
        user_rating=debate.user_rating,
        turned_out=debate.turned_out,
        ledger=None if outcome.ledger is None else read_ledger(outcome.ledger),
    )


def _title(topic: str) -> str:
    title = one_line(topic) or "Untitled"
    if len(title) <= TITLE_CHARS:
        return title
    cut = title[: TITLE_CHARS - 1]
    at_word = cut.rpartition(" ")[0]
    return f"{at_word if len(at_word) > TITLE_CHARS // 2 else cut}…"


def _perspectives(
    seats: Sequence[SeatSpec], positions: Sequence[ArguedPosition] | None, statements: Sequence[Turn]
) -> tuple[RecordedPerspective, ...]:
    by_seat = {
        seat.id: _perspective(seat, [turn for turn in statements if turn.seat == seat.id])
        for seat in seats
        if seat.voice
    }
    if positions is None:
        return tuple(by_seat.values())
    return tuple(_argued(each, by_seat.get(each.seat)) for each in positions)


def _perspective(seat: SeatSpec, statements: Sequence[Turn]) -> RecordedPerspective:
    return RecordedPerspective(
        name=seat.name,
        seat=seat.id,
        stance=one_line(seat.stance),
        position=one_line(seat.brief),
        model=seat.model,
        quotes=_quoted([*statements[:1], *statements[1:][-1:]]),  # the first and the last
        steps=tuple(turn.key for turn in statements),
    )


def _argued(each: ArguedPosition, seated: RecordedPerspective | None) -> RecordedPerspective:
    base = seated or RecordedPerspective(name="")
    return replace(
        base,
        name=one_line(each.name) or base.name or "Unnamed",
        stance=one_line(each.stance) or base.stance,
        arguments=_texts(each.arguments),
        trade_offs=_texts(each.trade_offs),
        recommendation=_text(each.recommendation),
        quotes=base.quotes if each.arguments is None else (),
    )


def _statements(wording: Wording, turns: Sequence[Turn]) -> list[Turn]:
    """The public statements; if the format is not installed, every turn on the record."""
    phases = wording.format.statements if wording.format else None
    return [
        turn
        for turn in turns
        if turn.failure is None
        and (turn.phase in phases if phases is not None else turn.kind == "ask" and "off_record" not in turn.metadata)
    ]


def _quoted(turns: Sequence[Turn]) -> tuple[Quote, ...]:
    return tuple(Quote(key=turn.key, text=text, left_out=rest) for turn in turns for text, rest in [_excerpt(turn)])


def _excerpt(turn: Turn) -> tuple[str, int]:
    text = clean(turn.content).strip()
    if len(text) <= EXCERPT_CHARS:
        return text, 0
    cut = text[:EXCERPT_CHARS]
    at_word = re.split(r"\s+\S*$", cut)[0]
    kept = at_word if len(at_word) > EXCERPT_CHARS // 2 else cut
    return kept, len(text) - len(kept)


def _decided(outcome: Outcome, seats: Sequence[SeatSpec], turns: Sequence[Turn], wording: Wording) -> Decided:
    refused = [
        str(turn.metadata.get("limit") or "")
        for turn in turns
        if turn.failure and turn.failure.kind == "limit" and "off_record" not in turn.metadata
    ]
    return Decided(
        winner=one_line(outcome.winner),
        headline=one_line(outcome.headline),
        how=one_line(outcome.how),
        answer=outcome.answer,
        checks=tuple(check.model_copy(update={"words": one_line(check.words)}) for check in outcome.checks),
        source=outcome.verdict_source,
        by=NOT_DECIDED if outcome.verdict_source == "fallback" else one_line(outcome.decided_by),
        ended_by=one_line(outcome.ended_by),
        ended=wording.ending(one_line(outcome.ended_by)),
        reason=one_line(outcome.reason),
        scores=outcome.scores,
        scale=outcome.scale,
        scored_by=one_line(outcome.scored_by),
        tally=outcome.tally,
        votes=_votes(outcome, seats, turns),
        flip_rate=outcome.flip_rate,
        facts={one_line(name): one_line(text) for name, text in outcome.facts.items()},
        limits_reached=tuple(limit for limit in LIMITS if limit in (outcome.ended_by, *refused)),
        steps=len(turns),
        failed_steps=sum(turn.failure is not None for turn in turns),
    )


def _votes(outcome: Outcome, seats: Sequence[SeatSpec], turns: Sequence[Turn]) -> tuple[QuotedVote, ...]:
    names = {seat.id: seat.name for seat in seats}
    given = {turn.key: turn for turn in turns}
    votes: list[QuotedVote] = []
    for vote in outcome.votes:
        turn = given.get(vote.key)
        reason, left_out = (vote.reason, 0) if turn is None else _excerpt(turn)
        name = names.get(vote.seat, vote.seat)
        votes.append(
            QuotedVote(seat=vote.seat, name=name, choice=vote.choice, reason=reason, key=vote.key, left_out=left_out)
        )
    return tuple(votes)


def _unsettled(outcome: Outcome, perspectives: Sequence[RecordedPerspective], *, unsettled: bool) -> tuple[str, ...]:
    found: list[str] = []
    if unsettled:
        found.append("The rounds were used up before the positions agreed.")
    if outcome.verdict_source == "fallback" or (outcome.record.recommendation is None and not outcome.decided):
        sides = " against ".join(side_name(each.name, each.stance) for each in perspectives)
        found.append(f"{sides or 'The question'} is not settled.")
    return tuple(found)


def _warnings(
    decided: Decided, seats: Sequence[SeatSpec], statements: Sequence[Turn], *, demonstration: bool
) -> tuple[str, ...]:
    found: list[str] = []
    if demonstration:
        found.append("A demonstration model took part; the verdict means nothing beyond showing how moot works.")
    if decided.limits_reached:
        found.append(f"A limit cut the debate short ({', '.join(decided.limits_reached)}): not everything was said.")
    if decided.reason:
        found.append(decided.reason)
    if decided.flip_rate:
        found.append(f"{decided.flip_rate:.0%} of the readings in both orders came out differently.")
    abstained = sum(vote.choice == ABSTAINS for vote in decided.votes)
    if abstained:
        found.append(f"Ballots without a valid vote: {abstained}.")
    cut = sum(turn.cut for turn in statements)
    if cut:
        found.append(f"Statements that were cut off: {cut}.")
    if len(seats) > 1 and len({seat.model for seat in seats}) == 1:
        found.append("Everyone is the same model, so errors that it tends to make were made by all.")
    return tuple(found)


def _name(seat: SeatSpec, names: Mapping[str, str]) -> str:
    return one_line(names[seat.id]) or one_line(seat.id) or "Unnamed"


def public(spec: str) -> str:
    """A model's spec without the login that its address may contain."""
    return _LOGIN.sub("", one_line(spec))


def _text(value: str) -> str:
    return shorten(clean(value).strip(), TEXT_CHARS)


def _texts(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(text for text in map(_text, values) if text)
