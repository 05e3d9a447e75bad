"""The command `moot token`: access tokens of the HTTP API."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence

from moot.cli.commands import DONE
from moot.cli.printer import make_printer, note, table
from moot.cli.session import open_app
from moot.cli.words import ago, clock, read_age
from moot.core.amounts import duration
from moot.core.errors import InputError, UnknownName
from moot.store import Access, AccessToken


async def token(args: Namespace) -> int:
    if args.action != "list" and not args.name:
        raise InputError(f"Which token? moot token {args.action} NAME")
    if args.action == "list" and args.name:
        raise InputError("`moot token list` lists all of them; leave the name out.")
    async with open_app(args) as app:
        store = (await app.open()).store
        if args.action == "create":
            await _create(store, args.name, args.scope, _until(args.expires))
        elif args.action == "rotate":
            await _rotate(store, args.name, args.expires, read_age(args.grace) if args.grace else 0.0)
        elif args.action == "revoke":
            await _revoke(store, args.name)
        else:
            _print(await store.tokens())
    return DONE


async def _create(store: Access, name: str, scope: str, expires_at: float | None) -> None:
    from moot.tokens import new_token

    secret, made = new_token(name, scope.split(","), expires_at)
    if not await store.add_token(made):
        raise InputError(f"There is a token {made.name!r} already. Choose another name, or revoke that one first.")
    print(secret)
    note(f"This is the only time that the token {made.name!r} is shown. It may: {', '.join(made.scopes)}.{_ends(made)}")


async def _rotate(store: Access, name: str, expires: str | None, grace: float) -> None:
    from moot.tokens import hashed, new_secret

    found, secret = await _find(store, name), new_secret()
    expires_at = found.expires_at if expires is None else _until(expires)
    made = await store.rotate_token(found.id, hashed(secret), grace_seconds=grace, expires_at=expires_at)
    if made is None:
        raise InputError(f"The token {name!r} was revoked meanwhile. Make another with: moot token create {name}")
    print(secret)
    old = f"is valid for another {duration(grace)}" if grace else "has ended"
    note(f"This is the only time that the new secret of {name!r} is shown. The old one {old}.{_ends(made)}")


async def _revoke(store: Access, name: str) -> None:
    await store.drop_token((await _find(store, name)).id)
    print(f"The token {name!r} is revoked, and so are the sessions that were opened with it.")


async def _find(store: Access, name: str) -> AccessToken:
    known = {each.name: each for each in await store.tokens()}
    if name not in known:
        raise UnknownName("token", name, known, hint="" if known else "There are no tokens.")
    return known[name]


def _until(age: str | None) -> float | None:
    return None if age is None else time.time() + read_age(age)


def _ends(token: AccessToken) -> str:
    return "" if token.expires_at is None else f" It ends on {clock(token.expires_at)}."


def _print(tokens: Sequence[AccessToken]) -> None:
    if not tokens:
        note("There are no tokens. Make one with: moot token create NAME --scope read,run,decide")
        return
    now = time.time()
    rows = [
        (
            (each.name, "bold"),
            ", ".join(each.scopes),
            clock(each.created_at),
            "never" if each.last_used_at is None else ago(each.last_used_at, now),
            "never" if each.expires_at is None else "ended" if each.expires_at <= now else clock(each.expires_at),
        )
        for each in tokens
    ]
    table(make_printer(), ("NAME", "MAY", "MADE", "USED", "ENDS"), rows)
