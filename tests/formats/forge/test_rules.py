"""The rules of a forge: who is asked what, what counts, and how it ends."""

from __future__ import annotations

import random
from typing import Any

import pytest

from moot.core.steps import Use
from moot.core.types import TIE, UNDECIDED, Failure
from moot.formats.forge.board import Board
from moot.formats.forge.settings import PHASES
from moot.reasoning.code.evidence import Statement
from moot.reasoning.topology import KINDS
from moot.reasoning.voting import count
from tests.formats.forge.world import (
    ALSO_RIGHT,
    GONE,
    INVALID,
    RIGHT,
    TASK,
    TESTS,
    WORSE,
    WRONG,
    World,
    case,
    cases,
    forge,
    kind_of,
    labels,
    repair,
    solution,
    truth,
)
from tests.playing import play, script_of, turn_for

LIMIT = Failure(kind="limit", message="none left")
SCRIPT = "from solution import mid\n\n\ndef test():\n    assert mid(1, 2) == 2\n"


def phases(played) -> list[str]:
    return [event.data["phase"] for event in played.shown if event.type == "PHASE_BEGINS"]


def asked(played, phase: str) -> list[str]:
    return [step.seat.id for step in played.steps if step.phase == phase]


def test_evidence_selects_the_simplest_of_the_versions_that_pass_all_that_counts():
    played = forge()
    outcome = played.outcome
    assert phases(played) == list(PHASES)
    assert outcome.winner == "e2"
    assert outcome.headline == "Version 2 by Engineer B passes all 6 tests that count (6 agreed)."
    assert outcome.answer is not None
    assert (outcome.answer.kind, outcome.answer.value) == ("code", ALSO_RIGHT)
    assert outcome.confidence is not None
    assert (outcome.confidence.level, outcome.confidence.source) == (
        "Medium",
        "all 6 tests that count pass, but models wrote all of them",
    )
    assert outcome.ended_by == "played"
    assert not outcome.polls


def test_a_repair_is_a_version_of_its_own_and_the_first_one_stays():
    played = forge(World({"e1": WRONG, "e2": WRONG, "e3": WRONG}))
    versions = [(each["version"], each["author"], each["parent"]) for each in played.outcome.details["versions"]]
    assert versions[:3] == [("V1", "e1", None), ("V2", "e2", None), ("V3", "e3", None)]
    assert {parent for _, _, parent in versions[3:6]} == {"V1", "V2", "V3"}
    assert played.outcome.answer is not None
    assert played.outcome.answer.value == RIGHT


def test_a_repair_that_passes_fewer_tests_is_recorded_and_not_adopted():
    played = forge(World({"e1": WRONG, "e2": WRONG, "e3": WRONG}, repair=repair(WORSE)), optimization=False)
    assert played.outcome.answer is not None
    assert played.outcome.answer.value == WRONG
    assert len(played.outcome.details["versions"]) > 3
    assert played.outcome.headline.endswith("passes 6 of 7 tests that count (7 agreed); the rest it fails.")
    assert played.outcome.confidence is not None
    assert played.outcome.confidence.level == "Low"


def test_given_tests_come_first_and_impossible_ones_leave_no_winner():
    outcome = forge(cases=["mid(1, 2) == 2", "mid(1, 1) == 99"]).outcome
    assert (outcome.winner, outcome.answer) == (UNDECIDED, None)
    assert "No version passes all 2 given tests" in outcome.headline
    assert "mid(1, 1) == 99" in outcome.headline
    assert "Either the test is wrong" in outcome.headline


def test_a_version_that_fails_a_given_test_can_not_win_by_agreed_ones():
    """All blind seats are wrong about one call; the person's own test says otherwise."""
    outcome = forge(World({"e1": WRONG}), cases=["mid(-1, -2) == -1"]).outcome
    assert outcome.answer is not None
    assert outcome.answer.value == WRONG
    assert "(1 given, 5 agreed)" in outcome.headline


def test_a_seat_that_is_asked_twice_is_one_of_those_asked():
    board = Board(given={})
    call, two = ("f(1)",), Statement(expected="2")
    for seat in ("o1", "o1", "o1", "o2", "tester"):
        board.ask(seat, call)
    for seat in ("o2", "tester"):
        board.state(seat, call, two)
    assert board.settled(call).standing == "agreed"


