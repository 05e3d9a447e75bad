"""The outcome of a council, computed from its tallies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from moot.core.answers import same_as
from moot.core.types import (
    TIE,
    UNDECIDED,
    ArguedPosition,
    Check,
    FinalAnswer,
    GivenAnswer,
    Json,
    Outcome,
    RecordParts,
    Result,
    SeatSpec,
    VoteCast,
)
from moot.formats.council.families import shared_error_risk
from moot.formats.council.settings import CouncilSettings
from moot.formats.council.shapes import Synthesis
from moot.formats.council.vote import Labels, Standing, Submission, Tally, choice_of, latest
from moot.formats.shared.answer import final_answer, final_in, headline_of, same_form
from moot.formats.shared.attendance import Absence, checks_on, notes_on
from moot.formats.shared.checks import UNSETTLED, answer_in
from moot.reasoning.fence import clean
from moot.reasoning.voting.methods import FIRST_PLACES, POINTS

TIE_BREAK_WORDS = {
    "pairwise": "it wins head to head against those with the same result",
    "support": "more members stand behind it",
}
_LABEL = re.compile(r"\b([Aa]nswer) ([A-Z])\b")


@dataclass(frozen=True, kw_only=True)
class CouncilResult:
    """A council after its last vote."""

    settings: CouncilSettings
    members: Sequence[SeatSpec]
    submissions: Sequence[Submission]  # eligible at the end
    tallies: Sequence[Tally]
    failed: Mapping[str, str]  # why a member has no answer, by seat
    ended_by: str
    absences: Sequence[Absence] = ()  # who could not be heard
    first: Mapping[str, Submission] = field(default_factory=dict[str, Submission])  # first answers, by seat

    @property
    def names(self) -> dict[str, str]:
        return {member.id: member.name for member in self.members}

    @property
    def tally(self) -> Tally | None:
        """The vote that counts: the last with a quorum."""
        return next((tally for tally in reversed(self.tallies) if tally.quorum), None)

    @property
    def leaders(self) -> list[Submission]:
        return self.tally.leaders if self.tally else []

    @property
    def winner(self) -> str:
        return self.tally.poll.seat if self.tally else UNDECIDED

    @property
    def agrees(self) -> bool:
        return self.tally is not None and self.tally.agrees(self.settings.agreement)

    @property
    def given_up(self) -> bool:
        """Whether the winning author has replaced its winning answer by another."""
        return self.winner in self.names and not {leader.id for leader in self.leaders} & self.held

    @property
    def held(self) -> set[str]:
        """The latest answer of each member."""
        return {each.id for each in latest(self.submissions).values()}

    @property
    def reason(self) -> str:
        """Why there is no winner, or why an earlier vote counts."""
        if not self.submissions:
            return f"No member gave a valid answer. {_first(self.failed)}".strip()
        if not self.tallies:
            return "Only one member gave a valid answer, so there was nothing to rank."
        last, short = self.tallies[-1], self.shortfall
        why = _first({ballot.voter: ballot.reason for ballot in last.ballots if not ballot.ranking})
        if self.tally is None:
            return f"{short} {why}".strip()
        if self.tally is not last:
            return f"{short} The vote of round {self.tally.round} counts. {why}".strip()
        return "" if self.winner in self.names else last.poll.result.reason

    @property
    def shortfall(self) -> str:
        """How many ballots were missing, but not why: a reason can quote what an invalid ballot says."""
        if not self.tallies:
            return "There was no vote."
        last = self.tallies[-1]
        return f"Only {last.valid} of {last.members} ballots in the last vote were valid; it takes more than half."

    @property
    def how(self) -> str:
        """What the vote came to, in a sentence; empty without a valid vote."""
        if self.tally is None:
            return ""
        if self.winner == UNDECIDED:
            return self.tally.poll.result.reason
        if self.winner == TIE:
            authors = dict.fromkeys(self.names[leader.seat] for leader in self.leaders)
            behind = f"; {self.tally.behind} of {self.tally.members} members stand behind each" if self.agrees else ""
            return f"A tie between the answers of {' and '.join(authors)}{behind}."
        behind = f"{self.tally.behind} of {self.tally.members} members stand behind it"
        return f"{self.names[self.winner]}'s answer ranks first; {behind}."

    @property
    def typed(self) -> FinalAnswer | None:
        """The answer in the kind that was asked for: that of the opinion that ranks first, or of several that tie and
        give the same. None: none was asked for, or there is none."""
        spec = self.settings.answer
        if spec is None or self.winner == UNDECIDED:
            return None
        leading = self.leaders[-1:] if self.winner in self.names else self.leaders
        finals = [final for each in leading if (final := final_in(each.opinion)) is not None]
        return final_answer(finals[0], spec) if len({same_as(each, spec) for each in finals}) == 1 else None

    @property
    def first_answers(self) -> tuple[GivenAnswer, ...]:
        spec = self.settings.answer
        if spec is None:
            return ()
        made: list[GivenAnswer] = []
        for seat in self.names:
            held = self.first.get(seat)
            final = None if held is None else final_in(held.opinion)
            made.append(
                GivenAnswer(seat=seat)
                if held is None or final is None
                else GivenAnswer(seat=seat, value=same_form(final, spec), confidence=held.opinion.confidence / 100)
            )
        return tuple(made)

    def in_order(self) -> list[Submission]:
        """The answers by rank; in no order if there was no valid vote."""
        if self.tally is None:
            return list(self.submissions)
        return [self.tally.submissions[standing.answer] for standing in self.tally.standings]

    def summary(self, called: Mapping[str, str]) -> str:
        """The result for the chair's prompt, with each answer's name from `called`."""
        if self.tally is None:
            return f"There is no result. {self.shortfall} The answers stand in no order, and nothing ranks first."
        if self.winner == UNDECIDED:
            result = f"Nothing is decided. {self.tally.poll.result.reason}"
            return "\n".join([result, *order(self.tally, called)])
        first = " and ".join(called[leader.id] for leader in self.leaders)
        verb = "ranks first" if len(self.leaders) == 1 else "share the first place"
        agrees = "The council agrees." if self.agrees else "The council does not agree."
        return "\n".join([f"{first[:1].upper()}{first[1:]} {verb}. {agrees}", *order(self.tally, called)])

    def dissent(self) -> list[Json]:
        """The positions of members who voted and stand behind no leading answer."""
        tally = self.tally
        if tally is None:
            return []
        leading = {leader.id for leader in tally.leaders}
        voted = [ballot for ballot in tally.ballots if ballot.ranking]
        against = [ballot.voter for ballot in voted if leading.isdisjoint(ballot.approves)]
        return [_words(seat, self.names[seat], tally.current(seat)) for seat in against]


def report(result: CouncilResult, written: Synthesis | str, ledger: Json | None = None) -> Outcome:
    """Make the outcome. `written` is the chair's answer, or the reason why there is none."""
    tally, winner, dissent = result.tally, result.winner, result.dissent()
    counted = tally or (result.tallies[-1] if result.tallies else None)
    shared = shared_error_risk(
        result.members, counted.valid if counted else 0, counted.effective_voters if counted else None
    )
    leading = result.leaders[-1] if winner in result.names else None  # of one author's two, the newer
    statement = _statement(written, leading)
    recommendation = _recommendation(written, statement, leading)
    sentence = answer_in(recommendation) if tally else ""
    if leading is not None and not sentence:
        winner, leading = UNDECIDED, None
    typed = result.typed if winner != UNDECIDED else None
    return Outcome(
        winner=winner,
        headline=headline_of(typed) if typed else _headline(result, winner, sentence),
        how=result.how if sentence else "",
        ended_by=result.ended_by,
        verdict_source="jury" if tally else "fallback",
        decided_by=f"a vote of the members ({_method(tally.poll.result)}), counted by code" if tally else "",
        answer=typed if result.settings.answer else FinalAnswer(value=sentence) if sentence else None,
        first_answers=result.first_answers,
        reason=result.reason or ("" if sentence else "The answer that ranks first does not answer the question."),
        statement=statement,
        names=result.names,
        scores=_scores(tally) if tally else {},
        scale=1,
        tally=_first_places(tally) if tally else None,
        votes=_votes(tally) if tally else (),
        polls=tuple(each.poll.model_copy(update={"decides": each is tally}) for each in result.tallies),
        support=tally.behind / tally.members if tally and winner in result.names else None,
        stated=None if leading is None else leading.opinion.confidence / 100,
        checks=(*(_checks(written) if tally else ()), *checks_on(result.absences)),
        notes=(*_notes(result, written, dissent), *notes_on(result.absences), str(shared["note"])),
        record=_record(result, recommendation, dissent, str(shared["note"])),
        ledger=ledger,
        details={
            "depth": result.settings.depth,
            "agrees": result.agrees,
            "agreement": round(tally.behind / tally.members, 3) if tally else None,
            "winning_answer": None if leading is None else _words(winner, result.names[winner], leading),
            "condorcet_winner": tally.condorcet_winner if tally else None,
            "dissent": dissent,
            "no_answer": dict(sorted(result.failed.items())),
            "chair_departs": None if isinstance(written, str) or tally is None else written.departs,
            "shared_errors": shared,
        },
    )


