"""Layers of settings: which wins, what is remembered, what is shown."""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.app import App
from moot.config import LAYERS, Origin, load, masked, shown, strays, variable
from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.request import Request
from tests.config.conftest import Place, value_of

DOCS = (Path(__file__).parents[2] / "docs" / "config.md").read_text()


@pytest.mark.parametrize("layers", [s for n in range(5) for s in itertools.combinations(LAYERS[1:], n)])
def test_the_highest_layer_wins_and_is_remembered(place: Place, layers: tuple[str, ...]) -> None:
    numbers = {layer: number for number, layer in enumerate(LAYERS)}
    config = place.load(
        user={"concurrency": numbers["user"]} if "user" in layers else None,
        project={"concurrency": numbers["project"]} if "project" in layers else None,
        environ={"MOOT_CONCURRENCY": str(numbers["environment"])} if "environment" in layers else None,
        **({"concurrency": numbers["flag"]} if "flag" in layers else {}),
    )
    sources = {
        "user": str(place.user),
        "project": str(place.project),
        "environment": "MOOT_CONCURRENCY",
        "flag": "--concurrency",
    }
    top = max(layers, key=LAYERS.index, default="default")
    expected = numbers[top] if layers else Settings.model_fields["concurrency"].default
    assert config.settings.concurrency == expected
    assert value_of(config, "concurrency") == (expected, Origin(layer=top, source=sources.get(top, "")))


DUEL = st.fixed_dictionaries(
    {},
    optional={
        "turns": st.integers(2, 200),
        "blind": st.booleans(),
        "judge": st.fixed_dictionaries(
            {}, optional={"name": st.sampled_from(["Cleo", "Dora"]), "max_tokens": st.integers(1, 500)}
        ),
    },
)


@settings(deadline=None, max_examples=50)
@given(st.tuples(DUEL, DUEL, DUEL))
def test_defaults_are_laid_over_one_another_leaf_by_leaf(said: tuple[dict[str, Any], ...]) -> None:
    def leaves(settings: dict[str, Any]) -> dict[str, Any]:
        judge = {f"judge.{name}": value for name, value in settings.get("judge", {}).items()}
        return {name: value for name, value in settings.items() if name != "judge"} | judge

    with tempfile.TemporaryDirectory() as folder:
        user, project, environment = ({"defaults": {"duel": each}} for each in said)
        text = json.dumps(environment["defaults"])
        config = Place(Path(folder)).load(user, project, {"MOOT_DEFAULTS": text})
    expected = {
        name: (value, layer)
        for layer, each in zip(("user", "project", "environment"), said, strict=True)
        for name, value in leaves(each).items()
    }
    found = {
        entry.name.removeprefix("defaults.duel."): (entry.value, entry.origin.layer)
        for entry in config.entries()
        if entry.name.startswith("defaults.duel.") and entry.value != {}
    }
    assert found == expected


def test_every_setting_has_an_entry_and_a_variable(place: Place) -> None:
    config = place.load()
    assert [entry.name for entry in config.entries()] == list(Settings.model_fields)
    assert all(entry.origin == Origin() for entry in config.entries())
    assert config.settings == Settings()


def test_an_empty_value_or_variable_says_nothing(place: Place) -> None:
    config = place.load({"model": "sim:mine", "concurrency": 3}, "model:\ndefaults: {duel: }\n", {"MOOT_MODEL": ""})
    assert config.settings.model == "sim:mine"
    assert config.settings.concurrency == 3
    assert place.load("", "# nothing yet\n").settings == Settings()


def test_the_order_of_the_docs_is_the_order_of_the_layers() -> None:
    assert re.findall(r"^\| `(\w+)` \|", DOCS, re.MULTILINE)[: len(LAYERS)] == list(LAYERS)


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL))
def test_the_examples_of_the_docs_are_valid(place: Place, text: str) -> None:
    assert place.load(text).origins


def test_defaults_may_leave_to_the_debate_what_it_needs(place: Place) -> None:
    # judge_every_round can still come from a flag
    config = place.load({"defaults": {"classic": {"stop_when_stale": True}}})
    app = App(config.settings, {}, origins=config.origins)
    with pytest.raises(InputError, match="stop_when_stale needs judge_every_round"):
        app.plan(Request(topic="Is it so?", format="classic"))
    plan = app.plan(Request(topic="Is it so?", format="classic", settings={"judge_every_round": True}))
    assert plan.config["stop_when_stale"] is True


def test_every_variable_that_the_code_names_is_known() -> None:
    sources = (Path(__file__).parents[2] / "src").rglob("*.py")
    named = {name for path in sources for name in re.findall(r"\bMOOT_[A-Z_]*[A-Z]\b", path.read_text())}
    assert "MOOT_API_KEY" in named
    assert strays(dict.fromkeys(named, "x")) == []


def test_variables_that_are_no_settings() -> None:
    known = {variable(name): "x" for name in Settings.model_fields}
    known |= {"MOOT_CONFIG": "x", "MOOT_API_KEY": "x", "MOOT_DEBUG": "1", "PATH": "/", "MOOTED": "x"}
    assert strays(known) == []
    near, far = strays(known | {"MOOT_CONCURENCY": "3", "MOOT_ZZZ": "3"})
    assert "MOOT_CONCURENCY" in near
    assert "Did you mean MOOT_CONCURRENCY?" in near
    assert "MOOT_ZZZ" in far
    assert "mean" not in far
    (of_formats,) = strays({"MOOT_MAX_ROUNDS": "3"})
    assert "set MOOT_DEFAULTS to '{classic: {max_rounds: …}}'" in of_formats


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://moot:secret@db:5432/moot", "postgresql://moot:***@db:5432/moot"),
        ("postgresql://moot:s/e@c|r t@db/moot", "postgresql://moot:***@db/moot"),
        ("postgresql://:secret@db", "postgresql://:***@db"),
        ("postgresql://db/moot?user=me&password=secret&x=1", "postgresql://db/moot?user=me&password=***&x=1"),
        ("host=db password='se cret' user=me", "host=db password=*** user=me"),
        ("https://me:secret@host/x", "https://me:***@host/x"),
        ("postgresql://moot@db/moot", "postgresql://moot@db/moot"),
        *((text, text) for text in ("openai:a@http://127.0.0.1:8000/v1 | openai:b@http://127.0.0.1:8001/v1",)),
    ],
)
def test_passwords_are_not_shown(text: str, expected: str) -> None:
    assert masked(text) == expected
    assert shown({"a": [text, 3, None]}) == {"a": [expected, 3, None]}


@pytest.mark.parametrize(
    ("preset", "said"),
    [
        ("{duel: {format: classic}}", "'duel' is a format"),
        ("{quick: {format: duel, settings: {turn: 2}}}", "Did you mean 'turns'"),
        ("{quick: {settings: {turns: 2}}}", "format is missing"),
        ("{Not a name: {format: duel}}", "may contain only a-z, 0-9, ., _ or -"),
    ],
)
def test_presets_are_checked_where_they_are_written(preset: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        load({"MOOT_CONFIG": os.devnull, "MOOT_PRESETS": preset})
    assert str(refused.value).startswith("MOOT_PRESETS")
