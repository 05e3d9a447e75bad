"""Counters, gauges and histograms in the text format of Prometheus. They are used on one event loop, so they need no
locks and cost a fraction of what a library's do."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)


class Numbers:
    """A counter or a gauge: a number for each combination of labels."""

    def __init__(self, name: str, about: str, kind: Literal["counter", "gauge"], *labels: str) -> None:
        self.name, self.about, self.kind, self.labels = name, about, kind, labels
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, by: float = 1.0) -> None:
        values = self._values
        values[labels] = values.get(labels, 0.0) + by

    def set(self, *labels: str, to: float) -> None:
        self._values[labels] = to

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0.0)

    def lines(self) -> Iterator[str]:
        for labels, value in sorted(self._values.items()):
            yield f"{self.name}{_labels(self.labels, labels)} {_number(value)}"


class Histogram:
    """A distribution of durations, in seconds."""

    kind = "histogram"

    def __init__(self, name: str, about: str, *labels: str, bounds: Sequence[float] = SECONDS) -> None:
        self.name, self.about, self.labels, self.bounds = name, about, labels, bounds
        self._values: dict[tuple[str, ...], tuple[list[int], list[float]]] = {}

    def observe(self, seconds: float, *labels: str) -> None:
        found = self._values.get(labels)
        if found is None:
            found = self._values[labels] = ([0] * (len(self.bounds) + 1), [0.0])
        found[0][bisect_left(self.bounds, seconds)] += 1
        found[1][0] += seconds

    def count(self, *labels: str) -> int:
        found = self._values.get(labels)
        return 0 if found is None else sum(found[0])

    def lines(self) -> Iterator[str]:
        names = (*self.labels, "le")
        for labels, (counts, total) in sorted(self._values.items()):
            so_far = list(accumulate(counts))
            for bound, count in zip(self.bounds, so_far, strict=False):
                yield f"{self.name}_bucket{_labels(names, (*labels, _number(bound)))} {count}"
            yield f"{self.name}_bucket{_labels(names, (*labels, '+Inf'))} {so_far[-1]}"
            yield f"{self.name}_sum{_labels(self.labels, labels)} {_number(total[0])}"
            yield f"{self.name}_count{_labels(self.labels, labels)} {so_far[-1]}"


Metric = Numbers | Histogram


def render(metrics: Iterable[Metric]) -> str:
    lines: list[str] = []
    for metric in metrics:
        about = metric.about.replace("\\", "\\\\").replace("\n", "\\n")
        lines += [f"# HELP {metric.name} {about}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
    return "\n".join(lines) + "\n"


def _labels(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = zip(names, values, strict=True)
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
