"""The stored debates of an evaluation: read in pages, and kept without what no report reads."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import lru_cache

from moot.client.client import Client
from moot.core.types import Debate, GivenAnswer, Outcome, SeatSpec, VoteCast
from moot.evaluate.model_grading import gradings_of
from moot.evaluate.plans import EvaluationPlan

PAGE = 20  # debates that are read at once; with more, garbage collection takes longer than reading
READ = ("winner", "ended_by", "verdict_source", "answer", "first_answers", "votes", "support", "stated", "flip_rate")
UNREAD = {
    "headline": "",
    **{
        name: field.get_default(call_default_factory=True)
        for name, field in Outcome.model_fields.items()
        if name not in (*READ, "headline")
    },
}  # of an outcome


async def whole_cells(client: Client, evaluation_id: str, page_size: int = PAGE) -> AsyncGenerator[Debate]:
    """The debates of an evaluation as they are stored, the newest first."""
    after: str | None = None
    while True:
        page = await client.page(evaluation=evaluation_id, archived=None, limit=page_size, after=after)
        for each in page.debates:
            yield each
        if page.next is None:
            return
        after = page.next


async def stored_cells(client: Client, evaluation_id: str, page_size: int = PAGE) -> dict[str, Debate]:
    """The debates of an evaluation, by id, each `slim`. `page_size`: how many are read at once."""
    return {each.id: slim(each) async for each in whole_cells(client, evaluation_id, page_size)}


async def stored_debates(client: Client, plan: EvaluationPlan, page_size: int = PAGE) -> dict[str, Debate]:
    """The cells of an evaluation, and the debates in which a judge has graded its answers, each `slim`."""
    graded = await stored_cells(client, gradings_of(plan.id), page_size) if plan.judge is not None else {}
    return await stored_cells(client, plan.id, page_size) | graded


def slim(debate: Debate) -> Debate:
    """A debate as reports read it: its state, times and usage, who sat on which model, and of its outcome what was
    answered and how it was decided. Without its question, its settings and all that only people read, which is
    most of it, it can't be replayed."""
    outcome = debate.outcome
    return replace(
        debate,
        topic="",
        config={},
        metadata={},
        cast=tuple(_seat(seat.id, seat.model) for seat in debate.cast),
        outcome=None if outcome is None else _slim_outcome(outcome),
    )


def _slim_outcome(outcome: Outcome) -> Outcome:
    read = {
        "first_answers": tuple(_given(each.seat, each.value, each.confidence) for each in outcome.first_answers),
        "votes": tuple(_vote(each.seat, each.choice, each.key) for each in outcome.votes),
    }
    return outcome.model_copy(update=UNREAD | read)


# Of most evaluations, these are few that differ: debates share them.


@lru_cache(maxsize=4096)
def _seat(id: str, model: str) -> SeatSpec:
    return SeatSpec(id=id, name="", role="", model=model, max_tokens=0)


@lru_cache(maxsize=4096)
def _given(seat: str, value: str | None, confidence: float | None) -> GivenAnswer:
    return GivenAnswer(seat=seat, value=value, confidence=confidence)


@lru_cache(maxsize=4096)
def _vote(seat: str, choice: str, key: str) -> VoteCast:
    return VoteCast(seat=seat, choice=choice, key=key)
