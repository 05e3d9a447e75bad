"""Engineers write, run and repair their own code, before anyone else sees it; beside them, the tester writes tests from
the task alone. A repair that passes fewer tests is recorded and not adopted. Where tests are given and no version
passes them, engineers may start afresh. With `by_need` they write one after another until enough versions pass them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.core.errors import LimitReached
from moot.core.script import Failed, Running, Seat
from moot.core.types import Prompt
from moot.formats.forge.answers import MOST_CASES, Change, ChangedRepair, Repair, Solution, Tests
from moot.formats.forge.board import Draft
from moot.formats.forge.cast import HATS
from moot.formats.forge.planning import plan
from moot.formats.forge.prompting import (
    APPROACHES,
    CHANGE_FORM,
    CODE_FORM,
    TESTS_OF_YOUR_OWN,
    about,
    approach_line,
    code_of,
    defined_in,
    earlier_part,
    failed_lines,
    failed_part,
    lessons_part,
    prompts,
    script_lines,
)
from moot.formats.forge.state import Attempt, Forge
from moot.reasoning.code.cases import Case
from moot.reasoning.code.evidence import Calls, Statement, by_call

PHASE = "self_evolvement"
TRIED = "Code that was tried for it is wrong."


async def play(forge: Forge) -> str:
    forge.starts = 0
    await plan(forge)
    testing = forge.stage.start(write_tests(forge))
    try:
        for wave, earlier in forge.waves(PHASE, forge.engineers):
            for group in _groups(forge, wave):
                if forge.suffices:
                    break
                await forge.at_once(*(_evolve(forge, seat, earlier.get(seat.id, ()), testing) for seat in group))
    except LimitReached:
        await testing  # a limit may refuse every engineer while the tester is being asked
        raise
    await testing
    absent = [seat for seat in forge.engineers if seat.id in forge.lost]
    if absent and not forge.board.drafts:
        await forge.at_once(*(_ask_again(forge, seat) for seat in absent))
    while forge.board.decides and forge.board.drafts and not forge.board.passing:
        if not await start_afresh(forge, forge.engineers):
            break
    return ""


def _groups(forge: Forge, seats: Sequence[Seat]) -> list[Sequence[Seat]]:
    """Those who write at the same time: all, or one after another where code is written by need."""
    return [[seat] for seat in seats] if forge.by_need else [seats]


async def start_afresh(forge: Forge, seats: Sequence[Seat]) -> bool:
    """Have engineers write from nothing again; False if the settings allow no further start."""
    if forge.starts == forge.settings.fresh_starts:
        return False
    forge.starts += 1
    drafts = len(forge.board.drafts)
    for group in _groups(forge, [seat for seat in seats if seat.id not in forge.lost]):
        await forge.at_once(*(_start_afresh(forge, seat, forge.starts) for seat in group))
        if forge.by_need and any(map(forge.board.passes_given, forge.board.drafts[drafts:])):
            break
    return True


async def write_tests(forge: Forge, step: str = "tests", round: int = 0) -> None:
    """The tester's tests: each is a call, and a statement of what it leads to."""
    if not forge.settings.proposal or forge.repo is not None or forge.by_given_alone:
        return
    prompt = prompts(
        "tests",
        task=forge.task(forge.tester),
        interface=forge.interface_for(forge.tester),
        count=str(MOST_CASES),
    )
    given = await forge.ask_one(forge.tester, step, prompt, returns=Tests, round=round, shows="TESTS")
    for case in () if given is None else given.cases:
        if not case.problem:
            forge.board.ask(forge.tester.id, case.call)
            forge.board.state(forge.tester.id, case.call, Statement(expected=case.expected, raises=case.raises))
            forge.board.tester.append(case)


async def _evolve(forge: Forge, seat: Seat, earlier: tuple[str, ...], testing: Running[None]) -> None:
    draft = await _write(forge, seat, earlier)
    await testing
    if draft is None or not forge.settings.self_evolvement:
        return
    await _run(forge, draft, 0)
    for attempt in range(1, forge.settings.attempts + 1):
        held = forge.board.current(seat.id)
        if held is None or not wrong(forge, held):
            break
        repaired = await repair(forge, seat, held, attempt, phase="repair", shows="REPAIR", wrong=wrong(forge, held))
        if repaired is None:
            break
        if repaired.number == held.number:  # the same code: an attempt that changed nothing
            remember(forge, repaired)
            break
        await _run(forge, repaired, attempt)
        remember(forge, repaired)
        if _passed(forge, repaired) >= _passed(forge, held):
            forge.board.hold(repaired)


