"""What each arm made of each item, read from the debates of an evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal

from moot.core.answers import same_as
from moot.core.types import ABSTAINS, TIE, UNDECIDED, Debate, GivenAnswer, Usage, record
from moot.core.values import sha256_of
from moot.evaluate.intervals import Pairs, expected_pairs
from moot.evaluate.plans import MAJORITY, Block, Cell, EvaluationPlan
from moot.evaluate.pool import Pool, Votes
from moot.evaluate.tasks import Item
from moot.store import Grade

OUT_WEIGHT = 4  # where prices are not known, a token that is written counts as so many that are read
DIGITS = 12  # of US dollars

Lost = Literal["", "debate", "samples"]
Grades = Mapping[tuple[str, str], Grade]  # by item and the hash of the answer


@record
class Row:
    """What one arm made of one item in one epoch."""

    item: str
    epoch: int
    cluster: str
    score: float  # 0 or 1; of a baseline from the pool, how likely it is right
    usd: float | None
    tokens_in: float
    tokens_out: float
    debate: str = ""
    models: Sequence[str] = ()  # that were asked
    value: str | None = None
    undecided: bool = False
    tie: bool = False
    flip_rate: float | None = None
    first: Sequence[bool] = ()  # which first answers were right
    first_vote: str = ""  # "right", "wrong", "tie" or "none"
    first_score: float = 0.0  # of that vote; of a tie, how likely it is right when one of the tied is drawn
    stated: float | None = None
    agreement: float | None = None
    seconds: float = 0.0
    drawn: bool = False  # computed from the pool
    no_answer: float = 0.0  # 1 if there is none; of a baseline from the pool, how likely that is
    samples: int = 0  # in the pool
    silent: int = 0  # of these, without a valid answer
    missed: int = 0  # samples beside these that a provider or a limit kept from being drawn
    lost: Lost = ""  # the score means nothing: the debate failed, or samples were missed that are needed
    unfinished: bool = False  # the item is left out, though nothing of it failed: a debate has not ended yet

    def cost(self, unit: str) -> float:
        """In US dollars, or in tokens, weighted by what they usually cost."""
        return (self.usd or 0.0) if unit == "usd" else self.tokens_in + OUT_WEIGHT * self.tokens_out


def pairs_of(rows: Iterable[tuple[Row, Row]]) -> Pairs:
    """Pairs of the same items, in clusters where items are related or asked several times."""
    clusters: dict[str, list[tuple[float, float]]] = {}
    for row, other in rows:
        assert (row.item, row.epoch) == (other.item, other.epoch)
        clusters.setdefault(row.cluster, []).append((row.score, other.score))
    return expected_pairs(list(clusters.values()))


@record
class Drawing:
    """The pool of one item in one epoch, and the row of its debate."""

    row: Row
    pool: Pool


@record
class Arms:
    """The rows of blocks, by arm, and the samples of each pool."""

    rows: Mapping[str, list[Row]]
    pools: Mapping[str, list[Drawing]]


@record
class Scored:
    """Which answers are right."""

    plan: EvaluationPlan
    grades: Grades

    def right(self, item: Item, value: str | None) -> bool:
        if not self.plan.task.graded:
            return self.plan.task.right(item, value)
        return value is not None and self.grades[item.id, sha256_of(value)].passed

    def examples(self, item: Item, value: str) -> int:
        return self.grades[item.id, sha256_of(value)].examples


def dollars(usage: Usage) -> float | None:
    """What it cost, without the last digits, which depend on the order in which parts were added up."""
    return None if usage.cost_usd is None else round(usage.cost_usd, DIGITS)


def is_complete(plan: EvaluationPlan, block: Block, cells: Mapping[str, Debate], grades: Grades) -> bool:
    """Whether all debates of a block have ended, and every answer is graded where answers are run."""
    return all(_is_done(plan, cell, cells, grades) for cell in block.cells)


def _is_done(plan: EvaluationPlan, cell: Cell, cells: Mapping[str, Debate], grades: Grades) -> bool:
    if not _has_outcome(cells.get(cell.id)):
        return False
    return not plan.task.graded or all((cell.item.id, name) in grades for name in _answers(plan, cell, cells))


def _has_outcome(debate: Debate | None) -> bool:
    return debate is not None and debate.status == "completed" and debate.outcome is not None


def to_grade(plan: EvaluationPlan, block: Block, cells: Mapping[str, Debate]) -> dict[str, str]:
    """The answers of a block that are graded, by their hashes: those that its debates came to, and the first ones. A
    judge model reads of first answers those of the pool only."""
    found: dict[str, str] = {}
    for cell in block.cells:
        found |= _answers(plan, cell, cells)
    return found


def _answers(plan: EvaluationPlan, cell: Cell, cells: Mapping[str, Debate]) -> dict[str, str]:
    debate = cells.get(cell.id)
    if debate is None or debate.outcome is None or not _has_outcome(debate):
        return {}
    first = debate.outcome.first_answers if plan.task.tested or cell.arm.name in plan.pools else ()
    given = [debate.outcome.answer, *first]
    return {sha256_of(each.value): each.value for each in given if each is not None and each.value is not None}


def has_failed(cell: Cell, cells: Mapping[str, Debate], deleted: Collection[str]) -> bool:
    """Whether a cell has no answer and gets none by itself."""
    debate = cells.get(cell.id)
    return cell.id in deleted or (debate is not None and debate.status in ("failed", "canceled", "stopped"))


def rows_of(
    plan: EvaluationPlan,
    read: Sequence[Block],
    cells: Mapping[str, Debate],
    grades: Grades,
    deleted: Collection[str] = (),
) -> Arms:
    """The rows of these blocks. A cell that is not done is a lost row. `deleted`: ids of debates that were."""
    rows: dict[str, list[Row]] = {arm.name: [] for arm in plan.arms}
    pools: dict[str, list[Drawing]] = {name: [] for name in plan.pools}
    scored = Scored(plan=plan, grades=grades)
    for block in read:
        whole = is_complete(plan, block, cells, grades)
        unfinished = not whole and not any(has_failed(cell, cells, deleted) for cell in block.cells)
        for cell in block.cells:
            done = whole or _is_done(plan, cell, cells, grades)
            row = _row(scored, block, cell.epoch, cells[cell.id]) if done else _lost_row(cell, cells.get(cell.id))
            row = replace(row, unfinished=True) if unfinished else row
            rows[cell.arm.name].append(row)
            if cell.arm.name in pools:
                by_model = plan.pools[cell.arm.name] == MAJORITY
                pool = _pool(scored, block, cells[cell.id], by_model=by_model) if done else Pool()
                pools[cell.arm.name].append(Drawing(row=row, pool=pool))
    return Arms(rows=rows, pools=pools)


def _lost_row(cell: Cell, debate: Debate | None) -> Row:
    usage = Usage() if debate is None else debate.usage
    return Row(
        item=cell.item.id,
        epoch=cell.epoch,
        cluster=cell.item.cluster or cell.item.id,
        score=0.0,
        usd=dollars(usage),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        debate=cell.id,
        lost="debate",
    )


def _row(scored: Scored, block: Block, epoch: int, debate: Debate) -> Row:
    item, outcome = block.item, debate.outcome
    assert outcome is not None
    value = None if outcome.answer is None else outcome.answer.value
    usage = debate.usage
    spec = scored.plan.task.answer(item)
    form = None if value is None else same_as(value, spec)
    backers = [each for each in outcome.first_answers if each.value is not None and same_as(each.value, spec) == form]
    stated = [each.confidence for each in backers if each.confidence is not None]
    vote, vote_score = _vote(scored, block, outcome.first_answers)
    return Row(
        item=item.id,
        epoch=epoch,
        cluster=item.cluster or item.id,
        score=float(scored.right(item, value)),
        usd=dollars(usage),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        debate=debate.id,
        models=sorted({seat.model for seat in debate.cast}),
        value=value,
        undecided=outcome.winner == UNDECIDED,
        tie=outcome.winner == TIE and value is None,  # members whose opinions rank alike may give one answer
        flip_rate=outcome.flip_rate,
        first=[] if scored.plan.task.by_model else [scored.right(item, each.value) for each in outcome.first_answers],
        first_vote=vote,
        first_score=vote_score,
        stated=fmean(stated) if stated else None,
        agreement=outcome.support,
        seconds=max(0.0, (debate.completed_at or 0.0) - (debate.started_at or 0.0)),
        no_answer=float(value is None),
    )


def _vote(scored: Scored, block: Block, first: Sequence[GivenAnswer]) -> tuple[str, float]:
    """What the first answers come to before any debate, by plurality, and how likely that is right: of answers that
    are equally frequent, each counts as likely, as in a pool."""
    if scored.plan.task.graded:
        return "", 0.0  # no two codes are the same, and no judge has read these
    counted = Counter(_form(scored, block.item, each.value) for each in first if each.value is not None)
    if not counted:
        return ("none" if first else ""), 0.0
    most = max(counted.values())
    leading = [form for form, count in counted.items() if count == most]
    score = (None in leading) / len(leading)
    if len(leading) > 1:
        return "tie", score
    return ("right" if score else "wrong"), score


def _form(scored: Scored, item: Item, value: str) -> str | None:
    """What answers are counted by: None for right ones, however they are written; wrong ones are the same if they
    differ in their writing only."""
    return None if scored.right(item, value) else same_as(value, scored.plan.task.answer(item))


def _pool(scored: Scored, block: Block, debate: Debate, *, by_model: bool) -> Pool:
    """The samples of a pool. `by_model`: those of each model by themselves. Samples that were never given, because a
    provider failed or a limit was reached, are not part of it: they say nothing about the model."""
    assert debate.outcome is not None
    item, outcome = block.item, debate.outcome
    missed = {vote.seat for vote in outcome.votes if vote.choice == ABSTAINS and not vote.key}
    given = [each for each in outcome.first_answers if each.seat not in missed]
    answered = [each for each in given if each.value is not None]
    right = [scored.right(item, each.value) for each in answered]
    if scored.plan.task.tested:
        passed = Counter(
            (scored.examples(item, each.value or ""), good) for each, good in zip(answered, right, strict=True)
        )
        levels = sorted({level for level, _ in passed})
        return Pool(
            votes=(Votes(counts=(), silent=len(given) - len(answered)),),
            levels=tuple((passed[level, True], passed[level, False]) for level in levels),
            missed=len(missed),
        )
    forms = [_form(scored, item, each.value or "") for each in answered]
    names = [None, *sorted({form for form in forms if form is not None})]  # the right answer stands first
    models = {seat.id: seat.model for seat in debate.cast} if by_model else {}
    votes: list[Votes] = []
    for model in dict.fromkeys(models.get(each.seat, "") for each in outcome.first_answers):  # also if it gave none
        counted = Counter(
            form for each, form in zip(answered, forms, strict=True) if models.get(each.seat, "") == model
        )
        own = sum(models.get(each.seat, "") == model for each in given)
        votes.append(Votes(counts=tuple(counted[name] for name in names), silent=own - counted.total()))
    return Pool(votes=tuple(votes), missed=len(missed))
