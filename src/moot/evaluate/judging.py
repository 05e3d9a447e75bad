"""How stable is a verdict? A fork of the stored debate has it read again by several readers, in both orders and in
different words of the same instructions. The debate itself is not changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import aclosing
from itertools import groupby
from math import fsum, inf

from moot import formats
from moot.client.client import Client
from moot.core.errors import InputError
from moot.core.types import ABSTAINS, TIE, Debate, Json, Turn, record
from moot.evaluate.agreement import krippendorff_alpha
from moot.evaluate.intervals import Interval, clustered_wilson, wilson
from moot.formats.format import BlindReading, Format
from moot.reasoning.model_family import family_of

READERS = 5
MOST_READERS = 25
READ_AGAIN = "judge/"  # before the id of a debate: what its forks are made for


@record
class Share:
    """A share with its interval."""

    n: int
    of: int
    interval: Interval

    @property
    def value(self) -> float | None:
        return self.n / self.of if self.of else None


@record
class Reread:
    """One debate, and what its readers made of it."""

    debate: str
    fork: str  # the debate in which they read it
    verdict: str  # that is stored: a seat's id, "tie" or "undecided"
    planned: int  # readings that were to be made; a limit can leave some out
    readings: tuple[BlindReading, ...]
    characters: dict[str, int]  # what each side said in all
    debaters: tuple[str, ...]  # their models

    @property
    def longer(self) -> str | None:
        """The side that said more; None where they said equally much."""
        ranked = sorted(self.characters, key=lambda side: -self.characters[side])
        tied = len(ranked) < 2 or self.characters[ranked[0]] == self.characters[ranked[1]]
        return None if tied else ranked[0]


@record
class Stability:
    """What all readings of one or several debates come to."""

    readings: int
    abstained: int
    stable: Share  # readings that give the stored verdict; its interval knows that a reader's two go together
    flipped: Share  # readers who chose another side in the other order
    first: Share  # choices of a side that fell on the one read first
    longer: Share  # choices of a side that fell on the one that said more
    by_wording: dict[str, Share]  # readings that give the stored verdict, by what words asked
    alpha: float | None  # Krippendorff's, across readers; None: nothing differed
    families: tuple[str, ...]  # of the readers' models
    shared_families: tuple[str, ...]  # those that are a debater's, too


async def reread(
    client: Client,
    debate: Debate,
    readers: int = READERS,
    models: Sequence[str] = (),
    max_cost_usd: float | None = None,
) -> Reread:
    """Have the verdict of a completed debate read again. `models`: of the readers, in turn; by default the judge's.
    `max_cost_usd`: what the readings may cost at most. Raises InputError if the format has no way to do that."""
    if max_cost_usd is not None and not 0 < max_cost_usd < inf:
        raise InputError(f"Readings may cost an amount of US dollars above 0, not {max_cost_usd:g}. Nothing was read.")
    if not 1 <= readers <= MOST_READERS:
        raise InputError(f"A verdict is read again by 1 to {MOST_READERS} readers, not {readers}.")
    format_ = formats.get(debate.format)
    if format_.rereading is None:
        able = ", ".join(name for name, each in client.app.formats.items() if each.rereading is not None)
        raise InputError(
            f"Debate {debate.short} has the format {debate.format}, whose verdict can't be read again. Formats whose "
            f"verdict can: {able}."
        )
    if debate.outcome is None:
        raise InputError(f"Debate {debate.short} is {debate.status}; only a verdict can be read again.")
    turns = await client.store.turns(debate.id)
    settings = format_.settings.model_validate(debate.config)
    changes: Json = format_.rereading.settings(settings, readers, models)
    at = _after_statements(format_, debate, turns)
    if max_cost_usd is not None:
        inherited = fsum(turn.cost_usd or 0.0 for turn in turns if turn.seq < at.seq)  # counts as the fork's
        changes["max_cost_usd"] = inherited + max_cost_usd
    fork = await client.fork(debate, at.key, changes, evaluation=f"{READ_AGAIN}{debate.id}")
    async with aclosing(client.app.runtime.watch(fork.id)) as updates:
        async for _ in updates:
            pass
    read = await client.store.turns(fork.id)
    return Reread(
        debate=debate.id,
        fork=fork.id,
        verdict=debate.outcome.winner,
        planned=2 * readers,
        readings=tuple(format_.rereading.readings(read)),
        characters=_characters(format_, debate, turns),
        debaters=tuple(seat.model for seat in debate.cast if seat.voice),
    )


def _after_statements(format_: Format, debate: Debate, turns: Sequence[Turn]) -> Turn:
    """The first step after everything was said."""
    last = max((turn.seq for turn in turns if turn.phase in format_.statements), default=0)
    after = [turn for turn in turns if turn.seq > last]
    if not last or not after:
        raise InputError(f"Debate {debate.short} has no verdict on statements that could be read again.")
    return after[0]


def _characters(format_: Format, debate: Debate, turns: Sequence[Turn]) -> dict[str, int]:
    speaking = [seat.id for seat in debate.cast if seat.voice]
    return {
        seat: sum(len(turn.content) for turn in turns if turn.seat == seat and turn.phase in format_.statements)
        for seat in speaking
    }


def stability(reread: Sequence[Reread]) -> Stability:
    """Sum up the readings. Pure."""
    valid = [(each, reading) for each in reread for reading in each.readings if reading.choice != ABSTAINS]
    choices = [(each, reading) for each, reading in valid if reading.choice != TIE]
    clusters = [
        [float(reading.choice == each.verdict) for reading in own if reading.choice != ABSTAINS]
        for each in reread
        for own in _by_reader(each.readings)
    ]
    pairs = [own for each in reread for own in _by_reader(each.readings) if _both(own)]
    measured = [(each, reading) for each, reading in choices if each.longer is not None]
    families = {family_of(reading.model) for _, reading in valid}
    debaters = {family_of(model) for each in reread for model in each.debaters}
    stable = [reading.choice == each.verdict for each, reading in valid]
    wordings = sorted({reading.wording for _, reading in valid})
    return Stability(
        readings=sum(len(each.readings) for each in reread),
        abstained=sum(len(each.readings) for each in reread) - len(valid),
        stable=Share(n=sum(stable), of=len(stable), interval=clustered_wilson([each for each in clusters if each])),
        flipped=_share(len({reading.choice for reading in own}) > 1 for own in pairs),
        first=_share(reading.choice == reading.first for _, reading in choices),
        longer=_share(reading.choice == each.longer for each, reading in measured),
        by_wording={
            name: _share(reading.choice == each.verdict for each, reading in valid if reading.wording == name)
            for name in wordings
        },
        alpha=krippendorff_alpha(_units(reread)),
        families=tuple(sorted(families)),
        shared_families=tuple(sorted(families & debaters)),
    )


def _share(found: Iterable[bool]) -> Share:
    every = list(found)
    return Share(n=sum(every), of=len(every), interval=wilson(sum(every), len(every)))


def _by_reader(readings: Sequence[BlindReading]) -> list[list[BlindReading]]:
    ordered = sorted(readings, key=lambda reading: reading.reader)
    return [list(own) for _, own in groupby(ordered, key=lambda reading: reading.reader)]


def _both(own: Sequence[BlindReading]) -> bool:
    return len({reading.first for reading in own}) > 1 and all(reading.choice != ABSTAINS for reading in own)


def _units(reread: Sequence[Reread]) -> list[list[str | None]]:
    """For each debate and order, what each reader chose."""
    return [
        [None if reading.choice == ABSTAINS else reading.choice for reading in each.readings if reading.first == first]
        for each in reread
        for first in sorted({reading.first for reading in each.readings})
    ]
