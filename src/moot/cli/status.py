"""The command `moot status`: the state of everything an operator runs, and what needs attention."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from moot.app import App
from moot.cli.commands import DONE, FAILED
from moot.cli.printer import Printer, Span, make_printer
from moot.cli.session import open_app
from moot.cli.spending import in_lines, spent_today
from moot.cli.views import print_json
from moot.cli.words import ago
from moot.core.amounts import count, duration
from moot.core.errors import InputError, StoreError
from moot.core.settings import RateLimit
from moot.core.types import STATUSES, Ability, Json
from moot.reasoning.fence import one_line
from moot.store import DatabaseStatus
from moot.store.overview import Overview, Presence

DAY = 86_400.0
LATE_SECONDS = 30.0  # a job may wait so long before the lack of workers is reported
MOST_SHOWN = 5  # lines of one kind
WIDEST = 90
_CAN: Mapping[Ability, str] = {"code": "run code"}


async def status(args: Namespace) -> int:
    async with open_app(args) as app:
        try:
            condition = await app.condition()
            overview = await app.overview(DAY) if condition.version == condition.newest else None
            spent = await spent_today(app) if overview is not None and condition.version else None
        except StoreError as error:
            raise InputError(str(error)) from error
        problems = list(_problems(condition, overview))
        if args.json:
            print_json({**_json(condition, overview, problems, app), "spending": spent}, indent=2)
        else:
            _print(make_printer(), condition, overview, problems, app, spent)
    return FAILED if problems else DONE


def _problems(condition: DatabaseStatus, overview: Overview | None) -> Iterator[str]:
    """What needs attention, each in a line that says what to do."""
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
    for aside in overview.set_aside[:MOST_SHOWN]:
        short, since = aside.debate_id[:8], duration(max(0.0, overview.now - aside.since))
        what = f"Debate {short} was set aside {since} ago, as it took several processes down"
        yield f"{what}: find the cause in their logs, then `moot retry {short}`, or `moot cancel {short}`."
    if len(overview.set_aside) > MOST_SHOWN:
        yield f"So were {len(overview.set_aside) - MOST_SHOWN:,} more; `moot status --json` has them all."
    for each in overview.unserved[:MOST_SHOWN]:
        waits, can = duration(max(0.0, overview.now - each.since)), " and ".join(_CAN[need] for need in each.needs)
        what = f"Debate {each.debate_id[:8]} has waited for {waits}: no worker can {can}"
        yield f"{what}. `moot doctor` on a worker's machine says what it lacks."
    if len(overview.unserved) > MOST_SHOWN:
        yield f"So have {len(overview.unserved) - MOST_SHOWN:,} more; `moot status --json` has them all."
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


def _print(
    out: Printer,
    condition: DatabaseStatus,
    overview: Overview | None,
    problems: Sequence[str],
    app: App,
    spent: Json | None,
) -> None:
    schema = "none yet" if not condition.version else f"schema {condition.version}"
    current = ", current" if condition.version == condition.newest else ""
    _line(out, "database", f"{condition.place} ({schema}{current})")
    if overview is not None and condition.version:
        _print_overview(out, overview, app)
    for number, text in enumerate(() if spent is None else in_lines(spent)):
        _line(out, "" if number else "today", text)
    if not problems:
        out.line(("All is well.", "green"))
    for problem in problems:
        out.line(("! ", "bold red"), problem)


def _print_overview(out: Printer, found: Overview, app: App) -> None:
    counts = [f"{found.debates[status]:,} {status}" for status in STATUSES if found.debates.get(status)]
    _line(out, "debates", f"{sum(found.debates.values()):,}{': ' if counts else ''}{', '.join(counts)}")
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
        _line(out, "leases", f"{found.leases_expired:,} expired: the processes that held them no longer answer")
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
        parts = [_limit(limit)]
        if name in now and now[name].paused_seconds:
            parts.append(f"refused by the provider, all calls wait {duration(now[name].paused_seconds)}")
        elif name in now and now[name].line_seconds:
            parts.append(f"the last in line waits {duration(now[name].line_seconds)}")
        elif found.queue is not None:
            parts.append("no call waits")
        yield f"{name}: {'; '.join(parts)}"


def _limit(limit: RateLimit) -> str:
    parts = [
        f"{number:,} {what} a minute"
        for number, what in ((limit.requests_per_minute, "requests"), (limit.tokens_per_minute, "tokens"))
        if number is not None
    ]
    return ", ".join(parts)


def _worker(worker: Presence, now: float) -> str:
    doing = f"{worker.debates:,} of {worker.room:,} debates{', ending' if worker.draining else ''}"
    up = duration(max(0.0, worker.started_at and now - worker.started_at))
    can = "".join(f", can {_CAN[each]}" for each in worker.abilities)
    return f"{_short(worker.name)}: {doing}{can}, seen {ago(worker.seen_at, now)}, up {up}, moot {worker.version}"


def _short(owner: str) -> str:
    """Host and process id of a driving process."""
    place, _, rest = owner.partition("/")
    return f"{place.split(' ')[0]}:{rest.partition('/')[0]}" if rest else owner


def _line(out: Printer, title: str, text: Span) -> None:
    out.line((f"{title:<10}", "bold"), text)


def _json(condition: DatabaseStatus, overview: Overview | None, problems: Sequence[str], app: App) -> Json:
    """docs/cli.md describes the fields."""
    found: Json = {} if overview is None else asdict(overview)
    limits = {name: limit.model_dump() for name, limit in app.models.limits.items()}
    for now in found.pop("limits", ()):
        limits.setdefault(now["name"], {}).update({name: now[name] for name in ("paused_seconds", "line_seconds")})
    return {
        "ok": not problems,
        "needs": list(problems),
        "database": {"place": condition.place, "schema": condition.version, "newest": condition.newest},
        **found,
        "limits": limits,
    }
