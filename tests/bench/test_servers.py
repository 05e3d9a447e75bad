"""The measurements that ask a real server: they work, and nothing is counted that was not done. No timings."""

import asyncio
import json
from pathlib import Path

import pytest

from moot.bench import answers, asking, crowd, frames, lag, serving, streams, watching
from moot.bench.many_debates import fill
from moot.bench.stamping import pieces, stamps
from moot.bench.table import Row
from tests.server.serving import served


def check(rows: list[Row], count: int) -> None:
    """Memory may not grow at all where there is so little to keep."""
    assert len(rows) == count
    for row in rows:
        assert not row.error
        assert row.value > 0 or "memory" in row.name
        assert row.reference > 0
        json.dumps(row.as_json())


@pytest.mark.slow
def test_a_chunk_beside_a_bare_app(tmp_path: Path) -> None:
    rows = streams.latency(tmp_path, repeats=1, chunks=5)
    check(rows, 2)
    assert len(rows[0].details["ours_ms"]) == len(rows[0].details["bare_ms"]) == 10


@pytest.mark.slow
def test_watchers_who_are_all_told_everything(tmp_path: Path) -> None:
    rows = streams.watchers(tmp_path, count=3, chunks=5)
    check(rows, 3)
    assert "all 10 chunks" in rows[0].note
    assert len(rows[0].details["all_ms"]) == 3 * 10


@pytest.mark.slow
def test_debates_at_once_in_a_process_of_their_own(tmp_path: Path) -> None:
    check(crowd.measure(tmp_path, debates=2, latency_ms=20, per_second=10_000), 3)


@pytest.mark.slow
def test_requests_with_few_and_many_debates_on_both_databases(tmp_path: Path) -> None:
    rows = answers.measure(tmp_path, few=120, many=200, repeats=1, seconds=0.2)
    check(rows, 6)
    assert ["PostgreSQL" in row.name for row in rows] == [False] * 3 + [True] * 3


def test_without_a_browser_its_row_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "chromium", lambda: None)
    (row,) = frames.measure(tmp_path)
    assert "CHROMIUM" in row.error


def test_many_debates_are_listed_as_real_ones(tmp_path: Path) -> None:
    places = asyncio.run(fill(tmp_path / "moot.db", 60))
    with served(tmp_path) as house:
        page = house.get("/v1/debates", params={"cursor": places[9].cursor, "limit": 20}).json()
        assert [item["id"] for item in page["items"]] == [place.id for place in places[10:30]]
        assert page["next"] == places[29].cursor
        assert {item["format"] for item in page["items"]} == {"classic", "duel", "council", "crucible"}
        assert house.debate(places[-2].id)["outcome"] is not None


@pytest.mark.slow
def test_a_refused_request_is_no_answer(tmp_path: Path) -> None:
    with served(tmp_path) as house:
        port = int(house.url.rpartition(":")[2])
        assert asking.ask(port, ["/healthz"], connections=2, seconds=0.1).milliseconds
        with pytest.raises(RuntimeError, match="404"):
            asking.ask(port, ["/v1/debates/00000000"], connections=1, seconds=0.1)


def test_a_program_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"No module named moot\.bench\.nothing"),
        serving.program(tmp_path, "-m", "moot.bench.nothing"),
    ):
        pass


def test_text_that_says_when_it_was_sent() -> None:
    async def all_of_them() -> str:
        return "".join([piece async for piece in pieces(3, per_second=10_000)])

    sent = stamps(asyncio.run(all_of_them()))
    assert len(sent) == 3
    assert sent == sorted(sent)
    assert stamps("12 34 5") == [12, 34]
    assert stamps('{"winner": "a"}') == []


def test_an_event_loop_that_is_held_up_is_late() -> None:
    async def held_up() -> list[float]:
        loop = asyncio.get_running_loop()
        watch = lag.Lag(loop)
        begin = loop.time()
        while loop.time() < begin + 0.05:
            pass  # nobody else can run
        while not watch.seen:
            await asyncio.sleep(0)
        return watch.between(begin, loop.time())

    assert asyncio.run(held_up())[0] >= 30


class TestTold:
    def delta(self, offset: int, text: str) -> dict[str, object]:
        return {"key": "1/a", "offset": offset, "text": text}

    def event(self, seq: int, content: str) -> dict[str, object]:
        return {"seq": seq, "type": "STATEMENT", "key": "1/a", "turn": {"content": content}}

    def test_each_chunk_counts_once_when_it_is_there_as_a_whole(self) -> None:
        told = watching.Told()
        told.take(2_000_000, "delta", self.delta(0, "1000000 15"))
        told.take(5_000_000, "delta", self.delta(10, "00000 "))
        told.take(9_000_000, "message", self.event(1, "1000000 1500000 3000000"))
        assert told.latencies == [1.0, 3.5, 6.0]
        assert told.chunks == 3

    def test_a_gap_in_the_text_is_noticed(self) -> None:
        told = watching.Told()
        told.take(0, "delta", self.delta(0, "1 "))
        with pytest.raises(RuntimeError, match="from 5 on, after 2"):
            told.take(0, "delta", self.delta(5, "2 "))

    def test_a_missing_event_is_noticed(self) -> None:
        with pytest.raises(RuntimeError, match="event 2 was told after 0"):
            watching.Told().take(0, "message", self.event(2, ""))

    def test_other_words_in_the_end_are_noticed(self) -> None:
        told = watching.Told()
        told.take(0, "delta", self.delta(0, "1 2 "))
        with pytest.raises(RuntimeError, match="not the one"):
            told.take(0, "message", self.event(1, "1 3 "))

    def test_a_stream_in_odd_pieces(self) -> None:
        body = b'event: delta\ndata: {"text": "1 "}\n\nevent: end\ndata: {}\n\n'
        wire = b"HTTP/1.1 200 OK\r\na: b\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        told = watching.read(watching.Heard(pieces=[(at, wire[at : at + 1]) for at in range(len(wire))]))
        assert told.ended
        assert told.chunks == 1

    def test_a_refusal_is_no_stream(self) -> None:
        with pytest.raises(RuntimeError, match="not answered.*503"):
            watching.read(watching.Heard(pieces=[(0, b"HTTP/1.1 503 No\r\n\r\n")]))
