"""A proposer answers, with reasoning templates from memory; a skeptic attacks; the proposer defends and repairs. From
`min_rounds` on a crucible ends when the skeptic is satisfied or no critical issue is open; else after the last round or
at a limit. Then a synthesizer writes the final answer. Endings are read from typed critiques alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from moot.core.answers import AnswerSpec
from moot.core.errors import LimitReached
from moot.core.script import Failed, Stage
from moot.core.types import FinalAnswer, Json, Outcome, Recalled, Sampling, Tier
from moot.formats.crucible import prompting
from moot.formats.crucible.claims import ledger_of_rounds
from moot.formats.crucible.issues import Issues
from moot.formats.crucible.report import ENDINGS, CrucibleResult, report
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.shapes import Critique, Round, ShortFinal, ShortProposal, TypedFinal, critique_after
from moot.formats.format import Part
from moot.formats.shared.answer import asking, final_answer, final_in, with_final
from moot.formats.shared.checks import answer_in
from moot.formats.shared.ledger import NOTEBOOK_KEY
from moot.formats.shared.small import without_memory
from moot.reasoning.claims import Ledger
from moot.reasoning.statements import flaw_of, has_words


def parts(settings: CrucibleSettings) -> list[Part]:
    return [
        _part("proposer", "debater", settings, voice=True),
        _part("skeptic", "debater", settings, voice=True),
        _part("synthesizer", "judge", settings),
    ]


def _part(
    role: Literal["proposer", "skeptic", "synthesizer"], tier: Tier, settings: CrucibleSettings, *, voice: bool = False
) -> Part:
    return Part(
        id=role,
        name=role.capitalize(),
        role=role,
        tier=tier,
        voice=voice,
        model=getattr(settings, f"model_{role}"),
        sampling=Sampling(temperature=getattr(settings, f"temperature_{role}")),
    )


async def play(stage: Stage, settings: CrucibleSettings) -> Outcome:
    crucible = Crucible(stage, settings)
    stage.open(
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
    return outcome.model_copy(update={"ledger": crucible.ledger().as_json()}) if settings.claims else outcome


class Crucible:
    def __init__(self, stage: Stage, settings: CrucibleSettings) -> None:
        self.stage, self.settings = stage, settings
        self.proposer, self.skeptic = stage.seat("proposer"), stage.seat("skeptic")
        self.speaker = self.proposer
        self.synthesizer = stage.seat("synthesizer")
        for seat in stage.seats:
            seat.brief(prompting.prompts(f"{seat.id}_small" if seat.spec.small else seat.id, topic=stage.topic))
        self.templates: Sequence[Recalled] = ()
        self.rounds: list[Round] = []
        self.issues = Issues()
        self.typed: FinalAnswer | None = None  # in the kind that was asked for
        stage.notebook[NOTEBOOK_KEY] = self.ledger

    def ledger(self) -> Ledger:
        return ledger_of_rounds(self.rounds, self.issues)

    async def recall(self) -> None:
        """Recall reasoning templates that fit the question."""
        if not self.settings.rag_top_k:
            self.stage.show("RAG", found=[], by="")
            return
        found = await self.stage.recall(
            "rag", self.stage.topic, corpus="templates", k=self.settings.rag_top_k, shows="RAG"
        )
        self.templates = found.found

    async def debate(self) -> str:
        """Play the rounds; return the rule that ended them."""
        most = self.settings.max_rounds
        for number in range(1, most + 1):
            self.stage.show("ROUND", round=number, of=most)
            await self.propose(number)
            critique = await self.criticize(self.rounds[-1])
            ended_by = self.ending(critique) if number >= self.settings.min_rounds else None
            if ended_by is not None:
                return ended_by
        return "max_rounds"

    async def propose(self, number: int) -> None:
        phase = "propose" if number == 1 else "defend"
        self.speaker = without_memory(self.proposer)
        if self.proposer.spec.small:
            given = await self.propose_briefly(phase, number)
            answer, checked = (given, given) if isinstance(given, str) else (given.prose(), given.conclusion)
        else:
            of = self.settings.max_rounds
            prompt = (
                prompting.proposal(self.templates, of=of)
                if number == 1
                else prompting.defence(self.rounds[-1], self.issues.open, of=of)
            )
            answer = checked = await self.speaker.ask(phase, prompt, round=number, shows="TURN")
        # A proposer may stand by what it has said before, and take over what the skeptic wants.
        ended = self.speaker.finish_reason
        flaw = flaw_of(checked, ended)
        self.rounds.append(Round(number=number, answer=answer, flaw=flaw, cut=ended == "length"))

    async def propose_briefly(self, phase: str, number: int) -> ShortProposal | str:
        """A small model repeats what it has said: it is asked anew, and reads of its last answer the conclusion.
        Returns what it wrote if that is no valid answer."""
        prompt = (
            prompting.short_proposal(self.stage.topic, self.templates)
            if number == 1
            else prompting.short_defence(self.stage.topic, self.rounds[-1], self.issues.open)
        )
        given = await self.speaker.ask(phase, prompt, returns=ShortProposal, tolerant=True, round=number, shows="TURN")
        return given.raw if isinstance(given, Failed) else given

    async def criticize(self, latest: Round) -> Critique | Failed:
        before, small = self.issues, self.skeptic.spec.small
        skeptic = without_memory(self.skeptic)
        question = (
            prompting.short_critique(self.stage.topic, latest, before.open)
            if small
            else prompting.critique(latest, before.open, of=self.settings.max_rounds)
        )

        def on_record(given: Critique | Failed) -> Json:
            return before.after(given, latest.number).metadata(given)

        given = await skeptic.ask(
            "critique",
            question,
            returns=critique_after(tuple(each.id for each in before.open), len(before.raised), short=small),
            tolerant=True,
            round=latest.number,
            shows="CRITIQUE",
            record=on_record,
        )
        latest.critique = given
        self.issues = before.after(given, latest.number)
        return given

    def ending(self, critique: Critique | Failed) -> str | None:
        """The rule that ends the crucible after a critique, if any. An invalid critique never ends it."""
        if isinstance(critique, Failed):
            return None
        if critique.ready and critique.score >= self.settings.early_stop_score:
            return "satisfied"
        return None if self.issues.open_of("critical") else "no_critical"

    async def conclude(self, ended_by: str) -> Outcome:
        ending = ENDINGS.get(ended_by, f"the limit {ended_by} was reached")
        self.stage.show("ENDING", ended_by=ended_by, text=ending, rounds=len(self.rounds))
        result = CrucibleResult(
            settings=self.settings,
            templates=self.templates,
            rounds=self.rounds,
            issues=self.issues,
            ended_by=ended_by,
        )
        if not self.rounds:
            return report(result, None, "Nothing was proposed, so there is nothing to write up.")
        if self.rounds[-1].flaw:
            missing = f"The proposer's last answer {self.rounds[-1].flaw}, so there is nothing to write up."
            return report(result, None, missing)
        try:
            answer = await self.write_up(ending)
        except LimitReached as limit:
            return report(result, None, f"The final answer was not written: {limit}")
        if not answer_in(answer):
            return report(result, None, f"The synthesizer {'refused' if has_words(answer) else 'wrote nothing'}.")
        return report(result, answer, typed=self.typed)

    async def write_up(self, ending: str) -> str:
        """The final answer; empty if there is no valid one."""
        last, spec = self.rounds[-1], self.settings.answer
        if spec is not None:
            return await self.write_typed(ending, last, spec)
        if not self.synthesizer.spec.small:
            prompt = prompting.synthesis(self.rounds, self.issues.open, ending)
            return await self.synthesizer.ask("synthesize", prompt, round=last.number, closing=True, shows="SYNTHESIS")
        given = await self.synthesizer.ask(
            "synthesize",
            prompting.short_synthesis(self.stage.topic, last, self.issues.open),
            returns=ShortFinal,
            tolerant=True,
            round=last.number,
            closing=True,
            shows="SYNTHESIS",
        )
        return "" if isinstance(given, Failed) else given.prose()

    async def write_typed(self, ending: str, last: Round, spec: AnswerSpec) -> str:
        """The final answer with the field for the answer of the kind that is asked for."""
        small = self.synthesizer.spec.small
        if small:
            prompt, shape = prompting.short_synthesis(self.stage.topic, last, self.issues.open), ShortFinal
        else:
            prompt, shape = prompting.typed_synthesis(self.rounds, self.issues.open, ending), TypedFinal
        given = await self.synthesizer.ask(
            "synthesize",
            asking(prompt, spec),
            returns=with_final(shape, spec),
            tolerant=True,
            round=last.number,
            closing=True,
            shows="SYNTHESIS",
        )
        if isinstance(given, Failed):
            return ""
        self.typed = final_answer(final_in(given), spec)
        return given.prose()
