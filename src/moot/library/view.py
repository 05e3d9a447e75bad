"""What the handles of a debate have in common: everything that can be read, and how it is displayed."""

from __future__ import annotations

from typing import Any

from moot import formats
from moot.core.amounts import count, money
from moot.core.errors import WrongStatus
from moot.core.lifecycle import LIVE
from moot.core.types import Failure, Gate, Outcome, SeatSpec, Status, Usage
from moot.library.snapshot import Snapshot
from moot.library.turns import Turns
from moot.reasoning.fence import one_line
from moot.records.record import Record, record_of
from moot.records.transcript import render as transcript_of


class DebateView:
    """What a handle shows of a debate, as it stood when it was last read. Nothing here waits."""

    def __init__(self, seen: Snapshot) -> None:
        self._seen = seen

    @property
    def seen(self) -> Snapshot:
        """Everything that was read, in moot's own types."""
        return self._seen

    @property
    def id(self) -> str:
        return self._seen.debate.id

    @property
    def topic(self) -> str:
        """The question."""
        return self._seen.debate.topic

    @property
    def title(self) -> str:
        """What people call it; empty: its question."""
        return self._seen.debate.title

    @property
    def tags(self) -> tuple[str, ...]:
        return self._seen.debate.tags

    @property
    def pinned(self) -> bool:
        return self._seen.debate.pinned

    @property
    def archived(self) -> bool:
        """Whether lists leave it out, unless they are asked for it."""
        return self._seen.debate.archived

    @property
    def format(self) -> str:
        return self._seen.debate.format

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its format, completed by defaults."""
        return dict(self._seen.debate.config)

    @property
    def cast(self) -> tuple[SeatSpec, ...]:
        """The participants, with their models."""
        return self._seen.debate.cast

    @property
    def status(self) -> Status:
        return self._seen.debate.status

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self.status in LIVE and not self._seen.interrupted

    @property
    def outcome(self) -> Outcome:
        """What the debate came to. Raises WrongStatus, which says what to do, if it is not completed."""
        outcome, debate = self._seen.debate.outcome, self._seen.debate
        if outcome is None:
            why = f" {debate.error.message.rstrip('.')}." if debate.error else ""
            text = f"Debate {debate.short} is {debate.status}: it has no outcome.{why} {self._seen.next_step}."
            raise WrongStatus(text, debate=debate.short, status=debate.status, verb="record")
        return outcome

    @property
    def decision(self) -> str | None:
        """The answer to the question in one sentence; None while there is no outcome."""
        outcome = self._seen.debate.outcome
        return None if outcome is None else outcome.headline

    @property
    def demonstration(self) -> bool:
        """Whether a demonstration model has a part in it: then its outcome means nothing."""
        return self._seen.demonstration

    @property
    def turns(self) -> Turns:
        return Turns(self._seen.turns, self._seen.wording.names)

    @property
    def asks(self) -> list[Gate]:
        """The questions that wait for a person's answer."""
        return [gate for gate in self._seen.gates if gate.status == "open"]

    @property
    def error(self) -> Failure | None:
        """Why it failed, if it did."""
        return self._seen.debate.error

    @property
    def cost(self) -> float | None:
        """US dollars; None if a price is not known."""
        return self._seen.debate.usage.cost_usd

    @property
    def usage(self) -> Usage:
        """Tokens and cost, with what was paid for in vain."""
        return self._seen.debate.usage

    @property
    def record(self) -> Record:
        """The decision record; `.markdown` is the document. Raises WrongStatus if the debate is not completed."""
        seen = self._seen
        return record_of(seen.debate, seen.turns, formats.wording_of(seen.debate), demonstration=seen.demonstration)

    @property
    def transcript(self) -> str:
        """What was said so far, without private thoughts, in Markdown."""
        seen = self._seen
        return transcript_of(
            seen.debate, seen.events, formats.wording_of(seen.debate), demonstration=seen.demonstration
        )

    def __repr__(self) -> str:
        debate = self._seen.debate
        facts = [debate.status, count(debate.turn_count, "turn"), money(debate.usage.cost_usd)]
        facts += ["a demonstration"] if self._seen.demonstration else []
        said = one_line(self.decision or debate.topic, 80)
        return f"<Debate {debate.short} ({debate.format}, {', '.join(facts)}): {said}>"

    def _repr_html_(self) -> str:
        from moot.library.card import html

        return html(self._seen)
