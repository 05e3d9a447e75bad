"""What a report finds, from debates whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from html import escape
from typing import Any

import pytest

from moot.core.outcome import FinalAnswer, GivenAnswer, Outcome, VoteCast
from moot.core.types import ABSTAINS, Debate, Failure, SeatSpec
from moot.core.values import sha256_of
from moot.evaluate.folding import as_bytes, fold
from moot.evaluate.html import page
from moot.evaluate.model_grading import grading_id
from moot.evaluate.more import about_arms, more_about_arms
from moot.evaluate.plans import Arm, Cell, EvaluationPlan, blocks
from moot.evaluate.sentences import figures, missing
from moot.evaluate.tasks import Item, Task
from moot.store import Grade

ITEMS = 100
SAMPLES = 3

Right = Callable[[int], bool]


def pool(n: int) -> bool:
    return n < 50


def slightly_better(n: int) -> bool:
    """13 items gained, 4 lost: enough for one comparison at 5%, not for the better one of two."""
    return 4 <= n < 63


def planned(
    items: int = ITEMS, epochs: int = 1, samples: int = SAMPLES, cluster: str = "", tokens: int = 100, **arms: Right
) -> tuple[EvaluationPlan, dict[str, Debate]]:
    """`tokens`: what each debate writes; the pool writes 100."""
    asked = tuple(Item(id=str(n), question="2 + 2?", target="4", cluster=cluster) for n in range(items))
    plan = EvaluationPlan(
        task=Task(name="sums", kind="number", items=asked),
        arms=(Arm(name="pool", format="solo", baseline=True), *(Arm(name=name, format=name) for name in arms)),
        pool=samples,
        epochs=epochs,
    )
    made = {"pool": pool, **arms}
    cells: dict[str, Debate] = {}
    for cell in cells_of(plan):
        done = debate(cell.id, made[cell.arm.name](int(cell.item.id)), samples)
        cells[cell.id] = replace(done, tokens_out=100 if cell.arm.name == "pool" else tokens)
    return plan, cells


def cells_of(plan: EvaluationPlan, arm: str = "") -> list[Cell]:
    return [cell for block in blocks(plan) for cell in block.cells if arm in ("", cell.arm.name)]


def with_first(debate: Debate, values: Iterable[str | None], missed: int = 0) -> Debate:
    """With other first answers. `missed`: how many of the last seats a provider kept from answering."""
    assert debate.outcome is not None
    first = tuple(GivenAnswer(seat=str(n), value=value) for n, value in enumerate(values))
    votes = tuple(
        VoteCast(seat=each.seat, choice=ABSTAINS, key="" if n >= len(first) - missed else f"1/answer/{n}")
        for n, each in enumerate(first)
        if each.value is None
    )
    return replace(debate, outcome=debate.outcome.model_copy(update={"first_answers": first, "votes": votes}))


def report(**given: Any) -> dict[str, Any]:
    return fold(*planned(**given), {})


def debate(id: str, right: bool, samples: int = SAMPLES) -> Debate:
    value = "4" if right else "5"
    return Debate(
        id=id,
        topic="2 + 2?",
        format="any",
        format_version=1,
        status="completed",
        config={},
        cast=(),
        tokens_out=100,
        outcome=Outcome(
            winner="consensus",
            headline=value,
            ended_by="votes",
            verdict_source="rules",
            answer=FinalAnswer(kind="number", value=value),
            first_answers=tuple(GivenAnswer(seat=str(n), value=value) for n in range(samples)),
        ),
    )


def against_single(found: dict[str, Any], arm: str) -> dict[str, Any]:
    return next(each for each in found["comparisons"] if (each["arm"], each["baseline"]) == (arm, "single"))


def test_an_arm_that_is_compared_alone_helps_and_among_several_does_not():
    found = against_single(report(one=slightly_better), "one")
    assert (found["gained"], found["lost"], found["finding"], found["needed"]) == (13, 4, "helped", None)
    assert found["p_holm"] == found["p"] < 0.05
    assert "arms were compared" not in found["sentence"]
    both = report(one=slightly_better, other=pool)
    found = against_single(both, "one")
    assert (found["finding"], found["finding_alone"], found["arms_compared"]) == ("can't tell", "helped", 2)
    assert found["p_holm"] == 2 * found["p"] > 0.05
    assert found["needed"] > ITEMS
    assert found["sentence"].startswith("Whether one helps against single can't be told from 100 answers (+9.0 points")
    assert "because 2 arms were compared" in found["sentence"]
    hurt = against_single(report(one=lambda n: n < 20, other=pool), "one")
    assert hurt["finding"] == "hurt"  # far enough to hold among two
    assert "arms were compared" not in hurt["sentence"]


def never(n: int) -> bool:
    return False


def always(n: int) -> bool:
    return True


@pytest.mark.parametrize(("items", "epochs", "cluster"), [(1, 40, ""), (40, 1, "all of one kind")])
def test_one_item_or_cluster_never_shows_that_a_debate_helps(items: int, epochs: int, cluster: str):
    plan, cells = planned(items=items, epochs=epochs, cluster=cluster, one=always)
    wrong = {cell.id: debate(cell.id, False) for cell in cells_of(plan, "pool")}
    found = against_single(fold(plan, {**cells, **wrong}, {}), "one")
    assert (found["n"], found["difference"], found["finding"]) == (1, 1, "can't tell")


def test_items_that_would_tell_are_items_and_not_answers():
    once = against_single(report(items=60, one=lambda n: 2 <= n < 55), "one")
    often = against_single(report(items=60, epochs=5, one=lambda n: 2 <= n < 55), "one")
    assert (often["answers"], often["items"]) == (300, 60)
    assert once["needed"] > 60
    assert abs(often["needed"] - once["needed"]) <= 0.1 * once["needed"]  # as equal epochs show nothing more
    assert "can't be told from 300 answers to 60 items" in often["sentence"]


def test_a_pool_that_costs_less_than_the_debate_is_said_in_the_sentence_and_on_the_page():
    found = report(tokens=1000, one=slightly_better)
    short = next(each for each in found["comparisons"] if each["baseline"] == "self-consistency")
    assert short["pool_too_small"]
    assert (short["finding_alone"], short["finding"], short["doubt"]) == ("helped", "can't tell", "cost")
    assert short["sentence"].startswith("Whether one helps against self-consistency can't be told at equal cost (+9.0")
    said = "the pool's 3 samples cost 400 weighted tokens an item, and one 4,000 weighted"
    assert said in short["sentence"]
    worse = report(tokens=1000, one=lambda n: n < 20)["comparisons"][0]
    assert (worse["pool_too_small"], worse["finding"]) == (True, "hurt")
    assert f"). That was not at equal cost: {said}" in worse["sentence"]
    single = against_single(found, "one")
    assert single["finding"] == "helped"  # one sample is no more, and the sentence says so
    assert "That was not at equal cost: one cost 30 times as much" in single["sentence"]
    shown = page(found)
    assert escape(said) in shown
    assert "draw more samples: --pool, 64 at most" in shown
    assert f"[3 samples; p {short['p_holm']:.3f}; 4,000 weighted tokens an item against 400 weighted tokens]" in shown
    most = page(report(samples=64, items=2, tokens=1000, one=slightly_better))
    assert "draw more samples" not in most
    assert "at most 64 samples, so a debate as dear as this can&#x27;t be matched" in most
    assert "told at equal cost" not in page(report(one=slightly_better))


def test_a_debate_that_costs_more_than_a_baseline_with_debates_of_its_own_has_not_helped():
    plan, cells = planned(tokens=100, one=slightly_better, other=pool)
    arms = tuple(arm.model_copy(update={"baseline": arm.name != "one"}) for arm in plan.arms)
    plan = plan.model_copy(update={"arms": arms})
    same = dict(zip((cell.id for cell in cells_of(plan)), cells.values(), strict=True))  # the plan has another id
    dear = {cell.id: replace(same[cell.id], tokens_out=1800) for cell in cells_of(plan, "one")}
    for given, finding, doubt in ((same, "helped", None), (same | dear, "can't tell", "cost")):
        found = next(each for each in fold(plan, given, {})["comparisons"] if each["baseline"] == "other")
        assert (found["finding"], found["doubt"], found["needed"]) == (finding, doubt, None)
        assert found["baseline_cheaper"] == (doubt == "cost")
    assert found["sentence"] == (
        "Whether one helps against other can't be told at equal cost (+9.0 points, 95% interval "
        "+1.0 to +17.7): one cost 18 times as much, 7,200 weighted tokens an item against 400 weighted tokens."
    )


def test_a_debate_that_asks_another_model_than_the_baseline_has_not_helped():
    plan, cells = planned(one=slightly_better, two=lambda n: n < 20)

    def by(model: str, arm: str) -> dict[str, Debate]:
        seat = SeatSpec(id="a", name="A", role="member", model=model, max_tokens=100)
        return {cell.id: replace(cells[cell.id], cast=(seat,)) for cell in cells_of(plan, arm)}

    same = fold(plan, by("small", "pool") | by("small", "one") | by("small", "two"), {})
    assert not any("model" in each["sentence"] for each in same["comparisons"])
    other = fold(plan, by("small", "pool") | by("large", "one") | by("large", "two"), {})
    better, worse = (against_single(other, arm) for arm in ("one", "two"))
    assert (better["finding"], better["doubt"], better["needed"]) == ("can't tell", "models", None)
    assert better["sentence"].startswith(
        "Whether one helps against single can't be told, because it may be the models ("
    )
    assert "one asked large, single small." in better["sentence"]
    assert (worse["finding"], worse["doubt"]) == ("hurt", None)
    assert worse["sentence"].endswith(" The models differ: two asked large, single small.")


def test_more_items_would_not_tell_where_the_pool_costs_less():
    assert report(one=lambda n: n < 52)["comparisons"][0]["needed"] > ITEMS
    found = report(tokens=1000, one=lambda n: n < 52)["comparisons"][0]
    assert (found["finding"], found["pool_too_small"]) == ("can't tell", True)
    assert (found["difference"] > 0, found["needed"]) == (True, None)
    assert "would tell" not in found["sentence"]


def test_an_interval_with_which_the_exact_test_does_not_agree_is_explained():
    found = against_single(report(items=54, one=lambda n: n < 54), "one")  # 4 gained, none lost
    assert (found["finding"], found["interval"][0] > 0) == ("can't tell", True)
    assert "because the exact test does not agree with the interval" in found["sentence"]


def test_what_is_hardly_by_chance_is_not_said_to_be_impossible():
    surely = report(good=always)["comparisons"][0]
    assert surely["p_holm"] < 0.0005
    assert "p < 0.001;" in figures(surely, "tokens")


def test_more_about_each_arm_is_shown_where_it_is_known():
    plan, cells = planned(items=10, one=lambda n: n < 5)
    one = {cell.id for cell in cells_of(plan, "one")}

    def changed(each: Debate) -> Debate:
        """Whose votes are tied, with an answer on which the tied agree, or without one."""
        assert each.outcome is not None
        assert each.outcome.answer is not None
        answer = each.outcome.answer if each.outcome.answer.value == "4" else None
        return replace(
            each,
            cost_usd=0.5,
            started_at=10.0,
            completed_at=13.0,
            outcome=each.outcome.model_copy(update={"winner": "tie", "flip_rate": 0.5, "answer": answer}),
        )

    found = fold(plan, {id: changed(each) if id in one else each for id, each in cells.items()}, {})
    head, rows = more_about_arms(found)
    by_arm = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert by_arm["one"] == {
        "arm": "one",
        "undecided": "0",
        "ties": "5",
        "flips": "50.0% (23.7% to 76.3%)",
        "usd/right": "$1.00",
        "tokens/right": "200",
        "p50": "3.0s",
        "p95": "3.0s",
        "voters worth": "1.0 of 3",
        "majority predicted": "50.0%",
        "observed": "50.0%",
    }
    assert (by_arm["single"]["ties"], by_arm["single"]["usd/right"]) == ("", "$0")
    shown = page(found)
    assert all(f"<td>{escape(value)}</td>" in shown for value in by_arm["one"].values())
    dropped = more_about_arms(report(items=10, one=never))[0]
    assert "flips" not in dropped
    assert "ties" in dropped


def test_what_is_missing_is_said_with_its_cause():
    plan, cells = planned(items=6, one=pool)
    planned_blocks = list(blocks(plan))
    broken = planned_blocks[1].cells[1].id
    for cell in planned_blocks[2].cells:
        del cells[cell.id]
    failure = Failure(kind="unavailable", message="The provider did not answer.")
    cells[broken] = replace(cells[broken], status="failed", outcome=None, error=failure)
    pending = planned_blocks[3].cells[0].id
    cells[pending] = replace(cells[pending], status="pending", outcome=None)
    found = fold(plan, cells, {})
    assert (found["complete"], found["unfinished"], found["not_begun"], found["cut_by"]) == (3, 2, 1, None)
    assert found["failed"] == [
        {
            "arm": "one",
            "item": "1",
            "epoch": 1,
            "debate": broken,
            "cause": "The provider did not answer.",
            "deleted": False,
        }
    ]
    assert missing(found) == [
        "1 item not begun yet.",
        "1 item left out, because a debate failed or was stopped.",
        "1 item begun and not finished.",
    ]
    shown = page(found)
    assert f"<td>The provider did not answer.</td><td><code>moot show {broken}</code></td>" in shown
    assert "3 items can&#x27;t show anything, however the arms differ: they are too few." in shown
    assert missing(fold(plan, cells, {}, stopped=True))[0] == "1 item not begun: it was stopped."
    arms = tuple(arm.model_copy(update={"worst_tokens": 300, "worst_usd": 0.1}) for arm in plan.arms)
    priced = plan.model_copy(update={"max_output_tokens": 1500, "max_cost_usd": 1.0, "arms": arms})
    moved = {
        new.id: cells[old.id] for new, old in zip(cells_of(priced), cells_of(plan), strict=True) if old.id in cells
    }
    assert missing(fold(priced, moved, {}))[0] == (
        "1 item not begun: the budget does not last: 1,000 of 1,500 output tokens are used, and an item can take 600."
    )


def test_items_link_to_their_debates_where_there_is_a_dashboard():
    found = report(items=2, one=pool)
    id = found["cells"][0]["debate"]
    assert f"<code>moot show {id}</code>" in page(found)
    assert f'<a href="http://here:1/debates/{id}">{id[:8]}</a>' in page(found, "http://here:1/")


def test_what_a_model_graded_is_never_a_finding():
    plan, cells = planned(one=slightly_better)
    texts = tuple(Item(id=str(n), question="2 + 2?", target="4") for n in range(ITEMS))
    task = Task(name="sums", kind="text", score="graded", items=texts)
    judge = Arm(name="judge", format="solo", settings={"model_debater": "sim:"})
    graded = EvaluationPlan(task=task, arms=plan.arms, pool=SAMPLES, judge=judge)
    old = [cells[cell.id] for cell in cells_of(plan)]
    moved = {new.id: replace(each, id=new.id) for new, each in zip(cells_of(graded), old, strict=True)}
    grades = {
        (item.id, sha256_of(value)): Grade(item=item.id, answer=sha256_of(value), passed=value == "4", examples=0)
        for item in texts
        for value in ("4", "5")
    }
    found = fold(graded, moved, grades)
    one = against_single(found, "one")
    assert (one["finding"], one["finding_alone"], one["needed"]) == ("can't tell", "helped", None)
    assert one["sentence"].startswith("Whether one helps against single is not said, because a model graded the")
    assert found["graded_by"] == {"model": "sim:", "rubric": task.rubric, "same_family": False}
    assert "graded by a model, sim:, not by code" in page(found)
    assert found["cells"][0]["graded_in"] == grading_id(graded, "0", sha256_of("4"))
    short = fold(graded, moved, {key: each for key, each in grades.items() if key[0] != "7"})
    assert (short["complete"], short["ungraded"], short["unfinished"]) == (ITEMS - 1, 1, 1)


def test_the_order_in_which_cells_were_stored_makes_no_difference():
    plan, cells = planned(one=slightly_better)
    priced = {id: replace(each, cost_usd=0.1 * (n % 7) + 1e-17 * n) for n, (id, each) in enumerate(cells.items())}
    found = fold(plan, priced, {})
    assert as_bytes(found) == as_bytes(fold(plan, dict(reversed(priced.items())), {}))
    assert round(found["spent"]["usd"], 6) == round(sum(0.1 * (n % 7) for n in range(2 * ITEMS)), 6)


def broken(plan: EvaluationPlan, cells: dict[str, Debate], arm: str, failed: Right) -> dict[str, Debate]:
    return cells | {
        cell.id: replace(cells[cell.id], status="failed", outcome=None)
        for cell in cells_of(plan, arm)
        if failed(int(cell.item.id))
    }


@pytest.mark.parametrize(("arm", "items", "worst"), [("one", range(36, 50), -5), ("pool", range(63, 100), -28)])
def test_an_arm_has_not_helped_if_failed_debates_could_undo_it(arm: str, items: range, worst: int):
    plan, cells = planned(one=slightly_better)
    found = against_single(fold(plan, broken(plan, cells, arm, items.__contains__), {}), "one")
    assert (found["finding_alone"], found["finding"], found["doubt"]) == ("helped", "can't tell", "failed")
    assert (found["answers"], found["failed_items"], found["needed"]) == (ITEMS - len(items), len(items), None)
    assert found["counted_against"]["finding"] != "helped"
    assert found["sentence"].startswith(
        f"Whether one helps against single can't be told, because debates failed on {len(items)} items (+1"
    )
    low, high = (found[each]["difference"] * 100 for each in ("counted_against", "counted_for"))
    assert (round(low), round(high)) == (worst, 9)
    assert f"on all items {low:+.1f} if what failed is counted against it, {high:+.1f} if in" in found["sentence"]


def as_often(n: int) -> bool:
    """Right as often as the pool: on ten items that it has wrong, and not on its first ten."""
    return 10 <= n < 60


def without(cells: dict[str, Debate], deleted: Collection[str]) -> dict[str, Debate]:
    return {id: each for id, each in cells.items() if id not in deleted}


def test_debates_that_were_deleted_count_as_failed_whatever_they_found():
    plan, cells = planned(one=pool)  # no better than one sample
    wrong = [cell.id for cell in cells_of(plan, "one") if int(cell.item.id) >= 70]
    kept = without(cells, wrong)
    found = fold(plan, kept, {}, deleted=wrong)
    same = fold(plan, broken(plan, cells, "one", lambda n: n >= 70), {})
    one, failed = against_single(found, "one"), against_single(same, "one")
    assert one == failed
    assert (one["failed_items"], one["counted_against"]["difference"]) == (30, 0)
    assert found["arms"]["one"]["failed"] == 30
    assert [(each["cause"], each["deleted"]) for each in found["failed"]] == [("it was deleted", True)] * 30
    assert (found["deleted"], found["complete"], found["unfinished"], found["not_begun"]) == (30, 70, 30, 0)
    assert missing(found) == [
        "30 items left out, because a debate was deleted, which counts as failed.",
        "What is shown as spent is without 30 debates that were deleted.",
    ]
    assert missing(found)[0] in page(found)
    plan, cells = planned(one=as_often)
    lost = [cell.id for cell in cells_of(plan, "one")[:10]]
    kept = without(cells, lost)
    assert against_single(fold(plan, kept, {}, deleted=lost), "one")["finding_alone"] == "helped"
    taken_back = against_single(fold(plan, kept, {}, deleted=lost), "one")
    assert (taken_back["finding"], taken_back["doubt"]) == ("can't tell", "failed")
    assert "because debates failed on 10 items (+11.1 points" in taken_back["sentence"]
    assert "+0.0 if what failed is counted against it" in taken_back["sentence"]
    everything = [cell.id for cell in cells_of(plan)]
    assert fold(plan, {}, {}, deleted=everything)["not_begun"] == 0


def test_items_that_were_begun_and_not_finished_count_as_failed_items_do_and_are_not_called_so():
    plan, cells = planned(one=as_often, other=as_often)
    late = [cell.id for cell in cells_of(plan, "one")[:10]]
    running = {id: replace(cells[id], status="running", outcome=None) for id in late[1:]}
    found = fold(plan, without(cells, late[:1]) | running, {})  # of the first, there is no debate yet
    one = against_single(found, "one")
    assert (one["finding"], one["failed_items"], one["unfinished_items"]) == ("can't tell", 10, 10)
    assert "because debates are unfinished on 10 items (+11.1 points" in one["sentence"]
    assert "if what is unfinished is counted against it" in one["sentence"]
    assert against_single(found, "other")["unfinished_items"] == 10  # its own debates have ended
    assert missing(found) == ["10 items begun and not finished."]
    both = against_single(fold(plan, broken(plan, cells | running, "one", lambda n: n >= 98), {}), "one")
    assert "because debates failed on 2 items and debates are unfinished on 9 items (" in both["sentence"]
    assert "if what failed or what is unfinished is counted against it" in both["sentence"]
    plan, cells = planned(one=lambda n: n < 90)
    ungraded = {cell.id: replace(cells[cell.id], outcome=None) for cell in cells_of(plan, "pool")[98:]}
    stays = against_single(fold(plan, cells | ungraded, {}), "one")
    assert (stays["finding"], stays["unfinished_items"]) == ("helped", 2)
    assert "also if what is unfinished, on 2 items, is counted against it" in stays["sentence"]
    plan, cells = planned(items=20, one=pool)
    few = fold(plan, without(cells, [cells_of(plan, "one")[0].id]), {})
    assert "; 1 item left out, because debates are unfinished. That" in against_single(few, "one")["sentence"]


def test_what_a_deleted_or_unfinished_debate_costs_is_as_much_as_the_dearest():
    plan, cells = planned(samples=8, tokens=25, one=always)
    ids = [cell.id for cell in cells_of(plan, "one")]
    kept = without(cells | {ids[0]: replace(cells[ids[0]], tokens_out=75)}, ids[50:])
    for deleted in ((), ids[50:]):
        found = fold(plan, kept, {}, deleted=deleted)["comparisons"][0]
        assert (found["samples"], found["counted_for"]["samples"], found["counted_against"]["samples"]) == (3, 3, 5)


def test_a_budget_counts_what_deleted_debates_can_have_cost():
    plan, cells = planned(items=10, one=pool)
    arms = tuple(arm.model_copy(update={"worst_tokens": 300}) for arm in plan.arms)
    limited = plan.model_copy(update={"arms": arms, "max_output_tokens": 1700})
    moved = {new.id: cells[old.id] for new, old in zip(cells_of(limited), cells_of(plan), strict=True)}
    begun = cells_of(limited)[:10]
    spent = {cell.id: moved[cell.id] for cell in begun}  # 1,000 tokens, and an item can take 600
    assert fold(limited, spent, {})["cut_by"] is None
    found = fold(limited, without(spent, [begun[0].id]), {}, deleted=[begun[0].id])
    assert found["cut_by"] == "budget"
    assert missing(found)[0] == (
        "5 items not begun: the budget does not last: 1,200 of 1,700 output tokens are used, counting 1 deleted debate "
        "at worst, and an item can take 600."
    )
    assert missing(found)[-1] == "What is shown as spent is without 1 debate that was deleted."


def test_a_finding_that_holds_however_failures_are_counted_stays():
    plan, cells = planned(one=lambda n: n < 90)
    found = fold(plan, broken(plan, cells, "one", lambda n: n >= 98), {})
    better = against_single(found, "one")
    assert (better["finding"], better["failed_items"], found["arms"]["one"]["failed"]) == ("helped", 2, 2)
    assert "also if what failed, on 2 items, is counted against it" in better["sentence"]
    plan, cells = planned(one=lambda n: n < 10)
    worse = against_single(fold(plan, broken(plan, cells, "one", lambda n: n >= 98), {}), "one")
    assert (worse["finding"], worse["counted_for"]["finding"]) == ("hurt", "hurt")
    assert "on 2 items, is counted in its favour" in worse["sentence"]
    head, rows = about_arms(found)
    assert dict(zip(head, rows[-1], strict=True))["failed"] == "2"
    assert "failed" not in about_arms(report(one=pool))[0]


def test_what_a_failed_debate_had_cost_counts_for_the_samples_that_it_is_compared_with():
    plan, cells = planned(samples=8, tokens=25, one=always)
    dear = {cell.id: replace(cells[cell.id], tokens_out=2000) for cell in cells_of(plan, "one") if cell.item.id == "99"}
    found = fold(plan, broken(plan, cells | dear, "one", lambda n: n == 99), {})["comparisons"][0]
    assert (found["baseline"], found["samples"]) == ("self-consistency", 2)
    assert (found["counted_against"]["samples"], found["counted_for"]["samples"]) == (4, 2)


def test_samples_without_an_answer_are_shown_and_said():
    plan, cells = planned(one=pool)
    silent = {cell.id: with_first(cells[cell.id], ["4", None, None]) for cell in cells_of(plan, "pool")}
    found = fold(plan, cells | silent, {})
    single = found["baselines"]["single"]
    assert single["samples"] == {"given": 300, "no_answer": 200, "missed": 0, "left_out": 0}
    assert (round(single["no_answer"], 6), found["baselines"]["self-consistency of 3"]["no_answer"]) == (66.666667, 0)
    head, rows = about_arms(found)
    assert dict(zip(head, rows[0], strict=True))["no answer"] == "66.7% (200 of 300 samples)"
    assert "66.7% (200 of 300 samples)" in page(found)
    compared = against_single(found, "one")
    assert (compared["no_answer"], round(compared["baseline_no_answer"], 3)) == (0, 0.667)
    assert "; without an answer: 66.7% of the samples of single, 0.0% of one. That" in compared["sentence"]
    assert "without an answer" not in against_single(report(one=pool), "one")["sentence"]


def test_an_even_number_of_voters_has_one_majority():
    plan, cells = planned(one=pool)
    for n, cell in enumerate(cells_of(plan, "one")):
        cells[cell.id] = with_first(cells[cell.id], ["4", "4", "5", "5"] if n % 2 else ["4", "5", "5", "4"])
    voters = fold(plan, cells, {})["arms"]["one"]["voters"]
    assert (voters["voters"], voters["majority_of"], voters["majority_observed"]) == (4, 3, 0.5)
    head, rows = more_about_arms(fold(plan, cells, {}))
    assert dict(zip(head, rows[-1], strict=True))["observed"] == "50.0% (of 3)"


def test_what_a_debate_added_has_an_interval_and_ties_are_counted_as_likely():
    plan, cells = planned(one=pool)
    for cell in cells_of(plan, "one"):
        cells[cell.id] = with_first(cells[cell.id], ["4", "5"])
    found = fold(plan, cells, {})
    first = found["arms"]["one"]["first_vote"]
    assert (first["accuracy"], first["ties"], first["repaired"], first["added"]["difference"]) == (0.5, 100, 0, 0)
    low, high = first["added"]["interval"]
    assert low < 0 < high
    shown = f"+0.0 ({low * 100:+.1f} to {high * 100:+.1f})"
    head, rows = about_arms(found)
    assert dict(zip(head, rows[-1], strict=True))["added"] == shown
    assert page(found).count(f"<td>{shown}</td>") == 2
    for cell in cells_of(plan, "one"):
        cells[cell.id] = with_first(cells[cell.id], ["5", "5", "5"])
    added = fold(plan, cells, {})["arms"]["one"]["first_vote"]["added"]
    assert (added["difference"], added["interval"][0] > 0.4, added["p"] < 0.001) == (0.5, True, True)


def test_flips_of_one_item_asked_often_are_no_more_than_one_item():
    def flips(epochs: int) -> list[float]:
        plan, cells = planned(items=20, epochs=epochs, one=pool)
        for cell in cells_of(plan, "one"):
            outcome = cells[cell.id].outcome
            assert outcome is not None
            flipped = outcome.model_copy(update={"flip_rate": float(int(cell.item.id) < 5)})
            cells[cell.id] = replace(cells[cell.id], outcome=flipped)
        return fold(plan, cells, {})["arms"]["one"]["flips"]["interval"]

    once, often = flips(1), flips(10)
    assert often[1] - often[0] > 0.9 * (once[1] - once[0])
