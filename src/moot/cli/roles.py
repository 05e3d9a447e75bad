"""The command `roles`: what seats of any format can take on."""

from __future__ import annotations

from argparse import Namespace

from moot.cli.commands import DONE
from moot.cli.printer import Printer, make_printer, note, replace_unprintable, table
from moot.cli.views import print_json
from moot.core.errors import UnknownName
from moot.core.types import Hat, Json
from moot.formats.shared import roles as catalog


async def roles(args: Namespace) -> int:
    replace_unprintable()
    found = {role.name: (role, package) for role, package in catalog.installed()}
    if args.name is not None and args.name not in found:
        raise UnknownName("role", args.name, found)
    if args.json:
        items = {name: _json(*each) for name, each in found.items()}
        print_json(items[args.name] if args.name else list(items.values()), indent=2)
    elif args.name is not None:
        _print_role(make_printer(), *found[args.name])
    else:
        rows = [((role.name, "bold"), package, role.about) for role, package in found.values()]
        out = make_printer()
        table(out, ("ROLE", "", "WHAT IT DOES"), rows)
        out.note("Read one with: moot roles NAME. Let a seat take it on with: --set seats.SEAT.hats=NAME")
        for problem in catalog.DOOR.broken():
            note(f"Left out: {problem.name} ({problem.package}). {problem.text}")
    return DONE


def _print_role(out: Printer, role: Hat, package: str) -> None:
    out.line((role.name, "bold"), f": {role.about}")
    out.line()
    out.line(role.prompt)
    out.line()
    suits = sorted(role.affinities.items(), key=lambda each: (-each[1], each[0]))
    out.line(f"Suits: {', '.join(f'{domain} {degree:g}' for domain, degree in suits) or 'nothing in particular'}")
    out.line(f"Tools: {', '.join(role.tools) or 'none'}")
    if role.leads:
        out.line(f"Leads: {', '.join(role.leads)}")
    if package:
        out.note(f"From {package}")


def _json(role: Hat, package: str) -> Json:
    return {**role.model_dump(mode="json"), "package": package or None}
