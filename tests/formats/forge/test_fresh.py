"""Where no version passes the given tests, engineers write from nothing again; a small tester is asked last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moot.core.errors import InputError
from moot.core.settings import read
from moot.core.steps import Step
from moot.core.types import Hat, Sampling
from moot.formats import installed
from moot.formats.forge.settings import ForgeSettings
from tests.formats.forge.world import (
    ALL_WRONG,
    ALSO_RIGHT,
    RIGHT,
    TASK,
    WORSE,
    WRONG,
    World,
    asked,
    delivered,
    solution,
)
from tests.playing import Played, debate_of, play, script_of

GIVEN = ["mid(-1, -2) == 0"]
LARGER = ["mid(2, 3) == 3"]
SECOND = "def mid(a, b):\n    return b\n"
QUICK: dict[str, Any] = {"preset": "quick", "engineers": 2, "attempts": 0, "adversarial": False, "cases": GIVEN}


def quick(world: World, *, small: bool = False, **settings: Any) -> Played:
    return play(script_of("forge", TASK, small=small, **{**QUICK, **settings}), world)


def test_they_start_afresh_until_a_version_passes():
    def second_time(step: Step) -> dict[str, Any]:
        return solution(RIGHT if (step.seat.id, step.round) == ("e2", 2) else WRONG)

    played = quick(World(ALL_WRONG, **{"write-afresh": second_time}), fresh_starts=5)
    assert [step.key for step in played.steps if step.phase == "write-afresh"] == [
        f"{start}/write-afresh/{seat}" for start in (1, 2) for seat in ("e1", "e2")
    ]
    assert delivered(played.outcome) == RIGHT


def test_one_who_starts_afresh_is_shown_another_approach_and_no_earlier_code():
    played = quick(World(ALL_WRONG, **{"write-afresh": solution(WORSE)}), fresh_starts=2)
    told = {step.key: step.prompt.text for step in played.steps if step.kind == "ask"}
    own = [told["0/write/e1"], told["1/write-afresh/e1"], told["2/write-afresh/e1"]]
    assert len({text.split("Your approach: ")[1].splitlines()[0] for text in own}) == 3
    assert not any("return max(a, b)" in text for text in own)
    assert "mid(-1, -2) == 0 (given by the task), but it gives" in own[1]
    assert "mid(-1, -2) == 0" not in own[0]


def test_code_that_passes_less_is_kept_and_not_preferred():
    given = [*GIVEN, "mid(1, 2) == 2"]
    played = quick(World(ALL_WRONG, **{"write-afresh": solution(WORSE)}), small=True, fresh_starts=1, cases=given)
    assert sorted(each["pass_rate"] for each in played.outcome.details["versions"]) == [0, 0, 0.5, 0.5]
    assert "the best, Version 1 by Engineer A, passes 1" in played.outcome.headline


def test_without_need_or_without_a_given_test_no_one_starts_afresh():
    for settings in ({"fresh_starts": 0}, {"fresh_starts": 3, "cases": []}):
        assert not asked(quick(World(ALL_WRONG), **settings), "write-afresh")
    assert not asked(quick(World(), fresh_starts=3), "write-afresh")


def test_beside_given_tests_small_blind_seats_are_not_asked_and_variants_part_the_versions():
    given = ["mid(1, 2) == 2"]
    played = quick(World({"e1": WRONG, "e2": RIGHT, "e3": ALSO_RIGHT}), small=True, engineers=3, cases=given)
    assert not asked(played, "tests")
    assert not asked(played, "predict")
    rows = played.outcome.details["matrix"]["rows"]
    assert [row["standing"] for row in rows][:2] == ["given", "unconfirmed"]
    assert "mid(0, 2)" in {row["case"] for row in rows}
    large = quick(World(), cases=given)
    assert asked(large, "tests")
    assert {row["standing"] for row in large.outcome.details["matrix"]["rows"]} >= {"agreed"}


def test_of_versions_that_pass_what_most_engineers_have_written_is_chosen():
    world = World({"e1": SECOND, "e2": RIGHT, "e3": ALSO_RIGHT})
    played = quick(world, small=True, engineers=3, cases=LARGER)
    assert delivered(played.outcome) in (RIGHT, ALSO_RIGHT)


def tied(**exact: Any) -> Played:
    """Two versions that pass the given test and do different things, and one that fails it."""
    world = World(
        {"e1": SECOND, "e2": WRONG.replace("max", "min"), "e3": RIGHT},
        **{"write-afresh": solution(ALSO_RIGHT), **exact},
    )
    return quick(world, small=True, engineers=3, cases=LARGER, fresh_starts=2, convergence=False)


def test_while_versions_that_pass_differ_those_without_one_start_afresh():
    played = tied()
    assert [step.key for step in played.steps if step.phase == "write-afresh"] == ["1/write-afresh/e2"]
    assert delivered(played.outcome) in (RIGHT, ALSO_RIGHT)


def test_where_every_engineer_has_one_all_start_afresh_and_are_told_of_no_fault():
    code = {"e1": SECOND, "e2": "def mid(a, b):\n    return 3\n", "e3": RIGHT}
    world = World(code, **{"write-afresh": solution(RIGHT)})
    played = quick(world, small=True, engineers=3, cases=LARGER, fresh_starts=2, convergence=False)
    afresh = [step for step in played.steps if step.phase == "write-afresh"]
    assert [step.key for step in afresh] == [f"1/write-afresh/{seat}" for seat in ("e1", "e2", "e3")]
    assert not any("is wrong" in step.prompt.text for step in afresh if step.kind == "ask")
    assert delivered(played.outcome) == RIGHT


def test_a_tie_that_no_start_parts_is_left_to_the_rules_after_it():
    played = tied(**{"write-afresh": solution(WORSE)})
    assert [key for key in played.keys if "/write-afresh/" in key] == ["1/write-afresh/e2", "2/write-afresh/e2"]
    assert "Version 1" in played.outcome.headline  # the simpler one
    assert "simpl" in played.outcome.how


def test_a_seed_that_is_set_is_another_one_at_each_start():
    debate = debate_of("forge", TASK, **QUICK, fresh_starts=2)
    seeded = [replace(seat, sampling=Sampling(seed=2**31 - 1)) if seat.id == "e1" else seat for seat in debate.cast]
    script = installed()["forge"].script(replace(debate, cast=tuple(seeded)))
    played = play(script, World(ALL_WRONG, **{"write-afresh": solution(WORSE)}))
    seeds = {step.key: step.seat.sampling.seed for step in played.steps if step.kind == "ask"}
    assert [seeds[key] for key in ("0/write/e1", "1/write-afresh/e1", "2/write-afresh/e1")] == [2**31 - 1, 0, 1]
    assert seeds["1/write-afresh/e2"] is None


def writers(played: Played) -> list[str]:
    return [step.key for step in played.steps if step.kind == "ask" and step.phase in ("write", "write-afresh")]


def test_by_need_no_one_writes_once_a_version_passes_the_given_tests():
    only_first = quick(World({"e1": RIGHT}), engineers=3, by_need=1)
    assert writers(only_first) == ["0/write/e1"]
    until_it_passes = quick(World({"e1": WRONG, "e2": RIGHT}), engineers=3, by_need=1)
    assert writers(until_it_passes) == ["0/write/e1", "0/write/e2"]
    assert [delivered(each.outcome) for each in (only_first, until_it_passes)] == [RIGHT, RIGHT]


def test_by_need_of_two_a_second_engineer_confirms_the_first_and_a_third_decides_between_them():
    chosen: dict[str, Any] = {"small": True, "engineers": 3, "by_need": 2, "cases": LARGER}
    agreed = quick(World({"e1": RIGHT, "e2": ALSO_RIGHT, "e3": SECOND}), **chosen)
    assert writers(agreed) == ["0/write/e1", "0/write/e2"]
    differ = World({"e1": SECOND, "e2": RIGHT}, **{"write-afresh": solution(ALSO_RIGHT)})
    decided = quick(differ, **chosen, fresh_starts=1)
    assert writers(decided) == ["0/write/e1", "0/write/e2", "1/write-afresh/e3"]
    assert delivered(decided.outcome) in (RIGHT, ALSO_RIGHT)


def test_by_need_of_two_one_is_enough_where_the_others_fail():
    played = quick(World({"e1": WRONG, "e2": RIGHT, "e3": WRONG}), engineers=3, by_need=2, fresh_starts=2)
    assert writers(played) == ["0/write/e1", "0/write/e2", "0/write/e3"]
    assert delivered(played.outcome) == RIGHT


def test_by_need_they_start_afresh_in_turn_and_only_until_one_passes():
    def at(step: Step) -> dict[str, Any]:
        return solution(RIGHT if (step.seat.id, step.round) == ("e1", 2) else WORSE)

    played = quick(World(ALL_WRONG, **{"write-afresh": at}), by_need=1, fresh_starts=5)
    afresh = ["1/write-afresh/e1", "1/write-afresh/e2", "2/write-afresh/e1"]
    assert writers(played) == ["0/write/e1", "0/write/e2", *afresh]
    assert delivered(played.outcome) == RIGHT


def test_by_need_without_a_given_test_everyone_writes_at_once():
    played = quick(World(), engineers=3, by_need=1, cases=[])
    assert writers(played) == ["0/write/e1", "0/write/e2", "0/write/e3"]


def test_by_need_more_is_written_for_what_a_person_says_when_rejecting():
    gate = {"0/approve-self_evolvement/you": {"choice": "reject", "text": "It must be short."}}
    world = World({"e1": RIGHT}, **gate)
    played = quick(world, engineers=3, by_need=1, gates=["self_evolvement"])
    written = [step for step in played.steps if step.phase.startswith("write")]
    assert [step.key for step in written] == ["0/write/e1", "0/write-again/e1"]
    assert "It must be short." in written[1].prompt.text


def small_starts() -> Played:
    return quick(World(ALL_WRONG, **{"write-afresh": solution(WORSE)}), small=True, by_need=1, fresh_starts=1)


def test_a_small_engineer_varies_after_the_first_start_and_is_asked_once():
    asks = {step.key: step for step in small_starts().steps if step.kind == "ask"}
    first, second, afresh = (asks[key] for key in ("0/write/e1", "0/write/e2", "1/write-afresh/e1"))
    assert {each.prompt.name for each in (first, second, afresh)} == {"forge/write_small"}
    assert [each.seat.sampling.temperature for each in (first, second, afresh)] == [None, 0.7, 0.7]
    assert "mid(-1, -2) == 0 (given by the task), but it gives" in afresh.prompt.text
    assert "is wrong" not in second.prompt.text
    for each in (first, second, afresh):
        assert "\nprint(" in each.seat.sampling.stop
        assert each.most_tokens == each.max_tokens


def test_small_engineers_read_the_same_up_to_their_approach():
    read = [
        "\n\n".join([*(message.text for message in step.history), step.prompt.text])
        for step in small_starts().steps
        if step.phase.startswith("write")
    ]
    assert len(read) == 4
    assert len({text.partition("Your approach: ")[0] for text in read}) == 1
    assert TASK in read[0].partition("Your approach: ")[0]
    assert not any("As the implementer" in text for text in read)


def test_a_role_that_a_user_gives_a_small_engineer_is_told_below_the_task():
    debate = debate_of("forge", TASK, **QUICK, small=True)
    hats = (Hat(name="terse", prompt="You count every character."),)
    cast = tuple(replace(seat, hats=hats) if seat.id == "e1" else seat for seat in debate.cast)
    first = play(installed()["forge"].script(replace(debate, cast=cast)), World()).step("0/write/e1")
    assert first.prompt.text.index(TASK) < first.prompt.text.index("You count every character.")
    assert "You count every character." not in first.history[0].text


def test_no_more_engineers_can_be_needed_than_there_are():
    said = "by_need is 3, and engineers only 2: set engineers=3, or by_need=2"
    with pytest.raises(InputError, match=said):
        read(ForgeSettings, {"by_need": 3, "preset": "quick"}, "settings")
    assert read(ForgeSettings, {"by_need": 2, "engineers": 2}, "settings").by_need == 2
