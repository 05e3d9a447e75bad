"""A and B speak in turn, round by round; then the judge rules."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from pydantic import Field

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats import jury as readers
from moot.formats.classic.settings import ClassicSettings, Stance
from moot.formats.jury import Said
from moot.formats.ledger import Clerk
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence
from moot.reasoning.verdict import SIDES, Decision, Side, Winner, decide, headline, leader
from moot.script import Failed, Seat, Stage
from moot.types import Answer, Json, Outcome

prompts = Prompts("classic")

STANCE_WORDS: dict[Stance, str] = {"pro": "FOR", "con": "AGAINST"}
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


def parts(settings: ClassicSettings) -> list[Part]:
    return [
        Part(id="a", name="Debater A", role="debater"),
        Part(id="b", name="Debater B", role="debater"),
        Part(id="judge", name="Judge", role="judge"),
        *readers.parts(settings),
    ]


async def play(stage: Stage, settings: ClassicSettings) -> Outcome:
    debate = Classic(stage, settings)
    stage.show("HEADER", topic=stage.topic, format="classic", stances=debate.stances)
    stage.keep((debate.judge, 1), *readers.closing(stage, settings))
    ended_by = await debate.rounds()
    await debate.clerk.finish()
    ruling = debate.final
    if readers.both_heard(debate.said) and debate.judged < len(debate.said):
        ruling = await debate.rule(closing=True)
    votes = await readers.votes(stage, settings, debate.said, round=debate.round)
    return debate.outcome(ruling, decide(*standing(ruling), votes), ended_by)


class Classic:
    def __init__(self, stage: Stage, settings: ClassicSettings) -> None:
        self.stage, self.settings = stage, settings
        other: Stance = "con" if settings.a_stance == "pro" else "pro"
        self.stances: dict[Side, Stance] = {"a": settings.a_stance, "b": other}
        self.speakers: dict[Side, Seat] = {"a": stage.seat("a"), "b": stage.seat("b")}
        self.judge = stage.seat("judge")
        self.clerk = Clerk(stage, settings)
        self.round = 0
        self.said: list[Said] = []
        self.judged = 0  # how many of the statements the judge has read
        self.final: Ruling | Failed | LimitReached | None = None
        for side, seat in self.speakers.items():
            seat.brief(prompts("debater", side=side.upper(), topic=stage.topic, stance=self.stance(side)))
        self.judge.brief(prompts("judge", topic=stage.topic))

    def stance(self, side: Side) -> str:
        return STANCE_WORDS[self.stances[side]]

    async def rounds(self) -> str:
        """Debate until a limit or a rule ends it; gives its name."""
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
        key = f"{self.round}/speak/{side}"
        if not self.said:
            prompt = prompts("open", topic=self.stage.topic, round=str(self.round), stance=self.stance(side))
        else:
            last = fence(self.said[-1].text, of="your opponent", at=key)
            question = f"The question: {self.stage.topic}" if len(self.said) == 1 else ""
            prompt = prompts("reply", question=question, round=str(self.round), stance=self.stance(side), said=last)
        text = await self.speakers[side].ask("speak", prompt, round=self.round, shows="TURN")
        self.said.append(Said(side=side, round=self.round, text=text))
        self.clerk.hear(self.speakers[side], "speak", self.round, text)
        self.clerk.ask()

    async def rule(self, *, closing: bool = False) -> Ruling | Failed | LimitReached:
        """The judge reads what is new to it and rules on everything read so far."""
        unread = self.said[self.judged :]
        phase = "verdict" if closing else "rule"
        heading = "The debate is over. These are the statements:" if closing else "These statements are new:"
        at = f"{self.round}/{phase}/judge"
        transcript = "\n\n".join(fence(s.text, of=LABELS[s.side], at=f"{at}/{n}") for n, s in enumerate(unread))
        try:
            self.final = await self.judge.ask(
                phase,
                prompts("rule", heading=heading, transcript=transcript or "(nothing was said)"),
                returns=Ruling,
                tolerant=True,
                round=self.round,
                closing=closing,
                shows="" if closing else "SCORE",  # the verdict is shown when the readers have voted too
                record=verdict_metadata,
            )
        except LimitReached as limit:
            if not closing:
                raise
            self.final = limit
        self.judged = len(self.said)
        return self.final

    def outcome(self, ruling: Ruling | Failed | LimitReached | None, decision: Decision, ended_by: str) -> Outcome:
        valid = ruling if isinstance(ruling, Ruling) else None
        outcome = Outcome(
            winner=decision.winner,
            headline=headline(decision, {side: f"{LABELS[side]} ({self.stance(side)}) wins." for side in SIDES}),
            ended_by=ended_by,
            verdict_source=decision.source,
            reason=decision.reason,
            statement=valid.summary if valid else "",
            scores={"a": valid.score_a if valid else None, "b": valid.score_b if valid else None},
            details={
                "stances": self.stances,
                "rounds": self.round,
                "flip_rate": decision.flip_rate,
                "tally": decision.tally,
                **self.clerk.details(),
            },
        )
        self.stage.show("VERDICT", **asdict(outcome))
        return outcome


def standing(ruling: Ruling | Failed | LimitReached | None) -> tuple[Winner, str]:
    if isinstance(ruling, Ruling):
        return ruling.winner, ""
    if isinstance(ruling, Failed):
        return "undecided", ruling.failure.message
    return "undecided", readers.NOT_HEARD if ruling is None else f"The judge was not asked: {ruling}"


def verdict_metadata(ruling: Ruling | Failed) -> Json:
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
