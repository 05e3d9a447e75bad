"""Two sides of a question: what they stand for, what they have said, and what a verdict between them says in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from pydantic import Field, StringConstraints, field_validator

from moot.core.script import Seat
from moot.core.types import Check, FinalAnswer, Objection
from moot.formats.shared.checks import complete, own_words, refuses
from moot.formats.shared.jury import JurySettings, Speech
from moot.reasoning.language import Language, language_of, mixes_scripts
from moot.reasoning.proposition import answers_in_full
from moot.reasoning.question import MAX_OPTION_CHARS, are_actions, read_question
from moot.reasoning.statements import CUT_OFF, LOST, Known, flaw_of, unfinished
from moot.reasoning.straying import answers_otherwise, concedes, leaks, strays
from moot.reasoning.verdict import SIDES, Decision, Side, Winner, leader, other_side

S = TypeVar("S", bound="SidesSettings")

YES_NO = ("Yes", "No")
SAID_BEFORE = 0.3  # share of a statement's four-word sequences, above which a small model is asked for other words
STANCES: Mapping[Side, str] = {"a": "for", "b": "against"}

SideName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_OPTION_CHARS, pattern=r"^[^\n\"“”]+$"),
]


class SidesSettings(JurySettings):
    """Settings of formats in which two sides argue."""

    sides: tuple[SideName, SideName] | None = Field(
        None,
        description="what the two sides stand for, such as Redis and PostgreSQL; by default, what the question offers",
    )

    @field_validator("sides")
    @classmethod
    def _differ(cls, sides: tuple[str, str] | None) -> tuple[str, str] | None:
        if sides and sides[0].casefold() == sides[1].casefold():
            raise ValueError(f"both sides are {sides[0]!r}; name two that differ")
        return sides


def settle(settings: S, topic: str) -> S:
    """The settings with the sides that the question offers, where they name none."""
    if settings.sides is not None or settings.answer is not None:  # typed answers become the sides in the debate
        return settings
    question = read_question(topic)
    if question.kind == "choice":
        return settings.model_copy(update={"sides": question.options[:2]})
    return settings.model_copy(update={"sides": yes_no_in(topic)}) if question.kind == "yes_no" else settings


def yes_no_in(topic: str) -> tuple[str, str]:
    """Yes and no in the language of a question."""
    language = language_of(topic)
    return YES_NO if language is None else (language.yes, language.no)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """What the sides stand for. Without names, one is for what the topic says and the other against it."""

    names: Mapping[Side, str] = field(default_factory=dict[Side, str])
    stances: Mapping[Side, str] = field(default_factory=lambda: dict(STANCES))
    proposition: str = ""  # what they are for and against; empty: the question as it was asked
    verdicts: tuple[str, str] = ("It holds", "It does not hold")  # on the proposition
    claims: Mapping[Side, str] = field(default_factory=dict[Side, str])  # a yes and a no in full, where that is known
    language: Language | None = None  # of the question; None: English, or not known
    topic: str = ""
    told: bool = True  # False: the debaters' own instructions say what they argue

    @classmethod
    def of(
        cls,
        sides: Sequence[str] | None,
        *,
        swapped: bool = False,
        topic: str = "",
    ) -> Sides:
        """`swapped`: the first debater has the second side. `topic`: what they argue about."""
        order: tuple[Side, Side] = ("b", "a") if swapped else SIDES
        full = answers_in_full(topic) if sides is not None and tuple(sides) in (YES_NO, yes_no_in(topic)) else None
        return cls(
            names=dict(zip(order, sides, strict=True)) if sides else {},
            stances=dict(zip(order, STANCES.values(), strict=True)),
            proposition=proposition_of(topic),
            claims=dict(zip(order, full, strict=True)) if full else {},
            language=language_of(topic),
            topic=topic,
        )

    @property
    def yes_no(self) -> bool:
        return set(self.names.values()) in (set(YES_NO), set(self._words))

    @property
    def _words(self) -> tuple[str, str]:
        return (self.language.yes, self.language.no) if self.language else YES_NO

    def short(self, side: Side) -> str:
        """The side in a word or two, for headers and lanes."""
        return self.names.get(side) or self.stances[side]

    def task(self, side: Side) -> str:
        """What a debater is told about its side and the other one."""
        if not self.told:
            return ""
        own, other = self.short(side), self.short(other_side(side))
        if self.yes_no:
            in_full = self._claim(side), self._claim(other_side(side))
            return (
                f"You argue that the answer is {own}{in_full[0]}. Your opponent argues that it is {other}{in_full[1]}."
            )
        if self.names:
            return f"You argue for “{own}”, against “{other}”. Your opponent argues for “{other}”."
        return f"You argue {own.upper()} {self._proposed}. Your opponent argues {other.upper()} it."

    def case(self, side: Side) -> str:
        """What a side argues, to follow "argues"."""
        if self.yes_no:
            return f"that the answer is {self.short(side)}{self._claim(side)}"
        if self.names:
            return f"for “{self.short(side)}”"
        return f"{self.stances[side]} {self._proposed}"

    def reasons(self, side: Side) -> str:
        """What a list of the side's points is about, to follow "reasons"."""
        own, other = self.short(side), self.short(other_side(side))
        if self.yes_no:
            return f"why “{self.claims[side]}” is right" if self.claims else f"why the answer is {own}"
        if self.names:
            return f"to choose “{own}” rather than “{other}”"
        return f"why what is proposed is {'right' if self.stances[side] == 'for' else 'wrong'}"

    def begin(self, side: Side) -> str:
        """The words with which a statement of the side can begin; empty if there are none."""
        own = self.short(side)
        if self.yes_no or self.proposition:
            return f"{self._said(side)}, {self.language.because if self.language else 'because'}"
        if not self.names:
            return ""
        return f"It is better to {uncapital(own)}, because" if are_actions(self.names.values()) else capital(own)

    def conclusion(self, side: Side) -> str:
        """What a statement of the side ends with, to follow "say". A small model that ends with the question in general
        ends with its opponent's answer."""
        if self.claims:
            return f"why it follows that “{self.claims[side]}”"
        if self.yes_no:
            return f"why the answer is therefore {self.short(side)}"
        return f"why that speaks for “{self.short(side)}”" if self.names else "why that decides the question"

    def own_points(self, side: Side, points: Sequence[str]) -> tuple[str, ...]:
        """The points without those that name only the other side, which a small model would argue for; all of them if
        none is left."""
        if self.yes_no or not self.names:
            return tuple(points)
        own, other = (_ARTICLE.sub("", self.names[each]).casefold() for each in (side, other_side(side)))
        return tuple(each for each in points if own in each.casefold() or other not in each.casefold()) or tuple(points)

    def objection(self, side: Side, known: Mapping[Side, Known]) -> Objection:
        """What is wrong with a statement of a small model, which is then asked for it once more: it has left its side,
        says again what was said, or does not end. `known`: what each side has said before."""

        def found(text: str) -> str:
            if flaw := flaw_of(text, "stop", known[side], known[other_side(side)], most=SAID_BEFORE):
                return flaw
            if self.strays(side, text):
                return "speaks for the other side"
            if known[other_side(side)].mirrored_by(text, self.topic):
                return "begins with its opponent's words"
            if leaked := leaks(text):
                return f"says “{leaked}”, which stands in your instructions"
            if self.language is not None and language_of(text) != self.language:
                return f"is not in {self.language.name}"
            if mixes_scripts(text):
                return "has words of another language"
            return "does not end with a whole sentence" if unfinished(text) else ""

        return found

    def strays(self, side: Side, text: str) -> bool:
        """Whether a statement of the side speaks for the other one, as far as its words tell."""
        own, other = self.short(side), self.short(other_side(side))
        if self.yes_no:
            return answers_otherwise(text, self._said(other_side(side)))
        if self.names:
            return strays(text, own, other)
        return answers_otherwise(text, self._said(other_side(side))) if self.proposition else concedes(text)

    def of_each(self, called: Mapping[Side, str]) -> str:
        """Who argues for what, for a judge."""
        if not self.told:
            return ""
        if self.names:
            said = [f"{called[side]} argues {self.case(side)}." for side in SIDES]
        else:
            said = [f"{called['a']} argues {self.case('a')}; {called['b']} argues {self.stances['b']} it."]
        return " ".join(said)

    def answer(self, decision: Decision) -> FinalAnswer | None:
        winner = decision.winner
        if winner not in SIDES:
            return None
        if self.names:
            options = tuple(
                self.names[side] for side in sorted(self.names, key=lambda each: self.stances[each] != "for")
            )
            return FinalAnswer(kind="choice", value=self.names[winner], options=options)
        if self.proposition:
            value = self.verdicts[self.stances[winner] != "for"]
            return FinalAnswer(kind="choice", value=value, options=self.verdicts)
        return None

    def sentence(self, decision: Decision, called: Mapping[Side, str], scores: Mapping[Side, float | None]) -> str:
        """The answer and how it was reached, in one sentence or two; or why there is no answer."""
        if decision.winner == "undecided":
            return f"Undecided. {decision.reason}".strip()
        between = f" between {self.short('a')} and {self.short('b')}" if self.names else ""
        if decision.winner == "tie":
            level = _level(scores)
            return f"A tie{between}{f', {level}' if level else ''}. {decision.reason}".strip()
        winner = decision.winner
        answer = self.answer(decision)
        what = "it" if answer else "what it proposes"
        argued = f", who argued {'for' if self.names else self.stances[winner]} {what}," if self.told else ""
        how = f"{called[winner]}{argued} won{_margin(decision, winner, scores)} ({order_words(decision)})."
        if answer is None:
            return f"No answer to the question, which names no sides. {how}" if self.told else how
        return f"{capital(answer.value)}. {how}"

    def _claim(self, side: Side) -> str:
        return f": “{self.claims[side]}”" if self.claims else ""

    def _said(self, side: Side) -> str:
        """A yes or no to the question or proposition, in its language."""
        says_yes = self.short(side) in (YES_NO[0], self._words[0]) if self.names else self.stances[side] == "for"
        return self._words[not says_yes]

    @property
    def _proposed(self) -> str:
        return f"this proposition: “{self.proposition}”" if self.proposition else "what the question proposes"


