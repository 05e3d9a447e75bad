"""Requests per second for a list and for one debate: as many with 100,000 debates in the database as with 1,000?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moot.bench.asking import ask
from moot.bench.cluster import NoServer, a_server
from moot.bench.many_debates import Place, fill
from moot.bench.rig import alternate, median, run
from moot.bench.serving import Served, moot
from moot.bench.table import Goal, Row

CONNECTIONS = 4
PAGE = 50
_SOME = 200  # different debates, and different places in the list
_FLAT = Goal(sign=">=", bound=0.8)


@dataclass(kw_only=True)
class Asked:
    """One kind of request to one server."""

    served: Served
    paths: Sequence[str]
    cpu_ms: list[float] = field(default_factory=list[float])  # of the server, for each request

    def rate(self, seconds: float) -> float:
        before = self.served.worked()
        answered = ask(self.served.port, self.paths, connections=CONNECTIONS, seconds=seconds)
        self.cpu_ms.append((self.served.worked() - before) * 1000 / len(answered.milliseconds))
        return answered.per_second


def measure(
    folder: Path, *, few: int = 1000, many: int = 100_000, repeats: int = 5, seconds: float = 2.0, postgres: bool = True
) -> list[Row]:
    (folder / "few").mkdir()
    (folder / "many").mkdir()
    rows = _measure(folder, [folder / "few" / "moot.db", folder / "many" / "moot.db"], few, many, repeats, seconds)
    if postgres:
        try:
            with a_server(folder) as server:
                urls = [run(server.database()), run(server.database())]
                rows += _measure(folder, urls, few, many, repeats, seconds, on=", PostgreSQL")
        except NoServer as error:
            rows.append(Row(name="requests, PostgreSQL", error=str(error)))
    return rows


def _measure(
    folder: Path, databases: Sequence[str | Path], few: int, many: int, repeats: int, seconds: float, on: str = ""
) -> list[Row]:
    filled = [run(fill(database, count), seconds=600) for database, count in zip(databases, (few, many), strict=True)]
    with moot(folder / "few", databases[0]) as small, moot(folder / "many", databases[1]) as large:
        both = (small, filled[0]), (large, filled[1])
        kinds = {
            f"list of {PAGE}, the newest": [_newest(served, places) for served, places in both],
            f"list of {PAGE}, by cursor, all over": [_pages(served, places) for served, places in both],
            "one debate": [_debates(served, places) for served, places in both],
        }
        return [
            _row(f"{name}{on}", asked[0], asked[1], few, many, repeats, seconds, first=number == 0)
            for number, (name, asked) in enumerate(kinds.items())
        ]


def _row(
    name: str, small: Asked, large: Asked, few: int, many: int, repeats: int, seconds: float, *, first: bool
) -> Row:
    small.rate(seconds / 4)  # both have read what they will read again
    large.rate(seconds / 4)
    at_few, at_many = alternate(repeats, lambda: small.rate(seconds), lambda: large.rate(seconds))
    note = (
        f"`moot serve`, {CONNECTIONS} connections that are kept, from another process; "
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


def _newest(served: Served, places: Sequence[Place]) -> Asked:
    return Asked(served=served, paths=[f"/v1/debates?limit={PAGE}"])


def _debates(served: Served, places: Sequence[Place]) -> Asked:
    return Asked(served=served, paths=[f"/v1/debates/{place.id}" for place in _spread(places)])


def _pages(served: Served, places: Sequence[Place]) -> Asked:
    whole = places[:-PAGE]  # after any of these there is a full page
    return Asked(served=served, paths=[f"/v1/debates?limit={PAGE}&cursor={place.cursor}" for place in _spread(whole)])


def _spread(places: Sequence[Place]) -> Sequence[Place]:
    return places[:: max(1, len(places) // _SOME)]
