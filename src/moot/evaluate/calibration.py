"""How sure decisions were, and how often they turned out right: Brier score, calibration error and reliability.

Confidence has several sources, which are never mixed: the share of votes, what the author of the answer stated, and the
level of the decision record, which is no probability and gets no score.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Literal, get_args

from moot.client.client import Client
from moot.core.types import Debate, Level, record
from moot.evaluate.intervals import Interval, wilson
from moot.evaluate.reliability import BINS, bin_of, binned, brier, ece
from moot.records.record import public

Source = Literal["votes", "stated", "level"]
SOURCES: tuple[Source, ...] = get_args(Source)
Grouping = Literal["model", "format", "person"]
LEVELS: tuple[Level, ...] = get_args(Level)
FEW = 100  # decisions place a share within about 10 points; fewer say little
AT_ONCE = 100  # debates of a page

SOURCE_WORDS: Mapping[Source, str] = {
    "votes": "the share of the voters behind the decision",
    "stated": "how sure the author of the answer said it was",
    "level": "the confidence of the decision record",
}


@record
class Forecast:
    """A decision, how sure it was by one source, and how it turned out."""

    debate: str
    source: Source
    group: str
    confidence: float | Level
    right: float  # 0 to 1
    demonstration: bool = False

    @property
    def share(self) -> float | None:
        """The confidence as a probability; None for a level."""
        return None if isinstance(self.confidence, str) else self.confidence


@record
class Bin:
    """Decisions that were about equally sure."""

    label: str  # "60 to 70%", or a level
    n: int
    confidence: float | None  # their mean; None for a level
    right: float  # the share of them that turned out right
    interval: Interval


@record
class Calibration:
    """The figures of one source of confidence, for all decisions or one group."""

    source: Source
    group: str  # empty: all
    n: int
    right: float
    interval: Interval
    confidence: float | None  # the mean; None for levels
    brier: float | None
    ece: float | None
    bins: tuple[Bin, ...]


def calibrated(forecasts: Iterable[Forecast], *, grouped: bool = False) -> list[Calibration]:
    """The figures of each source, over all forecasts, or for each group, the largest first."""
    every = list(forecasts)
    found: list[Calibration] = []
    for source in SOURCES:
        own = [each for each in every if each.source == source]
        groups = sorted({each.group for each in own}) if grouped else [""]
        made = [_figures(source, group, [each for each in own if group in ("", each.group)]) for group in groups if own]
        found += sorted(made, key=lambda each: -each.n)
    return found


def _figures(source: Source, group: str, own: Sequence[Forecast]) -> Calibration:
    pairs = [(each.share, each.right) for each in own if each.share is not None]
    right = sum(each.right for each in own)
    return Calibration(
        source=source,
        group=group,
        n=len(own),
        right=right / len(own),
        interval=wilson(right, len(own)),
        confidence=sum(said for said, _ in pairs) / len(pairs) if pairs else None,
        brier=brier(pairs) if pairs else None,
        ece=ece(pairs) if pairs else None,
        bins=_reliability(pairs) if pairs else _by_level(own),
    )


def _reliability(pairs: Sequence[tuple[float, float]]) -> tuple[Bin, ...]:
    def made(each: Sequence[tuple[float, float]]) -> Bin:
        low = bin_of(each[0][0]) * 100 // BINS
        said = sum(said for said, _ in each) / len(each)
        return _filled(f"{low} to {low + 100 // BINS}%", said, [came for _, came in each])

    return tuple(made(each) for each in binned(pairs))


def _by_level(own: Sequence[Forecast]) -> tuple[Bin, ...]:
    came = {level: [each.right for each in own if each.confidence == level] for level in LEVELS}
    return tuple(_filled(level, None, each) for level, each in came.items() if each)


def _filled(label: str, said: float | None, came: Sequence[float]) -> Bin:
    return Bin(
        label=label,
        n=len(came),
        confidence=said,
        right=sum(came) / len(came),
        interval=wilson(sum(came), len(came)),
    )


async def forecasts(client: Client, by: Grouping | None = None) -> AsyncGenerator[Forecast]:
    """What is known of every decision whose outcome is recorded, the newest first: one forecast for each source of
    confidence that it has."""
    after: str | None = None
    while True:
        page = await client.page(status="completed", limit=AT_ONCE, after=after)
        for debate in page.debates:
            if debate.turned_out is not None and debate.outcome is not None:
                for each in await _forecasts(client, debate, "" if by is None else _GROUPS[by](debate)):
                    yield each
        if page.next is None:
            return
        after = page.next


async def _forecasts(client: Client, debate: Debate, group: str) -> list[Forecast]:
    outcome, told = debate.outcome, debate.turned_out
    assert outcome is not None
    assert told is not None
    level = (await client.record(debate)).confidence
    known: dict[Source, float | Level | None] = {"votes": outcome.support, "stated": outcome.stated, "level": level}
    demonstration = client.is_demonstration(debate)
    return [
        Forecast(
            debate=debate.id,
            source=source,
            group=group,
            confidence=confidence,
            right=told.right,
            demonstration=demonstration,
        )
        for source, confidence in known.items()
        if confidence is not None
    ]


def _model(debate: Debate) -> str:
    """The model whose answer it is; where it is no single seat's, the model of all who spoke, if it is one."""
    won = [
        public(seat.model) for seat in debate.cast if debate.outcome is not None and seat.id == debate.outcome.winner
    ]
    models = won or sorted({public(seat.model) for seat in debate.cast if seat.voice})
    return models[0] if len(models) == 1 else "several models"


_GROUPS: Mapping[Grouping, Callable[[Debate], str]] = {
    "model": _model,
    "format": lambda debate: debate.format,
    "person": lambda debate: debate.initiated_by,
}
