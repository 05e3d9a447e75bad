"""A debate as one text: each word once, one speaker at a time."""

from __future__ import annotations

from moot.core.types import Debate, Event, SeatSpec, Turn
from moot.formats import wording_of
from moot.runtime.hub import Flight
from moot.server.chat.narration import Narrator
from moot.server.live import Delta


def event(seq: int, key: str, text: str, seat: str = "a", type: str = "TURN") -> Event:
    turn = Turn(key=key, seq=seq, kind="ask", round=1, phase="speak", seat=seat, role="debater", content=text)
    return Event(seq=seq, type=type, key=key, data={}, created_at=0.0, turn=turn)


def flight(key: str, text: str, seat: str = "a") -> Flight:
    made = Flight(key=key, seat=seat, round=1, phase="speak", shows="TURN")
    made.hear(text)
    return made


def heard(flight: Flight) -> Delta:
    return Delta(flight=flight, attempt=flight.attempt, offset=0, text=flight.text)


def a_debate(format: str = "classic") -> Debate:
    cast = tuple(SeatSpec(id=seat, name=seat.upper(), role="debater", model="m", max_tokens=1) for seat in "ab")
    return Debate(id="x", topic="t", format=format, format_version=1, status="running", config={}, cast=cast)


def test_one_speaker_at_a_time_and_each_word_once():
    narrator, a, b = Narrator(wording_of(a_debate())), flight("1/a", " Hello"), flight("1/b", "Other", "b")
    text = narrator.hear([heard(a), heard(b)])
    assert text == "### A, round 1\n\nHello"
    a.hear(" world ")
    b.hear(" side.")
    text += narrator.hear([heard(a), heard(b), event(1, "1/b", "Other side.", "b")])
    text += narrator.hear([event(2, "1/a", "Hello world."), event(3, "2/a", "More.")])
    assert text == ("### A, round 1\n\nHello world.\n\n### B, round 1\n\nOther side.\n\n### A, round 1\n\nMore.\n\n")
    assert narrator.rest() == ""


def test_who_is_heard_before_the_one_who_spoke_first_waits():
    """Text in flight comes at once, events when they are looked up."""
    narrator, a, b = Narrator(wording_of(a_debate())), flight("1/a", "First."), flight("1/b", "Sec", "b")
    b.after = 1
    assert narrator.hear([heard(b)]) == ""
    text = narrator.hear([event(1, "1/a", "First.")])
    assert text == "### A, round 1\n\nFirst.\n\n### B, round 1\n\nSec"
    assert narrator.hear([heard(a)]) == ""
    assert narrator.hear([event(2, "1/b", "Second.", "b")]) == "ond.\n\n"


def test_who_is_heard_too_early_and_has_ended_is_told_once():
    narrator, b = Narrator(wording_of(a_debate())), flight("1/b", "Second.", "b")
    b.after = 1
    text = narrator.hear([heard(b), event(1, "1/a", "First."), event(2, "1/b", "Second.", "b")])
    assert text + narrator.rest() == "### A, round 1\n\nFirst.\n\n### B, round 1\n\nSecond.\n\n"


def test_a_new_try_is_told_as_such():
    narrator, a = Narrator(wording_of(a_debate())), flight("1/a", "Wrong begin")
    text = narrator.hear([heard(a)])
    a.restart()
    a.hear("Right")
    text += narrator.hear([heard(a), event(1, "1/a", "Right words.")])
    assert text == "### A, round 1\n\nWrong begin\n\n[begins again]\n\nRight words.\n\n"


def test_what_someone_began_to_say_and_others_said_is_told_when_the_debate_stops():
    narrator, a = Narrator(wording_of(a_debate())), flight("1/a", "Begun")
    narrator.hear([heard(a), event(1, "1/b", "Said.", "b")])
    assert narrator.rest() == "### B, round 1\n\nSaid.\n\n"