def test_examples_in_the_task_are_given_tests():
    played = forge(topic=f"{TASK}\n\n>>> mid(1, 2)\n2\n>>> mid(-1, -1)\n0\n")
    assert "(2 given" in played.outcome.headline


def test_of_too_many_examples_the_first_count_and_the_rest_are_named():
    examples = "".join(f">>> mid({n}, 0)\n{n}\n" for n in range(520))
    outcome = forge(topic=f"{TASK}\n\n{examples}").outcome
    assert "100 given" in outcome.headline
    assert any("420 are left out" in note for note in outcome.notes)


def test_a_check_that_fails_is_no_check():
    def failing(step):
        broken = isinstance(step, Use) and step.tool == "checks"
        return Failure(kind="unavailable", message="no tools") if broken else World()(step)

    sections = {each.title: each.items for each in forge(failing).outcome.record.sections}
    assert "No linter, type or security checker looked at it." in sections["Not checked"]


def test_tests_that_were_not_run_are_not_called_failed():
    def unfinished(step):
        given = World()(step)
        if isinstance(step, Use) and step.tool == "cases":
            for call, result in zip(step.arguments["calls"], given["results"], strict=True):
                if call == ["mid(2, 2)"]:
                    result["outcome"] = "not_run"
        return given

    outcome = forge(unfinished).outcome
    assert outcome.headline.endswith("; the rest could not be run.")
    assert outcome.confidence is not None
    assert outcome.confidence.source.endswith("tests were not run")


def test_an_improvement_of_the_only_version_wins_as_that():
    better = "def mid(a, b):\n    return 0 if a < 0 > b else [a, b][b > a]\n"
    first = ALSO_RIGHT.replace("return a if a > b else b", "if a > b:\n        return a\n    return b")
    world = World({"e1": first}, refactor={"code": better}, speed={"code": better})
    outcome = forge(world, engineers=1).outcome
    assert outcome.answer is not None
    assert outcome.answer.value == better
    assert outcome.how == "Chosen because it improves on a version that passes the same tests."


def test_a_model_that_never_writes_code_ends_in_a_clear_sentence():
    played = forge(World(write=INVALID))
    outcome = played.outcome
    assert (outcome.winner, outcome.ended_by) == (UNDECIDED, "no_code")
    assert outcome.headline == (
        "No engineer wrote any code, so there is nothing to choose. three bad tries If the "
        "task asks for none, ask it in another format."
    )
    assert outcome.scores == {}
    assert not asked(played, "predict")


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
    assert outcome.confidence is not None
    assert outcome.confidence.level == "Low"
    assert "no test counts" in outcome.headline
    assert any("disagree" in item for section in outcome.record.sections for item in section.items)


def test_results_that_differ_between_runs_are_quarantined():
    played_runs = iter(range(1000))

    def flaky(step):
        answer = World()(step)
        if isinstance(step, Use) and step.tool == "cases":
            for call, result in zip(step.arguments["calls"], answer["results"], strict=True):
                if call == ["mid(2, 2)"]:
                    result["value"] = str(next(played_runs))
        return answer

    outcome = forge(flaky).outcome
    assert outcome.details["standings"]["quarantined"] == 1
    assert "5 tests that count" in outcome.headline


def test_random_results_of_one_author_fail_a_test_and_do_not_take_it_out():
    played_runs = iter(range(1000))

    def flaky(step):
        answer = World()(step)
        if isinstance(step, Use) and step.tool == "cases":
            for call, result in zip(step.arguments["calls"], answer["results"], strict=True):
                if call == ["mid(2, 2)"]:
                    result["value"] = str(next(played_runs) % 2)
        return answer

    outcome = forge(flaky, engineers=1).outcome
    assert "quarantined" not in outcome.details["standings"]
    assert "the rest it fails" in outcome.headline


ATTACK = {"cases": [case("mid(-9, -9)", "0")]}


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
    assert outcome.confidence is not None
    assert outcome.confidence.level == "Medium"


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
    assert outcome.confidence is not None
    assert outcome.confidence.level == "Low"
    assert "two said the same about a call in only 6 of 18 cases" in outcome.confidence.source


