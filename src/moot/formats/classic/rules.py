"""A and B speak in turn, round by round; then the judge rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from moot.core.errors import LimitReached
from moot.core.script import Failed, Seat, Stage, together
from moot.core.types import Answer, Json, Outcome, Prompt, record
from moot.formats.classic.settings import ClassicSettings
from moot.formats.format import Part
from moot.formats.prompts import Prompts
from moot.formats.shared import jury, sides
from moot.formats.shared.answer.first import answered_first, unanswered
from moot.formats.shared.jury import Speech
from moot.formats.shared.ledger import Clerk
from moot.formats.shared.sides import Sides
from moot.formats.shared.small import (
    ONE_PARAGRAPH,
    Points,
    Remark,
    in_sentences,
    opening_words,
    point_for,
    points_shape,
    room_in_words,
)
from moot.reasoning.fence import fence, quote
from moot.reasoning.sentences import first_sentence
from moot.reasoning.statements import Known
from moot.reasoning.verdict import SIDES, JudgeVote, ReaderVote, Side, decide, leader

prompts = Prompts("classic")

MOST_POINTS = 5
LABELS: dict[Side, str] = {"a": "Debater A", "b": "Debater B"}


class Ruling(Answer):
    summary: str = Field(min_length=1)
    score_a: int = Field(ge=0, le=10)
    score_b: int = Field(ge=0, le=10)
    no_new_substantive_arguments: bool

    @property
    def winner(self) -> Literal["a", "b", "tie"]:
        return leader(self.score_a, self.score_b)

    def prose(self) -> str:
        return self.summary


class Case(Answer):
    """One side's case, scored by itself. A small judge that reads both sides goes by their order."""

    strength: Remark
    weakness: Remark
    logic: int = Field(ge=0, le=10)
    evidence: int = Field(ge=0, le=10)
    relevance: int = Field(ge=0, le=10)

    @property
    def score(self) -> float:
        return round((self.logic + self.evidence + self.relevance) / 3, 1)

    def prose(self) -> str:
        return in_sentences(*map(first_sentence, (self.strength, self.weakness)))


@record
class ScoredApart:
    """A ruling that follows from cases scored by themselves."""

    summary: str
    score_a: float
    score_b: float

    @property
    def winner(self) -> Literal["a", "b", "tie"]:
        return leader(self.score_a, self.score_b)


Verdict = Ruling | ScoredApart | Failed | LimitReached


def sides_of(settings: ClassicSettings, topic: str = "") -> Sides:
    return Sides.of(settings.sides, swapped=settings.a_stance == "con", topic=topic)


def parts(settings: ClassicSettings) -> list[Part]:
    taken = sides_of(settings)
    speakers = [
        Part(id=side, name=LABELS[side], role="debater", tier="debater", voice=True, stance=taken.short(side))
        for side in SIDES
    ]
    return [*speakers, Part(id="judge", name="Judge", role="judge"), *jury.parts(settings)]


async def play(stage: Stage, settings: ClassicSettings) -> Outcome:
    if settings.answer is None:
        return await argue(stage, settings)
    stage.open()
    try:
        first = await answered_first(stage, [stage.seat(id) for id in (*SIDES, "judge")], settings.answer)
    except LimitReached as limit:
        return unanswered(limit)
    found = first.sides(stage.topic)
    if found is None:
        return first.outcome()
    stage.show("SIDES", first=found[0], second=found[1])
    return first.settled(await argue(stage, settings.model_copy(update={"sides": found}), opened=True))


async def argue(stage: Stage, settings: ClassicSettings, *, opened: bool = False) -> Outcome:
    debate = Classic(stage, settings)
    if not opened:
        stage.open(sides={side: debate.sides.short(side) for side in SIDES})
    stage.keep((debate.judge, len(SIDES) if debate.judge.spec.small else 1), *jury.closing_calls(stage, settings))
    ended_by = await debate.rounds()
    await debate.clerk.finish()
    votes: list[ReaderVote] = []
    if not debate.nothing_said():
        if debate.judged < len(debate.said):
            await debate.rule(closing=True)
        votes = await jury.collect_votes(stage, settings, debate.said, round=debate.round)
    return debate.outcome(votes, ended_by)


