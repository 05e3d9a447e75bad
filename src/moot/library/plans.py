"""A debate that was planned and not begun: who would take part, and what it would take."""

from __future__ import annotations

from typing import Any

from moot import planning
from moot.core.types import SeatSpec, record
from moot.estimate import Estimate


@record
class Plan:
    """What a debate would be. `print` it to read why."""

    topic: str
    format: str
    settings: dict[str, Any]  # completed by defaults
    cast: tuple[SeatSpec, ...]
    notes: tuple[str, ...]  # what moot has chosen by itself, and why
    demonstration: bool  # a demonstration model would take part
    estimate: Estimate  # at full length

    @classmethod
    def of(cls, plan: planning.Plan, estimate: Estimate) -> Plan:
        return cls(
            topic=plan.topic,
            format=plan.format.name,
            settings=dict(plan.config),
            cast=plan.cast,
            notes=(*plan.notes, *plan.choices),
            demonstration=plan.demonstration,
            estimate=estimate,
        )

    def __str__(self) -> str:
        return "\n".join([self.topic, *self.notes, self.estimate.words])