def test_high_confidence_takes_a_test_that_was_given():
    """However many tests models have written, and however well they agree on them."""
    known = {**TESTS, **{f"mid({n}, 50)": "50" for n in range(6)}}
    world = World({"e3": RIGHT}, tests={"cases": cases(known)}, predict=lambda step: truth(step, known))
    assert confidence(world) == "Medium"
    assert confidence(world, cases=["mid(1, 2) == 2"]) == "High"


def confidence(world: World, **settings) -> str:
    outcome = forge(world, adversarial=False, optimization=False, critique=False, **settings).outcome
    assert outcome.confidence is not None
    return outcome.confidence.level


def test_few_tests_that_models_wrote_are_no_reason_for_confidence():
    few = {"mid(1, 2)": "2", "mid(-1, -2)": "0", "mid(3, 2)": "3", "mid(0, -5)": "0"}
    assert confidence(World({"e3": RIGHT}, tests={"cases": cases(few)}, write=lambda _: solution(RIGHT))) == "Low"


def test_an_attack_that_holds_is_patched_and_the_patch_wins():
    seen = {"mid(1, 2)": "2", "mid(3, 2)": "3"}
    world = World(
        {"e1": WRONG, "e2": WRONG, "e3": WRONG},
        tests={"cases": cases(seen)},
        **{"1/attack/critic": ATTACK},
    )
    played = forge(world, optimization=False)
    assert played.outcome.details["attacks"] == {"made": 1, "held": 1}
    assert asked(played, "defend") == ["e1"]
    assert played.outcome.answer is not None
    assert played.outcome.answer.value == RIGHT


def test_an_attack_that_no_blind_seat_confirms_changes_nothing_and_costs_red_weight():
    false = {"cases": [case("mid(5, 1)", "1"), case("mid(1, 5)", "1")]}
    world = World({"e2": RIGHT.replace("mid", "mid"), "e3": RIGHT}, **{"1/attack/critic": false})
    played = forge(world)
    assert played.outcome.details["attacks"] == {"made": 2, "held": 0}
    assert not asked(played, "defend")
    assert len(asked(played, "attack")) == 1


def test_a_crash_alone_is_no_attack_unless_blind_seats_say_what_should_happen():
    world = World(**{"1/attack/critic": {"cases": [case("mid('a', 1)", "0")]}})
    outcome = forge(world).outcome
    assert outcome.details["attacks"] == {"made": 1, "held": 0}
    assert outcome.winner == "e2"


TIED = {"e1": "def mid(a, b):\n    return a + 1\n", "e2": "def mid(a, b):\n    return b + 1\n", "e3": WORSE}


def tied(**exact) -> World:
    """Three versions that do different things, and no test that counts."""
    exact = {"repair": INVALID, "predict": lambda step: truth(step, {}), **exact}
    return World(TIED, confirm=lambda step: truth(step, {}), tests={"cases": cases({"mid(3, 5)": "4"})}, **exact)


def test_votes_break_ties_with_computed_weights_and_anyone_can_count_them_again():
    def prefers(step):
        return {"reasoning": "It is.", "ranking": ["V3"] if "V3" in labels(step) else [labels(step)[0]]}

    outcome = forge(tied(vote=prefers), optimization=False).outcome
    assert outcome.winner == "e3"
    assert outcome.how == "Chosen because the evidence tied, and the vote decided."
    poll = outcome.polls[0]
    assert {ballot.voter for ballot in poll.ballots} == {"e1", "e2", "e3", "critic", "judge"}
    assert all("V" + ballot.voter[1:] not in ballot.ranking for ballot in poll.ballots)
    assert count(poll.method, poll.candidates, poll.ballots, poll.tie_breaks) == poll.result
    assert any(section.title == "Votes" for section in outcome.record.sections)


def test_a_tie_is_said_to_be_one():
    equal = {"e1": "def mid(a, b):\n    return a + 1\n", "e2": "def mid(a, b):\n    return b + 1\n"}
    world = tied(vote=INVALID)
    world.code |= equal | {"e3": "def mid(a, b):\n    return 9\n"}
    outcome = forge(world, optimization=False).outcome
    assert (outcome.winner, outcome.answer) == (TIE, None)
    assert outcome.headline.startswith("A tie between Version")
    assert outcome.confidence is not None
    assert outcome.confidence.level == "Low"


