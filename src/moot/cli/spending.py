"""What was spent today, as `moot status` shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from moot.app import App
from moot.cli.words import clock
from moot.core.amounts import count, money
from moot.core.settings import Ceilings
from moot.core.types import Json

MOST_SHOWN = 5


async def spent_today(app: App) -> Json:
    """What everyone and each caller has used since midnight UTC, and the ceilings; docs/cli.md describes the fields."""
    store = app.runtime.store
    names = {token.id: token.name for token in await store.tokens()}
    today = await store.today("")
    return {
        **asdict(today.all),
        "opens_at": today.opens_at,
        "ceilings": app.ceilings.model_dump(exclude_none=True),
        "callers": [
            {
                "name": names.get(token_id, f"a token that was revoked ({token_id[:8]})") if token_id else None,
                **asdict(used),
            }
            for token_id, used in (await store.spenders()).items()
        ],
    }


def in_lines(found: Json) -> Iterator[str]:
    ceilings = Ceilings(**found["ceilings"])
    limited = ceilings.day_usd is not None or ceilings.day_tokens is not None
    opens = f"; the next day begins at {clock(found['opens_at'])}" if limited else ""
    yield f"{_used(found, ceilings.day_usd, ceilings.day_tokens)}{opens}"
    callers: list[Json] = found["callers"]
    for caller in callers[:MOST_SHOWN] if len(callers) > 1 or ceilings.caller_usd or ceilings.caller_tokens else ():
        yield f"{caller['name'] or 'without a token'}: {_used(caller, ceilings.caller_usd, ceilings.caller_tokens)}"
    if len(callers) > MOST_SHOWN:
        yield f"{len(callers) - MOST_SHOWN:,} more; `moot status --json` has them all"


def _used(used: Json, usd: float | None, tokens: int | None) -> str:
    spent = f"{money(used['cost_usd'])}{'' if usd is None else f' of {money(usd)}'}"
    written = f"{used['tokens']:,} of {tokens:,} tokens" if tokens is not None else count(used["tokens"], "token")
    held = used["reserved_usd"] or used["reserved_tokens"]
    also = (
        f", and up to {money(used['reserved_usd'])} and {count(used['reserved_tokens'], 'token')} in flight"
        if held
        else ""
    )
    return f"{spent} and {written} written{also}"
