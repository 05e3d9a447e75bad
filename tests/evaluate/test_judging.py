"""Verdicts that are read again: agreement against published values, figures by hand, and a stored debate end to end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moot.client.client import Client
from moot.core.errors import InputError
from moot.evaluate.agreement import krippendorff_alpha
from moot.evaluate.judging import Reread, reread, stability
from moot.formats.format import BlindReading
from tests.evaluate.conftest import debated


def columns(*rows: str) -> list[list[str | None]]:
    """Units from one row for each judge; a dot is missing."""
    return [
        [None if value == "." else value for value in unit] for unit in zip(*(row.split() for row in rows), strict=True)
    ]


def test_alpha_gives_published_values():
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability": two judges, and four with missing values.
    two = columns("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
    four = columns(
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    )
    assert round(krippendorff_alpha(two) or 0, 3) == 0.095
    assert round(krippendorff_alpha(four) or 0, 3) == 0.743


def test_alpha_at_its_ends():
    assert krippendorff_alpha(columns("a b a", "a b a")) == 1
    assert krippendorff_alpha(columns("a a", "a a")) is None, "nothing differs, so chance agrees as well"
    assert krippendorff_alpha([["a"], [None, "b"]]) is None
    assert krippendorff_alpha([]) is None
    assert (krippendorff_alpha(columns("a b", "b a")) or 0) < 0


def reading(reader: str, first: str, choice: str, model: str = "openai:gpt-5", wording: str = "w") -> BlindReading:
    return BlindReading(reader=reader, first=first, choice=choice, wording=wording, model=model)


def test_figures_that_were_counted_by_hand():
    read = Reread(
        debate="d",
        fork="f",
        verdict="a",
        planned=6,
        characters={"a": 100, "b": 200},
        debaters=("openai:gpt-4o", "anthropic:claude-x"),
        readings=(
            reading("1", "a", "a"),
            reading("1", "b", "a"),
            reading("2", "a", "a", wording="v"),
            reading("2", "b", "b", wording="v"),
            reading("3", "a", "tie", model="mistral:mistral-large"),
            reading("3", "b", "abstains", model="mistral:mistral-large"),
        ),
    )
    found = stability([read])
    assert (found.readings, found.abstained) == (6, 1)
    assert (found.stable.n, found.stable.of) == (3, 5)
    assert (found.flipped.n, found.flipped.of) == (1, 2)
    assert (found.first.n, found.first.of) == (3, 4)
    assert (found.longer.n, found.longer.of) == (1, 4)
    assert {name: (share.n, share.of) for name, share in found.by_wording.items()} == {"v": (1, 2), "w": (2, 3)}
    assert found.families == ("gpt", "mistral")
    assert found.shared_families == ("gpt",)
    assert found.stable.interval.low < 0.6 < found.stable.interval.high
    assert stability([replace(read, characters={"a": 5, "b": 5})]).longer.value is None


async def test_a_stored_debate_is_read_again_in_a_fork_and_stays_as_it_was(client: Client):
    before = await debated(client, "classic", model_judge="sim:?seed=2", max_rounds=1, judge_every_round=True)
    read = await reread(client, before, readers=4, models=["sim:?seed=5", "sim:?seed=6"])
    assert await client.find(before.id) == before
    fork = await client.find(read.fork)
    assert (fork.status, fork.parent_id) == ("completed", before.id)
    assert [each.id for each in (await client.page()).debates] == [before.id]  # the fork is found by its id alone
    found = await client.search("Redis or Postgres?", 10)
    assert [each.debate.id for each in found.past] == [before.id]
    assert [(each.reader, each.first) for each in read.readings] == [
        (f"juror{n}", side) for n in range(1, 5) for side in ("a", "b")
    ]
    by_reader = {each.reader: (each.wording, each.model) for each in read.readings}
    assert by_reader == {
        "juror1": ("the usual words", "sim:?seed=5"),
        "juror2": ("other words", "sim:?seed=6"),
        "juror3": ("fewer words", "sim:?seed=5"),
        "juror4": ("the usual words", "sim:?seed=6"),
    }
    assert {each.choice for each in read.readings} <= {"a", "b", "tie"}
    assert set(read.characters) == {"a", "b"}
    assert (await client.replay(fork)).same
    with pytest.raises(InputError, match="1 to 25 readers"):
        await reread(client, before, readers=26)


async def test_a_budget_for_the_readings_holds(client: Client):
    priced = "sim:?price_out=10000"  # a cent a token
    before = await debated(client, "classic", model_judge=priced, max_rounds=1)
    said = [turn for turn in await client.store.turns(before.id) if turn.phase == "statement"]
    inherited = sum(turn.cost_usd or 0.0 for turn in said)
    assert inherited < (before.usage.cost_usd or 0.0)  # its verdict cost something, and is not inherited
    for budget in (0.01, 2.0):
        read = await reread(client, before, readers=3, max_cost_usd=budget)
        fork = await client.find(read.fork)
        assert (fork.usage.cost_usd or 0.0) <= inherited + budget + 1e-9
        assert len(read.readings) < read.planned == 6
        assert stability([read]).readings == len(read.readings)
    for budget in (0.0, float("nan"), -1.0):
        with pytest.raises(InputError, match="amount of US dollars above 0"):
            await reread(client, before, max_cost_usd=budget)


async def test_a_format_without_a_judge_says_so(client: Client):
    done = await debated(client, "council", depth="vote")
    with pytest.raises(InputError, match="can't be read again"):
        await reread(client, done)
