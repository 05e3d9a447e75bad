"""Questions about the task, code that its authors run and repair, inputs that every version is run on, issues,
revisions, improvements, attacks, and a choice: eight phases, each of which can be left out.

A test is a call and an expected value. Only the call enters the sandbox, and an expected value counts only when it is
given, or confirmed by seats that have seen no code. Evidence selects, votes break ties, and no version is ever lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from moot.core.errors import LimitReached
from moot.core.gates import Approval
from moot.core.script import Stage
from moot.core.types import Json, Outcome
from moot.formats.forge import (
    adversarial,
    convergence,
    critique,
    dehallucination,
    episodes,
    lessons_use,
    optimization,
    proposal,
    rejection,
    repository,
    review,
    self_evolvement,
)
from moot.formats.forge.bounds import redone_calls
from moot.formats.forge.prompting import prompts
from moot.formats.forge.report import Ended, Rejected, nothing_to_measure, result_in_words, undelivered, verdict
from moot.formats.forge.settings import ALWAYS, PHASES, WORDS, ForgeSettings, Phase
from moot.formats.forge.state import Forge

Play = Callable[[Forge], Awaitable[str]]  # gives why there was nothing to do; empty: it was played

PLAYS: Mapping[Phase, Play] = {
    "dehallucination": dehallucination.play,
    "self_evolvement": self_evolvement.play,
    "proposal": proposal.play,
    "critique": critique.play,
    "review": review.play,
    "optimization": optimization.play,
    "adversarial": adversarial.play,
}
CHECKED = ("proposal", "optimization", "adversarial")


async def play(stage: Stage, settings: ForgeSettings) -> Outcome:
    forge = Forge(stage, settings)
    stage.open(
        language=settings.language,
        given=len(forge.board.given) + bool(settings.tests),
        repository=bool(settings.repo),
        engineers=[seat.name for seat in forge.engineers],
        topology=settings.topology,
        reads={
            seat.id: sorted(forge.reads("critique", seat.id) - {seat.id}) for seat in (*forge.engineers, forge.critic)
        },
        reading=_reading(forge),
        phases=[phase for phase in PHASES if settings.plays(phase)],
        off=[phase for phase in PHASES if not settings.plays(phase)],
    )
    if settings.convergence:
        stage.keep((forge.judge, 1), *((seat, 1) for seat in forge.voters))
    await _recall(forge)
    outcome = await _outcome(forge)
    if outcome.answer is None:
        await repository.close(forge)
    lessons_use.store(forge)
    return outcome


async def _outcome(forge: Forge) -> Outcome:
    if forge.settings.repo and not await repository.open_repository(forge):
        return nothing_to_measure(forge)
    ended = await debate(forge)
    if isinstance(ended, Rejected):
        return undelivered(forge, ended)
    return await conclude(forge, ended)


def _reading(forge: Forge) -> str:
    """Who reads whom, in a line."""
    blind = "the tester and the oracles read no code"
    if forge.settings.topology == "mesh":
        return f"All who see code read each other's (mesh); {blind}."
    seats = [*forge.engineers, forge.critic]
    pairs = [
        f"{seat.name} reads {', '.join(forge.names[each] for each in read)}"
        for seat in seats
        if (read := sorted(forge.reads("critique", seat.id) - {seat.id}))
    ]
    return f"{'; '.join(pairs)} ({forge.settings.topology}); {blind}."


async def _recall(forge: Forge) -> None:
    """Look for lessons of earlier debates that fit the task. A debate with a demonstration model is told only of those
    of such debates."""
    if not forge.settings.lessons:
        return
    found = await forge.stage.recall("recall", forge.stage.topic, corpus="lessons", k=forge.settings.lessons)
    forge.lessons = found.found
    if found.found:
        forge.stage.show("LESSONS", lines=[each.text for each in found.found], ids=[each.id for each in found.found])


async def debate(forge: Forge) -> Ended | Rejected:
    """Play the phases in order; return what ended them."""
    try:
        for phase, played in PLAYS.items():
            if not forge.settings.plays(phase) and phase != "self_evolvement":
                continue
            rejected = await _phase(forge, phase, played)
            if rejected is not None:
                return rejected
            if phase == "self_evolvement" and not forge.board.drafts:
                return Ended(by="no_code")
    except LimitReached as limit:
        forge.cut_short(limit)
        return Ended(by=limit.limit)
    return Ended(by="played")


def _begin(forge: Forge, phase: Phase) -> None:
    forge.begun.add(phase)
    played: list[Phase] = [each for each in PHASES if forge.settings.plays(each) or each in ALWAYS]
    forge.stage.show(
        "PHASE_BEGINS",
        phase=phase,
        name=f"{WORDS[phase]}, once more" if forge.again else WORDS[phase],
        number=played.index(phase) + 1,
        of=len(played),
        rail=[WORDS[each] for each in played],
        off=[WORDS[each] for each in PHASES if each not in played],
    )


async def _play(forge: Forge, phase: Phase, played: Play) -> None:
    _begin(forge, phase)
    why = await played(forge)
    if why:
        forge.leave_out(phase, why)
        return
    forge.finished.add(phase)


async def _phase(forge: Forge, phase: Phase, played: Play) -> Rejected | None:
    """Play a phase, and once more if a person rejects it with words. Return the rejection if it ends here."""
    await _play(forge, phase, played)
    await _after(forge, phase)
    said = await _approval(forge, phase)
    if said is None:
        return None
    if not said.text:
        return Rejected(phase=phase, decision=said)
    try:
        with _more_calls(forge, phase):
            await rejection.heed(forge, phase, said.text)
            forge.again = True
            await _play(forge, phase, played)
        await _after(forge, phase)
        said = await _approval(forge, phase)
    finally:
        forge.again = False
    return None if said is None else Rejected(phase=phase, decision=said)


@contextmanager
def _more_calls(forge: Forge, phase: Phase) -> Generator[None]:
    """Let a phase that a person has played once more make its calls beyond `max_calls`. Those that it does not make are
    not there for later phases."""
    stage, before, made = forge.stage, forge.stage.limits, forge.stage.spent.calls
    if before.max_calls is None:
        yield
        return
    more = redone_calls(forge.settings, phase)
    stage.limits = replace(before, max_calls=before.max_calls + more)
    try:
        yield
    finally:
        stage.limits = replace(before, max_calls=before.max_calls + min(more, stage.spent.calls - made))


async def _after(forge: Forge, phase: Phase) -> None:
    """Check and store new versions, and show how they stand."""
    if phase in forge.settings.hooks and phase in CHECKED:
        await forge.check(forge.board.drafts)
    if phase in ("proposal", "review", "optimization", "adversarial"):
        forge.publish()
        forge.show_matrix(phase)
        episodes.store(forge)


async def _approval(forge: Forge, phase: Phase, leader: str = "") -> Approval | None:
    """Ask a person to approve a phase, if the settings say so. None: go on. What they are shown is stored before: they
    may cancel instead of answering."""
    if phase not in forge.settings.gates and not (phase == "convergence" and _skipped(forge)):
        return None
    forge.store_versions()
    timeout = forge.settings.on_timeout
    answer = await forge.stage.gate(
        forge.step(f"approve-{phase}"),
        prompts(
            "approve", phase=WORDS[phase].lower(), leader=leader or result_in_words(forge), again=_again(forge, phase)
        ),
        returns=Approval,
        kind="approval",
        timeout_seconds=forge.settings.gate_timeout_seconds,
        otherwise=None if timeout == "pause" else {"choice": timeout},
        artifacts=_artifacts(forge),
    )
    if answer.choice != "approve":
        return answer
    forge.approved.add(phase)
    if answer.timed_out:
        forge.unanswered.append(phase)
    return None


def _again(forge: Forge, phase: Phase) -> str:
    """What a rejection leads to."""
    if forge.again:
        return "Reject to end here, with nothing delivered: the phase was played once more already."
    calls = redone_calls(forge.settings, phase)
    return (
        f"Reject with words to have the phase played once more with them, for up to {calls} calls more, or "
        "without words to end here, with nothing delivered."
    )


def _skipped(forge: Forge) -> bool:
    """Whether a limit ended the phases before a person was asked, or had approved: nothing is delivered unasked."""
    return not forge.approved.issuperset(forge.settings.gates)


def _artifacts(forge: Forge) -> Json:
    """What helps to decide: the leading code, its difference from what it changes, the case matrix, the scores."""
    leader = forge.board.leader()
    return {
        "version": None if leader is None else leader.label,
        "code": "" if leader is None else leader.code,
        "diff": "" if leader is None else forge.diff(leader),
        "matrix": forge.board.matrix(),
        "scores": {draft.label: forge.board.quality(draft) for draft in forge.board.drafts},
    }


async def conclude(forge: Forge, ended: Ended) -> Outcome:
    """Choose, publish, explain; deliver if a person who is asked approves."""
    converged = await _converge(forge, ended)
    outcome = verdict(forge, converged, ended)
    said = await _approval(forge, "convergence", outcome.headline) if outcome.answer else None
    if said is not None and said.text:
        with _more_calls(forge, "convergence"):
            try:
                await rejection.heed(forge, "convergence", said.text)
            except LimitReached as limit:
                ended = Ended(by=limit.limit)
            forge.again = True
            converged = await _converge(forge, ended)
        outcome = verdict(forge, converged, ended)
        said = await _approval(forge, "convergence", outcome.headline) if outcome.answer else None
    if said is not None:
        return undelivered(forge, Rejected(phase="convergence", decision=said))
    return await repository.deliver(forge, verdict(forge, converged, ended))


async def _converge(forge: Forge, ended: Ended) -> convergence.Converged:
    _begin(forge, "convergence")
    if not forge.settings.convergence:
        forge.note("By the evidence alone: ballots, explanation and lessons are off.")
    elif not forge.board.drafts:
        forge.leave_out("convergence", "there is no version")
    converged = await convergence.settle(forge)
    forge.publish()
    forge.show_matrix("convergence")
    episodes.store(forge)
    outcome = verdict(forge, converged, ended)
    return await convergence.teach(forge, converged, outcome.headline, chosen=outcome.answer is not None)
