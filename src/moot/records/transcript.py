"""What was said, as Markdown: a heading for each speaker, the words below it. Private thoughts are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from moot.types import Debate, Event, Json, Turn

# The kinds of events whose turns everyone may read while the debate runs; plans and thoughts stay with their seat.
PUBLIC = frozenset({"TURN", "SCORE", "BALLOT", "CRITIQUE", "PERSON"})
_VERBS = {"SCORE": "scores", "BALLOT": "votes", "CRITIQUE": "examines the answer"}


@dataclass(frozen=True, kw_only=True)
class Passage:
    heading: str
    text: str
    key: str = ""  # of the step that was spoken in


@dataclass
class Voices:
    """Who speaks; a debate can say so as late as in its first round."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    unit: str = "round"

    @classmethod
    def of(cls, debate: Debate) -> Voices:
        names = {"you": "The person who asked", **{seat.id: seat.name for seat in debate.cast}}
        return cls(names=names, unit="turn" if "turns" in debate.config else "round")

    def hear(self, event: Event) -> None:
        if event.type == "CAST":
            told: Mapping[str, str] = event.data.get("names") or {}
            self.names.update(told)

    def heading(self, shows: str, seat: str, round: int) -> str:
        """Known as soon as a step begins."""
        verb = f" {_VERBS[shows]}" if shows in _VERBS else ""
        return f"{self.names.get(seat, seat)}{verb}{f', {self.unit} {round}' if round else ''}"


def passage(event: Event, voices: Voices) -> Passage | None:
    """None: nothing that belongs into the transcript. The verdict does not: it is the outcome."""
    voices.hear(event)
    turn = event.turn
    if event.type in PUBLIC and turn is not None:
        return Passage(heading=voices.heading(event.type, turn.seat, turn.round), text=words_of(turn), key=event.key)
    told = _TOLD.get(event.type)
    return told(event.data) if told is not None else None


def words_of(turn: Turn) -> str:
    cut = "\n\n[cut off at its limit]" if turn.finish_reason == "length" else ""
    score = (turn.data or {}).get("score")
    points = f"\n\n{score} of 10" if isinstance(score, int | float) else ""
    return turn.content.strip() + points + cut


def outcome_text(outcome: Json, *, demonstration: bool) -> str:
    """What a reader needs of an outcome: the headline, why it is undecided or short, the statement."""
    parts = [f"**{outcome.get('headline', '')}**"]
    if outcome.get("reason"):
        parts.append(str(outcome["reason"]))
    ended_by = str(outcome.get("ended_by", ""))
    if ended_by.startswith("max_") and ended_by != "max_rounds":
        parts.append(f"The limit {ended_by} ended the debate early.")
    if outcome.get("statement"):
        parts.append(str(outcome["statement"]).strip())
    if demonstration:
        parts.append("*A demonstration model took part: the verdict means nothing beyond showing how moot works.*")
    return "\n\n".join(parts)


def render(debate: Debate, events: Iterable[Event], *, demonstration: bool) -> str:
    """The whole debate as one document, as far as it has come."""
    voices = Voices.of(debate)
    parts = [f"# {' '.join(debate.topic.split())}", f"{debate.format}, debate {debate.id}, {debate.status}"]
    for event in events:
        said = passage(event, voices)
        if said is not None:
            parts += [f"## {said.heading}", *([said.text] if said.text else [])]
    if debate.outcome is not None:
        parts += ["## Outcome", outcome_text(debate.outcome, demonstration=demonstration)]
    return "\n\n".join(parts) + "\n"


def _cast(data: Json) -> Passage:
    names: Mapping[str, str] = data.get("names") or {}
    return Passage(heading=f"Heard are {', '.join(names.values())}", text="")


def _tally(data: Json) -> Passage:
    which = f"after round {data['round']}" if data.get("round") else "before any debate"
    lines: Sequence[str] = data.get("lines") or []
    return Passage(heading=f"The vote {which}", text="\n".join(f"- {line}" for line in lines))


def _ending(data: Json) -> Passage:
    return Passage(heading=f"{data.get('text') or 'The end'}", text="")


def _muted(data: Json) -> Passage:
    return Passage(heading=f"{data.get('name')} is not heard any more", text="It kept leaving the question.")


_TOLD: Mapping[str, Callable[[Json], Passage]] = {
    "CAST": _cast,
    "TALLY": _tally,
    "ENDING": _ending,
    "MUTED": _muted,
}
