"""The record of a completed debate. It holds typed data and quoted words; what the rules did not ask for is absent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from typing import Any, cast

from moot.errors import WrongStatus
from moot.formats.ledger import PHASE
from moot.limits import Spent
from moot.reasoning.claims import Ledger, read_ledger
from moot.reasoning.fence import clean, shorten
from moot.records.confidence import Facts, rate
from moot.records.contract import Level, Told, ToldPerspective, told_by
from moot.types import Debate, Json, SeatSpec, Turn, Usage, record

VERSION = 1
TITLE_CHARS = 160
EXCERPT_CHARS = 1500
TEXT_CHARS = 12_000

# Formats end by these before everything was said; `max_rounds` and `turns` are how many end.
_CUTTING = ("max_runtime_seconds", "max_total_output_tokens", "max_cost_usd")
# The phases in which people are spoken to; what is planned and thought is nobody's argument.
_PUBLIC = ("speak", "argue", "rebut", "answer", "object", "propose", "defend", "critique")
_STANCES = {"pro": "for", "con": "against"}
_LOGIN = re.compile(r"(?<=//)[^/\s@]+@")


@record
class Quote:
    """Words of a participant, as they were said."""

    key: str  # the step
    text: str
    left_out: int = 0  # characters that follow in the transcript


@record
class Perspective:
    name: str
    seat: str = ""
    stance: str = ""
    position: str = ""  # what it was told to argue
    model: str = ""
    arguments: tuple[str, ...] | None = None  # None: the format does not ask for them
    trade_offs: tuple[str, ...] | None = None
    recommendation: str = ""  # what it would do in the end
    quotes: tuple[Quote, ...] = ()
    steps: tuple[str, ...] = ()  # the keys of its public statements


@record
class VoteCast:
    seat: str
    name: str
    choice: str  # a seat's id, "tie" or "abstains"
    reason: str  # in the voter's words
    key: str
    left_out: int = 0


@record
class Decided:
    """How it was decided."""

    winner: str  # a seat's id, "tie" or "undecided"
    headline: str
    source: str  # "judge", "jury" or "fallback"
    ended_by: str
    reason: str
    scores: Mapping[str, float | None]  # by seat
    tally: Mapping[str, float] | None
    votes: tuple[VoteCast, ...]
    flip_rate: float | None
    premise: str
    limits_reached: tuple[str, ...]
    steps: int
    failed_steps: int
    by: str = ""  # who or what decided, in words, when it was neither a judge nor a vote


@record
class Record:
    title: str
    date: date
    debate: str
    format: str
    question: str
    rounds: int
    counted: str  # what `rounds` counts: "round" or "turn"
    perspectives: tuple[Perspective, ...]
    agreements: tuple[str, ...] | None  # None: the format does not ask for them; so below
    tensions: tuple[str, ...] | None
    unsettled: tuple[str, ...]  # tensions that follow from the verdict
    recommendation: str
    statement: str  # the judge's own words
    confidence: Level
    confidence_reasons: tuple[str, ...]
    caveats: tuple[str, ...] | None
    warnings: tuple[str, ...]  # caveats that follow from how the debate went
    dissent: tuple[str, ...] | None
    decided: Decided
    people: tuple[Quote, ...]  # what people answered while it ran
    cast: tuple[SeatSpec, ...]
    models: tuple[str, ...]
    usage: Usage  # with what was paid for attempts that left no turn
    seconds: float
    demonstration: bool
    initiated_by: str
    parent: str | None  # the debate it was branched off from
    user_rating: int | None  # 1 to 5, given later: in the JSON only, since the document must not change with it
    ledger: Ledger | None = None  # of claims, where one was kept

    @property
    def short(self) -> str:
        return self.debate[:8]

    def name(self, seat_id: str) -> str:
        return next((seat.name for seat in self.cast if seat.id == seat_id), seat_id)

    def as_json(self) -> Json:
        ledger = None if self.ledger is None else self.ledger.as_json()
        own = {"date": self.date.isoformat(), "ledger": ledger}
        return {"type": "moot.record", "version": VERSION, **asdict(self), **own}


def record_of(debate: Debate, turns: Sequence[Turn], *, demonstration: bool) -> Record:
    """Raises WrongStatus when there is no outcome yet."""
    if debate.status != "completed" or debate.outcome is None:
        raise WrongStatus(
            f"Debate {debate.short} is {debate.status}: only a completed debate has a decision to record."
        )
    outcome = debate.outcome
    details = _mapping(outcome.get("details"))
    told = told_by(debate.format, details)
    names = _mapping(details.get("names"))  # of seats that are named only while the debate runs
    asked = {turn.seat for turn in turns} or {seat.id for seat in debate.cast}  # a format may seat more than it needs
    cast_ = tuple(
        replace(seat, name=_name(seat, names), role=one_line(seat.role), model=public(seat.model))
        for seat in debate.cast
        if seat.id in asked
    )
    perspectives = _perspectives(debate, cast_, details, told, turns)
    decided = replace(_decided(outcome, details, cast_, turns), by=one_line(told.decided_by))
    given_up = told.converged is False or (
        told.converged is None and told.confidence is not None and decided.ended_by == "max_rounds"
    )
    level, reasons = rate(
        Facts(
            winner=decided.winner,
            source=decided.source,
            scores=decided.scores,
            votes=decided.tally,
            flip_rate=decided.flip_rate,
            cut_short=decided.limits_reached,
            demonstration=demonstration,
            given=told.confidence,
            unsettled=given_up,
        )
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
        counted="turn" if "turns" in debate.config and "max_rounds" not in debate.config else "round",
        perspectives=perspectives,
        agreements=_texts(told.agreements),
        tensions=_texts(told.tensions),
        unsettled=_unsettled(decided, perspectives, told, given_up=given_up),
        recommendation=_text(told.recommendation),
        statement=_text(outcome.get("statement")),
        confidence=level,
        confidence_reasons=reasons,
        caveats=_texts(told.caveats),
        warnings=_warnings(decided, cast_, turns, demonstration=demonstration),
        dissent=_texts(told.dissent),
        decided=decided,
        people=_quoted([turn for turn in turns if turn.kind == "gate" and turn.failure is None]),
        cast=cast_,
        models=tuple(dict.fromkeys(seat.model for seat in cast_)),
        usage=debate.usage,
        seconds=round(spent.seconds, 3),
        demonstration=demonstration,
        initiated_by=one_line(debate.initiated_by),
        parent=debate.parent_id,
        user_rating=debate.user_rating,
        ledger=None if details.get("ledger") is None else read_ledger(details["ledger"]),
    )


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _title(topic: str) -> str:
    title = one_line(topic) or "Untitled"
    if len(title) <= TITLE_CHARS:
        return title
    cut = title[: TITLE_CHARS - 1]
    at_word = cut.rpartition(" ")[0]
    return f"{at_word if len(at_word) > TITLE_CHARS // 2 else cut}…"


def _perspectives(
    debate: Debate, seats: Sequence[SeatSpec], details: Json, told: Told, turns: Sequence[Turn]
) -> tuple[Perspective, ...]:
    by_seat = {
        seat.id: Perspective(
            name=seat.name,
            seat=seat.id,
            stance=_stance(seat.id, details),
            position=_position(seat.name, debate.config),
            model=seat.model,
            quotes=_quoted([*statements[:1], *statements[1:][-1:]]),  # the first and the last
            steps=tuple(turn.key for turn in statements),
        )
        for seat in seats
        if seat.role == "debater"
        for statements in [_statements(seat.id, turns)]
    }
    if told.perspectives is None:
        return tuple(by_seat.values())
    return tuple(_as_told(each, by_seat) for each in told.perspectives)


def _as_told(each: ToldPerspective, by_seat: Mapping[str, Perspective]) -> Perspective:
    name = one_line(each.name)
    own = by_seat.get(each.seat) or next((one for one in by_seat.values() if one.name == name), None)
    base = own or Perspective(name=name)
    return replace(
        base,
        name=name or base.name or "Unnamed",
        stance=one_line(each.stance) or base.stance,
        arguments=_texts(each.arguments),
        trade_offs=_texts(each.trade_offs),
        recommendation=_text(each.recommendation),
        quotes=base.quotes if each.arguments is None else (),
    )


def _statements(seat_id: str, turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.seat == seat_id and turn.phase in _PUBLIC and turn.failure is None]


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


def _stance(seat_id: str, details: Json) -> str:
    stance = str(_mapping(details.get("stances")).get(seat_id) or "")
    if stance:
        return _STANCES.get(stance, one_line(stance))
    if details.get("premise"):
        return {"a": "for the premise", "b": "against the premise"}.get(seat_id, "")
    return ""


def _position(name: str, config: Json) -> str:
    """What the settings tell a debater of this name to argue."""
    sheets: Any = config.get("debaters")
    for sheet in map(_mapping, cast("Sequence[object]", sheets) if isinstance(sheets, list | tuple) else ()):
        if one_line(str(sheet.get("name") or "")) == name:
            return one_line(str(sheet.get("position") or ""))
    return ""


def _decided(outcome: Json, details: Json, seats: Sequence[SeatSpec], turns: Sequence[Turn]) -> Decided:
    ended_by = one_line(str(outcome.get("ended_by") or ""))
    refused = [
        str(turn.metadata.get("limit") or "")
        for turn in turns
        if turn.failure and turn.failure.kind == "limit" and not turn.phase.startswith(PHASE)
    ]
    tally = {one_line(str(who)): n for who, n in _mapping(details.get("tally")).items() if isinstance(n, int | float)}
    flip_rate: Any = details.get("flip_rate")
    return Decided(
        winner=one_line(str(outcome.get("winner") or "")) or "undecided",
        headline=one_line(str(outcome.get("headline") or "")),
        source=one_line(str(outcome.get("verdict_source") or "")) or "fallback",
        ended_by=ended_by,
        reason=one_line(str(outcome.get("reason") or "")),
        scores={
            seat: points if isinstance(points, int | float) else None
            for seat, points in _mapping(outcome.get("scores")).items()
        },
        tally=tally or None,
        votes=_votes(seats, turns),
        flip_rate=flip_rate if isinstance(flip_rate, int | float) else None,
        premise=one_line(str(details.get("premise") or "")),
        limits_reached=tuple(limit for limit in _CUTTING if limit in (ended_by, *refused)),
        steps=len(turns),
        failed_steps=sum(turn.failure is not None for turn in turns),
    )


def _votes(seats: Sequence[SeatSpec], turns: Sequence[Turn]) -> tuple[VoteCast, ...]:
    names = {seat.id: seat.name for seat in seats}
    votes: list[VoteCast] = []
    for turn in turns:
        choice: Any = turn.metadata.get("choice")
        if turn.phase == "ballot" and isinstance(choice, str):
            reason, left_out = _excerpt(turn)
            name = names.get(turn.seat, turn.seat)
            votes.append(
                VoteCast(seat=turn.seat, name=name, choice=choice, reason=reason, key=turn.key, left_out=left_out)
            )
    return tuple(votes)


def _unsettled(decided: Decided, perspectives: Sequence[Perspective], told: Told, *, given_up: bool) -> tuple[str, ...]:
    found: list[str] = []
    if given_up:
        found.append("The rounds were used up before the perspectives agreed.")
    if decided.source == "fallback" or (told.recommendation is None and decided.winner in ("tie", "undecided")):
        sides = " against ".join(f"{each.name} ({each.stance})" if each.stance else each.name for each in perspectives)
        found.append(f"{sides or 'The question'} is not settled.")
    return tuple(found)


def _warnings(
    decided: Decided, seats: Sequence[SeatSpec], turns: Sequence[Turn], *, demonstration: bool
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
    abstained = sum(vote.choice == "abstains" for vote in decided.votes)
    if abstained:
        found.append(f"Ballots without a valid vote: {abstained}.")
    cut = sum(turn.finish_reason == "length" and turn.phase in _PUBLIC for turn in turns)
    if cut:
        found.append(f"Statements that were cut off at their limit: {cut}.")
    if len(seats) > 1 and len({seat.model for seat in seats}) == 1:
        found.append("Everyone is the same model, so errors that it tends to make were made by all.")
    return tuple(found)


def _name(seat: SeatSpec, names: Json) -> str:
    return one_line(str(names.get(seat.id) or "")) or one_line(seat.name) or one_line(seat.id) or "Unnamed"


def public(spec: str) -> str:
    """A model's spec without a login that its address may hold."""
    return _LOGIN.sub("", one_line(spec))


def _text(value: object) -> str:
    return shorten(clean(value).strip(), TEXT_CHARS) if isinstance(value, str) else ""


def _texts(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(text for text in map(_text, values) if text)


def _mapping(value: object) -> Json:
    return cast(Json, value) if isinstance(value, Mapping) else {}
