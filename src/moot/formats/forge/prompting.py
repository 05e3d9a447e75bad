"""What seats are told: the task, code, tests and figures, quoted so that none of it can give orders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moot.core.script import Seat
from moot.core.types import Recalled
from moot.formats.forge.answers import Repair
from moot.formats.forge.board import Board, Draft
from moot.formats.forge.cast import ENGINEER
from moot.formats.forge.settings import ForgeSettings
from moot.formats.prompts import Prompts
from moot.reasoning.code.cases import Case, CaseRun
from moot.reasoning.code.evidence import Calls
from moot.reasoning.code.requests import RepositoryOpened, ScriptRun
from moot.reasoning.code.written import fenced, written_case
from moot.reasoning.fence import MAX_QUOTE_CHARS, clean, defuse, fence, one_line, quote

prompts = Prompts("forge")

VALUE_CHARS = 300  # of a result that is quoted
CALL_CHARS = 400
MOST_FAILURES = 6
MOST_FINDINGS, FINDING_CHARS = 8, 300
OWN_TESTS = 5

_DEFINED = re.compile(r"\b(?:def|function|class)\s+([A-Za-z_$][\w$]*)|\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=")
_NAMED = re.compile(r"\b[A-Za-z_$][\w$]+\(|\b(?:called|named)\s+[`'\"]?[A-Za-z_$]|\bclass\s+[`'\"]?[A-Z]")

# Where no one plans: what each engineer is told, in turn.
APPROACHES = (
    "Take the plainest way that is right.",
    "Think of the edges first: empty, one, many, equal, negative, very large.",
    "Prefer a way that works in one pass, without needless copies.",
    "Divide it into small functions, each with one task.",
)
TESTS_OF_YOUR_OWN = f"""Below it, write up to {OWN_TESTS} tests of your own, each on one line:

```cases
name(1, 2) == 3
name("") raises ValueError
```"""


CODE_FORM = "the whole corrected code in one block"
CHANGE_FORM = (
    "your whole change against the repository as it was at the beginning, as lines `FILE: path`, each with the whole "
    "file in a block below it"
)


def repository_part(reader: Seat, repo: RepositoryOpened, at: str) -> str:
    """What a seat reads about a repository: its files, and the text of those that the task is about."""
    listed = "\n".join(repo.files)
    more = f"\nand {repo.count - len(repo.files)} more" if repo.count > len(repo.files) else ""
    shown = "\n\n".join(f"{each.path}\n{fenced('', each.text)}" for each in repo.shown)
    return (
        f"Files of the repository:\n{block(reader, listed + more, of='the repository', at=f'{at}/files')}\n\n"
        f"Some of them:\n{block(reader, shown or '(none)', of='the repository', at=f'{at}/shown')}"
    )


def brief(seat: Seat, settings: ForgeSettings) -> None:
    """Tell a seat who it is. Small engineers are all told the same, the rest below the task: a model on this machine
    reads slowly, and what it has read for one of them it need not read for the next. The words of the hats that all
    forges have are left out: they ask for lists and proofs, and such a model then repeats the task."""
    if seat.spec.role == ENGINEER and seat.spec.small:
        seat.brief(prompts("engineer_small", language=settings.language), hats=False)
        return
    slots = {"engineer": {"name": seat.name, "language": settings.language}, "oracle": {}}
    seat.brief(prompts(seat.spec.role, **slots.get(seat.spec.role, {"language": settings.language})))


def said(reader: Seat, text: str, *, of: Seat | None, at: str, most: int = 800) -> str:
    """Words of a seat for another to read, or for itself; of None, the person in charge."""
    if of is None:
        return text
    if reader.spec.small:
        return quote(text, most)
    return fence(text, of="yours" if of.id == reader.id else of.name, at=at)


@dataclass(frozen=True, kw_only=True)
class Clarified:
    """A question about the task, and its answer."""

    question: str
    asker: Seat
    answer: str
    by: Seat | None  # None: the person in charge
    stated: bool  # the task says so; False: an assumption


def spec_for(reader: Seat, topic: str, answers: Sequence[Clarified], rejected: Sequence[str], at: str) -> str:
    """The task, with what was asked and answered about it, and what the person in charge said when rejecting, which is
    theirs and so not fenced."""
    lines = [
        f"Asked: {said(reader, each.question, of=each.asker, at=f'{at}/question {n}')}\n"
        f"Answered{'' if each.stated else ', as an assumption'}: "
        + said(reader, each.answer, of=each.by, at=f"{at}/answer {n}")
        for n, each in enumerate(answers, 1)
    ]
    return "\n\n".join([topic, *lines, *(f"The person in charge says: {each}" for each in rejected)])


def names_interface(text: str) -> bool:
    """Whether a task says what the code is called."""
    return _NAMED.search(text) is not None


def defined_in(code: str) -> frozenset[str]:
    """The names that some code defines."""
    return frozenset(name for found in _DEFINED.findall(code) for name in found if name)


def about(call: Calls, names: frozenset[str]) -> bool:
    """Whether a call uses one of these names; with none known, any may."""
    return not names or any(
        re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", part) for part in call for name in names
    )


def code_of(draft: Draft, reader: Seat, of: str, at: str) -> str:
    """Code for a seat to read, whole or not at all, in a fence of its own: comments in it are others' words."""
    if len(draft.code) + 20 > MAX_QUOTE_CHARS:
        return f"(The code has {len(draft.code):,} characters: too many to be shown.)"
    own = draft.author == reader.id
    if own and reader.spec.small:
        return fenced("", defuse(draft.code))
    return fence(fenced("", draft.code), of="yours" if own else of, at=f"{at}/{draft.key}")


