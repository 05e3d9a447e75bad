"""Real workers: started at once, told to end, paused, and given what they can't use."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

from moot.app import App
from moot.client import documents
from moot.core.types import Debate
from tests.postgres import Cluster, Databases, execute
from tests.workers.crew import (
    Crew,
    Process,
    new,
    on,
    paid_twice,
    rows,
    status,
    turns,
    undisturbed,
    wait_until,
    words,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def crew(database_url: str, tmp_path: Path):
    with Crew(database_url, tmp_path) as crew:
        yield crew


def here(crew: Crew, work: Callable[[App], Coroutine[Any, Any, Any]]) -> Any:
    async def main() -> Any:
        async with on(crew.url, crew.folder) as app:
            return await work(app)

    return asyncio.run(main())


async def driven_by(app: App, process: Process, made: list[Debate], seconds: float = 60) -> list[Debate]:
    async with asyncio.timeout(seconds):
        while True:
            now = [await app.runtime.store.get(debate.id) for debate in made]
            if all(debate.owner and f"/{process.pid}/" in debate.owner for debate in now):
                return now
            await asyncio.sleep(0.02)


async def whole(app: App, crew: Crew, made: list[Debate]) -> None:
    """They ended as if nothing had happened, and nothing that was kept was asked again."""
    expected = await undisturbed(crew.folder, made)
    called = crew.called()
    for debate, said in zip(made, expected, strict=True):
        assert (await app.runtime.store.get(debate.id)).status == "completed"
        assert await words(app, debate.id) == said
        kept = list(await app.runtime.store.turns(debate.id))
        assert Counter(turn.key for turn in kept).most_common(1)[0][1] == 1
        assert paid_twice(called, debate.cast[0].model, kept) == []


def test_many_start_at_once_on_an_empty_database(databases: Databases, tmp_path):
    with Crew(databases.make(empty=True), tmp_path) as crew:
        workers = [crew.worker() for _ in range(8)]
        for worker in workers:
            worker.ready()
        detached = crew.run("debate", "Redis or PostgreSQL?", "--model", "sim:", "--detach")
        assert detached.returncode == 0, detached.stderr
        here(crew, lambda app: status(app, detached.stdout.strip(), "completed"))
        for worker in workers:
            worker.send(signal.SIGTERM)
        assert [worker.ended() for worker in workers] == [0] * 8, [worker.said for worker in workers]
        assert all("Ended" in worker.said for worker in workers)
        assert not any("WARNING" in worker.said or "ERROR" in worker.said for worker in workers)


def test_variables_that_the_queue_s_package_would_read_change_nothing(crew: Crew):
    names = (
        "CHANNEL",
        "FUNCTION",
        "STATISTICS_TABLE",
        "QUEUE_STATUS_TYPE",
        "QUEUE_TABLE",
        "QUEUE_TABLE_LOG",
        "TRIGGER",
    )
    names += ("SCHEDULES_TABLE", "DURABILITY", "PREFIX", "SCHEMA")
    environ = {name: "volatile" if name == "DURABILITY" else "odd" for name in names}
    environ |= {f"PGQUEUER_{name}": value for name, value in environ.items()}
    crew.worker(**environ).ready()

    async def check(app: App) -> None:
        debate = await new(app)
        await app.hand_over(debate)
        await status(app, debate.id, "completed")
        tables = await rows(
            app, "select relname, relpersistence from pg_class where relname like 'moot_job%' and relkind = 'r'"
        )
        assert {row["relname"] for row in tables} == {
            "moot_jobs",
            "moot_job_log",
            "moot_job_statistics",
            "moot_job_schedules",
        }
        assert {row["relpersistence"] for row in tables} == {b"p"}
        assert (
            await rows(app, "select relname from pg_class where relname like '%odd%' or relname like '%pgqueuer%'")
            == []
        )

    here(crew, check)


def test_whoever_answers_with_workers_about_follows_what_they_do(crew: Crew):
    crew.worker().ready()

    async def check(app: App) -> None:
        debate = await new(app, "sim:?latency_ms=20", "panel", max_rounds=1, max_total_output_tokens=10_000_000)
        await app.hand_over(debate)
        while (await status(app, debate.id, "waiting", "completed")).status == "waiting":
            gate = await app.runtime.open_gate(debate.id)
            said = gate.choices[0] if gate.choices else "Whatever is usual."
            answered = await asyncio.to_thread(crew.run, "answer", debate.id[:8], said, "--plain")
            assert answered.returncode in (0, 3), answered.stderr  # done, or it asks the next question
            assert f"Answered {gate.key}." in answered.stderr
            assert "can't" not in answered.stderr
        assert (await documents.prove(app, debate.id)).same

    here(crew, check)


class TestDrain:
    def test_told_to_end_it_finishes_its_steps_and_the_other_goes_on_at_once(self, crew: Crew):
        # Only what is handed back moves on in time: no worker sweeps that often.
        first = crew.worker(MOOT_WORKER_SWEEP_SECONDS="600").ready()

        async def check(app: App) -> None:
            made = [await new(app, f"sim:?seed={n}&latency_ms=200", "duel") for n in range(5)]
            for debate in made:
                await app.hand_over(debate)
            await driven_by(app, first, made)
            for debate in made:
                await turns(app, debate.id, 4)
            first.send(signal.SIGTERM)
            assert await asyncio.to_thread(first.ended) == 0, first.said
            assert "Ended: what was in progress is finished or handed back." in first.said
            second = crew.worker(MOOT_WORKER_SWEEP_SECONDS="600").ready()
            for debate in made:
                done = await status(app, debate.id, "completed")
                assert done.epoch == 2
            assert "ERROR" not in second.said
            await whole(app, crew, made)
            every = [(call.model, call.key) for call in crew.called()]
            assert len(every) == len(set(every))  # not even a call in flight was lost

        here(crew, check)

    def test_told_twice_it_ends_at_once(self, crew: Crew):
        worker = crew.worker(MOOT_WORKER_DRAIN_SECONDS="600").ready()

        async def check(app: App) -> None:
            debate = await new(app, "sim:?latency_ms=100000")
            await app.hand_over(debate)
            await driven_by(app, worker, [debate])
            wait_until(lambda: crew.called())
            worker.send(signal.SIGTERM)
            wait_until(lambda: "Told to end" in worker.said)
            worker.send(signal.SIGTERM)
            assert await asyncio.to_thread(worker.ended) == 0, worker.said
            left = await app.runtime.store.get(debate.id)
            assert (left.status, left.owner, left.turn_count) == ("running", None, 0)

        here(crew, check)


class TestPause:
    # Only the lease of the one that is paused is soon over: the other is not thought dead when it is only slow.
    SHORT: ClassVar = {"MOOT_LEASE_SECONDS": "2", "MOOT_WORKER_SWEEP_SECONDS": "0.5"}
    LONG: ClassVar = {"MOOT_LEASE_SECONDS": "300", "MOOT_WORKER_SWEEP_SECONDS": "0.5"}

    def test_a_worker_that_wakes_up_past_its_lease_can_not_commit_and_works_on(self, crew: Crew):
        paused = crew.worker(**self.SHORT).ready()

        async def check(app: App) -> None:
            made = [await new(app, f"sim:?seed={n}&latency_ms=400", "duel", turns=4) for n in range(6)]
            for debate in made:
                await app.hand_over(debate)
            await driven_by(app, paused, made)
            for debate in made:
                await turns(app, debate.id, 3)
            paused.send(signal.SIGSTOP)
            second = crew.worker(**self.LONG).ready()
            for debate in await driven_by(app, second, made):
                assert debate.epoch == 2
            before = {debate.id: (await app.runtime.store.get(debate.id)).turn_count for debate in made}
            for debate in made:
                await turns(app, debate.id, before[debate.id] + 1)
            paused.send(signal.SIGCONT)
            for debate in made:
                done = await status(app, debate.id, "completed")
                assert done.epoch == 2
            await whole(app, crew, made)
            # Calls that the first had begun were made again by the second, and its answers are the ones kept.
            again = Counter((call.model, call.key) for call in crew.called())
            assert set(again.values()) == {1, 2}
            second.send(signal.SIGTERM)
            assert await asyncio.to_thread(second.ended) == 0
            # The one that was paused goes on with other debates.
            other = await new(app, "sim:?seed=99&latency_ms=100")
            await app.hand_over(other)
            await driven_by(app, paused, [other])
            await status(app, other.id, "completed")
            assert "ERROR" not in paused.said

        here(crew, check)

    def test_it_deletes_the_new_owner_s_job_and_the_sweep_makes_up_for_it(self, crew: Crew):
        # The lease is over before the job is given to another: the new owner has the very same job.
        paused = crew.worker(**self.SHORT).ready()

        async def check(app: App) -> None:
            made = [await new(app, f"sim:?seed={n}&latency_ms=700", "duel", turns=6) for n in range(4)]
            for debate in made:
                await app.hand_over(debate)
            await driven_by(app, paused, made)
            jobs = {row["id"] for row in await rows(app, "select id from moot_jobs where status = 'picked'")}
            paused.send(signal.SIGSTOP)
            second = crew.worker(**self.LONG).ready()
            taken = await driven_by(app, second, made)
            assert {row["id"] for row in await rows(app, "select id from moot_jobs")} == jobs
            paused.send(signal.SIGCONT)
            async with asyncio.timeout(60):
                while await rows(app, "select id from moot_jobs"):  # the new owner's jobs are gone
                    await asyncio.sleep(0.01)
            for debate in taken:
                await turns(app, debate.id, debate.turn_count + 1)  # so that it is not under suspicion
            second.kill()
            over = "update debate_sessions set lease_until = lease_until - 3600 where owner like $1"
            await rows(app, over, f"%/{second.pid}/%")
            for debate in made:
                done = await status(app, debate.id, "completed", seconds=60)
                assert done.epoch == 3
            await whole(app, crew, made)
            assert "orphans" in paused.said

        here(crew, check)


class TestBadInput:
    def test_a_file_has_no_workers(self, tmp_path):
        with Crew(str(tmp_path / "moot.db"), tmp_path) as crew:
            done = crew.run("worker")
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
            assert "Workers need PostgreSQL" in done.stderr
            assert "--db postgresql://" in done.stderr
            assert not (tmp_path / "moot.db").exists()
            detached = crew.run("debate", "Redis or PostgreSQL?", "--model", "sim:", "--detach")
            assert detached.returncode == 2
            assert "Workers need PostgreSQL" in detached.stderr
            assert not (tmp_path / "moot.db").exists()

    @pytest.mark.parametrize("number", ["0", "-1", "many"])
    def test_a_number_of_debates_that_is_none(self, crew: Crew, number):
        done = crew.run("worker", "--debates", number)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1

    @pytest.mark.parametrize("command", [("worker",), ("serve", "--port", "0")], ids=lambda command: command[0])
    def test_a_database_that_is_not_there(self, cluster: Cluster, tmp_path, command):
        for user, database, said in (("postgres", "nowhere", "has no database"), ("nobody", "postgres", "let user")):
            with Crew(cluster.url(database, user=user), tmp_path) as crew:
                done = crew.run(*command)
                assert done.returncode == 2
                assert done.stderr.count("\n") == 1
                assert said in done.stderr

    def test_a_database_that_can_only_be_read(self, crew: Crew):
        name = urlsplit(crew.url).path[1:]
        execute(crew.url, f"alter database {name} set default_transaction_read_only = on")
        debate = ("debate", "Redis or PostgreSQL?", "--model", "sim:", "--detach")
        for command in (("worker",), ("serve", "--port", "0"), debate):
            done = crew.run(*command)
            assert done.returncode in (1, 2)
            assert done.stderr.count("\n") == 1, done.stderr
            assert "is read-only" in done.stderr
            assert "Give the address of the primary server" in done.stderr

    def test_a_user_who_may_only_read(self, cluster: Cluster, tmp_path):
        execute(cluster.url(), "drop role if exists reader", "create role reader login", "create database library")
        with Crew(cluster.url("library", user="reader"), tmp_path) as crew:
            owner = cluster.url("library")
            execute(owner, "revoke all on schema public from public")
            refused = crew.run("worker")
            assert refused.returncode == 2
            assert refused.stderr.count("\n") == 1
            assert "There is no schema" in refused.stderr
            assert "Let its owner grant" in refused.stderr
            migrated = crew.run("db", "migrate", MOOT_DATABASE_URL=owner)
            assert migrated.returncode == 0, migrated.stderr
            execute(
                owner,
                "grant usage on schema public to reader",
                "grant select on all tables in schema public to reader",
            )
            done = crew.run("worker")
            assert done.returncode in (1, 2)
            assert done.stderr.count("\n") == 1, done.stderr
            assert "A privilege is missing" in done.stderr
            assert crew.run("list").returncode == 0


def test_a_user_who_may_only_use_what_the_owner_made(cluster: Cluster, tmp_path):
    """What docs/database.md says to grant is enough for a worker."""
    execute(
        cluster.url(),
        "drop role if exists foreman",
        "drop role if exists worker",
        "create role foreman login",
        "create role worker login",
        "create database workshop owner foreman",
    )
    owner = cluster.url("workshop", user="foreman")
    with Crew(cluster.url("workshop", user="worker"), tmp_path) as crew:
        migrated = crew.run("db", "migrate", MOOT_DATABASE_URL=owner)
        assert migrated.returncode == 0, migrated.stderr
        refused = crew.run("worker")
        assert refused.returncode == 2
        assert "privilege is missing" in refused.stderr
        execute(owner, *_granted())
        worker = crew.worker(MOOT_WORKER_SWEEP_SECONDS="0.1").ready()

        async def check(app: App) -> None:
            debate = await new(app)
            await app.hand_over(debate)
            await status(app, debate.id, "completed")

        here(crew, check)
        worker.send(signal.SIGTERM)
        assert worker.ended() == 0
        assert not any(word in worker.said for word in ("WARNING", "ERROR")), worker.said


def _granted() -> list[str]:
    """The statements in the docs."""
    text = (Path(__file__).parents[2] / "docs" / "database.md").read_text()
    return [line.rstrip(";") for line in text.splitlines() if line.startswith("grant ")]


class TestLostDatabase:
    def test_one_that_is_away_at_the_start_is_waited_for(self, cluster: Cluster, tmp_path):
        with Crew(cluster.url(), tmp_path, MOOT_DATABASE_WAIT_SECONDS="0", MOOT_WORKER_SWEEP_SECONDS="0.2") as crew:
            cluster.stop()
            try:
                worker, server = crew.worker(), crew.start("serve", "--port", "0")
                ending = crew.worker()
                for process in (worker, server, ending):
                    wait_until(lambda process=process: "The database is away" in process.said)
                ending.send(signal.SIGTERM)
                assert ending.ended() == 0, ending.said
            finally:
                cluster.start()
            worker.ready()
            wait_until(lambda: "moot listens on" in server.said)
            cluster.stop("immediate")
            try:
                wait_until(lambda: worker.said.count("The database is away") == 2)
            finally:
                cluster.start()
            wait_until(lambda: worker.said.count("The database is back") == 2)
            assert worker.said.count("The database is away") == 2  # a line each time, however often it was tried
            assert "does not answer" in worker.said

            async def check(app: App) -> None:
                debate = await new(app)
                await app.hand_over(debate)
                await status(app, debate.id, "completed")

            here(crew, check)
            worker.send(signal.SIGTERM)
            assert worker.ended() == 0, worker.said

    def test_the_password_is_in_no_line(self, tmp_path):
        with Crew(f"postgresql://someone:secret@127.0.0.1:{_closed_port()}/moot", tmp_path) as crew:
            worker = crew.worker()
            wait_until(lambda: "check host and port" in worker.said)
            assert "secret" not in worker.said

    def test_gone_for_longer_than_it_is_waited_for_and_back(self, cluster: Cluster, tmp_path):
        """After an outage one worker continues by itself; another gets SIGTERM during it, and ends."""
        with Crew(cluster.url(), tmp_path, MOOT_DATABASE_WAIT_SECONDS="4") as crew:
            environ = {"MOOT_WORKER_DRAIN_SECONDS": "1", "MOOT_WORKER_DEBATES": "4"}  # each drives half of them
            workers = [crew.worker(**environ).ready() for _ in range(2)]
            staying, ending = workers

            async def begin(app: App) -> list[Debate]:
                made = [await new(app, f"sim:?seed={n}&latency_ms=700", "duel") for n in range(8)]
                for debate in made:
                    await app.hand_over(debate)
                async with asyncio.timeout(60):
                    while {debate.owner is not None for debate in made} != {True}:
                        made = [await app.runtime.store.get(debate.id) for debate in made]
                return made

            async def end(app: App) -> None:
                for debate in made:
                    done = await status(app, debate.id, "completed", seconds=90)
                    assert done.epoch == 2
                assert await app.workers_queue().stuck(15) == []
                await whole(app, crew, made)

            made = here(crew, begin)
            assert [sum(f"/{worker.pid}/" in debate.owner for debate in made) for worker in workers] == [4, 4]
            cluster.stop("immediate")
            try:
                ending.send(signal.SIGTERM)
                wait_until(lambda: staying.said.count("could not be driven on") == 4, 90)
                assert ending.ended(90) == 0
                assert staying.popen.poll() is None
                assert staying.said.count("The database is away") == 1
                assert "Another worker takes over 4 debates when the leases expire." in ending.said
                assert not any("Traceback" in worker.said for worker in workers)
            finally:
                cluster.start()
            here(crew, end)
            staying.send(signal.SIGTERM)
            assert staying.ended() == 0, staying.said


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
