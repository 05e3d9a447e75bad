"""Documents of settings with very many values are refused at once, before anything looks at each of them."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import InputError
from moot.core.settings import MOST_UNKNOWN, MOST_VALUES, DebateSettings, check_size, read


class Counting(dict[str, Any]):
    """A value that counts how often it is looked into."""

    looked = 0

    def values(self) -> Any:
        Counting.looked += 1
        return super().values()


@pytest.mark.parametrize(
    "given",
    [
        {f"k{n}": 1 for n in range(MOST_VALUES)},
        {"seats": {f"s{n}": {"name": "x"} for n in range(MOST_VALUES)}},
        {"cases": [[[n]] for n in range(MOST_VALUES)]},
    ],
)
def test_very_many_values_are_refused(given: dict[str, Any]):
    with pytest.raises(InputError, match="more than 5,000 values in the settings. Give fewer"):
        read(DebateSettings, given)


def test_no_value_is_looked_into_once_there_are_too_many():
    check_size({"a": [Counting(x=1)]})
    assert Counting.looked == 1
    with pytest.raises(InputError):
        check_size({"first": [0] * MOST_VALUES, **{f"k{n}": Counting() for n in range(10)}})
    assert Counting.looked <= 11


def test_of_many_unknown_names_a_few_are_named():
    with pytest.raises(InputError) as told:
        read(DebateSettings, {f"unknown{n}": 1 for n in range(1000)})
    assert "'unknown0'" in str(told.value)
    assert f"unknown{MOST_UNKNOWN}" not in str(told.value)
