"""Where each arm stands on the curve of accuracy over cost, and what as many samples as it costs are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.core.types import Json
from moot.evaluate.pool import samples_for
from moot.evaluate.sentences import cost

HEAD = ("", "cost of an item", "of one sample's", "right", "at equal cost")


def standing(
    drawn: str,
    pool: int,
    arms: Mapping[str, Json],
    costs: Mapping[str, float],
    curve: Sequence[Json],
    made: Sequence[Json],
) -> Json:
    """The cost of one sample, and for each arm its cost, how many times one sample's that is, and how many samples
    cost as much. `drawn`: what several samples are; `arms`: summaries; `costs`: means; `made`: the comparisons."""
    if not curve:
        return {"baseline": drawn, "sample_cost": None, "arms": []}
    sample = float(curve[0]["cost"]) / int(curve[0]["samples"])
    matched = {each["arm"]: each["samples"] for each in made if each["baseline"] == drawn}
    points = {each["samples"]: each for each in curve}
    listed: list[Json] = []
    for name, each in arms.items():
        k = matched.get(name) or samples_for(costs[name], sample, pool)
        equal = points.get(k)
        listed.append(
            {
                "arm": name,
                "debate": name in matched,
                "cost": costs[name],
                "ratio": costs[name] / sample if sample else None,
                "accuracy": each["accuracy"],
                "samples": k,
                "samples_cost": k * sample if equal is None else equal["cost"],
                "samples_accuracy": None if equal is None else equal["accuracy"],
                "pool_too_small": k * sample < costs[name] * 0.999,
            }
        )
    return {"baseline": drawn, "sample_cost": sample, "arms": listed}


def accuracy_over_cost(report: Json) -> tuple[Sequence[str], list[list[str]]]:
    """Head and rows: the samples and the arms, cheapest first, each with what costs as much."""
    found, unit = report["standing"], report["unit"]
    drawn, sample = found["baseline"], found["sample_cost"]
    equal: dict[int, list[str]] = {}
    for each in found["arms"]:
        equal.setdefault(each["samples"], []).append(
            str(each["arm"]) + (" costs more" if each["pool_too_small"] else "")
        )
    rows: list[tuple[float, list[str]]] = []
    for each in report["curve"]:
        k = each["samples"]
        name = "one sample" if k == 1 else named(drawn, k)
        ratio, right = _times(each["cost"] / sample if sample else None), f"{each['accuracy']:.1%}"
        rows.append((each["cost"], [name, cost(each["cost"], unit), ratio, right, ", ".join(equal.get(k, []))]))
    for each in found["arms"]:
        right = f"{each['accuracy']:.1%}"
        rows.append(
            (each["cost"], [each["arm"], cost(each["cost"], unit), _times(each["ratio"]), right, _equal(each, drawn)])
        )
    return HEAD, [row for _, row in sorted(rows, key=lambda each: each[0])]


def named(drawn: str, samples: int) -> str:
    """What so many samples are, as a baseline."""
    return f"{drawn.removesuffix('-of')} of {samples}"


def _equal(standing: Json, drawn: str) -> str:
    name = "one sample" if standing["samples"] == 1 else named(drawn, standing["samples"])
    right = "" if standing["samples_accuracy"] is None else f": {standing['samples_accuracy']:.1%}"
    return f"{name}{right}" + (", which cost less" if standing["pool_too_small"] else "")


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f} times"
