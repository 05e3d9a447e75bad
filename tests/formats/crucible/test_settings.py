"""The settings and seats of a crucible."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.core.settings import SeatSettings, read
from moot.formats import overridden
from moot.formats.crucible.rules import parts
from moot.formats.crucible.settings import CrucibleSettings


def test_the_defaults_of_the_document():
    settings = CrucibleSettings()
    assert (settings.min_rounds, settings.max_rounds, settings.early_stop_score, settings.rag_top_k) == (3, 5, 8, 3)
    assert [part.sampling.temperature for part in parts(settings)] == [0.7, 0.8, 0.5]
    assert [(part.id, part.role, part.tier, part.voice) for part in parts(settings)] == [
        ("proposer", "proposer", "debater", True),
        ("skeptic", "skeptic", "debater", True),
        ("synthesizer", "synthesizer", "judge", False),
    ]


def test_models_and_temperatures_by_role_and_by_seat():
    settings = CrucibleSettings(
        model_proposer="sim:p",
        model_skeptic="sim:s",
        model_synthesizer="sim:w",
        temperature_skeptic=None,
        seats={"proposer": SeatSettings(model="sim:own", temperature=0)},
    )
    cast = overridden(parts(settings), settings.seats)
    found = [(part.model, part.sampling.temperature) for part in cast]
    assert found == [("sim:own", 0), ("sim:s", None), ("sim:w", 0.5)]


def test_fewer_rounds_in_all_lower_the_least_but_a_contradiction_is_refused():
    assert CrucibleSettings(max_rounds=2).min_rounds == 2
    assert CrucibleSettings(max_rounds=4).min_rounds == 3
    assert read(CrucibleSettings, CrucibleSettings(max_rounds=2).model_dump()).min_rounds == 2
    with pytest.raises(InputError, match="min_rounds is 4, more than max_rounds"):
        read(CrucibleSettings, {"min_rounds": 4, "max_rounds": 2})
