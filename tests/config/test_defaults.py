"""What new debates take from the configuration: models and defaults of their format."""

from __future__ import annotations

from typing import Any

import pytest

from moot.app import App
from moot.request import Request
from tests.config.conftest import Place

KEYS = {"OPENAI_API_KEY": "k"}
MODELS: list[tuple[dict[str, Any], dict[str, Any], dict[str, str], str, str]] = [
    ({}, {}, KEYS, "openai:gpt-6-luna", "OPENAI_API_KEY is set"),
    ({"model": "sim:u"}, {}, KEYS, "sim:u", "{user} sets model"),
    ({"model": "sim:u", "model_judge": "sim:uj"}, {}, {}, "sim:uj", "{user} sets model_judge"),
    ({"model": "sim:u", "model_debater": "sim:ud"}, {}, {}, "sim:u", "{user} sets model"),
    ({"model_judge": "sim:uj"}, {"model_judge": "sim:pj"}, {}, "sim:pj", "moot.yaml sets model_judge"),
    (
        {"model_judge": "sim:uj", "defaults": {"classic": {"model_judge": "sim:uc"}}},
        {},
        {},
        "sim:uc",
        "{user} sets defaults.classic.model_judge",
    ),
    ({"defaults": {"classic": {"model_judge": "sim:uc"}}}, {"model": "sim:p"}, {}, "sim:p", "moot.yaml sets model"),
    ({}, {"model_judge": "sim:pj"}, {"MOOT_MODEL": "sim:e"}, "sim:e", "MOOT_MODEL is set"),
    (
        {},
        {"defaults": {"classic": {"model_judge": "sim:pc"}}},
        {"DEEPSEEK_MODEL_JUDGE": "m", "DEEPSEEK_API_KEY": "k"},
        "deepseek:m",
        "DEEPSEEK_MODEL_JUDGE is set",
    ),
]


@pytest.mark.parametrize(("user", "project", "environ", "spec", "reason"), MODELS)
def test_which_model_and_why(place: Place, monkeypatch, user, project, environ, spec, reason) -> None:
    monkeypatch.chdir(place.folder)
    config = place.load(user, project, environ)
    app = App(config.settings, environ, origins=config.origins)
    choice = app.choose("judge", format="classic")
    assert (choice.spec, choice.reason) == (spec, reason.format(user=place.user))
    plan = app.plan(Request(topic="Is it so?", settings={"model_debater": "sim:"}))
    assert next(seat.model for seat in plan.cast if seat.id == "judge") == spec
    asked_for = app.plan(Request(topic="Is it so?", settings={"model_debater": "sim:", "model_judge": "sim:mine"}))
    assert next(seat.model for seat in asked_for.cast if seat.id == "judge") == "sim:mine"


def test_a_file_of_the_home_folder_is_named_shortly(place: Place, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(place.user.parent.parent))
    config = place.load({"model": "sim:u"})
    choice = config.model("judge", "classic")
    assert choice is not None
    assert choice.reason == "~/own/config.yaml sets model"


def test_a_new_debate_begins_with_the_defaults_of_its_format(place: Place) -> None:
    user = {"model": "sim:", "format": "duel", "defaults": {"classic": {"max_rounds": 2}, "duel": {"turns": 4}}}
    project = {"defaults": {"duel": {"judge": {"name": "Cleo"}, "seats": {"a": {"temperature": 0.5}}}}}
    config = place.load(user, project)
    app = App(config.settings, {}, origins=config.origins)
    plan = app.plan(Request(topic="Is it so?", settings={"seats": {"a": {"max_tokens": 7}}}))
    assert plan.format.name == "duel"
    assert plan.config["turns"] == 4
    seats = {seat.id: seat for seat in plan.cast}
    assert seats["judge"].name == "Cleo"
    assert (seats["a"].sampling.temperature, seats["a"].max_tokens) == (0.5, 7)
    assert app.plan(Request(topic="Is it so?", settings={"turns": 6})).config["turns"] == 6
    assert app.plan(Request(topic="Is it so?", format="classic")).config["max_rounds"] == 2
