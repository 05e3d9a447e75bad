"""The ledger beside the debate, in every format with a clerk: who is asked what; the debate does not depend on it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.script import Script, Step
from moot.core.types import Failure, Outcome
from moot.formats import installed
from moot.formats.shared.ledger import BY_A_PERSON, MAX_CLAIMS, MAX_SHOWN, ledger_of
from tests.formats.council.answers import council
from tests.formats.panel.answers import answers as panel_answers
from tests.playing import Played, debate_of, good, play, script_of

Answers = Callable[[Step], Any]


# A short debate of each format with every kind of statement.
DEBATES: dict[str, tuple[dict[str, Any], Callable[[], Answers]]] = {
    "classic": ({"max_rounds": 2, "judge_every_round": True, "swap": True}, lambda: good),
    "duel": ({"turns": 6}, lambda: good),
    "panel": ({"max_rounds": 2, "perspectives": 2}, panel_answers),
    "council": ({"depth": "debate", "max_rounds": 1}, lambda: council(revise=("m1",))),
}


STATEMENTS = {
    "classic": ["1/speak/a", "1/speak/b", "2/speak/a", "2/speak/b"],
    "duel": ["1/speak/a", "2/speak/b", "3/speak/a", "4/speak/b", "5/speak/a", "6/speak/b"],
    "panel": [f"{n}/{phase}/{seat}" for n in (1, 2) for phase in ("argue", "rebut") for seat in ("p1", "p2")],
    "council": [
        *(f"0/answer/m{n}" for n in (1, 2, 3)),
        *(f"1/object/m{n}" for n in (1, 2, 3)),
        *(f"1/rebut/m{n}" for n in (1, 2, 3)),
    ],
}


ALL = pytest.mark.parametrize("name", DEBATES)


def item(text: str, stance: str = "none", target: str = "", **more: Any) -> Any:
    claim = {"text": text, "stance": stance, "target": target}
    return {**claim, "quote": "", "evidence": "", "concedes": [], **more}


def listing(*items: Any) -> Any:
    return {"claims": list(items)}


def asks_for_claims(step: Step) -> bool:
    return step.phase.startswith("claims-")


def shown_ids(step: Step) -> dict[str, str]:
    """The claims that a speaker was shown: {"c1": "another's"}."""
    return dict(re.findall(r"^(c\d+), (yours|another's)", step.prompt.text, re.MULTILINE))


def attacks_the_latest(step: Step) -> Any:
    """One claim, which attacks the latest claim of another."""
    others = [id for id, whose in shown_ids(step).items() if whose == "another's"]
    return listing(item(f"What {step.seat.id} holds at {step.key}.", *(("attacks", others[-1]) if others else ())))


def script(name: str, **more: Any) -> Script:
    options, _ = DEBATES[name]
    return script_of(name, **{**options, "claims": True, **more})


def answering(name: str, claims: Any = attacks_the_latest) -> Answers:
    otherwise = DEBATES[name][1]()

    def answer(step: Step) -> Any:
        if not asks_for_claims(step):
            return otherwise(step)
        return claims(step) if callable(claims) else claims

    return answer


def run(name: str, claims: Any = attacks_the_latest, **more: Any) -> Played:
    return play(script(name, **more), answering(name, claims))


def without(name: str, **more: Any) -> Played:
    return play(script(name, claims=False, **more), answering(name))


def ledger(played: Played) -> Any:
    return played.outcome.ledger


def statuses(played: Played) -> dict[str, str]:
    return {each["id"]: each["status"] for each in ledger(played)["claims"]}


@ALL
def test_every_public_statement_is_asked_about_once_and_nobody_else_is(name: str):
    played = run(name)
    asked = [step for step in played.steps if asks_for_claims(step)]
    assert sorted(step.key.replace("claims-", "") for step in asked) == sorted(STATEMENTS[name])
    assert [each["key"] for each in ledger(played)["statements"]] == STATEMENTS[name]
    assert {each["statement"] for each in ledger(played)["claims"]} == set(STATEMENTS[name])
    assert all(step.returns and step.tolerant and not step.closing for step in asked)


def test_a_duel_of_six_turns_has_six_calls_more_and_no_wave_more():
    on, off = run("duel"), without("duel")
    assert [(len(each.turns), each.waves) for each in (on, off)] == [(36, 19), (30, 19)]


@ALL
def test_the_debate_is_the_same_with_and_without_a_ledger(name: str):
    """No message of the debate and no field of the outcome depends on it."""
    on, off = run(name), without(name)
    assert not any(map(asks_for_claims, off.steps))

    def sent(played: Played) -> dict[str, list[Any]]:
        return {step.key: messages for step, messages in played.sent if not asks_for_claims(step)}

    assert sent(on) == sent(off)
    assert ledger(on)
    assert on.outcome.model_copy(update={"ledger": None}) == off.outcome
    assert [each.type for each in on.shown if each.type != "CLAIMS"] == [each.type for each in off.shown]


@ALL
def test_claims_are_asked_of_someone_who_has_just_spoken_and_knows_nothing_later(name: str):
    played = run(name)
    for step, messages in played.sent:
        if asks_for_claims(step):
            statement = next(turn for turn in played.turns if turn.key == step.key.replace("claims-", ""))
            assert messages[-2].role == "assistant"
            assert messages[-2].text == statement.written
            assert messages[:-2] == played.step(statement.key).messages


@ALL
@settings(max_examples=5)
@given(rng=st.randoms(use_true_random=False))
def test_the_ledger_does_not_depend_on_who_is_faster(name: str, rng: random.Random):
    def shuffled(steps: list[Step]) -> list[Step]:
        return rng.sample(steps, len(steps))

    if name == "panel":  # whose arguments are numbered as they come
        answer = panel_answers(argue=lambda step: f"Argument at {step.key}.")
        played = [
            play(script(name), lambda s: attacks_the_latest(s) if asks_for_claims(s) else answer(s), order=order)
            for order in (list, shuffled)
        ]
    else:
        played = [play(script(name), answering(name), order=order, one_by_one=True) for order in (list, shuffled)]
    assert ledger(played[0]) == ledger(played[1])
    assert [each.key for each in played[0].shown] == [each.key for each in played[1].shown]


@ALL
def test_every_claim_of_one_wave_sees_all_of_the_waves_before_and_none_of_its_own(name: str):
    played = run(name, lambda step: listing(item(f"What is held at {step.key}.")))
    waves = {each["key"]: each["wave"] for each in ledger(played)["statements"]}
    by_id = {each["id"]: each for each in ledger(played)["claims"]}
    for step in filter(asks_for_claims, played.steps):
        own = waves[step.key.replace("claims-", "")]
        before = {id for id, each in by_id.items() if waves[each["statement"]] < own}
        assert set(shown_ids(step)) == before
        assert {id for id, whose in shown_ids(step).items() if whose == "yours"} == {
            id for id in before if by_id[id]["seat"] == step.seat.id
        }
    together = {"classic": 1, "duel": 1, "panel": 2, "council": 3}[name]
    assert max(list(waves.values()).count(wave) for wave in waves.values()) == together


@ALL
def test_statuses_follow_from_who_answered_whom(name: str):
    """By hand: who attacks the latest claim of another in each wave, and who could still answer."""
    expected = {
        "classic": "open open open standing",
        "duel": "open open open open open standing",
        "panel": "standing open open refuted standing open open standing",
        "council": "standing open refuted standing open open standing standing standing",
    }
    assert " ".join(statuses(run(name)).values()) == expected[name]


@ALL
def test_a_limit_among_the_claims_is_a_gap_and_no_end(name: str):
    limit = Failure(kind="limit", message="No tokens are left.")
    played = run(name, lambda step: limit if step.round <= 1 else attacks_the_latest(step))
    off = without(name)
    assert played.outcome.ended_by == off.outcome.ended_by
    gaps = {each["key"]: each["gap"] for each in ledger(played)["statements"]}
    assert gaps[STATEMENTS[name][0]] == "Not asked: No tokens are left."
    assert len(gaps) == len(STATEMENTS[name])


@ALL
def test_a_limit_in_the_debate_still_settles_what_was_said(name: str):
    second = STATEMENTS[name][2]
    limit = Failure(kind="limit", message="No tokens are left.")
    otherwise = answering(name)
    played = play(script(name), lambda step: limit if step.key == second else otherwise(step))
    assert played.outcome.ended_by == "max_total_output_tokens"
    assert [each["key"] for each in ledger(played)["statements"]] == STATEMENTS[name][:2]
    assert all(not each["gap"] for each in ledger(played)["statements"])


def test_nobody_lists_claims_for_a_person_but_their_words_can_be_quoted():
    debate = debate_of("classic", max_rounds=1, claims=True)
    cast = tuple(replace(seat, model="human") if seat.id == "a" else seat for seat in debate.cast)
    script_ = installed()["classic"].script(replace(debate, cast=cast))
    claims = listing(item("Not so.", quote="words of A at 1/speak/a"))
    played = play(script_, lambda step: claims if asks_for_claims(step) else good(step))
    assert [step.key for step in played.steps if asks_for_claims(step)] == ["1/claims-speak/b"]
    assert [each["gap"] for each in ledger(played)["statements"]] == [BY_A_PERSON, ""]
    assert ledger(played)["claims"][0]["quote_of"] == "1/speak/a"


def test_a_long_ledger_is_shown_in_part():
    def claims(step: Step) -> Any:
        return listing(*(item(f"Claim {n} at {step.key}.") for n in range(MAX_CLAIMS)))

    played = run("duel", claims, turns=20)
    last = played.step("20/claims-speak/b")
    assert len(shown_ids(last)) == MAX_SHOWN
    assert len(ledger(played)["claims"]) == 20 * MAX_CLAIMS
    assert next(iter(shown_ids(last))) == "c36"


def test_what_was_listed_is_shown_as_it_comes():
    played = run("classic")
    shown = [each for each in played.shown if each.type == "CLAIMS"]
    assert [each.key for each in shown] == [key.replace("speak", "claims-speak") for key in STATEMENTS["classic"]]


def test_the_shape_names_the_ids_but_an_unknown_one_costs_no_claim():
    played = run("classic")
    step = played.step("1/claims-speak/b")
    assert step.returns is not None
    claim = step.returns.model_json_schema()["$defs"]["ListedClaim"]["properties"]
    assert claim["target"]["enum"] == ["", "c1"]
    assert claim["concedes"]["items"]["enum"] == ["c1"]
    assert step.returns.model_validate(listing(item("x", "attacks", "c77", concedes=["nonsense"])))
    first = played.step("1/claims-speak/a")
    assert first.returns is not None
    assert first.returns.model_json_schema()["$defs"]["ListedClaim"]["properties"]["concedes"]["maxItems"] == 0


def test_a_list_of_claims_has_a_limit_of_its_own():
    played = run("classic", debater_max_tokens=40, claims_max_tokens=500)
    assert {step.max_tokens for step in played.steps if asks_for_claims(step)} == {500}
    assert played.step("1/speak/a").max_tokens == 40


@ALL
def test_a_debate_that_is_not_over_has_the_ledger_of_what_was_said(name: str):
    options, _ = DEBATES[name]
    debate = debate_of(name, **{**options, "claims": True})
    played = run(name)
    format_ = installed()[name]
    whole = ledger(played)
    for cut in range(len(played.turns) + 1):
        found = ledger_of(format_, debate, played.turns[:cut])
        assert found is not None
        assert [each.text for each in found.claims] == [each["text"] for each in whole["claims"][: len(found.claims)]]
    assert found.as_json() == whole
    stored = Outcome.model_validate_json(played.outcome.model_dump_json())
    read = ledger_of(format_, replace(debate, outcome=stored), [])
    assert read is not None
    assert read.as_json() == whole
    assert ledger_of(format_, debate_of(name, **options), []) is None
