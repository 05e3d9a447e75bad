"""Commands that show and check what can be used: doctor, models, formats."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from moot import formats as installed
from moot.app import App
from moot.cli.commands import COMMANDS, DONE, FAILED, every_command
from moot.cli.download import MEGABYTE
from moot.cli.printer import Span, make_printer, note, replace_unprintable, table
from moot.cli.session import open_app
from moot.cli.views import print_json
from moot.cli.words import explained
from moot.client import checkup
from moot.client.code_checkup import check_code
from moot.config import shown, strays
from moot.core.errors import InputError, MootError
from moot.core.types import TIERS, Json
from moot.folders import weights_dir
from moot.models import providers
from moot.models.catalog import EmbeddedModel, embedded, key_of, missing_weights, usable
from moot.models.check import Finding
from moot.models.choice import is_demonstration
from moot.models.engine import MISSING, engine_installed
from moot.models.listing import models_of
from moot.models.providers import Provider

_MARKS: dict[str, Span] = {
    "ok": ("ok      ", "green"),
    "lacks": ("lacks   ", "yellow"),
    "wrong": ("wrong   ", "bold red"),
}


async def doctor(args: Namespace) -> int:
    out = make_printer()
    async with open_app(args) as app:
        findings = [await _database_finding(app)]
        specs: Sequence[str] = args.model or [*dict.fromkeys(app.choose(role).spec for role in TIERS)]
        for spec in specs:
            for missing in _missing_weights(spec, app):
                note(f"The weights of {missing.spec} are not here: {missing.to_fetch}, into {missing.file.parent}.")
            findings += await checkup.check_models(app, [spec])
        findings += await checkup.check_memory(app)
        findings += await checkup.check_formats(app)
        findings += await check_code(app)
        findings += checkup.check_plugins()
        findings += [Finding(ok=False, what=what, fix=fix) for what, fix in _unused_commands().items()]
    for finding in findings:
        out.line(_MARKS["wrong" if not finding.ok else "lacks" if finding.lacks else "ok"], finding.what)
        for line in finding.fix.splitlines():
            out.line(f"        {line}")
    for text in strays(app.environ):
        out.line(("note    ", "yellow"), text)
    wrong = sum(not finding.ok for finding in findings)
    lacking = sum(finding.lacks for finding in findings)
    well = "All is well, but for what is marked as lacking." if lacking else "All is well."
    note(f"{wrong} of {len(findings)} checks found a problem." if wrong else well)
    return FAILED if wrong else DONE


async def models(args: Namespace) -> int:
    async with open_app(args) as app:
        if args.provider is not None:
            found = await asyncio.to_thread(models_of, args.provider.lower(), app.environ)
            if args.json:
                print_json({"provider": args.provider, "models": found})
            else:
                print(*found, sep="\n")
            return DONE
        if args.json:
            print_json(_models_json(app))
            return DONE
        out = make_printer()
        for role in TIERS:
            choice = app.choose(role)
            out.line(f"{role}: ", (choice.spec, "bold"), f", because {choice.reason}")
        if any(is_demonstration(app.choose(role).spec) for role in TIERS):
            out.line("A demonstration model's verdicts mean nothing. Set a key or start Ollama for real ones.")
        out.line()
        table(out, ("WRITE", "KEY", ""), [_provider_row(provider, app) for provider in providers.ranked()])
        for problem in providers.DOOR.broken():
            out.line((f"{problem.name} ({problem.package}) can't be used. ", "bold red"), problem.text)
        out.line()
        columns = ("EMBEDDED", "MODEL", "SIZE", "LICENCE", "WEIGHTS", "")
        table(out, columns, [_embedded_row(each) for each in _embedded(app)])
        out.line("local:PATH.gguf  runs any GGUF file that you have, for example local:~/models/mine.gguf")
        if not engine_installed():
            out.line((MISSING, "yellow"))
    note(
        "Choose with --model and --judge-model, with MOOT_MODEL, MOOT_MODEL_DEBATER, MOOT_MODEL_JUDGE, "
        "or with model, model_debater, model_judge in moot.yaml. "
        "List those of one with: moot models PROVIDER. Check with: moot doctor"
    )
    return DONE


async def formats(args: Namespace) -> int:
    replace_unprintable()
    out = make_printer()
    if args.name is None:
        found = installed.installed()
        async with open_app(args) as app:
            default = app.default_format
            incomplete = await checkup.missing_words(app)
        packages = {name: installed.DOOR.package(name) for name in found}
        rows = [
            (
                (name, "bold"),
                "default" if name == default else "",
                each.purpose,
                f"{each.summary} ({packages[name]})" if packages[name] else each.summary,
            )
            for name, each in found.items()
        ]
        table(out, ("FORMAT", "", "FOR", "WHAT IT IS"), rows)
        for problem in installed.broken():
            out.line((f"{problem.name} ({problem.package}) can't be used. ", "bold red"), problem.text)
        for name, problem in incomplete.items():
            out.line((f"{name} is incomplete. ", "bold yellow"), problem)
        for what, problem in _unused_commands().items():
            out.line((f"{what[:1].upper()}{what[1:]} can't be used. ", "bold red"), problem)
        if default == installed.AUTO:
            out.note("Without --format, the question decides, and the reason is said.")
        own = [f"moot {name}" for name, command in every_command().items() if command.declared]
        out.note(f"Commands of formats: {', '.join(own)}")
        out.note("All settings of one: moot formats NAME")
        return DONE
    format_ = installed.get(args.name)
    package = installed.DOOR.package(format_.name)
    version = f"version {format_.version}, of {package}" if package else f"version {format_.version}"
    out.line((format_.name, "bold"), f" ({version}): {format_.purpose}")
    out.line(format_.summary)
    out.line()
    schema = format_.settings.model_json_schema()
    for setting in _settings(schema, schema.get("$defs", {})):
        out.line(
            (setting.name, "bold"), f" = {setting.default}" if setting.default else "", ("  " + setting.takes, "dim")
        )
        if setting.about:
            out.line(f"    {setting.about}")
    out.note("Set one with --set NAME=VALUE; those with [] in a YAML file, with --file.")
    return DONE


def _unused_commands() -> dict[str, str]:
    """Commands of formats that have the name of one of moot's own, with what to do."""
    names = [
        name
        for name, format_ in installed.installed().items()
        if format_.command and name in COMMANDS and COMMANDS[name].declared is not format_.command
    ]
    return {
        f"the command of the format {name} ({installed.DOOR.package(name)})": f"`moot {name}` is moot's own command. "
        f"Use `moot debate --format {name}`, and ask the format's authors for another name."
        for name in names
    }