def proposition_of(topic: str) -> str:
    """What a topic claims; empty if it asks."""
    question = read_question(topic)
    return question.proposition if question.kind == "claim" else ""


def order_words(decision: Decision) -> str:
    """What is known of the verdict in the other order."""
    if decision.read_twice:
        if decision.tally is None:
            return "the other order agrees"
        return f"{decision.flips} of {decision.read_twice} flipped in the other order"
    return "each case was scored by itself" if decision.apart else "not checked in the other order"


def _margin(decision: Decision, winner: Side, scores: Mapping[Side, float | None]) -> str:
    if decision.tally is not None:
        votes = decision.tally[winner]
        return f" by {votes:g} vote{'s' * (votes != 1)} to {decision.tally[other_side(winner)]:g}"
    own, other = scores[winner], scores[other_side(winner)]
    return f" {own:g} to {other:g}" if own is not None and other is not None and own > other else ""


def _level(scores: Mapping[Side, float | None]) -> str:
    """The points of a tie; empty where they differ, because something else has made it one."""
    a, b = scores["a"], scores["b"]
    return f"{a:g} to {b:g}" if a is not None and a == b else ""


_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def uncapital(text: str) -> str:
    """The text within a sentence: its first letter small, unless its first word is written in capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# What was said


def heard(known: Mapping[Side, Known], seat: Seat, side: Side, round: int, text: str) -> Speech:
    """A statement that the seat has just made, with what is wrong with it. `known`: what each side has said before, to
    which it is added."""
    flaw = flaw_of(text, seat.finish_reason, known[side], known[other_side(side)])
    known[side].add(text)
    return Speech(side=side, round=round, text=text, flaw=flaw, cut=seat.finish_reason == "length")


def nothing_said(said: Sequence[Speech], called: Mapping[Side, str]) -> str:
    """Why there is nothing to rule on: a side has not spoken, or has said nothing of its own. Empty if both have."""
    for side in SIDES:
        own = [each for each in said if each.side == side]
        if not own:
            return f"{called[side]} was not heard, so there is nothing to rule on."
        flaws = list(dict.fromkeys(each.flaw for each in own))
        if all(flaws):
            each = "its statement" if len(own) == 1 else "each of its statements" if len(flaws) == 1 else "a statement"
            found = "; ".join(f"{each} {flaw}" for flaw in flaws)
            return f"{called[side]} has said nothing of its own, so nothing can be won: {found}."
    return ""


# Checks


def checks(
    decision: Decision,
    *,
    judge: Winner,
    said: Sequence[Speech],
    called: Mapping[Side, str],
    statement: str,
    labels: Mapping[Side, Sequence[str]],
    running: Mapping[Side, float | None] | None = None,
) -> tuple[Check, ...]:
    """What code can check about a verdict. `judge`: the winner by the judge's own scores. `labels`: what the sides may
    be called in the judge's closing words."""
    return (
        _own_words(said, called),
        _complete(said, called),
        *([_steady(judge, running, called)] if running is not None else []),
        *([_stated(decision, statement, labels)] if statement.strip() else []),
        _order(decision),
    )


