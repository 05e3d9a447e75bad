"""The composition root: the only file that knows concrete classes. Every way in (CLI, server) goes through `App`."""

from __future__ import annotations

import getpass
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from moot import __version__, formats
from moot.config import Config, Origin, user_file
from moot.errors import InputError, ModelError, NoSuchDebate, NotWritable, StoreError
from moot.folders import data_dir
from moot.formats import Format, Part, overridden
from moot.formats.ledger import ledger_of
from moot.memory.archive import Archive
from moot.memory.decisions import decided_before
from moot.memory.past import Earlier
from moot.models.check import Finding, probe
from moot.models.choice import Choice, choose, installed_in_ollama, is_demonstration
from moot.models.shelf import Shelf
from moot.models.spec import missing_key
from moot.pace import OwnPace, Pace
from moot.reasoning.claims import Ledger
from moot.records.compare import Comparison, compare
from moot.records.record import Record, record_of
from moot.request import Request, merged, read_topic
from moot.runtime.owner import is_dead
from moot.runtime.presence import present
from moot.runtime.replay import Proof, prove, rerun
from moot.runtime.runtime import Runtime
from moot.runtime.steps import read_guidance
from moot.runtime.worker import Worker
from moot.settings import DebateSettings, Settings, read
from moot.store import Condition, Store, postgres, sqlite
from moot.store.overview import Overview, Presence
from moot.store.postgres import PostgresStore
from moot.store.postgres.address import Address, is_address, read_address
from moot.store.postgres.pace import SharedPace
from moot.store.postgres.queue import PgQueue
from moot.store.queue import Queue, Stuck
from moot.store.sqlite import SqliteStore
from moot.telemetry.exposition import Exposition
from moot.telemetry.metrics import Metric
from moot.telemetry.watch import Watch
from moot.types import Debate, Event, Json, SeatSpec, Status, Turn, Usage

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request that has been checked: everything is known, nothing is stored."""

    topic: str
    format: Format
    config: Json
    cast: tuple[SeatSpec, ...]
    reasons: Mapping[str, str]  # why each model was chosen, by spec

    @property
    def demonstration(self) -> bool:
        return any(is_demonstration(seat.model) for seat in self.cast)


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
        """`origins` say where the settings came from, for people. `measured`: what is done is counted and logged."""
        self.settings, self.environ = settings, environ
        self.watch = Watch.of(settings) if measured or settings.traces else None
        self.config = Config(settings=settings, origins=origins or {})
        self.formats = formats.installed()
        self.models = Shelf(
            settings,
            environ=environ,
            replay=self._recorded,
            progress=progress,
            pace=self._pace,
            watch=self.watch,
        )
        self.memory = Archive(
            lambda: self.runtime.store,
            self.models.embedder,
            templates=self._own_templates,
            is_demonstration=self.is_demonstration,
        )
        self._runtime: Runtime | None = None
        self._queue: Queue | None = None
        self._exposition: Exposition | None = None
        self._find_ollama = cache(lambda: installed_in_ollama(environ))

    @property
    def database(self) -> Path | Address:
        """Where debates are kept. Neither shows a password when it is printed."""
        url = self.settings.database_url
        if url is None:
            return data_dir(self.settings) / "moot.db"
        if is_address(url):
            return read_address(url)
        if "://" in url and not url.startswith("sqlite:///"):
            raise InputError(
                f"{url.partition('://')[0]}:// databases can't be used; give a file, --db moot.db, or the address of a "
                "PostgreSQL database, --db postgresql://HOST/NAME."
            )
        return Path(url.removeprefix("sqlite:///")).expanduser()

    @property
    def runtime(self) -> Runtime:
        """Opens the database on first use, so that bad input is refused before anything is written."""
        if self._runtime is None:
            store = self._store()
            self._runtime = Runtime(
                store,
                self.models,
                self.formats,
                lease_seconds=self.settings.lease_seconds,
                pulse_seconds=self.settings.pulse_seconds,
                memory=self.memory,
                witness=self.watch,
                now=store.now if isinstance(store, PostgresStore) else time.time,
            )
        return self._runtime

    def _store(self) -> Store:
        database = self.database
        return PostgresStore(database.url) if isinstance(database, Address) else SqliteStore(database)

    @property
    def queue(self) -> Queue | None:
        """How workers are told of debates; None where there are none, and whoever starts a debate drives it."""
        if not isinstance(self.database, Address):
            return None  # and no file is made by asking
        store = self.runtime.store
        if self._queue is None and isinstance(store, PostgresStore):
            self._queue = PgQueue(store)
        return self._queue

    async def hand_over(self, debate: Debate) -> Debate:
        """Leave a debate to the workers."""
        expect: Collection[Status] = ("pending", "stopped", "failed", "waiting", "running")
        queued = await self.workers_queue().put(debate.id, expect=expect)
        if queued is None:
            raise self.runtime.refusal(await self.runtime.store.get(debate.id), "be left to the workers")
        return queued

    def workers_queue(self) -> Queue:
        """Raises InputError where there are no workers."""
        if self.queue is None:
            raise InputError(
                "Workers need PostgreSQL: an SQLite file is for one machine, and whoever starts a debate there drives "
                "it. Give the address of a database with --db postgresql://HOST/NAME or MOOT_DATABASE_URL."
            )
        return self.queue

    def worker(self) -> Worker:
        queue = self.workers_queue()
        return Worker(
            self.runtime,
            queue,
            at_once=self.settings.worker_debates,
            sweep_seconds=self.settings.worker_sweep_seconds,
            drain_seconds=self.settings.worker_drain_seconds,
        )

    def presence(self, worker: Worker) -> AbstractAsyncContextManager[None]:
        """While it lasts, operators see the worker."""
        store, settings, started = self.runtime.store, self.settings, time.time()
        assert isinstance(store, PostgresStore)
        return present(
            store,
            lambda: Presence(
                name=self.runtime.owner,
                version=__version__,
                started_at=started,
                debates=self.runtime.driven,
                room=settings.worker_debates,
                draining=worker.stopping,
            ),
            settings.worker_sweep_seconds,
        )

    def _pace(self) -> Pace:
        """Where workers share a database, they share rate limits."""
        store = self.runtime.store if isinstance(self.database, Address) else None
        return SharedPace(store) if isinstance(store, PostgresStore) else OwnPace(time.monotonic)

    async def overview(self, seconds: float = 86_400.0) -> Overview:
        """How everything stands; of failures, those of the last so many seconds."""
        store = self.runtime.store
        found = await store.overview(seconds)
        if store.shared:
            return found
        gone = [
            Stuck(debate_id=debate.id, status=debate.status, since=debate.updated_at, why="its process is gone")
            for debate in await store.abandoned(is_dead)
        ]
        return replace(found, stranded=gone)

    async def metrics(self, more: Iterable[Metric] = ()) -> str:
        """Everything that is measured, as Prometheus reads it. Never fails; `more` is shown beside it."""
        if self._exposition is None:
            store = self.runtime.store
            self._exposition = Exposition(
                None if self.watch is None else self.watch.instruments,
                self.overview,
                lambda: self.runtime.driven,
                lambda: store.retries if isinstance(store, PostgresStore) else 0,
            )
        return await self._exposition.text(more)

    async def condition(self) -> Condition:
        """How the database is; neither created nor changed."""
        database = self.database
        return await postgres.condition(database.url) if isinstance(database, Address) else sqlite.condition(database)

    def plan(self, request: Request) -> Plan:
        """Check a request: raises InputError, writes nothing."""
        format_ = formats.get(request.format or self.settings.format)
        settings = read(format_.settings, merged(self.config.debate(format_.name), request.settings))
        cast, reasons = self._cast(format_, settings)
        return Plan(
            topic=read_topic(request.topic),
            format=format_,
            config=settings.model_dump(mode="json"),
            cast=cast,
            reasons=reasons,
        )

    async def create(self, plan: Plan, *, by: str | None = None, debate_id: str | None = None) -> Debate:
        """`by` is whoever sits at this machine, and the id a new one, unless given."""
        replayed = [await self._replayed(seat.model) for seat in plan.cast if seat.model.startswith("replay:")]
        metadata: Json = {"demonstration": True} if any(map(self.is_demonstration, replayed)) else {}
        earlier = await self._earlier(plan, demonstration=plan.demonstration or bool(metadata))
        return await self.runtime.create(
            topic=plan.topic,
            format=plan.format,
            config=plan.config,
            cast=plan.cast,
            initiated_by=person() if by is None else by,
            debate_id=debate_id,
            metadata=metadata | _found(earlier),
            notes=_notes(earlier),
        )

    async def fork(
        self,
        debate_id: str,
        at: str | None,
        changes: Mapping[str, Any],
        *,
        guidance: str | None = None,
        by: str | None = None,
        fork_id: str | None = None,
    ) -> Debate:
        """`guidance` is heard by the step asked anew and by all after it."""
        words = None if guidance is None else read_guidance(guidance)
        by = person() if by is None else by
        parent = await self.runtime.store.get(debate_id)
        format_ = formats.get(parent.format)
        config = merged(parent.config, changes)
        settings = read(format_.settings, config)
        kept = {seat.id: seat.model for seat in parent.cast if not _other_model(seat, changes)}
        cast, _ = self._cast(format_, settings, kept)
        # Words that a demonstration model has said stay its words, whoever goes on. And the debaters go on with what
        # they were told of an earlier decision, or the turns before the fork would have been asked otherwise.
        metadata: Json = {"demonstration": True} if self.is_demonstration(parent) else {}
        metadata |= {name: parent.metadata[name] for name in ("earlier",) if name in parent.metadata}
        fork = await self.runtime.fork(
            parent,
            at=at,
            format=format_,
            config=settings.model_dump(mode="json"),
            cast=cast,
            initiated_by=by,
            metadata=metadata,
            debate_id=fork_id,
        )
        if words is not None:
            await self.runtime.guide(fork.id, words, by=by)
        return fork

    async def prove(self, debate_id: str) -> Proof:
        debate, turns, events = await self._all_of(debate_id)
        return prove(formats.get(debate.format), debate, turns, events)

    async def audit(self, debate_id: str) -> Json:
        """Everything that is known of a debate, with every word that was sent to a model."""
        debate, turns, events = await self._all_of(debate_id)
        steps = rerun(formats.get(debate.format), debate, turns).steps
        return {
            "debate": {**asdict(debate), "demonstration": self.is_demonstration(debate)},
            "turns": [
                {**asdict(turn), "messages": [asdict(m) for m in steps[turn.key].messages] if turn.key in steps else []}
                for turn in turns
            ],
            "events": [
                {"seq": e.seq, "type": e.type, "key": e.key, "data": e.data, "created_at": e.created_at} for e in events
            ],
            "trace": self._trace(debate, turns),
        }

    async def trace(self, debate_id: str) -> Json | None:
        """The format's own account of a debate, at any time; None when it has none."""
        store = self.runtime.store
        return self._trace(await store.get(debate_id), await store.turns(debate_id))

    def _trace(self, debate: Debate, turns: Sequence[Turn]) -> Json | None:
        account = formats.get(debate.format).trace
        return None if account is None else account(debate, turns)

    async def compare(self, one: str, two: str) -> Comparison:
        """Where two debates part."""
        store = self.runtime.store
        debates = [await store.get(debate_id) for debate_id in (one, two)]
        turns = [await store.turns(debate.id) for debate in debates]
        demonstrations = self.is_demonstration(debates[0]), self.is_demonstration(debates[1])
        return compare(debates[0], turns[0], debates[1], turns[1], demonstrations=demonstrations)

    async def ledger(self, debate_id: str) -> Ledger | None:
        """The claims of a debate, at any time; None when it keeps no ledger."""
        store = self.runtime.store
        debate = await store.get(debate_id)
        return ledger_of(formats.get(debate.format), debate, await store.turns(debate_id))

    async def record(self, debate_id: str) -> Record:
        """Raises WrongStatus while the debate is not completed."""
        store = self.runtime.store
        debate = await store.get(debate_id)
        return record_of(debate, await store.turns(debate_id), demonstration=self.is_demonstration(debate))

    def is_demonstration(self, debate: Debate) -> bool:
        """Whether a demonstration model had a part in the verdict."""
        return bool(debate.metadata.get("demonstration")) or any(is_demonstration(seat.model) for seat in debate.cast)

    def check(self, debate: Debate) -> None:
        """Raises InputError when a model of the debate can't be used now."""
        for spec in {seat.model for seat in debate.cast}:
            self._usable(spec)

    async def doctor(self, specs: Sequence[str]) -> list[Finding]:
        """Ask everything that a debate will need, before it costs anything."""
        findings: list[Finding] = []
        for spec in specs:
            try:
                self.models.check(spec)
                findings += await probe(self.models.open(spec), spec)
            except (InputError, ModelError) as error:
                findings.append(Finding(ok=False, what=f"model {spec}", fix=str(error)))
        return findings

    async def check_memory(self) -> list[Finding]:
        """The embedder, when one was asked for, and the user's own templates."""
        findings = [Finding(ok=False, what="a template of yours", fix=each) for each in self.memory.library.problems]
        try:
            embedder = self.models.embedder() if self.settings.embedder else None
            if embedder is not None:
                await embedder(["Yes."])
                findings.append(Finding(ok=True, what=f"the embedder {embedder.name} answers"))
        except (InputError, ModelError) as error:
            findings.append(Finding(ok=False, what=f"the embedder {self.settings.embedder}", fix=str(error)))
        return findings

    def choose(self, role: str, explicit: str | None = None, format: str | None = None) -> Choice:
        """The model for a role, and why."""
        configured = self.config.model(role, format or self.settings.format)
        return choose(role, explicit, self.environ, self._find_ollama, configured)

    def warm_up(self) -> None:
        """Import, beside everything else, what the models need that would be chosen now: the first call would have to
        wait for it."""

        def work() -> None:
            with suppress(Exception):  # whoever uses them is told
                for role in ("debater", "judge"):
                    self.models.prepare(self.choose(role).spec)

        threading.Thread(target=work, name="moot-warm-up", daemon=True).start()

    async def close(self) -> None:
        if self._runtime is not None:
            await self._runtime.close(before_store=self.models.close)
        else:
            await self.models.close()
        if self.watch is not None:
            await self.watch.close()

    def _cast(
        self, format_: Format, settings: DebateSettings, kept: Mapping[str, str] | None = None
    ) -> tuple[tuple[SeatSpec, ...], Mapping[str, str]]:
        """Choose each seat's model and caps."""
        parts = overridden(format_.parts(settings), settings.seats)
        asked_for = {"judge": settings.model_judge, "debater": settings.model_debater}
        roles = {role: self.choose(role, asked_for.get(role), format_.name) for role in {part.role for part in parts}}
        seats: list[SeatSpec] = []
        reasons: dict[str, str] = {}
        for part in parts:
            choice = roles[part.role]
            spec = part.model or (kept or {}).get(part.id) or choice.spec
            reasons.setdefault(spec, "the spec names it" if part.model else choice.reason)
            seats.append(_seat(part, spec, settings))
        for spec in dict.fromkeys(seat.model for seat in seats):
            self._check(spec, settings)
        return tuple(seats), reasons

    def _check(self, spec: str, settings: DebateSettings) -> None:
        self._usable(spec)
        if settings.max_cost_usd is not None and self.models.price(spec) is None:
            raise InputError(
                f"The price of {spec} is not known, so max_cost_usd can't be kept. "
                "Leave max_cost_usd out, or choose a model with a known price."
            )

    def _usable(self, spec: str) -> None:
        self.models.check(spec)
        missing = missing_key(spec, self.environ)
        if missing:
            raise InputError(f"The model {spec} needs a key. Set {missing}, or choose another model with --model.")

    def _own_templates(self) -> Path | None:
        if self.settings.templates_dir is not None:
            return Path(self.settings.templates_dir).expanduser()
        folder = user_file(self.environ).parent / "templates"
        return folder if folder.is_dir() else None

    async def _earlier(self, plan: Plan, *, demonstration: bool) -> Earlier | None:
        """What memory has on the question. That it can't be asked keeps no debate from beginning."""
        if not plan.config.get("recall_decisions", True):
            return None
        try:
            return await self.memory.past.earlier(plan.topic, demonstration=demonstration)
        except NotWritable:
            raise
        except StoreError as error:
            return Earlier(told=None, note=f"Past decisions can't be read. {error}", usage=Usage())

    async def _replayed(self, spec: str) -> Debate:
        """The debate that a `replay:` model speaks from."""
        debate_id = spec.removeprefix("replay:")
        if not self.database.exists():
            raise NoSuchDebate(debate_id)
        return await self.runtime.store.get(await self.runtime.find(debate_id))

    async def _all_of(self, debate_id: str) -> tuple[Debate, Sequence[Turn], list[Event]]:
        store = self.runtime.store
        debate, turns = await store.get(debate_id), await store.turns(debate_id)
        events: list[Event] = []
        while page := await store.events(debate_id, after=len(events)):
            events += page
        return debate, turns, events

    async def _recorded(self, debate_id: str) -> Mapping[str, Turn]:
        full_id = await self.runtime.find(debate_id)
        return {turn.key: turn for turn in await self.runtime.store.turns(full_id)}


