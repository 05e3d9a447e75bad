"""Real workers: started at once, told to end, paused, and given what they can't use."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

from moot.app import App
from moot.core.types import Debate
from tests.forking import constants
from tests.postgres import Cluster, Databases, execute
from tests.workers.crew import (
    Crew,
    driven_by,
    jobs,
    on,
    one_is_driven,
    paid_twice,
    queued,
    reached,
    rows,
    status,
    turns,
    undisturbed,
    wait_until,
    when,
    words,
)

DETACH = ("debate", "Redis or PostgreSQL?", "--model", "sim:", "--detach")
SWEEPS, DRAIN = "moot.runtime.worker.SWEEPS", "moot.runtime.worker.DRAIN_SECONDS"
pytestmark = pytest.mark.slow


def here(crew: Crew, work: Callable[[App], Coroutine[Any, Any, Any]]) -> Any:
    async def main() -> Any:
        async with on(crew.url, crew.folder) as app:
            return await work(app)

    return asyncio.run(main())


async def several(app: App, count: int, latency_ms: int, format: str = "duel", **settings: Any) -> list[Debate]:
    """Debates whose models say different things."""
    return [await queued(app, f"sim:?seed={n}&latency_ms={latency_ms}", format, **settings) for n in range(count)]


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
        done = crew.run(*DETACH)
        assert done.returncode == 0, done.stderr
        here(crew, lambda app: status(app, done.stdout.strip(), "completed"))
        for worker in workers:
            worker.send(signal.SIGTERM)
        assert [worker.ended() for worker in workers] == [0] * 8, [worker.said for worker in workers]
        assert all("Ended" in worker.said for worker in workers)
        assert not any("WARNING" in worker.said or "ERROR" in worker.said for worker in workers)


async def test_variables_that_the_queue_s_package_would_read_change_nothing(app: App, crew: Crew):
    names = "CHANNEL FUNCTION STATISTICS_TABLE QUEUE_STATUS_TYPE QUEUE_TABLE QUEUE_TABLE_LOG TRIGGER SCHEDULES_TABLE"
    environ = dict.fromkeys((*names.split(), "PREFIX", "SCHEMA"), "odd") | {"DURABILITY": "volatile"}
    environ |= {f"PGQUEUER_{name}": value for name, value in environ.items()}
    crew.worker(**environ).ready()
    await one_is_driven(app)
    query = "select relname, relpersistence from pg_class where relname like 'moot_job%' and relkind = 'r'"
    tables = {row["relname"]: row["relpersistence"] for row in await rows(app, query)}
    assert tables == dict.fromkeys(("moot_jobs", "moot_job_log", "moot_job_statistics", "moot_job_schedules"), b"p")
    query = "select relname from pg_class where relname like '%odd%' or relname like '%pgqueuer%'"
    assert await rows(app, query) == []


class TestDrain:
    async def test_told_to_end_it_finishes_its_steps_and_the_other_goes_on_at_once(self, app: App, crew: Crew):
        # Only what is handed back moves on in time: with such a lease, no worker sweeps that often.
        first = crew.worker(MOOT_LEASE_SECONDS="3600").ready()
        made = await several(app, 5, 200)
        await driven_by(app, first, made)
        for debate in made:
            await turns(app, debate.id, 4)
        first.send(signal.SIGTERM)
        assert await asyncio.to_thread(first.ended) == 0, first.said
        assert "Ended: what was in progress is finished or handed back." in first.said
        second = crew.worker(MOOT_LEASE_SECONDS="3600").ready()
        for debate in made:
            done = await status(app, debate.id, "completed")
            assert done.epoch == 2
        assert "ERROR" not in second.said
        await whole(app, crew, made)
        every = [(call.model, call.key) for call in crew.called()]
        assert len(every) == len(set(every))  # not even a call in flight was lost

    async def test_told_twice_it_ends_at_once(self, app: App, crew: Crew):
        worker = crew.worker(**constants({DRAIN: 600})).ready()
        (debate,) = await several(app, 1, 100_000)
        await driven_by(app, worker, [debate])
        wait_until(lambda: crew.called())
        worker.send(signal.SIGTERM)
        wait_until(lambda: "Told to end" in worker.said)
        worker.send(signal.SIGTERM)
        assert await asyncio.to_thread(worker.ended) == 0, worker.said
        left = await app.runtime.store.get(debate.id)
        assert (left.status, left.owner, left.turn_count) == ("running", None, 0)


class TestPause:
    # Only the lease of the one that is paused is soon over: the other is not thought dead when it is only slow.
    SHORT: ClassVar = {"MOOT_LEASE_SECONDS": "2"}
    LONG: ClassVar = {"MOOT_LEASE_SECONDS": "300", **constants({SWEEPS: 600})}

    async def test_a_worker_that_wakes_up_past_its_lease_can_not_commit_and_works_on(self, app: App, crew: Crew):
        paused = crew.worker(**self.SHORT).ready()
        made = await several(app, 6, 400, turns=4)
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
        other = await queued(app, "sim:?seed=99&latency_ms=100")
        await driven_by(app, paused, [other])
        await status(app, other.id, "completed")
        assert "ERROR" not in paused.said

    async def test_it_deletes_the_new_owner_s_job_and_the_sweep_makes_up_for_it(self, app: App, crew: Crew):
        # The lease is over before the job is given to another: the new owner has the very same job.
        paused = crew.worker(**self.SHORT).ready()
        made = await several(app, 4, 700, turns=6)
        await driven_by(app, paused, made)
        picked = {row["id"] for row in await rows(app, "select id from moot_jobs where status = 'picked'")}
        paused.send(signal.SIGSTOP)
        second = crew.worker(**self.LONG).ready()
        taken = await driven_by(app, second, made)
        assert {row["id"] for row in await jobs(app)} == picked
        paused.send(signal.SIGCONT)

        async def deleted() -> bool:
            return not await jobs(app)

        await when(deleted)
        for debate in taken:
            await turns(app, debate.id, debate.turn_count + 1)  # so that it is not under suspicion
        second.kill()
        over = "update debate_sessions set lease_until = lease_until - 3600 where owner like $1"
        await rows(app, over, f"%/{second.pid}/%")
        for debate in made:
            done = await status(app, debate.id, "completed")
            assert done.epoch == 3
        await whole(app, crew, made)
        assert "orphans" in paused.said


class TestBadInput:
    def refused(self, crew: Crew, *args: str, said: str) -> None:
        done = crew.run(*args)
        assert done.returncode in (1, 2)
        assert done.stderr.count("\n") == 1, done.stderr
        assert said in done.stderr

    def test_a_file_has_no_workers(self, tmp_path):
        with Crew(str(tmp_path / "moot.db"), tmp_path) as crew:
            for command in (("worker",), DETACH):
                self.refused(crew, *command, said="Workers need PostgreSQL")
            self.refused(crew, "worker", "--debates", "0", said="debates")
            assert not (tmp_path / "moot.db").exists()

    @pytest.mark.parametrize("command", [("worker",), ("serve", "--port", "0")], ids=lambda command: command[0])
    def test_a_database_that_is_not_there(self, cluster: Cluster, tmp_path, command):
        for user, database, said in (("postgres", "nowhere", "has no database"), ("nobody", "postgres", "let user")):
            with Crew(cluster.url(database, user=user), tmp_path) as crew:
                self.refused(crew, *command, said=said)

    def test_a_database_that_can_only_be_read(self, crew: Crew):
        name = urlsplit(crew.url).path[1:]
        execute(crew.url, f"alter database {name} set default_transaction_read_only = on")
        for command in (("worker",), ("serve", "--port", "0"), DETACH):
            self.refused(crew, *command, said="is read-only")

    def test_a_user_who_may_only_use_what_the_owner_made(self, cluster: Cluster, tmp_path):
        """What docs/database.md says to grant is enough for a worker, and nothing less."""
        execute(
            cluster.url(),
            "drop role if exists foreman",
            "drop role if exists worker",
            "create role foreman login",
            "create role worker login",
            "create database workshop owner foreman",
        )
        execute(cluster.url("workshop"), "revoke all on schema public from public")
        owner = cluster.url("workshop", user="foreman")
        usage, *more = _granted()
        with Crew(cluster.url("workshop", user="worker"), tmp_path) as crew:
            migrated = crew.run("db", "migrate", MOOT_DATABASE_URL=owner)
            assert migrated.returncode == 0, migrated.stderr
            self.refused(crew, "worker", said="There is no schema")
            execute(owner, usage)
            self.refused(crew, "worker", said="A privilege is missing")
            execute(owner, *more)
            worker = crew.worker(**constants({SWEEPS: 150})).ready()
            here(crew, one_is_driven)
            worker.send(signal.SIGTERM)
            assert worker.ended() == 0
            assert not any(word in worker.said for word in ("WARNING", "ERROR")), worker.said


def _granted() -> list[str]:
    """The statements in the docs."""
    text = (Path(__file__).parents[2] / "docs" / "database.md").read_text()
    return [line.rstrip(";") for line in text.splitlines() if line.startswith("grant ")]


class TestLostDatabase:
    def test_one_that_is_away_at_the_start_is_waited_for(self, cluster: Cluster, tmp_path):
        with Crew(cluster.url(), tmp_path, MOOT_DATABASE_WAIT_SECONDS="0", **constants({SWEEPS: 75})) as crew:
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
            here(crew, one_is_driven)
            worker.send(signal.SIGTERM)
            assert worker.ended() == 0, worker.said

    def test_the_password_is_in_no_line(self, tmp_path):
        with Crew("postgresql://someone:secret@127.0.0.1:1/moot", tmp_path) as crew:
            worker = crew.worker()
            wait_until(lambda: "check host and port" in worker.said)
            assert "secret" not in worker.said

    def test_gone_for_longer_than_it_is_waited_for_and_back(self, cluster: Cluster, tmp_path):
        """After an outage one worker continues by itself; another gets SIGTERM during it, and ends."""
        with Crew(cluster.url(), tmp_path, MOOT_DATABASE_WAIT_SECONDS="4") as crew:
            environ = {"MOOT_WORKER_DEBATES": "4", **constants({DRAIN: 1})}  # each drives half of them
            workers = [crew.worker(**environ).ready() for _ in range(2)]
            staying, ending = workers

            async def begin(app: App) -> list[Debate]:
                made = await several(app, 8, 700)
                return [await reached(app, debate.id, lambda debate: debate.owner) for debate in made]

            async def end(app: App) -> None:
                for debate in made:
                    done = await status(app, debate.id, "completed")
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
