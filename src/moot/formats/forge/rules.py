"""Questions about the task, code that its authors run and repair, inputs that every version is run on, issues,
revisions, improvements, attacks, and a choice: eight phases, each of which can be left out.

A test is a call and an expected value. Only the call enters the sandbox, and an expected value counts only when it is
given, or confirmed by seats that have seen no code. Evidence selects, votes break ties, and no version is ever lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from moot.core.errors import LimitReached
from moot.core.gates import Approval
from moot.core.script import Stage
from moot.core.types import Json, Outcome
from moot.formats.forge import (
    adversarial,
    convergence,
    critique,
    dehallucination,
    optimization,
    proposal,
    review,
    self_evolvement,
)
from moot.formats.forge.prompting import prompts
from moot.formats.forge.report import WORDS, Ended, result_in_words, undelivered, verdict
from moot.formats.forge.settings import PHASES, ForgeSettings, Phase
from moot.formats.forge.state import Forge

Play = Callable[[Forge], Awaitable[None]]

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
AGAIN = 10  # added to the rounds of a phase that is played once more


async def play(stage: Stage, settings: ForgeSettings) -> Outcome:
    forge = Forge(stage, settings)
    stage.open(
        language=settings.language,
        given=len(forge.board.given) + bool(forge.board.script),
        engineers=[seat.name for seat in forge.engineers],
        topology=settings.topology,
        reads={
            seat.id: sorted(forge.reads("critique", seat.id) - {seat.id}) for seat in (*forge.engineers, forge.critic)
        },
        phases=[phase for phase in PHASES if settings.plays(phase)],
    )
    if settings.convergence:
        stage.keep((forge.judge, 1), *((seat, 1) for seat in forge.voters))
    ended = await debate(forge)
    if ended.rejected:
        return undelivered(forge, ended)
    return await conclude(forge, ended)


async def debate(forge: Forge) -> Ended:
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
        return Ended(by=limit.limit)
    return Ended(by="played")


async def _phase(forge: Forge, phase: Phase, played: Play) -> Ended | None:
    """Play a phase, and once more if a person rejects it with words. Return why it ends here, if it does."""
    forge.stage.show("PHASE_BEGINS", phase=phase, name=WORDS[phase])
    await played(forge)
    await _after(forge, phase)
    said = await _approval(forge, phase)
    if said is None:
        return None
    if not said.text:
        return Ended(by="rejected", phase=phase)
    forge.rejected.append(said.text)
    forge.offset = AGAIN
    try:
        await played(forge)
        await _after(forge, phase)
        said = await _approval(forge, phase)
    finally:
        forge.offset = 0
    return None if said is None else Ended(by="rejected", phase=phase, words=said.text)


async def _after(forge: Forge, phase: Phase) -> None:
    """Check and store new versions, and show how they stand."""
    if phase in forge.settings.hooks and phase in CHECKED:
        await forge.check(forge.board.drafts)
    if phase in ("proposal", "review", "optimization", "adversarial"):
        forge.publish()
        forge.show_matrix(phase)


async def _approval(forge: Forge, phase: Phase, leader: str = "") -> Approval | None:
    """Ask a person to approve a phase, if the settings say so. None: go on."""
    if phase not in forge.settings.gates and not (phase == "convergence" and _skipped(forge)):
        return None
    timeout = forge.settings.on_timeout
    answer = await forge.stage.gate(
        f"approve-{phase}",
        prompts("approve", phase=WORDS[phase].lower(), leader=leader or result_in_words(forge)),
        returns=Approval,
        kind="approval",
        timeout_seconds=forge.settings.gate_timeout_seconds,
        otherwise=None if timeout == "pause" else {"choice": timeout},
        artifacts=_artifacts(forge),
        round=forge.offset,
    )
    if answer.choice != "approve":
        return answer
    forge.approved.add(phase)
    return None


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
    forge.stage.show("PHASE_BEGINS", phase="convergence", name=WORDS["convergence"])
    converged = await convergence.settle(forge)
    forge.publish()
    forge.show_matrix("convergence")
    outcome = verdict(forge, converged, ended)
    converged = await convergence.teach(forge, converged, outcome.headline)
    said = await _approval(forge, "convergence", outcome.headline) if outcome.answer else None
    if said is not None and said.text:
        forge.rejected.append(said.text)
        forge.offset = AGAIN
        converged = await convergence.settle(forge)
        converged = await convergence.teach(forge, converged, verdict(forge, converged, ended).headline)
        said = await _approval(forge, "convergence", verdict(forge, converged, ended).headline)
    if said is not None:
        return undelivered(forge, Ended(by="rejected", phase="convergence", words=said.text))
    return verdict(forge, converged, ended)
