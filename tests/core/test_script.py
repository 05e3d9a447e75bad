"""The script: a coroutine driven by hand over turns."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import LimitReached, ScriptChanged, ScriptError
from moot.core.gates import Approval
from moot.core.limits import Limits
from moot.core.script import Failed, Script, Stage, together
from moot.core.steps import AskPerson, Recall, Use
from moot.core.types import Answer, Failure, Outcome, Prompt, SeatSpec
from tests.playing import play, turn_for

SEATS = [
    SeatSpec(id=name, name=name.upper(), role="debater", model="scripted:none", max_tokens=100)
    for name in ("a", "b", "c")
]
DONE = Outcome(winner="tie", headline="Done.", ended_by="rules", verdict_source="judge")


def say(text: str) -> Prompt:
    return Prompt(name="test/say", text=text)


def script(play_, **limits: object) -> Script:
    return Script(play_, cast=SEATS, limits=Limits(**limits), topic="t")  # type: ignore[arg-type]


def begun(play_) -> Script:
    made = script(play_)
    made.begin()
    return made


class Point(Answer):
    text: str
    weight: int


def test_an_ask_hands_out_a_step_and_gets_the_words_of_its_turn():
    heard: list[str] = []

    async def rules(stage: Stage) -> Outcome:
        heard.append(await stage.seat("a").ask("open", say("Begin."), round=1))
        return DONE

    s = begun(rules)
    assert list(s.open) == ["1/open/a"]
    assert s.cursor.open == ("1/open/a",)
    assert (s.cursor.next_round, s.cursor.next_actor) == (1, "a")
    s.resolve(turn_for(s.open["1/open/a"], "Here I stand."))
    assert heard == ["Here I stand."]
    assert s.outcome == DONE
    assert s.cursor.open == ()


def test_rounds_count_what_was_said_in_them():
    async def rules(stage: Stage) -> Outcome:
        for round in (1, 2):
            await stage.seat("a").ask("think", say("Think."), round=round, shows="THINK")
            with suppress(LimitReached):
                await stage.seat("a").ask("speak", say("Speak."), round=round)
        await stage.seat("b").ask("rule", say("Rule."), round=8, closing=True)
        return DONE

    s = Script(rules, cast=SEATS, topic="t", private={"THINK"})
    s.begin()
    for key in ("1/think/a", "1/speak/a", "2/think/a"):
        s.resolve(turn_for(s.open[key], "Words."))
    assert s.total_rounds == 1  # of the second, nothing is said yet
    refused = replace(turn_for(s.open["2/speak/a"], ""), failure=Failure(kind="limit", message="Used up."))
    s.resolve(refused)
    s.resolve(turn_for(s.open["8/rule/b"], "Ruled."))
    assert s.total_rounds == 1  # a ruling is no round


def test_history_grows_by_question_and_answer_and_is_private_to_the_seat():
    async def rules(stage: Stage) -> Outcome:
        a, b = stage.seat("a"), stage.seat("b")
        a.brief(say("You are A."))
        await a.ask("one", say("q1"))
        await b.ask("one", say("for b"))
        await a.ask("two", say("q2"))
        return DONE

    played = play(script(rules))
    sent = {step.key: [(m.role, m.text) for m in messages] for step, messages in played.sent}
    assert sent["0/two/a"] == [
        ("system", "You are A."),
        ("user", "q1"),
        ("assistant", "Words of a at 0/one/a."),
        ("user", "q2"),
    ]
    assert sent["0/one/b"] == [("user", "for b")]


def test_together_asks_at_once_and_answers_in_the_order_given():
    got: list[object] = []

    async def rules(stage: Stage) -> Outcome:
        got.append(await together(stage.seat("a").ask("x", say("1")), stage.seat("b").ask("x", say("2"))))
        return DONE

    s = begun(rules)
    assert list(s.open) == ["0/x/a", "0/x/b"]
    s.resolve(turn_for(s.open["0/x/b"], "second"))
    assert got == []
    s.resolve(turn_for(s.open["0/x/a"], "first"))
    assert got == [("first", "second")]


async def nested(stage: Stage) -> Outcome:
    """Started work, joined late, with events at every level."""

    async def beside(seat: str, n: int) -> str:
        stage.show("BESIDE", seat=seat, n=n)
        return await stage.seat(seat).ask(f"beside{n}", say("work"), shows="WORK")

    stage.show("HEADER")
    one = stage.start(beside("b", 1))
    await stage.seat("a").ask("main", say("go"), shows="MAIN")
    two = stage.start(beside("c", 2))
    stage.show("MIDDLE")
    await together(one, two)
    await together(stage.seat("a").ask("end", say("e"), shows="END"), stage.seat("b").ask("end", say("e"), shows="END"))
    return DONE


NESTED_ORDER = ["HEADER", "BESIDE", "WORK", "MAIN", "BESIDE", "WORK", "MIDDLE", "END", "END", "VERDICT"]


@given(st.randoms(use_true_random=False))
def test_events_come_in_the_order_of_the_rules_whatever_finishes_first(rng: random.Random):
    def shuffled(steps):
        return rng.sample(steps, len(steps))

    played = play(script(nested), order=shuffled, one_by_one=True)
    assert [shown.type for shown in played.shown] == NESTED_ORDER
    again = script(nested)
    assert again.replay(played.turns) == played.shown
    assert again.outcome == played.outcome


@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_replay_of_any_beginning_leads_to_the_same_open_steps(rng: random.Random, cut: int):
    whole = play(script(nested), order=lambda steps: rng.sample(steps, len(steps)), one_by_one=True)
    part = script(nested)
    part.replay(whole.turns[:cut])
    live = script(nested)
    live.begin()
    for turn in whole.turns[:cut]:
        live.resolve(turn)
    assert part.cursor == live.cursor
    assert part.shown_count == live.shown_count


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"prompt": "test/old", "prompt_hash": "feedfacefeedface"}, r"test/old \(feedfacefeedface\).*test/say"),
        ({"key": "9/gone/z"}, "'9/gone/z'.*one of 0/open/a"),
    ],
    ids=["asked in other words", "never asked for"],
)
def test_a_turn_that_is_not_asked_for_is_refused_and_both_are_named(turn, said: str):
    async def rules(stage: Stage) -> Outcome:
        await stage.seat("a").ask("open", say("The new words."))
        return DONE

    s = begun(rules)
    with pytest.raises(ScriptChanged, match=said):
        s.resolve(turn_for(s.open["0/open/a"], "x", **turn))


def test_another_briefing_is_another_question():
    def rules(briefing: str):
        async def play_(stage: Stage) -> Outcome:
            stage.seat("a").brief(say(briefing))
            await stage.seat("a").ask("open", say("w"))
            return DONE

        return play_

    recorded = play(script(rules("argue for"))).turns
    with pytest.raises(ScriptChanged):
        script(rules("argue against")).replay(recorded)


async def does_io(stage: Stage) -> Outcome:
    await asyncio.sleep(0)
    return DONE


async def asks_a_seat_two_things_at_once(stage: Stage) -> Outcome:
    a = stage.seat("a")
    await together(a.ask("x", say("1")), a.ask("y", say("2")))
    return DONE


async def asks_a_key_twice(stage: Stage) -> Outcome:
    for text in "12":
        await stage.seat("a").ask("x", say(text))
    return DONE


async def leaves_what_it_started(stage: Stage) -> Outcome:
    async def beside() -> None:
        await stage.seat("b").ask("x", say("1"))

    stage.start(beside())
    return DONE


async def ignores_a_limit(stage: Stage) -> Outcome:
    for n in range(10):
        await stage.seat("a").ask("x", say("1"), round=n)
    return DONE


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (does_io, "Formats do no I/O"),
        (asks_a_seat_two_things_at_once, "before it has answered '0/x/a'"),
        (asks_a_key_twice, "'0/x/a' twice"),
        (leaves_what_it_started, "0/x/b. Await what you start"),
        (ignores_a_limit, "did not handle a limit"),
    ],
)
def test_rules_that_can_not_be_played_are_told_why(rules, said: str):
    with pytest.raises(ScriptError, match=said):
        play(script(rules, max_total_output_tokens=25))


def test_a_tolerant_step_hands_its_failure_or_what_was_typed_to_the_rules():
    got: list[Point | Failed] = []

    async def rules(stage: Stage) -> Outcome:
        got.append(await stage.seat("a").ask("x", say("1"), returns=Point, tolerant=True, round=1))
        got.append(await stage.seat("a").ask("x", say("1"), returns=Point, tolerant=True, round=2))
        return DONE

    failure = Failure(kind="invalid", message="no JSON")
    play(script(rules), lambda step: failure if step.round == 1 else {"text": "x", "weight": 3})
    assert isinstance(got[0], Failed)
    assert got[0].failure == failure
    assert got[1] == Point(text="x", weight=3)


def test_a_limit_is_raised_into_the_rules_before_the_next_ask():
    reached: list[LimitReached] = []

    async def rules(stage: Stage) -> Outcome:
        try:
            for n in range(10):
                await stage.seat("a").ask("x", say("1"), round=n)
        except LimitReached as limit:
            reached.append(limit)
        await stage.seat("b").ask("verdict", say("rule"), closing=True)
        return DONE

    played = play(script(rules, max_total_output_tokens=25))
    assert played.keys == ["0/x/a", "1/x/a", "2/x/a", "0/verdict/b"]
    assert reached[0].limit == "max_total_output_tokens"


def test_the_limit_of_a_started_task_is_raised_where_it_is_awaited():
    caught: list[str] = []

    async def rules(stage: Stage) -> Outcome:
        async def beside() -> None:
            await stage.seat("b").ask("x", say("1"))

        task = stage.start(beside())
        await stage.seat("a").ask("x", say("1"))
        try:
            await task
        except LimitReached as limit:
            caught.append(f"{limit.limit}: {limit}")
        return DONE

    def answer(step):
        return Failure(kind="limit", message="No tokens are left.") if step.seat.id == "b" else "fine"

    play(script(rules), answer)
    assert caught == ["max_total_output_tokens: No tokens are left."]


def test_closing_a_script_runs_nothing_more():
    after: list[str] = []

    async def rules(stage: Stage) -> Outcome:
        try:
            await stage.seat("a").ask("x", say("1"))
        finally:
            after.append("cleaned")
        after.append("went on")
        return DONE

    s = begun(rules)
    s.close()
    assert after == ["cleaned"]


def test_the_stage_shows_header_cast_and_the_outcome_itself():
    async def rules(stage: Stage) -> Outcome:
        stage.open(turns=3)
        stage.name_seats({"a": "Ada"})
        return DONE

    shown = [(each.type, each.data) for each in script(rules).begin()]
    assert shown == [
        ("HEADER", {"topic": "t", "turns": 3}),
        ("CAST", {"names": {"a": "Ada"}}),
        ("VERDICT", DONE.model_dump(mode="json")),
    ]


def test_each_kind_of_step_says_what_its_executor_needs():
    async def rules(stage: Stage) -> Outcome:
        await together(
            stage.gate(
                "confirm", say("Fine?"), returns=Approval, kind="approval", timeout_seconds=9, artifacts={"n": 1}
            ),
            stage.recall("look", "caches", corpus="templates", k=2),
            stage.compare("like", [("x", "y")]),
            stage.use("adder", "add", {"one": 1}, returns=Point),
        )
        return DONE

    s = begun(rules)
    gate, recall, compare, use = s.open.values()
    assert isinstance(gate, AskPerson)
    assert (gate.key, gate.gate, gate.timeout_seconds, gate.otherwise) == ("0/confirm/you", "approval", 9, None)
    assert (gate.artifacts, gate.shows) == ({"n": 1}, "PERSON")
    assert isinstance(recall, Recall)
    assert (recall.key, recall.corpus, recall.k, recall.prompt.text) == ("0/look/memory", "templates", 2, "caches")
    assert isinstance(compare, Recall)
    assert (compare.key, compare.corpus, compare.pairs) == ("0/like/memory", None, (("x", "y"),))
    assert isinstance(use, Use)
    assert (use.key, use.tool, use.arguments) == ("0/add/adder", "adder", {"one": 1})


def test_a_tool_with_other_arguments_is_another_step():
    def rules(number: int):
        async def play_(stage: Stage) -> Outcome:
            await stage.use("adder", "add", {"number": number}, returns=Point)
            return DONE

        return play_

    recorded = play(script(rules(1)), lambda _: {"text": "x", "weight": 3}).turns
    script(rules(1)).replay(recorded)
    with pytest.raises(ScriptChanged, match="tool/adder"):
        script(rules(2)).replay(recorded)


@pytest.mark.parametrize("how", ["shown", "a step"])
def test_an_event_that_is_not_declared_is_refused(how: str):
    async def rules(stage: Stage) -> Outcome:
        if how == "shown":
            stage.show("SURPRISE")
        await stage.seat("a").ask("x", say("1"), shows="SURPRISE")
        return DONE

    known = ("VERDICT", "TURN")
    with pytest.raises(ScriptError, match="'SURPRISE' that their format does not declare in `events`"):
        Script(rules, cast=SEATS, topic="t", events=known).begin()
    Script(rules, cast=SEATS, topic="t", events=(*known, "SURPRISE")).begin()


def test_a_seat_without_a_voice_is_not_shown_the_precedent():
    async def rules(stage: Stage) -> Outcome:
        for seat in stage.seats:
            seat.brief(say(f"You are {seat.id}."))
        await together(*(seat.ask("x", say("1")) for seat in stage.seats))
        return DONE

    cast = [replace(seat, voice=seat.id == "b") for seat in SEATS]
    s = Script(rules, cast=cast, topic="t", precedent="Decided before.")
    s.begin()
    briefs = {step.seat.id: step.messages[0].text for step in s.open.values()}
    assert briefs == {"a": "You are a.", "b": "You are b.\n\nDecided before.", "c": "You are c."}