def test_questions_go_to_a_person_where_the_task_is_ambiguous_and_has_no_tests():
    open_ = {
        "confidence": 0.3,
        "complexity": "simple",
        "ambiguity": 0.9,
        "questions": [{"question": "Which numbers?", "category": "requirements", "priority": "high"}],
    }
    meant = World(**{"1/clarify/e1": open_, "1/meant/you": {"text": "Whole numbers."}})
    played = forge(meant)
    assert asked(played, "meant") == ["you"]
    assert not asked(played, "readings")
    assert all("Whole numbers." in step.prompt.text for step in played.steps if step.phase in ("write", "predict"))

    nothing = World(**{"1/clarify/e1": open_, "1/meant/you": {"text": ""}})
    played = forge(nothing)
    assert asked(played, "readings") == ["judge"]
    assert played.outcome.details["assumptions"] == ["Numbers only."]

    judged = forge(World(**{"1/clarify/e1": open_}), clarify="judge")
    assert not asked(judged, "meant")
    tested = forge(World(**{"1/clarify/e1": open_}), cases=["mid(1, 2) == 2"])
    assert not asked(tested, "clarify")


def issue(label: str, line: str = "") -> dict:
    return {"version": label, "severity": "high", "claim": "It ignores the sign.", "case": line}


def test_issues_are_tested_and_the_best_two_authors_answer_each():
    world = World(
        {"e1": WRONG, "e2": WRONG, "e3": WRONG},
        tests={"cases": cases({"mid(1, 2)": "2"})},
        **{
            "critique/critic": {"issues": [issue("V1", "mid(-9, -9) == 0"), issue("V2")]},
            "review/e1": {"answers": [{"number": 1, "accepted": True, "reason": ""}], "code": RIGHT},
            "review/e2": {"answers": [], "code": None},
        },
    )
    played = forge(world, adversarial=False, optimization=False)
    assert asked(played, "review") == ["e1", "e2"]
    assert played.outcome.winner == "e1"
    assert played.outcome.answer is not None
    assert played.outcome.answer.value == RIGHT
    listed = next(section.items for section in played.outcome.record.sections if section.title == "Issues")
    assert [line.rpartition("(")[2] for line in listed] == ["accepted)", "not answered)"]


def test_an_improvement_is_kept_only_if_no_test_is_lost_and_a_measure_improves():
    simpler = "def mid(a, b):\n    return 0 if a < 0 > b else [a, b][b > a]\n"
    kept = forge(World(refactor={"code": simpler}, speed={"code": WRONG})).outcome
    assert kept.answer is not None
    assert kept.answer.value in (simpler, ALSO_RIGHT)
    lost = forge(World(refactor={"code": WORSE}, speed={"code": WRONG})).outcome
    assert lost.answer is not None
    assert lost.answer.value == ALSO_RIGHT


@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_can_be_switched_off(phase):
    played = forge(**{phase: False})
    assert phase not in phases(played) or phase in ("self_evolvement", "convergence")
    assert played.outcome.answer is not None
    steps = {
        "dehallucination": ["clarify"],
        "self_evolvement": ["repair", "run"],
        "proposal": ["predict", "tests"],
        "critique": ["critique"],
        "review": ["review"],
        "optimization": ["refactor", "speed"],
        "adversarial": ["attack"],
        "convergence": ["vote", "teach"],
    }
    for step in steps[phase]:
        assert not asked(played, step)


def test_all_phases_off_still_leaves_code_and_says_that_nothing_is_known():
    played = forge(**dict.fromkeys(PHASES, False))
    assert played.outcome.winner == UNDECIDED
    assert played.outcome.headline.startswith("Nothing was run")


def worst(step):
    """Everything takes as long as it can: doubts, failures, issues, attacks that hold, a tie."""
    n = step.round
    match kind_of(step):
        case "clarify":
            question = {"question": "What?", "category": "requirements", "priority": "low"}
            return {"confidence": 0.1, "complexity": "complex", "ambiguity": 0.9, "questions": [question]}
        case "meant":
            return {"text": ""}
        case "repair" | "defend":
            return repair(f"def mid(a, b):\n    return 'x{n}{step.seat.id}'\n")
        case "critique":
            return criticize(step)
        case "attack":
            return {"cases": [case(f"mid({n}00, {n})", f"{n}00")]}
        case "predict" | "confirm":
            return truth(step, {f"mid({k}00, {k})": f"{k}00" for k in range(9)} | {"mid(0, 77)": "77"})
        case "refactor" | "speed":
            return {"code": f"def mid(a, b):\n    return '{step.phase}'\n"}
        case _:
            return World(TIED)(step)


