"""Memory: past decisions and reasoning templates."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from moot.core.errors import InputError
from moot.core.types import Json
from moot.memory.decisions import headline
from moot.memory.library import DOOR, Template
from moot.memory.past import PastDebate
from moot.server import bodies, catalog_schemas, schemas
from moot.server.context import Context, DebateId, Decider, Reader
from moot.server.markdown import html as rendered
from moot.server.problems import Refused, documented
from moot.server.routes.debates import Html, given
from moot.server.routes.lifecycle import MOVES, IfMatch, moving

router = APIRouter(tags=["memory"])


@router.get(
    "/v1/search",
    operation_id="searchDebates",
    summary="Completed debates that are about something, best first",
    response_model=catalog_schemas.Search,
    responses=documented("invalid", "store-unavailable"),
)
async def search(
    context: Context,
    caller: Reader,
    q: Annotated[str, Query(min_length=1, max_length=1000, description="a question, or words")],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> catalog_schemas.Search:
    found = await context.client.acting_for(caller).search(q, limit)
    return catalog_schemas.Search(
        query=" ".join(q.split()),
        items=[_hit(past) for past in found.past],
        by=found.by,
        note=found.note,
        more=found.more,
        tokens_in=found.usage.tokens_in,
        cost_usd=found.usage.cost_usd,
    )


@router.post(
    "/v1/debates/{debate_id}/quarantine",
    operation_id="quarantineDebate",
    summary="Keep a decision out of new debates, or let it back in",
    response_model=schemas.Debate,
    responses=MOVES,
)
async def quarantine(
    debate_id: DebateId, wanted: bodies.Quarantine, context: Context, caller: Decider, if_match: IfMatch = None
) -> Response:
    """A search still finds it. Debates that were told of it already keep what they were told."""
    async with moving(context, caller, debate_id, if_match) as (debate, seen):
        return given(context, await context.client.acting_for(caller).quarantine(debate, wanted.on, seen=seen))


@router.get(
    "/v1/templates",
    operation_id="listTemplates",
    summary="The reasoning templates",
    response_model=catalog_schemas.TemplateList,
)
async def list_templates(context: Context, caller: Reader) -> catalog_schemas.TemplateList:
    known = context.app.memory.library
    items = [catalog_schemas.TemplateSummary(**_summary(template)) for template in known.templates]
    plug_ins = [f"{each.name} ({each.package}) can't be used. {each.text}" for each in DOOR.broken()]
    return catalog_schemas.TemplateList(items=items, problems=[*known.problems, *plug_ins])


@router.get(
    "/v1/templates/{template_id}",
    operation_id="getTemplate",
    summary="One reasoning template, with its text",
    response_model=catalog_schemas.Template,
    responses=documented("not-found", "invalid"),
)
async def get_template(
    template_id: str, context: Context, caller: Reader, html: Html = False
) -> catalog_schemas.Template:
    try:
        template = context.app.memory.library.get(template_id)
    except InputError as error:
        raise Refused("not-found", str(error)) from None
    return catalog_schemas.Template(
        **_summary(template),
        questions=list(template.front.questions),
        text=template.text,
        html=rendered(template.text) if html else None,
    )


def _hit(past: PastDebate) -> catalog_schemas.Hit:
    debate = past.debate
    return catalog_schemas.Hit(
        id=debate.id,
        topic=debate.topic,
        format=debate.format,
        winner=None if debate.outcome is None else debate.outcome.winner,
        headline=headline(debate),
        demonstration=past.demonstration,
        quarantined=debate.quarantined_at is not None,
        score=round(past.score, 4),
        completed_at=debate.completed_at,
    )


def _summary(template: Template) -> Json:
    front = template.front
    return {
        "id": front.id,
        "name": front.name,
        "summary": front.summary,
        "domains": list(front.domains),
        "keywords": list(front.keywords),
        "own": template.file is not None,
        "package": template.package or None,
    }