async def _write(forge: Forge, seat: Seat, earlier: tuple[str, ...]) -> Draft | None:
    given = await forge.ask_for_code(seat, "write", _to_write(forge, seat, earlier), returns=_solution(forge))
    draft = None if given is None else await _taken(forge, seat, given, earlier)
    if draft is not None:
        forge.board.hold(draft)
    return draft


async def _ask_again(forge: Forge, seat: Seat) -> None:
    """Ask once more when no engineer could be had: a failure now fails the debate, so that it can be retried."""
    given = await seat.fresh().ask(
        forge.step("write-anew"), _to_write(forge, seat, ()), returns=_solution(forge), tolerant=True, shows="CODE"
    )
    forge.lost.pop(seat.id, None)
    if not isinstance(given, Failed):
        draft = await _taken(forge, seat, given, (), "write-anew")
        if draft is not None:
            forge.board.hold(draft)
            await _run(forge, draft, 0)


async def _start_afresh(forge: Forge, seat: Seat, start: int) -> None:
    """Have an engineer write again, by another approach: told what its code got wrong, if that is known, and not shown
    that code."""
    held = forge.board.current(seat.id)
    prompt = _to_start(forge, seat, held, start)
    given = await forge.ask_for_code(seat, "write-afresh", prompt, returns=_solution(forge), start=start)
    draft = None if given is None else await _taken(forge, seat, given, (), "write-afresh", start)
    if draft is None:
        return
    if held is not None and draft.number == held.number:
        remember(forge, draft)
        return
    await forge.run(draft, [*known(forge, seat.id)], "run-afresh", start, unnumbered=True)
    _show_run(forge, draft)
    remember(forge, draft)
    if held is None or _passed(forge, draft) >= _passed(forge, held):
        forge.board.hold(draft)


def _solution(forge: Forge) -> type[Solution]:
    return Solution if forge.repo is None else Change


async def _taken(
    forge: Forge, seat: Seat, given: Solution, earlier: tuple[str, ...], phase: str = "write", round: int = 0
) -> Draft | None:
    code = await forge.written(seat, given.code, phase, round)
    if code is None:
        return None
    read = next((draft for author in earlier if (draft := forge.board.current(author)) is not None), None)
    draft = forge.board.add(
        seat.id,
        code,
        phase=PHASE,
        key=forge.key(round, phase, seat),
        round=round,
        parent=None if read is None else read.number,
    )
    names = defined_in(given.code)
    forge.board.claims.setdefault(seat.id, []).extend(
        case for case in given.cases if not case.problem and about(case.call, names)
    )
    return draft


def _to_start(forge: Forge, seat: Seat, held: Draft | None, start: int) -> Prompt:
    turn = [each.id for each in forge.engineers].index(seat.id) + start
    approach = approach_line(seat, APPROACHES[turn % len(APPROACHES)], None, forge.occasion(seat))
    failed = [] if held is None else wrong(forge, held)
    if forge.repo is not None or not failed:
        return _to_write(forge, seat, (), approach)
    told = f"{TRIED} {failed_part(seat, failed, forge.key(start, 'write-afresh', seat))}"
    if seat.spec.small:
        return _to_write(forge, seat, (), approach, told)
    return prompts("afresh", task=forge.task(seat), interface=forge.interface_for(seat), approach=approach, failed=told)


def _to_write(forge: Forge, seat: Seat, earlier: tuple[str, ...], approach: str = "", failed: str = "") -> Prompt:
    read = [
        f"{forge.called(draft)}, which you may improve on:\n"
        + code_of(draft, seat, forge.author(draft), f"write/{seat.id}")
        for author in earlier
        if (draft := forge.board.current(author)) is not None
    ]
    if not approach:
        own = forge.approaches.get(seat.id, "")
        approach = approach_line(seat, own, _planner(forge, seat), forge.occasion(seat))
    lessons = lessons_part(seat, forge.lessons, forge.occasion(seat))
    if forge.repo is not None:
        return prompts("change", task=forge.task(seat), approach=approach, read="\n\n".join(read), lessons=lessons)
    parts = {"task": forge.task(seat), "interface": forge.interface_for(seat), "approach": approach}
    parts |= {"read": "\n\n".join(read), "lessons": lessons}
    if seat.spec.small:  # asked to think first, it often writes no code at all
        own = [hat.prompt for hat in seat.spec.hats if hat.name not in HATS]
        parts["approach"] = "\n\n".join(filter(None, [approach, *own]))
        return prompts("write_small", **parts, failed=failed)
    return prompts("write", **parts, tests=TESTS_OF_YOUR_OWN if forge.settings.self_evolvement else "")


