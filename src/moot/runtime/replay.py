"""Replaying a debate from its recorded turns, without models or tools, and comparing the result byte for byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import zip_longest

from moot.core.artifacts import ARTIFACTS, Artifact, Episode, Lesson, anywhere, placed
from moot.core.errors import InputError, MootError, ScriptError
from moot.core.steps import Step
from moot.core.types import Debate, Event, Json, Outcome, Shown, Turn, record
from moot.formats import Format
from moot.reasoning.fence import clean

FORGETTABLE = (Episode, Lesson)  # may be gone: only the newest episodes are kept, and lessons can be forgotten


@record
class Rerun:
    """What the rules make of the recorded turns."""

    shown: Sequence[Shown]
    outcome: Outcome | None
    artifacts: Sequence[Artifact]  # as they are stored
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
    """Feed the turns to the rules. Raises ScriptChanged when one of them is not what the rules ask for, and ScriptError
    when they can't be read."""
    try:
        return _rerun(format_, debate, turns)
    except Exception as error:
        if isinstance(error, InputError):  # its settings
            raise ScriptError(
                f"The rules can't read the settings of debate {debate.short}: it was changed, or made by another "
                f"version of moot or with a plug-in that is not installed here. {error}"
            ) from error
        if isinstance(error, MootError):
            raise
        raise ScriptError(
            f"The rules can't read the record of debate {debate.short}: it was changed, or made by another version of "
            "moot. Use that version, or restore a backup."
        ) from error


def _rerun(format_: Format, debate: Debate, turns: Sequence[Turn]) -> Rerun:
    script = format_.script(debate)
    shown = script.begin()
    steps: dict[str, Step] = dict(script.open)
    for turn in turns:
        shown += script.resolve(replace(turn, content=_content(turn, steps.get(turn.key))))
        steps.update(script.open)
    outcome = script.outcome
    script.close()
    artifacts = [placed(each, debate) for each in script.artifacts]
    return Rerun(shown=shown, outcome=outcome, artifacts=artifacts, steps=steps)


def _content(turn: Turn, step: Step | None) -> str:
    """The content of a turn, derived anew from what was written, so that a changed content is noticed."""
    if turn.failure is not None or step is None or turn.kind not in ("ask", "recall", "use"):
        return turn.content
    if step.returns is None or turn.data is None:
        return clean(turn.written)
    return clean(step.returns.model_validate(turn.data).prose())


def prove(
    format_: Format,
    debate: Debate,
    turns: Sequence[Turn],
    events: Sequence[Event],
    artifacts: Sequence[Artifact] = (),
) -> Proof:
    """Compare the transcript of the stored events and artifacts with that of a replay."""
    again = rerun(format_, debate, turns)
    seen = [event for event in events if event.type.isupper()]
    stored = {each.id for each in artifacts}
    produced = [each for each in again.artifacts if each.id in stored or not isinstance(each, FORGETTABLE)]
    return Proof(
        recorded=transcript(debate, seen, debate.outcome) + _listed(artifacts),
        replayed=transcript(debate, again.shown, again.outcome) + _listed(produced),
    )


def _listed(artifacts: Sequence[Artifact]) -> bytes:
    """One JSON line for each artifact."""
    ordered = sorted(artifacts, key=lambda each: (ARTIFACTS.index(each.kind), each.number))
    return b"".join(_line({each.kind: asdict(anywhere(each))}) for each in ordered)


def transcript(debate: Debate, shown: Sequence[Event | Shown], outcome: Outcome | None) -> bytes:
    """One JSON line for each event, in order. Equal debates give equal bytes."""
    lines: list[Json] = [{"topic": debate.topic, "format": debate.format, "cast": [seat.name for seat in debate.cast]}]
    lines += [{"type": each.type, "key": each.key, "data": each.data, **_words(each.turn)} for each in shown]
    lines.append({"outcome": None if outcome is None else outcome.model_dump(mode="json")})
    return b"".join(map(_line, lines))


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _words(turn: Turn | None) -> Json:
    if turn is None:
        return {}
    failure = None if turn.failure is None else turn.failure.message
    return {"seat": turn.seat, "content": turn.content, "answer": turn.data, "failure": failure}
