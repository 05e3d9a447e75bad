"""Metrics, read with Prometheus's own parser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from moot.app import App
from moot.core.errors import ModelOverloaded, StoreError
from moot.core.settings import Settings
from moot.store.overview import Overview
from moot.store.queue import Depth, Swept
from moot.telemetry.exposition import Exposition, render
from moot.telemetry.instruments import Instruments, of_database
from moot.telemetry.telemetry import Telemetry, outcome
from tests.running import Held, new_debate, run_to_rest, until


def read(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_labels_may_hold_anything():
    instruments = Instruments()
    strange = 'quoted "x", \\ and\nmore'
    instruments.cost(strange).inc()
    instruments.cost(strange).inc(1.5)
    found = read(render(instruments.registry.collect()))
    assert found["moot_cost_usd_total"] == {(("model", strange),): 2.5}


def test_when_a_series_began_is_left_out():
    instruments = Instruments()
    instruments.calls("sim", "done").inc()
    instruments.call_seconds("sim").observe(0.2)
    text = render(instruments.registry.collect())
    assert "moot_model_call_seconds_count" in text
    assert "_created" not in text


def test_apps_count_for_themselves():
    one, other = Instruments(), Instruments()
    one.take_overs.inc()
    assert read(render(one.registry.collect()))["moot_lease_takeovers_total"] == {(): 1}
    assert read(render(other.registry.collect()))["moot_lease_takeovers_total"] == {(): 0}
    assert "moot_lease_takeovers" not in generate_latest().decode(), "nothing is in the registry that all share"


def app_in(folder: Path, **settings: object) -> App:
    given = {"database_url": str(folder / "moot.db"), **settings}
    return App(Settings(**given), environ={}, measured=True)


@pytest.mark.slow
def test_what_debates_do_is_counted(tmp_path):
    async def main() -> tuple:
        app = app_in(tmp_path)
        duel = await run_to_rest(app, await new_debate(app, "sim:?price_in=2&price_out=10&latency_ms=1", turns=2))
        classic = await run_to_rest(
            app, await new_debate(app, "sim:", "classic", max_rounds=1, max_total_output_tokens=1)
        )
        text = await app.metrics()
        await app.close()
        return duel, classic, read(text)

    duel, classic, found = asyncio.run(main())
    assert (duel.status, classic.status) == ("completed", "completed")
    steps = found["moot_steps_total"]
    assert steps[("format", "duel"), ("kind", "ask"), ("outcome", "done")] == duel.turn_count
    assert steps[("format", "classic"), ("kind", "ask"), ("outcome", "limit")] == classic.turn_count
    assert found["moot_step_seconds_count"][("format", "duel"), ("kind", "ask")] == duel.turn_count
    tokens = found["moot_tokens_total"]
    assert tokens[("direction", "in"), ("model", "sim")] == duel.tokens_in + classic.tokens_in
    assert tokens[("direction", "out"), ("model", "sim")] == duel.tokens_out + classic.tokens_out
    assert found["moot_cost_usd_total"][(("model", "sim"),)] == pytest.approx(duel.cost_usd)
    assert found["moot_model_calls_total"] == {(("model", "sim"), ("outcome", "done")): duel.turn_count}
    assert found["moot_rests_total"][("format", "duel"), ("status", "completed")] == 1
    assert found["moot_debates"][(("status", "completed"),)] == 2
    assert found["moot_debates_driven"][()] == 0
    assert (found["moot_database_up"][()], found["moot_debates_stranded"][()]) == (1, 0)
    assert found["process_resident_memory_bytes"][()] > 1_000_000


def test_gates_answers_and_failures_are_counted(tmp_path):
    async def main() -> dict:
        app = app_in(tmp_path, backoff_tries=1)
        failed = await run_to_rest(app, await new_debate(app, "sim:?fail=1", "classic", max_rounds=1))
        assert failed.status == "failed"
        seats = {"a": {"model": "human"}, "b": {"model": "human"}}
        asking = await run_to_rest(app, await new_debate(app, "sim:", "classic", max_rounds=1, seats=seats))
        await app.runtime.gates.answer(asking.id, {"text": "Yes."}, by="ann")
        await app.runtime.resume(asking.id)
        await app.runtime.wait(asking.id)
        found = read(await app.metrics())
        await app.close()
        return found

    found = asyncio.run(main())
    assert found["moot_model_calls_total"][("model", "sim"), ("outcome", "overloaded")] == 2  # one and its retry
    assert found["moot_steps_total"][("format", "classic"), ("kind", "ask"), ("outcome", "overloaded")] == 1
    assert found["moot_rests_total"][("format", "classic"), ("status", "failed")] == 1
    assert found["moot_rests_total"][("format", "classic"), ("status", "waiting")] == 2
    assert found["moot_steps_total"][("format", "classic"), ("kind", "gate"), ("outcome", "done")] == 1
    assert found["moot_gates_open"][()] == 1


def test_a_take_over_and_the_late_commit_of_the_one_before_are_counted(tmp_path):
    async def main() -> tuple[dict, dict]:
        first = app_in(tmp_path, lease_seconds=1)
        first.runtime.pulse_seconds = 60
        second = app_in(tmp_path)
        first.runtime.owner, second.runtime.owner = "first", "second"
        held = Held(tmp_path)
        debate = await new_debate(first, held.model, "classic", max_rounds=1)
        await first.runtime.start(debate.id)
        await until(held.log.exists)
        # As if it had slept past its lease.
        await first.runtime.store._writer.do(lambda c: c.execute("update debate_sessions set lease_until = 0"))
        await second.runtime.resume(debate.id)
        held.release()
        await second.runtime.wait(debate.id)
        await first.runtime.wait(debate.id)
        found = read(await first.metrics()), read(await second.metrics())
        await first.close()
        await second.close()
        return found

    first, second = asyncio.run(main())
    assert (first["moot_commits_refused_total"][()], second["moot_commits_refused_total"][()]) == (1, 0)
    assert (first["moot_lease_takeovers_total"][()], second["moot_lease_takeovers_total"][()]) == (0, 1)


def test_waiting_and_sweeping_are_counted():
    watch = Telemetry()
    watch.waited("openai", 1.5)
    watch.waited("openai", 2)
    watch.swept(Swept(orphans=2, stopped=1))
    found = read(render(watch.instruments.registry.collect()))
    assert found["moot_rate_limit_waits_total"] == {(("limit", "openai"),): 2}
    assert found["moot_rate_limit_wait_seconds_total"] == {(("limit", "openai"),): 3.5}
    assert found["moot_swept_total"] == {(("what", "orphans"),): 2, (("what", "stopped"),): 1}


def test_a_refusal_is_told_from_other_failures():
    assert outcome(ModelOverloaded("no", refused=True)) == "refused"
    assert outcome(ModelOverloaded("no")) == "overloaded"
    assert outcome(ValueError()) == "error"


def test_a_database_that_is_gone_is_a_metric_too():
    async def gone() -> Overview:
        raise StoreError("The server is gone.")

    text = asyncio.run(Exposition(Instruments(), gone, lambda: 3, lambda: 7).text())
    found = read(text)
    assert (found["moot_database_up"][()], found["moot_debates_driven"][()]) == (0, 3)
    assert found["moot_store_retries_total"][()] == 7
    assert "moot_debates" not in found


def test_the_database_is_not_asked_at_every_look():
    asked: list[int] = []

    async def look() -> Overview:
        asked.append(1)
        return Overview(now=0)

    async def main() -> None:
        exposition = Exposition(None, look, lambda: 0, lambda: 0)
        await asyncio.gather(*(exposition.text() for _ in range(5)))

    asyncio.run(main())
    assert len(asked) == 1


def test_the_queue_is_shown_where_there_is_one():
    queue = Depth(waiting=3, taken=2, later=1, oldest_seconds=12.5)
    found = read(render(of_database(Overview(now=0, queue=queue))))
    assert found["moot_queue_jobs"] == {(("state", "waiting"),): 3, (("state", "taken"),): 2, (("state", "later"),): 1}
    assert found["moot_queue_oldest_seconds"][()] == 12.5
    assert "moot_queue_jobs" not in read(render(of_database(Overview(now=0))))


def test_every_metric_is_in_the_docs_and_none_besides(tmp_path):
    async def shown() -> str:
        app = app_in(tmp_path)
        await app.runtime.store.open()
        text = await app.metrics()
        await app.close()
        return text

    docs = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    names = {line.split()[2] for line in asyncio.run(shown()).splitlines() if line.startswith("# TYPE")}
    rows = {line.split("`")[1] for line in docs.splitlines() if line.startswith(("| `moot_", "| `process_"))}
    assert names | {"moot_streams_open"} == rows
