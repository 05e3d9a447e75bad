"""Texts that come from anywhere take time in proportion to their length.

Each function gets `n` and then four times as many characters of an adversarial repetition; a quadratic one takes
sixteen times as long. Time is that of this thread on the processor, without garbage collection, and the least of
several rounds: load beside it can slow down some of them, not all.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from moot.config import reaching
from moot.core.errors import MootError
from moot.core.masking import masked, without_secrets
from moot.core.types import Debate, SeatSpec
from moot.formats import wording_of
from moot.formats.shared.answer import Written
from moot.formats.shared.checks import answer_in, refuses
from moot.formats.shared.sides import checks
from moot.formats.shared.small import in_sentences, opening_words
from moot.models.spec import parse
from moot.reasoning.bm25 import bigrams, words
from moot.reasoning.code.examples import examples_in
from moot.reasoning.code.literals import is_literal
from moot.reasoning.code.test_files import cases_of
from moot.reasoning.code.written import cases_in, code_in, fenced
from moot.reasoning.fence import clean, defuse, fence, one_line, quote, unfenced
from moot.reasoning.followup import alone
from moot.reasoning.question import read_question
from moot.reasoning.repetition import inner_repetition
from moot.reasoning.sentences import first_sentence
from moot.reasoning.statements import Known, flaw_of
from moot.reasoning.verdict import Decision
from moot.records import quoting
from moot.runtime.hub import Flight
from moot.server.chat.chores import is_chore
from moot.server.chat.conversation import Message
from moot.server.chat.narration import Narrator
from moot.server.etags import same
from moot.server.guard import host_of
from moot.server.live import Delta, Reader
from moot.server.markdown import html

SIZE, MEASURABLE, ROUNDS = 5_000, 0.05, 5
GROWTH = 9.0  # for four times the text: linear is 4, quadratic 16

PIECES = [
    *("[", "(", "`", "*", "_", "<", "&", "#", ">", "|", "\\", "~", "!", "$", "{", ".", "?", ":", "@", "=", "'", '"'),
    *("a", "a ", "a\n", " ", "\n", "- ", "1. ", "# ", "> ", "](", "[a](", "![", "```\n", "a. ", "A. ", "a or "),
    *("://", "://a:", "://a:@", "http://a:b@", "pwd=", "password='", "sk-a", "Bearer ", "{{a", "é", "e\u0301"),
    *("a:b@", "a:", "eyJ", "api_key", "key: ", "\u200d", "\ufe0f😀", "a\u200d", "［", "[words of ", "guidance "),
    *("\u200ba", "[words of x begin 1]", "Debater A a ", "as an ", "i am ", "answer A ", "a(1,", "a(1, 2) = 3 "),
    *("Input: x = ", "for x = 1 ", "**a _b", "- a\n  ", "。", "```x\n", "\n```\na", '"""', "\\'", "### Task:\n"),
    *("or a? ", "[words of A begin 0123456789ab]\n", "[words of A end 0123456789ab]\n"),
]

LABELS: Any = {"a": ["Debater A"], "b": ["Debater B"]}
NAMES: Any = {"a": "Debater A", "b": "Debater B"}
DECIDED = Decision(winner="a", source="judge")


CAST = (SeatSpec(id="a", name="A", role="debater", model="m", max_tokens=1),)
DEBATE = Debate(id="x", topic="t", format="classic", format_version=1, status="running", config={}, cast=CAST)


def a_flight() -> Flight:
    return Flight(key="1/a", seat="a", round=1, phase="speak", shows="TURN")


def narrated(text: str) -> str:
    """A step's text as a chat client gets it, in small pieces."""
    narrator, flight = Narrator(wording_of(DEBATE)), a_flight()
    flight.hear("Begin")
    said = [narrator.hear([Delta(flight=flight, offset=0, text="Begin")])]
    for at in range(0, len(text), 20):
        piece = text[at : at + 20]
        flight.hear(piece)
        said.append(narrator.hear([Delta(flight=flight, offset=at + 5, text=piece)]))
    return "".join(said)


