"""The outcome of a panel, computed from typed positions and the moderator's synthesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.core.answers import AnswerSpec
from moot.core.types import ArguedPosition, Check, Confidence, FinalAnswer, Json, Outcome, RecordParts
from moot.formats.panel.measures import RoundMeasures
from moot.formats.panel.panelist import Panelist
from moot.formats.panel.shapes import Synthesis
from moot.formats.shared.answer import final_answer, final_in, headline_of
from moot.formats.shared.attendance import Absence, checks_on, notes_on
from moot.formats.shared.checks import UNSETTLED, answer_in, complete, own_words

TOO_FEW = "too_few_voices"

# In the words of the moderator's prompt; people read the format's `endings`.
ENDINGS = {
    "agreement": "the perspectives agree",
    "clear_winner": "all others concede to one perspective",
    "stagnation": "it went in circles",
    "max_rounds": "the last round has been heard and no agreement was reached",
    "person": "the person in charge ended it",
    TOO_FEW: "fewer than two perspectives could still be heard",
}
SETTLED = ("agreement", "clear_winner")
BY_POSITIONS = "the perspectives' stated positions, read by code"
BY_MODERATOR = "the moderator's synthesis; the perspectives did not agree"
NOTHING_SAID = "No perspective has said anything of its own, so there is nothing to recommend."


def ending_words(ended_by: str) -> str:
    return ENDINGS.get(ended_by, f"the limit {ended_by} was reached")


@dataclass(frozen=True, kw_only=True)
class PanelResult:
    """A panel after its last round."""

    panelists: Sequence[Panelist]
    ended_by: str
    prevailing: Panelist | None  # to whom all others concede
    stagnation: str  # why it stagnates, if it does
    measures: Sequence[RoundMeasures]
    cut_short: Sequence[int]  # rounds in which some could not answer in time
    copied: Mapping[str, str]  # who repeated whose words instead of agreeing, by name
    not_own: Sequence[str]  # what was not in its speaker's own words, each as a clause
    cut_off: Sequence[str]  # what was cut off, each as a clause
    clarification: str
    guidance: Sequence[str]
    absences: Sequence[Absence]  # who could not be heard

    @property
    def names(self) -> dict[str, str]:
        return {panelist.seat.id: panelist.name for panelist in self.panelists}

    @property
    def settled(self) -> bool:
        return self.ended_by in SETTLED

    @property
    def winner(self) -> str:
        if self.ended_by == "clear_winner" and self.prevailing is not None:
            return self.prevailing.seat.id
        return "consensus" if self.ended_by == "agreement" else "undecided"

    @property
    def how(self) -> str:
        if self.ended_by == "clear_winner" and self.prevailing is not None:
            return f"{self.prevailing.name} prevails."
        if self.ended_by == "agreement":
            return "The panel agrees."
        return "The recommendation has low confidence."

    @property
    def unsettled(self) -> str:
        """Why the panel has not settled it; empty if it has."""
        if self.settled:
            return ""
        more = f" ({self.stagnation})" if self.ended_by == "stagnation" else ""
        return f"The panel did not settle it: {ending_words(self.ended_by)}{more}."

    @property
    def notes(self) -> list[str]:
        found = [
            f"{panelist.name} was muted by the moderator after round {panelist.muted_in}"
            f"{', having left the question' if panelist.left_the_question else ''}."
            for panelist in self.panelists
            if panelist.muted_in is not None
        ]
        found += [
            f"{name} repeated {of}'s words; that is not counted as agreement." for name, of in self.copied.items()
        ]
        rounds = ", ".join(map(str, self.cut_short))
        found += notes_on(self.absences)
        return [*found, *([f"Not everyone could answer in time in round {rounds}."] if rounds else [])]


def report(
    result: PanelResult, written: Synthesis | str, ledger: Json | None, spec: AnswerSpec | None = None
) -> Outcome:
    """Make the outcome. `written` is the moderator's synthesis, or the reason why there is none. `spec`: the kind of
    answer that was asked for."""
    sentence = answer_in(written.recommendation) if isinstance(written, Synthesis) else ""
    valid = written if isinstance(written, Synthesis) and sentence else None
    reason = result.unsettled
    if valid is None:
        reason = written if isinstance(written, str) else "The synthesis recommends nothing."
    confidence = _confidence(result, valid)
    typed = None if spec is None or valid is None else final_answer(final_in(valid), spec)
    shown = headline_of(typed) if typed else sentence
    return Outcome(
        winner=result.winner if valid else "undecided",
        headline=_headline(result, shown) if valid else "Undecided: there is no valid synthesis.",
        how=result.how if valid else "",
        ended_by=result.ended_by,
        verdict_source="rules" if valid else "fallback",
        decided_by="" if valid is None else BY_POSITIONS if result.settled else BY_MODERATOR,
        answer=typed if spec is not None else FinalAnswer(value=sentence) if valid else None,
        reason=reason,
        statement=valid.recommendation if valid else "",
        names=result.names,
        confidence=confidence,
        checks=_checks(result) if result.panelists else (),
        notes=tuple(result.notes),
        record=_record(result, valid),
        ledger=ledger,
        details={
            "clarification": result.clarification,
            "guidance": list(result.guidance),
            "measured": [each.as_json() for each in result.measures],
            "cut_short": list(result.cut_short),
        },
    )


def _checks(result: PanelResult) -> tuple[Check, ...]:
    return (own_words(result.not_own), complete(result.cut_off), *checks_on(result.absences))


def _headline(result: PanelResult, sentence: str) -> str:
    return sentence if result.settled else f"{UNSETTLED} {sentence}"


def _confidence(result: PanelResult, synthesis: Synthesis | None) -> Confidence:
    """The moderator's confidence; always low without agreement."""
    if synthesis is None or not result.settled:
        return Confidence(level="Low", source="the perspectives did not agree")
    return Confidence(level=synthesis.confidence, source="the perspectives agreed, and the moderator says so")


def _record(result: PanelResult, synthesis: Synthesis | None) -> RecordParts:
    positions = tuple(
        ArguedPosition(
            name=panelist.name,
            seat=panelist.seat.id,
            arguments=(*panelist.arguments, *((panelist.last.rebuttal,) if panelist.last else ())),
            trade_offs=(panelist.perspective.trade_offs,),
            recommendation=panelist.last.recommendation if panelist.last else "",
        )
        for panelist in result.panelists
    )
    converged = result.settled if result.ended_by in ENDINGS else None
    if synthesis is None:
        return RecordParts(positions=positions, converged=converged, caveats=tuple(result.notes) or None)
    return RecordParts(
        recommendation=synthesis.recommendation,
        converged=converged,
        caveats=(*result.notes, *synthesis.caveats),
        agreements=tuple(synthesis.agreements),
        tensions=tuple(synthesis.tensions),
        dissent=(synthesis.dissent,) if synthesis.dissent.strip() else (),
        positions=positions,
    )
