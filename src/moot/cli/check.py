"""Commands about what can be used: doctor, models, formats."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from moot import formats as installed
from moot.app import App
from moot.cli.commands import DONE, FAILED
from moot.cli.door import database, opened
from moot.cli.paper import Span, forgive_encoding, note, paper, table
from moot.config import strays
from moot.errors import MootError
from moot.models.check import Finding
from moot.models.choice import is_demonstration
from moot.models.known import ABOUT, EXAMPLES, ROLES
from moot.models.spec import PROVIDERS, key_variable, parse
from moot.types import Json


async def doctor(args: Namespace) -> int:
    out = paper()
    async with opened(args) as app:
        findings = [await _database_finding(app)]
        specs: Sequence[str] = args.model or [*dict.fromkeys(app.choose(role).spec for role in ROLES)]
        for spec in specs:
            findings += await app.doctor([spec])
        findings += await app.check_memory()
    for finding in findings:
        out.line(("ok      " if finding.ok else "wrong   ", "green" if finding.ok else "bold red"), finding.what)
        if finding.fix:
            out.line(f"        {finding.fix}")
    for text in strays(app.environ):
        out.line(("note    ", "yellow"), text)
    wrong = sum(not finding.ok for finding in findings)
    note(f"{wrong} of {len(findings)} checks found a problem." if wrong else "All is well.")
    return FAILED if wrong else DONE


async def models(args: Namespace) -> int:
    out = paper()
    async with opened(args) as app:
        for role in ROLES:
            choice = app.choose(role)
            out.line(f"{role}: ", (choice.spec, "bold"), f", because {choice.reason}")
        if any(is_demonstration(app.choose(role).spec) for role in ROLES):
            out.line("A demonstration model's verdicts mean nothing. Set a key or start Ollama for real ones.")
        out.line()
        rows = [_provider_row(provider, app) for provider in PROVIDERS]
        table(out, ("WRITE", "KEY", ""), rows)
    note(
        "Choose with --model and --judge-model, with MOOT_MODEL, MOOT_MODEL_DEBATER, MOOT_MODEL_JUDGE, "
        "or with model, model_debater, model_judge in moot.yaml. "
        "Check with: moot doctor"
    )
    return DONE


async def formats(args: Namespace) -> int:
    forgive_encoding()
    out = paper()
    if args.name is None:
        found = installed.installed()
        table(out, ("FORMAT", "WHAT IT IS"), [((name, "bold"), each.summary) for name, each in found.items()])
        out.note("All settings of one: moot formats NAME")
        return DONE
    format_ = installed.get(args.name)
    out.line((format_.name, "bold"), f" (version {format_.version}): {format_.summary}")
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


async def _database_finding(app: App) -> Finding:
    try:
        # Changes nothing, as there is no such debate, yet it has to get hold of the database for writing.
        await (await database(app)).store.move("doctor", "stopped", expect=())
    except MootError as error:
        return Finding(ok=False, what=f"the database {app.database}", fix=str(error))
    return Finding(ok=True, what=f"the database {app.database} can be written, and its schema is current")


def _provider_row(provider: str, app: App) -> Sequence[Span]:
    variable = key_variable(parse(EXAMPLES[provider])[0])
    if variable is None:
        return (EXAMPLES[provider], "", ABOUT.get(provider, ""))
    found = bool(app.environ.get(variable))
    return (EXAMPLES[provider], (variable, "green" if found else "dim"), "found" if found else "not set")


@dataclass(frozen=True, kw_only=True)
class Setting:
    name: str
    default: str
    takes: str
    about: str


def _settings(schema: Json, defs: Json, prefix: str = "") -> Iterator[Setting]:
    """All settings, those of nested things under dotted names."""
    for name, given in schema.get("properties", {}).items():
        field = _resolved(given, defs)
        inside, index = _inside(field, defs)
        default = given.get("default")
        yield Setting(
            name=f"{prefix}{name}",
            default="" if inside or default in (None, [], {}, "") else _shortly(default),
            takes=f"{'; '.join(_takes(field))}{' (needed)' if name in schema.get('required', ()) else ''}",
            about=given.get("description", ""),
        )
        if inside:
            yield from _settings(inside, defs, f"{prefix}{name}{index}.")


def _resolved(field: Json, defs: Json) -> Json:
    """Without references, and without `or null`."""
    some = [each for each in field.get("anyOf", ()) if each.get("type") != "null"]
    if some:
        return _resolved({**field, "anyOf": [], **some[0]}, defs)
    reference = field.get("$ref")
    return field if reference is None else {**field, **defs[reference.rsplit("/", 1)[-1]], "$ref": None}


def _inside(field: Json, defs: Json) -> tuple[Json | None, str]:
    """The schema of what a field holds, and how one of several is named."""
    if field.get("properties"):
        return field, ""
    if field.get("prefixItems"):
        return _resolved(field["prefixItems"][0], defs), "[]"
    several = field.get("additionalProperties")
    return (_resolved(cast(Json, several), defs), ".ID") if isinstance(several, dict) else (None, "")


def _takes(field: Json) -> list[str]:
    if "enum" in field:
        return [" or ".join(str(choice) for choice in field["enum"])]
    names = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    said = [names.get(field.get("type", ""), {"array": "a list", "object": "a mapping"}.get(field.get("type", ""), ""))]
    low, high = field.get("minimum", field.get("exclusiveMinimum")), field.get("maximum")
    if low is not None and high is not None:
        above = "more than " if "exclusiveMinimum" in field else ""
        said.append(f"{above}{low:,} to {high:,}")
    return said


def _shortly(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 50 else f"{text[:49]}…"