@pytest.mark.parametrize(("preset", "most"), [("default", 39), ("quick", 12)])
def test_calls_are_bounded_and_the_end_is_reserved(preset, most):
    played = forge(bounded(worst, most), preset=preset)
    assert calls(played) <= most
    assert len(asked(played, "teach")) == 1
    assert played.outcome.ended_by == "max_total_output_tokens"  # what `bounded` says it is


def calls(played) -> int:
    return sum(turn.kind == "ask" and turn.failure != LIMIT for turn in played.turns)


def bounded(answer, most: int):
    """Refuse calls as the runtime does: closing steps may use all, others leave what is reserved."""
    made = 0

    def limited(step):
        nonlocal made
        if step.kind != "ask":
            return answer(step)
        left = most - made - (step.leave.calls if step.leave else 0)
        if left < 1:
            return LIMIT
        made += 1
        return answer(step)

    return limited


def test_the_usual_case_takes_far_fewer_calls():
    world = World()
    forge(world)
    assert world.asked <= 25
    quick = World()
    forge(quick, preset="quick")
    assert quick.asked <= 8


def criticize(step):
    label = step.returns.model_json_schema()["$defs"]["Issue"]["properties"]["version"]
    return {"issues": [issue((label.get("enum") or [label["const"]])[0], f"mid({step.round}, 77) == 77")]}


def test_blind_seats_read_no_code_whatever_happens():
    for topology in KINDS:
        world = World(
            {"e1": WRONG},
            **{"1/attack/critic": ATTACK, "critique/critic": criticize},
        )
        played = forge(world, topology=topology)
        read = [(step, messages) for step, messages in played.sent if step.seat.role in ("tester", "oracle")]
        assert len(read) >= 3
        for step, messages in read:
            text = "\n".join(message.text for message in messages)
            for secret in ("def mid", "return", "Version", "It ignores the sign"):
                assert secret not in text, (step.key, secret)


@pytest.mark.parametrize("topology", KINDS)
def test_only_neighbours_are_read(topology):
    world = World(
        {seat: f"def mid(a, b):\n    return max(a, b, {n})  # by-{seat}\n" for n, seat in enumerate(("e1", "e2", "e3"))}
    )
    played = forge(world, topology=topology, optimization=False, adversarial=False, attempts=0)
    reads = played.shown[0].data["reads"]
    checked = 0
    for step, messages in played.sent:
        if step.phase == "critique":
            text = "\n".join(message.text for message in messages)
            strangers = {"e1", "e2", "e3"} - set(reads[step.seat.id])
            assert not [seat for seat in strangers if f"by-{seat}" in text]
            checked += 1
    assert checked


def test_a_chain_improves_on_its_predecessor_and_counts_as_one_author():
    played = forge(topology="chain", planning="none")
    assert "Version 1 by Engineer A, which you may improve on" in played.step("0/write/e2").prompt.text
    assert "improve on" not in played.step("0/write/e1").prompt.text


def test_everyone_plans_where_the_task_is_ambiguous():
    played = forge(planning="dpde")
    assert asked(played, "plan") == ["e1", "e2", "e3"]
    assert asked(played, "negotiate") == ["e1", "e2", "e3"]
    assert "mid(a, b)" in played.step("0/tests/tester").prompt.text


def test_a_task_that_names_nothing_is_given_an_interface_even_without_planning():
    unnamed = forge(topic="Write a function for the larger of two numbers.", planning="none")
    assert asked(unnamed, "plan")
    assert not asked(forge(planning="none"), "plan")


def test_engineers_that_can_not_be_had_are_left_out():
    played = forge(World(**{"write/e3": GONE}))
    assert played.outcome.answer is not None
    assert "e3" not in asked(played, "critique")
    assert any("Engineer C could not be had" in note for note in played.outcome.notes)


def test_when_no_engineer_can_be_had_all_are_asked_once_more_unspared():
    played = forge(World(**{f"0/write/e{n}": GONE for n in (1, 2, 3)}))
    again = [step for step in played.steps if step.phase == "write-anew"]
    assert [step.seat.id for step in again] == ["e1", "e2", "e3"]
    assert not any(step.spared for step in again)
    assert played.outcome.answer is not None


