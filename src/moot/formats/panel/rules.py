"""A moderator chooses opposing perspectives; each round they argue at once, then answer each other in turn; the
moderator assesses; the person in charge may steer. It ends by agreement, a clear winner, stagnation, the last round, a
limit or the person's word, and always in something written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import Field

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats.panel.catalog import catalog, choose
from moot.formats.panel.settings import PanelSettings, Perspective
from moot.formats.prompts import Prompts
from moot.gates import Checkpoint, Clarification
from moot.reasoning.fence import clean, fence
from moot.reasoning.repetition import repetition
from moot.script import Failed, Seat, Stage, together
from moot.stage import Waiting
from moot.types import Answer, Json, Outcome

prompts = Prompts("panel")

MOST = 4
REPEATS = 0.6  # more of an argument than this said before is called repetition


class Analysis(Answer):
    framing: str = Field(min_length=1)
    domain: str
    constraints: list[str]
    debaters: int = Field(ge=2, le=MOST)
    perspectives: list[str]
    clarifying_question: str

    def prose(self) -> str:
        return self.framing


class Rebuttal(Answer):
    rebuttal: str = Field(min_length=1)
    recommendation: str = Field(min_length=1)
    position: Literal["hold", "concede", "agree"]
    concedes_to: str

    def prose(self) -> str:
        return f"{self.rebuttal}\n\nRecommends: {self.recommendation}"


class Assessment(Answer):
    summary: str = Field(min_length=1)
    state: Literal["converging", "stagnating", "new_ground"]
    off_topic: list[str]
    redirect: str
    mute: list[str]

    def prose(self) -> str:
        return self.summary


class Synthesis(Answer):
    recommendation: str = Field(min_length=1)
    confidence: Literal["High", "Medium", "Low"]
    caveats: list[str]
    agreements: list[str]
    tensions: list[str]
    dissent: str

    def prose(self) -> str:
        return self.recommendation


ENDINGS = {
    "agreement": "the perspectives agree",
    "clear_winner": "all others concede to one perspective",
    "stagnation": "the arguments repeat themselves",
    "max_rounds": "the last round has been heard and no agreement was reached",
    "person": "the person in charge ended it",
}
SETTLED = ("agreement", "clear_winner")


def parts(settings: PanelSettings) -> list[Part]:
    seats = MOST if settings.perspectives == "auto" else settings.perspectives
    return [
        Part(id="moderator", name="Moderator", role="judge"),
        *(Part(id=f"p{n}", name=f"Perspective {n}", role="debater") for n in range(1, seats + 1)),
    ]


async def play(stage: Stage, settings: PanelSettings) -> Outcome:
    panel = Panel(stage, settings)
    stage.show("HEADER", topic=stage.topic, format="panel", max_rounds=settings.max_rounds)
    stage.keep((panel.moderator, 1))
    try:
        await panel.convene()
        ended_by = await panel.rounds()
    except LimitReached as limit:
        ended_by = limit.limit
    return await panel.conclude(ended_by)


@dataclass(kw_only=True)
class Debater:
    """A perspective and what it has said."""

    perspective: Perspective
    seat: Seat
    arguments: list[str]
    last: Rebuttal | None = None
    muted: bool = False

    @property
    def name(self) -> str:
        return self.perspective.name


class Panel:
    def __init__(self, stage: Stage, settings: PanelSettings) -> None:
        self.stage, self.settings = stage, settings
        self.moderator = stage.seat("moderator")
        self.moderator.brief(prompts("moderator", topic=stage.topic))
        self.catalog = catalog(settings.custom_perspectives)
        self.question = stage.topic
        self.debaters: list[Debater] = []
        self.round = 0
        self.guidance: list[str] = []
        self.assessment: Assessment | None = None

    @property
    def speaking(self) -> list[Debater]:
        return [debater for debater in self.debaters if not debater.muted]

    async def convene(self) -> None:
        """Look at the question, ask back if it is too vague, choose who is heard."""
        known = "\n".join(f"- {p.name}: {', '.join(p.priorities)}. {p.trade_offs}" for p in self.catalog.values())
        analysis = await self.moderator.ask(
            "analyze", prompts("analyze", catalog=known), returns=Analysis, tolerant=True, shows="TURN"
        )
        asked = "" if isinstance(analysis, Failed) else analysis.clarifying_question.strip()
        if asked and self.settings.checkpoints:
            question = prompts("clarify", question=clean(asked))
            waiting = Waiting(kind="clarification", timeout_seconds=self.settings.checkpoint_timeout_seconds)
            meant = await self.stage.gate("clarify", question, returns=Clarification, waiting=waiting, shows="PERSON")
            if meant.text:
                self.guidance.append(meant.text)
                self.question = f"{self.stage.topic}\n\nAsked what exactly is meant, the person said: {meant.text}"
        wanted: Sequence[str] = () if isinstance(analysis, Failed) else analysis.perspectives
        count = self.settings.perspectives
        if count == "auto":
            count = self.settings.default_perspectives if isinstance(analysis, Failed) else analysis.debaters
        for n, perspective in enumerate(choose(self.question, wanted, count, self.catalog), 1):
            seat = self.stage.seat(f"p{n}")
            seat.brief(
                prompts(
                    "debater",
                    name=perspective.name,
                    topic=self.question,
                    priorities=", ".join(perspective.priorities),
                    trade_offs=perspective.trade_offs,
                )
            )
            self.debaters.append(Debater(perspective=perspective, seat=seat, arguments=[]))
        self.stage.show("CAST", names={debater.seat.id: debater.name for debater in self.debaters})

    async def rounds(self) -> str:
        """Gives what ended the panel."""
        for round in range(1, self.settings.max_rounds + 1):
            self.round = round
            for debater in self.debaters:
                debater.last = None
            began = self.stage.spent.seconds
            await together(*(self.argue(debater) for debater in self.speaking))
            for debater in self.speaking:
                if self.stage.spent.seconds - began >= self.settings.round_timeout_seconds:
                    break  # the round is cut short; what was said is assessed
                await self.rebut(debater)
            ended_by = self.converged(await self.evaluate())
            if ended_by is not None:
                return ended_by
            if round < self.settings.max_rounds and await self.person_ends():
                return "person"
        return "max_rounds"

    async def argue(self, debater: Debater) -> None:
        opening = f"The question: {self.question}"
        if self.assessment is not None:
            at = f"{self.round}/argue/{debater.seat.id}"
            told = f"{self.assessment.summary}\n\nNext: {self.assessment.redirect}"
            opening = "The moderator sums up:\n\n" + fence(told, of="the moderator", at=at)
        prompt = prompts(
            "argue", round=str(self.round), opening=opening, guidance=self.guidance_words(), name=debater.name
        )
        share = self.settings.token_budget_per_round // 2
        text = await debater.seat.ask("argue", prompt, round=self.round, share=share, shows="TURN")
        debater.arguments.append(text)

    async def rebut(self, debater: Debater) -> None:
        key = f"{self.round}/rebut/{debater.seat.id}"
        rebuttal = await debater.seat.ask(
            "rebut",
            prompts("rebut", said=self.said(key, but=debater)),
            returns=Rebuttal,
            tolerant=True,
            round=self.round,
            share=self.settings.token_budget_per_round // 2,
            shows="TURN",
        )
        debater.last = None if isinstance(rebuttal, Failed) else rebuttal

    async def evaluate(self) -> Assessment | None:
        measured = {debater.name: self.repeated(debater) for debater in self.speaking}
        told = "; ".join(f"{name} repeats {share:.0%} of what it said before" for name, share in measured.items())
        assessment = await self.moderator.ask(
            "evaluate",
            prompts(
                "evaluate", round=str(self.round), said=self.said(f"{self.round}/evaluate/moderator"), repetition=told
            ),
            returns=Assessment,
            tolerant=True,
            round=self.round,
            shows="TURN",
            record=lambda _: {"repetition": measured},
        )
        self.assessment = None if isinstance(assessment, Failed) else assessment
        for debater in self.speaking:
            # Somebody must be left to argue with.
            if self.assessment and debater.name in self.assessment.mute and len(self.speaking) > 2:
                debater.muted = True
                self.stage.show("MUTED", name=debater.name, round=self.round)
        return self.assessment

    def converged(self, assessment: Assessment | None) -> str | None:
        """From typed positions, the typed assessment and measured repetition; no phrase of anyone ends a panel."""
        speaking = self.speaking
        positions = [debater.last.position if debater.last else "hold" for debater in speaking]
        if all(position == "agree" for position in positions):
            return "agreement"
        leader = self.leader()
        if leader is not None:
            return "clear_winner"
        if assessment and assessment.state == "converging" and "hold" not in positions:
            return "agreement"
        if self.round > 1:
            circles = all(self.repeated(debater) > REPEATS for debater in speaking)
            if circles or (assessment and assessment.state == "stagnating"):
                return "stagnation"
        return None

    def leader(self) -> Debater | None:
        """The one to whom all the others concede."""
        for candidate in self.speaking:
            others = [debater for debater in self.speaking if debater is not candidate]
            yields = [
                debater.last is not None
                and debater.last.position == "concede"
                and debater.last.concedes_to.casefold().strip() == candidate.name.casefold()
                for debater in others
            ]
            holds = candidate.last is not None and candidate.last.position == "hold"
            if others and all(yields) and holds:
                return candidate
        return None

    def repeated(self, debater: Debater) -> float:
        return repetition(debater.arguments[-1], debater.arguments[:-1]) if len(debater.arguments) > 1 else 0.0

    async def person_ends(self) -> bool:
        if not self.settings.checkpoints:
            return False
        told = self.assessment.summary if self.assessment else "The moderator gave no valid assessment of this round."
        checkpoint = await self.stage.gate(
            "checkpoint",
            prompts("checkpoint", round=str(self.round), summary=clean(told)),
            returns=Checkpoint,
            waiting=Waiting(
                kind="checkpoint",
                timeout_seconds=self.settings.checkpoint_timeout_seconds,
                artifacts={"summary": told, "state": self.assessment.state if self.assessment else None},
            ),
            round=self.round,
            shows="PERSON",
        )
        if checkpoint.choice == "guide":
            self.guidance.append(checkpoint.text)
        return checkpoint.choice == "end"

    async def conclude(self, ended_by: str) -> Outcome:
        ending = ENDINGS.get(ended_by, f"the limit {ended_by} was reached")
        at = f"{self.round}/synthesize/moderator"
        positions = "\n\n".join(
            f"{d.name}:\n" + fence(d.last.recommendation if d.last else _last(d), of=d.name, at=f"{at}/{d.seat.id}")
            for d in self.debaters
        )
        synthesis: Synthesis | Failed | LimitReached
        try:
            synthesis = await self.moderator.ask(
                "synthesize",
                prompts("synthesize", ending=ending, positions=positions or "(nobody has spoken)"),
                returns=Synthesis,
                tolerant=True,
                round=self.round,
                closing=True,
            )
        except LimitReached as limit:
            synthesis = limit
        outcome = self.outcome(synthesis, ended_by)
        self.stage.show("VERDICT", **asdict(outcome))
        return outcome

    def outcome(self, synthesis: Synthesis | Failed | LimitReached, ended_by: str) -> Outcome:
        leader = self.leader() if ended_by == "clear_winner" else None
        valid = synthesis if isinstance(synthesis, Synthesis) else None
        if valid is None:
            reason = synthesis.failure.message if isinstance(synthesis, Failed) else str(synthesis)
            winner, headline = "undecided", "Undecided: there is no valid synthesis."
        else:
            reason = "" if ended_by in SETTLED else f"The panel did not settle it: {ENDINGS.get(ended_by, ended_by)}."
            winner = leader.seat.id if leader else "consensus" if ended_by == "agreement" else "undecided"
            headline = (
                f"{leader.name} prevails."
                if leader
                else "The panel agrees."
                if ended_by == "agreement"
                else f"No agreement; a recommendation with {self.confidence(valid, ended_by).lower()} confidence."
            )
        return Outcome(
            winner=winner,
            headline=headline,
            ended_by=ended_by,
            verdict_source="judge" if valid else "fallback",
            reason=reason,
            statement=valid.recommendation if valid else "",
            details={
                "names": {debater.seat.id: debater.name for debater in self.debaters},
                "rounds": self.round,
                "guidance": self.guidance,
                "muted": [debater.name for debater in self.debaters if debater.muted],
                "record": self.record(valid, ended_by),
            },
        )

    def confidence(self, synthesis: Synthesis, ended_by: str) -> str:
        """Without agreement it is low, whatever the moderator feels."""
        return synthesis.confidence if ended_by in SETTLED else "Low"

    def record(self, synthesis: Synthesis | None, ended_by: str) -> Json:
        perspectives = [
            {
                "name": debater.name,
                "arguments": [*debater.arguments, *([debater.last.rebuttal] if debater.last else [])],
                "trade_offs": debater.perspective.trade_offs,
                "recommendation": debater.last.recommendation if debater.last else "",
            }
            for debater in self.debaters
        ]
        if synthesis is None:
            return {"perspectives": perspectives, "confidence": "Low"}
        return {
            "recommendation": synthesis.recommendation,
            "confidence": self.confidence(synthesis, ended_by),
            "caveats": synthesis.caveats,
            "agreements": synthesis.agreements,
            "tensions": synthesis.tensions,
            "dissent": synthesis.dissent,
            "perspectives": perspectives,
        }

    def guidance_words(self) -> str:
        if not self.guidance:
            return ""
        return f"Guidance from the person who asked: {self.guidance[-1]}"

    def said(self, at: str, but: Debater | None = None) -> str:
        """What was said in this round, so far, by everyone or everyone else."""
        words: list[str] = []
        for debater in self.speaking:
            if debater is but:
                continue
            words.append(fence(debater.arguments[-1], of=debater.name, at=f"{at}/argue/{debater.seat.id}"))
            if debater.last is not None:
                answer = debater.last.prose()
                words.append(fence(answer, of=f"{debater.name}, answering", at=f"{at}/rebut/{debater.seat.id}"))
        return "\n\n".join(words) or "(nothing)"


def _last(debater: Debater) -> str:
    return debater.arguments[-1] if debater.arguments else "(said nothing)"
