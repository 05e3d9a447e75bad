"""What came out of a council, in numbers and in sentences, from its tallies alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from moot.formats.council.settings import CouncilSettings
from moot.formats.council.shapes import Synthesis
from moot.formats.council.shared import shared_errors
from moot.formats.council.vote import Candidate, Labels, Tally
from moot.reasoning.fence import clean
from moot.types import Json, Outcome, SeatSpec

_LABEL = re.compile(r"\b([Aa]nswer) ([A-Z])\b")


@dataclass(frozen=True, kw_only=True)
class Result:
    """Where a council stands when it has voted for the last time."""

    settings: CouncilSettings
    members: Sequence[SeatSpec]
    candidates: Sequence[Candidate]  # eligible at the end
    tallies: Sequence[Tally]
    failed: Mapping[str, str]  # why a member has no answer, by seat
    rounds: int
    ended_by: str

    @property
    def names(self) -> dict[str, str]:
        return {member.id: member.name for member in self.members}

    @property
    def tally(self) -> Tally | None:
        """The vote that counts: the last with a quorum."""
        return next((tally for tally in reversed(self.tallies) if tally.quorum), None)

    @property
    def leaders(self) -> list[Candidate]:
        return self.tally.leaders if self.tally else []

    @property
    def winner(self) -> str:
        authors = {leader.seat for leader in self.leaders}
        return "undecided" if not authors else authors.pop() if len(authors) == 1 else "tie"

    @property
    def given_up(self) -> bool:
        """Whether the winning answer is one that its author has replaced by another."""
        return self.winner in self.names and not {leader.id for leader in self.leaders} & self.held

    @property
    def held(self) -> set[str]:
        return set({each.seat: each.id for each in sorted(self.candidates, key=lambda each: each.round)}.values())

    @property
    def reason(self) -> str:
        """Why there is no winner, or why an earlier vote counts."""
        if not self.candidates:
            return f"No member gave a valid answer. {_first(self.failed)}".strip()
        if not self.tallies:
            return "Only one member gave a valid answer, so there was nothing to rank."
        last, short = self.tallies[-1], self.shortfall
        why = _first({vote.seat: vote.reason for vote in last.votes if vote.abstains})
        if self.tally is None:
            return f"{short} {why}".strip()
        if self.tally is not last:
            return f"{short} The vote of round {self.tally.round} counts. {why}".strip()
        return "The votes rank none of them above the others." if self.winner == "tie" else ""

    @property
    def shortfall(self) -> str:
        """What the last vote lacks, in our words alone: why a ballot is not valid can have its author's words in it."""
        if not self.tallies:
            return "There was no vote."
        last = self.tallies[-1]
        return f"Only {last.valid} of {last.members} ballots in the last vote were valid; it takes more than half."

    @property
    def headline(self) -> str:
        if self.tally is None:
            return "Undecided: there is no valid vote."
        behind = f"{self.tally.behind} of {self.tally.members} members stand behind it"
        if self.winner == "tie":
            authors = dict.fromkeys(self.names[leader.seat] for leader in self.leaders)
            return f"A tie between the answers of {' and '.join(authors)}."
        return f"{self.names[self.winner]}'s answer ranks first; {behind}."

    def in_order(self) -> list[Candidate]:
        """By rank, where there is one."""
        if self.tally is None:
            return list(self.candidates)
        return [self.tally.candidates[standing.answer] for place in self.tally.places for standing in place]

    def told(self, called: Mapping[str, str]) -> str:
        """For the chair."""
        if self.tally is None:
            return f"There is no result. {self.shortfall} The answers stand in no order, and nothing ranks first."
        first = " and ".join(called[leader.id] for leader in self.leaders)
        verb = "ranks first" if len(self.leaders) == 1 else "share the first place"
        agrees = "The council agrees." if self.tally.agrees(self.settings.agreement) else "The council does not agree."
        return "\n".join([f"{first[:1].upper()}{first[1:]} {verb}. {agrees}", *order(self.tally, called)])

    def dissent(self) -> list[Json]:
        """The members who voted and stand behind no leading answer, in their own words."""
        tally = self.tally
        if tally is None:
            return []
        leading = {leader.id for leader in tally.leaders}
        against = [vote.seat for vote in tally.votes if not vote.abstains and not tally.signed[vote.seat] & leading]
        return [_words(seat, self.names[seat], tally.current(seat)) for seat in against]


def report(result: Result, written: Synthesis | str) -> Outcome:
    """`written` is what the chair wrote, or why it wrote nothing."""
    tally, winner, dissent = result.tally, result.winner, result.dissent()
    counted = tally or (result.tallies[-1] if result.tallies else None)
    shared = shared_errors(
        result.members, counted.valid if counted else 0, counted.effective_voters if counted else None
    )
    leading = result.leaders[-1] if winner in result.names else None  # of one author's two, the newer
    source: Literal["jury", "fallback"] = "jury" if tally else "fallback"
    return Outcome(
        winner=winner,
        headline=result.headline,
        ended_by=result.ended_by,
        verdict_source=source,
        reason=result.reason,
        statement=_statement(written, leading),
        scores=_scores(tally) if tally else {},
        details={
            "names": result.names,
            "depth": result.settings.depth,
            "rounds": result.rounds,
            "agrees": tally is not None and tally.agrees(result.settings.agreement),
            "agreement": round(tally.behind / tally.members, 3) if tally else None,
            "winning_answer": None if leading is None else _words(winner, result.names[winner], leading),
            "ranking": _ranking(tally) if tally else [],
            "beats_all": tally.beats_all if tally else None,
            "votes": [vote.as_json() for each in result.tallies for vote in each.votes],
            "dissent": dissent,
            "no_answer": dict(sorted(result.failed.items())),
            "chair_departs": None if isinstance(written, str) or tally is None else written.departs,
            "shared_errors": shared,
            "notes": [*_notes(result, written, dissent), str(shared["note"])],
            "record": _record(result, _statement(written, leading), dissent, str(shared["note"])),
        },
    )


