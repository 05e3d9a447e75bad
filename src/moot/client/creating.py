"""Creating debates: new ones, and forks of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot import formats
from moot.app import App
from moot.caller import person
from moot.core.ceilings import check_asked, missing
from moot.core.errors import NoSuchDebate, NotWritable, StoreError
from moot.core.settings import read
from moot.core.types import Debate, Json, Usage
from moot.memory.past import PrecedentLookup
from moot.memory.paying import Payer
from moot.planning import Plan
from moot.request import merged
from moot.runtime.spending import check_budget
from moot.runtime.turns import read_guidance

RECALL = "the setting recall_decisions"


async def create(
    app: App,
    plan: Plan,
    *,
    by: str | None = None,
    token_id: str = "",
    debate_id: str | None = None,
    remedy: str = RECALL,
) -> Debate:
    """Store a new debate. `by` defaults to this machine's user, `debate_id` to a new id. `remedy` says how the
    debaters learn of an earlier decision, in the words of the way in. Raises OverBudget if the token's budget is
    used up."""
    replayed = [await _replayed(app, seat.model) for seat in plan.cast if seat.model.startswith("replay:")]
    await check_budget(app.runtime.store, app.ceilings, token_id)
    shown = any(map(app.is_demonstration, replayed))
    metadata: Json = {**plan.metadata, **({"demonstration": True} if shown else {})}
    lookup = await _precedent(app, plan, token_id, demonstration=plan.demonstration or shown)
    told = bool(plan.config.get("recall_decisions"))
    return await app.runtime.create(
        topic=plan.topic,
        format=plan.format,
        config=plan.config,
        cast=plan.cast,
        initiated_by=person() if by is None else by,
        token_id=token_id,
        private=plan.private,
        follows=plan.follows,
        debate_id=debate_id,
        evaluation=plan.evaluation,
        metadata=metadata if lookup is None else metadata | lookup.metadata(tell=told),
        notes=[] if lookup is None else lookup.notes("" if told else remedy),
    )


async def fork(
    app: App,
    debate_id: str,
    at: str | None,
    changes: Mapping[str, Any],
    *,
    guidance: str | None = None,
    by: str | None = None,
    token_id: str = "",
    fork_id: str | None = None,
    evaluation: str = "",
) -> Debate:
    """Branch a debate off at a step. `guidance` reaches the step asked anew and all after it. `evaluation`: what it is
    made for; then it is not listed and not remembered. Raises OverBudget if the token's budget is used up."""
    await check_budget(app.runtime.store, app.ceilings, token_id)
    check_asked(app.ceilings, changes)
    words = None if guidance is None else read_guidance(guidance)
    by = person() if by is None else by
    parent = await app.runtime.store.get(debate_id)
    format_ = formats.get(parent.format)
    settings = read(format_.settings, merged(parent.config, changes))
    settings = settings.model_copy(update=missing(app.ceilings, dict(settings)))
    worn = [hat for seat in parent.cast for hat in seat.hats]
    cast, _ = app.casting.cast(format_, settings, app.casting.kept(format_, parent, settings, changes), worn)
    # The turns taken over stay those of a demonstration model. They were asked with the parent's precedent, so the
    # fork must have the same.
    metadata: Json = {"demonstration": True} if app.is_demonstration(parent) else {}
    metadata |= {name: parent.metadata[name] for name in ("earlier",) if name in parent.metadata}
    made = await app.runtime.fork(
        parent,
        at=at,
        format=format_,
        config=settings.model_dump(mode="json"),
        cast=cast,
        initiated_by=by,
        token_id=token_id,
        metadata=metadata,
        debate_id=fork_id,
        evaluation=evaluation,
    )
    if words is not None:
        await app.runtime.guide(made.id, words, by=by)
    return made


async def _precedent(app: App, plan: Plan, token_id: str, *, demonstration: bool) -> PrecedentLookup | None:
    """Look for an earlier decision on the question, among those that everyone who sees the debate may see. A failed
    search does not keep the debate from starting."""
    if not plan.looks_back:
        return None
    viewer, payer = app.memory.readers(token_id, private=plan.private), Payer(token_id=token_id)
    try:
        return await app.memory.past.precedent(plan.topic, demonstration=demonstration, viewer=viewer, payer=payer)
    except NotWritable:
        raise
    except StoreError as error:
        return PrecedentLookup(precedent=None, note=f"Past decisions can't be read. {error}", usage=Usage())


async def _replayed(app: App, spec: str) -> Debate:
    """The debate whose answers a `replay:` model gives."""
    debate_id = spec.removeprefix("replay:")
    if not app.has_database:
        raise NoSuchDebate(debate_id)
    return await app.runtime.store.get(await app.runtime.find(debate_id))
