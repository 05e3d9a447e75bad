"""The rules: notes, a question, a reply, a mark; in the end a finding, which a person may have to confirm."""

from __future__ import annotations

from pydantic import Field

from moot.core.errors import LimitReached
from moot.core.gates import Approval
from moot.core.script import Failed, Stage
from moot.core.settings import DebateSettings
from moot.core.types import Answer, Confidence, FinalAnswer, Outcome, RecordParts, Section
from moot.formats.format import Part
from moot.formats.prompts import Prompts
from moot.reasoning.fence import clean, fence

prompts = Prompts("interview", "moot_interview")

BEST = 20


class InterviewSettings(DebateSettings):
    questions: int = Field(2, ge=1, le=20, description="questions that are asked")
    pass_mark: int = Field(10, ge=0, le=BEST, description="the mean mark with which the answer holds")
    confirm: bool = Field(False, description="ask you to confirm the finding")


class Marking(Answer):
    reasoning: str = Field(min_length=1)
    mark: int = Field(ge=0, le=BEST)
    complete: bool

    def prose(self) -> str:
        return self.reasoning


class Finding(Answer):
    recommendation: str = Field(min_length=1)
    gaps: list[str] = Field(max_length=8)

    def prose(self) -> str:
        return self.recommendation


def parts(settings: InterviewSettings) -> list[Part]:
    return [
        Part(id="examiner", name="Examiner", role="examiner", tier="debater", voice=True, stance="looks for gaps"),
        Part(id="candidate", name="Candidate", role="candidate", tier="debater", voice=True, stance="has an answer"),
        Part(id="assessor", name="Assessor", role="assessor"),
    ]


async def play(stage: Stage, settings: InterviewSettings) -> Outcome:
    interview = Interview(stage, settings)
    stage.open(pass_mark=settings.pass_mark)
    stage.keep((interview.assessor, 1))
    ended_by = await interview.questions()
    return await interview.close(ended_by)


class Interview:
    def __init__(self, stage: Stage, settings: InterviewSettings) -> None:
        self.stage, self.settings = stage, settings
        self.examiner, self.candidate = stage.seat("examiner"), stage.seat("candidate")
        self.assessor = stage.seat("assessor")
        for seat in stage.seats:
            seat.brief(prompts(seat.id, topic=stage.topic))
        self.reply = ""
        self.asked = 0
        self.marks: list[int] = []

    async def questions(self) -> str:
        try:
            for number in range(1, self.settings.questions + 1):
                self.stage.show("NEXT", number=number, of=self.settings.questions)
                await self.exchange(number)
        except LimitReached as limit:
            return limit.limit
        return "questions"

    async def exchange(self, number: int) -> None:
        said = fence(self.reply, of="the candidate", at=f"{number}/notes/examiner") if self.reply else "(nothing yet)"
        await self.examiner.ask("notes", prompts("notes", said=said), round=number, shows="NOTES")
        question = await self.examiner.ask("question", prompts("question"), round=number, shows="QUESTION")
        self.asked = number
        asked = fence(question, of="the examiner", at=f"{number}/reply/candidate")
        self.reply = await self.candidate.ask("reply", prompts("reply", question=asked), round=number, shows="REPLY")
        heard = fence(self.reply, of="the candidate", at=f"{number}/mark/assessor")
        given = await self.assessor.ask(
            "mark",
            prompts("mark", question=fence(question, of="the examiner", at=f"{number}/mark/asked"), reply=heard),
            returns=Marking,
            tolerant=True,
            round=number,
            shows="MARKED",
            record=lambda _: {"of": "candidate"},
        )
        if not isinstance(given, Failed):
            self.marks.append(given.mark)
        if len(self.marks) == 2 and max(self.marks) < BEST / 2:
            self.stage.show("WARNED", seat="candidate", name=self.candidate.name)

    async def close(self, ended_by: str) -> Outcome:
        try:
            finding = await self.assessor.ask(
                "close", prompts("close"), returns=Finding, tolerant=True, round=self.asked, closing=True
            )
        except LimitReached as limit:
            return self.undecided(ended_by, str(limit))
        if isinstance(finding, Failed):
            return self.undecided(ended_by, finding.failure.message)
        if not self.marks:
            return self.undecided(ended_by, "No reply was marked.")
        mean = sum(self.marks) / len(self.marks)
        holds = mean >= self.settings.pass_mark
        if self.settings.confirm:
            approval = await self.stage.gate(
                "confirm", prompts("confirm", finding=clean(finding.recommendation)), returns=Approval, kind="approval"
            )
            if approval.choice == "reject":
                return self.undecided("rejected", "A person rejected the finding.")
        return Outcome(
            winner="consensus" if holds else "undecided",
            headline=f"The answer {'holds' if holds else 'does not hold'}: {mean:g} of {BEST} on average.",
            ended_by=ended_by,
            verdict_source="rules",
            decided_by="the assessor's marks, averaged by code",
            answer=FinalAnswer(value=finding.recommendation),
            statement=finding.recommendation,
            scores={"candidate": mean},
            scale=BEST,
            confidence=Confidence(level="Medium" if holds else "Low", source=f"{len(self.marks)} replies were marked"),
            record=RecordParts(
                recommendation=finding.recommendation,
                sections=(Section(title="Gaps Found", items=tuple(finding.gaps)),),
            ),
        )

    def undecided(self, ended_by: str, reason: str) -> Outcome:
        return Outcome(
            winner="undecided",
            headline="Undecided: there is no valid finding.",
            ended_by=ended_by,
            verdict_source="fallback",
            reason=reason,
        )
