"""What a report says in words: what comparisons have found, and what is missing. The same wherever it is shown."""

from __future__ import annotations

from moot.core.amounts import count, listed, money, p_value
from moot.core.types import Json
from moot.evaluate.comparing import MARGIN
from moot.evaluate.plans import MOST_POOL

DEARER = 1.05  # times what the baseline costs: less is not worth a remark


def sentence(comparison: Json, unit: str) -> str:
    """What one arm did against a baseline."""
    arm, baseline = comparison["arm"], comparison["baseline"]
    whether, points = f"Whether {arm} helps against {baseline} can't be told", _points(comparison)
    if not comparison["answers"]:
        return f"{whether}{_failed(comparison)}."
    if comparison["doubt"] == "failed":
        said = f"{whether}, {_because_of_failed(comparison, points, 'it')}"
        return f"{said}{_silence(comparison)}.{_remarks(comparison, unit)}"
    if comparison["doubt"] == "cost":
        said = f"{whether} at equal cost ({points}): {_costs(comparison, unit)}"
        return f"{said}{_silence(comparison)}.{_remarks(comparison, unit)}"
    if comparison["doubt"] == "models":
        said = f"{whether}, because it may be the models ({points}): {_models(comparison)}"
        return f"{said}{_silence(comparison)}.{_remarks(comparison, unit)}"
    said = {
        "helped": f"{arm} helped against {baseline}",
        "hurt": f"{arm} hurt against {baseline}",
        "did not help": f"{arm} did not help against {baseline}",
        "can't tell": f"{whether} from {_answers(comparison)}",
    }[comparison["finding"]]
    doubts = f"{_doubts(comparison)}{_more(comparison)}{_failed(comparison)}{_silence(comparison)}"
    return f"{said} ({points}){doubts}.{_remarks(comparison, unit)}"


def sentence_without_finding(comparison: Json, unit: str) -> str:
    """The same where a model graded the answers, so that nothing is found."""
    return (
        f"Whether {comparison['arm']} helps against {comparison['baseline']} is not said, because a model graded the "
        f"answers ({_points(comparison)}).{_remarks(comparison, unit)}"
    )


def sentence_between(comparison: Json) -> str:
    """What one arm did in the second of two evaluations, against the first."""
    arm = comparison["arm"]
    better = f"{arm} does better in the second evaluation"
    whether, points = f"Whether {better}", _points(comparison)
    if not comparison["answers"]:
        return f"{whether} can't be told{_failed(comparison)}."
    if comparison["graded"]:
        return f"{whether} is not said, because a model graded the answers ({points}){_failed(comparison)}."
    if comparison["doubt"] == "failed":
        return f"{whether} can't be told, {_because_of_failed(comparison, points, 'the second')}."
    said = {
        "helped": better,
        "hurt": f"{arm} does worse in the second evaluation",
        "did not help": f"{arm} does no better in the second evaluation",
        "can't tell": f"{whether} can't be told from {_answers(comparison)}",
    }[comparison["finding"]]
    return f"{said} ({points}){_doubts(comparison)}{_more(comparison)}{_failed(comparison)}."


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
    failed = {each["item"] for each in report["failed"] if not each["deleted"]}
    deleted = {each["item"] for each in report["failed"]} - failed
    if failed:
        said.append(f"{count(len(failed), 'item')} left out, because a debate failed or was stopped.")
    if deleted:
        said.append(f"{count(len(deleted), 'item')} left out, because a debate was deleted, which counts as failed.")
    if n := report["deleted"]:
        said.append(
            f"What is shown as spent is without {count(n, 'debate')} that {'was' if n == 1 else 'were'} deleted."
        )
    for name, each in report["baselines"].items():
        if n := each["samples"]["left_out"]:
            said.append(f"{name} is without {count(n, 'answer')}, for which too few samples could be drawn.")
    if n := report["ungraded"]:
        said.append(f"{count(n, 'item')} left out, because an answer has no grade.")
    if (n := report["unfinished"] - report["ungraded"] - len(failed | deleted)) > 0:
        said.append(f"{count(n, 'item')} begun and not finished.")
    return said


