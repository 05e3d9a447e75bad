"""Before anything is written: the implementer asks what the task leaves open, a person or the judge answers. What the
task does not say is recorded as an assumption."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.gates import Clarification
from moot.formats.forge.answers import Question, Questions, Readings
from moot.formats.forge.prompting import CALL_CHARS, Clarified, prompts, said
from moot.formats.forge.state import Forge
from moot.reasoning.fence import quote
from moot.reasoning.planning import AMBIGUOUS

ROUNDS = 3
SURE = 0.9
SIMPLE_WORDS = 120


async def play(forge: Forge) -> str:
    if _simple(forge):
        return "the task is short and comes with tests"
    for round in range(1, ROUNDS + 1):
        given = await forge.ask_one(
            forge.engineers[0],
            "clarify",
            prompts("clarify", task=forge.task(forge.engineers[0])),
            returns=Questions,
            round=round,
            shows="QUESTIONS",
        )
        if given is None:
            break
        forge.ambiguity = given.ambiguity
        if given.confidence > SURE or not given.questions:
            break
        asked = sorted(given.questions, key=lambda each: ("high", "medium", "low").index(each.priority))
        if not (_to_person(forge, given, round) and await _ask_person(forge, asked, round)):
            await _ask_judge(forge, asked, round)
    return ""


def _simple(forge: Forge) -> bool:
    """A short task that comes with tests says what is meant."""
    return forge.board.is_tested and len(forge.stage.topic.split()) <= SIMPLE_WORDS


def _to_person(forge: Forge, given: Questions, round: int) -> bool:
    match forge.settings.clarify:
        case "person":
            return True
        case "judge":
            return False
        case "auto":
            return round == 1 and not forge.board.is_tested and given.ambiguity > AMBIGUOUS


async def _ask_person(forge: Forge, asked: Sequence[Question], round: int) -> bool:
    """Whether the person had something to say."""
    questions = "\n".join(f"- {quote(each.question, CALL_CHARS)}" for each in asked)
    meant = await forge.stage.gate(
        forge.step("meant"),
        prompts("ask_person", questions=questions),
        returns=Clarification,
        kind="clarification",
        timeout_seconds=forge.settings.gate_timeout_seconds,
        otherwise=None if forge.settings.on_timeout == "pause" else {"text": ""},
        round=round,
    )
    if meant.text:
        question = "\n".join(each.question for each in asked)  # one answer to all that was asked
        about = Clarified(question=question, asker=forge.engineers[0], answer=meant.text, by=None, stated=True)
        forge.answers.append(about)
    return bool(meant.text)


async def _ask_judge(forge: Forge, asked: Sequence[Question], round: int) -> None:
    asker, judge = forge.engineers[0], forge.judge
    questions = "\n".join(
        f"{n}: {said(judge, each.question, of=asker, at=f'{round}/readings/{n}')}" for n, each in enumerate(asked, 1)
    )
    given = await forge.ask_one(
        forge.judge,
        "readings",
        prompts("readings", task=forge.task(judge), questions=questions),
        returns=Readings,
        round=round,
        shows="READINGS",
    )
    for each in () if given is None else given.answers:
        if each.number <= len(asked):
            question = asked[each.number - 1].question
            told = Clarified(question=question, asker=asker, answer=each.answer, by=judge, stated=each.stated)
            forge.answers.append(told)
