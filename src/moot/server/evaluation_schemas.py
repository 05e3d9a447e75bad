"""What the API gives of evaluations."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

Ends = Annotated[list[float], Field(min_length=2, max_length=2, description="of the 95% interval")]


class EvaluationSummary(BaseModel):
    id: str
    task: str
    created_at: float
    stopped: bool = Field(description="it begins no new item")
    cells: int = Field(description="debates that its plan has")
    begun: int
    completed: int


class EvaluationList(BaseModel):
    items: list[EvaluationSummary]


class AddedByDebate(BaseModel):
    """What a debate added to the vote of its first answers, item by item."""

    difference: float
    interval: Ends
    p: float


class FirstVote(BaseModel):
    """What the answers before a debate came to, and what became of them."""

    accuracy: float = Field(description="where several answers are equally frequent, each counts as likely")
    added: AddedByDebate
    ties: int
    repaired: int = Field(description="wrong before, right after")
    broken: int = Field(description="right before, not right after")


class Calibration(BaseModel):
    n: int
    brier: float
    ece: float


class Calibrations(BaseModel):
    stated: Calibration | None = Field(description="confidence as it was stated")
    agreement: Calibration | None = Field(description="how many agreed")


class SamplesGiven(BaseModel):
    given: int
    no_answer: int = Field(description="of those given, without a valid answer: counted as wrong")
    missed: int = Field(description="beside those given: a provider failed or a limit was reached; not counted")
    left_out: int = Field(description="answers that do not count, because too few samples were given for them")


class ArmSummary(BaseModel):
    """How often one way to answer is right, and what it costs."""

    n: int
    right: float
    accuracy: float
    interval: Ends
    no_answer: float = Field(description="answers that are none; of samples, how many are to be expected")
    failed: int | None = Field(description="debates that failed; null: it is computed from samples")
    samples: SamplesGiven | None = Field(description="what it is computed from; null: it has debates of its own")
    usd_per_item: float | None
    tokens_per_item: float
    first_vote: FirstVote | None
    calibration: Calibrations


class ComparisonBound(BaseModel):
    """A comparison over all items, with a score made up for those that failed."""

    difference: float
    interval: Ends
    p: float
    finding: str
    samples: int | None


class EvaluationComparison(BaseModel):
    """A debate less a baseline, item by item; at equal cost where the baseline is drawn from samples."""

    arm: str
    baseline: str
    samples: int | None
    cost: float
    baseline_cost: float
    pool_too_small: bool = Field(description="all samples together cost less than the debate")
    baseline_cheaper: bool = Field(description="a baseline with debates of its own costs less than the debate")
    models: list[str] = Field(description="that the arm asked")
    baseline_models: list[str]
    n: float
    difference: float
    interval: Ends
    p: float
    p_holm: float = Field(description="corrected for all comparisons with the same baseline")
    finding: str
    needed: int | None = Field(description="items that would tell")
    doubt: str | None = Field(
        description="what kept it from a finding beside its interval: arms, failed, models, cost or graded"
    )
    failed_items: int = Field(
        description="items on which a debate failed, was deleted or has not ended, or samples that were needed failed"
    )
    failed_samples: int = Field(description="of these, items on which no debate failed, only samples")
    unfinished_items: int = Field(description="of these, items on which nothing failed, but a debate has not ended")
    counted_against: ComparisonBound | None = Field(description="over all items, failures counted against the arm")
    counted_for: ComparisonBound | None = Field(description="the same, counted in its favour")
    no_answer: float = Field(description="share of the arm's answers that are none")
    baseline_no_answer: float = Field(description="share of the baseline's answers or samples that are none")
    sentence: str


class CurvePoint(BaseModel):
    samples: int
    cost: float
    accuracy: float
    left_out: int = Field(description="answers that do not count, because too few samples were given for them")


class ArmStanding(BaseModel):
    """Where an arm stands among samples of the pool."""

    arm: str
    debate: bool = Field(description="it is compared with the baselines, and is none of them")
    cost: float = Field(description="of an item")
    ratio: float | None = Field(description="how many times the cost of one sample")
    accuracy: float
    samples: int = Field(description="that cost as much, rounded up")
    samples_cost: float
    samples_accuracy: float | None = Field(description="null: so many samples are not on the curve")
    pool_too_small: bool = Field(description="all samples together cost less")


class EvaluationStanding(BaseModel):
    baseline: str = Field(description="what several samples of the pool are")
    sample_cost: float | None
    arms: list[ArmStanding]


class ReportTable(BaseModel):
    """A table, in words, as a terminal shows it."""

    head: list[str]
    rows: list[list[str]]


class FailedCell(BaseModel):
    arm: str
    item: str
    epoch: int
    debate: str
    cause: str
    deleted: bool = Field(description="the debate was deleted; nothing of it is left")


class EvaluationSpent(BaseModel):
    usd: float | None
    tokens_in: int
    tokens_out: int


class RelatedItems(BaseModel):
    number: int
    of_one_size: float = Field(description="how many groups of equal size these are worth")


class EvaluationReport(BaseModel):
    id: str
    task: str
    task_sha256: str
    seed: int
    epochs: int
    items: int
    complete: int = Field(description="items all of whose cells are complete; only these count")
    unfinished: int
    not_begun: int
    deleted: int = Field(description="debates that were deleted; what they cost is not part of `spent`")
    models: list[str]
    ungraded: int = Field(description="unfinished items with an answer that the judge gave no valid grade")
    grading: str = Field(description="what to say of figures that a model graded; empty: code scored the answers")
    demonstration: bool = Field(description="a demonstration model takes part: the findings mean nothing")
    unit: str = Field(description="in what cost is counted: usd or tokens")
    smallest_difference: float | None = Field(description="that so many items show")
    groups: RelatedItems | None = Field(description="of complete items that are related; null: none are")
    spent: EvaluationSpent
    baselines: dict[str, ArmSummary]
    arms: dict[str, ArmSummary]
    curve: list[CurvePoint]
    standing: EvaluationStanding
    costs: ReportTable = Field(description="samples and arms, cheapest first, each with what costs as much")
    comparisons: list[EvaluationComparison]
    missing: list[str] = Field(description="which items are left out, and why, in a sentence each")
    cut_by: str | None = Field(description="why items were not begun: budget or stop")
    failed: list[FailedCell] = Field(description="the first debates that failed; their items are left out")
    failed_count: int
    can_show: str = Field(description="what so many items can show")
    advice: str = Field(description="what to do where the pool was too small; empty where it was not")


class EvaluationCell(BaseModel):
    arm: str
    item: str
    epoch: int
    debate: str
    answer: str | None
    right: bool


class EvaluationCells(BaseModel):
    items: list[EvaluationCell]
    next: int | None = Field(description="give it as `after` for the next page")
