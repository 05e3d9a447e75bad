"""What there is to choose from: formats, providers, templates; and how this server is configured."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from fastapi import APIRouter

from moot import formats
from moot.app import App
from moot.config import shown
from moot.errors import InputError
from moot.formats import Format
from moot.formats.panel import catalog as panel
from moot.models.choice import is_demonstration
from moot.models.known import ABOUT, EXAMPLES, ROLES
from moot.models.spec import PROVIDERS, key_variable, parse
from moot.request import merged
from moot.server import schemas
from moot.server.house import Admin, Here, Reader
from moot.server.problems import Refused, documented
from moot.settings import read

router = APIRouter(tags=["catalog"])


@router.get(
    "/v1/formats",
    operation_id="listFormats",
    summary="The formats: what each is, its settings, and examples",
    response_model=schemas.FormatList,
)
async def list_formats(house: Here, caller: Reader) -> schemas.FormatList:
    return schemas.FormatList(items=[_format(house.app, each) for each in formats.installed().values()])


@router.get(
    "/v1/formats/{name}",
    operation_id="getFormat",
    summary="One format",
    response_model=schemas.Format,
    responses=documented("not-found"),
)
async def get_format(name: str, house: Here, caller: Reader) -> schemas.Format:
    try:
        return _format(house.app, formats.get(name))
    except InputError as error:
        raise Refused("not-found", str(error)) from None


@router.get(
    "/v1/providers",
    operation_id="listProviders",
    summary="Which models can be used, and which would be chosen now",
    response_model=schemas.Providers,
)
async def providers(house: Here, caller: Reader) -> schemas.Providers:
    chosen = [(role, house.app.choose(role)) for role in ROLES]
    return schemas.Providers(
        chosen=[
            schemas.ModelChoice(
                role=role, model=shown(choice.spec), reason=choice.reason, demonstration=is_demonstration(choice.spec)
            )
            for role, choice in chosen
        ],
        items=[_provider(house.app, name) for name in PROVIDERS],
    )


@router.get(
    "/v1/config",
    operation_id="getConfig",
    summary="How this server is configured; no secrets",
    response_model=schemas.ConfigList,
)
async def config(house: Here, caller: Admin) -> schemas.ConfigList:
    entries = house.app.config.entries()
    return schemas.ConfigList(
        items=[schemas.ConfigEntry(name=e.name, value=shown(e.value), layer=e.origin.layer) for e in entries]
    )


def _format(app: App, format_: Format) -> schemas.Format:
    settings = read(format_.settings, merged(app.config.debate(format_.name), {}))
    perspectives = panel.built_in() if format_.name == "panel" else ()
    return schemas.Format(
        name=format_.name,
        version=format_.version,
        summary=format_.summary,
        default=format_.name == app.settings.format,
        settings_schema=format_.settings.model_json_schema(),
        defaults=shown(settings.model_dump(mode="json")),
        parts=[schemas.FormatPart(id=p.id, name=p.name, role=p.role) for p in format_.parts(settings)],
        perspectives=[
            schemas.Perspective(
                name=p.name, priorities=list(p.priorities), trade_offs=p.trade_offs, opposes=list(p.opposes)
            )
            for p in perspectives
        ],
        examples=[schemas.Example(**each) for each in examples().get(format_.name, ())],
    )


@cache
def examples() -> dict[str, list[dict[str, Any]]]:
    return yaml.safe_load((files("moot.server") / "examples.yaml").read_text(encoding="utf-8"))


def _provider(app: App, name: str) -> schemas.Provider:
    variable = key_variable(parse(EXAMPLES[name])[0])
    return schemas.Provider(
        name=name,
        example=EXAMPLES[name],
        about=ABOUT.get(name, ""),
        key_variable=variable,
        usable=variable is None or bool(app.environ.get(variable)),
    )
