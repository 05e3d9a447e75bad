"""From a request to a plan: the format that suits it, its settings, its cast, and what was chosen by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from moot import formats
from moot.casting import Casting
from moot.config import Config
from moot.core.amounts import listed
from moot.core.ceilings import check_asked, missing
from moot.core.errors import InputError
from moot.core.settings import Ceilings, DebateSettings, read
from moot.core.types import Debate, Json, SeatSpec
from moot.formats import Format
from moot.models.choice import is_demonstration
from moot.request import Request, format_for, merged, read_topic


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request that was checked and completed; nothing is stored yet."""

    topic: str
    format: Format
    config: Json
    cast: tuple[SeatSpec, ...]
    reasons: Mapping[str, str]  # why each model was chosen, by spec
    notes: tuple[str, ...] = ()  # what moot has chosen by itself, and why
    private: bool = False  # only its token, and `admin`, will see it
    evaluation: str = ""  # the evaluation whose cell it becomes; empty: none
    follows: str | None = None  # the debate that the question is asked after
    background: str = ""  # what every seat reads about that debate, fenced
    looks_back: bool = True  # False: an earlier decision is not even looked for
    metadata: Json = field(default_factory=dict[str, Any])  # what the way in keeps with the debate

    @property
    def demonstration(self) -> bool:
        return any(is_demonstration(seat.model) for seat in self.cast)

    @property
    def choices(self) -> tuple[str, ...]:
        """Sentences that say which model was chosen for which seats, and why."""
        made: list[str] = []
        for spec, reason in self.reasons.items():
            seats = [seat.name for seat in self.cast if seat.model == spec]
            if seats:
                whom = "everyone" if len(seats) == len(self.cast) else listed(seats)
                made.append(f"Model for {whom}: {spec}, because {reason}.")
        return tuple(made)

    @property
    def debate(self) -> Debate:
        """The debate that it would become; not stored."""
        return Debate(
            id="",
            topic=self.topic,
            format=self.format.name,
            format_version=self.format.version,
            status="pending",
            config=self.config,
            cast=self.cast,
        )


def plan(request: Request, default_format: str, config: Config, casting: Casting, ceilings: Ceilings) -> Plan:
    """Check and complete a request. What it asks for above a ceiling is refused; what is above one by default, or
    by the configuration, is lowered. Raises InputError."""
    check_asked(ceilings, request.settings)
    topic = read_topic(request.topic)
    picked = format_for(replace(request, topic=topic), default_format)
    format_ = formats.get(picked.format)
    notes = [] if request.format == picked.format else [f"Format {format_.name}, because {picked.reason}."]
    effort = format_.efforts.get(request.effort, {}) if request.effort else {}
    given = merged(merged(config.debate(format_.name), effort), request.settings)
    settings = _settled(format_, given, topic, ceilings)
    cast, reasons = casting.cast(format_, settings)
    if format_.small and any(seat.small and seat.voice for seat in cast):
        settings = _settled(format_, merged(format_.small, given), topic, ceilings)
        cast, reasons = casting.cast(format_, settings)
        notes += [format_.small_note] if format_.small_note and not format_.small.keys() <= given.keys() else []
    return Plan(
        topic=topic,
        format=format_,
        config=settings.model_dump(mode="json"),
        cast=cast,
        reasons=reasons,
        notes=tuple(notes),
        private=request.private,
        looks_back=settings.recall_decisions or "recall_decisions" not in settings.model_fields_set,
    )


def _settled(format_: Format, given: Mapping[str, Any], topic: str, ceilings: Ceilings) -> DebateSettings:
    settings = read(format_.settings, given)
    if settings.answer is not None and settings.answer.kind not in format_.answers:
        can = f"it can come to: {', '.join(format_.answers)}" if format_.answers else "it comes to none of a kind"
        raise InputError(
            f"The format {format_.name!r} can't come to an answer of the kind {settings.answer.kind!r}; {can}. "
            "Leave the setting answer out, or choose another format.",
        )
    settings = settings if format_.settle is None else format_.settle(settings, topic)
    return settings.model_copy(update=missing(ceilings, dict(settings)))