def interface_line(reader: Seat, interface: str, by: Seat, at: str) -> str:
    if not interface:
        return ""
    return f"Everyone keeps to this interface: {said(reader, interface, of=by, at=f'{at}/interface')}"


def approach_line(reader: Seat, approach: str, by: Seat | None, at: str) -> str:
    return f"Your approach: {said(reader, approach, of=by, at=f'{at}/approach')}" if approach else ""


def shown_exactly(call: Calls) -> bool:
    """Whether a call fits on a line as it is. One that would have to be cut or changed is not shown to blind seats,
    who would say what another call leads to."""
    line = "; ".join(call)
    return len(line) <= CALL_CHARS and "\n" not in line and defuse(clean(line)) == line


def block(reader: Seat, text: str, *, of: str, at: str) -> str:
    """Lines that others wrote, each as it is: in a fence, or for a small model in a block of code."""
    return fenced("", defuse(clean(text))) if reader.spec.small else fence(text, of=of, at=at)


def numbered_calls(reader: Seat, calls: Iterable[Calls], at: str) -> str:
    listed = "\n".join(f"{n}: {'; '.join(call)}" for n, call in enumerate(calls, 1))
    return block(reader, listed, of="those who made the calls", at=f"{at}/calls")


def case_line(case: Case) -> str:
    """A case on one line; white space in it may matter, and stays."""
    line = clean(written_case(case)).replace("\n", " ")
    return line if len(line) <= CALL_CHARS else f"{line[: CALL_CHARS - 1]}…"


def failed_lines(failures: Sequence[tuple[Case, CaseRun]], whose: dict[Calls, str]) -> list[str]:
    """Tests that some code fails, each with what came of it and where the test is from."""
    return [
        f"- {case_line(case)} ({whose.get(case.call, 'a test')}), but it {done(run)}"
        for case, run in failures[:MOST_FAILURES]
    ]


def done(run: CaseRun) -> str:
    """What a run did, quoted: messages are written by the code."""
    match run.outcome:
        case "returned":
            return f"gives {quote(run.value, VALUE_CHARS)}"
        case "raised":
            return f"raises {quote(f'{run.error}: {run.message}', VALUE_CHARS)}"
        case "unreadable":
            return f"gives something that is no plain value ({quote(run.error, VALUE_CHARS)})"
        case "timed_out":
            return "does not end in time"
        case _:
            return "ends the process"


def script_lines(script: ScriptRun | None) -> list[str]:
    if script is None or script.passed:
        return []
    wrong = [test for test in script.tests if test.outcome not in ("passed", "skipped")]
    lines = [f"- test {quote(test.name, 100)} {test.outcome}: {quote(test.message, VALUE_CHARS)}" for test in wrong]
    return lines[:MOST_FAILURES] or [f"- the test file did not run: {quote(script.output, VALUE_CHARS)}"]


def failed_part(reader: Seat, lines: Sequence[str], at: str) -> str:
    if not lines:
        return "No test fails."
    return f"What fails:\n{block(reader, chr(10).join(lines), of='the tests', at=f'{at}/failed')}"


def after(part: str) -> str:
    """A part of a prompt below another; nothing where it is empty."""
    return f"\n\n{part}" if part else ""


def found_part(reader: Seat, board: Board, draft: Draft, at: str) -> str:
    """What checkers found in a version, for who reads it; empty where they found nothing, or did not look."""
    lines = [one_line(each, FINDING_CHARS) for each in board.found(draft)[:MOST_FINDINGS]]
    if not lines:
        return ""
    told = block(reader, "\n".join(lines), of="the checkers", at=f"{at}/{draft.label}/found")
    return f"What checkers found in it, which may not matter:\n{told}"


def earlier_part(reader: Seat, reflections: Sequence[tuple[int, Repair]], at: str) -> str:
    """All earlier reflections of a seat on its own attempts, by their numbers."""
    lines = [f"Attempt {n}: {each.root_cause} Change: {each.change_next}" for n, each in reflections]
    if not lines:
        return ""
    told = said(reader, "\n".join(lines), of=reader, at=f"{at}/earlier", most=2000)
    return f"What you wrote about earlier attempts: {told}"


def lessons_part(reader: Seat, lessons: Sequence[Recalled], at: str) -> str:
    """Lessons of earlier debates, each with where it comes from and how it has fared."""
    if not lessons:
        return ""
    listed = "\n".join(f"- {each.text}" for each in lessons)
    told = block(reader, listed, of="earlier debates", at=f"{at}/lessons")
    return f"Lessons of earlier debates, which may not fit this task:\n{told}"


def figures(board: Board, draft: Draft) -> str:
    """What is known of a version, in a sentence."""
    measured = board.measured(draft)
    if not measured.ran:
        return "It was not run."
    if not measured.counted:
        return "It was run, but no test counts yet."
    return f"It passes {measured.passed} of {measured.counted} tests that count."