def _own_words(said: Sequence[Speech], called: Mapping[Side, str]) -> Check:
    flawed = [_where(each, each.flaw, called) for each in said if each.flaw and each.flaw != LOST]
    return own_words(flawed, "both sides spoke in their own words")


def _complete(said: Sequence[Speech], called: Mapping[Side, str]) -> Check:
    cut = [each for each in said if each.cut or each.flaw == LOST]
    return complete([_where(each, LOST if each.flaw == LOST else CUT_OFF, called) for each in cut])


def _where(statement: Speech, what: str, called: Mapping[Side, str]) -> str:
    return f"{called[statement.side]}'s statement {statement.round} {what}"


def _steady(judge: Winner, running: Mapping[Side, float | None], called: Mapping[Side, str]) -> Check:
    a, b = running["a"], running["b"]
    if a is None or b is None or judge not in (*SIDES, "tie"):
        return Check(name="running scores", passed=None, words="final and running scores can't be compared")
    ahead = leader(a, b)
    if ahead in ("tie", judge):
        return Check(name="running scores", passed=True, words="the final scores agree with the running ones")
    words = f"the judge's running scores had {called[ahead]} ahead, {max(a, b):g} to {min(a, b):g}"
    return Check(name="running scores", passed=False, words=words)


def _stated(decision: Decision, statement: str, labels: Mapping[Side, Sequence[str]]) -> Check:
    if refuses(statement):
        return Check(name="statement", passed=False, words="the judge's words are a refusal to judge")
    named: set[Side] = {side for side in SIDES if _names_as_winner(statement, labels[side])}
    if len(named) == 1 and decision.winner not in named:
        (other,) = named
        return Check(name="statement", passed=False, words=f"the judge's words name {labels[other][0]} as the winner")
    return Check(name="statement", passed=True, words="the judge's words don't contradict it")


