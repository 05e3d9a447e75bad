"""What a report says in words: what comparisons have found, and what is missing. The same wherever it is shown."""

from __future__ import annotations

from moot.core.amounts import count, money, p_value
from moot.core.types import Json
from moot.evaluate.comparing import MARGIN
from moot.evaluate.plans import MOST_POOL


def sentence(comparison: Json, unit: str) -> str:
    """What one arm did against a baseline."""
    arm, baseline = comparison["arm"], comparison["baseline"]
    whether, points = f"Whether {arm} helps against {baseline} can't be told", _points(comparison)
    if comparison["doubt"] == "failed":
        why = f"because debates failed on {count(comparison['failed_items'], 'item')}"
        said = f"{whether}, {why} ({points} on the others; {_with_failed(comparison)})"
        return f"{said}{_unequal(comparison, unit)}{_silence(comparison)}."
    if comparison["doubt"] == "cost":
        return f"{whether} at equal cost ({points}): {_costs(comparison, unit)}{_silence(comparison)}."
    said = {
        "helped": f"{arm} helped against {baseline}",
        "hurt": f"{arm} hurt against {baseline}",
        "did not help": f"{arm} did not help against {baseline}",
        "can't tell": f"{whether} from {_answers(comparison)}",
    }[comparison["finding"]]
    doubts = f"{_unequal(comparison, unit)}{_doubts(comparison)}{_more(comparison)}"
    return f"{said} ({points}){doubts}{_failed(comparison)}{_silence(comparison)}."


def sentence_without_finding(comparison: Json, unit: str) -> str:
    """The same where a model graded the answers, so that nothing is found."""
    return (
        f"Whether {comparison['arm']} helps against {comparison['baseline']} is not said, because a model graded the "
        f"answers ({_points(comparison)}){_unequal(comparison, unit)}."
    )


def sentence_between(comparison: Json) -> str:
    """What one arm did in the second of two evaluations, against the first."""
    arm = comparison["arm"]
    if comparison["graded"]:
        why = "is not said, because a model graded the answers"
        return f"Whether {arm} does better in the second evaluation {why} ({_points(comparison)})."
    said = {
        "helped": f"{arm} does better in the second evaluation",
        "hurt": f"{arm} does worse in the second evaluation",
        "did not help": f"{arm} does no better in the second evaluation",
        "can't tell": f"Whether {arm} does better in the second evaluation can't be told from {_answers(comparison)}",
    }[comparison["finding"]]
    return f"{said} ({_points(comparison)}){_doubts(comparison)}{_more(comparison)}."


def figures(comparison: Json, unit: str) -> str:
    """How many samples, how likely by chance, at what cost: what stands beside a sentence."""
    several = comparison["arms_compared"]
    p = f"p {p_value(comparison['p_holm'])}" + (f", corrected for {several} arms" if several > 1 else "")
    samples = comparison["samples"]
    drawn = "" if samples is None else f"{count(samples, 'sample')}; "
    return f"{drawn}{p}; {cost(comparison['cost'], unit)} an item against {cost(comparison['baseline_cost'], unit)}"


def advice(report: Json) -> str:
    """What to do where the pool was too small for a debate's cost; empty where it was not."""
    if not any(each["pool_too_small"] for each in report["comparisons"]):
        return ""
    if report["pool"] >= MOST_POOL:
        return f"A pool has at most {MOST_POOL} samples, so a debate as dear as this can't be matched in cost."
    return f"For a comparison at equal cost, draw more samples: --pool, {MOST_POOL} at most."


def missing(report: Json) -> list[str]:
    """Which items are left out, and why."""
    said: list[str] = []
    if n := report["not_begun"]:
        cut = {"budget": f": {short_of_budget(report)}", "stop": ": it was stopped", None: " yet"}
        said.append(f"{count(n, 'item')} not begun{cut[report['cut_by']]}.")
    failed = len({each["item"] for each in report["failed"]})
    if failed:
        said.append(f"{count(failed, 'item')} left out, because a debate failed or was stopped.")
    if n := report["ungraded"]:
        said.append(f"{count(n, 'item')} left out, because an answer has no grade.")
    if (n := report["unfinished"] - report["ungraded"] - failed) > 0:
        said.append(f"{count(n, 'item')} begun and not finished.")
    return said


