"""Follow-up questions: a debate that knows the one before it."""

from __future__ import annotations

from dataclasses import replace

from moot.app import App
from moot.client import documents
from moot.core.errors import InputError
from moot.core.types import Debate
from moot.planning import Plan
from moot.reasoning.followup import background, following
from moot.records.record import Record
from moot.records.transcript import outcome_text
from moot.request import Request, format_for, read_topic


def after(app: App, request: Request, earlier: Debate) -> Request:
    """The request with its question as it is asked after `earlier`. What suits the question is chosen by the question
    alone. Raises InputError while the earlier debate has no answer."""
    if earlier.outcome is None:
        raise InputError(
            f"Debate {earlier.short} is {earlier.status} and has no answer yet: it can be followed when it has one."
        )
    topic = read_topic(request.topic)
    picked = format_for(replace(request, topic=topic), app.default_format).format
    # What a private debate has said becomes part of those that follow it.
    private = request.private or earlier.private
    return replace(request, topic=following(topic, earlier.topic), format=picked, private=private)


async def informed(app: App, plan: Plan, earlier: Debate) -> Plan:
    """The plan with what its seats read about the earlier debate."""
    assert earlier.outcome is not None
    answer = outcome_text(earlier.outcome, demonstration=app.is_demonstration(earlier))
    summary = _summary(await documents.record(app, earlier.id)) if earlier.status == "completed" else ""
    return replace(plan, follows=earlier.id, background=background(earlier.topic, answer, summary))


def _summary(record: Record) -> str:
    parts = [f"Confidence: {record.confidence}."]
    if record.recommendation and record.recommendation != record.decided.headline:
        parts.append(f"Recommendation: {record.recommendation}")
    for name, texts in (("Agreed", record.agreements), ("Open", record.tensions), ("Dissent", record.dissent)):
        parts += [f"{name}: {text}" for text in texts or ()]
    return "\n".join(parts)
