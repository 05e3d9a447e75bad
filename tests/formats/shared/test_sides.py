"""Two sides: what they are told, what a verdict says, and that nothing is won with nothing."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.script import Step
from moot.core.settings import read
from moot.core.types import TIE, UNDECIDED
from moot.formats import installed
from moot.formats.shared import sides
from moot.formats.shared.jury import Speech
from moot.formats.shared.sides import Sides
from moot.reasoning.verdict import Decision
from tests.formats.ways import good_but
from tests.playing import good, play, script_of

NAMES = {"a": "Debater A", "b": "Debater B"}
REDIS = Sides.of(("Redis", "PostgreSQL"))


def settled(format_name: str, topic: str, **given: Any) -> Any:
    format_ = installed()[format_name]
    return format_.settle(read(format_.settings, given), topic)


@pytest.mark.parametrize("name", ["classic", "duel"])
def test_a_question_gives_its_sides_unless_they_are_given(name: str):
    assert settled(name, "Redis, Kafka or NATS?").sides == ("Redis", "Kafka")
    assert settled(name, "Should we?").sides == ("Yes", "No")
    assert settled(name, "How should we do it?").sides is None
    assert settled(name, "Redis or Kafka?", sides=("Tea", "Coffee")).sides == ("Tea", "Coffee")


def test_a_duel_whose_characters_have_positions_keeps_them():
    own = [{"name": "Ann", "position": "You argue for tabs."}, {"name": "Bob", "position": "You argue for spaces."}]
    assert settled("duel", "Tea or coffee?", debaters=own).sides is None
    assert settled("duel", "Tea or coffee?", premise="Tea is better.").sides is None
    played = play(script_of("duel", "Tea or coffee?", debaters=own, turns=2))
    assert "You argue for tabs." in played.step("0/plan/a").messages[0].text
    assert "Your opponent argues" not in played.step("0/plan/a").messages[0].text
    assert played.outcome.answer is None
    assert played.outcome.headline == "Ann won 8 to 6 (not checked in the other order)."


@pytest.mark.parametrize("name", ["classic", "duel"])
def test_everyone_is_told_the_sides_and_the_topic(name: str):
    played = play(script_of(name, "Redis or PostgreSQL?", sides=("Redis", "PostgreSQL")))
    told = {step.seat.id: messages[0].text for step, messages in played.sent}
    assert "You argue for “Redis”, against “PostgreSQL”." in told["a"]
    assert "You argue for “PostgreSQL”, against “Redis”." in told["b"]
    for word in ("Redis or PostgreSQL?", "“Redis”", "“PostgreSQL”"):
        assert word in told["judge"]


@pytest.mark.parametrize(
    ("named", "begins"),
    [
        (("buy a house", "rent"), "It is better to buy a house, because"),
        (("Buy a tool", "build one"), "It is better to buy a tool, because"),
        (("bike lanes", "more buses"), "Bike lanes"),
        (("Redis", "PostgreSQL"), "Redis"),
        (("Yes", "No"), "Yes, because"),
    ],
)
def test_how_a_statement_begins(named: tuple[str, str], begins: str):
    assert Sides.of(named).begin("a") == begins


def test_points_that_name_only_the_other_side_are_left_out():
    taken = Sides.of(("an electric car", "the hybrid"))
    points = [
        "Electric cars are clean.",
        "Hybrids are cheaper.",
        "No fuel",
        "A hybrid costs more than an electric car.",
    ]
    assert taken.own_points("a", points) == (points[0], points[2], points[3])
    assert taken.own_points("b", points[:1]) == (points[0],)  # there is nothing else
    assert Sides.of(("Yes", "No")).own_points("a", ["No fuel"]) == ("No fuel",)


def test_a_stance_turns_the_sides_around():
    played = play(script_of("classic", sides=("Redis", "PostgreSQL"), a_stance="con", max_rounds=1))
    assert "You argue for “PostgreSQL”" in played.step("1/speak/a").messages[0].text
    assert played.outcome.answer is not None
    assert played.outcome.answer.value == "PostgreSQL"
    assert played.outcome.answer.options == ("Redis", "PostgreSQL")


ONCE = "(not checked in the other order)"
CLAIM, OPEN = Sides.of(None, topic="Tea beats coffee"), Sides.of(None)


def decided(winner: Any, tally: tuple[float, ...] = (), **more: Any) -> Decision:
    votes: dict[str, float] | None = dict(zip(("a", "b", "tie", "abstains"), tally, strict=True)) if tally else None
    return Decision(winner=winner, source="jury" if tally else "judge", tally=votes, **more)


@pytest.mark.parametrize(
    ("taken", "decision", "scores", "sentence"),
    [
        (REDIS, decided("b"), (5, 7), f"PostgreSQL. Debater B, who argued for it, won 7 to 5 {ONCE}."),
        (
            REDIS,
            decided("a", read_twice=1),
            (7, 5),
            "Redis. Debater A, who argued for it, won 7 to 5 (the other order agrees).",
        ),
        (
            REDIS,
            decided("a", apart=True),
            (6.3, 5),
            "Redis. Debater A, who argued for it, won 6.3 to 5 (each case was scored by itself).",
        ),
        (
            REDIS,
            decided("b", (1, 3, 0, 0), read_twice=3),
            (8, 2),  # the judge was outvoted: its scores are not what won
            "PostgreSQL. Debater B, who argued for it, won by 3 votes to 1 (0 of 3 flipped in the other order).",
        ),
        (
            REDIS,
            decided("b", (0, 1, 0, 3)),
            (5, 7),
            f"PostgreSQL. Debater B, who argued for it, won by 1 vote to 0 {ONCE}.",
        ),
        (CLAIM, decided("b"), (5, 7), f"It does not hold. Debater B, who argued against it, won 7 to 5 {ONCE}."),
        (
            OPEN,
            decided("a"),
            (7, 5),
            "No answer to the question, which names no sides. Debater A, who argued for what it proposes, won 7 to 5 "
            f"{ONCE}.",
        ),
        (REDIS, decided("tie", reason="Why."), (8, 2), "A tie between Redis and PostgreSQL. Why."),
        (REDIS, decided("tie", reason="Why."), (6, 6), "A tie between Redis and PostgreSQL, 6 to 6. Why."),
        (REDIS, decided("undecided", reason="No JSON."), (None, None), "Undecided. No JSON."),
    ],
)
def test_the_sentence(taken: Sides, decision: Decision, scores: tuple[Any, Any], sentence: str):
    assert taken.sentence(decision, NAMES, {"a": scores[0], "b": scores[1]}) == sentence


def speech(side: Any, n: int, flaw: str = "", *, cut: bool = False) -> Speech:
    return Speech(side=side, round=n, text=f"{side}{n}", flaw=flaw, cut=cut)


def checked(decision: Decision, said: list[Speech], statement: str = "", **more: Any) -> dict[str, bool | None]:
    labels = {"a": ["Debater A", "Redis"], "b": ["Debater B", "PostgreSQL"]}
    options = {"judge": decision.winner, "running": None, **more}
    found = sides.checks(decision, said=said, called=NAMES, statement=statement, labels=labels, **options)
    return {check.name: check.passed for check in found}


A_WINS = Decision(winner="a", source="judge")
BOTH = [speech("a", 1), speech("b", 1)]


def test_what_is_checked():
    assert checked(A_WINS, BOTH) == {"own words": True, "complete": True, "other order": None}
    assert checked(A_WINS, [*BOTH, speech("b", 2, "repeats its opponent's words")])["own words"] is False
    assert checked(A_WINS, [*BOTH, speech("b", 2, cut=True)])["complete"] is False
    assert checked(Decision(winner="tie", source="judge", flips=1, read_twice=1), BOTH)["other order"] is False
    assert checked(Decision(winner="a", source="judge", read_twice=1), BOTH)["other order"] is True


def test_final_scores_that_contradict_the_running_ones_are_found():
    assert checked(A_WINS, BOTH, running={"a": 2, "b": 7})["running scores"] is False
    assert checked(A_WINS, BOTH, running={"a": 7, "b": 2})["running scores"] is True
    assert checked(A_WINS, BOTH, running={"a": None, "b": 2})["running scores"] is None


@pytest.mark.parametrize(
    ("statement", "passed"),
    [
        ("Debater A won because its evidence held.", True),
        ("Debater B wins this debate.", False),
        ("In my view PostgreSQL is the winner.", False),
        ("The winner is Debater B.", False),
        ("Debater B won the first round, but Debater A wins the debate.", True),
        ("As an AI language model I cannot take sides.", False),
    ],
)
def test_a_statement_that_names_the_other_side_or_refuses_is_found(statement: str, passed: bool):
    assert checked(A_WINS, BOTH, statement)["statement"] is passed


COPY = "The very same words that the other side has said, one after the other, all of them again."


@pytest.mark.parametrize("name", ["classic", "duel"])
@pytest.mark.parametrize("said", ["", " ", COPY])
def test_a_side_that_says_nothing_of_its_own_wins_nothing(name: str, said: str):
    def answer(step: Step) -> Any:
        if step.phase != "speak":
            return good(step)
        return COPY if step.seat.id == "a" and step.round == 1 else said if step.seat.id == "b" else good(step)

    outcome = play(script_of(name), answer).outcome
    assert outcome.winner == UNDECIDED
    assert outcome.answer is None
    assert "has said nothing of its own, so nothing can be won" in outcome.headline
    assert next(check for check in outcome.checks if check.name == "own words").passed is False


def test_a_judge_reads_which_statement_is_a_copy():
    def answer(step: Step) -> Any:
        copied = step.phase == "speak" and step.key in ("1/speak/a", "2/speak/b")
        return COPY if copied else good(step)

    played = play(script_of("classic", max_rounds=2), answer)
    assert "Debater B (this statement repeats its opponent's words)" in played.step("2/verdict/judge").prompt.text
    assert played.outcome.winner == "a"  # B's first statement is its own


def test_a_duel_is_announced_after_all_readings():
    basil = {"reasoning": "r", "score_first": 9, "score_second": 1}  # whom the second judge reads first
    answer = good_but(basil, at="ballot")
    played = play(script_of("duel", swap=True, turns=2, sides=("Redis", "PostgreSQL")), answer)
    told = played.step("2/announce/judge").prompt.text
    assert played.outcome.winner == TIE
    assert "A tie between Redis and PostgreSQL" in told
    assert played.outcome.headline in told


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ("¿Debería una empresa pequeña permitir el teletrabajo?", ("Sí", "No")),
        ("Faut-il interdire les téléphones à l'école ?", ("Oui", "Non")),
        ("Sollen wir die Schule am Samstag öffnen?", ("Ja", "Nein")),
        ("Should we open on Saturdays?", ("Yes", "No")),
    ],
)
def test_yes_and_no_are_named_in_the_language_of_the_question(topic: str, named: tuple[str, str]):
    assert sides.settle(read(installed()["classic"].settings, {}), topic).sides == named
    for given in (named, ("Yes", "No")):
        assert Sides.of(given, topic=topic).yes_no
    assert f"the answer is {named[1]}" in Sides.of(named, topic=topic).task("b")
    assert not Sides.of(("Redis", "No"), topic=topic).yes_no