GATE = {"gates": ["proposal"]}


def test_a_gate_shows_code_matrix_and_scores_and_goes_on_when_approved():
    played = forge(**GATE)
    gate = played.step("0/approve-proposal/you")
    assert gate.kind == "gate"
    assert set(gate.artifacts) == {"version", "code", "diff", "matrix", "scores"}
    assert gate.artifacts["code"]
    assert gate.timeout_seconds == 1800
    assert gate.otherwise is None
    assert played.outcome.answer is not None


def test_a_rejection_without_words_ends_it_undelivered():
    played = forge(World(**{"0/approve-proposal/you": {"choice": "reject", "text": ""}}), **GATE)
    assert (played.outcome.winner, played.outcome.answer, played.outcome.ended_by) == (UNDECIDED, None, "rejected")
    assert "nothing is delivered" in played.outcome.headline
    assert not asked(played, "critique")


@pytest.mark.parametrize(("choice", "delivered"), [("approve", True), ("reject", False)])
def test_a_limit_before_a_gate_delivers_nothing_unasked(choice, delivered):
    world = World(**{"approve-convergence": {"choice": choice, "text": ""}})
    played = forge(
        lambda step: LIMIT if step.phase == "critique" else world(step), gates=["proposal", "critique", "review"]
    )
    assert [step.phase for step in played.steps if step.kind == "gate"] == ["approve-proposal", "approve-convergence"]
    assert (played.outcome.answer is not None) == delivered


def test_a_limit_after_all_gates_asks_nothing_more():
    played = forge(lambda step: LIMIT if step.phase == "critique" else World()(step), gates=["proposal"])
    assert [step.phase for step in played.steps if step.kind == "gate"] == ["approve-proposal"]
    assert played.outcome.answer is not None


def test_a_rejection_with_words_redoes_the_phase_once():
    world = World(**{"0/approve-critique/you": {"choice": "reject", "text": "Look at zero."}})
    played = forge(world, gates=["critique"])
    redone = [step for step in played.steps if step.phase == "critique-again"]
    assert len(redone) == 4
    assert all("The person in charge says: Look at zero." in step.prompt.text for step in redone)
    assert played.outcome.answer is not None
    twice = {"choice": "reject", "text": "Still not."}
    world = World(**{"approve-critique": twice})
    assert forge(world, gates=["critique"]).outcome.ended_by == "rejected"


@pytest.mark.parametrize("phase", PHASES[:-1])
def test_every_phase_can_be_redone(phase):
    world = World(**{f"0/approve-{phase}/you": {"choice": "reject", "text": "Again."}})
    played = forge(world, gates=[phase])
    assert f"0/approve-{phase}-again/you" in played.keys
    assert played.outcome.answer is not None


@pytest.mark.parametrize(("text", "delivered"), [("", False), ("Explain it better.", True)])
def test_the_last_gate_decides_about_delivery(text, delivered):
    world = World(**{"0/approve-convergence/you": {"choice": "reject", "text": text}})
    played = forge(world, gates=["convergence"])
    assert (played.outcome.answer is not None) == delivered


@pytest.mark.parametrize(
    ("on_timeout", "otherwise"), [("approve", {"choice": "approve"}), ("reject", {"choice": "reject"})]
)
def test_what_becomes_of_a_gate_that_no_one_answers(on_timeout, otherwise):
    gate = forge(on_timeout=on_timeout, gate_timeout_seconds=5, **GATE).step("0/approve-proposal/you")
    assert (gate.otherwise, gate.timeout_seconds) == (otherwise, 5)


def test_a_given_test_file_must_pass_and_is_called_weaker():
    file = "from solution import mid\nassert mid(-1, -2) == 0\n"
    outcome = forge(tests=file).outcome
    assert outcome.answer is not None
    assert outcome.answer.value == ALSO_RIGHT
    assert any("in the process of the code" in note for note in outcome.notes)
    impossible = forge(tests="from solution import mid\nassert mid is None\n").outcome
    assert impossible.winner == UNDECIDED
    assert impossible.headline.startswith("No version passes all 1 given tests")
    assert "In the test file, test: failed." in impossible.headline


