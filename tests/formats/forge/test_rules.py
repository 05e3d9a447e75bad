"""The rules of a forge: who is asked what, which version wins, and what a phase does."""

from __future__ import annotations

from typing import get_args

import pytest

from moot.core.types import TIE, UNDECIDED, Confidence, FinalAnswer
from moot.formats.forge import FORMAT
from moot.formats.forge.settings import PHASES, WORDS
from moot.formats.wording import Wording
from moot.reasoning.topology import Kind
from moot.reasoning.voting import count
from tests.formats.forge.world import (
    ALL_WRONG,
    ALSO_RIGHT,
    ATTACK,
    GONE,
    INVALID,
    RIGHT,
    WORSE,
    WRONG,
    World,
    asked,
    case,
    cases,
    confidence_of,
    criticize,
    delivered,
    forge,
    issue,
    labels,
    phases,
    repair,
    surprised,
    tied,
)


def test_evidence_selects_the_simplest_of_the_versions_that_pass_all_that_counts():
    played = forge()
    outcome = played.outcome
    assert phases(played) == list(PHASES)
    assert outcome.winner == "e2"
    assert outcome.headline == "Version 2 by Engineer B passes all 6 tests that count (6 agreed)."
    assert outcome.answer == FinalAnswer(kind="code", value=ALSO_RIGHT, language="python")
    source = "all 6 tests that count pass, but models wrote all of them"
    assert outcome.confidence == Confidence(level="Medium", source=source)
    assert outcome.ended_by == "played"
    assert not outcome.polls


def test_a_repair_is_a_version_of_its_own_and_the_first_one_stays():
    played = forge(World(ALL_WRONG))
    versions = [(each["version"], each["author"], each["parent"]) for each in played.outcome.details["versions"]]
    assert versions[:3] == [("V1", "e1", None), ("V2", "e2", None), ("V3", "e3", None)]
    assert {parent for _, _, parent in versions[3:6]} == {"V1", "V2", "V3"}
    assert delivered(played.outcome) == RIGHT


def test_a_repair_that_passes_fewer_tests_is_recorded_and_not_adopted():
    played = forge(World(ALL_WRONG, repair=repair(WORSE)), optimization=False)
    assert delivered(played.outcome) == WRONG
    assert len(played.outcome.details["versions"]) > 3
    assert played.outcome.headline.endswith("passes 6 of 7 tests that count (7 agreed); the rest it fails.")
    assert confidence_of(played.outcome).level == "Low"


def test_an_improvement_of_the_only_version_wins_as_that():
    better = "def mid(a, b):\n    return 0 if a < 0 > b else [a, b][b > a]\n"
    first = ALSO_RIGHT.replace("return a if a > b else b", "if a > b:\n        return a\n    return b")
    world = World({"e1": first}, refactor={"code": better}, speed={"code": better})
    outcome = forge(world, engineers=1).outcome
    assert delivered(outcome) == better
    assert outcome.how == "Chosen because it improves on a version that passes the same tests."


def test_a_model_that_never_writes_code_ends_in_a_clear_sentence():
    played = forge(World(write=INVALID))
    outcome = played.outcome
    assert (outcome.winner, outcome.ended_by) == (UNDECIDED, "no_code")
    assert outcome.headline == (
        "No engineer wrote any code, so there is nothing to choose. In what Engineer A, Engineer B and Engineer C "
        "answered, no code could be found. If the task asks for none, ask it in another format; otherwise try another "
        "model."
    )
    assert outcome.scores == {}
    assert not asked(played, "predict")


def test_a_limit_that_left_no_time_for_code_is_named_as_the_cause():
    outcome = forge(max_calls=1).outcome
    assert outcome.ended_by == "max_calls"
    assert outcome.headline == (
        "No code was written: the calls were used up first. Begin again with a higher max_calls."
    )


def test_an_attack_that_holds_is_patched_and_the_patch_wins():
    played = forge(surprised(), optimization=False)
    assert played.outcome.details["attacks"] == {"made": 1, "held": 1}
    assert asked(played, "defend") == ["e1"]
    assert delivered(played.outcome) == RIGHT


def test_an_attack_that_no_blind_seat_confirms_changes_nothing_and_costs_red_weight():
    false = {"cases": [case("mid(5, 1)", "1"), case("mid(1, 5)", "1")]}
    world = World({"e2": RIGHT, "e3": RIGHT}, **{"1/attack/critic": false})
    played = forge(world)
    assert played.outcome.details["attacks"] == {"made": 2, "held": 0}
    assert not asked(played, "defend")
    assert len(asked(played, "attack")) == 1


