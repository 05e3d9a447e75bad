"""What the three are told. Pure: the same debate always gives the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moot.formats.crucible.issues import Raised, listed, one_line
from moot.formats.crucible.shapes import MOST_ISSUES, Critique
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence
from moot.script import Failed
from moot.types import Prompt, Recalled

prompts = Prompts("crucible")

# One for each round; the last is for the last round, whichever it is, and the one before it is used until then.
PRESSURE = (
    "This is your first reading. Test the foundations: is the question understood, are the assumptions stated and "
    "true, does each step follow from the one before?",
    "Press harder than before. A repaired sentence is not a repaired argument: check whether each repair removes the "
    "cause, attack the assumption on which most rests, and look for the case in which the answer fails.",
    "Press as hard as you can. Suppose that the answer is wrong and look for the proof: a counterexample, a limiting "
    "case, a number that does not add up, a consequence that nobody would accept. Take no assurance for a reason.",
    "This is the last round, and nothing can be repaired after it. Attack as if someone will act on this answer "
    "tomorrow and pay for every mistake in it: what you let pass now stays in.",
)

NOTHING_SAID = "Look for the weakest point of the answer yourself, and mend it."


@dataclass(kw_only=True)
class Round:
    number: int
    answer: str
    critique: Critique | Failed | None = None  # None: there was none any more


def pressure(round: int, of: int) -> str:
    return PRESSURE[-1] if round == of else PRESSURE[min(round, len(PRESSURE) - 1) - 1]


def proposer_brief(topic: str) -> Prompt:
    return prompts("proposer", topic=topic)


def skeptic_brief(topic: str) -> Prompt:
    return prompts("skeptic", topic=topic)


def synthesizer_brief(topic: str) -> Prompt:
    return prompts("synthesizer", topic=topic)


def proposal(templates: Sequence[Recalled], *, of: int) -> Prompt:
    return prompts("propose", of=str(of), templates=sections(templates))


def sections(templates: Sequence[Recalled]) -> str:
    """Each template under a heading of its own. They are files of someone, so they are quoted like anyone's words."""
    if not templates:
        return ""
    made = [
        f"### Template: {one_line(each.title)}\n\n"
        + fence(each.text, of="the library", at=f"1/propose/proposer/template/{n}")
        for n, each in enumerate(templates)
    ]
    return prompts("templates", sections="\n\n".join(made)).text


def defence(last: Round, still_open: Sequence[Raised], *, of: int) -> Prompt:
    """From the second round on: the critique, and which issues are open."""
    round = last.number + 1
    waiting = f"Open are: {listed(still_open)}." if still_open else "No issue is open."
    return prompts(
        "defend",
        round=str(round),
        of=str(of),
        verdict=_verdict(last.critique),
        critique=_words(last.critique, f"{round}/defend/proposer") or NOTHING_SAID,
        open=waiting,
    )


def critique(latest: Round, still_open: Sequence[Raised], *, of: int) -> Prompt:
    at = f"{latest.number}/critique/skeptic"
    earlier, marks = "", ""
    if still_open:
        told = "\n".join(f"{each.id} ({each.severity}): {each.issue.prose()}" for each in still_open)
        earlier = "Issues that you raised and that are still open:\n\n" + fence(told, of="yours", at=f"{at}/open")
        marks = (
            f'- "earlier": a list with one object for each of {", ".join(each.id for each in still_open)}: "id", "why" '
            '(in a few words, what in the answer settles it or what is still missing) and "status": "resolved" or '
            '"open". What you do not mark as resolved stays open'
        )
    return prompts(
        "critique",
        round=str(latest.number),
        of=str(of),
        pressure=pressure(latest.number, of),
        did="answers" if latest.number == 1 else "says in defence",
        answer=fence(latest.answer, of="the Proposer", at=f"{at}/answer"),
        open=earlier,
        marks=marks,
        most=str(MOST_ISSUES),
    )


def synthesis(rounds: Sequence[Round], still_open: Sequence[Raised], ending: str) -> Prompt:
    """With the whole transcript."""
    at = f"{rounds[-1].number}/synthesize/synthesizer"
    parts: list[str] = []
    for each in rounds:
        parts.append(f"Round {each.number}. The Proposer:")
        parts.append(fence(each.answer, of="the Proposer", at=f"{at}/{each.number}/answer"))
        parts.append(_verdict(each.critique))
        parts.append(_words(each.critique, f"{at}/{each.number}/critique"))
    waiting = f"Issues still open: {listed(still_open)}." if still_open else "No issue that was raised is still open."
    return prompts("synthesize", ending=ending, transcript="\n\n".join(filter(None, parts)), open=waiting)


def _verdict(critique: Critique | Failed | None) -> str:
    """Numbers that code has read, outside of any fence."""
    if isinstance(critique, Critique):
        ready = "ready" if critique.ready else "not ready yet"
        return f"The Skeptic gives the answer {critique.score} of 10, calls it {ready}, and says:"
    if critique is None:
        return "The Skeptic was not heard on this answer."
    return f"The Skeptic gave no valid critique of this answer{'; it wrote:' if critique.raw.strip() else '.'}"


def _words(critique: Critique | Failed | None, at: str) -> str:
    if isinstance(critique, Critique):
        return fence(critique.prose(), of="the Skeptic", at=at)
    return fence(critique.raw, of="the Skeptic", at=at) if critique is not None and critique.raw.strip() else ""