def short_of_budget(report: Json) -> str:
    """Why a budget that is not used up allows no other item; empty without a budget."""
    budget, spent = report["budget"], report["spent"]
    if not budget:
        return ""
    why: list[str] = []
    most, used, worst = budget["max_cost_usd"], spent["usd"], budget["worst_item_usd"]
    if most is not None and (used is None or worst is None or used + worst > most):
        item = "what an item costs is not known" if worst is None else f"an item can cost {money(worst)}"
        why.append(f"{money(used)} of {money(most)} is spent, and {item}")
    most, used, worst = budget["max_output_tokens"], spent["tokens_out"], budget["worst_item_output_tokens"]
    if most is not None and used + worst > most:
        why.append(f"{used:,} of {most:,} output tokens are used, and an item can take {worst:,}")
    return ": ".join(("the budget does not last", *filter(None, ["; ".join(why)])))


def few(report: Json) -> str:
    """What so many items can show."""
    if not report["complete"]:
        return ""
    if report["smallest_difference"] is None:
        return f"{count(report['complete'], 'item')} can't show anything, however the arms differ: they are too few."
    points = report["smallest_difference"] * 100
    return f"So many items show a difference of {points:.0f} points or more, where the arms differ on a fifth of them."


def cost(amount: float, unit: str) -> str:
    return money(amount) if unit == "usd" else f"{amount:,.0f} weighted tokens"


def _answers(comparison: Json) -> str:
    answers, items = comparison["answers"], comparison["items"]
    return count(answers, "answer") + ("" if answers == items else f" to {count(items, 'item')}")


def _points(comparison: Json) -> str:
    low, high = comparison["interval"]
    return f"{comparison['difference'] * 100:+.1f} points, 95% interval {low * 100:+.1f} to {high * 100:+.1f}"


def _unequal(comparison: Json, unit: str) -> str:
    return f", though not at equal cost: {_costs(comparison, unit)}" if comparison["pool_too_small"] else ""


def _costs(comparison: Json, unit: str) -> str:
    spent, own = cost(comparison["baseline_cost"], unit), cost(comparison["cost"], unit)
    samples = count(comparison["samples"], "sample")
    return f"the pool's {samples} cost {spent} an item, and {comparison['arm']} {own}"


def _with_failed(comparison: Json) -> str:
    low, high = comparison["counted_against"], comparison["counted_for"]
    return (
        f"on all items {low['difference'] * 100:+.1f} if what failed is counted against it, "
        f"{high['difference'] * 100:+.1f} if in its favour"
    )


def _failed(comparison: Json) -> str:
    """What failed debates mean for a finding that holds in spite of them."""
    if not comparison["failed_items"]:
        return ""
    items = count(comparison["failed_items"], "item")
    if comparison["finding"] == "can't tell":
        return f"; {items} left out, because debates failed"
    side = "against it" if comparison["finding"] == "helped" else "in its favour"
    return f", also if what failed, on {items}, is counted {side}"


def _silence(comparison: Json) -> str:
    """That one side has fewer answers than the other, which is not what is being compared."""
    own, other = comparison["no_answer"], comparison["baseline_no_answer"]
    if abs(own - other) < MARGIN:
        return ""
    answers = "answers" if comparison["samples"] is None else "samples"
    arm, baseline = comparison["arm"], comparison["baseline"]
    return f"; without an answer: {other:.1%} of the {answers} of {baseline}, {own:.1%} of {arm}"


def _doubts(comparison: Json) -> str:
    """Why an interval without 0 in it shows nothing."""
    low, high = comparison["interval"]
    if comparison["doubt"] == "arms":
        several = comparison["arms_compared"]
        return f", because {several} arms were compared and one of them can differ so much by chance"
    if comparison["finding"] == "can't tell" and (low > 0 or high < 0):
        return ", because the exact test does not agree with the interval: so few differ that it can be chance"
    return ""


def _more(comparison: Json) -> str:
    return f"; about {comparison['needed']:,} items would tell" if comparison["needed"] else ""