def test_a_crash_alone_is_no_attack_unless_blind_seats_say_what_should_happen():
    world = World(**{"1/attack/critic": {"cases": [case("mid('a', 1)", "0")]}})
    outcome = forge(world).outcome
    assert outcome.details["attacks"] == {"made": 1, "held": 0}
    assert outcome.winner == "e2"


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
    world = tied(vote=INVALID)
    world.code["e3"] = "def mid(a, b):\n    return 9\n"
    outcome = forge(world, optimization=False).outcome
    assert (outcome.winner, outcome.answer) == (TIE, None)
    assert outcome.headline.startswith("A tie between Version")
    assert confidence_of(outcome).level == "Low"


def test_issues_are_tested_and_the_best_two_authors_answer_each():
    world = World(
        ALL_WRONG,
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
    assert delivered(played.outcome) == RIGHT
    listed = next(section.items for section in played.outcome.record.sections if section.title == "Issues")
    assert [line.rpartition("(")[2] for line in listed] == ["accepted)", "not answered)"]


def test_an_improvement_is_kept_only_if_no_test_is_lost_and_a_measure_improves():
    simpler = "def mid(a, b):\n    return 0 if a < 0 > b else [a, b][b > a]\n"
    kept = forge(World(refactor={"code": simpler}, speed={"code": WRONG})).outcome
    assert delivered(kept) in (simpler, ALSO_RIGHT)
    lost = forge(World(refactor={"code": WORSE}, speed={"code": WRONG})).outcome
    assert delivered(lost) == ALSO_RIGHT


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


def test_blind_seats_read_no_code_whatever_happens():
    for topology in get_args(Kind):
        world = World({"e1": WRONG}, **{"1/attack/critic": ATTACK, "critique/critic": criticize})
        played = forge(world, topology=topology)
        read = [(step, messages) for step, messages in played.sent if step.seat.role in ("tester", "oracle")]
        assert len(read) >= 3
        for step, messages in read:
            text = "\n".join(message.text for message in messages)
            for secret in ("def mid", "return", "Version", "It ignores the sign"):
                assert secret not in text, (step.key, secret)


@pytest.mark.parametrize("topology", get_args(Kind))
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


def test_when_no_engineer_can_be_had_all_are_asked_once_more_unspared():
    played = forge(World(**{f"0/write/e{n}": GONE for n in (1, 2, 3)}))
    again = [step for step in played.steps if step.phase == "write-anew"]
    assert [step.seat.id for step in again] == ["e1", "e2", "e3"]
    assert not any(step.spared for step in again)
    assert played.outcome.answer is not None


def test_what_is_off_is_said_at_the_beginning_on_the_way_and_in_the_report():
    played = forge(preset="quick", adversarial=False)
    off = ["dehallucination", "critique", "review", "optimization", "adversarial"]
    begins = [each.data for each in played.shown if each.type == "PHASE_BEGINS"]
    assert begins
    assert all(each["off"] == [WORDS[phase] for phase in off] for each in begins)
    (header,) = [each.data for each in played.shown if each.type == "HEADER"]
    assert header["off"] == off
    assert "; off: dehallucination, critique" in FORMAT.header(header)[0]
    (left,) = [each for each in played.outcome.record.sections if each.title == "Not checked"]
    (said,) = [line for line in left.items if line.startswith("Phases that were off: ")]
    assert "no one looked for issues" in said
    assert "No one tried to break it." in left.items

    whole = forge()
    assert not [each for each in whole.shown if each.type == "PHASE_BEGINS" and each.data["off"]]
    assert "Phases that were off" not in str(whole.outcome.record)


def test_every_run_of_an_engineers_code_is_shown_with_what_passed_until_the_matrix_says_it_of_all():
    events = [each for each in forge().events if each.type in ("RAN", "MATRIX")]
    first = [each.type for each in events].index("MATRIX")
    ran = [each.data for each in events if each.type == "RAN"]
    assert {each["seat"] for each in ran} == {"e1", "e2", "e3"}
    assert all(each["passed"] for each in ran)
    wording = Wording(format=FORMAT, unit="round", names={}, named=set())
    for event in events[:first]:
        wording.hear(event)
    assert set(wording.candidates) == {each["name"] for each in ran}
    wording.hear(events[first])
    assert all(name.startswith("V") for name in wording.candidates)
