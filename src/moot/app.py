"""The app: models, memory, store and runtime put together. Every way in (CLI, server, MCP) goes through it."""

from __future__ import annotations

import getpass
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from moot import __version__, formats
from moot.backend import Backend, read_location
from moot.casting import Casting
from moot.config import Config, Origin, user_file
from moot.core.ceilings import check_asked, missing
from moot.core.errors import InputError, ModelError, NoSuchDebate, NotWritable, StoreError
from moot.core.lifecycle import RULES
from moot.core.settings import Settings, read
from moot.core.types import TIERS, Call, Debate, Event, Json, Reply, Tier, Tool, Turn, Usage
from moot.folders import data_dir
from moot.formats.shared.ledger import ledger_of
from moot.formats.wording import Wording
from moot.memory.archive import Archive
from moot.memory.past import PrecedentLookup
from moot.models.check import Finding, probe
from moot.models.choice import Choice, is_demonstration
from moot.models.registry import ModelRegistry
from moot.models.weights import Progress
from moot.planning import Plan, plan
from moot.reasoning.claims import Ledger
from moot.records.compare import Comparison, compare
from moot.records.record import Record, record_of
from moot.request import Request, merged
from moot.runtime.executors import Executors
from moot.runtime.executors.ask import REHEARSAL_MODEL
from moot.runtime.owner import is_dead
from moot.runtime.presence import present
from moot.runtime.rehearsal import missing_words, rehearse
from moot.runtime.replay import Proof, prove, rerun
from moot.runtime.retention import retained
from moot.runtime.runtime import Runtime
from moot.runtime.spending import call_once, check_budget
from moot.runtime.threads import in_thread
from moot.runtime.turns import read_guidance
from moot.runtime.worker import Worker
from moot.store import DatabaseStatus
from moot.store.overview import Overview, Presence
from moot.store.postgres.address import Address
from moot.store.queue import Queue, Stuck
from moot.telemetry.exposition import Exposition
from moot.telemetry.metrics import Metric
from moot.telemetry.telemetry import Telemetry