class Classic:
    def __init__(self, stage: Stage, settings: ClassicSettings) -> None:
        self.stage, self.settings = stage, settings
        self.sides = sides_of(settings, stage.topic)
        self.speakers: dict[Side, Seat] = {side: stage.seat(side) for side in SIDES}
        self.judge = stage.seat("judge")
        self.clerk = Clerk(stage, settings)
        self.round = 0
        self.said: list[Speech] = []
        self.known: dict[Side, Known] = {side: Known() for side in SIDES}  # what each has said
        self.points: dict[Side, tuple[str, ...]] = {}  # what a small model has listed to speak to, one a round
        self.judged = 0  # how many statements the judge has read
        self.final: Verdict | None = None
        self.ruled_at: tuple[str, ...] = ()  # the steps of the latest ruling
        for side, seat in self.speakers.items():
            name = "debater_small" if seat.spec.small else "debater"
            seat.brief(prompts(name, name=LABELS[side], topic=stage.topic, task=self.sides.task(side)))
        if self.judge.spec.small:
            self.judge.brief(prompts("judge_small", topic=stage.topic))
        else:
            self.judge.brief(prompts("judge", topic=stage.topic, sides=self.sides.of_each(LABELS)))

    def nothing_said(self) -> str:
        return sides.nothing_said(self.said, LABELS)

    async def rounds(self) -> str:
        """Debate; return the name of the rule or limit that ended it."""
        try:
            for round in range(1, self.settings.max_rounds + 1):
                self.round = round
                await self.speak("a")
                await self.speak("b")
                if self.settings.judge_every_round:
                    ruling = await self.rule()
                    stale = isinstance(ruling, Ruling) and ruling.no_new_substantive_arguments
                    if stale and self.settings.stop_when_stale:
                        return "stop_when_stale"
        except LimitReached as limit:
            return limit.limit
        return "max_rounds"

    async def speak(self, side: Side) -> None:
        seat = self.speakers[side]
        speaker, prompt = await self._small(side) if seat.spec.small else (seat, self._prompt(side))
        objection = self.sides.objection(side, self.known) if seat.spec.small else None
        text = await speaker.ask("speak", prompt, round=self.round, shows="TURN", objection=objection)
        self.said.append(sides.heard(self.known, speaker, side, self.round, text))
        self.clerk.hear(speaker, "speak", self.round, text)
        self.clerk.ask()

    def _prompt(self, side: Side) -> Prompt:
        limits = {"round": str(self.round), "words": room_in_words(self.speakers[side].spec)}
        own = self.sides.short(side)
        if not self.said:
            return prompts("open", topic=self.stage.topic, side=own, **limits)
        last = fence(self.said[-1].text, of="your opponent", at=f"{self.round}/speak/{side}")
        question = f"The question: {self.stage.topic}" if len(self.said) == 1 else ""
        return prompts("reply", question=question, said=last, side=own, **limits)

    async def _small(self, side: Side) -> tuple[Seat, Prompt]:
        """A small model copies what it reads: it speaks to one point of its own a round, and reads only the beginning
        of what it answers."""
        if side not in self.points:
            self.points[side] = await self._list_points(side)
        point = point_for(self.points[side], self.round)
        begin = self.sides.begin(side)
        values = {
            "task": self.sides.task(side),
            "point": f"Your point now: {point}" if point else "",
            "begin": f"Begin with the words “{begin}”." if begin else "",
            "conclusion": self.sides.conclusion(side),
        }
        speaker = self.speakers[side].fresh(ONE_PARAGRAPH)
        if not self.said:
            return speaker, prompts("open_small", **values)
        return speaker, prompts("reply_small", said=quote(opening_words(self.said[-1].text), most=300), **values)

    async def _list_points(self, side: Side) -> tuple[str, ...]:
        count = min(self.settings.max_rounds, MOST_POINTS - 1) + 1
        prompt = prompts("points", count=str(count), reasons=self.sides.reasons(side))
        given = await self.speakers[side].ask(
            "points", prompt, returns=points_shape(count), tolerant=True, round=self.round, shows="POINTS"
        )
        return self.sides.own_points(side, given.points) if isinstance(given, Points) else ()

    async def rule(self, *, closing: bool = False) -> Verdict:
        """Ask the judge for a ruling on everything that was said so far."""
        try:
            self.final = await (self._score_apart(closing) if self.judge.spec.small else self._compare(closing))
        except LimitReached as limit:
            if not closing:
                raise
            self.final = limit
        self.judged = len(self.said)
        return self.final

    async def _compare(self, closing: bool) -> Ruling | Failed:
        """Show the judge the statements that it has not read."""
        unread = self.said[self.judged :]
        phase = "verdict" if closing else "rule"
        heading = "The debate is over. These are the statements:" if closing else "These statements are new:"
        at = f"{self.round}/{phase}/judge"
        self.ruled_at = (at,)
        shown = [fence(s.text, of=s.label(LABELS[s.side]), at=f"{at}/{n}") for n, s in enumerate(unread)]
        return await self.judge.ask(
            phase,
            prompts("rule", heading=heading, transcript="\n\n".join(shown)),
            returns=Ruling,
            tolerant=True,
            round=self.round,
            closing=closing,
            shows="" if closing else "SCORE",  # the outcome shows the verdict, after the readers' votes
            record=ruling_metadata,
        )

    async def _score_apart(self, closing: bool) -> ScoredApart | Failed:
        """Have each case scored by itself; the ruling follows from the scores."""
        self.ruled_at = tuple(f"{self.round}/case-{side}/judge" for side in SIDES)
        a, b = await together(self._score_case("a", closing), self._score_case("b", closing))
        if isinstance(a, Failed):
            return a
        if isinstance(b, Failed):
            return b
        cases: dict[Side, Case] = {"a": a, "b": b}
        summary = "\n".join(f"{sides.capital(self.sides.short(side))}: {case.prose()}" for side, case in cases.items())
        return ScoredApart(summary=summary, score_a=a.score, score_b=b.score)

    async def _score_case(self, side: Side, closing: bool) -> Case | Failed:
        own = [each for each in self.said if each.side == side]
        said = "\n".join(quote(each.text, most=1200) + (f" ({each.flaw})" if each.flaw else "") for each in own)
        return await self.judge.fresh().ask(
            f"case-{side}",
            prompts("case_small", case=self.sides.case(side), said=said),
            returns=Case,
            tolerant=True,
            round=self.round,
            closing=closing,
            shows="CASE",
            record=lambda case: {"of": side, "score": case.score if isinstance(case, Case) else None},
        )

    def outcome(self, votes: Sequence[ReaderVote], ended_by: str) -> Outcome:
        ruling = self.final
        valid = ruling if isinstance(ruling, Ruling | ScoredApart) else None
        judged = judge_vote(ruling, self.ruled_at)
        nothing = self.nothing_said()
        decision = (
            decide(JudgeVote(choice="undecided", reason=nothing))
            if nothing
            else decide(
                judged,
                votes,
                method=self.settings.voting,
                names=LABELS,
                round=self.round,
                apart=self.judge.spec.small,
            )
        )
        scores: dict[Side, float | None] = {
            "a": valid.score_a if valid else None,
            "b": valid.score_b if valid else None,
        }
        statement = valid.summary if valid else ""
        return Outcome(
            headline=self.sides.sentence(decision, LABELS, scores),
            answer=self.sides.answer(decision),
            ended_by=ended_by,
            statement=statement,
            scores={**scores},
            checks=sides.checks(
                decision,
                judge=judged.choice,
                said=self.said,
                called=LABELS,
                statement=statement,
                labels={side: [LABELS[side], *filter(None, [self.sides.names.get(side)])] for side in SIDES},
            ),
            ledger=self.clerk.as_json(),
            **jury.verdict_fields(decision, votes),
        )


def judge_vote(ruling: Verdict | None, keys: tuple[str, ...]) -> JudgeVote:
    if isinstance(ruling, Ruling | ScoredApart):
        return JudgeVote(choice=ruling.winner, keys=keys)
    if isinstance(ruling, Failed):
        reason = f"The judge gave no valid verdict: {ruling.failure.message.rstrip('.')}."
        return JudgeVote(choice="undecided", keys=keys, reason=reason)
    return JudgeVote(choice="undecided", reason=f"The judge was not asked: {ruling}")


def ruling_metadata(ruling: Ruling | Failed) -> Json:
    if isinstance(ruling, Failed):
        return {
            "summary": "",
            "score_a": None,
            "score_b": None,
            "winner": "undecided",
            "no_new_substantive_arguments": None,
            "verdict_source": "fallback",
            "reason": ruling.failure.message,
        }
    return {**ruling.model_dump(), "winner": ruling.winner, "verdict_source": "judge"}
