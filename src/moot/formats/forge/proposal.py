"""Versions are published and every input is pooled and run on all of them. Blind seats then say what the calls lead to:
first those on which versions differ, then the tester's. Where tests are given and these seats are small models, none
is asked: variants of the given calls show which versions do the same, and while those that pass differ, engineers may
start afresh: what most of them come to leads."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.script import Seat
from moot.core.types import Prompt
from moot.formats.forge.answers import Prediction, Predictions
from moot.formats.forge.prompting import about, defined_in, numbered_calls, prompts, shown_exactly
from moot.formats.forge.self_evolvement import start_afresh
from moot.formats.forge.state import Forge
from moot.reasoning.code.cases import Case
from moot.reasoning.code.evidence import FEWEST_STATEMENTS, Calls, Statement, contested
from moot.reasoning.code.selection import by_evidence, classes
from moot.reasoning.code.variants import variants

MOST_VARIANTS = 12
MOST_PREDICTED = 12
MOST_PREDICTED_SMALL = 6


async def play(forge: Forge) -> str:
    board = forge.board
    names = frozenset[str]().union(*(defined_in(draft.code) for draft in board.drafts))
    for case in board.tester:
        if about(case.call, names):
            board.pooled([case], forge.tester.id)
    for seat in forge.engineers:
        board.pooled([case for case in board.claims.get(seat.id, ()) if about(case.call, names)], seat.id)
    if forge.by_given_alone and forge.settings.language == "python":
        board.pooled([Case(call=call) for call in variants([*board.given], MOST_VARIANTS)], "")
    await forge.run_all("pool")
    while forge.by_given_alone and len(classes(by_evidence(board.all_measured()).leaders)) > 1:
        without = [seat for seat in forge.engineers if not _passes(forge, seat)]
        if not await start_afresh(forge, without or forge.engineers):
            break
        await forge.run_all("pool", forge.starts)
    await predict(forge, to_predict(forge))
    return ""


def _passes(forge: Forge, seat: Seat) -> bool:
    return any(draft.author == seat.id and forge.board.passes_given(draft) for draft in forge.board.drafts)


def to_predict(forge: Forge) -> list[Calls]:
    """The calls that are worth a prediction: those on which versions differ, then the tester's own."""
    board = forge.board
    if forge.by_given_alone:
        return []
    known = ("agreed", "quarantined")
    open_ = [each.call for each in board.all_settled if each.call in board.pool and each.standing not in known]
    differing = contested(board.runs, [draft.name for draft in board.drafts], open_)
    stated = [call for call in open_ if call in board.said and call not in differing]
    small = any(seat.spec.small for seat in forge.oracles)
    most = MOST_PREDICTED_SMALL if small else MOST_PREDICTED
    return [call for call in (*differing, *stated) if shown_exactly(call)][:most]


async def predict(forge: Forge, calls: Sequence[Calls], *, after: str = "", round: int = 0) -> None:
    """Ask the oracles, then the tester where they differ or are too few. What all have stated is not asked again.
    `after`: what led to the calls, if it is not the proposal."""
    oracles = [seat.id for seat in forge.oracles if seat.id not in forge.lost]
    calls = [
        call
        for call in calls
        if shown_exactly(call) and any(seat not in forge.board.said.get(call, {}) for seat in oracles)
    ]
    if not calls:
        return
    await _ask(forge, forge.oracles, f"predict{after and f'-{after}'}", calls, round)
    tester = forge.tester.id
    left = [
        call
        for call in calls
        if not forge.board.settled(call).counts
        and tester not in forge.board.said.get(call, {})
        and _may_agree(forge, call)
    ]
    if left:
        await _ask(forge, [forge.tester], f"confirm{after and f'-{after}'}", left, round)


def _may_agree(forge: Forge, call: Calls) -> bool:
    """Whether one more statement could make what a call leads to agreed."""
    stated = [each for each in forge.board.said.get(call, {}).values() if not each.unspecified]
    return len(stated) + 1 >= FEWEST_STATEMENTS


async def _ask(forge: Forge, seats: Sequence[Seat], phase: str, calls: Sequence[Calls], round: int) -> None:
    def prompt(seat: Seat) -> Prompt:
        listed = numbered_calls(seat, calls, forge.key(round, phase, seat))
        name = "predict_small" if seat.spec.small else "predict"
        return prompts(name, task=forge.task(seat), interface=forge.interface_for(seat), calls=listed)

    asked = [seat for seat in seats if seat.id not in forge.lost]
    for call in calls:
        for seat in asked:
            forge.board.ask(seat.id, call)
    given = await forge.ask(asked, phase, prompt, returns=Predictions, round=round, shows="PREDICTION")
    for seat, answer in given.items():
        for each in answer.predictions:
            if each.number <= len(calls):
                forge.board.state(seat, calls[each.number - 1], _statement(each))


def _statement(each: Prediction) -> Statement:
    return Statement() if each.unspecified else Statement(expected=each.expected, raises=each.raises)
