"""The draft of an issue that follows up on a decision."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import quote as percent

from moot.core.types import Json, record
from moot.formats.wording import checks_words
from moot.records.quoting import code, item, literal, quote
from moot.records.record import Record

# Trackers notify people and link issues that are named like this; a model's words must not.
_CALLS = re.compile(r"@(?=\w)|#(?=\d)")
_ZERO_WIDTH_SPACE = "\u200b"


@record
class IssueDraft:
    title: str
    body: str

    def as_json(self) -> Json:
        return {"title": self.title, "body": self.body}

    def render(self) -> str:
        return f"# {literal(self.title)}\n\n{self.body}"


def draft(decision: Record, written_to: PurePath | None = None, shown_as: str = "") -> IssueDraft:
    """`written_to`: the record's file, in the draft's folder, to link; `shown_as`: its path within the project."""
    return IssueDraft(
        title=f"Follow up: {decision.title}", body="\n\n".join(_body(decision, written_to, shown_as)) + "\n"
    )


def _body(decision: Record, written_to: PurePath | None, shown_as: str) -> Iterator[str]:
    if decision.demonstration:
        yield "**A demonstration model took part in this decision: it means nothing beyond showing how moot works.**"
    yield "## Context"
    yield _quiet(quote(decision.question))
    facts: list[str] = []
    if written_to is not None:
        facts.append(f"Decision record: [{literal(shown_as or written_to.name)}]({percent(written_to.name)})")
    facts.append(f"Debate: {code(decision.debate)}, {literal(decision.format)}, {decision.date.isoformat()}")
    facts.append(f"Confidence: {decision.confidence}. " + " ".join(map(literal, decision.confidence_reasons)))
    yield "\n".join(f"- {fact}" for fact in facts)
    yield "## Decision"
    yield _quiet(f"**{literal(decision.decided.headline) or 'No verdict.'}**")
    if decision.decided.how:
        yield _quiet(literal(decision.decided.how))
    if decision.decided.checks:
        yield _quiet(literal(checks_words(decision.decided.checks)))
    if decision.recommendation or decision.statement:
        yield _quiet(quote(decision.recommendation or decision.statement))
    yield "## Done when"
    yield "\n".join(f"- [ ] {point}" for point in _points(decision))
    if decision.dissent:
        yield "## Keep in mind"
        for text in decision.dissent:
            yield _quiet(quote(text))


def _points(decision: Record) -> Iterator[str]:
    yield "A person has accepted, changed or rejected the record (its status is `proposed`)."
    for text in decision.unsettled:
        yield _quiet(f"Resolved: {literal(text)}")
    for text in decision.tensions or ():
        yield _quiet(f"Resolved: {item(text)}")
    for text in decision.warnings:
        yield _quiet(f"Taken into account: {literal(text)}")
    for text in decision.caveats or ():
        yield _quiet(f"Taken into account: {item(text)}")


def _quiet(text: str) -> str:
    return _CALLS.sub(rf"\g<0>{_ZERO_WIDTH_SPACE}", text)
