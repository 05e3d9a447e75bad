"""What each arm made of each item, read from the debates of an evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from moot.core.answers import same_as
from moot.core.types import TIE, UNDECIDED, Debate, GivenAnswer, Usage, record
from moot.core.values import sha256_of
from moot.evaluate.plans import Block, EvaluationPlan
from moot.evaluate.pool import picked_of, plurality_of
from moot.evaluate.tasks import Item
from moot.store import Grade

OUT_WEIGHT = 4  # where prices are not known, a token that is written counts as so many that are read
DIGITS = 12  # of US dollars

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
    value: str | None = None
    undecided: bool = False
    tie: bool = False
    flip_rate: float | None = None
    first: Sequence[bool] = ()  # which first answers were right
    first_vote: str = ""  # "right", "wrong", "tie" or "none"
    stated: float | None = None
    agreement: float | None = None
    seconds: float = 0.0
    drawn: bool = False  # computed from the pool

    @property
    def weighed(self) -> float:
        return self.tokens_in + OUT_WEIGHT * self.tokens_out


@record
class Arms:
    """The rows of complete blocks, by arm, and the samples of each pool."""

    rows: Mapping[str, list[Row]]
    pools: Mapping[str, list[Pool]]


@record
class Pool:
    """The samples of one item in one epoch. Answers are voted on; code is picked by the examples of the question."""

    row: Row
    right: int
    others: tuple[int, ...] = ()  # sizes of groups of the same wrong answer
    silent: int = 0
    levels: tuple[
        tuple[int, int], ...
    ] = ()  # of code: right and wrong ones, by how many examples they pass, fewest first

    @property
    def size(self) -> int:
        return self.silent + (sum(map(sum, self.levels)) if self.levels else self.right + sum(self.others))

    def score(self, k: int) -> float:
        """How likely the answer of k samples is right."""
        if self.levels:
            return picked_of(k, self.levels, self.silent)
        return plurality_of(k, self.right, self.others, self.silent)


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
    found = [cells.get(cell.id) for cell in block.cells]
    if not all(each is not None and each.status == "completed" and each.outcome is not None for each in found):
        return False
    if not plan.task.graded:
        return True
    return all((block.item.id, name) in grades for name in to_grade(plan, block, cells))


def to_grade(plan: EvaluationPlan, block: Block, cells: Mapping[str, Debate]) -> dict[str, str]:
    """The answers of a block that are graded, by their hashes: those that its debates came to, and the first ones. A
    judge model reads of first answers those of the pool only."""
    found: dict[str, str] = {}
    for cell in block.cells:
        debate = cells.get(cell.id)
        if debate is None or debate.status != "completed" or debate.outcome is None:
            continue
        first = debate.outcome.first_answers if plan.task.tested or cell.arm.name in plan.pools else ()
        given = [debate.outcome.answer, *first]
        found |= {sha256_of(each.value): each.value for each in given if each is not None and each.value is not None}
    return found


def rows_of(plan: EvaluationPlan, complete: Sequence[Block], cells: Mapping[str, Debate], grades: Grades) -> Arms:
    rows: dict[str, list[Row]] = {arm.name: [] for arm in plan.arms}
    pools: dict[str, list[Pool]] = {name: [] for name in plan.pools}
    scored = Scored(plan=plan, grades=grades)
    for block in complete:
        for cell in block.cells:
            debate = cells[cell.id]
            row = _row(scored, block, cell.epoch, debate)
            rows[cell.arm.name].append(row)
            if cell.arm.name in pools:
                pools[cell.arm.name].append(_pool(scored, block, row, debate))
    return Arms(rows=rows, pools=pools)


def _row(scored: Scored, block: Block, epoch: int, debate: Debate) -> Row:
    item, outcome = block.item, debate.outcome
    assert outcome is not None
    value = None if outcome.answer is None else outcome.answer.value
    usage = debate.usage
    spec = scored.plan.task.answer(item)
    form = None if value is None else same_as(value, spec)
    backers = [each for each in outcome.first_answers if each.value is not None and same_as(each.value, spec) == form]
    stated = [each.confidence for each in backers if each.confidence is not None]
    return Row(
        item=item.id,
        epoch=epoch,
        cluster=item.cluster or item.id,
        score=float(scored.right(item, value)),
        usd=dollars(usage),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        debate=debate.id,
        value=value,
        undecided=outcome.winner == UNDECIDED,
        tie=outcome.winner == TIE,
        flip_rate=outcome.flip_rate,
        first=[] if scored.plan.task.by_model else [scored.right(item, each.value) for each in outcome.first_answers],
        first_vote=_vote(scored, block, outcome.first_answers),
        stated=fmean(stated) if stated else None,
        agreement=outcome.support,
        seconds=max(0.0, (debate.completed_at or 0.0) - (debate.started_at or 0.0)),
    )


def _vote(scored: Scored, block: Block, first: Sequence[GivenAnswer]) -> str:
    """What the first answers come to before any debate, by plurality."""
    if scored.plan.task.graded:
        return ""  # no two codes are the same, and no judge has read these
    spec = scored.plan.task.answer(block.item)
    counted = Counter(same_as(each.value, spec) for each in first if each.value is not None)
    if not counted:
        return "none" if first else ""
    most = max(counted.values())
    leading = [value for value, count in counted.items() if count == most]
    if len(leading) > 1:
        return "tie"
    return "right" if scored.right(block.item, leading[0]) else "wrong"


def _pool(scored: Scored, block: Block, row: Row, debate: Debate) -> Pool:
    assert debate.outcome is not None
    item, given = block.item, debate.outcome.first_answers
    answered = [each.value for each in given if each.value is not None]
    right = [scored.right(item, value) for value in answered]
    silent = len(given) - len(answered)
    if scored.plan.task.tested:
        counted = Counter((scored.examples(item, value), each) for value, each in zip(answered, right, strict=True))
        levels = sorted({level for level, _ in counted})
        return Pool(
            row=row,
            right=sum(right),
            silent=silent,
            levels=tuple((counted[level, True], counted[level, False]) for level in levels),
        )
    spec = scored.plan.task.answer(item)
    wrong = Counter(same_as(value, spec) for value, each in zip(answered, right, strict=True) if not each)
    return Pool(row=row, right=sum(right), others=tuple(sorted(wrong.values())), silent=silent)
