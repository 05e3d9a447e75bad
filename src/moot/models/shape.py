"""From what a model wrote to the typed answer that was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

from pydantic import ValidationError

from moot.errors import BadOutput, ModelError
from moot.models.books import NOTHING, again, charge, credit
from moot.types import Answer, Call, Hear, Json, Message, Model, Reply

_EXPLAINED = 3  # a model is told of so many mistakes at once


class NotInShape(Exception):
    """Says, to the model, what was wrong with its answer."""


def with_shape(model: Model) -> Model:
    """Sets `reply.answer` when the call has `returns`; asks again, up to `call.tries` times, when the text won't do.

    After the last try a wrong shape is BadOutput; an empty text is just an empty text.
    """

    async def shaped(call: Call, hear: Hear) -> Reply:
        earlier, attempts = NOTHING, ()
        asked = call
        while True:
            try:
                reply = await model(asked, hear)
            except ModelError as error:
                raise charge(error, earlier) from None
            try:
                return credit(_judge(call, reply), earlier, attempts)
            except NotInShape as wrong:
                reason = str(wrong)
            attempts = (*attempts, f"invalid: {reason}")
            retry = again(call, earlier + reply.usage)
            if len(attempts) >= call.tries or retry is None:
                if call.returns is None:
                    return credit(reply, earlier, attempts)
                raise BadOutput(
                    f"{reply.model} gave no valid {call.returns.__name__} in {len(attempts)} tries: {reason}",
                    model=reply.model,
                    usage=earlier + reply.usage,
                    raw=reply.text,
                )
            earlier += reply.usage
            asked = replace(retry, messages=_told(call.messages, reply, reason))
            hear(None)

    return shaped


def read_answer(text: str, returns: type[Answer], heard: Sequence[Message] = ()) -> Answer:
    """The one JSON object in `text` that validates. Raises NotInShape.

    Prose and code fences around it don't matter. Two different valid objects are ambiguous, so neither counts. An
    object inside prose that also stands in a message the model was given is a quotation, not the model's answer.
    """
    found = list(_objects(text))
    if not found:
        cut = "it is not closed" if "{" in text else "there is none"
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
        raise NotInShape(_explain(problem) if problem else "no JSON object")
    return answers[0]


def _judge(call: Call, reply: Reply) -> Reply:
    if call.returns is None:
        if reply.text.strip():
            return reply
        raise NotInShape("the answer was empty")
    if not reply.text.strip():
        raise NotInShape("the answer was empty")
    try:
        return replace(reply, answer=read_answer(reply.text, call.returns, call.messages))
    except NotInShape as wrong:
        if reply.finish_reason == "length":
            raise NotInShape(f"{wrong}; it was cut off after {call.max_tokens} tokens, be briefer") from None
        raise


def _told(messages: Sequence[Message], reply: Reply, reason: str) -> list[Message]:
    told = list(messages)
    if reply.text.strip():
        told.append(Message(role="assistant", text=reply.text))
    told.append(Message(role="user", text=f"That answer can't be used: {reason}. Answer again."))
    return told


def _explain(invalid: ValidationError) -> str:
    errors = invalid.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(str(part) for part in e['loc']) or 'the object'}: {e['msg']}" for e in errors[:_EXPLAINED]]
    return "; ".join(told)


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json").strip()
    return text


def _objects(text: str) -> Iterable[tuple[str, Json]]:
    """The outermost JSON objects, in order. What follows a brace that is never closed is inside it: not looked at."""
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


_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_once)
