"""The catalog of perspectives, and the choice of opposing ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import InputError
from moot.core.settings import read
from moot.core.types import Failure
from moot.formats.panel.catalog import called_for, catalog, choose, oppose
from moot.formats.panel.settings import PanelSettings
from moot.formats.shared.perspectives import built_in
from tests.formats.panel.answers import answers, run


def test_an_invalid_analysis_falls_back_to_the_words_of_the_question():
    played = run(answers(analyze=Failure(kind="invalid", message="garbage")), max_rounds=1)
    names = played.outcome.names
    assert len(names) == 2
    chosen = [catalog(())[name] for name in names.values()]
    assert oppose(*chosen)


def test_the_catalog_has_the_six_given_and_at_least_ten_more():
    names = [perspective.name for perspective in built_in()]
    given_ = [
        "Performance Advocate",
        "Simplicity Advocate",
        "Security Advocate",
        "Future Flexibility",
        "User Experience",
        "Operational Simplicity",
    ]
    assert names[:6] == given_
    assert len(names) == len(set(names)) >= 16
    for perspective in built_in():
        assert set(perspective.opposes) <= set(names)
        assert perspective.keywords
        assert any(oppose(perspective, other) for other in built_in())


@given(
    st.lists(st.sampled_from([p.name for p in built_in()]), max_size=6),
    st.integers(2, 4),
    st.text(max_size=80),
)
def test_the_chosen_are_never_all_aligned(wanted: list[str], count: int, question: str):
    chosen = choose(question, wanted, count, catalog(()))
    assert len({p.name for p in chosen}) == count
    assert any(oppose(one, two) for one in chosen for two in chosen)


def test_words_of_the_question_call_for_perspectives():
    available = catalog(())
    assert called_for("How should we cache hot data for low latency?", available)[0].name == "Performance Advocate"
    assert called_for("Which authentication for the login?", available)[0].name == "Security Advocate"
    assert called_for("zzz", available) == []


def test_custom_perspectives_are_added_or_replace():
    custom = [
        {"name": "Compliance First", "priorities": ["audit trails"], "trade_offs": "Slower.", "keywords": ["soc2"]}
    ]
    settings_ = read(PanelSettings, {"custom_perspectives": custom})
    available = catalog(settings_.custom_perspectives)
    assert called_for("Do we need soc2?", available)[0].name == "Compliance First"
    with pytest.raises(InputError, match="same name"):
        read(PanelSettings, {"custom_perspectives": custom * 2})
