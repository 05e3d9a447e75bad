"""Budgets: a call that could exceed one is made smaller or not at all, and the debate ends with what it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.client import documents
from moot.core.errors import InputError, LimitReached
from moot.core.limits import Limits
from moot.core.types import Message, Price
from moot.runtime.budget import TRIES, Allowance, Used, allow, most_tokens
from tests.playing import script_of
from tests.running import an_app, answers_file, new_debate, run_to_rest, until

PRICE = Price(usd_in=1.0, usd_out=10.0)
LONG = "A statement of some length, given at length, with reasons. " * 30


def first_step(**settings):
    script = script_of("classic", **settings)
    script.begin()
    return script.open["1/speak/a"]


def test_without_limits_a_step_gets_its_own_cap_and_every_try():
    given_ = allow(first_step(), Limits(), Used(), price=None, closing_price=None)
    assert given_ == Allowance(max_tokens=600, tries=TRIES, tokens=600 * TRIES, cost_usd=0.0)


def test_the_judges_share_is_left_alone():
    limits = Limits(max_total_output_tokens=1000)
    given_ = allow(first_step(), limits, Used(tokens_out=100), price=None, closing_price=None)
    assert isinstance(given_, Allowance)
    assert (given_.max_tokens, given_.tries) == (500, 1)  # 1000, less 100 used, less 400 for the judge
    refused = allow(first_step(), limits, Used(tokens_out=590), price=None, closing_price=None)
    assert isinstance(refused, LimitReached)
    assert "Only 10 output tokens are left; 1/speak/a was not asked." in str(refused)


@given(cap=st.integers(1, 5000), used=st.integers(0, 5000))
def test_tokens_allowed_never_exceed_what_is_left(cap: int, used: int):
    step = first_step()
    given_ = allow(step, Limits(max_total_output_tokens=cap), Used(tokens_out=used), price=None, closing_price=None)
    if isinstance(given_, Allowance):
        assert used + given_.tokens + 400 <= cap
        assert given_.max_tokens >= 16


@given(cap=st.floats(0.0001, 0.2), used=st.floats(0, 0.2))
def test_money_allowed_never_exceeds_what_is_left(cap: float, used: float):
    step = first_step()
    given_ = allow(step, Limits(max_cost_usd=cap), Used(cost_usd=used), price=PRICE, closing_price=PRICE)
    if isinstance(given_, Allowance):
        assert used + given_.cost_usd <= cap
        worst = given_.tries * PRICE.of(most_tokens(step.messages), given_.max_tokens)
        assert given_.cost_usd == pytest.approx(worst)


@given(cap=st.integers(1, 20), used=st.integers(0, 20))
def test_calls_allowed_never_exceed_what_is_left(cap: int, used: int):
    given_ = allow(first_step(), Limits(max_calls=cap), Used(calls=used), price=None, closing_price=None)
    if isinstance(given_, Allowance):
        assert used + given_.tries + 1 <= cap  # one is kept for the judge
    else:
        assert used + 1 >= cap
        why = "The 1 call left is kept for the end" if cap > used else "No calls are left"
        assert str(given_) == f"{why}; 1/speak/a was not asked."


def test_bytes_bound_tokens_from_above():
    messages = [Message(role="user", text="héllo"), Message(role="assistant", text="")]
    assert most_tokens(messages) == 6 + 8 + 8


def test_an_unknown_price_refuses_the_call():
    refused = allow(first_step(), Limits(max_cost_usd=1), Used(), price=None, closing_price=PRICE)
    assert isinstance(refused, LimitReached)
    assert "not known" in str(refused)


@pytest.mark.parametrize("budget", [30, 700, 2500])
@pytest.mark.parametrize("format_", ["classic", "duel"])
async def test_tokens_spent_stay_within_the_budget_and_the_debate_ends_honestly(app, tmp_path, format_, budget):
    model = answers_file(tmp_path, {"*/speak/*": LONG, "*/think/*": LONG, "*/evaluate/*": LONG})
    done = await run_to_rest(app, await new_debate(app, model, format_, max_total_output_tokens=budget))
    assert done.status == "completed"
    assert done.tokens_out <= budget
    assert done.outcome.winner in ("a", "undecided")
    assert bool(done.outcome.reason) == (done.outcome.winner == "undecided")
    assert done.outcome.ended_by in ("max_total_output_tokens", "max_rounds", "turns")
    notices = [e.data["text"] for e in await app.runtime.store.events(done.id) if e.type == "notice"]
    assert any("was not asked" in text or "was cut to" in text for text in notices)
    assert (await documents.prove(app, done.id)).same


@pytest.mark.parametrize(("budget", "ended_by"), [(0.002, "max_cost_usd"), (0.03, "max_cost_usd"), (50, "turns")])
async def test_money_spent_stays_within_the_budget(app, budget, ended_by):
    model = "sim:?seed=3&tokens=150&price_in=2&price_out=10"
    done = await run_to_rest(app, await new_debate(app, model, "duel", max_cost_usd=budget))
    assert (done.status, done.outcome.ended_by) == ("completed", ended_by)
    assert done.cost_usd is not None
    assert done.cost_usd <= budget
    if ended_by == "turns":  # where there is room for all, nothing is made smaller
        assert not any("shrunk_to" in turn.metadata for turn in await app.runtime.store.turns(done.id))


@pytest.mark.parametrize("most", [3, 5, 9])
async def test_calls_stay_within_the_budget_and_the_judge_is_still_asked(app, most):
    done = await run_to_rest(app, await new_debate(app, "sim:", "classic", max_rounds=4, max_calls=most))
    asked = [turn for turn in await app.runtime.store.turns(done.id) if turn.failure is None]
    assert (len(asked), done.outcome.ended_by) == (most, "max_rounds" if most == 9 else "max_calls")
    assert "judge" in {turn.role for turn in asked}


async def test_a_money_budget_needs_a_known_price(app, tmp_path):
    with pytest.raises(InputError, match="The price of openai:nobody-knows@http://192.0.2.1/v1 is not known"):
        await new_debate(app, "openai:nobody-knows@http://192.0.2.1/v1", max_cost_usd=1)
    assert not (tmp_path / "moot.db").exists()


@pytest.mark.slow
async def test_running_time_ends_the_rounds_and_pauses_do_not_count(app, tmp_path):
    model = answers_file(tmp_path, delay_ms=300)
    done = await run_to_rest(app, await new_debate(app, model, "classic", max_runtime_seconds=1, max_rounds=50))
    assert done.outcome.ended_by == "max_runtime_seconds"
    turns = await app.runtime.store.turns(done.id)
    spoken = [turn for turn in turns if turn.phase != "verdict"]
    assert sum(turn.duration_ms for turn in spoken) >= 1000
    assert sum(turn.duration_ms for turn in spoken[:-1]) < 1000
    # On a busy machine the first statement may take all of the time; one alone is not judged.
    assert len(turns) - len(spoken) == (len(spoken) > 1)


async def test_the_cost_of_failed_attempts_is_recorded(app, tmp_path):
    chosen = {"max_rounds": 1, "model_judge": "sim:?garbage=1&price_in=2&price_out=10"}
    done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", **chosen))
    verdict = (await app.runtime.store.turns(done.id))[-1]
    assert "no valid answer in 3 tries" in verdict.failure.message
    assert done.cost_usd == verdict.cost_usd == pytest.approx((2 * verdict.tokens_in + 10 * verdict.tokens_out) / 1e6)
    assert verdict.cost_usd > 0


async def test_a_cascade_spends_no_more_than_one_model_may(app):
    cascade = " | ".join(f"sim:?garbage=1&seed={n}" for n in range(3))
    small = {"max_total_output_tokens": 50, "debater_max_tokens": 16, "judge_max_tokens": 16}
    debate = await new_debate(app, "sim:?tokens=5", "classic", max_rounds=1, model_judge=cascade, **small)
    done = await run_to_rest(app, debate)
    assert done.tokens_out + done.lost.tokens_out <= 50


async def test_time_outs_are_not_retried_past_the_budget(tmp_path):
    async with an_app(tmp_path, call_timeout_seconds=0.3) as app:
        small = {"max_total_output_tokens": 90, "debater_max_tokens": 40, "judge_max_tokens": 20}
        failed = await run_to_rest(app, await new_debate(app, "sim:?tps=100&tokens=100", "classic", **small))
        assert (failed.status, failed.error.kind) == ("failed", "timeout")
        assert failed.tokens_out + failed.lost.tokens_out <= 90


async def test_a_call_cut_off_by_stop_now_is_recorded_as_lost_with_its_price(app):
    debate = await new_debate(app, "sim:?tps=50&tokens=400&price_in=1&price_out=1000", "classic")
    await app.runtime.start(debate.id)
    await until(lambda: any(len(f.text) > 40 for f in app.runtime.hub.flights(debate.id).values()))
    await app.runtime.stop(debate.id, now=True)
    stopped = await app.runtime.wait(debate.id)
    assert stopped.status == "stopped"
    assert stopped.lost.tokens_out > 10
    assert stopped.lost.tokens_in > 10
    assert stopped.lost.cost_usd == pytest.approx((stopped.lost.tokens_in * 1 + stopped.lost.tokens_out * 1000) / 1e6)


async def test_a_call_cut_off_by_a_failure_is_recorded_as_lost(app, tmp_path):
    broken = answers_file(tmp_path, {"0/plan/a": {"fail": "unavailable", "message": "gone"}})
    slow = "sim:?tps=50&tokens=400"
    debate = await new_debate(app, slow, seats={"a": {"model": broken}})
    await app.runtime.start(debate.id)
    flights = app.runtime.hub.flights
    await until(lambda: len(getattr(flights(debate.id).get("0/plan/b"), "text", "")) > 40)
    await until(lambda: "0/plan/a" not in flights(debate.id))
    await app.runtime.stop(debate.id, now=True)
    failed = await app.runtime.wait(debate.id)
    assert (failed.status, failed.error.kind) == ("failed", "unavailable")
    assert failed.lost.tokens_out > 10


RULING = {
    "summary": "Both were heard, and the second had the better reasons. " * 4,
    "score_a": 5,
    "score_b": 7,
    "no_new_substantive_arguments": False,
}


@pytest.mark.parametrize(
    ("cap", "settings", "said"),
    [
        (60, {}, ""),  # the second try has twice the room, which is enough
        (20, {}, "Set judge_max_tokens (or seats.judge.max_tokens) to more than 40."),
        (20, {"max_total_output_tokens": 1230}, "Set judge_max_tokens (or seats.judge.max_tokens) to more than 20."),
    ],
)
async def test_a_ruling_cut_off_by_its_cap_gets_room_or_says_which_setting_would_help(
    app, tmp_path, cap, settings, said
):
    spoken = {f"1/speak/{side}": " ".join(f"{side}{n}" for n in range(800)) for side in "ab"}
    answers = answers_file(tmp_path, {"1/verdict/judge": RULING, **spoken})
    chosen = {"max_rounds": 1, "judge_max_tokens": cap, "recall_decisions": False, **settings}
    debate = await run_to_rest(app, await new_debate(app, answers, "classic", **chosen))
    (turn,) = [turn for turn in await app.runtime.store.turns(debate.id) if turn.seat == "judge"]
    assert debate.status == "completed"
    assert debate.tokens_out <= debate.config["max_total_output_tokens"]
    if said:
        assert turn.failure is not None
        assert turn.failure.message.endswith(said)
        assert debate.outcome.winner == "undecided"
    else:
        assert turn.failure is None
        assert "cut off after 60 tokens; asked again with 120" in turn.metadata["attempts"][0]
