"""Both plan. A opens; B and A answer in turn, thinking first. The judge scores each statement while the next speaker
thinks, and rules at the end. Scores stay with the judge, plans and thoughts with their authors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import Field

from moot.core.errors import LimitReached
from moot.core.script import Failed, Running, Seat, Stage, together
from moot.core.types import Answer, Outcome, Prompt
from moot.formats.duel.settings import Debater, DuelSettings
from moot.formats.duel.verdict import choice_between, record_for
from moot.formats.format import Part
from moot.formats.prompts import Prompts
from moot.formats.shared import jury, sides
from moot.formats.shared.answer.first import answered_first, unanswered
from moot.formats.shared.jury import Speech
from moot.formats.shared.ledger import Clerk
from moot.formats.shared.sides import Sides
from moot.formats.shared.small import (
    ONE_PARAGRAPH,
    POINT_CHARS,
    Line,
    Points,
    opening_words,
    point_for,
    points_shape,
    room_in_words,
)
from moot.reasoning.fence import fence, quote
from moot.reasoning.language import language_of
from moot.reasoning.statements import Known
from moot.reasoning.verdict import SIDES, Decision, JudgeVote, ReaderVote, Side, Winner, decide, other_side

prompts = Prompts("duel")

LABELS: dict[Side, str] = {"a": "Speaker One", "b": "Speaker Two"}
FINAL = "It is your last: plan a closing argument that sums up your case and ends on the point that decides it. "
UPHELD = ("The premise is upheld", "The premise is rejected")
VERDICT_CALLS = 4
MOST_POINTS = 5


class Score(Answer):
    reasoning: str = Field(min_length=1)
    score: int = Field(ge=0, le=10)

    def prose(self) -> str:
        return self.reasoning


class ShortScore(Score):
    reasoning: Line


def settle(settings: DuelSettings, topic: str) -> DuelSettings:
    """The settings with the sides that the question offers, unless a premise or the debaters' sheets say others."""
    return settings if settings.premise or settings.have_positions else sides.settle(settings, topic)


def sides_of(settings: DuelSettings, topic: str = "") -> Sides:
    language = language_of(topic)
    if settings.premise:
        return Sides(proposition=settings.premise, verdicts=UPHELD, language=language)
    if settings.sides is None and settings.have_positions:
        return Sides(told=False, language=language)
    return Sides.of(settings.sides, topic=topic)


def parts(settings: DuelSettings) -> list[Part]:
    a, b, judge = *settings.debaters, settings.judge
    return [
        _speaker("a", a, settings),
        _speaker("b", b, settings),
        Part(
            id="judge",
            name=judge.name,
            role="judge",
            model=judge.model,
            max_tokens=judge.max_tokens,
            sampling=judge.sampling,
            hats=judge.hats,
        ),
        *jury.parts(settings),
    ]


def _speaker(side: Side, sheet: Debater, settings: DuelSettings) -> Part:
    return Part(
        id=side,
        name=sheet.name,
        role="debater",
        tier="debater",
        voice=True,
        stance=_stance(side, settings),
        brief=sheet.position,
        model=sheet.model,
        max_tokens=sheet.max_tokens,
        sampling=sheet.sampling,
        hats=sheet.hats,
    )


def _stance(side: Side, settings: DuelSettings) -> str:
    taken = sides_of(settings)
    if not taken.told:
        return ""
    return f"{taken.short(side)} the premise" if settings.premise else taken.short(side)


async def play(stage: Stage, settings: DuelSettings) -> Outcome:
    stage.open(
        premise=settings.premise,
        turns=settings.turns,
        debaters=[stage.seat(side).name for side in SIDES],
        judge=stage.seat("judge").name,
    )
    if settings.answer is None:
        return await fight(stage, settings)
    try:
        first = await answered_first(stage, [stage.seat(id) for id in (*SIDES, "judge")], settings.answer)
    except LimitReached as limit:
        return unanswered(limit)
    found = first.sides(stage.topic)
    if found is None:
        return first.outcome()
    stage.show("SIDES", first=found[0], second=found[1])
    return first.settled(await fight(stage, settings.model_copy(update={"sides": found})))


async def fight(stage: Stage, settings: DuelSettings) -> Outcome:
    duel = Duel(stage, settings)
    stage.keep((duel.judge, VERDICT_CALLS), *jury.closing_calls(stage, settings))
    ended_by = await duel.debate()
    nothing = sides.nothing_said(duel.said, duel.names)
    if nothing:
        ruling = Ruling(reason=nothing)
        return duel.outcome(ruling, decide(ruling.vote), [], "", ended_by)
    reading = stage.start(jury.collect_votes(stage, settings, duel.said, round=settings.turns))
    ruling = await duel.rule()
    votes = await reading
    decision = decide(ruling.vote, votes, method=settings.voting, names=duel.names, round=settings.turns)
    return duel.outcome(ruling, decision, votes, await duel.announce(ruling, decision), ended_by)


