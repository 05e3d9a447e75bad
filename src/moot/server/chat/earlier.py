"""The debates that a response follows (`previous_response_id`), as a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from moot.client import Client
from moot.core.errors import NoSuchDebate
from moot.core.types import Debate, record
from moot.reasoning.conversation import MAX_CONTEXT_CHARS
from moot.reasoning.followup import alone
from moot.records.transcript import outcome_text
from moot.server.chat.about import about_of
from moot.server.chat.conversation import Message
from moot.server.problems import Refused

MOST = 20  # debates that are looked up


@record
class Earlier:
    """The debates that a response follows."""

    messages: Sequence[Message] = ()  # their questions and answers, the oldest first
    private: bool = False  # one of them is


async def conversation(client: Client, debate_id: str) -> Earlier:
    """The debates up to that one. Raises NoSuchDebate, or Refused while the last one has no answer."""
    latest = await client.find(debate_id)
    if latest.outcome is None:
        raise Refused(
            "wrong-status",
            f"Debate {latest.short} is {latest.status} and has no answer yet: it can be followed when it has one.",
            param="previous_response_id",
        )
    told: list[Message] = []
    found: Debate | None = latest
    room, private = MAX_CONTEXT_CHARS, False
    while found is not None and room > 0 and len(told) < 2 * MOST:
        outcome = found.outcome
        answer = "" if outcome is None else outcome_text(outcome, demonstration=client.app.is_demonstration(found))
        told += [Message(role="assistant", content=answer), Message(role="user", content=alone(found.topic))]
        room -= len(answer) + len(found.topic)
        private = private or found.private
        found = await _before(client, found)
    return Earlier(messages=told[::-1], private=private)


async def _before(client: Client, debate: Debate) -> Debate | None:
    earlier = about_of(debate).follows
    try:
        return await client.find(earlier) if earlier else None
    except NoSuchDebate:  # it was deleted
        return None
