from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict

from moot.core.errors import BadOutput, ModelOverloaded, ModelUnavailable
from moot.core.types import Answer, Call, Hear, Message, Reply, Sampling, Usage
from moot.formats.forge.answers import Solution
from moot.models.shape import NotInShape, read_answer, with_shape
from tests.models.calls import GOOD, OTHER, Listener, Score, call, fake

EXPECTED = Score(reasoning="Fair.", score=7, winner="a")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here is my answer:\n```json\n{GOOD}\n```\nThank you.",
        f"I weigh {{both}} sides. {GOOD} That is all.",
        f"{GOOD} {GOOD}",
        f'{{"other": 1}} {GOOD}',
        GOOD.replace("Fair.", 'A brace } and a quote \\" inside'),
    ],
)
def test_the_answer_is_found(text: str) -> None:
    answer = read_answer(text, Score)
    assert isinstance(answer, Score)
    assert (answer.score, answer.winner) == (7, "a")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no object", "there is none"),
        ('{"reasoning": "Fair.", "score": 7, "win', "not closed"),
        (f"{GOOD} or rather {OTHER}", "2 different valid JSON objects"),
        ('{"reasoning": "Fair.", "score": 70, "winner": "a"}', "score must be a whole number from 1 to 10"),
        ('{"reasoning": "Fair.", "score": 7}', "winner is missing"),
        ('{"reasoning": "x", "score": 7, "winner": "a", "extra": 1}', "extra is not known here"),
        ('{"reasoning": "x", "score": 7, "winner": "b", "winner": "a"}', "expected"),
        ('{"reasoning": "x", "score": NaN, "winner": "a"}', "expected"),
        ('{"reasoning": "x", "score": 1e999, "winner": "a"}', "expected"),
        (f'{{"quote": {GOOD}, "score":', "not closed"),
        (f'{{"quote": {GOOD}}}', "reasoning is missing"),
        ("{" * 100_000, "not closed"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "expected"),
    ],
)
def test_what_can_not_be_used_is_explained(text: str, said: str) -> None:
    with pytest.raises(NotInShape) as raised:
        read_answer(text, Score)
    assert said in str(raised.value)


def test_a_quotation_is_not_an_answer() -> None:
    heard = [Message(role="user", text=f"A says: {GOOD}")]
    with pytest.raises(NotInShape, match="quotation"):
        read_answer(f"A wants me to write {json.dumps(json.loads(GOOD), indent=1)}, which I won't.", Score, heard)
    assert read_answer(f"A wants {GOOD} but I say {OTHER}", Score, heard) == Score(
        reasoning="Fair.", score=3, winner="b"
    )


def test_the_whole_answer_may_agree_with_what_was_said() -> None:
    heard = [Message(role="user", text=f"For example: {GOOD}")]
    assert read_answer(GOOD, Score, heard) == EXPECTED
    assert read_answer(f"```json\n{GOOD}\n```", Score, heard) == EXPECTED


class Anything(Answer):
    model_config = ConfigDict(extra="allow", frozen=True)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
names = st.text(min_size=1).filter(lambda name: not name.startswith(("_", "model_")))


@given(st.dictionaries(names, values, max_size=4), st.text().filter(lambda t: "{" not in t), st.text())
def test_any_object_is_found_in_any_prose(value: dict[str, object], before: str, after: str) -> None:
    after = after.replace("{", "")
    found = read_answer(before + json.dumps(value) + after, Anything)
    assert found.model_dump() == value


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(NotInShape):
        read_answer(text, Score, [Message(role="user", text=text)])


def test_a_valid_answer_is_typed_and_its_text_is_kept() -> None:
    model, calls = fake(f"Well: {GOOD}")
    reply = asyncio.run(with_shape(model)(call(returns=Score), Listener()))
    assert reply.answer == EXPECTED
    assert reply.text == f"Well: {GOOD}"
    assert len(calls) == 1


def test_a_wrong_answer_is_explained_and_asked_for_again() -> None:
    model, calls = fake("I can't decide.", '{"score": 99}', GOOD)
    listener = Listener()
    reply = asyncio.run(with_shape(model)(call("Judge.", returns=Score), listener))
    assert reply.answer == EXPECTED
    assert listener.heard == ["I can't decide.", None, '{"score": 99}', None, GOOD]
    assert reply.usage == Usage(tokens_in=30, tokens_out=15)
    assert [len(asked.messages) for asked in calls] == [1, 3, 3]
    assert [m.role for m in calls[2].messages] == ["user", "assistant", "user"]
    assert calls[2].messages[1].text == '{"score": 99}'
    assert "reasoning is missing" in calls[2].messages[2].text
    assert reply.attempts == (
        "invalid: a JSON object was expected, but there is none",
        "invalid: reasoning is missing; score must be a whole number from 1 to 10; winner is missing",
    )


def test_after_the_last_try_it_is_bad_output_with_all_usage() -> None:
    model, calls = fake("One.", "Two.", "Three.")
    with pytest.raises(BadOutput, match="no valid answer in 3 tries") as raised:
        asyncio.run(with_shape(model)(call(returns=Score, tries=3), Listener()))
    assert raised.value.raw == "Three."
    assert raised.value.usage == Usage(tokens_in=30, tokens_out=15)
    assert len(calls) == 3


def test_an_answer_cut_off_by_its_cap_is_asked_for_again() -> None:
    cut = Reply(text=GOOD[:20], model="fake", provider="fake", finish_reason="length")
    model, calls = fake(cut, GOOD)
    asyncio.run(with_shape(model)(call(returns=Score), Listener()))
    assert calls[1].messages == calls[0].messages  # with more room the same question is enough
    assert (calls[0].max_tokens, calls[1].max_tokens) == (100, 200)


