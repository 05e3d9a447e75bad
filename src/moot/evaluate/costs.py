"""Where each arm stands on the curve of accuracy over cost, and what as many samples as it costs are worth."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from moot.core.amounts import count
from moot.core.types import Json, record
from moot.evaluate.sentences import cost

HEAD = ("cheapest first", "cost of an item", "of one sample's", "right", "at equal cost")


@record
class Equal:
    """As many samples as an arm costs."""

    samples: int
    short: bool = False  # all of the pool, which cost less


def standing(
    drawn: str,
    arms: Mapping[str, Json],
    costs: Mapping[str, float],
    curve: Sequence[Json],
    equal: Mapping[str, Equal],
    debates: Collection[str],
) -> Json:
    """The cost of one sample, and for each arm its cost, how many times one sample's that is, and how many samples
    cost as much. `drawn`: what several samples are; `arms`: summaries; `costs`: means; `debates`: no baselines."""
    if not curve:
        return {"baseline": drawn, "sample_cost": None, "arms": []}
    sample = float(curve[0]["cost"])
    points = {each["samples"]: each for each in curve}
    listed: list[Json] = []
    for name, each in arms.items():
        k = equal[name].samples
        point = points.get(k)
        listed.append(
            {
                "arm": name,
                "debate": name in debates,
                "cost": costs[name],
                "ratio": costs[name] / sample if sample else None,
                "accuracy": each["accuracy"],
                "samples": k,
                "samples_cost": k * sample if point is None else point["cost"],
                "samples_accuracy": None if point is None else point["accuracy"],
                "pool_too_small": equal[name].short,
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
        ratio, right = _times(each["cost"] / sample if sample else None), f"{each['accuracy']:.1%}{_without(each)}"
        rows.append((each["cost"], [name, cost(each["cost"], unit), ratio, right, ", ".join(equal.get(k, []))]))
    for each in found["arms"]:
        right = f"{each['accuracy']:.1%}"
        rows.append(
            (each["cost"], [each["arm"], cost(each["cost"], unit), _times(each["ratio"]), right, _equal(each, drawn)])
        )
    return HEAD, [row for _, row in sorted(rows, key=lambda each: each[0])]


def _without(point: Json) -> str:
    return f" (without {count(point['left_out'], 'answer')})" if point["left_out"] else ""


def named(drawn: str, samples: int) -> str:
    """What so many samples are, as a baseline."""
    return f"{drawn.removesuffix('-of')} of {samples}"


def _equal(standing: Json, drawn: str) -> str:
    name = "one sample" if standing["samples"] == 1 else named(drawn, standing["samples"])
    right = "" if standing["samples_accuracy"] is None else f": {standing['samples_accuracy']:.1%}"
    return f"{name}{right}" + (", which cost less" if standing["pool_too_small"] else "")


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f} times"
