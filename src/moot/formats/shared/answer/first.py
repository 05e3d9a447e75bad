"""Answers before a debate of two sides: where they agree there is nothing to debate, otherwise the two most frequent
become the sides."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from moot.core.answers import AnswerSpec, same_as
from moot.core.errors import LimitReached
from moot.core.script import Seat, Stage, ask_each
from moot.core.types import UNDECIDED, Answer, GivenAnswer, NonEmpty, Outcome, record
from moot.formats.format import EventType
from moot.formats.prompts import Prompts
from moot.formats.shared.answer import asked_for, final_answer, final_in, same_form, with_final
from moot.formats.shared.small import Passage

prompts = Prompts("answer", "moot.formats.shared.answer")

KINDS = ("choice", "number")
PHASES = {"first": "Answer before the debate", "first-again": "Answer before the debate, asked again"}
ENDINGS = {
    "agreed": "the answers given before the debate agree",
    "no_answers": "no one gave a valid answer before the debate",
}
EVENTS: Mapping[str, EventType] = {
    "FIRST": EventType(verb="answers", failed="gives no valid answer"),
    "SIDES": EventType(heading="The sides: {first} against {second}"),
}


class FirstAnswer(Answer):
    reasoning: NonEmpty

    def prose(self) -> str:
        return f"{self.reasoning}\n\nAnswer: {final_in(self)}"


class BriefFirstAnswer(FirstAnswer):
    reasoning: Passage


@record
class FirstAnswers:
    """What was answered before the debate."""

    spec: AnswerSpec
    given: tuple[GivenAnswer, ...]
    names: Mapping[str, str]

    @property
    def ranked(self) -> list[str]:
        """The different answers, the most frequent first, and of equals the one given first."""
        values = [each.value for each in self.given if each.value is not None]
        counted = Counter(same_as(value, self.spec) for value in values)
        return sorted(counted, key=lambda form: -counted[form])

    def sides(self, topic: str) -> tuple[str, str] | None:
        """The two most frequent answers; None if there are not two. Which of them comes first follows from the
        question, so that over many questions each place is as frequent."""
        if len(self.ranked) < 2:
            return None
        one, two = self.ranked[:2]
        swapped = hashlib.sha256(topic.encode()).digest()[0] % 2
        return (two, one) if swapped else (one, two)

    def outcome(self) -> Outcome:
        """The outcome without a debate: the answer on which all agree, or none."""
        value = self.ranked[0] if self.ranked else None
        alike = sum(each.value is not None for each in self.given)
        return Outcome(
            winner="consensus" if value is not None else UNDECIDED,
            headline="Undecided: there is no valid answer." if value is None else f"{value}.",
            how=""
            if value is None
            else f"{alike} of {len(self.given)} answered alone and agree, so nothing was debated.",
            ended_by="agreed" if value is not None else "no_answers",
            verdict_source="rules" if value is not None else "fallback",
            decided_by="" if value is None else "independent answers that agree",
            answer=final_answer(value, self.spec),
            reason="" if value is not None else "No one gave a valid answer.",
            names=dict(self.names),
            support=None if value is None else alike / len(self.given),
            first_answers=self.given,
        )

    def settled(self, outcome: Outcome) -> Outcome:
        """The outcome of the debate between the two sides, with the answer in the kind that was asked for."""
        value = None if outcome.answer is None else outcome.answer.value
        typed = final_answer(value, self.spec)
        return outcome.model_copy(update={"answer": typed, "first_answers": self.given})


async def answered_first(stage: Stage, seats: Sequence[Seat], spec: AnswerSpec) -> FirstAnswers:
    """Ask seats that have not been briefed yet, each by itself; they won't remember it. Raises LimitReached."""
    small = any(seat.spec.small for seat in seats)
    shape = with_final(BriefFirstAnswer if small else FirstAnswer, spec)
    question = prompts("first", topic=stage.topic, final=asked_for(spec))
    answers = await ask_each(
        [seat.fresh() for seat in seats], "first", lambda _: question, returns=shape, shows="FIRST"
    )
    given: list[GivenAnswer] = []
    for seat in seats:
        said = answers.given.get(seat.id)
        final = None if said is None else final_in(said)
        given.append(GivenAnswer(seat=seat.id, value=None if final is None else same_form(final, spec)))
    return FirstAnswers(spec=spec, given=tuple(given), names={seat.id: seat.name for seat in seats})


def unanswered(limit: LimitReached) -> Outcome:
    """The outcome where a limit ended it before everyone had answered."""
    return Outcome(
        winner=UNDECIDED,
        headline="Undecided: there is no valid answer.",
        ended_by=limit.limit,
        verdict_source="fallback",
        reason=str(limit),
    )