class Duel:
    def __init__(self, stage: Stage, settings: DuelSettings) -> None:
        self.stage, self.settings = stage, settings
        self.speakers: dict[Side, Seat] = {side: stage.seat(side) for side in SIDES}
        self.judge = stage.seat("judge")
        self.clerk = Clerk(stage, settings)
        self.names: dict[Side, str] = {side: seat.name for side, seat in self.speakers.items()}
        self.called = LABELS if settings.blind else self.names  # what the judge calls them
        self.said: list[Speech] = []
        self.known: dict[Side, Known] = {side: Known() for side in SIDES}  # what each has said
        self.points: dict[Side, tuple[str, ...]] = {}  # what a small model plans to say, one point a statement
        self.scores: dict[Side, float | None] = {"a": None, "b": None}
        self.sides = sides_of(settings, stage.topic)
        for sheet, (side, seat) in zip(settings.debaters, self.speakers.items(), strict=True):
            words = joined(sheet.personality, sheet.position, sheet.instructions)
            name = "debater_small" if seat.spec.small else "debater"
            seat.brief(prompts(name, sheet=words, topic=stage.topic, side=self.sides.task(side)))
        words = joined(settings.judge.personality, settings.judge.judging_criteria)
        taken = self.sides.of_each(self.called)
        name = "judge_small" if self.judge.spec.small else "judge"
        self.judge.brief(prompts(name, sheet=words, topic=stage.topic, sides=taken))

    async def debate(self) -> str:
        """Plan, open, alternate; return "turns" or the name of the limit that ended it."""
        ended_by = "turns"
        scoring: Running[None] | None = None
        try:
            await together(self.plan("a"), self.plan("b"))
            for turn in range(1, self.settings.turns + 1):
                side = SIDES[(turn + 1) % 2]
                await (self.open(side) if turn == 1 else self.answer(side, turn))
                scoring = self.stage.start(self.score(self.said[-1], after=scoring))
        except LimitReached as limit:
            ended_by = limit.limit
        if scoring is not None:
            try:
                await scoring
            except LimitReached as limit:
                ended_by = limit.limit
        await self.clerk.finish()
        return ended_by

    async def plan(self, side: Side) -> None:
        speaker = self.speakers[side]
        if not speaker.spec.small:
            await speaker.ask("plan", prompts("plan"), shows="PLAN")
            return
        count = min((self.settings.turns + 1) // 2, MOST_POINTS - 1) + 1
        reasons = self.sides.reasons(side) if self.sides.told else "for what you argue"
        question = prompts("plan_small", count=str(count), reasons=reasons, begin=self.beginning(side, "each with"))
        given = await speaker.fresh().ask("plan", question, returns=points_shape(count), tolerant=True, shows="PLAN")
        self.points[side] = self.sides.own_points(side, given.points) if isinstance(given, Points) else ()

    async def open(self, side: Side) -> None:
        speaker = self.speakers[side]
        if speaker.spec.small:
            await self.say(speaker.fresh(ONE_PARAGRAPH), side, 1, None, prompts("open_small", **self.to_say(side, 1)))
            return
        setting = {"topic": self.stage.topic, "side": self.sides.task(side), "opponent": self.names[other_side(side)]}
        opening = prompts("open", words=room_in_words(speaker.spec), **setting)
        await self.say(speaker, side, 1, prompts("think_opening", **setting), opening)

    async def answer(self, side: Side, turn: int) -> None:
        speaker, last_turn = self.speakers[side], turn > self.settings.turns - 2
        if speaker.spec.small:
            # It copies what it reads: it sees the beginning of what it answers, and nothing that it has said before.
            said = quote(opening_words(self.said[-1].text), most=300)
            name = "close_small" if last_turn else "speak_small"
            await self.say(
                speaker.fresh(ONE_PARAGRAPH), side, turn, None, prompts(name, said=said, **self.to_say(side, turn))
            )
        else:
            final = FINAL if last_turn else ""
            said = fence(self.said[-1].text, of=self.names[other_side(side)], at=f"{turn}/think/{side}")
            speaking = prompts("close" if last_turn else "speak", words=room_in_words(speaker.spec))
            await self.say(speaker, side, turn, prompts("think", said=said, final=final), speaking)

    def to_say(self, side: Side, turn: int) -> dict[str, str]:
        """What a small model is told before it speaks: its side, one point of its plan, and how to begin."""
        point = point_for(self.points.get(side, ()), (turn + 1) // 2)
        return {
            "side": self.sides.task(side),
            "opponent": self.names[other_side(side)],
            "point": f"Your point now: {quote(point, POINT_CHARS)}" if point else "",
            "begin": self.beginning(side, "with the words"),
            "conclusion": self.sides.conclusion(side),
        }

    def beginning(self, side: Side, how: str) -> str:
        """How a small model is told to begin, which keeps it on its side; empty if its side has no name."""
        begin = self.sides.begin(side) if self.sides.told else ""
        return f"Begin {how} “{begin}”." if begin else ""

    async def say(self, speaker: Seat, side: Side, turn: int, thinking: Prompt | None, speaking: Prompt) -> None:
        if thinking is not None:
            await speaker.ask("think", thinking, round=turn, shows="THINK")
        objection = self.sides.objection(side, self.known) if speaker.spec.small else None
        text = await speaker.ask("speak", speaking, round=turn, shows="TURN", objection=objection)
        self.said.append(sides.heard(self.known, speaker, side, turn, text))
        self.clerk.hear(speaker, "speak", turn, text)
        self.clerk.ask()

    async def score(self, statement: Speech, *, after: Running[None] | None) -> None:
        """Score a statement, `after` the one before: the judge reads them in order, while the debate goes on."""
        if after is not None:
            await after
        speaker = self.called[statement.side]
        first = all(earlier.side != statement.side for earlier in self.said[: statement.round - 1])
        small = self.judge.spec.small
        if small:
            said = f"{statement.label(speaker)} said: {quote(statement.text, most=1200)}"
            question = prompts("score_small", speaker=speaker, said=said)
        else:
            said = fence(statement.text, of=statement.label(speaker), at=f"{statement.round}/evaluate/judge")
            evaluation = prompts("evaluate", speaker=speaker, said=said)
            await self.judge.ask("evaluate", evaluation, round=statement.round, shows="THINK")
            question = prompts("score_first" if first else "score", speaker=speaker)
        given = await self.judge.ask(
            "score",
            question,
            returns=ShortScore if small else Score,
            tolerant=True,
            round=statement.round,
            shows="SCORE",
            record=lambda _: {"of": statement.side},
        )
        self.scores[statement.side] = None if isinstance(given, Failed) else given.score

    async def rule(self) -> Ruling:
        """Deliberate, confirm, put on record. Without a valid answer there is no verdict."""
        a, b = self.called["a"], self.called["b"]
        end = self.settings.turns
        try:
            name = "deliberate_small" if self.judge.spec.small else "deliberate"
            deliberation = prompts(name, topic=self.stage.topic, sides=self.sides.of_each(self.called))
            await self.judge.ask("deliberate", deliberation, round=end, closing=True, shows="THINK")
            question = prompts("confirm", first=a, second=b)
            choice = await self.judge.ask(
                "confirm", question, returns=choice_between(a, b), tolerant=True, round=end, closing=True
            )
            if isinstance(choice, Failed):
                return Ruling(reason=f"The judge did not confirm a winner: {choice.failure.message}")
            on_record = prompts("extract", winner=choice.winner, first=a, second=b)
            record = await self.judge.ask(
                "extract", on_record, returns=record_for(a, b, choice.winner), tolerant=True, round=end, closing=True
            )
            if isinstance(record, Failed):
                return Ruling(reason=f"The judge put no valid verdict on record: {record.failure.message}")
        except LimitReached as limit:
            return Ruling(reason=f"The judge could not finish: {limit}")
        return Ruling(
            winner="a" if record.winner == a else "b",
            scores={"a": record.points(a), "b": record.points(b)},
            key=f"{end}/extract/judge",
        )

    async def announce(self, ruling: Ruling, decision: Decision) -> str:
        """What the judge says of the decision, which is made. Empty without a decision."""
        if decision.winner == "undecided":
            return ""
        result = self.sides.sentence(decision, self.called, ruling.scores)
        try:
            name = "announce_small" if self.judge.spec.small else "announce"
            return await self.judge.ask(
                "announce", prompts(name, result=result), round=self.settings.turns, closing=True
            )
        except LimitReached as limit:
            return f"(not announced: {limit})"

    def outcome(
        self, ruling: Ruling, decision: Decision, votes: list[ReaderVote], statement: str, ended_by: str
    ) -> Outcome:
        if self.settings.blind:
            by_label = {label: self.names[side] for side, label in LABELS.items()}
            statement = re.sub("|".join(by_label), lambda found: by_label[found[0]], statement)
        premise = self.settings.premise
        return Outcome(
            headline=self.sides.sentence(decision, self.names, ruling.scores),
            answer=self.sides.answer(decision),
            ended_by=ended_by,
            statement=statement,
            scores={**ruling.scores},
            checks=sides.checks(
                decision,
                judge=ruling.winner,
                said=self.said,
                called=self.names,
                statement=statement,
                labels={side: [self.names[side], *filter(None, [self.sides.names.get(side)])] for side in SIDES},
                running=self.scores,
            ),
            facts={"Premise": premise} if premise else {},
            ledger=self.clerk.as_json(),
            details={
                "premise": premise,
                "premise_upheld": self.premise_upheld(decision.winner),
                "running_scores": self.scores,
                "judge_winner": ruling.winner,
            },
            **jury.verdict_fields(decision, votes),
        )

    def premise_upheld(self, winner: Winner) -> bool | None:
        return winner == "a" if self.settings.premise and winner in SIDES else None


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """The judge's verdict, or the reason why there is none."""

    winner: Winner = "undecided"
    reason: str = ""
    scores: Mapping[Side, float | None] = field(default_factory=lambda: {"a": None, "b": None})
    key: str = ""  # of the step that put it on record

    @property
    def vote(self) -> JudgeVote:
        return JudgeVote(choice=self.winner, keys=(self.key,) if self.key else (), reason=self.reason)


def joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