def _headline(result: CouncilResult, winner: str, sentence: str) -> str:
    if not sentence:
        return result.how if winner == TIE else _undecided(result)
    # Of answers that they stand behind alike, either will do.
    settled = winner in result.names or (winner == TIE and result.agrees)
    return sentence if settled else f"{UNSETTLED} {sentence}"


def _undecided(result: CouncilResult) -> str:
    return f"Undecided: there is no {'answer to recommend' if result.tally else 'valid vote'}."


def _votes(tally: Tally) -> tuple[VoteCast, ...]:
    return tuple(
        VoteCast(seat=ballot.voter, choice=choice_of(ballot), key=ballot.keys[0], reason=ballot.reason)
        for ballot in tally.ballots
    )


def _first_places(tally: Tally) -> dict[str, float]:
    """How many ballots rank each member first."""
    choices = [choice_of(ballot) for ballot in tally.ballots]
    return {choice: choices.count(choice) for choice in dict.fromkeys(choices)}


def _record(result: CouncilResult, recommendation: str, dissent: Sequence[Json], caveat: str) -> RecordParts:
    return RecordParts(
        recommendation=recommendation or None,
        converged=result.agrees,
        caveats=(caveat, *notes_on(result.absences)),
        dissent=tuple(f"{each['name']}: {each['position'] or 'without an answer of their own.'}" for each in dissent),
        positions=tuple(
            ArguedPosition(
                name=result.names[seat],
                seat=seat,
                arguments=tuple(held.opinion.reasons),
                recommendation=held.opinion.position,
            )
            for seat, held in latest(result.submissions).items()
        ),
    )