async def _database_finding(app: App) -> Finding:
    try:
        # There is no such debate, so this changes nothing, yet it needs write access.
        await (await app.open()).store.move("doctor", "stopped", expect=())
    except MootError as error:
        return Finding(ok=False, what=f"the database {app.database}", fix=explained(error))
    return Finding(ok=True, what=f"the database {app.database} can be written, and its schema is current")


def _provider_row(provider: Provider, app: App) -> Sequence[Span]:
    package, variable = providers.DOOR.package(provider.name), key_of(provider)
    of = f" ({package})" if package else ""
    if variable is None or provider.api is None:
        return (provider.example, "", f"{provider.about}{of}")
    found = bool(provider.api.key(app.environ))
    return (provider.example, (variable, "green" if found else "dim"), f"{'found' if found else 'not set'}{of}")


def _embedded(app: App) -> Sequence[EmbeddedModel]:
    return embedded(weights_dir(app.settings))


def _missing_weights(spec: str, app: App) -> Sequence[EmbeddedModel]:
    if not engine_installed():
        return ()  # nothing would be fetched
    try:
        return missing_weights(spec, weights_dir(app.settings))
    except InputError:
        return ()  # the check of the model says what is wrong


def _embedded_row(model: EmbeddedModel) -> Sequence[Span]:
    here = ("here", "green") if model.here else ("fetched at first use", "dim")
    if not engine_installed():
        here = ("engine not installed", "yellow")
    size = f"{model.file_bytes / MEGABYTE:,.0f} MB"
    return ((model.spec, "bold"), model.title, size, model.licence, here, model.about)


def _models_json(app: App) -> Json:
    return {
        "chosen": {
            role: {"model": shown(choice.spec), "reason": choice.reason, "demonstration": is_demonstration(choice.spec)}
            for role in TIERS
            for choice in (app.choose(role),)
        },
        "providers": [
            {
                "name": provider.name,
                "example": provider.example,
                "about": provider.about,
                "key_variable": key_of(provider),
                "usable": usable(provider, app.environ),
                "package": providers.DOOR.package(provider.name) or None,
            }
            for provider in providers.ranked()
        ],
        "embedded": [
            {
                "model": each.spec,
                "title": each.title,
                "about": each.about,
                "licence": each.licence,
                "bytes": each.file_bytes,
                "here": each.here,
                "file": str(each.file),
            }
            for each in _embedded(app)
        ],
    }


@dataclass(frozen=True, kw_only=True)
class SettingHelp:
    name: str
    default: str
    takes: str
    about: str


def _settings(schema: Json, defs: Json, prefix: str = "") -> Iterator[SettingHelp]:
    """Every setting of a schema, nested ones under dotted names."""
    for name, given in schema.get("properties", {}).items():
        field = _resolved(given, defs)
        inside, index = _inside(field, defs)
        default = given.get("default")
        yield SettingHelp(
            name=f"{prefix}{name}",
            default="" if inside or default in (None, [], {}, "") else _shortly(default),
            takes=f"{'; '.join(_takes(field))}{' (needed)' if name in schema.get('required', ()) else ''}",
            about=given.get("description", ""),
        )
        if inside:
            yield from _settings(inside, defs, f"{prefix}{name}{index}.")


def _resolved(field: Json, defs: Json) -> Json:
    """The field with references and `or null` resolved."""
    some = [each for each in field.get("anyOf", ()) if each.get("type") != "null"]
    if some:
        return _resolved({**field, "anyOf": [], **some[0]}, defs)
    reference = field.get("$ref")
    return field if reference is None else {**field, **defs[reference.rsplit("/", 1)[-1]], "$ref": None}


def _inside(field: Json, defs: Json) -> tuple[Json | None, str]:
    """The schema inside a field, and the suffix under which its items are named."""
    if field.get("properties"):
        return field, ""
    if field.get("prefixItems"):
        return _resolved(field["prefixItems"][0], defs), "[]"
    several = field.get("additionalProperties")
    return (_resolved(cast(Json, several), defs), ".ID") if isinstance(several, dict) else (None, "")


def _takes(field: Json) -> list[str]:
    if "enum" in field:
        return [" or ".join(str(choice) for choice in field["enum"])]
    names = {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list",
        "object": "a mapping",
    }
    words = [names.get(field.get("type", ""), "")]
    low, high = field.get("minimum", field.get("exclusiveMinimum")), field.get("maximum")
    if low is not None and high is not None:
        above = "more than " if "exclusiveMinimum" in field else ""
        words.append(f"{above}{low:,} to {high:,}")
    return words


def _shortly(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 50 else f"{text[:49]}…"
