"""A refactorer and a performance analyzer improve the leading version. A change is kept only if no test is lost and a
measure improves."""

from __future__ import annotations

from moot.core.script import Failed, Seat
from moot.formats.forge.answers import Improvement
from moot.formats.forge.board import Draft
from moot.formats.forge.prompting import code_of, prompts
from moot.formats.forge.state import Forge
from moot.reasoning.code.requests import Check, CheckRun

AIMS = {
    "refactor": "Make it simpler and easier to read: fewer branches, better names, nothing said twice.",
    "speed": "Make it take less time or memory, by a better algorithm where there is one.",
}
FASTER = 0.9  # of the time: below it, a change counts as faster


async def play(forge: Forge) -> str:
    leader = forge.board.leader()
    if leader is None or not forge.board.measured(leader).passed:
        return "no version passes a test that counts"
    seats = [seat for seat in [*forge.engineers, forge.critic] if seat.id not in forge.lost]
    others = [seat for seat in seats if seat.id != leader.author] or seats
    pairs = [(others[n % len(others)], aim) for n, aim in enumerate(AIMS)]
    if len({seat.id for seat, _ in pairs}) < len(pairs):
        pairs = pairs[:1]
    found = await forge.at_once(*(_improve(forge, seat, aim, leader) for seat, aim in pairs))
    made = [forge.board.renewed(draft) for draft in found if draft is not None and draft.code != leader.code]
    if not made:
        return ""
    await forge.run_all("run-improved")
    await forge.check([leader, *made])
    for draft in made:
        better = not forge.board.loses(leader, draft) and await _improves(forge, leader, draft)
        forge.kept[draft.number] = better
        if better:
            forge.board.hold(draft)
    return ""


async def _improve(forge: Forge, seat: Seat, aim: str, leader: Draft) -> Draft | None:
    prompt = prompts(
        "improve",
        task=forge.task(seat),
        code=code_of(leader, seat, forge.author(leader), forge.key(0, aim, seat)),
        aim=AIMS[aim],
    )
    given = await forge.ask_one(seat, aim, prompt, returns=Improvement, shows="IMPROVED")
    if given is None:
        return None
    return forge.board.add(seat.id, given.code, phase="optimization", key=forge.key(0, aim, seat), parent=leader.number)


async def _improves(forge: Forge, before: Draft, after: Draft) -> bool:
    """Whether it is less complex, easier to maintain, or faster, as measured."""
    one, two = forge.board.checks.get(before.name), forge.board.checks.get(after.name)
    if one is not None and two is not None:
        if one.complexity is not None and two.complexity is not None and two.complexity < one.complexity:
            return True
        if (two.maintainability or 0.0) > (one.maintainability or 1.0):
            return True
    return await _faster(forge, before, after)


async def _faster(forge: Forge, before: Draft, after: Draft) -> bool:
    calls = tuple(each.call for each in forge.board.counting)
    if not calls:
        return False
    request = Check(
        version=after.name,
        language=forge.settings.language,
        tools=("timing",),
        previous=before.name,
        calls=calls,
    )
    timed = await forge.stage.use(
        "checks",
        forge.step("time-improved"),
        request.model_dump(mode="json"),
        returns=CheckRun,
        texts=[after.code, before.code],
        subject=after.label,
        closing=True,
        tolerant=True,
    )
    ratio = None if isinstance(timed, Failed) else timed.metrics.time_ratio
    return ratio is not None and ratio < FASTER
