"""Replaying a debate from its recorded turns, without models or tools, and comparing the result byte for byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from moot.core.steps import Step
from moot.core.types import Debate, Event, Json, Outcome, Shown, Turn, record
from moot.formats import Format
from moot.reasoning.fence import clean


@record
class Rerun:
    """What the rules make of the recorded turns."""

    shown: Sequence[Shown]
    outcome: Outcome | None
    steps: dict[str, Step]  # every step of the debate, by key


@record
class Proof:
    """The transcript as it was shown, and as the replay shows it."""

    recorded: bytes
    replayed: bytes

    @property
    def same(self) -> bool:
        return self.recorded == self.replayed

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.recorded).hexdigest()

    @property
    def first_difference(self) -> tuple[int, str, str] | None:
        """The number of the first line that differs, and that line in both transcripts."""
        pairs = zip_longest(self.recorded.splitlines(), self.replayed.splitlines(), fillvalue=b"")
        for number, (one, two) in enumerate(pairs, 1):
            if one != two:
                return number, one.decode(), two.decode()
        return None


def rerun(format_: Format, debate: Debate, turns: Sequence[Turn]) -> Rerun:
    """Feed the turns to the rules. Raises ScriptChanged when one of them is not what the rules ask for."""
    script = format_.script(debate)
    shown = script.begin()
    steps: dict[str, Step] = dict(script.open)
    for turn in turns:
        shown += script.resolve(replace(turn, content=_content(turn, steps.get(turn.key))))
        steps.update(script.open)
    outcome = script.outcome
    script.close()
    return Rerun(shown=shown, outcome=outcome, steps=steps)


def _content(turn: Turn, step: Step | None) -> str:
    """The content of a turn, derived anew from what was written, so that a changed content is noticed."""
    if turn.failure is not None or step is None or turn.kind not in ("ask", "recall", "use"):
        return turn.content
    if step.returns is None or turn.data is None:
        return clean(turn.written)
    return clean(step.returns.model_validate(turn.data).prose())


def prove(format_: Format, debate: Debate, turns: Sequence[Turn], events: Sequence[Event]) -> Proof:
    """Compare the transcript of the stored events with that of a replay."""
    again = rerun(format_, debate, turns)
    seen = [event for event in events if event.type.isupper()]
    return Proof(
        recorded=transcript(debate, seen, debate.outcome), replayed=transcript(debate, again.shown, again.outcome)
    )


def transcript(debate: Debate, shown: Sequence[Event | Shown], outcome: Outcome | None) -> bytes:
    """One JSON line for each event, in order. Equal debates give equal bytes."""
    lines: list[Json] = [{"topic": debate.topic, "format": debate.format, "cast": [seat.name for seat in debate.cast]}]
    lines += [{"type": each.type, "key": each.key, "data": each.data, **_words(each.turn)} for each in shown]
    lines.append({"outcome": None if outcome is None else outcome.model_dump(mode="json")})
    return b"".join(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n" for line in lines)


def _words(turn: Turn | None) -> Json:
    if turn is None:
        return {}
    failure = None if turn.failure is None else turn.failure.message
    return {"seat": turn.seat, "content": turn.content, "answer": turn.data, "failure": failure}