def short_of_budget(report: Json) -> str:
    """Why a budget that is not used up allows no other item; empty without a budget."""
    budget, spent = report["budget"], report["spent"]
    if not budget:
        return ""
    why: list[str] = []
    n = report["deleted"]
    gone = f", counting {count(n, 'deleted debate')} at worst" if n else ""
    most, worst = budget["max_cost_usd"], budget["worst_item_usd"]
    used = None if None in (spent["usd"], budget["worst_deleted_usd"]) else spent["usd"] + budget["worst_deleted_usd"]
    if most is not None and (used is None or worst is None or used + worst > most):
        item = "what an item costs is not known" if worst is None else f"an item can cost {money(worst)}"
        why.append(f"{money(used)} of {money(most)} is spent{gone}, and {item}")
    most, worst = budget["max_output_tokens"], budget["worst_item_output_tokens"]
    used = spent["tokens_out"] + budget["worst_deleted_output_tokens"]
    if most is not None and used + worst > most:
        why.append(f"{used:,} of {most:,} output tokens are used{gone}, and an item can take {worst:,}")
    return ": ".join(("the budget does not last", *filter(None, ["; ".join(why)])))


def cost(amount: float, unit: str) -> str:
    return money(amount) if unit == "usd" else f"{amount:,.0f} weighted tokens"


def _answers(comparison: Json) -> str:
    answers, items = comparison["answers"], comparison["items"]
    return count(answers, "answer") + ("" if answers == items else f" to {count(items, 'item')}")


def _points(comparison: Json) -> str:
    low, high = comparison["interval"]
    return f"{comparison['difference'] * 100:+.1f} points, 95% interval {low * 100:+.1f} to {high * 100:+.1f}"


def _remarks(comparison: Json, unit: str) -> str:
    """In what else the two differ, in sentences of their own: the cost, and the models that were asked."""
    said: list[str] = []
    if comparison["doubt"] != "cost" and comparison["cost"] > comparison["baseline_cost"] * DEARER:
        said.append(f" That was not at equal cost: {_costs(comparison, unit)}.")
    known = comparison["models"] and comparison["baseline_models"]
    if known and comparison["doubt"] != "models" and comparison["models"] != comparison["baseline_models"]:
        said.append(f" The models differ: {_models(comparison)}.")
    return "".join(said)


def _costs(comparison: Json, unit: str) -> str:
    spent, own = cost(comparison["baseline_cost"], unit), cost(comparison["cost"], unit)
    arm, ratio = comparison["arm"], comparison["cost"] / (comparison["baseline_cost"] or comparison["cost"] or 1.0)
    if comparison["pool_too_small"]:
        return f"the pool's {count(comparison['samples'], 'sample')} cost {spent} an item, and {arm} {own}"
    return f"{arm} cost {ratio:.{0 if ratio >= 10 else 1}f} times as much, {own} an item against {spent}"


def _models(comparison: Json) -> str:
    own, other = (listed(comparison[key]) for key in ("models", "baseline_models"))
    return f"{comparison['arm']} asked {own}, {comparison['baseline']} {other}"


def _because_of_failed(comparison: Json, points: str, whom: str) -> str:
    """What kept a comparison from a finding: `whom` what failed is counted against."""
    low, high = comparison["counted_against"], comparison["counted_for"]
    samples, unfinished = comparison["failed_samples"], comparison["unfinished_items"]
    lost = {
        "debates failed": comparison["failed_items"] - samples - unfinished,
        "samples failed": samples,
        "debates are unfinished": unfinished,
    }
    where = " and ".join(f"{what} on {count(items, 'item')}" for what, items in lost.items() if items)
    return (
        f"because {where} ({points} on the others; on all items {low['difference'] * 100:+.1f} if {_lost(comparison)} "
        f"is counted against {whom}, {high['difference'] * 100:+.1f} if in its favour)"
    )


def _lost(comparison: Json) -> str:
    unfinished = comparison["unfinished_items"]
    failed = "what failed" if comparison["failed_items"] > unfinished else ""
    return " or ".join(filter(None, (failed, "what is unfinished" if unfinished else "")))


def _failed(comparison: Json) -> str:
    """What failed debates or samples mean for a finding that holds in spite of them."""
    if not comparison["failed_items"]:
        return ""
    items, samples = count(comparison["failed_items"], "item"), comparison["failed_samples"]
    unfinished = comparison["unfinished_items"]
    if comparison["finding"] == "can't tell":
        what = ("debates" if comparison["failed_items"] > samples + unfinished else "", "samples" if samples else "")
        failed = f"{' or '.join(filter(None, what))} failed" if any(what) else ""
        why = " or ".join(filter(None, (failed, "debates are unfinished" if unfinished else "")))
        return f"; {items} left out, because {why}"
    side = "against it" if comparison["finding"] == "helped" else "in its favour"
    return f", also if {_lost(comparison)}, on {items}, is counted {side}"


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
