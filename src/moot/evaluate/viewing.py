"""Stored evaluations as a caller sees them: listed, and with their reports, which are kept while nothing changes.

A report counts only cells that the caller may see. An evaluation of which they see no cell is not there for them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import cast

from moot.client.client import Client
from moot.config import masked
from moot.core.types import Json, record
from moot.evaluate.cells import stored_debates
from moot.evaluate.deleted import deleted_of
from moot.evaluate.folding import fold
from moot.evaluate.grading import stored_grades
from moot.evaluate.plans import EvaluationPlan
from moot.evaluate.stored import plan_of
from moot.runtime.threads import in_thread
from moot.store import CellCounts, StoredEvaluation, Viewer

MOST_KEPT = 16  # reports in memory
PAGE = 50  # cells that are read at once: other requests are answered in between
REST = 10  # while cells are added, a report is made again after so many times the time that it took


@record
class Listed:
    """An evaluation in a list."""

    stored: StoredEvaluation
    cells: int  # that its plan has
    counts: CellCounts


@record
class _Kept:
    counts: CellCounts
    graded: int  # answers
    stopped: bool
    report: Json
    made_at: float  # by the monotonic clock
    took: float


class Reports:
    """Reports of evaluations, made in a thread and kept. One for each server."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Viewer | None], _Kept] = OrderedDict()

    async def listed(self, client: Client, limit: int) -> Sequence[Listed]:
        """The newest evaluations that can be read and seen."""
        client.caller.need("read")
        if not client.app.has_database:
            return []
        found: list[Listed] = []
        for stored in await client.store.evaluations(limit=limit):
            counts = await client.store.cell_counts(stored.id, client.viewer)
            plan = await _plan(stored)
            if plan is not None and _seen(client, counts):
                found.append(Listed(stored=stored, cells=plan.cells, counts=counts))
        return found

    async def report(self, client: Client, evaluation_id: str) -> Json | None:
        """The report of the evaluation with this id, or with the only id that begins so; None if there is none."""
        client.caller.need("read")
        given = evaluation_id.strip().lower()
        found = await client.store.evaluations(given, 2) if given and client.app.has_database else ()
        if len(found) != 1:
            return None
        stored = found[0]
        async with client.alone(f"report of {stored.id}"):
            return await self._report(client, stored)

    async def _report(self, client: Client, stored: StoredEvaluation) -> Json | None:
        key = (stored.id, client.viewer)
        counts = await client.store.cell_counts(stored.id, client.viewer)
        if not _seen(client, counts):
            return None
        grades = await stored_grades(client, stored.id)
        stopped = stored.stopped_at is not None
        kept, now = self._kept.get(key), (counts, len(grades), stopped)
        if kept is not None and (
            (kept.counts, kept.graded, kept.stopped) == now or time.monotonic() - kept.made_at < REST * kept.took
        ):
            self._kept.move_to_end(key)
            return kept.report
        plan = await _plan(stored)
        if plan is None:
            return None
        began = time.monotonic()
        cells = await stored_debates(client, plan, PAGE)
        deleted = await deleted_of(client, plan, cells, grades)
        report = await in_thread(lambda: fold(plan, cells, grades, stopped=stopped, deleted=deleted))
        report["models"] = [masked(model) for model in cast("list[str]", report["models"])]
        if report["graded_by"]:
            report["graded_by"]["model"] = masked(report["graded_by"]["model"])
        made_at = time.monotonic()
        self._kept[key] = _Kept(
            counts=counts, graded=len(grades), stopped=stopped, report=report, made_at=made_at, took=made_at - began
        )
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return report


def _seen(client: Client, counts: CellCounts) -> bool:
    return client.viewer is None or counts.begun > 0


async def _plan(stored: StoredEvaluation) -> EvaluationPlan | None:
    return await in_thread(lambda: plan_of(stored))
