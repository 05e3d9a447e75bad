"""The command for operators: how everything stands, and whether something needs a hand."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from moot.app import App
from moot.cli.commands import DONE, FAILED
from moot.cli.door import opened
from moot.cli.lines import print_json
from moot.cli.paper import Paper, Span, paper
from moot.cli.words import ago, count, duration, one_line
from moot.errors import InputError, StoreError
from moot.settings import RateLimit
from moot.store import Condition
from moot.store.overview import Overview, Presence
from moot.types import STATUSES, Json

DAY = 86_400.0
LATE_SECONDS = 30.0  # that a job may wait for a worker before its absence matters
MOST_SHOWN = 5  # of what may be many
WIDEST = 90


async def status(args: Namespace) -> int:
    async with opened(args) as app:
        try:
            condition = await app.condition()
            overview = await app.overview(DAY) if condition.version == condition.newest else None
        except StoreError as error:
            raise InputError(str(error)) from error
        hands = list(_hands(condition, overview))
        if args.json:
            print_json(_json(condition, overview, hands, app), indent=2)
        else:
            _print(paper(), condition, overview, hands, app)
    return FAILED if hands else DONE


def _hands(condition: Condition, overview: Overview | None) -> Iterator[str]:
    """What a person has to do, a line for each."""
    if condition.version > condition.newest:
        yield "The database was made by a newer moot: upgrade this one."
    elif 0 < condition.version < condition.newest:
        yield f"The schema is {condition.version} of {condition.newest}: run `moot db migrate`."
    if overview is None:
        return
    for stuck in overview.stranded[:MOST_SHOWN]:
        what = f"Debate {stuck.debate_id[:8]} is {stuck.status}, but {stuck.why}"
        yield f"{what}, for {duration(max(0.0, overview.now - stuck.since))}: {_cure(overview)}"
    if len(overview.stranded) > MOST_SHOWN:
        yield f"So are {len(overview.stranded) - MOST_SHOWN:,} more; `moot status --json` has them all."
    queue = overview.queue
    if queue is not None and queue.waiting and not overview.workers and queue.oldest_seconds > LATE_SECONDS:
        waiting, oldest = count(queue.waiting, "job"), duration(queue.oldest_seconds)
        yield f"No worker is alive, and there is work: {waiting}, the oldest for {oldest}. Start `moot worker`."


def _cure(overview: Overview) -> str:
    if overview.queue is None:
        return "`moot resume --all`."
    if not overview.workers:
        return "start `moot worker`."
    return "see docs/operations.md, stuck debates."


def _print(out: Paper, condition: Condition, overview: Overview | None, hands: Sequence[str], app: App) -> None:
    schema = "none yet" if not condition.version else f"schema {condition.version}"
    current = ", current" if condition.version == condition.newest else ""
    _line(out, "database", f"{condition.place} ({schema}{current})")
    if overview is not None and condition.version:
        _print_overview(out, overview, app)
    if not hands:
        out.line(("All is well.", "green"))
    for hand in hands:
        out.line(("! ", "bold red"), hand)


def _print_overview(out: Paper, found: Overview, app: App) -> None:
    said = [f"{found.debates[status]:,} {status}" for status in STATUSES if found.debates.get(status)]
    _line(out, "debates", f"{sum(found.debates.values()):,}{': ' if said else ''}{', '.join(said)}")
    if found.queue is not None:
        queue = found.queue
        oldest = f", the oldest for {duration(queue.oldest_seconds)}" if queue.waiting else ""
        _line(
            out,
            "queue",
            f"{queue.waiting:,} waiting for a worker{oldest}; {queue.taken:,} taken; {queue.later:,} later",
        )
        _line(out, "workers", f"{len(found.workers)} alive" + (f", {len(found.silent)} silent" if found.silent else ""))
        for worker in (*found.workers, *found.silent):
            _line(out, "", _worker(worker, found.now))
    known = {worker.name for worker in found.workers}
    others = [driver for driver in found.drivers if driver.name not in known]
    if others:
        _line(
            out, "others", ", ".join(f"{_short(each.name)} drives {count(each.debates, 'debate')}" for each in others)
        )
    if found.leases_expired:
        _line(out, "leases", f"{found.leases_expired:,} expired: whoever drove them has fallen silent")
    overdue = f", {found.gates_overdue:,} overdue" if found.gates_overdue else ""
    _line(out, "gates", f"{found.gates_open:,} open{overdue}")
    _line(out, "failed", f"{found.failed:,} in the last 24 hours")
    for trouble in found.troubles[:MOST_SHOWN]:
        _line(
            out,
            "",
            f"{trouble.debates:,} {trouble.kind}, newest {trouble.newest[:8]}: {one_line(trouble.message, WIDEST)}",
        )
    for title, text in zip(("limits", *[""] * len(app.settings.rate_limits)), _limits(found, app), strict=False):
        _line(out, title, text)


def _limits(found: Overview, app: App) -> Iterator[str]:
    now = {each.name: each for each in found.limits}
    for name, limit in app.models.limits.items():
        said = [_limit(limit)]
        if name in now and now[name].paused_seconds:
            said.append(f"refused by the provider, everyone waits {duration(now[name].paused_seconds)}")
        elif name in now and now[name].line_seconds:
            said.append(f"the last in line waits {duration(now[name].line_seconds)}")
        elif found.queue is not None:
            said.append("nobody waits")
        yield f"{name}: {'; '.join(said)}"


def _limit(limit: RateLimit) -> str:
    said = [
        f"{number:,} {what} a minute"
        for number, what in ((limit.requests_per_minute, "requests"), (limit.tokens_per_minute, "tokens"))
        if number is not None
    ]
    return ", ".join(said)


def _worker(worker: Presence, now: float) -> str:
    doing = f"{worker.debates:,} of {worker.room:,} debates{', ending' if worker.draining else ''}"
    up = duration(max(0.0, worker.started_at and now - worker.started_at))
    return f"{_short(worker.name)}: {doing}, seen {ago(worker.seen_at, now)}, up {up}, moot {worker.version}"


def _short(owner: str) -> str:
    """Host and process of whoever drives."""
    place, _, rest = owner.partition("/")
    return f"{place.split(' ')[0]}:{rest.partition('/')[0]}" if rest else owner


def _line(out: Paper, title: str, text: Span) -> None:
    out.line((f"{title:<10}", "bold"), text)


def _json(condition: Condition, overview: Overview | None, hands: Sequence[str], app: App) -> Json:
    """docs/cli.md describes the fields."""
    found: Json = {} if overview is None else asdict(overview)
    limits = {name: limit.model_dump() for name, limit in app.models.limits.items()}
    for now in found.pop("limits", ()):
        limits.setdefault(now["name"], {}).update({name: now[name] for name in ("paused_seconds", "line_seconds")})
    return {
        "ok": not hands,
        "needs": list(hands),
        "database": {"place": condition.place, "schema": condition.version, "newest": condition.newest},
        **found,
        "limits": limits,
    }
