"""Each measurement runs and reports its rows. No test depends on how long anything takes. Those that take long run in
`make soak`."""

import json
import py_compile
from pathlib import Path

import pytest

from moot.core.types import Call, Message
from moot.reasoning.voting import methods
from perf import __main__ as bench
from perf import durable_steps, evaluations, memory, peer, postgres, prefix, replay, sandbox, start, votes
from perf.table import Goal, Row, render


def check(rows: list[Row], count: int) -> None:
    assert len(rows) == count
    for row in rows:
        assert not row.error
        assert row.value > 0
        assert row.reference > 0
        assert row.ratio == row.value / row.reference
        json.dumps(row.as_json())


def test_steps_against_raw_sqlite(tmp_path: Path) -> None:
    check(durable_steps.against_raw(tmp_path, repeats=1, debates=2), 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.soak
def test_steps_against_raw_postgresql(open_folder: Path) -> None:
    check(postgres.against_raw(open_folder, repeats=1, debates=2), 2)


@pytest.mark.soak
def test_steps_of_queued_debates_with_workers(open_folder: Path) -> None:
    rows = postgres.with_workers(open_folder, repeats=1, debates=2)
    check(rows, 3)
    assert [row.name.rpartition(", ")[2] for row in rows] == ["1 worker", "2 workers", "4 workers"]


def test_replay_of_long_and_short_debates(tmp_path: Path) -> None:
    check(replay.measure(tmp_path, repeats=1, turns=20), 1)


def test_the_prefix_is_larger_with_answers(tmp_path: Path) -> None:
    rows = prefix.measure(tmp_path, tokens=50)
    check(rows, 2)
    assert 0 < rows[1].ratio < rows[0].ratio < 1


@pytest.mark.soak
def test_memory_in_a_fresh_process(tmp_path: Path) -> None:
    check(memory.measure(tmp_path, debates=3), 2)


@pytest.mark.soak
def test_plan_and_report_of_a_large_evaluation(tmp_path: Path) -> None:
    check(evaluations.measure(tmp_path, items=4, originals=1, repeats=1), 4)


@pytest.mark.slow
def test_start_of_the_installed_command(tmp_path: Path) -> None:
    check(start.measure(tmp_path, repeats=1), 1)


def test_only_an_unchanged_prefix_of_the_previous_call_counts() -> None:
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


def test_no_module_beside_the_programs_of_other_engines_hides_a_package() -> None:
    assert {path.suffix for path in peer.PEERS.iterdir()} - {""} == {".py", ".txt"}
    assert all(path.stem.startswith("peer_") for path in peer.PEERS.glob("*.py"))


def test_a_measurement_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(folder: Path) -> list[Row]:
        raise OSError("no network")

    def fine(folder: Path) -> list[Row]:
        return [Row(name="speed", value=6, unit="/s", reference=2, against="2 /s", goal=Goal(sign=">=", bound=3))]

    monkeypatch.setattr(bench, "HOME", tmp_path / ".bench")
    both = {"broken": bench.Measurement(measure=broken), "fine": bench.Measurement(measure=fine)}
    monkeypatch.setattr(bench, "MEASUREMENTS", both)
    bench.main(["--json", str(tmp_path / "out.json")])
    printed = capsys.readouterr().out
    assert "broken: OSError: no network" in printed
    assert "simulated" in printed
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row.get("met") for row in rows] == [None, True]
    assert list((tmp_path / ".bench").iterdir()) == []


@pytest.mark.parametrize(("sign", "ratio", "met"), [("<=", 1.0, True), (">=", 0.9, False), (">", 1.0, False)])
def test_goals(sign: str, ratio: float, met: bool) -> None:
    row = Row(name="x", value=ratio, reference=1, goal=Goal(sign=sign, bound=1))
    assert row.met is met
    assert ("yes" if met else "NO") in render([row])


def test_an_impossible_ratio_is_noise_and_meets_no_goal() -> None:
    row = Row(name="x", value=0.9, reference=1, goal=Goal(sign="<=", bound=6), least=1)
    assert row.noise
    assert row.met is None
    assert "noise" in render([row])
    assert not Row(name="x", error="no network", least=1).noise


def test_the_time_of_a_run_in_the_sandbox(tmp_path: Path) -> None:
    start, together = sandbox.measure(tmp_path, repeats=1)
    assert not start.error  # what a run takes beyond a bare interpreter may be less than the noise
    assert all(took > 0 for times in start.details.values() for took in times)
    check([together], 1)


def test_the_time_of_a_vote(tmp_path: Path) -> None:
    rows = votes.measure(tmp_path, repeats=1, ballots=50)
    check(rows, len(methods()))
