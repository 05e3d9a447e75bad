"""Typed answers: finds the JSON object in a model's text, validates it, and asks again if it is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

from pydantic import ValidationError

from moot.core.errors import BadOutput, ModelError, ModelUnavailable
from moot.core.explaining import Details, found_in
from moot.core.types import Answer, Call, Hear, Json, Message, Model, Reply, TextAnswer
from moot.models.usage import NO_USAGE, charge_error, charge_reply, next_attempt, roomier

_MAX_EXPLAINED = 3  # validation errors that a model is told at once


class NotInShape(Exception):
    """The answer can't be used. The message is meant for the model."""


def with_shape(model: Model) -> Model:
    """Set `reply.answer` if the call has `returns`. Asks up to `call.tries` times, with the error in the messages.

    A typed answer that its token cap cut off is asked for again with twice the room, as far as `call.most_tokens`
    allows. After the last try, an invalid answer raises BadOutput; an empty text is returned as it is. A text to which
    there is an objection is asked for once more.
    """

    async def shaped(call: Call, hear: Hear) -> Reply:
        earlier, attempts = NO_USAGE, ()
        asked = call
        failed: BadOutput | None = None
        while True:
            try:
                reply = await model(asked, hear)
            except ModelUnavailable as error:
                if asked.max_tokens <= call.max_tokens or failed is None:
                    raise charge_error(error, earlier) from None
                raise failed from None  # the model does not take so large a cap; what it said before is what counts
            except ModelError as error:
                raise charge_error(error, earlier) from None
            try:
                return charge_reply(_with_answer(asked, reply), earlier, attempts)
            except NotInShape as wrong:
                reason = str(wrong)
            used = earlier + reply.usage
            cut = call.returns is not None and reply.finish_reason == "length"
            room = roomier(call, asked, used) if cut else None
            retry = room or next_attempt(call, used)
            attempts = (*attempts, f"invalid: {reason}" + (f"; asked again with {room.max_tokens}" if room else ""))
            if call.returns is not None:
                failed = BadOutput(
                    f"{reply.model} gave no valid answer in {_tries(len(attempts))}: {reason}",
                    model=reply.model,
                    usage=used,
                    raw=reply.text,
                    cut_at=asked.max_tokens if cut else 0,
                )
            if len(attempts) >= call.tries or retry is None:
                if failed is None:
                    return charge_reply(reply, earlier, attempts)
                raise failed
            earlier = used
            # With more room the same question is enough: half an answer in the history would only cost tokens.
            asked = room or _again(retry, reply, f"{reason}{_brief(cut)}")
            hear(None)

    return shaped


def read_answer(text: str, returns: type[Answer], heard: Sequence[Message] = ()) -> Answer:
    """Return the one JSON object in `text` that validates. Raises NotInShape.

    Prose and code fences around it are ignored. Two different valid objects are ambiguous, so neither counts. An object
    inside prose that is also in one of the `heard` messages is a quotation, not the model's answer. A `TextAnswer`
    reads the text itself.
    """
    if issubclass(returns, TextAnswer):
        return _read_text(text, returns)
    found = list(_objects(text))
    if not found:
        open_, closed = text.count("{"), text.count("}")
        cut = "there is none" if not open_ else "it is not closed" if open_ > closed else "it is not valid JSON"
        raise NotInShape(f"a JSON object was expected, but {cut}")
    if _bare(text) != found[0][0]:
        quoted = [value for message in heard if message.role != "assistant" for _, value in _objects(message.text)]
        own = [(source, value) for source, value in found if value not in quoted]
        if not own:
            raise NotInShape("the only JSON object in it is a quotation; give your own answer, as one JSON object")
        found = own
    answers: list[Answer] = []
    problem: ValidationError | None = None
    for _, value in found:
        try:
            answer = returns.model_validate(value)
        except ValidationError as invalid:
            problem = problem or invalid
        else:
            if answer not in answers:
                answers.append(answer)
    if len(answers) > 1:
        raise NotInShape(f"it holds {len(answers)} different valid JSON objects; give exactly one")
    if not answers:
        raise NotInShape(_explain(returns, problem) if problem else "no JSON object")
    return answers[0]


def _read_text(text: str, returns: type[TextAnswer]) -> TextAnswer:
    try:
        return returns.from_text(text)
    except ValidationError as invalid:
        raise NotInShape(_explain(returns, invalid)) from None
    except ValueError as wrong:
        raise NotInShape(str(wrong)) from None


def _with_answer(call: Call, reply: Reply) -> Reply:
    if call.returns is None:
        if not reply.text.strip():
            raise NotInShape("the answer was empty")
        if call.objection is not None and (objection := call.objection(reply.text)):
            raise NotInShape(f"it {objection}")
        return reply
    if not reply.text.strip():
        raise NotInShape("the answer was empty")
    text = reply.text
    if call.sampling.stop and reply.finish_reason == "stop" and issubclass(call.returns, TextAnswer):
        text = call.returns.ended(text)
    try:
        return replace(reply, answer=read_answer(text, call.returns, call.messages))
    except NotInShape as wrong:
        if reply.finish_reason == "length":
            raise NotInShape(f"{wrong}; it was cut off after {call.max_tokens} tokens") from None
        raise


def _tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"


def _brief(cut: bool) -> str:
    return ", be briefer" if cut else ""


def _again(call: Call, reply: Reply, reason: str) -> Call:
    """The call for another try. A text to which there was an objection is not shown: it would be copied."""
    if call.returns is not None or not reply.text.strip():
        return replace(call, messages=_with_correction(call.messages, reply, reason))
    *before, last = call.messages
    advice = f"{last.text}\n\nYour first try can't be used: {reason}. Say something else."
    return replace(call, messages=[*before, replace(last, text=advice)], objection=None)


def _with_correction(messages: Sequence[Message], reply: Reply, reason: str) -> list[Message]:
    made = list(messages)
    if reply.text.strip():
        made.append(Message(role="assistant", text=reply.text))
    made.append(Message(role="user", text=f"That answer can't be used: {reason}. Answer again."))
    return made


def _explain(returns: type[Answer], invalid: ValidationError) -> str:
    # Without the values: they may be long, and the model knows what it wrote.
    mistakes = found_in(returns, cast("list[Details]", invalid.errors(include_url=False)), values=False)
    return "; ".join(mistake.text for mistake in mistakes[:_MAX_EXPLAINED])


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json").strip()
    return text


def _objects(text: str) -> Iterable[tuple[str, Json]]:
    """Yield the outermost JSON objects in order, as text and value. Stops at a brace that is never closed."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = _closing(text, at)
            if end < 0:
                return
        else:
            yield text[at:end], cast(Json, value)
        at = text.find("{", end)


def _closing(text: str, start: int) -> int:
    depth, quoted, at = 0, False, start
    while at < len(text):
        char = text[at]
        if quoted:
            if char == "\\":
                at += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return -1


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> Json:
    # `{"winner": "a", "winner": "b"}` must not silently mean the second.
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name occurs twice")
    return made


def _finite(text: str) -> float:
    # `1e999` would be infinite, which can't be written as JSON again.
    number = float(text)
    return _refuse(text) if math.isinf(number) else number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
