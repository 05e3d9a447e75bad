"""The prompts of proposer, skeptic and synthesizer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from moot.core.script import Failed
from moot.core.types import Prompt, Recalled
from moot.formats.crucible.issues import RaisedIssue, with_severities
from moot.formats.crucible.shapes import MAX_ISSUES, Critique, Round
from moot.formats.prompts import Prompts
from moot.formats.shared.small import opening_words
from moot.reasoning.fence import fence, one_line, quote

prompts = Prompts("crucible")

# By round. The last is for the last round; the one before it is repeated until then.
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

MOST_QUOTED = 1200  # characters of an answer that a small model reads
MOST_STEPS = 700  # characters of a template's steps

_STEPS = re.compile(r"^#{1,6}\s+steps\s*$(.*?)(?=^#{1,6}\s|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL)

NO_CRITIQUE = "Look for the weakest point of the answer yourself, and mend it."


def pressure(round: int, of: int) -> str:
    return PRESSURE[-1] if round == of else PRESSURE[min(round, len(PRESSURE) - 1) - 1]


def proposal(templates: Sequence[Recalled], *, of: int) -> Prompt:
    return prompts("propose", of=str(of), templates=template_sections(templates))


def template_sections(templates: Sequence[Recalled]) -> str:
    """Each template under its own heading, fenced: templates are files that anyone may have written."""
    if not templates:
        return ""
    made = [
        f"### Template: {one_line(each.title)}\n\n"
        + fence(each.text, of="the library", at=f"1/propose/proposer/template/{n}")
        for n, each in enumerate(templates)
    ]
    return prompts("templates", sections="\n\n".join(made)).text


def defence(last: Round, still_open: Sequence[RaisedIssue], *, of: int) -> Prompt:
    """The proposer's prompt from the second round on, with the last critique and the open issues."""
    round = last.number + 1
    waiting = f"Open are: {with_severities(still_open)}." if still_open else "No issue is open."
    return prompts(
        "defend",
        round=str(round),
        of=str(of),
        verdict=_verdict(last.critique),
        critique=_quoted(last.critique, f"{round}/defend/proposer") or NO_CRITIQUE,
        open=waiting,
    )


def critique(latest: Round, still_open: Sequence[RaisedIssue], *, of: int) -> Prompt:
    at = f"{latest.number}/critique/skeptic"
    earlier, marks = "", ""
    if still_open:
        issues = "\n".join(f"{each.id} ({each.severity}): {each.issue.prose()}" for each in still_open)
        earlier = "Issues that you raised and that are still open:\n\n" + fence(issues, of="yours", at=f"{at}/open")
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
        most=str(MAX_ISSUES),
    )


def synthesis(rounds: Sequence[Round], still_open: Sequence[RaisedIssue], ending: str) -> Prompt:
    at = f"{rounds[-1].number}/synthesize/synthesizer"
    parts: list[str] = []
    for each in rounds:
        parts.append(f"Round {each.number}. The Proposer:")
        parts.append(fence(each.answer, of="the Proposer", at=f"{at}/{each.number}/answer"))
        parts.append(_verdict(each.critique))
        parts.append(_quoted(each.critique, f"{at}/{each.number}/critique"))
    waiting = (
        f"Issues still open: {with_severities(still_open)}."
        if still_open
        else "No issue that was raised is still open."
    )
    return prompts("synthesize", ending=ending, transcript="\n\n".join(filter(None, parts)), open=waiting)


def typed_synthesis(rounds: Sequence[Round], still_open: Sequence[RaisedIssue], ending: str) -> Prompt:
    """As `synthesis`, for an answer as JSON."""
    prompt = synthesis(rounds, still_open, ending)
    fields = 'Answer with a JSON object of exactly these fields:\n- "answer": the final answer, as said above'
    return replace(prompt, text=f"{prompt.text}\n\n{fields}")


def _verdict(critique: Critique | Failed | None) -> str:
    """The typed verdict of a critique, to stand outside of any fence."""
    if isinstance(critique, Critique):
        ready = "ready" if critique.ready else "not ready yet"
        return f"The Skeptic gives the answer {critique.score} of 10, calls it {ready}, and says:"
    if critique is None:
        return "The Skeptic was not heard on this answer."
    return f"The Skeptic gave no valid critique of this answer{'; it wrote:' if critique.raw.strip() else '.'}"


def _quoted(critique: Critique | Failed | None, at: str) -> str:
    if isinstance(critique, Critique):
        return fence(critique.prose(), of="the Skeptic", at=at)
    return fence(critique.raw, of="the Skeptic", at=at) if critique is not None and critique.raw.strip() else ""


# For small models: one task each, the words that it is about, and no marks, which they would repeat.


def short_proposal(topic: str, templates: Sequence[Recalled]) -> Prompt:
    """With the steps of the best template alone: a small model takes a worked example for the case at hand."""
    steps = next(filter(None, (steps_of(each.text) for each in templates)), "")
    advice = f"A way to reason that may fit: {quote(steps, MOST_STEPS)}" if steps else ""
    return prompts("propose_small", topic=topic, advice=advice)


def steps_of(template: str) -> str:
    """The section of a template with its steps; empty if it has none."""
    found = _STEPS.search(template)
    return found[1].strip() if found else ""


def short_defence(topic: str, last: Round, still_open: Sequence[RaisedIssue]) -> Prompt:
    concluded = quote(opening_words(last.answer), MOST_QUOTED)
    return prompts("defend_small", topic=topic, answer=concluded, issues=_listed(still_open) or NO_CRITIQUE)


def short_critique(topic: str, latest: Round, still_open: Sequence[RaisedIssue]) -> Prompt:
    earlier, marks = "", ""
    if still_open:
        earlier = f"You have objected before:\n{_listed(still_open)}"
        marks = (
            f'- "earlier": for each of {", ".join(each.id for each in still_open)}, an object of "id", "why" (a few '
            'words: is it repaired?) and "status": "resolved" or "open"'
        )
    answer = quote(latest.answer, MOST_QUOTED)
    return prompts("critique_small", topic=topic, answer=answer, open=earlier, marks=marks)


def short_synthesis(topic: str, last: Round, still_open: Sequence[RaisedIssue]) -> Prompt:
    doubts = f"What is still doubted:\n{_listed(still_open)}" if still_open else ""
    return prompts("synthesize_small", topic=topic, answer=quote(last.answer, MOST_QUOTED), open=doubts)


def _listed(issues: Sequence[RaisedIssue]) -> str:
    """The last issues, a line for each."""
    return "\n".join(f"{each.id}: {quote(each.issue.problem, 300)}" for each in issues[-3:])
