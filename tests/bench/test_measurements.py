"""Each measurement works and says what it should. Nothing here looks at how long anything takes."""

import json
import py_compile
from pathlib import Path

import pytest

from moot.bench import __main__ as bench
from moot.bench import critical_path, durable_steps, memory, peer, postgres, prefix, replay, start
from moot.bench.table import Goal, Row, render
from moot.types import Call, Message


def check(rows: list[Row], count: int) -> None:
    assert len(rows) == count
    for row in rows:
        assert not row.error
        assert row.value > 0
        assert row.reference > 0
        assert row.ratio == row.value / row.reference
        json.dumps(row.as_json())


def test_the_critical_path_of_a_duel_is_19_waves_of_30_calls(tmp_path: Path) -> None:
    rows = critical_path.measure(tmp_path, repeats=1, latency_ms=1)
    check(rows, 1)
    assert "19 times" in rows[0].against
    assert "30 calls" in rows[0].note


def test_steps_against_raw_sqlite(tmp_path: Path) -> None:
    check(durable_steps.against_raw(tmp_path, repeats=1, debates=2), 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_steps_against_raw_postgresql_on_a_server_of_our_own(tmp_path: Path) -> None:
    check(postgres.against_raw(tmp_path, repeats=1, debates=2), 2)


@pytest.mark.slow
def test_debates_that_are_left_to_workers(tmp_path: Path) -> None:
    rows = postgres.with_workers(tmp_path, repeats=1, debates=2)
    check(rows, 3)
    assert [row.name.rpartition(", ")[2] for row in rows] == ["1 worker", "2 workers", "4 workers"]


def test_replay_of_long_and_short_debates(tmp_path: Path) -> None:
    check(replay.measure(tmp_path, repeats=1, turns=20), 1)


def test_the_prefix_is_a_share(tmp_path: Path) -> None:
    rows = prefix.measure(tmp_path, tokens=50)
    check(rows, 2)
    assert 0 < rows[1].ratio < rows[0].ratio < 1


@pytest.mark.slow
def test_memory_in_a_process_of_its_own(tmp_path: Path) -> None:
    check(memory.measure(tmp_path, debates=3), 2)


@pytest.mark.slow
def test_start_of_the_installed_command(tmp_path: Path) -> None:
    check(start.measure(tmp_path, repeats=1), 1)


def test_only_what_the_previous_call_began_with_counts_as_unchanged() -> None:
    def call(*texts: str) -> Call:
        roles = ("system", "user", "assistant")
        messages = [Message(role=roles[min(n, 1 + (n + 1) % 2)], text=text) for n, text in enumerate(texts)]
        return Call(key="", seat="a", messages=messages, max_tokens=1)

    grown = [call("12", "345"), call("12", "345", "6789", "0")]
    assert prefix.shared(grown, answers=False) == (5, 10)
    assert prefix.shared(grown, answers=True) == (9, 10)
    rewritten = [call("12", "345"), call("21", "345", "6789", "0")]
    assert prefix.shared(rewritten, answers=False) == (0, 10)


@pytest.mark.parametrize("program", sorted(peer.PEERS.glob("*.py")), ids=lambda path: path.stem)
def test_the_programs_of_other_engines_compile(program: Path, tmp_path: Path) -> None:
    py_compile.compile(str(program), str(tmp_path / "x.pyc"), doraise=True)


def test_other_engines_find_nothing_beside_their_programs() -> None:
    assert {path.suffix for path in peer.PEERS.iterdir()} - {""} == {".py", ".txt"}
    assert all(path.stem.startswith("peer_") for path in peer.PEERS.glob("*.py"))


def test_a_measurement_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(folder: Path) -> list[Row]:
        raise OSError("no network")

    def fine(folder: Path) -> list[Row]:
        return [Row(name="speed", value=6, unit="/s", reference=2, against="2 /s", goal=Goal(sign=">=", bound=3))]

    monkeypatch.chdir(tmp_path)
    both = {"broken": bench.Measurement(measure=broken), "fine": bench.Measurement(measure=fine)}
    monkeypatch.setattr(bench, "MEASUREMENTS", both)
    bench.main(["--json", "out.json"])
    printed = capsys.readouterr().out
    assert "broken: OSError: no network" in printed
    assert "simulated" in printed
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row.get("met") for row in rows] == [None, True]
    assert list((tmp_path / ".bench").iterdir()) == []


def test_an_unknown_measurement_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["speed"])
    assert "choose from path, raw" in capsys.readouterr().err


@pytest.mark.parametrize(("sign", "ratio", "met"), [("<=", 1.0, True), (">=", 0.9, False), (">", 1.0, False)])
def test_goals(sign: str, ratio: float, met: bool) -> None:
    row = Row(name="x", value=ratio, reference=1, goal=Goal(sign=sign, bound=1))
    assert row.met is met
    assert ("yes" if met else "NO") in render([row])


def test_a_ratio_that_cannot_be_is_called_noise_and_meets_no_goal() -> None:
    row = Row(name="x", value=0.9, reference=1, goal=Goal(sign="<=", bound=6), least=1)
    assert row.noise
    assert row.met is None
    assert "noise" in render([row])
    assert not Row(name="x", error="no network", least=1).noise
