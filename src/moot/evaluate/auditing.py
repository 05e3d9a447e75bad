"""Every completed debate of a database: is what was announced what is recorded, and does the record lead to it?"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from pydantic import ValidationError

from moot.client.client import Client
from moot.core.errors import MootError
from moot.core.stage import VERDICT
from moot.core.types import Debate, Event, Outcome, record
from moot.evaluate.deleted import deleted_of
from moot.evaluate.grading import stored_grades
from moot.evaluate.stored import plan_of

AT_ONCE = 100  # debates of a page
MOST_EVALUATIONS = 10_000


@record
class Audited:
    debate: Debate
    problems: tuple[str, ...] = ()  # each in a sentence
    doubts: tuple[str, ...] = ()  # what code found about the verdict, and says beside it


async def audited(client: Client) -> AsyncGenerator[Audited]:
    """Check every completed debate, the newest first."""
    after: str | None = None
    while True:
        page = await client.page(status="completed", archived=None, evaluation=None, limit=AT_ONCE, after=after)
        for debate in page.debates:
            yield await _audited(client, debate)
        if page.next is None:
            return
        after = page.next


async def deleted_debates(client: Client) -> dict[str, int]:
    """How many debates of each evaluation were deleted, and can't be checked. Those without are left out."""
    if not client.app.has_database:
        return {}
    found: dict[str, int] = {}
    for each in await client.store.evaluations(limit=MOST_EVALUATIONS):
        plan = plan_of(each)
        if plan is not None and (n := len(await deleted_of(client, plan, {}, await stored_grades(client, plan.id)))):
            found[plan.id] = n
    return found


async def _audited(client: Client, debate: Debate) -> Audited:
    problems = [] if debate.outcome is not None else ["It is completed and has no outcome."]
    try:
        problems += announced(await client.events(debate), debate.outcome)
        proof = await client.replay(debate)
        if not proof.same:
            problems.append("Its turns lead to another transcript or outcome than the one that is stored.")
    except MootError as error:
        problems.append(f"It can't be checked. {error}")
    checks = () if debate.outcome is None else debate.outcome.failed_checks
    return Audited(debate=debate, problems=tuple(problems), doubts=tuple(check.words for check in checks))


def announced(events: list[Event], recorded: Outcome | None) -> list[str]:
    """What is wrong with the verdicts that were announced; empty if the last one is the recorded outcome."""
    verdicts = [event.data for event in events if event.type == VERDICT]
    if not verdicts:
        return ["No verdict was announced."]
    try:
        last = Outcome.model_validate(verdicts[-1])
    except ValidationError:
        return ["The verdict that was announced can't be read."]
    if recorded is not None and (last.winner, last.headline) != (recorded.winner, recorded.headline):
        return [f"Announced: {last.headline} Recorded: {recorded.headline}"]
    return []
