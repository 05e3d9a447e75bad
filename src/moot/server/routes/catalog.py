"""What a new debate can choose from: formats and models; and how this server is configured."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter

from moot import formats
from moot.app import App
from moot.config import shown
from moot.core.errors import InputError
from moot.core.settings import DebateSettings, read
from moot.core.types import TIERS, Json, Tier
from moot.folders import weights_dir
from moot.formats import Format
from moot.formats.shared import roles
from moot.models import providers as known
from moot.models.catalog import embedded, key_of, usable
from moot.models.choice import is_demonstration
from moot.models.detected import detected
from moot.models.providers import Provider
from moot.request import merged
from moot.runtime.threads import in_thread
from moot.server import catalog_schemas, views
from moot.server.context import Admin, Context, Reader
from moot.server.problems import Refused, documented

router = APIRouter(tags=["catalog"])


@router.get(
    "/v1/formats",
    operation_id="listFormats",
    summary="The formats: what each is, its settings, and examples",
    response_model=catalog_schemas.FormatList,
)
async def list_formats(context: Context, caller: Reader) -> catalog_schemas.FormatList:
    return catalog_schemas.FormatList(
        items=await in_thread(lambda: [_format(context.app, each) for each in formats.installed().values()]),
        problems=[
            catalog_schemas.FormatProblem(name=each.name, package=each.package, problem=each.text)
            for each in formats.broken()
        ],
    )


@router.get(
    "/v1/formats/{name}",
    operation_id="getFormat",
    summary="One format",
    response_model=catalog_schemas.Format,
    responses=documented("not-found"),
)
async def get_format(name: str, context: Context, caller: Reader) -> catalog_schemas.Format:
    try:
        return await in_thread(lambda: _format(context.app, formats.get(name)))
    except InputError as error:
        raise Refused("not-found", str(error)) from None


@router.get(
    "/v1/roles",
    operation_id="listRoles",
    summary="The roles that a seat of any format can take on",
    response_model=catalog_schemas.RoleList,
)
async def list_roles(caller: Reader) -> catalog_schemas.RoleList:
    return catalog_schemas.RoleList(
        items=[
            catalog_schemas.Role(**role.model_dump(), package=package or None) for role, package in roles.installed()
        ],
        problems=[f"{each.name} ({each.package}) can't be used. {each.text}" for each in roles.DOOR.broken()],
    )


@router.get(
    "/v1/providers",
    operation_id="listProviders",
    summary="Which models can be used, and which would be chosen now",
    response_model=catalog_schemas.Providers,
)
async def providers(context: Context, caller: Reader) -> catalog_schemas.Providers:
    return catalog_schemas.Providers(
        chosen=[_choice(context.app, tier) for tier in TIERS],
        detected=await in_thread(lambda: _detected(context.app)),
        items=[_provider(context.app, each) for each in known.ranked()],
        embedded=[
            catalog_schemas.EmbeddedModel(
                model=each.spec,
                title=each.title,
                about=each.about,
                licence=each.licence,
                bytes=each.file_bytes,
                here=each.here,
            )
            for each in embedded(weights_dir(context.app.settings))
        ],
    )


@router.get(
    "/v1/config",
    operation_id="getConfig",
    summary="How this server is configured; no secrets",
    response_model=catalog_schemas.ConfigList,
)
async def config(context: Context, caller: Admin) -> catalog_schemas.ConfigList:
    entries = context.app.config.entries()
    return catalog_schemas.ConfigList(
        items=[catalog_schemas.ConfigEntry(name=e.name, value=shown(e.value), layer=e.origin.layer) for e in entries]
    )


def _format(app: App, format_: Format) -> catalog_schemas.Format:
    settings = read(format_.settings, merged(app.config.debate(format_.name), {}))
    return views.filled(
        catalog_schemas.Format,
        format_,
        package=formats.DOOR.package(format_.name) or None,
        default=format_.name == app.default_format,
        settings_schema=_schema(format_.settings),
        defaults=shown(settings.model_dump(mode="json")),
        parts=[views.filled(catalog_schemas.FormatPart, part) for part in format_.parts(settings)],
        catalog=[
            views.filled(catalog_schemas.CatalogEntry, each) for each in (format_.catalog() if format_.catalog else ())
        ],
        examples=[views.filled(catalog_schemas.Example, each) for each in format_.examples],
        dialects=list(format_.dialects),
        ledger=format_.keeps_ledger,
        unattended=dict(format_.unattended),
    )


@cache
def _schema(settings: type[DebateSettings]) -> Json:
    """Takes tens of milliseconds to make."""
    return settings.model_json_schema()


def _choice(app: App, tier: Tier) -> catalog_schemas.ModelChoice:
    choice = app.choose(tier)
    return catalog_schemas.ModelChoice(
        tier=tier, model=shown(choice.spec), reason=choice.reason, demonstration=is_demonstration(choice.spec)
    )


def _detected(app: App) -> list[catalog_schemas.DetectedModel]:
    found = detected(app.settings, app.environ, [app.choose(tier) for tier in TIERS])
    return [_model(app, each.spec, each.reason) for each in found]


def _model(app: App, spec: str, reason: str) -> catalog_schemas.DetectedModel:
    price = app.models.price(spec)
    return catalog_schemas.DetectedModel(
        model=shown(spec),
        reason=reason,
        usd_in=None if price is None else price.usd_in,
        usd_out=None if price is None else price.usd_out,
        context=app.models.context_window(spec),
        demonstration=is_demonstration(spec),
    )


def _provider(app: App, provider: Provider) -> catalog_schemas.Provider:
    return catalog_schemas.Provider(
        name=provider.name,
        example=provider.example,
        about=provider.about,
        key_variable=key_of(provider),
        usable=usable(provider, app.environ),
        package=known.DOOR.package(provider.name) or None,
    )