RECALL = "the setting recall_decisions"


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
        self.telemetry = Telemetry.of(settings) if measured or settings.traces else None
        self.config = Config(settings=settings, origins=origins or {})
        self.formats = formats.installed()
        self.models = ModelRegistry(
            settings,
            environ=environ,
            replay=self._recorded,
            progress=progress,
            pace=lambda: self._backend.pace(),
            observer=self.telemetry,
        )
        self.memory = Archive(
            lambda: self.runtime.store,
            self.models.embedder,
            templates=self._own_templates,
            is_demonstration=self.is_demonstration,
            private=settings.private_debates,
        )
        self.tools: dict[str, Tool] = {}
        self.ceilings = settings.ceilings  # set before `runtime` is used, if they are to differ
        self._casting = Casting(self.config, environ, self.models, lambda: self.ceilings)
        self._runtime: Runtime | None = None

    @cached_property
    def _backend(self) -> Backend:
        url = self.settings.database_url
        location = data_dir(self.settings) / "moot.db" if url is None else read_location(url)
        return Backend(location, wait_seconds=self.settings.database_wait_seconds)

    @property
    def database(self) -> Path | Address:
        """Where debates are stored. Safe to print: an address shows no password."""
        return self._backend.location

    @property
    def runtime(self) -> Runtime:
        """Opens the database on first use, so that bad input is refused before anything is written."""
        if self._runtime is None:
            self._runtime = Runtime(
                self._backend.store,
                self.models,
                self.formats,
                lease_seconds=self.settings.lease_seconds,
                pulse_seconds=self.settings.pulse_seconds,
                crash_limit=self.settings.crash_limit,
                memory=self.memory,
                tools=self.tools,
                observer=self.telemetry,
                now=self._backend.now,
                ceilings=self.ceilings,
            )
        return self._runtime

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

    def worker(self) -> Worker:
        queue = self.workers_queue()  # refused before a database is opened
        return Worker(
            self.runtime,
            queue,
            at_once=self.settings.worker_debates,
            sweep_seconds=self.settings.worker_sweep_seconds,
            drain_seconds=self.settings.worker_drain_seconds,
        )

    def retained(self) -> AbstractAsyncContextManager[None]:
        """Delete old debates now and then, while the context lasts, if the settings say so."""
        return retained(self.runtime, self.settings.retention_days)

    def presence(self, worker: Worker) -> AbstractAsyncContextManager[None]:
        """Keep the worker's presence row while the context lasts."""
        store, settings, started = self._backend.shared_store, self.settings, time.time()
        assert store is not None
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

    async def overview(self, seconds: float = 86_400.0) -> Overview:
        """The state of debates, workers and queue; failures of the last `seconds`."""
        store = self.runtime.store
        found = await store.overview(seconds)
        if store.shared:
            return found
        gone = [
            Stuck(debate_id=debate.id, status=debate.status, since=debate.updated_at, why="its process is gone")
            for debate in await store.abandoned(is_dead)
        ]
        return replace(found, stranded=gone)

    async def interrupted(self) -> list[Debate]:
        """Debates that should be running, but that no live process drives."""
        return [debate for debate in await self.runtime.store.abandoned(is_dead) if debate.status == "running"]

    async def metrics(self, more: Iterable[Metric] = ()) -> str:
        """All metrics, and `more`, in the text format of Prometheus. Never raises."""
        return await self._exposition.text(more)

    @cached_property
    def _exposition(self) -> Exposition:
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
        return plan(request, self.default_format, self.config, self._casting, self.ceilings)

    async def check_budget(self, token_id: str) -> None:
        """See `moot.runtime.spending.check_budget`."""
        await check_budget(self.runtime.store, self.ceilings, token_id)

    async def call(self, spec: str, call: Call, *, token_id: str) -> Reply:
        """See `moot.runtime.spending.call_once`."""
        return await call_once(self.runtime.store, self.models, self.ceilings, spec, call, token_id=token_id)

    def only_of(self, token_id: str) -> str | None:
        """The token whose debates alone a caller who is no admin may see; None: everyone's."""
        return token_id if self.settings.private_debates else None

    async def create(
        self,
        plan: Plan,
        *,
        by: str | None = None,
        token_id: str = "",
        debate_id: str | None = None,
        remedy: str = RECALL,
    ) -> Debate:
        """Store a new debate. `by` defaults to this machine's user, `debate_id` to a new id. `remedy` says how the
        debaters are told of an earlier decision, in the words of the caller's interface. Raises OverBudget if the
        token's budget is used up."""
        replayed = [await self._replayed(seat.model) for seat in plan.cast if seat.model.startswith("replay:")]
        await self.check_budget(token_id)
        metadata: Json = {"demonstration": True} if any(map(self.is_demonstration, replayed)) else {}
        lookup = await self._precedent(plan, self.only_of(token_id), demonstration=plan.demonstration or bool(metadata))
        told = bool(plan.config.get("recall_decisions"))
        return await self.runtime.create(
            topic=plan.topic,
            format=plan.format,
            config=plan.config,
            cast=plan.cast,
            initiated_by=person() if by is None else by,
            token_id=token_id,
            debate_id=debate_id,
            metadata=metadata if lookup is None else metadata | lookup.metadata(tell=told),
            notes=[] if lookup is None else lookup.notes("" if told else remedy),
        )

    async def fork(
        self,
        debate_id: str,
        at: str | None,
        changes: Mapping[str, Any],
        *,
        guidance: str | None = None,
        by: str | None = None,
        token_id: str = "",
        fork_id: str | None = None,
    ) -> Debate:
        """Branch a debate off at a step. `guidance` reaches the step asked anew and all after it. Raises OverBudget if
        the token's budget is used up."""
        await self.check_budget(token_id)
        check_asked(self.ceilings, changes)
        words = None if guidance is None else read_guidance(guidance)
        by = person() if by is None else by
        parent = await self.runtime.store.get(debate_id)
        format_ = formats.get(parent.format)
        settings = read(format_.settings, merged(parent.config, changes))
        settings = settings.model_copy(update=missing(self.ceilings, dict(settings)))
        cast, _ = self._casting.cast(format_, settings, self._casting.kept(format_, parent, settings, changes))
        # The turns taken over stay those of a demonstration model. They were asked with the parent's precedent, so the
        # fork must have the same.
        metadata: Json = {"demonstration": True} if self.is_demonstration(parent) else {}
        metadata |= {name: parent.metadata[name] for name in ("earlier",) if name in parent.metadata}
        fork = await self.runtime.fork(
            parent,
            at=at,
            format=format_,
            config=settings.model_dump(mode="json"),
            cast=cast,
            initiated_by=by,
            token_id=token_id,
            metadata=metadata,
            debate_id=fork_id,
        )
        if words is not None:
            await self.runtime.guide(fork.id, words, by=by)
        return fork

    async def events(self, debate_id: str) -> list[Event]:
        """Every stored event of a debate."""
        events: list[Event] = []
        while page := await self.runtime.store.events(debate_id, after=events[-1].seq if events else 0):
            events += page
        return events

    async def prove(self, debate_id: str) -> Proof:
        """Replay a debate and compare the transcripts."""
        debate, turns = await self._stored(debate_id)
        events = await self.events(debate_id)
        return await in_thread(lambda: prove(formats.get(debate.format), debate, turns, events))

    async def audit(self, debate_id: str) -> Json:
        """Everything stored of a debate, with every message that was sent to a model."""
        debate, turns = await self._stored(debate_id)
        events = await self.events(debate_id)
        return await in_thread(lambda: self._audited(debate, turns, events))

    def _audited(self, debate: Debate, turns: Sequence[Turn], events: Sequence[Event]) -> Json:
        steps = rerun(formats.get(debate.format), debate, turns).steps
        return {
            "debate": {**_debate_json(debate), "demonstration": self.is_demonstration(debate)},
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
        """The format's own account of a debate so far, or None if the format has none."""
        debate, turns = await self._stored(debate_id)
        return await in_thread(lambda: self._trace(debate, turns))

    def _trace(self, debate: Debate, turns: Sequence[Turn]) -> Json | None:
        account = formats.get(debate.format).trace
        return None if account is None else account(debate, turns)

    async def compare(self, one: str, two: str) -> Comparison:
        """Compare two debates step by step."""
        (a, turns_a), (b, turns_b) = await self._stored(one), await self._stored(two)
        demonstrations = self.is_demonstration(a), self.is_demonstration(b)
        return await in_thread(lambda: compare(a, turns_a, b, turns_b, demonstrations=demonstrations))

    async def ledger(self, debate_id: str) -> Ledger | None:
        """The claims of a debate so far, or None if it keeps no ledger."""
        debate, turns = await self._stored(debate_id)
        return await in_thread(lambda: ledger_of(formats.get(debate.format), debate, turns))

    def keeps_ledger(self, debate: Debate) -> bool:
        """Whether the debate's format can keep a ledger of claims."""
        format_ = self.formats.get(debate.format)
        return format_ is not None and format_.keeps_ledger

    async def learn(self, wording: Wording, debate: Debate) -> None:
        """Update a wording from the stored events of an unfinished debate; a finished one's outcome has all names."""
        for event in [] if debate.outcome else await self.events(debate.id):
            wording.hear(event)

    async def record(self, debate_id: str) -> Record:
        """The decision record. Raises WrongStatus if the debate is not completed."""
        debate, turns = await self._stored(debate_id)
        demonstration = self.is_demonstration(debate)
        return await in_thread(
            lambda: record_of(debate, turns, formats.wording_of(debate), demonstration=demonstration)
        )

    def is_demonstration(self, debate: Debate) -> bool:
        """Whether a demonstration model had a part in the verdict."""
        return bool(debate.metadata.get("demonstration")) or any(is_demonstration(seat.model) for seat in debate.cast)

    def check(self, debate: Debate) -> None:
        """Raises InputError if a model of the debate can't be used now."""
        for spec in {seat.model for seat in debate.cast}:
            self._casting.check_usable(spec)

    async def doctor(self, specs: Sequence[str]) -> list[Finding]:
        """Check each model with a short call."""
        findings: list[Finding] = []
        for spec in specs:
            try:
                self.models.check(spec)
                findings += await probe(self.models.open(spec), spec)
            except (InputError, ModelError) as error:
                findings.append(Finding(ok=False, what=f"model {spec}", fix=str(error)))
        return findings

    async def check_formats(self) -> list[Finding]:
        """Check what each format says of itself, and rehearse it with simulated answers."""
        wrong = {**formats.broken(), **await self.missing_words()}
        findings = [Finding(ok=False, what=f"the format {name}", fix=problem) for name, problem in wrong.items()]
        well = ", ".join(name for name in self.formats if name not in wrong)
        return [*findings, Finding(ok=True, what=f"the formats {well} have all their words")]

    async def missing_words(self) -> dict[str, str]:
        """Rehearse every usable format; return what went wrong or has no words, by format."""
        found: dict[str, str] = {}
        models = {f"model_{tier}": REHEARSAL_MODEL for tier in TIERS}
        for name, format_ in self.formats.items():
            plan = self.plan(Request(topic="Is it so?", format=name, settings=models))
            rehearsals = [await rehearse(format_, plan.debate, Executors(self.models), seed) for seed in range(3)]
            if problems := dict.fromkeys(each for made in rehearsals for each in missing_words(format_, made)):
                found[name] = " ".join(problems)
        return found

    async def check_memory(self) -> list[Finding]:
        """Check the embedder, if one is configured, and the user's templates."""
        findings = [Finding(ok=False, what="a template of yours", fix=each) for each in self.memory.library.problems]
        try:
            embedder = self.models.embedder() if self.settings.embedder else None
            if embedder is not None:
                await embedder(["Yes."])
                findings.append(Finding(ok=True, what=f"the embedder {embedder.name} answers"))
        except (InputError, ModelError) as error:
            findings.append(Finding(ok=False, what=f"the embedder {self.settings.embedder}", fix=str(error)))
        return findings

    def choose(self, tier: Tier, explicit: str | None = None, format: str | None = None) -> Choice:
        """The model for a tier, and why it is chosen."""
        return self._casting.choose(tier, explicit, format or self.default_format)

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

    async def _precedent(self, plan: Plan, token: str | None, *, demonstration: bool) -> PrecedentLookup | None:
        """Look for an earlier decision on the question; with `token`, among the debates made with it. A failed search
        does not keep the debate from starting."""
        if not plan.looks_back:
            return None
        try:
            return await self.memory.past.precedent(plan.topic, demonstration=demonstration, token=token)
        except NotWritable:
            raise
        except StoreError as error:
            return PrecedentLookup(precedent=None, note=f"Past decisions can't be read. {error}", usage=Usage())

    async def _replayed(self, spec: str) -> Debate:
        """The debate whose answers a `replay:` model gives."""
        debate_id = spec.removeprefix("replay:")
        if not self.database.exists():
            raise NoSuchDebate(debate_id)
        return await self.runtime.store.get(await self.runtime.find(debate_id))

    async def _stored(self, debate_id: str) -> tuple[Debate, Sequence[Turn]]:
        return await self.runtime.store.get(debate_id), await self.runtime.store.turns(debate_id)

    async def _recorded(self, debate_id: str) -> Mapping[str, Turn]:
        full_id = await self.runtime.find(debate_id)
        return {turn.key: turn for turn in await self.runtime.store.turns(full_id)}


def _debate_json(debate: Debate) -> Json:
    cast = [{**asdict(seat), "sampling": seat.sampling.given} for seat in debate.cast]
    outcome = None if debate.outcome is None else debate.outcome.model_dump(mode="json")
    return {**asdict(debate), "cast": cast, "outcome": outcome}


def person() -> str:
    """The user of this machine; empty if unknown."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
