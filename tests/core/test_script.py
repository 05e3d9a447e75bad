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


class Point(Answer):
    text: str
    weight: int


def test_an_ask_hands_out_a_step_and_gets_the_words_of_its_turn():
    heard: list[str] = []

    async def rules(stage: Stage) -> Outcome:
        heard.append(await stage.seat("a").ask("open", say("Begin."), round=1))
        return DONE

    s = script(rules)
    s.begin()
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


def test_a_typed_ask_gives_back_the_type():
    got: list[Point] = []

    async def rules(stage: Stage) -> Outcome:
        got.append(await stage.seat("a").ask("point", say("?"), returns=Point))
        return DONE

    play(script(rules), lambda _: {"text": "x", "weight": 3})
    assert got == [Point(text="x", weight=3)]


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

    s = script(rules)
    s.begin()
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


def test_a_turn_that_was_asked_in_other_words_is_refused_and_both_are_named():
    async def rules(stage: Stage) -> Outcome:
        await stage.seat("a").ask("open", say("The new words."))
        return DONE

    s = script(rules)
    s.begin()
    old = turn_for(s.open["0/open/a"], "x", prompt="test/old", prompt_hash="feedfacefeedface")
    with pytest.raises(ScriptChanged, match=r"test/old \(feedfacefeedface\).*test/say"):
        s.resolve(old)


def test_a_turn_that_is_never_asked_for_is_refused_and_both_are_named():
    async def rules(stage: Stage) -> Outcome:
        await stage.seat("a").ask("open", say("w"))
        return DONE

    s = script(rules)
    s.begin()
    with pytest.raises(ScriptChanged, match="'9/gone/z'.*one of 0/open/a"):
        s.resolve(turn_for(s.open["0/open/a"], "x", key="9/gone/z"))


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


def test_a_format_that_does_io_is_refused():
    async def rules(stage: Stage) -> Outcome:
        await asyncio.sleep(0)
        return DONE

    with pytest.raises(ScriptError, match="Formats do no I/O"):
        script(rules).begin()


def test_a_seat_is_asked_one_thing_at_a_time():
    async def rules(stage: Stage) -> Outcome:
        a = stage.seat("a")
        await together(a.ask("x", say("1")), a.ask("y", say("2")))
        return DONE

    with pytest.raises(ScriptError, match="before it has answered '0/x/a'"):
        script(rules).begin()


def test_a_key_is_asked_once():
    async def rules(stage: Stage) -> Outcome:
        await stage.seat("a").ask("x", say("1"))
        await stage.seat("a").ask("x", say("2"))
        return DONE

    with pytest.raises(ScriptError, match="'0/x/a' twice"):
        play(script(rules))


def test_what_is_started_must_be_awaited():
    async def rules(stage: Stage) -> Outcome:
        async def beside() -> None:
            await stage.seat("b").ask("x", say("1"))

        stage.start(beside())
        return DONE

    with pytest.raises(ScriptError, match="0/x/b. Await what you start"):
        script(rules).begin()


def test_a_tolerant_step_hands_its_failure_to_the_rules():
    got: list[Point | Failed] = []

    async def rules(stage: Stage) -> Outcome:
        got.append(await stage.seat("a").ask("x", say("1"), returns=Point, tolerant=True))
        return DONE

    play(script(rules), lambda _: Failure(kind="invalid", message="no JSON"))
    assert isinstance(got[0], Failed)
    assert got[0].failure.message == "no JSON"


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


def test_rules_that_ignore_a_limit_are_told_so():
    async def rules(stage: Stage) -> Outcome:
        for n in range(10):
            await stage.seat("a").ask("x", say("1"), round=n)
        return DONE

    with pytest.raises(ScriptError, match="did not handle a limit"):
        play(script(rules, max_total_output_tokens=25))


def test_an_unaffordable_step_becomes_a_limit():
    async def rules(stage: Stage) -> Outcome:
        try:
            await stage.seat("a").ask("x", say("1"))
        except LimitReached as limit:
            return Outcome(winner="undecided", headline=str(limit), ended_by=limit.limit, verdict_source="fallback")
        return DONE

    played = play(script(rules), lambda _: Failure(kind="limit", message="No tokens are left."))
    assert played.outcome.headline == "No tokens are left."


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
            caught.append(limit.limit)
        return DONE

    def answer(step):
        return Failure(kind="limit", message="none") if step.seat.id == "b" else "fine"

    play(script(rules), answer)
    assert caught == ["max_total_output_tokens"]


def test_closing_a_script_runs_nothing_more():
    after: list[str] = []

    async def rules(stage: Stage) -> Outcome:
        try:
            await stage.seat("a").ask("x", say("1"))
        finally:
            after.append("cleaned")
        after.append("went on")
        return DONE

    s = script(rules)
    s.begin()
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

    s = script(rules)
    s.begin()
    gate, recall, compare, use = s.open.values()
    assert isinstance(gate, AskPerson)
    assert (gate.key, gate.gate, gate.timeout_seconds, gate.otherwise, gate.artifacts, gate.shows) == (
        "0/confirm/you", "approval", 9, None, {"n": 1}, "PERSON",
    )  # fmt: skip
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
