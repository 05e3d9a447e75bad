"""The measurements on real servers run, and reject incomplete results. No test depends on how long anything takes.
Those that take long run in `make soak`."""

import asyncio
import json
from pathlib import Path

import pytest

from perf import crowd, forges, frames, http_load, lag, request_rate, servers, sse_client, streams
from perf.chunk_source import chunks, timestamps
from perf.many_debates import fill
from perf.table import Row
from tests.server.serving import served


def check(rows: list[Row], count: int) -> None:
    assert len(rows) == count
    for row in rows:
        assert not row.error
        assert row.value > 0 or "memory" in row.name  # so little may fit into what is already allocated
        assert row.reference > 0
        json.dumps(row.as_json())


@pytest.mark.soak
def test_latency_of_a_stream_against_a_bare_app(tmp_path: Path) -> None:
    rows = streams.latency(tmp_path, repeats=1, chunks=5)
    check(rows, 2)
    assert len(rows[0].details["ours_ms"]) == len(rows[0].details["bare_ms"]) == 10


@pytest.mark.slow
def test_every_watcher_receives_every_chunk(tmp_path: Path) -> None:
    rows = streams.watchers(tmp_path, count=2, chunks=2)
    check(rows, 3)
    assert "all 4 chunks" in rows[0].note
    assert len(rows[0].details["all_ms"]) == 2 * 4


@pytest.mark.slow
def test_many_debates_in_a_fresh_process(tmp_path: Path) -> None:
    check(crowd.measure(tmp_path, debates=2, latency_ms=20, per_second=10_000), 3)


@pytest.mark.soak
def test_many_debates_that_run_code(tmp_path: Path) -> None:
    check(forges.measure(tmp_path, forges=2), 1)


@pytest.mark.soak
def test_request_rate_on_both_databases(open_folder: Path) -> None:
    rows = request_rate.measure(open_folder, few=120, many=200, repeats=1, seconds=0.2)
    check(rows, 6)
    assert ["PostgreSQL" in row.name for row in rows] == [False] * 3 + [True] * 3


def test_without_a_browser_the_row_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "chromium", lambda: None)
    (row,) = frames.measure(tmp_path)
    assert "CHROMIUM" in row.error


def test_copied_debates_are_listed_like_real_ones(tmp_path: Path) -> None:
    entries = asyncio.run(fill(tmp_path / "moot.db", 60))
    with served(tmp_path) as server:
        page = server.get("/v1/debates", params={"cursor": entries[9].cursor, "limit": 20}).json()
        assert [item["id"] for item in page["items"]] == [entry.id for entry in entries[10:30]]
        assert page["next"] == entries[29].cursor
        assert {item["format"] for item in page["items"]} == {"classic", "duel", "council", "crucible"}
        assert server.debate(entries[-2].id)["outcome"] is not None


@pytest.mark.slow
def test_any_status_but_200_is_an_error(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        port = int(server.url.rpartition(":")[2])
        assert http_load.generate_load(port, ["/healthz"], connections=2, seconds=0.1).milliseconds
        with pytest.raises(RuntimeError, match="404"):
            http_load.generate_load(port, ["/v1/debates/00000000"], connections=1, seconds=0.1)


def test_a_program_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"No module named perf\.nothing"),
        servers.running(tmp_path, "-m", "perf.nothing"),
    ):
        pass


def test_chunks_hold_the_time_at_which_they_were_sent() -> None:
    async def text() -> str:
        return "".join([chunk async for chunk in chunks(3, per_second=10_000)])

    sent = timestamps(asyncio.run(text()))
    assert len(sent) == 3
    assert sent == sorted(sent)
    assert timestamps("12 34 5") == [12, 34]
    assert timestamps('{"winner": "a"}') == []


def test_a_blocked_event_loop_lags() -> None:
    async def blocked() -> list[float]:
        loop = asyncio.get_running_loop()
        sampler = lag.LoopLag(loop)
        begin = loop.time()
        while loop.time() < begin + 0.05:
            pass
        while not sampler.samples:
            await asyncio.sleep(0)
        return sampler.between(begin, loop.time())

    assert asyncio.run(blocked())[0] >= 30


class TestStream:
    def delta(self, offset: int, text: str) -> dict[str, object]:
        return {"key": "1/a", "offset": offset, "text": text}

    def event(self, seq: int, content: str) -> dict[str, object]:
        return {"seq": seq, "type": "STATEMENT", "key": "1/a", "turn": {"content": content}}

    def test_each_chunk_counts_once_when_it_is_complete(self) -> None:
        stream = sse_client.Stream()
        stream.add(2_000_000, "delta", self.delta(0, "1000000 15"))
        stream.add(5_000_000, "delta", self.delta(10, "00000 "))
        stream.add(9_000_000, "message", self.event(1, "1000000 1500000 3000000"))
        assert stream.latencies == [1.0, 3.5, 6.0]
        assert stream.chunks == 3

    def test_what_is_not_whole_is_an_error(self) -> None:
        stream = sse_client.Stream()
        stream.add(0, "delta", self.delta(0, "1 2 "))
        with pytest.raises(RuntimeError, match="offset 5, after 4"):
            stream.add(0, "delta", self.delta(5, "2 "))
        with pytest.raises(RuntimeError, match="differs from its deltas"):
            stream.add(0, "message", self.event(1, "1 3 "))
        with pytest.raises(RuntimeError, match="event 2 follows event 0"):
            sse_client.Stream().add(0, "message", self.event(2, ""))

    def test_a_stream_that_arrives_byte_by_byte(self) -> None:
        body = b'event: delta\ndata: {"text": "1 "}\n\nevent: end\ndata: {}\n\n'
        wire = b"HTTP/1.1 200 OK\r\na: b\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        stream = sse_client.parse(sse_client.Received(pieces=[(at, wire[at : at + 1]) for at in range(len(wire))]))
        assert stream.ended
        assert stream.chunks == 1

    def test_a_refused_stream_is_an_error(self) -> None:
        with pytest.raises(RuntimeError, match="expected status 200.*503"):
            sse_client.parse(sse_client.Received(pieces=[(0, b"HTTP/1.1 503 No\r\n\r\n")]))
