from dataclasses import replace
from pathlib import Path

import pytest

from moot.core.script import Script, Stage, together
from moot.core.types import Outcome, Prompt, SeatSpec, Turn
from moot.formats import installed
from perf import critical_path
from perf.rig import drive, longest
from tests.playing import play


async def rules(stage: Stage) -> Outcome:
    """Two chains side by side, of three calls and of two calls with a lookup between, then a verdict."""

    async def chain_of_three() -> None:
        for number in (1, 2, 3):
            await say("a", number)

    async def chain_of_two() -> None:
        await say("b", 1)
        await stage.recall("lookup", "words", corpus="templates", k=1)
        await say("b", 2)

    async def say(seat: str, number: int) -> None:
        await stage.seat(seat).ask("say", Prompt(name="test/say", text="Speak."), round=number)

    await together(chain_of_three(), chain_of_two())
    await say("judge", 1)
    return Outcome(winner="tie", headline="Done.", ended_by="rules", verdict_source="judge")


def script() -> Script:
    seats = [SeatSpec(id=each, name=each, role="debater", model="sim:", max_tokens=100) for each in ("a", "b", "judge")]
    return Script(rules, cast=seats)


def turns() -> list[Turn]:
    """In an order that is far from the shortest: one step at a time, the newest first."""
    return play(script(), order=lambda steps: reversed(steps), one_by_one=True).turns


def test_the_longest_chain_counts_calls_that_wait_for_one_another() -> None:
    waves = drive(script(), turns())
    assert [sorted(call.seat for call in wave) for wave in waves] == [["a", "b"], ["a", "b"], ["a"], ["judge"]]


def test_a_repeated_call_is_an_error() -> None:
    recorded = turns()
    recorded[0] = replace(recorded[0], metadata={"attempts": ["no JSON"]})
    with pytest.raises(RuntimeError, match="first try"):
        drive(script(), recorded)


def test_the_time_of_other_steps_counts_where_it_is_part_of_the_chain() -> None:
    recorded = [replace(turn, started_at=1.0, created_at=4.0) for turn in turns()]
    assert longest(script(), recorded, 1.0) == 6.0  # b, the lookup of three seconds, b, the judge
    assert longest(script(), recorded, 10.0) == 40.0  # three times a, the judge


@pytest.mark.soak
def test_every_installed_format_has_a_row(tmp_path: Path) -> None:
    rows = critical_path.measure(tmp_path, repeats=1, latency_ms=1)
    assert [row.name.rpartition(" ")[2] for row in rows] == list(installed())
    for row, format_ in zip(rows, installed().values(), strict=True):
        assert not row.error
        assert row.value > 0
        assert row.reference > 0
        assert str(row.goal) == ("<= 1.1" if format_.needs else "<= 1.05")


def test_a_duel_has_30_calls_and_a_chain_of_19(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(critical_path, "installed", lambda: {"duel": installed()["duel"]})
    (row,) = critical_path.measure(tmp_path, repeats=1, latency_ms=1)
    assert "19 times" in row.against
    assert "30 calls" in row.note


def test_a_format_that_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    classic = installed()["classic"]
    formats = {"missing": replace(classic, name="missing"), "classic": classic}
    monkeypatch.setattr(critical_path, "installed", lambda: formats)
    missing, measured = critical_path.measure(tmp_path, repeats=1, latency_ms=1)
    assert "missing" in missing.error
    assert not measured.error
