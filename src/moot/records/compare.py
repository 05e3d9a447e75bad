"""Comparing two debates: settings, cast, the first step that differs, outcomes. Nothing is judged."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal, cast

from moot.core.limits import Spent
from moot.core.types import Debate, Json, SeatSpec, Turn, record
from moot.reasoning.fence import clean
from moot.records.record import public

VERSION = 1
EXCERPT_WORDS = 120
CONTEXT_WORDS = 12  # shown before the first word that differs

Relation = Literal["same", "fork", "parent", "siblings", "none"]


@record
class Difference:
    """A value that differs; None where it is absent."""

    name: str
    one: Any
    two: Any


@record
class DiffSpan:
    text: str  # words, separated by single spaces
    differs: bool


@record
class Excerpt:
    spans: tuple[DiffSpan, ...]
    before: int  # words left out, the same in both
    after: int  # words left out


@record
class PartingTurn:
    """The first turn of one debate that the other does not have, or has with another answer."""

    key: str
    seat: str
    name: str
    model: str
    excerpt: Excerpt


@record
class Parting:
    """The first step that differs: both have it with different answers, or each has another step there."""

    one: PartingTurn | None  # None: that debate ends before
    two: PartingTurn | None
    asked_alike: bool  # the same prompt after the same history
    fields: tuple[Difference, ...]  # of the typed answers


@record
class ComparedDebate:
    """One of the two debates, and its outcome."""

    id: str
    topic: str
    format: str
    status: str
    parent: str | None
    forked_at: str | None
    names: Mapping[str, str]  # of the seats
    rounds: int
    turns: int
    winner: str | None  # None: there is no outcome yet
    headline: str
    how: str  # how it came about, in one sentence
    ended_by: str
    verdict_source: str
    scores: Mapping[str, float | None]
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    seconds: float
    user_rating: int | None
    demonstration: bool

    @property
    def short(self) -> str:
        return self.id[:8]

    def name(self, seat: str) -> str:
        return self.names.get(seat, seat)


@record
class Comparison:
    one: ComparedDebate
    two: ComparedDebate
    relation: Relation  # what the second is to the first
    settings: tuple[Difference, ...]
    seats: tuple[Difference, ...]
    same: int  # steps with the same key and the same answer
    changed: tuple[str, ...]  # keys of steps that both have, but with other answers
    only_one: tuple[str, ...]  # keys of steps that only the first has
    only_two: tuple[str, ...]
    parting: Parting | None  # None: they never part, or follow different rules

    @property
    def same_rules(self) -> bool:
        return self.one.format == self.two.format

    @property
    def same_question(self) -> bool:
        return self.one.topic == self.two.topic

    def as_json(self) -> Json:
        return {"type": "moot.diff", "version": VERSION, **asdict(self)}


def compare(
    one: Debate,
    turns_one: Sequence[Turn],
    two: Debate,
    turns_two: Sequence[Turn],
    *,
    demonstrations: tuple[bool, bool] = (False, False),
) -> Comparison:
    """Compare two debates. Steps are only compared if both have the same format."""
    sides = _side(one, turns_one, demonstrations[0]), _side(two, turns_two, demonstrations[1])
    by_rules = one.format == two.format
    asked = {turn.seat for turn in (*turns_one, *turns_two)}  # optional seats may stay empty
    first, second = ({turn.key: turn for turn in turns} if by_rules else {} for turns in (turns_one, turns_two))
    both = [key for key in first if key in second]
    changed = tuple(key for key in both if not _alike(first[key], second[key]))
    return Comparison(
        one=sides[0],
        two=sides[1],
        relation=_relation(one, two),
        settings=_differences(one.config, two.config, common=not by_rules),
        seats=_cast_differences(_seats(one, sides[0], asked), _seats(two, sides[1], asked), common=not by_rules),
        same=len(both) - len(changed),
        changed=changed,
        only_one=tuple(key for key in first if key not in second),
        only_two=tuple(key for key in second if key not in first),
        parting=_parting(first, second, sides),
    )


def marked(one: str, two: str) -> tuple[Excerpt, Excerpt]:
    """Excerpts of both texts around their first difference, with the differing words marked."""
    words = clean(one).split(), clean(two).split()
    shared = next((at for at, (a, b) in enumerate(zip(*words, strict=False)) if a != b), min(map(len, words)))
    start = max(0, shared - CONTEXT_WORDS)
    cut = [each[start : start + EXCERPT_WORDS] for each in words]
    blocks = _blocks(cut[0], cut[1])

    def excerpt(side: Literal[0, 1]) -> Excerpt:
        same = [(block[side], block[side] + block[2]) for block in blocks]
        return Excerpt(spans=_spans(cut[side], same), before=start, after=len(words[side]) - start - len(cut[side]))

    return excerpt(0), excerpt(1)


def _blocks(one: Sequence[str], two: Sequence[str]) -> list[tuple[int, int, int]]:
    """Common runs of words. A single common word inside differing text is taken as chance."""
    found = difflib.SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    ends = (0, 0), (len(one), len(two))
    return [
        (a, b, size)
        for a, b, size in found
        if size > 1 or (size and ((a, b) == ends[0] or (a + size, b + size) == ends[1]))
    ]


def _spans(words: Sequence[str], same: Iterable[tuple[int, int]]) -> tuple[DiffSpan, ...]:
    spans: list[DiffSpan] = []
    at = 0
    for begin, end in (*same, (len(words), len(words))):
        for part, differs in ((words[at:begin], True), (words[begin:end], False)):
            if part:
                spans.append(DiffSpan(text=" ".join(part), differs=differs))
        at = end
    return tuple(spans)


def _alike(one: Turn, two: Turn) -> bool:
    return (one.content, one.data, one.failure) == (two.content, two.data, two.failure)


def _parting(
    first: Mapping[str, Turn], second: Mapping[str, Turn], sides: tuple[ComparedDebate, ComparedDebate]
) -> Parting | None:
    """Find the first step that differs, by its earliest place in either debate: concurrent steps end in any order."""
    places = [{key: at for at, key in enumerate(turns)} for turns in (first, second)]
    parted = [key for key in {**first, **second} if not (key in first and key in second)]
    parted += [key for key in first if key in second and not _alike(first[key], second[key])]
    if not parted:
        return None
    known = [[at[key] for at in places if key in at] for key in parted]
    key = min(zip(parted, known, strict=True), key=lambda each: (min(each[1]), -len(each[1]), each[0]))[0]
    one, two = (turns.get(key) or next((t for k, t in turns.items() if k in parted), None) for turns in (first, second))
    if one is not None and two is not None and one.key == two.key:
        theirs = marked(one.content, two.content)
        return Parting(
            one=_parting_turn(one, sides[0], theirs[0]),
            two=_parting_turn(two, sides[1], theirs[1]),
            asked_alike=one.prompt_hash == two.prompt_hash,
            fields=_differences(one.data or {}, two.data or {}),
        )
    # Different steps: their words are not compared.
    alone = [
        None if turn is None else _parting_turn(turn, side, marked(turn.content, turn.content)[0])
        for turn, side in zip((one, two), sides, strict=True)
    ]
    return Parting(one=alone[0], two=alone[1], asked_alike=False, fields=())


def _parting_turn(turn: Turn, side: ComparedDebate, excerpt: Excerpt) -> PartingTurn:
    return PartingTurn(
        key=turn.key,
        seat=turn.seat,
        name=side.name(turn.seat),
        model=public(turn.model),
        excerpt=excerpt,
    )


def _side(debate: Debate, turns: Sequence[Turn], demonstration: bool) -> ComparedDebate:
    outcome = debate.outcome
    spent = Spent()
    for turn in turns:
        if turn.kind != "gate":  # waiting for a person is not running
            spent.add(turn)
    usage = debate.usage
    return ComparedDebate(
        id=debate.id,
        topic=clean(debate.topic),
        format=debate.format,
        status=debate.status,
        parent=debate.parent_id,
        forked_at=debate.forked_at,
        names={"you": "You", **debate.names},
        rounds=debate.total_rounds,
        turns=len(turns),
        winner=outcome.winner if outcome else None,
        headline=outcome.headline if outcome else "",
        how=outcome.how if outcome else "",
        ended_by=outcome.ended_by if outcome else "",
        verdict_source=outcome.verdict_source if outcome else "",
        scores=outcome.scores if outcome else {},
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_usd=usage.cost_usd,
        seconds=round(spent.seconds, 3),
        user_rating=debate.user_rating,
        demonstration=demonstration,
    )


def _relation(one: Debate, two: Debate) -> Relation:
    if one.id == two.id:
        return "same"
    if two.parent_id == one.id:
        return "fork"
    if one.parent_id == two.id:
        return "parent"
    return "siblings" if one.parent_id is not None and one.parent_id == two.parent_id else "none"


def _seats(debate: Debate, side: ComparedDebate, asked: Container[str]) -> Json:
    names = {each.name for each in fields(SeatSpec)} - {"id", "small"}  # `small` follows from the model
    return {
        seat.id: {name: getattr(seat, name) for name in sorted(names)}
        | {"name": side.name(seat.id), "sampling": seat.sampling.given, "hats": [hat.name for hat in seat.hats]}
        for seat in debate.cast
        if seat.id in asked
    }


def _cast_differences(one: Json, two: Json, *, common: bool) -> tuple[Difference, ...]:
    """Differences of the seats. A seat that only one debate has counts as one difference."""
    found: list[Difference] = []
    for seat in {**one, **two}:
        if seat in one and seat in two:
            found += _differences({seat: one[seat]}, {seat: two[seat]})
        elif not common:
            absent = [None if seat not in cast_ else public(cast_[seat]["model"]) for cast_ in (one, two)]
            found.append(Difference(name=seat, one=absent[0], two=absent[1]))
    return tuple(found)


def _differences(one: Json, two: Json, *, common: bool = False) -> tuple[Difference, ...]:
    """Differences by dotted name; `common`: only of names that both have."""
    flat_one, flat_two = dict(_flat(one)), dict(_flat(two))
    return tuple(
        Difference(name=name, one=_shown(flat_one.get(name)), two=_shown(flat_two.get(name)))
        for name in {**flat_one, **flat_two}
        if flat_one.get(name) != flat_two.get(name) and not (common and not (name in flat_one and name in flat_two))
    )


def _flat(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in cast("Mapping[str, Any]", value).items():
            yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in cast("Sequence[Any]", value)):
        for at, inner in enumerate(cast("Sequence[Any]", value)):
            yield from _flat(inner, f"{path}.{at}")
    elif path and value not in ({}, []):
        yield path, value


def _shown(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_shown(each) for each in cast("Sequence[Any]", value)]
    return public(value) if isinstance(value, str) else value
