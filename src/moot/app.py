"""The app: models, memory, store and runtime put together. `moot.client` has what can be done with them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from moot import __version__, formats
from moot.backend import Backend, open_backend
from moot.casting import Casting
from moot.config import Config, Origin, user_file
from moot.core.errors import InputError, StoreError
from moot.core.lifecycle import RULES
from moot.core.settings import Settings
from moot.core.types import TIERS, Ability, Debate, Tier, Turn
from moot.folders import data_dir
from moot.formats import Format
from moot.memory.archive import Archive
from moot.models.choice import Choice, is_demonstration
from moot.models.registry import ModelRegistry
from moot.models.weights import Progress
from moot.planning import Plan, plan
from moot.request import Request
from moot.runtime.isolation import Children, Isolation
from moot.runtime.owner import is_dead
from moot.runtime.presence import present
from moot.runtime.retention import retained
from moot.runtime.runtime import Runtime
from moot.runtime.threads import in_thread
from moot.runtime.worker import Worker
from moot.store import DatabaseStatus
from moot.store.overview import Overview, Presence, Unserved
from moot.store.postgres.address import Address
from moot.store.queue import Queue, Stuck
from moot.telemetry import task_context
from moot.tools.abilities import has, refusal
from moot.tools.builtin import built_in
from moot.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from moot.telemetry.exposition import Exposition
    from moot.telemetry.telemetry import Telemetry


class App:
    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        *,
        origins: Mapping[str, Origin] | None = None,
        progress: Progress | None = None,
        measured: bool = False,
    ) -> None:
        """`origins`: where each setting came from. `progress`: called during the download of weights. `measured`: count
        and log what the app does."""
        self.settings, self.environ = settings, environ
        self.telemetry = _telemetry(settings) if measured or settings.traces else None
        self.config = Config(settings=settings, origins=origins or {})
        self.formats = formats.installed()
        self.models = ModelRegistry(
            settings,
            environ=environ,
            replay=self._recorded,
            progress=progress,
            pace=lambda: self._backend.pace,
            observer=self.telemetry,
        )
        self.memory = Archive(
            lambda: self.runtime.store,
            self.models.embedder,
            templates=self._own_templates,
            is_demonstration=self.is_demonstration,
            private=settings.private_debates,
            price=self.models.embedder_price,
            ceilings=lambda: self.ceilings,
        )
        self.tools = Toolbox(
            built_in(
                runners=lambda: self.runners_file,
                workspaces=lambda: data_dir(settings) / "workspaces",
                repositories=lambda: self.repositories_folder,
                memory=self.memory,
                servers=settings.tool_servers,
                language_servers=settings.language_servers,
                environ=environ,
                asking=_asking,
            )
        )
        self.ceilings = settings.ceilings  # set before `runtime` is used, if they are to differ
        self.casting = Casting(self.config, environ, self.models, lambda: self.ceilings)
        self._runtime: Runtime | None = None
        self._opened = False

    @cached_property
    def _backend(self) -> Backend:
        url = self.settings.database_url or str(data_dir(self.settings) / "moot.db")
        return open_backend(url, wait_seconds=self.settings.database_wait_seconds)

    @property
    def database(self) -> Path | Address:
        """Where debates are stored. Safe to print: an address shows no password."""
        return self._backend.location

    @property
    def has_database(self) -> bool:
        """Whether there is a database, as far as can be told without opening one."""
        return self._runtime is not None or self.database.exists()

    @property
    def runtime(self) -> Runtime:
        """Opens the database on first use, so that bad input is refused before anything is written."""
        if self._runtime is None:
            self._runtime = Runtime(
                self._backend.store,
                self.models,
                self.formats,
                lease_seconds=self.settings.lease_seconds,
                memory=self.memory,
                tools=self.tools,
                observer=self.telemetry,
                now=self._backend.now,
                ceilings=self.ceilings,
                refusal=refusal,
                is_demonstration=self.is_demonstration,
                episodes_kept=self.settings.episodes_kept,
            )
        return self._runtime

    @property
    def runners_file(self) -> Path:
        """The user's own list of languages that code is run in. It may not exist."""
        return user_file(self.environ).parent / "runners.yaml"

    @property
    def repositories_folder(self) -> Path:
        """Where private clones of users' repositories lie."""
        return data_dir(self.settings) / "repositories"

    async def open(self) -> Runtime:
        """Open the database, creating it if there is none. Raises InputError, which names it, if it can't be used."""
        if not self._opened:
            with self.naming_database():
                await self.runtime.store.open()
            self._opened = True
        return self.runtime

    @contextmanager
    def naming_database(self) -> Generator[None]:
        """Raise InputError, which names the database, for one that can't be used."""
        try:
            yield
        except StoreError as error:
            named = not isinstance(self.database, Path) or str(self.database) in str(error)
            raise InputError(str(error) if named else f"{self.database}: {error}") from error

    @property
    def queue(self) -> Queue | None:
        """How debates are handed to workers; None on SQLite, where the process that starts a debate drives it."""
        return self._backend.queue

    async def hand_over(self, debate: Debate) -> Debate:
        """Queue a debate for the workers. Raises WrongStatus if its status does not allow that."""
        queued = await self.workers_queue().put(debate.id, expect=RULES["queue"].sources)
        if queued is None:
            raise self.runtime.refusal(await self.runtime.store.get(debate.id), "queue")
        return queued

    def workers_queue(self) -> Queue:
        """The queue. Raises InputError if the database has none."""
        if self.queue is None:
            raise InputError(
                "Workers need PostgreSQL: on SQLite, the process that starts a debate drives it. "
                "Give the address of a database with --db postgresql://HOST/NAME or MOOT_DATABASE_URL."
            )
        return self.queue

    def worker(self, children: Children | None = None) -> Worker:
        """`children`: what drives debates under suspicion."""
        queue = self.workers_queue()  # refused before a database is opened
        return Worker(
            self.runtime,
            queue,
            at_once=self.settings.worker_debates,
            isolation=self.isolation(children),
        )

    def isolation(self, children: Children | None) -> Isolation | None:
        return None if children is None else Isolation(self.runtime, children)

    def retained(self) -> AbstractAsyncContextManager[None]:
        """Delete old debates now and then, while the context lasts, if the settings say so."""
        return retained(self.runtime, self.settings.retention_days)

    @asynccontextmanager
    async def presence(self, worker: Worker) -> AsyncGenerator[None]:
        """Keep the worker's presence row while the context lasts. What this machine can do is tried meanwhile, and is
        in the row when it is known: debates that were left by another worker need not wait for that."""
        workers, settings, started = self._backend.workers, self.settings, time.time()
        assert workers is not None
        abilities, known = list[Ability](), asyncio.Event()

        async def try_out() -> None:
            abilities.extend(await asyncio.to_thread(lambda: has(self._needed)))
            known.set()

        rows = present(
            workers,
            lambda: Presence(
                name=self.runtime.owner,
                version=__version__,
                started_at=started,
                debates=self.runtime.driven,
                room=settings.worker_debates,
                draining=worker.stopping,
                abilities=tuple(abilities),
            ),
            worker.sweep_seconds,
            known,
        )
        async with rows:
            trying = asyncio.create_task(try_out(), name="moot-abilities")
            try:
                yield
            finally:
                trying.cancel()
                await asyncio.gather(trying, return_exceptions=True)

    @property
    def _needed(self) -> list[Ability]:
        """What debates of the installed formats need."""
        return [*dict.fromkeys(need for format_ in self.formats.values() for need in format_.needs)]

    async def overview(self, seconds: float = 86_400.0) -> Overview:
        """The state of debates, workers and queue; failures of the last `seconds`."""
        store = self.runtime.store
        found = await store.overview(seconds)
        if store.shared:
            return replace(found, unserved=await self._unserved(found))
        gone = [
            Stuck(debate_id=debate.id, status=debate.status, since=debate.updated_at, why="its process is gone")
            for debate in await store.abandoned(is_dead)
        ]
        return replace(found, stranded=gone)

    async def _unserved(self, found: Overview) -> Sequence[Unserved]:
        """Debates that wait because no live worker has what their formats need."""
        there = {ability for worker in found.workers for ability in worker.abilities}
        lacking = {name: each.needs for name, each in self.formats.items() if not there.issuperset(each.needs)}
        workers = self._backend.workers
        if not lacking or workers is None:
            return ()
        waiting = await workers.waiting(list(lacking))
        return [replace(each, needs=tuple(sorted({*lacking[each.format]} - there))) for each in waiting]

    async def interrupted(self) -> list[Debate]:
        """Debates that should be running, but that no live process drives."""
        return [debate for debate in await self.runtime.store.abandoned(is_dead) if debate.status == "running"]

    async def metrics(self, more: Iterable[Metric] = ()) -> str:
        """All metrics, and `more`, in the text format of Prometheus. Never raises."""
        return await self._exposition.text(more)

    @cached_property
    def _exposition(self) -> Exposition:
        from moot.telemetry.exposition import Exposition

        return Exposition(
            None if self.telemetry is None else self.telemetry.instruments,
            self.overview,
            lambda: self.runtime.driven,
            lambda: self._backend.retries,
        )

    async def condition(self) -> DatabaseStatus:
        """Schema and size of the database, which is neither created nor changed."""
        return await self._backend.status()

    @property
    def default_format(self) -> str:
        """The format of a debate whose request names none."""
        return self.settings.format or formats.DEFAULT

    def plan(self, request: Request) -> Plan:
        """Check and complete a request. Writes nothing; raises InputError."""
        return plan(request, self.default_format, self.config, self.casting, self.ceilings)

    async def check_able(self, format_: Format) -> None:
        """Raises AbilityMissing if this machine can't do what a format needs. The first time, it tries."""
        problem = await in_thread(lambda: refusal(format_)) if format_.needs else None
        if problem is not None:
            raise problem

    def is_demonstration(self, debate: Debate) -> bool:
        """Whether a demonstration model had a part in the verdict."""
        return bool(debate.metadata.get("demonstration")) or any(is_demonstration(seat.model) for seat in debate.cast)

    def check(self, debate: Debate) -> None:
        """Raises InputError if a model of the debate can't be used now."""
        for spec in {seat.model for seat in debate.cast}:
            self.casting.check_usable(spec)

    def choose(self, tier: Tier, explicit: str | None = None, format: str | None = None) -> Choice:
        """The model for a tier, and why it is chosen."""
        return self.casting.choose(tier, explicit, format or self.default_format)

    def warm_up(self) -> None:
        """Import what the default models need, in a thread, so that the first call need not wait for it."""

        def work() -> None:
            with suppress(Exception):  # the first call raises it again
                for tier in TIERS:
                    self.models.prepare(self.choose(tier).spec)

        threading.Thread(target=work, name="moot-warm-up", daemon=True).start()

    async def close(self) -> None:
        if self._runtime is not None:
            await self._runtime.close(before_store=self.models.close)
        else:
            await self.models.close()
        if self.telemetry is not None:
            await self.telemetry.close()

    def _own_templates(self) -> Path | None:
        if self.settings.templates_dir is not None:
            return Path(self.settings.templates_dir).expanduser()
        folder = user_file(self.environ).parent / "templates"
        return folder if folder.is_dir() else None

    async def _recorded(self, debate_id: str) -> Mapping[str, Turn]:
        full_id = await self.runtime.find(debate_id)
        return {turn.key: turn for turn in await self.runtime.store.turns(full_id)}


def _asking() -> str:
    """The debate whose step is being executed; empty if none is."""
    context = task_context.get()
    return "" if context is None else context.debate_id


def _telemetry(settings: Settings) -> Telemetry:
    from moot.telemetry.telemetry import Telemetry  # most commands measure nothing

    return Telemetry.of(settings)
