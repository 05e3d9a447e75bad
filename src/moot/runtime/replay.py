"""Running a debate again on its recorded turns, without a model, and proving that nothing differs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import zip_longest

from moot.formats import Format
from moot.reasoning.fence import clean
from moot.script import Step
from moot.types import Debate, Event, Json, Shown, Turn, record


@record
class Rerun:
    shown: Sequence[Shown]
    outcome: Json | None
    steps: dict[str, Step]  # every step that was asked, by key


@record
class Proof:
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
        """Line number, what is recorded there, what the replay has there."""
        pairs = zip_longest(self.recorded.splitlines(), self.replayed.splitlines(), fillvalue=b"")
        for number, (one, two) in enumerate(pairs, 1):
            if one != two:
                return number, one.decode(), two.decode()
        return None


def rerun(format_: Format, debate: Debate, turns: Sequence[Turn]) -> Rerun:
    """Raises ScriptChanged when a turn is not what the rules ask for."""
    script = format_.script(debate)
    shown = script.begin()
    steps: dict[str, Step] = dict(script.open)
    for turn in turns:
        shown += script.resolve(replace(turn, content=_content(turn, steps.get(turn.key))))
        steps.update(script.open)
    outcome = None if script.outcome is None else asdict(script.outcome)
    script.close()
    return Rerun(shown=shown, outcome=outcome, steps=steps)


def _content(turn: Turn, step: Step | None) -> str:
    """What people should read of a turn, from what was written: not what the record says they read."""
    if turn.failure is not None or step is None or turn.kind not in ("ask", "recall"):
        return turn.content
    if step.returns is None or turn.data is None:
        return clean(turn.written)
    return clean(step.returns.model_validate(turn.data).prose())


def prove(format_: Format, debate: Debate, turns: Sequence[Turn], events: Sequence[Event]) -> Proof:
    """Compare the transcript that people saw with the one that the turns lead to."""
    again = rerun(format_, debate, turns)
    seen = [event for event in events if event.type.isupper()]
    return Proof(
        recorded=transcript(debate, seen, debate.outcome), replayed=transcript(debate, again.shown, again.outcome)
    )


def transcript(debate: Debate, shown: Sequence[Event | Shown], outcome: Json | None) -> bytes:
    """One JSON line for each thing shown, in order: the same debate always gives the same bytes."""
    lines: list[Json] = [{"topic": debate.topic, "format": debate.format, "cast": [seat.name for seat in debate.cast]}]
    lines += [{"type": each.type, "key": each.key, "data": each.data, **_words(each.turn)} for each in shown]
    lines.append({"outcome": outcome})
    return b"".join(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n" for line in lines)


def _words(turn: Turn | None) -> Json:
    if turn is None:
        return {}
    failure = None if turn.failure is None else turn.failure.message
    return {"seat": turn.seat, "content": turn.content, "answer": turn.data, "failure": failure}