def _order(decision: Decision) -> Check:
    if not decision.read_twice:
        tried = (
            "there is no order: each case was scored by itself" if decision.apart else "the other order was not tried"
        )
        return Check(name="other order", passed=None, words=tried)
    if decision.flips:
        words = f"{decision.flips} of {decision.read_twice} readings came out differently in the other order"
        return Check(name="other order", passed=False, words=words)
    return Check(name="other order", passed=True, words="the other order agrees")


_WINS = (
    r"(?:wins?\b|won\b|is the winner|was the winner|prevail(?:s|ed)\b|carries the|carried the|takes the debate|took "
    r"the debate|(?:is|was) the (?:stronger|better)|(?:has|had|made|makes|gave|presented) the (?:stronger|better) )"
)


def _names_as_winner(statement: str, names: Sequence[str]) -> bool:
    text = statement.replace("’", "'")
    for name in names:
        known = re.escape(name)
        if re.search(
            rf"(?<!\w){known}(?!\w)(?:'s (?:case|side))?[^.!?:\w]{{0,3}}(?:\w+ ){{0,2}}{_WINS}", text, re.IGNORECASE
        ):
            return True
        if re.search(rf"\bwinner (?:is|was)\W{{1,3}}{known}(?!\w)|\bin favou?r of {known}(?!\w)", text, re.IGNORECASE):
            return True
    return False
