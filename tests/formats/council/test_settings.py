"""The settings of a council."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.core.settings import read
from moot.formats.council.settings import CouncilSettings


@pytest.mark.parametrize(
    ("given", "names", "models"),
    [
        (2, ["Member 1", "Member 2"], [None, None]),
        (["sim:", "local"], ["Member 1", "Member 2"], ["sim:", "local"]),
        ([{"name": "Ada"}, {"model": "sim:"}], ["Ada", "Member 2"], [None, "sim:"]),
    ],
)
def test_members_can_be_a_number_or_models_or_described(given, names, models):
    settings_ = read(CouncilSettings, {"members": given})
    assert [member.name for member in settings_.members] == names
    assert [member.model for member in settings_.members] == models
    assert CouncilSettings.model_validate(settings_.model_dump(mode="json")) == settings_


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1, "2 to 9 members"),
        (10, "2 to 9 members"),
        ("sim:", "members"),
        (["sim:"], "at least 2"),
        (["sim:"] * 10, "at most 9"),
        ([{"name": "Ada"}, {"name": "ada"}], "two of the council are called 'ada'"),
        ([{"name": "The chair"}, {"name": "B"}], "two of the council"),
        ([{"nane": "Ada"}, {}], "nane"),
    ],
)
def test_bad_members_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        read(CouncilSettings, {"members": given})
