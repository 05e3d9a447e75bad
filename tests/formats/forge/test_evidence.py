"""What counts as evidence in a forge: given tests, agreed ones, and the confidence that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Any

import pytest

from moot.core.steps import Step, Use
from moot.core.types import UNDECIDED, Confidence, Failure
from moot.formats.forge.board import Board
from moot.reasoning.code.evidence import Statement
from tests.formats.forge.world import (
    ALSO_RIGHT,
    ATTACK,
    INVALID,
    RIGHT,
    TASK,
    TESTS,
    WRONG,
    World,
    case,
    cases,
    confidence_of,
    delivered,
    forge,
    repair,
    solution,
    tied,
    truth,
)


def test_given_tests_come_first_and_impossible_ones_leave_no_winner():
    outcome = forge(cases=["mid(1, 2) == 2", "mid(1, 1) == 99"]).outcome
    assert (outcome.winner, outcome.answer) == (UNDECIDED, None)
    assert "No version passes all 2 given tests" in outcome.headline
    assert "mid(1, 1) == 99" in outcome.headline
    assert outcome.headline.endswith(
        "Either no engineer managed it, or the test is wrong or asks for something that the task does not say. If the "
        "test is right, try another model or more attempts."
    )


def test_a_version_that_fails_a_given_test_can_not_win_by_agreed_ones():
    """All blind seats are wrong about one call; the person's own test says otherwise."""
    outcome = forge(World({"e1": WRONG}), cases=["mid(-1, -2) == -1"]).outcome
    assert delivered(outcome) == WRONG
    assert "(1 given, 5 agreed)" in outcome.headline


def test_a_seat_that_is_asked_twice_is_one_of_those_asked():
    board = Board(given={})
    call, two = ("f(1)",), Statement(expected="2")
    for seat in ("o1", "o1", "o1", "o2", "tester"):
        board.ask(seat, call)
    for seat in ("o2", "tester"):
        board.state(seat, call, two)
    assert board.settled(call).standing == "agreed"


def test_of_too_many_examples_the_first_count_and_the_rest_are_named():
    examples = "".join(f">>> mid({n}, 0)\n{n}\n" for n in range(120))
    outcome = forge(topic=f"{TASK}\n\n{examples}").outcome
    assert "100 given" in outcome.headline
    assert any("20 are left out" in note for note in outcome.notes)


def test_a_check_that_fails_is_no_check():
    def failing(step):
        broken = isinstance(step, Use) and step.tool == "checks"
        return Failure(kind="unavailable", message="no tools") if broken else World()(step)

    sections = {each.title: each.items for each in forge(failing).outcome.record.sections}
    assert "No linter, type or security checker looked at it." in sections["Not checked"]


def rerun(change: Callable[[], dict[str, Any]]) -> Callable[[Step], Any]:
    """A world in which one call has another result, each time it is made."""

    def answered(step: Step) -> Any:
        answer = World()(step)
        if isinstance(step, Use) and step.tool == "cases":
            for call, result in zip(step.arguments["calls"], answer["results"], strict=True):
                if call == ["mid(2, 2)"]:
                    result.update(change())
        return answer

    return answered


def test_tests_that_were_not_run_are_not_called_failed():
    outcome = forge(rerun(lambda: {"outcome": "not_run"})).outcome
    assert outcome.headline.endswith("; the rest could not be run.")
    assert confidence_of(outcome).source.endswith("tests were not run")


def test_results_that_differ_between_runs_are_quarantined():
    values = count()
    outcome = forge(rerun(lambda: {"value": str(next(values))})).outcome
    assert outcome.details["standings"]["quarantined"] == 1
    assert "5 tests that count" in outcome.headline


def test_random_results_of_one_author_fail_a_test_and_do_not_take_it_out():
    values = cycle("01")
    outcome = forge(rerun(lambda: {"value": next(values)}), engineers=1).outcome
    assert "quarantined" not in outcome.details["standings"]
    assert "the rest it fails" in outcome.headline


def test_without_any_test_nothing_is_run_and_no_number_is_made_up():
    world = World(tests=INVALID, attack=INVALID, write=lambda step: solution(RIGHT))
    outcome = forge(world, optimization=False).outcome
    assert outcome.winner == UNDECIDED
    assert outcome.headline.startswith("Nothing was run")
    assert {each["pass_rate"] for each in outcome.details["versions"]} == {None}
    assert {each["quality"] for each in outcome.details["versions"]} == {None}


def test_where_blind_seats_disagree_nothing_counts_and_nothing_is_claimed():
    wrong = dict.fromkeys(TESTS, "17")
    world = World(**{"predict/o1": lambda step: truth(step, wrong), "predict/o2": lambda step: truth(step, {})})
    outcome = forge(world).outcome
    assert confidence_of(outcome).level == "Low"
    assert "no test counts" in outcome.headline
    assert any("disagree" in item for section in outcome.record.sections for item in section.items)


def test_a_full_pool_has_room_for_attacks():
    def write(step):
        k = int(step.seat.id[1]) * 100
        return solution(WRONG, {f"mid({k + n}, 1)": str(k + n) for n in range(12)})

    world = World(write=write, tests={"cases": cases({f"mid({n}, 900)": "900" for n in range(12)})})
    world.exact["1/attack/critic"] = ATTACK
    played = forge(world, optimization=False)
    assert played.outcome.details["attacks"] == {"made": 1, "held": 1}


