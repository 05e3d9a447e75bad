"""Both plan. A opens; B and A answer in turn, thinking first. The judge scores each statement while the next speaker
thinks, and rules at the end. Nobody but the judge reads a score, and nobody reads another's thoughts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pydantic import Field

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats import jury as readers
from moot.formats.duel.settings import DuelSettings
from moot.formats.duel.verdict import choice_between, record_for
from moot.formats.jury import NOT_HEARD, Said, both_heard
from moot.formats.ledger import Clerk
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence
from moot.reasoning.verdict import SIDES, Side, Winner, decide, flipped, headline
from moot.script import Failed, Running, Seat, Stage, together
from moot.types import Answer, Outcome

prompts = Prompts("duel")

LABELS: dict[Side, str] = {"a": "Speaker One", "b": "Speaker Two"}
FINAL = "It is your last: plan a closing argument that sums up your case and ends on the point that decides it. "
SIDE_WORDS: dict[Side, str] = {"a": "FOR", "b": "AGAINST"}
VERDICT_CALLS = 4


class Score(Answer):
    reasoning: str = Field(min_length=1)
    score: int = Field(ge=0, le=10)

    def prose(self) -> str:
        return self.reasoning


def parts(settings: DuelSettings) -> list[Part]:
    a, b, judge = *settings.debaters, settings.judge
    return [
        Part(id="a", name=a.name, role="debater", model=a.model, max_tokens=a.max_tokens, temperature=a.temperature),
        Part(id="b", name=b.name, role="debater", model=b.model, max_tokens=b.max_tokens, temperature=b.temperature),
        Part(
            id="judge",
            name=judge.name,
            role="judge",
            model=judge.model,
            max_tokens=judge.max_tokens,
            temperature=judge.temperature,
        ),
        *readers.parts(settings),
    ]


async def play(stage: Stage, settings: DuelSettings) -> Outcome:
    duel = Duel(stage, settings)
    stage.show(
        "HEADER",
        topic=stage.topic,
        format="duel",
        premise=settings.premise,
        turns=settings.turns,
        debaters=[seat.name for seat in duel.speakers.values()],
        judge=duel.judge.name,
    )
    stage.keep((duel.judge, VERDICT_CALLS), *readers.closing(stage, settings))
    ended_by = await duel.debate()
    reading = stage.start(readers.votes(stage, settings, duel.said, round=settings.turns))
    ruling = await duel.rule()
    return duel.outcome(ruling, await reading, ended_by)


class Duel:
    def __init__(self, stage: Stage, settings: DuelSettings) -> None:
        self.stage, self.settings = stage, settings
        self.speakers: dict[Side, Seat] = {side: stage.seat(side) for side in SIDES}
        self.judge = stage.seat("judge")
        self.clerk = Clerk(stage, settings)
        self.names: dict[Side, str] = {side: seat.name for side, seat in self.speakers.items()}
        self.called = LABELS if settings.blind else self.names  # what the judge calls them
        self.said: list[Said] = []
        self.scores: dict[Side, int | None] = {"a": None, "b": None}
        for sheet, seat in zip(settings.debaters, self.speakers.values(), strict=True):
            seat.brief(prompts("debater", sheet=joined(sheet.personality, sheet.position, sheet.instructions)))
        sheet = settings.judge
        self.judge.brief(prompts("judge", sheet=joined(sheet.personality, sheet.judging_criteria)))

    async def debate(self) -> str:
        """Plan, open, alternate; gives the name of the limit that ended it, or "turns"."""
        ended_by = "turns"
        scoring: Running[None] | None = None
        try:
            await together(self.plan("a"), self.plan("b"))
            for turn in range(1, self.settings.turns + 1):
                side = SIDES[(turn + 1) % 2]
                await (self.open(side) if turn == 1 else self.answer(side, turn))
                self.clerk.hear(self.speakers[side], "speak", turn, self.said[-1].text)
                self.clerk.ask()
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
        await self.speakers[side].ask("plan", prompts("plan", topic=self.stage.topic), shows="PLAN")

    async def open(self, side: Side) -> None:
        speaker = self.speakers[side]
        setting = {"topic": self.stage.topic, "side": self.side_taken(side), "opponent": self.names[flipped(side)]}
        await speaker.ask("think", prompts("think_opening", **setting), round=1, shows="THINK")
        text = await speaker.ask("speak", prompts("open", **setting), round=1, shows="TURN")
        self.said.append(Said(side=side, round=1, text=text))

    async def answer(self, side: Side, turn: int) -> None:
        speaker, last_turn = self.speakers[side], turn > self.settings.turns - 2
        said = fence(self.said[-1].text, of=self.names[flipped(side)], at=f"{turn}/think/{side}")
        thinking = prompts("think", said=said, final=FINAL if last_turn else "")
        await speaker.ask("think", thinking, round=turn, shows="THINK")
        text = await speaker.ask("speak", prompts("close" if last_turn else "speak"), round=turn, shows="TURN")
        self.said.append(Said(side=side, round=turn, text=text))

    async def score(self, statement: Said, *, after: Running[None] | None) -> None:
        """The judge hears statements one after the other, though nobody waits for it."""
        if after is not None:
            await after
        speaker = self.called[statement.side]
        first = all(earlier.side != statement.side for earlier in self.said[: statement.round - 1])
        said = fence(statement.text, of=speaker, at=f"{statement.round}/evaluate/judge")
        evaluation = prompts("evaluate", speaker=speaker, said=said)
        await self.judge.ask("evaluate", evaluation, round=statement.round, shows="THINK")
        question = prompts("score_first" if first else "score", speaker=speaker)
        given = await self.judge.ask(
            "score", question, returns=Score, tolerant=True, round=statement.round, shows="SCORE"
        )
        self.scores[statement.side] = None if isinstance(given, Failed) else given.score

    async def rule(self) -> Ruling:
        """Deliberate, confirm, put on record, announce. What is not valid after all tries is no verdict."""
        if not both_heard(self.said):
            return Ruling(reason=NOT_HEARD)
        a, b = self.called["a"], self.called["b"]
        end = self.settings.turns
        try:
            deliberation = prompts("deliberate", premise=self.premise_sides())
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
        try:
            announcement = prompts("announce", result=record.prose())
            statement = await self.judge.ask("announce", announcement, round=end, closing=True)
        except LimitReached as limit:
            statement = f"(not announced: {limit})"
        return Ruling(
            winner="a" if record.winner == a else "b",
            scores={"a": record.points(a), "b": record.points(b)},
            statement=statement,
        )

    def outcome(self, ruling: Ruling, votes: list[readers.Vote], ended_by: str) -> Outcome:
        decision = decide(ruling.winner, ruling.reason, votes)
        statement = ruling.statement
        if self.settings.blind:
            by_label = {label: self.names[side] for side, label in LABELS.items()}
            statement = re.sub("|".join(by_label), lambda found: by_label[found[0]], statement)
        outcome = Outcome(
            winner=decision.winner,
            headline=headline(decision, {side: self.wins(side) for side in SIDES}),
            ended_by=ended_by,
            verdict_source=decision.source,
            reason=decision.reason,
            statement=statement,
            scores={side: ruling.scores[side] for side in SIDES},
            details={
                "names": self.names,
                "premise": self.settings.premise,
                "premise_upheld": self.premise_upheld(decision.winner),
                "running_scores": self.scores,
                "judge_winner": ruling.winner,
                "flip_rate": decision.flip_rate,
                "tally": decision.tally,
                "votes": [vote.as_json() for vote in votes],
                **self.clerk.details(),
            },
        )
        self.stage.show("VERDICT", **asdict(outcome))
        return outcome

    def wins(self, side: Side) -> str:
        upheld = self.premise_upheld(side)
        about = "" if upheld is None else " The premise is upheld." if upheld else " The premise is rejected."
        return f"{self.names[side]} wins.{about}"

    def premise_upheld(self, winner: Winner) -> bool | None:
        return winner == "a" if self.settings.premise and winner in SIDES else None

    def side_taken(self, side: Side) -> str:
        return f'You argue {SIDE_WORDS[side]} this premise: "{self.settings.premise}"' if self.settings.premise else ""

    def premise_sides(self) -> str:
        premise = self.settings.premise
        if not premise:
            return ""
        lines = [f"  {self.called[side]} argued {SIDE_WORDS[side]} it." for side in SIDES]
        return "\n".join([f'The premise in dispute was: "{premise}"', *lines])


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """Where the judge stands at the end."""

    winner: Winner = "undecided"
    reason: str = ""
    scores: Mapping[Side, int | None] = field(default_factory=lambda: {"a": None, "b": None})
    statement: str = ""


def joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
