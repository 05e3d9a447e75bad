"""A moderator chooses opposing perspectives; each round they argue at once, then answer each other in turn; the
moderator assesses; the person in charge may steer. It ends by agreement, a clear winner, stagnation, the last round, a
limit or the person's word, and always in something written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats.ledger import Clerk
from moot.formats.panel.catalog import balanced, catalog, choose
from moot.formats.panel.circles import Circles, measured, pairs
from moot.formats.panel.settings import PanelSettings, Perspective
from moot.formats.prompts import Prompts
from moot.gates import Checkpoint, Clarification
from moot.reasoning.fence import clean, fence
from moot.script import Failed, Seat, Stage, together
from moot.stage import Waiting
from moot.types import Answer, Json, Outcome

prompts = Prompts("panel")

MOST = 4
LEFT_THE_QUESTION = "The moderator found that you left the question. Come back to it: answer what was asked."


# Bounds that no sensible answer reaches: a small model that rambles would otherwise never close its answer.
Line = Annotated[str, StringConstraints(max_length=600)]
Lines = Annotated[list[Line], Field(max_length=8)]


class Analysis(Answer):
    framing: Line = Field(min_length=1)
    domain: Line
    constraints: Lines
    debaters: int = Field(ge=2, le=MOST)
    perspectives: Lines
    clarifying_question: Line

    def prose(self) -> str:
        return self.framing


class Rebuttal(Answer):
    rebuttal: str = Field(min_length=1)
    recommendation: Line = Field(min_length=1)
    position: Literal["hold", "concede", "agree"]
    concedes_to: Line

    def prose(self) -> str:
        return f"{self.rebuttal}\n\nRecommends: {self.recommendation}"


class Assessment(Answer):
    summary: str = Field(min_length=1)
    state: Literal["converging", "stagnating", "new_ground"]
    off_topic: Lines
    redirect: Line
    mute: Lines

    def prose(self) -> str:
        return self.summary


class Synthesis(Answer):
    recommendation: str = Field(min_length=1)
    confidence: Literal["High", "Medium", "Low"]
    caveats: Lines
    agreements: Lines
    tensions: Lines
    dissent: str

    def prose(self) -> str:
        return self.recommendation


ENDINGS = {
    "agreement": "the perspectives agree",
    "clear_winner": "all others concede to one perspective",
    "stagnation": "it went in circles",
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

    def is_among(self, names: Sequence[str]) -> bool:
        return self.name.casefold() in {name.casefold().strip() for name in names}


class Panel:
    def __init__(self, stage: Stage, settings: PanelSettings) -> None:
        self.stage, self.settings = stage, settings
        self.moderator = stage.seat("moderator")
        self.moderator.brief(prompts("moderator", topic=stage.topic))
        self.clerk = Clerk(stage, settings)
        self.catalog = catalog(settings.custom_perspectives)
        self.question = stage.topic
        self.debaters: list[Debater] = []
        self.round = 0
        self.guidance: list[str] = []
        self.assessment: Assessment | None = None
        self.circles: list[Circles] = []  # what was measured in each round
        self.stalled = ""  # why it goes in circles, if it does
        self.prevails: Debater | None = None
        self.cut_short: list[int] = []  # rounds in which not everyone could answer

    @property
    def speaking(self) -> list[Debater]:
        return [debater for debater in self.debaters if not debater.muted]

    @property
    def share(self) -> int:
        """Tokens for an argument or a rebuttal; 0: only the seat's own cap."""
        budget = self.settings.token_budget_per_round
        return max(1, budget // 2) if budget else 0

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
            self.clerk.ask()
            speaking = self.speaking
            for at, debater in enumerate(speaking):
                if self.stage.spent.seconds - began >= self.settings.round_timeout_seconds:
                    self.cut_short.append(round)  # what was said is assessed
                    self.stage.show("CUT", round=round, unheard=[each.name for each in speaking[at:]])
                    break
                await self.rebut(debater)
                self.clerk.ask()
            ended_by = self.converged(speaking, await self.evaluate())
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
            if debater.is_among(self.assessment.off_topic):
                opening += f"\n\n{LEFT_THE_QUESTION}"
        prompt = prompts(
            "argue", round=str(self.round), opening=opening, guidance=self.guidance_words(), name=debater.name
        )
        text = await debater.seat.ask("argue", prompt, round=self.round, share=self.share, shows="TURN")
        debater.arguments.append(text)
        self.clerk.hear(debater.seat, "argue", self.round, text)

    async def rebut(self, debater: Debater) -> None:
        key = f"{self.round}/rebut/{debater.seat.id}"
        rebuttal = await debater.seat.ask(
            "rebut",
            prompts("rebut", said=self.said(key, but=debater)),
            returns=Rebuttal,
            tolerant=True,
            round=self.round,
            share=self.share,
            shows="TURN",
        )
        debater.last = None if isinstance(rebuttal, Failed) else rebuttal
        if debater.last is not None:
            self.clerk.hear(debater.seat, "rebut", self.round, debater.last.prose())

    async def evaluate(self) -> Assessment | None:
        circles = await self.measure()
        assessment = await self.moderator.ask(
            "evaluate",
            prompts(
                "evaluate",
                round=str(self.round),
                said=self.said(f"{self.round}/evaluate/moderator"),
                repetition=circles.told(),
            ),
            returns=Assessment,
            tolerant=True,
            round=self.round,
            shows="TURN",
            record=lambda _: circles.as_json(),
        )
        self.assessment = None if isinstance(assessment, Failed) else assessment
        for debater in self.speaking:
            if self.assessment and debater.is_among(self.assessment.mute) and self.can_do_without(debater):
                debater.muted = True  # from the next round on: what it said in this one counts
                self.stage.show("MUTED", name=debater.name, round=self.round)
        return self.assessment

    def can_do_without(self, debater: Debater) -> bool:
        """Two must be left, and not two who want the same."""
        stay = [each.perspective for each in self.speaking if each is not debater]
        return len(stay) >= 2 and (balanced(stay) or not balanced([*stay, debater.perspective]))

    async def measure(self) -> Circles:
        """How much of what was argued in this round had been said before."""
        arguments = {debater.name: debater.arguments for debater in self.speaking}
        compared = pairs(arguments)
        alike = await self.stage.compare("compare", compared, round=self.round) if compared else None
        circles = measured(self.round, arguments, alike)
        if compared:
            self.circles.append(circles)
            self.stage.show("MEASURED", **circles.as_json())
        return circles

    def converged(self, speaking: Sequence[Debater], assessment: Assessment | None) -> str | None:
        """From typed positions, the typed assessment and measured repetition; no phrase of anyone ends a panel."""
        positions = [debater.last.position if debater.last else "hold" for debater in speaking]
        if all(position == "agree" for position in positions):
            return "agreement"
        self.prevails = self.leader(speaking)
        if self.prevails is not None:
            return "clear_winner"
        if assessment and assessment.state == "converging" and "hold" not in positions:
            return "agreement"
        if self.circles:  # from the second round on
            self.stalled = self.circles[-1].stalled(assessment is not None and assessment.state == "stagnating")
        return "stagnation" if self.stalled else None

    def leader(self, speaking: Sequence[Debater]) -> Debater | None:
        """The one to whom all the others concede."""
        for candidate in speaking:
            others = [debater for debater in speaking if debater is not candidate]
            yields = [
                debater.last is not None
                and debater.last.position == "concede"
                and candidate.is_among([debater.last.concedes_to])
                for debater in others
            ]
            holds = candidate.last is not None and candidate.last.position == "hold"
            if others and all(yields) and holds:
                return candidate
        return None

    async def person_ends(self) -> bool:
        if not self.settings.checkpoints:
            return False
        told = self.assessment.summary if self.assessment else "The moderator gave no valid assessment of this round."
        latest = self.circles[-1] if self.circles else None
        measures = "" if latest is None else f"Measured: {latest.told()}."
        checkpoint = await self.stage.gate(
            "checkpoint",
            prompts("checkpoint", round=str(self.round), summary=clean(told), measured=measures),
            returns=Checkpoint,
            waiting=Waiting(
                kind="checkpoint",
                timeout_seconds=self.settings.checkpoint_timeout_seconds,
                artifacts={
                    "summary": told,
                    "state": self.assessment.state if self.assessment else None,
                    "measured": None if latest is None else latest.as_json(),
                },
            ),
            round=self.round,
            shows="PERSON",
        )
        if checkpoint.choice == "guide":
            self.guidance.append(checkpoint.text)
        return checkpoint.choice == "end"

    async def conclude(self, ended_by: str) -> Outcome:
        self.clerk.ask()  # what was said before a limit cut the round short
        await self.clerk.finish()
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
        leader = self.prevails if ended_by == "clear_winner" else None
        valid = synthesis if isinstance(synthesis, Synthesis) else None
        if valid is None:
            reason = synthesis.failure.message if isinstance(synthesis, Failed) else str(synthesis)
            winner, headline = "undecided", "Undecided: there is no valid synthesis."
        else:
            why = f"{ENDINGS.get(ended_by, ended_by)}{f' ({self.stalled})' if ended_by == 'stagnation' else ''}"
            reason = "" if ended_by in SETTLED else f"The panel did not settle it: {why}."
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
                "measured": [circles.as_json() for circles in self.circles],
                "cut_short": self.cut_short,
                "record": self.record(valid, ended_by),
                **self.clerk.details(),
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