def _seat(part: Part, spec: str, settings: DebateSettings) -> SeatSpec:
    cap = settings.judge_max_tokens if part.role == "judge" else settings.debater_max_tokens
    return SeatSpec(
        id=part.id,
        name=part.name,
        role=part.role,
        model=spec,
        max_tokens=part.max_tokens or cap,
        temperature=part.temperature,
    )


def _found(earlier: Earlier | None) -> Json:
    if earlier is None:
        return {}
    usage = earlier.usage
    paid = {"tokens_in": usage.tokens_in, "cost_usd": usage.cost_usd}
    return ({"earlier": earlier.told} if earlier.told else {}) | ({"looking_back": paid} if usage.tokens_in else {})


def _notes(earlier: Earlier | None) -> list[str]:
    """What people are told about the past when a debate begins."""
    if earlier is None:
        return []
    told = earlier.told
    said = [] if told is None else [f"{decided_before(told)} The debaters are told; judges are not."]
    return [*said, *([earlier.note] if earlier.note else [])]


def _other_model(seat: SeatSpec, changes: Mapping[str, Any]) -> bool:
    """Whether a fork asks for another model for this seat; all others keep theirs."""
    return f"model_{seat.role}" in changes or ("jury_models" in changes and seat.id.startswith("juror"))


def person() -> str:
    """Who sits at this machine, as far as it knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
