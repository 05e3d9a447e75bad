"""What each event looks like to a reader: one table for the live view, plain output and `moot show`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from moot.cli.words import count
from moot.types import Debate, Event, Json, SeatSpec, Turn

DEMONSTRATION = (
    "A demonstration model takes part: it shows how moot works, and the verdict means nothing beyond that. "
    "For a verdict that does, choose a real model (see: moot models)."
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading in its participant's colour, and text under it that can never pass for a heading."""

    heading: str
    lead: str = ""  # the line that must not be missed
    cast: Sequence[tuple[str, str]] = ()  # a line for each seat, by its id
    body: str = ""
    seat: str = ""
    key: str = ""  # of the step, for `moot fork --at`
    quiet: bool = False  # thoughts and notices
    alarm: bool = False  # something went wrong
    warning: str = ""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What is known of the debate that events belong to."""

    debate: Debate
    demonstration: bool
    names: dict[str, str] = field(default_factory=dict[str, str])
    read: list[str] = field(default_factory=list[str])  # what a verdict need not repeat

    @classmethod
    def of(cls, debate: Debate, *, demonstration: bool) -> Scene:
        names = {"you": "You", **{seat.id: seat.name for seat in debate.cast}}
        return cls(debate=debate, demonstration=demonstration, names=names)

    def name(self, seat: str) -> str:
        return self.names.get(seat, seat)


def block_of(event: Event, scene: Scene) -> Block | None:
    """None: nothing a reader needs to see."""
    return _LOOKS.get(event.type, _unknown)(event, scene)


def doing(shows: str, phase: str) -> str:
    """What someone is doing in a step that is not done yet."""
    return _DOING.get(shows, "rules" if phase == "verdict" else f"at work: {phase}")


def _header(event: Event, scene: Scene) -> Block:
    debate, data = scene.debate, event.data
    lines = [f"{debate.format}, debate {debate.short}"]
    if data.get("premise"):
        lines.append(f"The premise: {data['premise']}")
    stances: Mapping[str, str] = data.get("stances") or {}
    width = max((len(seat.name) for seat in debate.cast), default=0)
    cast = [(seat.id, _seat_line(seat, stances, width)) for seat in debate.cast]
    return Block(heading=str(data.get("topic", debate.topic)), body="\n".join(lines), cast=cast)


def _seat_line(seat: SeatSpec, stances: Mapping[str, str], width: int) -> str:
    stance = {"pro": "for", "con": "against"}.get(stances.get(seat.id, ""), "")
    return f"{seat.name:<{width}}  {stance + ', ' if stance else ''}{seat.model}"


def _thought(verb: str) -> Callable[[Event, Scene], Block]:
    def thought(event: Event, scene: Scene) -> Block:
        return _said(event, scene, verb, quiet=True)

    return thought


def _statement(event: Event, scene: Scene) -> Block:
    to = event.turn.metadata.get("to") if event.turn else None
    return _said(event, scene, f"to {scene.name(str(to))}" if to else "")


def _score(event: Event, scene: Scene) -> Block:
    data: Json = (event.turn.data if event.turn else None) or {}
    if "score" in data:
        return _said(event, scene, "scores", f": {data['score']} of 10")
    if "score_a" in data and "score_b" in data:
        points = f"{scene.name('a')} {data['score_a']}, {scene.name('b')} {data['score_b']}"
        return _said(event, scene, "scores", f": {points}")
    return _said(event, scene, "gave no valid score", alarm=True)


def _ballot(event: Event, scene: Scene) -> Block:
    vote: Json = event.turn.metadata if event.turn else {}
    choice = vote.get("choice", "abstains")
    if choice == "abstains":
        return _said(event, scene, "abstains", alarm=True)
    if "ranks" in vote:
        return _said(event, scene, f"ranks {' > '.join(vote['ranks'])}")
    for_whom = "for neither side" if choice == "tie" else f"for {scene.name(str(choice))}"
    points = f"{scene.name('a')} {vote.get('score_a')}, {scene.name('b')} {vote.get('score_b')}"
    return _said(event, scene, f"votes {for_whom} ({points})")


def _tally(event: Event, scene: Scene) -> Block:
    data = event.data
    which = f"after round {data['round']}" if data.get("round") else "before any debate"
    how = "they agree" if data.get("agrees") else "they do not agree" if data.get("quorum") else "too few valid ballots"
    return Block(heading=f"The vote {which}: {how}", body="\n".join(data.get("lines") or []))


def _templates(event: Event, scene: Scene) -> Block | None:
    data: Json = (event.turn.data if event.turn else None) or {}
    found: Sequence[Json] = data.get("found") or []
    if not found and not data.get("note"):
        return None
    lines = [f"{number}. {each.get('title')}" for number, each in enumerate(found, 1)]
    how = f"Found by {data.get('by')}." if found else "None was found."
    return Block(
        heading="Reasoning templates",
        body="\n".join([*lines, f"{how} {data.get('note') or ''}".strip()]),
        key=event.key,
        quiet=True,
    )


def _critique(event: Event, scene: Scene) -> Block:
    noted: Json = event.turn.metadata if event.turn else {}
    if "score" not in noted:
        return _said(event, scene, "gave no valid critique", alarm=True)
    ready = "ready" if noted.get("ready") else "not ready"
    waiting: Mapping[str, str] = noted.get("open") or {}
    severities = list(waiting.values())
    still = [f"{severities.count(each)} {each}" for each in ("critical", "major", "minor") if each in severities]
    return _said(event, scene, "rates", f": {noted['score']} of 10, {ready}; open: {', '.join(still) or 'nothing'}")


def _ending(event: Event, scene: Scene) -> Block:
    rounds = int(event.data.get("rounds") or 0)
    after = f"After {count(rounds, 'round')}: " if rounds else ""
    return Block(heading=f"{after}{event.data.get('text', '')}.", quiet=True)


def _final(event: Event, scene: Scene) -> Block:
    if event.turn is not None:
        scene.read.append(event.turn.content.strip())
    return replace(_said(event, scene, ""), heading="The final answer")


def _unseen(event: Event, scene: Scene) -> None:
    """What other blocks say as well."""


def _claims(event: Event, scene: Scene) -> Block:
    failed = event.turn is not None and event.turn.failure is not None
    return _said(event, scene, "gave no valid list of claims" if failed else "lists claims", quiet=True, alarm=failed)


def _verdict(event: Event, scene: Scene) -> Block:
    warning = DEMONSTRATION if scene.demonstration else ""
    judge = next((seat.id for seat in scene.debate.cast if seat.role == "judge"), "")
    lead, body = str(event.data.get("headline", "")), "\n".join(_grounds(event.data, scene))
    return Block(heading="Verdict", lead=lead, body=body, seat=judge, warning=warning)


def _grounds(outcome: Mapping[str, Any], scene: Scene) -> list[str]:
    lines: list[str] = []
    scores: Mapping[str, float | None] = outcome.get("scores") or {}
    if scores and all(points is not None for points in scores.values()):
        lines.append("Points: " + ", ".join(f"{scene.name(seat)} {points:g}" for seat, points in scores.items()))
    details: Json = outcome.get("details") or {}
    tally: Mapping[str, int] | None = details.get("tally")
    if tally:
        lines.append("Votes: " + ", ".join(f"{scene.name(choice)} {votes}" for choice, votes in tally.items()))
    flip_rate = details.get("flip_rate")
    if flip_rate is not None:
        lines.append(f"Read in both orders: {flip_rate:.0%} of the readings came out differently.")
    if outcome.get("reason"):
        lines.append(f"Reason: {outcome['reason']}")
    notes: Sequence[object] = details.get("notes") or []
    lines += [str(note) for note in notes]
    if str(outcome.get("ended_by", "")).startswith("max_") and outcome["ended_by"] != "max_rounds":
        lines.append(f"The limit {outcome['ended_by']} ended the debate early.")
    if outcome.get("ended_by") == "stop_when_stale":
        lines.append("The judge found no new argument, so the debate ended early.")
    if outcome.get("statement") and str(outcome["statement"]).strip() not in scene.read:
        lines += ["", str(outcome["statement"])]
    return lines


def _status(event: Event, scene: Scene) -> Block | None:
    data = event.data
    status = data.get("status")
    if status == "failed":
        partial: Mapping[str, str] = data.get("partial") or {}
        kept = [f"\nWritten until then at {key}, and not part of the debate:\n{said}" for key, said in partial.items()]
        body = "\n".join([str(data.get("error", "")), *kept])
        return Block(heading=f"Failed ({data.get('kind', 'error')})", body=body, alarm=True)
    if status == "running":
        turns = int(data.get("turns", 0))
        return Block(heading=f"Goes on after {count(turns, 'turn')}.", quiet=True) if turns else None
    if status == "pending" and data.get("parent"):
        at = f" at {data['at']}" if data.get("at") else ""
        return Block(heading=f"Branched off from {str(data['parent'])[:8]}{at}.", quiet=True)
    told = {"stopped": "Stopped.", "canceled": "Canceled."}
    return Block(heading=told[status], quiet=True) if status in told else None


def _notice(event: Event, scene: Scene) -> Block:
    return Block(heading="Note", body=str(event.data.get("text", "")), quiet=True)


def _cast(event: Event, scene: Scene) -> Block:
    """Who the seats turn out to be; from here on they are called so."""
    names: Mapping[str, str] = event.data.get("names") or {}
    scene.names.update(names)
    width = max((len(seat) for seat in names), default=0)
    return Block(heading="Heard are", cast=[(seat, f"{seat:<{width}}  {name}") for seat, name in names.items()])


def _measured(event: Event, scene: Scene) -> Block:
    """How much the speakers of a panel say again."""
    data = event.data
    alike: Mapping[str, float] = data.get("likeness") or {}
    shares: Mapping[str, float] = data.get("repetition") or {}
    flagged: Sequence[str] = [*(data.get("repeats") or []), *(data.get("paraphrases") or [])]
    lines: list[str] = []
    for name, share in shares.items():
        meaning = f", {alike[name]:.2f} alike in meaning to an earlier argument" if name in alike else ""
        lines.append(f"{name}: {share:.0%} in the same words{meaning}{' (flagged)' if name in flagged else ''}")
    how = f"Meaning was compared by {data['likeness_by']}; alike is not the same." if alike else ""
    return Block(heading=f"Said again in round {data.get('round')}", body="\n".join([*lines, how]).strip(), quiet=True)


def _cut(event: Event, scene: Scene) -> Block:
    unheard = ", ".join(event.data.get("unheard") or [])
    heading = f"Round {event.data.get('round')} took too long: not heard in answer are {unheard}."
    return Block(heading=heading, quiet=True)


def _muted(event: Event, scene: Scene) -> Block:
    return Block(heading=f"{event.data.get('name')} is not heard any more: it kept leaving the question.", quiet=True)


def _gate(event: Event, scene: Scene) -> Block:
    choices = ", ".join(event.data.get("choices") or [])
    body = str(event.data.get("question", "")) + (f"\n\nChoices: {choices}" if choices else "")
    return Block(heading="Your turn", body=body, key=event.key)


def _unknown(event: Event, scene: Scene) -> Block | None:
    """An event of a format that was made after this table."""
    if event.turn is not None:
        return _said(event, scene, event.type.lower())
    return None if event.type.islower() else Block(heading=event.type.capitalize(), body=_listing(event.data))


def _said(
    event: Event, scene: Scene, verb: str, result: str = "", *, quiet: bool = False, alarm: bool = False
) -> Block:
    turn = event.turn
    if turn is None:
        return Block(heading=event.type.capitalize(), body=_listing(event.data), quiet=quiet)
    who = f"{scene.name(turn.seat)} {verb}" if verb else scene.name(turn.seat)
    when = f"{',' if not result else ''} {_when(turn, scene)}" if turn.round else ""
    return Block(
        heading=f"{who}{when}{result}",
        body=turn.content.strip() + ("\n[cut off at its limit]" if turn.finish_reason == "length" else ""),
        seat=turn.seat,
        key=event.key,
        quiet=quiet,
        alarm=alarm or turn.failure is not None,
    )


def _when(turn: Turn, scene: Scene) -> str:
    return f"{'turn' if 'turns' in scene.debate.config else 'round'} {turn.round}"


def _listing(data: Json) -> str:
    return "\n".join(f"{name}: {value}" for name, value in data.items())


_DOING = {
    "PLAN": "plans",
    "THINK": "thinks",
    "TURN": "speaks",
    "SCORE": "scores",
    "BALLOT": "votes",
    "CLAIMS": "lists claims",
    "CRITIQUE": "examines the answer",
    "SYNTHESIS": "writes the final answer",
}

_LOOKS: Mapping[str, Callable[[Event, Scene], Block | None]] = {
    "HEADER": _header,
    "PLAN": _thought("plans"),
    "THINK": _thought("thinks"),
    "TURN": _statement,
    "SCORE": _score,
    "BALLOT": _ballot,
    "TALLY": _tally,
    "RAG": _templates,
    "ROUND": _unseen,
    "CRITIQUE": _critique,
    "ENDING": _ending,
    "SYNTHESIS": _final,
    "VERDICT": _verdict,
    "CAST": _cast,
    "PERSON": _statement,
    "MEASURED": _measured,
    "CUT": _cut,
    "MUTED": _muted,
    "CLAIMS": _claims,
    "status": _status,
    "notice": _notice,
    "gate": _gate,
}
