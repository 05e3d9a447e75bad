"""The command `moot token`: access tokens of the HTTP API."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from moot.cli.commands import DONE
from moot.cli.printer import make_printer, note, table
from moot.cli.session import open_app, open_database
from moot.cli.words import clock
from moot.core.errors import InputError, UnknownName
from moot.store import AccessToken, Store


async def token(args: Namespace) -> int:
    if args.action != "list" and not args.name:
        raise InputError(f"Which token? moot token {args.action} NAME")
    if args.action == "list" and args.name:
        raise InputError("`moot token list` lists all of them; leave the name out.")
    async with open_app(args) as app:
        store = (await open_database(app)).store
        if args.action == "create":
            await _create(store, args.name, args.scope)
        elif args.action == "revoke":
            await _revoke(store, args.name)
        else:
            _print(await store.tokens())
    return DONE


async def _create(store: Store, name: str, scope: str) -> None:
    from moot.server.tokens import new_token

    secret, made = new_token(name, [each.strip() for each in scope.split(",") if each.strip()])
    if not await store.add_token(made):
        raise InputError(f"There is a token {made.name!r} already. Choose another name, or revoke that one first.")
    print(secret)
    note(f"This is the only time that the token {made.name!r} is shown. It may: {', '.join(made.scopes)}.")


async def _revoke(store: Store, name: str) -> None:
    known = {each.name: each for each in await store.tokens()}
    if name not in known:
        raise UnknownName("token", name, known, hint="" if known else "There are no tokens.")
    await store.drop_token(known[name].id)
    print(f"The token {name!r} is revoked, and so are the sessions that were open_app with it.")


def _print(tokens: Sequence[AccessToken]) -> None:
    if not tokens:
        note("There are no tokens. Make one with: moot token create NAME --scope read,run,decide")
        return
    rows = [((each.name, "bold"), ", ".join(each.scopes), clock(each.created_at)) for each in tokens]
    table(make_printer(), ("NAME", "MAY", "MADE"), rows)
