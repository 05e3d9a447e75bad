"""Requests per second for lists and single debates with 100,000 debates in the database, against 1,000."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perf.cluster import NoServer, postgres_server
from perf.http_load import LoadResult, generate_load
from perf.many_debates import ListEntry, fill
from perf.rig import alternate, median, run
from perf.servers import RunningServer, moot_serve
from perf.table import Goal, Row

CONNECTIONS = 4
PAGE = 50
_PATHS = 200  # different debates or pages that are requested
_FLAT = Goal(sign=">=", bound=0.8)


@dataclass(kw_only=True)
class Workload:
    """One kind of request to one server."""

    server: RunningServer
    paths: Sequence[str]
    cpu_ms: list[float] = field(default_factory=list[float])  # CPU time of the server per request, one per run

    def rate(self, seconds: float) -> float:
        before = self.server.cpu_seconds()
        while not (result := self._load(seconds)).milliseconds:
            pass  # a machine that is very busy answers nothing in so short a time
        self.cpu_ms.append((self.server.cpu_seconds() - before) * 1000 / len(result.milliseconds))
        return result.per_second

    def _load(self, seconds: float) -> LoadResult:
        return generate_load(self.server.port, self.paths, connections=CONNECTIONS, seconds=seconds)


def measure(
    folder: Path, *, few: int = 1000, many: int = 100_000, repeats: int = 5, seconds: float = 2.0, postgres: bool = True
) -> list[Row]:
    (folder / "few").mkdir()
    (folder / "many").mkdir()
    rows = _measure(folder, [folder / "few" / "moot.db", folder / "many" / "moot.db"], few, many, repeats, seconds)
    if postgres:
        try:
            with postgres_server(folder) as server:
                urls = [run(server.create_database()), run(server.create_database())]
                rows += _measure(folder, urls, few, many, repeats, seconds, on=", PostgreSQL")
        except NoServer as error:
            rows.append(Row(name="requests, PostgreSQL", error=str(error)))
    return rows


def _measure(
    folder: Path, databases: Sequence[str | Path], few: int, many: int, repeats: int, seconds: float, on: str = ""
) -> list[Row]:
    entries = [run(fill(database, count), seconds=600) for database, count in zip(databases, (few, many), strict=True)]
    with moot_serve(folder / "few", databases[0]) as small, moot_serve(folder / "many", databases[1]) as large:
        kinds = {
            f"list of {PAGE}, the newest": _newest,
            f"list of {PAGE}, by cursor, all over": _pages,
            "one debate": _debates,
        }
        return [
            _row(
                f"{name}{on}",
                Workload(server=small, paths=paths(entries[0])),
                Workload(server=large, paths=paths(entries[1])),
                few,
                many,
                repeats,
                seconds,
                first=number == 0,
            )
            for number, (name, paths) in enumerate(kinds.items())
        ]


def _row(
    name: str, small: Workload, large: Workload, few: int, many: int, repeats: int, seconds: float, *, first: bool
) -> Row:
    small.rate(seconds / 4)  # warm-up
    large.rate(seconds / 4)
    at_few, at_many = alternate(repeats, lambda: small.rate(seconds), lambda: large.rate(seconds))
    note = (
        f"`moot serve`, {CONNECTIONS} keep-alive connections from another process; "
        "debates without their turns, which neither request reads"
    )
    return Row(
        name=f"requests, {name}, {many:,} debates",
        value=median(at_many),
        unit=f"/s ({median(large.cpu_ms):.2g} ms of CPU each)",
        reference=median(at_few),
        against=f"{median(at_few):,.0f} /s with {few:,} debates ({median(small.cpu_ms):.2g} ms)",
        goal=_FLAT,
        note=note if first else "",
        details={"many": at_many, "few": at_few, "many_cpu_ms": large.cpu_ms, "few_cpu_ms": small.cpu_ms},
    )


def _newest(entries: Sequence[ListEntry]) -> list[str]:
    return [f"/v1/debates?limit={PAGE}"]


def _debates(entries: Sequence[ListEntry]) -> list[str]:
    return [f"/v1/debates/{entry.id}" for entry in _spread(entries)]


def _pages(entries: Sequence[ListEntry]) -> list[str]:
    full = entries[:-PAGE]  # a full page follows each of these
    return [f"/v1/debates?limit={PAGE}&cursor={entry.cursor}" for entry in _spread(full)]


def _spread(entries: Sequence[ListEntry]) -> Sequence[ListEntry]:
    return entries[:: max(1, len(entries) // _PATHS)]