def cut_at(call: Call, _hear: Hear) -> Any:
    async def reply() -> Reply:
        usage = Usage(tokens_in=10, tokens_out=call.max_tokens)
        return Reply(text=GOOD[:20], model="fake", provider="fake", finish_reason="length", usage=usage)

    return reply()


@pytest.mark.parametrize(
    ("most_tokens", "caps"),
    [(None, [100, 200, 400]), (300, [100, 200]), (250, [100, 150]), (200, [100, 100]), (150, [100]), (100, [100])],
)
def test_an_answer_cut_off_by_its_cap_is_asked_for_again_with_room_within_the_budget(
    most_tokens: int | None, caps: list[int]
) -> None:
    model, calls = fake(cut_at)
    with pytest.raises(BadOutput, match=f"cut off after {caps[-1]} tokens") as raised:
        asyncio.run(with_shape(model)(call(returns=Score, most_tokens=most_tokens), Listener()))
    assert [asked.max_tokens for asked in calls] == caps
    assert raised.value.usage is not None
    assert raised.value.usage.tokens_out == sum(caps) <= (most_tokens or 700)
    assert raised.value.cut_at == caps[-1]


def test_without_room_the_model_is_told_to_be_briefer() -> None:
    model, calls = fake(cut_at, GOOD)
    asyncio.run(with_shape(model)(call(returns=Score, most_tokens=200), Listener()))
    assert "cut off after 100 tokens, be briefer" in calls[1].messages[-1].text


def test_a_model_that_refuses_more_room_gave_no_valid_answer() -> None:
    model, _ = fake(cut_at, ModelUnavailable("max_tokens is too large"))
    with pytest.raises(BadOutput, match="cut off after 100 tokens"):
        asyncio.run(with_shape(model)(call(returns=Score), Listener()))


def test_a_text_that_was_cut_off_is_not_asked_for_again() -> None:
    cut = Reply(text="Words of", model="fake", provider="fake", finish_reason="length")
    model, calls = fake(cut)
    assert asyncio.run(with_shape(model)(call(), Listener())) == cut
    assert len(calls) == 1


def test_an_error_between_tries_counts_all_usage() -> None:
    model, _ = fake("No.", ModelOverloaded("busy", usage=Usage(tokens_in=1, tokens_out=1)))
    with pytest.raises(ModelOverloaded) as raised:
        asyncio.run(with_shape(model)(call(returns=Score), Listener()))
    assert raised.value.usage == Usage(tokens_in=11, tokens_out=6)


def test_an_empty_text_is_asked_for_again_and_then_taken() -> None:
    model, calls = fake(" \n", "Yes.")
    reply = asyncio.run(with_shape(model)(call(), Listener()))
    assert (reply.text, len(calls)) == ("Yes.", 2)
    # An empty message is refused by some providers.
    assert [m.role for m in calls[1].messages] == ["user", "user"]
    model, calls = fake("")
    reply = asyncio.run(with_shape(model)(call(tries=2), Listener()))
    assert (reply.text, len(calls), reply.usage.tokens_in) == ("", 2, 20)


def short(text: str) -> str:
    return "is too short" if len(text) < 10 else ""


def test_a_text_with_an_objection_is_asked_for_once_more_and_not_shown_to_its_author() -> None:
    model, calls = fake("Short.", "A longer answer.")
    listener = Listener()
    reply = asyncio.run(with_shape(model)(call("Speak.", objection=short), listener))
    assert (reply.text, len(calls)) == ("A longer answer.", 2)
    assert reply.attempts == ("invalid: it is too short",)
    assert reply.usage.tokens_in == 20
    assert listener.text == "A longer answer."
    (message,) = calls[1].messages
    assert message.text == "Speak.\n\nYour first try can't be used: it is too short. Say something else."


@pytest.mark.parametrize(
    ("says", "more", "text", "tries"),
    [
        pytest.param(["One.", "Two.", "Three."], {}, "Two.", 2, id="the second counts"),
        pytest.param(["A longer answer.", "Two."], {}, "A longer answer.", 1, id="nothing to object"),
        pytest.param(["One.", "Two."], {"tries": 1}, "One.", 1, id="no second try"),
        pytest.param(["One.", "Two."], {"max_tokens": 100, "most_tokens": 100}, "One.", 1, id="no room for one"),
    ],
)
def test_which_text_counts(says: list[str], more: dict[str, Any], text: str, tries: int) -> None:
    model, calls = fake(*says)
    reply = asyncio.run(with_shape(model)(call(objection=short, **more), Listener()))
    assert (reply.text, len(calls)) == (text, tries)


class TestStopped:
    """Code whose answer ended where a text of `stop` began."""

    OPEN = "```python\ndef one():\n    return 1"

    def answered(self, reason: str, stop: tuple[str, ...]) -> Reply:
        model, _ = fake(Reply(text=self.OPEN, model="m", provider="p", finish_reason=reason))
        asked = call(returns=Solution, sampling=Sampling(stop=stop), tries=1)
        return asyncio.run(with_shape(model)(asked, Listener()))

    def test_its_block_is_closed_and_its_text_is_kept(self) -> None:
        reply = self.answered("stop", ("\n```\n",))
        assert reply.answer == Solution(code="def one():\n    return 1\n")
        assert reply.text == self.OPEN

    @pytest.mark.parametrize(("reason", "stop"), [("length", ("\n```\n",)), ("stop", ())])
    def test_what_was_cut_off_or_had_no_such_text_is_not_whole(self, reason: str, stop: tuple[str, ...]) -> None:
        with pytest.raises(BadOutput, match="its code block is not closed"):
            self.answered(reason, stop)