@pytest.mark.parametrize("n", range(1, 17, 3))
def test_a_limit_at_any_call_ends_it_with_what_there_is(n):
    world, made = World(), 0

    def limited(step):
        nonlocal made
        made += step.kind == "ask"
        return LIMIT if step.kind == "ask" and made >= n and not step.closing else world(step)

    outcome = forge(limited).outcome
    assert outcome.ended_by in ("max_total_output_tokens", "no_code")
    if made and any(each["version"] == "V1" for each in outcome.details["versions"]):
        assert outcome.headline


def chosen_by(chance: random.Random) -> dict:
    return {
        "topology": chance.choice(KINDS),
        "planning": chance.choice(["adaptive", "cpde", "dpde", "none"]),
        "preset": chance.choice(["default", "quick"]),
        "attempts": chance.randint(0, 2),
        "red_rounds": chance.randint(1, 3),
        **{phase: chance.random() < 0.8 for phase in PHASES},
    }


@pytest.mark.parametrize("seed", range(25))
def test_random_switches_topologies_and_failures_always_end_within_the_calls(seed):
    chosen = chosen_by(random.Random(seed))
    most = 12 if chosen["preset"] == "quick" else 39

    def answer(step):
        chance = random.Random(f"{seed}/{step.key}").random()
        if step.kind == "ask" and chance < 0.15:
            return INVALID
        if step.kind == "ask" and chance < 0.25 and step.spared:
            return GONE
        return worst(step) if chance > 0.6 else World({"e1": WRONG}, meant={"text": ""})(step)

    played = play(script_of("forge", TASK, **chosen), bounded(answer, most))
    assert calls(played) <= most
    assert played.outcome.headline
    again = script_of("forge", TASK, **chosen)
    replayed = again.replay(played.turns)
    assert [(each.type, each.key, each.data) for each in replayed] == [(e.type, e.key, e.data) for e in played.shown]
    assert again.outcome == played.outcome


@pytest.mark.parametrize("topology", KINDS)
def test_nothing_depends_on_who_is_faster(topology):
    """Neither what is asked, run and shown, nor versions and their numbers, nor the outcome."""
    rng = random.Random(topology)
    alike = {"e2": WRONG, "e4": WRONG}  # two write the same code
    exact: dict[str, Any] = {"1/attack/critic": ATTACK, "write/e3": GONE, "critique": criticize}
    exact |= {"0/approve-review/you": {"choice": "reject", "text": "Again."}}
    exact |= {"repair": lambda step: repair(f"{WORSE}# {step.key}\n" if step.round == 1 else RIGHT)}
    world = World({"e1": f"{WORSE}\n", **alike}, **exact)
    chosen: dict[str, Any] = {"topology": topology, "engineers": 4, "gates": ["review"], "tests": SCRIPT}
    slow = forge(world, **chosen)
    shuffled = {"order": lambda steps: rng.sample(steps, len(steps)), "one_by_one": True}
    fast = play(script_of("forge", TASK, **chosen), world, **shuffled)
    for one, two in zip(sorted(each.key for each in slow.steps), sorted(each.key for each in fast.steps), strict=True):
        assert one == two
    assert {each.key: each.prompt_hash for each in fast.steps} == {each.key: each.prompt_hash for each in slow.steps}
    assert [(each.type, each.key, each.data) for each in fast.shown] == [(e.type, e.key, e.data) for e in slow.shown]
    assert fast.script.artifacts == slow.script.artifacts
    assert fast.outcome == slow.outcome
    assert len(slow.script.artifacts) > 10


def test_a_limit_that_refuses_every_engineer_waits_for_the_tester():
    """The tester is asked first: its answer may come after the refusals."""
    world = World(write=LIMIT)

    def last(steps):
        return sorted(steps, key=lambda each: each.phase == "tests")

    played = play(script_of("forge", TASK), world, order=last, one_by_one=True)
    assert played.outcome.ended_by == "max_total_output_tokens"
    assert played.outcome.headline


def test_the_turns_of_a_forge_replay_to_the_same_outcome():
    world = World({"e1": WRONG}, **{"1/attack/critic": ATTACK})
    played = forge(world)
    again = script_of("forge", TASK)
    again.replay([turn_for(step, world(step), n) for n, step in enumerate(played.steps, 1)])
    assert again.outcome == played.outcome