def order(tally: Tally, called: Mapping[str, str]) -> list[str]:
    """A line for each answer, best first, with its count."""
    if not tally.valid:
        return [f"No valid ballot of {tally.members}."]
    return [
        f"{each.place}. {called[each.answer]}: {_figure(tally, each)}first on {each.firsts} of {each.ballots} ballots, "
        f"{each.behind} of {tally.members} behind it"
        for each in tally.standings
    ]


def _figure(tally: Tally, standing: Standing) -> str:
    """What the method counts, where that is not the number of first places."""
    result = tally.poll.result
    deciding = result.deciding
    figure = None if deciding is None else deciding.figures.get(standing.answer)
    if deciding is None or figure is None:
        return ""
    if deciding.name == POINTS:
        return f"{float(figure):.2f} points, "
    weighed = any(ballot.weight != 1 for ballot in tally.ballots)
    if deciding.name == FIRST_PLACES and not weighed:
        return ""
    return f"{float(figure):.4g} of {float(deciding.most):.4g} {deciding.name}, "


def _method(result: Result) -> str:
    return f"{result.method}, with {result.fallback} as its fallback" if result.fallback else result.method


def with_names(text: str, labels: Labels, called: Mapping[str, str]) -> str:
    """Replace labels in the chair's text by names: only the chair knows its labels."""

    def name(found: re.Match[str]) -> str:
        return f"{called[labels[found[2]].id]}'s {found[1].lower()}" if found[2] in labels else found[0]

    return _LABEL.sub(name, text)


def _statement(written: Synthesis | str, leading: Submission | None) -> str:
    if isinstance(written, Synthesis):
        return clean(written.answer)
    return clean(leading.opinion.answer) if leading else ""


def _recommendation(written: Synthesis | str, statement: str, leading: Submission | None) -> str:
    """What the council recommends: the chair's words, or, if the chair gives no answer or departs from the one that
    ranks first, that one. The chair has no vote."""
    own = isinstance(written, Synthesis) and not written.departs and answer_in(statement)
    if leading is not None and not own:
        return f"{clean(leading.opinion.position)}\n\n{clean(leading.opinion.answer)}"
    return statement


def _checks(written: Synthesis | str) -> tuple[Check, ...]:
    if isinstance(written, str):
        return ()
    if not answer_in(written.answer):
        words = "the chair's words don't answer the question"
    elif written.departs:
        words = "the chair's words depart from the answer that ranks first"
    else:
        return (Check(name="statement", passed=True, words="the chair keeps to the answer that ranks first"),)
    return (Check(name="statement", passed=False, words=words),)


def _notes(result: CouncilResult, written: Synthesis | str, dissent: Sequence[Json]) -> list[str]:
    notes = [f"{each['name']} dissents: {each['position'] or 'without an answer of their own.'}" for each in dissent]
    tally = result.tally
    if tally is not None and tally.poll.result.fallback:
        notes.append("No answer beats every other one head to head, so the Borda count decided.")
    if tally is not None and tally.poll.result.tie_break:
        notes.append(f"The first place was decided by a tie-break: {TIE_BREAK_WORDS[tally.poll.result.tie_break]}.")
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
    """What each member's best answer has, as a share of what it could have."""
    best: dict[str, float | None] = {}
    for each in tally.standings:
        if each.share is not None:
            best.setdefault(tally.submissions[each.answer].seat, round(float(each.share), 3))
    return best


def _words(seat: str, name: str, held: Submission | None) -> Json:
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
