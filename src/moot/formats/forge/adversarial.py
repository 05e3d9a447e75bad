"""Red looks for calls that break the leading version, blind seats say what should happen, and blue patches it. An
attack counts only if it is agreed on and the version fails it twice; a patch only if it passes it and loses nothing."""

from __future__ import annotations

from moot.formats.forge.answers import Attack
from moot.formats.forge.board import MOST_WITH_ATTACKS, Draft
from moot.formats.forge.prompting import (
    about,
    block,
    case_line,
    code_of,
    defined_in,
    failed_lines,
    prompts,
)
from moot.formats.forge.proposal import predict
from moot.formats.forge.self_evolvement import remember, repair
from moot.formats.forge.state import Forge
from moot.reasoning.code.cases import Case
from moot.reasoning.code.evidence import attack_holds

MOST_ATTACKS = 4


async def play(forge: Forge) -> str:
    for round in range(1, forge.settings.red_rounds + 1):
        leader = forge.board.leader()
        if leader is None or not forge.board.measured(leader).ran:
            return "no version was run"
        held = await _attack(forge, leader, round)
        if not held:
            break
        await _defend(forge, leader, held, round)
    return ""


async def _attack(forge: Forge, leader: Draft, round: int) -> list[Case]:
    """The attacks of a round that hold. One is refuted by a run that does not fail, or by blind seats that answered.
    One that none of them has judged says nothing of who made it."""
    board = forge.board
    passed = [each.case for each in board.counting if each.case and board.runs.passes(leader.name, each.case)]
    prompt = prompts(
        "attack",
        task=forge.task(forge.critic),
        code=code_of(leader, forge.critic, forge.author(leader), forge.key(round, "attack", forge.critic)),
        passed=_passed(forge, passed, round),
        count=str(MOST_ATTACKS),
    )
    given = await forge.ask_one(forge.critic, "attack", prompt, returns=Attack, round=round, shows="ATTACK")
    if given is None:
        return []
    forge.attacked = True
    names = defined_in(leader.code)
    usable = [case for case in given.cases if not case.problem and about(case.call, names)]
    fresh = [case for case in usable if not board.settled(case.call).counts]
    forge.repeated_attacks += len(usable) - len(fresh)
    new = fresh[:MOST_ATTACKS]
    forge.attacks += len(new)
    if not new:
        return []
    await forge.run(leader, [case.call for case in new for _ in range(2)], "run-attack", round)
    failing = [case for case in new if board.runs.fails_twice(leader.name, case)]
    board.pooled(failing, forge.critic.id, most=MOST_WITH_ATTACKS)
    await predict(forge, [case.call for case in failing if case.call in board.pool], after="attack", round=round)
    given_tests = list(board.given.values())
    held = [
        case for case in failing if attack_holds(case, board.settled(case.call), given_tests, board.runs, leader.name)
    ]
    forge.held_attacks += len(held)
    board.upheld[forge.critic.id] += len(held)
    refuted = [case for case in new if case not in held and (case not in failing or board.said.get(case.call))]
    board.refuted[forge.critic.id] += len(refuted)
    return held


def _passed(forge: Forge, cases: list[Case], round: int) -> str:
    if not cases:
        return "(none)"
    listed = "\n".join(f"- {case_line(case)}" for case in cases)
    return block(forge.critic, listed, of="the tests", at=f"{forge.key(round, 'attack', forge.critic)}/passed")


async def _defend(forge: Forge, leader: Draft, attacks: list[Case], round: int) -> None:
    await forge.run_all("run-attacked", round)
    failures = forge.board.failures(leader, attacks)
    wrong = failed_lines(failures, {case.call: "an attack, confirmed" for case in attacks})
    author = forge.stage.seat(leader.author)
    patched = await repair(forge, author, leader, round, phase="defend", shows="PATCHED", wrong=wrong)
    if patched is None:
        return
    remember(forge, patched)
    if patched.number == leader.number:
        return
    await forge.run_all("run-patched", round)
    passes = all(forge.board.runs.passes(patched.name, case) is True for case in attacks)
    if passes and not forge.board.loses(leader, patched):
        forge.board.hold(patched)
