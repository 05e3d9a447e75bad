"""The composition root: the only file that knows concrete classes. Every way in (CLI, server) goes through `App`."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from moot import formats
from moot.config import Config, Origin
from moot.errors import InputError, ModelError, NoSuchDebate
from moot.folders import data_dir
from moot.formats import Format, Part, overridden
from moot.models.check import Finding, probe
from moot.models.choice import Choice, choose, installed_in_ollama, is_demonstration
from moot.models.shelf import Shelf
from moot.models.spec import missing_key
from moot.records.record import Record, record_of
from moot.request import Request, merged, read_topic
from moot.runtime.replay import Proof, prove, rerun
from moot.runtime.runtime import Runtime
from moot.settings import DebateSettings, Settings, read
from moot.store.sqlite import SqliteStore
from moot.types import Debate, Event, Json, SeatSpec, Turn

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
    ) -> None:
        """`origins` say where the settings came from, for people."""
        self.settings, self.environ = settings, environ
        self.config = Config(settings=settings, origins=origins or {})
        self.formats = formats.installed()
        self.models = Shelf(settings, environ=environ, replay=self._recorded, progress=progress)
        self._runtime: Runtime | None = None
        self._find_ollama = cache(lambda: installed_in_ollama(environ))

    @property
    def database(self) -> Path:
        url = self.settings.database_url
        if url is None:
            return data_dir(self.settings) / "moot.db"
        if "://" in url and not url.startswith("sqlite:///"):
            raise InputError(f"{url.partition('://')[0]}:// databases can't be used yet; give a file: --db moot.db.")
        return Path(url.removeprefix("sqlite:///")).expanduser()

    @property
    def runtime(self) -> Runtime:
        """Opens the database on first use, so that bad input is refused before anything is written."""
        if self._runtime is None:
            self._runtime = Runtime(
                SqliteStore(self.database),
                self.models,
                self.formats,
                lease_seconds=self.settings.lease_seconds,
                pulse_seconds=self.settings.pulse_seconds,
            )
        return self._runtime

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

    async def create(self, plan: Plan) -> Debate:
        replayed = [await self._replayed(seat.model) for seat in plan.cast if seat.model.startswith("replay:")]
        return await self.runtime.create(
            topic=plan.topic,
            format=plan.format,
            config=plan.config,
            cast=plan.cast,
            initiated_by=person(),
            metadata={"demonstration": True} if any(map(self.is_demonstration, replayed)) else {},
        )

    async def fork(self, debate_id: str, at: str | None, changes: Mapping[str, Any]) -> Debate:
        parent = await self.runtime.store.get(debate_id)
        format_ = formats.get(parent.format)
        config = merged(parent.config, changes)
        settings = read(format_.settings, config)
        kept = {seat.id: seat.model for seat in parent.cast if not _other_model(seat, changes)}
        cast, _ = self._cast(format_, settings, kept)
        # Words that a demonstration model has said stay its words, whoever goes on.
        return await self.runtime.fork(
            parent,
            at=at,
            format=format_,
            config=settings.model_dump(mode="json"),
            cast=cast,
            initiated_by=person(),
            metadata={"demonstration": True} if self.is_demonstration(parent) else {},
        )

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
                {**asdict(turn), "messages": [asdict(message) for message in steps[turn.key].messages]}
                for turn in turns
            ],
            "events": [
                {"seq": e.seq, "type": e.type, "key": e.key, "data": e.data, "created_at": e.created_at} for e in events
            ],
        }

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

    def choose(self, role: str, explicit: str | None = None, format: str | None = None) -> Choice:
        """The model for a role, and why."""
        configured = self.config.model(role, format or self.settings.format)
        return choose(role, explicit, self.environ, self._find_ollama, configured)

    async def close(self) -> None:
        if self._runtime is not None:
            await self._runtime.close()
        await self.models.close()

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


def _other_model(seat: SeatSpec, changes: Mapping[str, Any]) -> bool:
    """Whether a fork asks for another model for this seat; all others keep theirs."""
    return f"model_{seat.role}" in changes or ("jury_models" in changes and seat.id.startswith("juror"))


def person() -> str:
    """Who sits at this machine, as far as it knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