@pytest.mark.parametrize(("judged", "weight"), [(INVALID, "1/2"), (lambda step: truth(step, {}), "1/3")])
def test_only_an_attack_that_was_judged_can_be_refuted(judged, weight):
    attack = {"cases": [case("mid(-8, -8)", "0")]}
    world = tied(**{"1/attack/critic": attack, "1/predict-attack/o1": judged, "1/predict-attack/o2": judged})
    played = forge(world, optimization=False)
    assert played.outcome.details["attacks"] == {"made": 1, "held": 0}
    ballots = {ballot.voter: str(ballot.weight) for ballot in played.outcome.polls[0].ballots}
    assert ballots["critic"] == weight


def test_calls_that_blind_seats_gave_no_answer_to_lower_the_confidence():
    given = [f"{call} == {value}" for call, value in TESTS.items()]
    own = {f"mid({n}, 50)": "50" for n in range(4)}
    world = World({"e3": RIGHT}, predict=INVALID, tests={"cases": cases(own)})
    outcome = forge(world, cases=given, adversarial=False, optimization=False).outcome
    assert outcome.answer is not None
    assert confidence_of(outcome).level == "Medium"


def test_blind_seats_of_whom_two_in_three_agree_on_each_test_are_guessing():
    def guesses(step):
        """Each is wrong about every third call, and never two about the same."""
        seat = ("o1", "o2").index(step.seat.id)
        known = dict(TESTS)
        for n, call in enumerate(TESTS):
            if n % 3 == seat:
                known[call] = f"{40 + seat}"
        return truth(step, known)

    calls = {call: "42" if n % 3 == 2 else value for n, (call, value) in enumerate(TESTS.items())}
    world = World({"e3": RIGHT}, predict=guesses, tests={"cases": cases(calls)}, repair=repair(RIGHT))
    outcome = forge(world, adversarial=False, optimization=False, critique=False, review=False).outcome
    assert outcome.details["standings"]["agreed"] == 6
    assert confidence_of(outcome).level == "Low"
    assert "two said the same about a call in only 6 of 18 cases" in confidence_of(outcome).source


def test_high_confidence_takes_a_test_that_was_given():
    """However many tests models have written, and however well they agree on them."""
    known = {**TESTS, **{f"mid({n}, 50)": "50" for n in range(6)}}
    world = World({"e3": RIGHT}, tests={"cases": cases(known)}, predict=lambda step: truth(step, known))
    assert confidence(world).level == "Medium"
    assert confidence(world, cases=["mid(1, 2) == 2"]).level == "High"


def test_high_confidence_takes_a_given_test_that_the_code_can_not_interfere_with():
    """What runs in the process of the code can be made to pass by it."""
    file = "from solution import mid\nassert mid(-1, -2) == 0\n"
    found = confidence(World({"e3": RIGHT}), tests=file)
    assert found.level == "Medium"
    assert "ran in the process of the code" in found.source
    assert confidence(World({"e3": RIGHT}), tests=file, cases=["mid(1, 2) == 2"]).level == "High"


def confidence(world: World, **settings: Any) -> Confidence:
    return confidence_of(forge(world, adversarial=False, optimization=False, critique=False, **settings).outcome)


def test_few_tests_that_models_wrote_are_no_reason_for_confidence():
    few = {"mid(1, 2)": "2", "mid(-1, -2)": "0", "mid(3, 2)": "3", "mid(0, -5)": "0"}
    world = World(tests={"cases": cases(few)}, write=solution(RIGHT))
    assert confidence(world).level == "Low"


def test_a_given_test_file_must_pass_and_is_called_weaker():
    file = "from solution import mid\nassert mid(-1, -2) == 0\n"
    outcome = forge(tests=file).outcome
    assert delivered(outcome) == ALSO_RIGHT
    assert any("in the process of the code" in note for note in outcome.notes)
    impossible = forge(tests="from solution import mid\nassert mid is None\n").outcome
    assert impossible.winner == UNDECIDED
    assert impossible.headline.startswith("No version passes the given test. In ")
    assert "In the test file, test: failed." in impossible.headline


def test_a_critic_without_an_attack_is_no_count_of_none():
    attacks = next(each for each in forge().outcome.record.sections if each.title == "Attacks")
    assert attacks.items == ("The critic looked for an attack, and made none that could be run.",)


def test_attacks_that_repeat_tests_that_count_are_not_called_impossible_to_run():
    repeated = {"cases": [case("mid(1, 2)", "2"), case("mid(3, 2)", "3"), case("other(1)", "1")]}
    outcome = forge(World(attack=repeated)).outcome
    attacks = next(each for each in outcome.record.sections if each.title == "Attacks")
    assert attacks.items == (
        "The critic looked for an attack, and made none that was new: tests that count have the same calls.",
    )
    assert outcome.details["attacks"] == {"made": 0, "held": 0}


def test_without_a_winner_no_words_of_a_model_say_why_one_was_chosen():
    played = forge(World(repair=INVALID), cases=["mid(1, 2) == 99"])
    assert played.outcome.answer is None
    assert played.outcome.statement == ""
    assert "It takes the larger one." not in str(played.outcome.record)
    asked = next(step for step in played.steps if step.phase == "teach").prompt.text
    assert "why no version was chosen" in asked
    won = forge()
    assert won.outcome.statement == "It takes the larger one."
    asked = next(step for step in won.steps if step.phase == "teach").prompt.text
    assert "how the code works and why it was chosen" in asked