def followed(text: str) -> str:
    """The same from its first character on, through the place that a connection has in the debate."""
    channel: Any = SimpleNamespace(last_seq=0, readers=set(), debate=DEBATE)
    reader, narrator, flight = Reader(channel, 0, asyncio.Event(), None), Narrator(wording_of(DEBATE)), a_flight()
    said: list[str] = []
    for at in range(0, len(text), 4):
        flight.hear(text[at : at + 4])
        said.append(narrator.hear(reader._new_of(flight, done=False)))
    return "".join(said)


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "masked": masked,
    "without_secrets": without_secrets,
    "clean": clean,
    "defuse": defuse,
    "fence": lambda text: fence(text, of="x", at="1/a"),
    "quote": lambda text: quote(text, len(text)),
    "one_line": one_line,
    "first_sentence": first_sentence,
    "answer_in": answer_in,
    "refuses": refuses,
    "read_question": read_question,
    "examples_in": lambda text: examples_in(f"def a(x, y):\n{text}"),
    "fenced": lambda text: fenced("", text),
    "code_in": code_in,
    "cases_in": cases_in,
    "is_literal": is_literal,
    "unfenced": unfenced,
    "Written.from_text": Written.from_text,
    "is_chore": lambda text: is_chore([Message(role="system", text=text)], text),
    "cases_of": cases_of,
    "alone": lambda text: alone(f"(asked after “{text}”)"),
    "flaw_of": lambda text: flaw_of(text, "stop", Known(), Known([text[1:]])),
    "inner_repetition": inner_repetition,
    "opening_words": lambda text: opening_words(text, 2),
    "in_sentences": in_sentences,
    "words": words,
    "bigrams": bigrams,
    "parse": parse,
    "html": html,
    "reaching": lambda text: reaching({text: [text, {"seats": text}]}),
    "host_of": host_of,
    "etags": lambda text: same(text, '"1"'),
    "narration": narrated,
    "following": followed,
    "checks": lambda text: checks(DECIDED, judge="a", said=(), called=NAMES, statement=text, labels=LABELS),
    **{f"quoting.{name}": getattr(quoting, name) for name in ("code", "item", "literal", "quote")},
}


def seconds(function: Callable[[str], object], text: str) -> float:
    gc.disable()
    began = time.thread_time()
    try:
        with suppress(MootError, ValueError):  # that a text is refused takes time as well
            function(text)
        return time.thread_time() - began
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_grows_with_the_length(name: str):
    for piece in PIECES:
        shorter, longer = times(FUNCTIONS[name], piece)
        assert longer < max(MEASURABLE, GROWTH * shorter), (
            f"{name} of {piece!r}: {shorter:.3f} s for {SIZE:,} characters, then {longer:.3f} s for {4 * SIZE:,}"
        )


@pytest.mark.parametrize("power", [1, 2])
def test_a_quadratic_function_is_found_and_a_linear_one_is_not(monkeypatch: pytest.MonkeyPatch, power: int):
    clock = 0.0

    def takes(text: str) -> None:
        nonlocal clock
        clock += MEASURABLE * (len(text) / SIZE) ** power

    monkeypatch.setattr(time, "thread_time", lambda: clock)
    shorter, longer = times(takes, "a")
    assert (longer > max(MEASURABLE, GROWTH * shorter)) == (power == 2)


def times(function: Callable[[str], object], piece: str) -> tuple[float, float]:
    """Return the seconds for SIZE characters and for four times as many."""
    shorter, longer = float("inf"), seconds(function, _repeated(piece, 4 * SIZE))
    if longer < MEASURABLE:
        return 0.0, longer
    for again in range(ROUNDS):
        other = " " * (again + 1)  # not what a cache has
        shorter = min(shorter, seconds(function, _repeated(piece, SIZE) + other))
        longer = min(longer, seconds(function, _repeated(piece, 4 * SIZE) + other))
        if longer < GROWTH * shorter:
            break
    return shorter, longer


def _repeated(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]
