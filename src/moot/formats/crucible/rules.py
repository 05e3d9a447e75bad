"""A proposer answers, with reasoning templates from memory; a skeptic attacks; the proposer defends and repairs. From
`min_rounds` on it ends when the skeptic is satisfied or no critical issue is open; else after the last round or at a
limit. Then a synthesizer writes down what has held. Endings are read from typed critiques, from nobody's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats.crucible import wording
from moot.formats.crucible.claims import ledger
from moot.formats.crucible.issues import Issues
from moot.formats.crucible.report import ENDINGS, Result, report
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.shapes import Critique, critique_after
from moot.formats.crucible.wording import Round
from moot.reasoning.claims import Ledger
from moot.script import Failed, Stage
from moot.types import Json, Outcome, Recalled


def parts(settings: CrucibleSettings) -> list[Part]:
    return [
        Part(
            id="proposer",
            name="Proposer",
            role="debater",
            model=settings.model_proposer,
            temperature=settings.temperature_proposer,
        ),
        Part(
            id="skeptic",
            name="Skeptic",
            role="debater",
            model=settings.model_skeptic,
            temperature=settings.temperature_skeptic,
        ),
        Part(
            id="synthesizer",
            name="Synthesizer",
            role="judge",
            model=settings.model_synthesizer,
            temperature=settings.temperature_synthesizer,
        ),
    ]


async def play(stage: Stage, settings: CrucibleSettings) -> Outcome:
    crucible = Crucible(stage, settings)
    stage.show(
        "HEADER",
        topic=stage.topic,
        format="crucible",
        min_rounds=settings.min_rounds,
        max_rounds=settings.max_rounds,
        early_stop_score=settings.early_stop_score,
    )
    stage.keep((crucible.synthesizer, 1))
    try:
        await crucible.recall()
        ended_by = await crucible.debate()
    except LimitReached as limit:
        ended_by = limit.limit
    outcome = await crucible.conclude(ended_by)
    if settings.claims:
        outcome = replace(outcome, details={**outcome.details, "ledger": crucible.ledger().as_json()})
    stage.show("VERDICT", **asdict(outcome))
    return outcome


class Crucible:
    def __init__(self, stage: Stage, settings: CrucibleSettings) -> None:
        self.stage, self.settings = stage, settings
        self.proposer, self.skeptic = stage.seat("proposer"), stage.seat("skeptic")
        self.synthesizer = stage.seat("synthesizer")
        self.proposer.brief(wording.proposer_brief(stage.topic))
        self.skeptic.brief(wording.skeptic_brief(stage.topic))
        self.synthesizer.brief(wording.synthesizer_brief(stage.topic))
        self.templates: Sequence[Recalled] = ()
        self.rounds: list[Round] = []  # those with an answer
        self.issues = Issues()
        stage.notebook["ledger"] = self.ledger

    def ledger(self) -> Ledger:
        return ledger(self.rounds, self.issues)

    async def recall(self) -> None:
        """Reasoning templates that fit the question."""
        if not self.settings.rag_top_k:
            self.stage.show("RAG", found=[], by="")
            return
        found = await self.stage.recall(
            "rag", self.stage.topic, corpus="templates", k=self.settings.rag_top_k, shows="RAG"
        )
        self.templates = found.found

    async def debate(self) -> str:
        """Gives the rule that ended it."""
        most = self.settings.max_rounds
        for number in range(1, most + 1):
            self.stage.show("ROUND", round=number, of=most)
            await self.propose(number)
            critique = await self.criticize(self.rounds[-1])
            ended_by = self.enough(critique) if number >= self.settings.min_rounds else None
            if ended_by is not None:
                return ended_by
        return "max_rounds"

    async def propose(self, number: int) -> None:
        of = self.settings.max_rounds
        if number == 1:
            phase, prompt = "propose", wording.proposal(self.templates, of=of)
        else:
            phase, prompt = "defend", wording.defence(self.rounds[-1], self.issues.open, of=of)
        answer = await self.proposer.ask(phase, prompt, round=number, shows="TURN")
        self.rounds.append(Round(number=number, answer=answer))

    async def criticize(self, latest: Round) -> Critique | Failed:
        before = self.issues

        def on_record(given: Critique | Failed) -> Json:
            return before.after(given, latest.number).summary(given)

        given = await self.skeptic.ask(
            "critique",
            wording.critique(latest, before.open, of=self.settings.max_rounds),
            returns=critique_after(tuple(each.id for each in before.open), len(before.raised)),
            tolerant=True,
            round=latest.number,
            shows="CRITIQUE",
            record=on_record,
        )
        latest.critique = given
        self.issues = before.after(given, latest.number)
        return given

    def enough(self, critique: Critique | Failed) -> str | None:
        """The rule by which the skeptic ends it. No valid critique never does: nobody has looked then."""
        if isinstance(critique, Failed):
            return None
        if critique.ready and critique.score >= self.settings.early_stop_score:
            return "satisfied"
        return None if self.issues.open_of("critical") else "no_critical"

    async def conclude(self, ended_by: str) -> Outcome:
        ending = ENDINGS.get(ended_by, f"the limit {ended_by} was reached")
        self.stage.show("ENDING", ended_by=ended_by, text=ending, rounds=len(self.rounds))
        result = Result(
            settings=self.settings,
            templates=self.templates,
            rounds=self.rounds,
            issues=self.issues,
            ended_by=ended_by,
        )
        if not self.rounds:
            return report(result, None, "Nothing was proposed, so there is nothing to write up.")
        try:
            answer = await self.synthesizer.ask(
                "synthesize",
                wording.synthesis(self.rounds, self.issues.open, ending),
                round=self.rounds[-1].number,
                closing=True,
                shows="SYNTHESIS",
            )
        except LimitReached as limit:
            return report(result, None, f"The final answer was not written: {limit}")
        if not answer.strip():
            return report(result, None, "The synthesizer wrote nothing.")
        return report(result, answer)