def _record(result: Result, recommendation: str, dissent: Sequence[Json], caveat: str) -> Json:
    """What a decision record says of it."""
    agrees = result.tally is not None and result.tally.agrees(result.settings.agreement)
    latest = {each.seat: each for each in sorted(result.candidates, key=lambda each: each.round)}
    record: Json = {
        "converged": agrees,
        "caveats": [caveat],
        "dissent": [f"{each['name']}: {each['position'] or 'without an answer of their own.'}" for each in dissent],
        "perspectives": [
            {
                "name": result.names[seat],
                "seat": seat,
                "arguments": [*candidate.opinion.reasons],
                "recommendation": candidate.opinion.position,
            }
            for seat, candidate in latest.items()
        ],
    }
    return {**record, "recommendation": recommendation} if recommendation else record


def titles(candidates: Sequence[Candidate], names: Mapping[str, str]) -> dict[str, str]:
    """What people read: a member's name stands for the answer it holds now."""
    latest = {each.seat: each.id for each in sorted(candidates, key=lambda each: each.round)}
    return {
        each.id: names[each.seat] if latest[each.seat] == each.id else f"{names[each.seat]} (first answer)"
        for each in candidates
    }


def order(tally: Tally, called: Mapping[str, str]) -> list[str]:
    """A line for each answer, with what it was counted."""
    if not tally.rankings:
        return [f"No valid ballot of {tally.members}."]
    lines: list[str] = []
    for n, place in enumerate(tally.places, 1):
        for each in place:
            points = "" if each.points is None else f"{float(each.points):.2f} points, "
            first = f"first on {each.firsts} of {each.ballots} ballots, "
            lines.append(f"{n}. {called[each.answer]}: {points}{first}{each.behind} of {tally.members} behind it")
    return lines


def named(text: str, labels: Labels, called: Mapping[str, str]) -> str:
    """The chair's words without labels that nobody else knows."""

    def name(found: re.Match[str]) -> str:
        return f"{called[labels[found[2]].id]}'s {found[1].lower()}" if found[2] in labels else found[0]

    return _LABEL.sub(name, text)


def _statement(written: Synthesis | str, leading: Candidate | None) -> str:
    if isinstance(written, Synthesis):
        return clean(written.answer)
    return clean(leading.opinion.answer) if leading else ""


def _notes(result: Result, written: Synthesis | str, dissent: Sequence[Json]) -> list[str]:
    notes = [f"{each['name']} dissents: {each['position'] or 'without an answer of their own.'}" for each in dissent]
    tally = result.tally
    if tally is not None and tally.valid < tally.members:
        notes.append(f"{tally.members - tally.valid} of {tally.members} abstained: no valid ballot.")
    if result.failed:
        notes.append(f"No valid answer came from {', '.join(result.names[seat] for seat in sorted(result.failed))}.")
    if result.given_up:
        notes.append(f"{result.names[result.winner]} no longer holds the answer that ranks first.")
    if isinstance(written, str):
        instead = " What follows is the winning answer, unchanged." if result.winner in result.names else ""
        notes.append(f"The chair wrote nothing: {written}{instead}")
    elif written.departs and tally is not None:
        notes.append("The chair departs from the answer that ranks first.")
    return notes


def _scores(tally: Tally) -> dict[str, float | None]:
    """Each member's best answer."""
    best: dict[str, float | None] = {}
    for place in tally.places:
        for each in place:
            if each.points is not None:
                best.setdefault(tally.candidates[each.answer].seat, round(float(each.points), 3))
    return best


def _ranking(tally: Tally) -> list[Json]:
    return [
        {
            "place": n,
            "answer": each.answer,
            "points": None if each.points is None else round(float(each.points), 3),
            "duels": each.duels,
            "firsts": each.firsts,
            "ballots": each.ballots,
            "behind": each.behind,
        }
        for n, place in enumerate(tally.places, 1)
        for each in place
    ]


def _words(seat: str, name: str, held: Candidate | None) -> Json:
    if held is None:
        return {"seat": seat, "name": name, "round": None, "position": "", "answer": "", "reasons": []}
    opinion = held.opinion
    return {
        "seat": seat,
        "name": name,
        "round": held.round,
        "position": clean(opinion.position),
        "answer": clean(opinion.answer),
        "reasons": [clean(reason) for reason in opinion.reasons],
    }


def _first(reasons: Mapping[str, str]) -> str:
    return next((reasons[seat] for seat in sorted(reasons) if reasons[seat]), "")
