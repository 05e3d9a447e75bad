"""What a person says when rejecting a phase. It belongs to the task from then on: blind seats state anew what calls
lead to, and authors revise their versions, before the phase is played once more."""

from __future__ import annotations

from moot.core.script import Seat
from moot.formats.forge.proposal import predict, to_predict
from moot.formats.forge.review import best_authors
from moot.formats.forge.self_evolvement import remember, repair, write_tests, wrong
from moot.formats.forge.settings import Phase
from moot.formats.forge.state import Forge

MOST_RESTATED = 24


async def heed(forge: Forge, phase: Phase, words: str) -> None:
    """Have everyone know the words before a phase is played once more. Of the phases that write code themselves, what
    they made is dropped instead."""
    forge.rejected.append(words)
    known = forge.board.forget_statements()
    number = forge.board.rejections
    match phase:
        case "dehallucination":
            forge.answers = [each for each in forge.answers if each.by is None]
        case "self_evolvement":
            return
        case "critique":
            forge.issues.clear()
        case "review":
            for issue in forge.issues:
                issue.answer = ""
        case _:
            pass
    if not forge.board.drafts:
        return
    revising = [] if phase == "review" else _authors(forge, phase)
    testing = [write_tests(forge, "tests-rejected", number)] if phase == "proposal" else []
    await forge.at_once(*(_revise(forge, forge.stage.seat(author), number) for author in revising), *testing)
    await forge.run_all("run-rejected", number)
    calls = list(dict.fromkeys([*(call for call in known if call in forge.board.pool), *to_predict(forge)]))
    await predict(forge, calls[:MOST_RESTATED], after="rejected", round=number)
    for author in revising:
        _adopt(forge, author)


def _authors(forge: Forge, phase: Phase) -> list[str]:
    """Those who revise: all of them while versions are proposed, the best later on."""
    return list(forge.board.held) if phase == "proposal" else best_authors(forge)


async def _revise(forge: Forge, seat: Seat, number: int) -> None:
    draft = forge.board.current(seat.id)
    if draft is None:
        return
    revised = await repair(forge, seat, draft, number, phase="revise", shows="REPAIR", wrong=wrong(forge, draft))
    if revised is not None:
        remember(forge, revised)


def _adopt(forge: Forge, author: str) -> None:
    """A version that knows the words replaces the one before it, unless it loses a test that counts."""
    held = forge.board.current(author)
    newer = [each for each in forge.board.drafts if each.author == author and each.heard == forge.board.rejections]
    if held is not None and newer and not forge.board.loses(held, newer[-1]):
        forge.board.hold(newer[-1])