def _planner(forge: Forge, seat: Seat) -> Seat | None:
    """Whose words an engineer's approach is in: the leader's, or its own where everyone plans."""
    return forge.approached_by if forge.approached_by is not None or not forge.interface else seat


def known(forge: Forge, seat: str) -> Mapping[Calls, Case]:
    """The tests by which an engineer measures its own code: given ones, the tester's, its own. Those of the tester that
    are about names which neither this engineer nor one before it has defined are left out."""
    board = forge.board
    read = [draft for draft in board.drafts if draft.number <= board.numbered or draft.author == seat]
    names = frozenset[str]().union(*(defined_in(draft.code) for draft in read))
    blind = [case for case in board.tester if about(case.call, names)]
    return by_call([*board.given.values(), *blind, *board.claims.get(seat, ())])


def _whose(forge: Forge, seat: str) -> dict[Calls, str]:
    own = dict.fromkeys((case.call for case in forge.board.claims.get(seat, ())), "your own test")
    blind = dict.fromkeys((case.call for case in forge.board.tester), "the tester's, not confirmed")
    agreed = dict.fromkeys((each.call for each in forge.board.counting), "confirmed")
    return own | blind | agreed | dict.fromkeys(forge.board.given, "given by the task")


async def _run(forge: Forge, draft: Draft, attempt: int) -> None:
    await forge.run(draft, [*known(forge, draft.author)], "run", attempt, unnumbered=True)
    _show_run(forge, draft)
    if attempt == 0:
        remember(forge, draft)


def _show_run(forge: Forge, draft: Draft) -> None:
    """Show which of the tests by which its author measures it a version passes. It has no number yet."""
    passed = [forge.board.runs.passes(draft.name, case) for case in known(forge, draft.author).values()]
    script = forge.board.scripts.get(draft.name)
    if script is not None:
        tests = [test.outcome == "passed" for test in script.tests if test.outcome != "skipped"]
        passed += tests if script.ended_by == "ended" and tests else [*tests, False]
    forge.stage.show("RAN", seat=draft.author, name=forge.names[draft.author], round=draft.round, passed=passed)


def wrong(forge: Forge, draft: Draft) -> list[str]:
    """The tests that a version fails, of those by which its author measures it, in words. A small model that is shown a
    wrong test spoils right code for it, so it is shown those that count alone, where there are any."""
    counting = [each.case for each in forge.board.counting if each.case is not None]
    small = forge.stage.seat(draft.author).spec.small
    tests = counting if small and counting else known(forge, draft.author).values()
    failures = forge.board.failures(draft, tests)
    return [
        *failed_lines(failures, _whose(forge, draft.author)),
        *script_lines(forge.board.scripts.get(draft.name)),
    ]


def _passed(forge: Forge, draft: Draft) -> tuple[int, int]:
    """Tests that count, then all that are known."""
    cases = known(forge, draft.author).values()
    return forge.board.measured(draft).passed, sum(forge.board.runs.passes(draft.name, case) is True for case in cases)


async def repair(
    forge: Forge, seat: Seat, draft: Draft, round: int, *, phase: str, shows: str, wrong: list[str]
) -> Draft | None:
    """Ask a version's author for a reflection and a repair, with all of its earlier reflections."""
    own = [each for each in forge.attempts if each.draft.author == seat.id]
    reflections = [(each.attempt, each.reflection) for each in own if each.reflection is not None]
    prompt = prompts(
        "repair",
        task=forge.task(seat),
        interface=forge.interface_for(seat),
        code=code_of(draft, seat, forge.author(draft), forge.key(round, phase, seat)),
        failed=failed_part(seat, wrong, forge.key(round, phase, seat)),
        earlier=earlier_part(seat, reflections, forge.key(round, phase, seat)),
        form=CODE_FORM if forge.repo is None else CHANGE_FORM,
    )
    returns = Repair if forge.repo is None else ChangedRepair
    given = await forge.ask_one(seat, phase, prompt, returns=returns, round=round, shows=shows)
    code = None if given is None else await forge.written(seat, given.code, phase, round)
    if given is None or code is None:
        return None
    forge.reflections[seat.id] = given
    return forge.board.add(
        seat.id,
        code,
        phase=phase,
        key=forge.key(round, phase, seat),
        round=round,
        parent=draft.number,
    )


def remember(forge: Forge, draft: Draft) -> None:
    """Keep an author's next attempt, with the reflection that led to it, whether it has changed the code or not. It is
    stored as an episode when tests count."""
    attempt = 1 + sum(each.draft.author == draft.author for each in forge.attempts)
    forge.attempts.append(Attempt(draft=draft, attempt=attempt, reflection=forge.reflections.pop(draft.author, None)))
