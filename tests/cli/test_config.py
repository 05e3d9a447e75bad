"""`moot config`, and what config files do to the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.core.settings import Settings

pytestmark = pytest.mark.slow

DOCS = (Path(__file__).parents[2] / "docs" / "config.md").read_text()


def row(out: str, name: str) -> list[str]:
    return next(line.split() for line in out.splitlines() if line.startswith(f"{name} "))[1:]


@pytest.fixture
def project(moot) -> Path:
    return moot.folder / "moot.yaml"


def test_every_setting_its_value_and_where_it_comes_from(moot, project):
    user = moot.folder / "own.yaml"
    user.write_text("concurrency: 3\nworker_debates: 9\n")
    project.write_text("concurrency: 4\ndefaults: {classic: {max_rounds: 3}}\n")
    result = moot("config", "--db", "other.db", MOOT_CONFIG="own.yaml", MOOT_LEASE_SECONDS="20")
    assert result.code == 0
    assert result.err == ""
    assert row(result.out, "concurrency") == ["4", str(project)]
    assert row(result.out, "worker_debates") == ["9", str(user)]
    assert row(result.out, "defaults.classic.max_rounds") == ["3", str(project)]
    assert row(result.out, "lease_seconds") == ["20", "MOOT_LEASE_SECONDS"]
    assert row(result.out, "database_url") == ["other.db", "--db"]
    assert row(result.out, "format") == ["not", "set", "default"]
    assert row(result.out, "model") == ["not", "set", "default"]
    for name in Settings.model_fields:
        assert f"\n{name}" in result.out
    assert not moot.db.exists()


def test_as_json(moot, project):
    project.write_text("model_judge: sim:?seed=1\n")
    document = json.loads(moot("config", "--json", MOOT_CONCURENCY="3").out)
    settings = {each.pop("name"): each for each in document["settings"]}
    assert settings["model_judge"] == {"value": "sim:?seed=1", "layer": "project", "source": str(project)}
    assert settings["concurrency"] == {"value": 8, "layer": "default", "source": None}
    assert settings["backoff_tries"] == {"value": 0, "layer": "environment", "source": "MOOT_BACKOFF_TRIES"}
    assert settings["defaults"]["value"] == {}
    assert document["files"][1] == {"layer": "project", "path": str(project), "exists": True}
    assert len(document["warnings"]) == 1
    for field in ("name", *settings["model_judge"], *document, *document["files"][0]):
        assert f"`{field}`" in DOCS, field


def test_which_files_are_read(moot, project):
    del moot.env["MOOT_CONFIG"]
    moot.env |= {"HOME": str(moot.folder), "XDG_CONFIG_HOME": str(moot.folder / "etc")}
    result = moot("config", "--path")
    assert result.code == 0
    assert "config.yaml" in result.out
    assert "does not exist" in result.out
    assert "no moot.yaml here or above" in result.out
    user = Path(row(result.out, "user")[0])
    assert user.is_relative_to(moot.folder)
    user.parent.mkdir(parents=True)
    user.write_text("concurrency: 3\n")
    project.write_text("backoff_tries: 1\n")
    result = moot("config", "--path")
    assert row(result.out, "user") == [str(user), "read"]
    assert row(result.out, "project") == [str(project), "read"]
    assert row(moot("config").out, "concurrency") == ["3", str(user)]


def test_a_broken_file_stops_nothing_that_does_not_need_it(moot, project):
    project.write_text("concurrency: [\n")
    for args in (["--version"], ["config", "--path"], ["debate", "--help"]):
        assert moot(*args).code == 0, args
    for args in (["config"], ["Is it so?", "--model", "sim:"]):
        result = moot(*args)
        assert result.code == 2, args
        assert result.out == ""
        assert result.err.count("\n") == 1
        assert str(project) in result.err
    assert not moot.db.exists()


def test_a_mistyped_variable_is_mentioned_and_harmless(moot):
    for args, code in ((["config"], 0), (["doctor", "--model", "sim:"], 0)):
        result = moot(*args, MOOT_CONCURENCY="3")
        assert result.code == code
        assert "Did you mean MOOT_CONCURRENCY?" in result.out + result.err
    assert moot("list", MOOT_CONCURENCY="3").code == 0


def test_a_debate_follows_the_configuration(moot, project):
    project.write_text("format: duel\nmodel: sim:?seed=1\nmodel_judge: sim:?seed=2\ndefaults: {duel: {turns: 2}}\n")
    result = moot("Is it so?", "--json")
    assert result.code == 0, result.err
    assert "Model for Ada and Basil: sim:?seed=1, because moot.yaml sets model." in result.err
    assert "sim:?seed=2, because moot.yaml sets model_judge." in result.err
    assert moot.sql("select format, json_extract(config, '$.turns') from debate_sessions") == [("duel", 2)]
    assert "judge: sim:?seed=2, because moot.yaml sets model_judge" in moot("models").out
    assert "judge: sim:, because MOOT_MODEL is set" in moot("models", MOOT_MODEL="sim:").out


def test_a_debate_that_exists_keeps_its_settings(moot, project):
    moot.interrupted()
    project.write_text("model: sim:?seed=1\nformat: duel\ndefaults: {classic: {max_rounds: 5}}\n")
    assert moot("resume", moot.ids[0]).code == 0
    assert moot.sql("select json_extract(config, '$.max_rounds') from debate_sessions") == [(1,)]


def test_a_cloned_project_cannot_take_keys_or_files(moot, project):
    log = moot.folder / "calls.log"
    for text in ("model: openai:m@http://127.0.0.1:1/v1\n", f"model: {moot.script()}\n", "data_dir: .\n"):
        project.write_text(text)
        result = moot("Is it so?", MOOT_API_KEY="very-secret")
        assert result.code == 2
        assert "trust_projects" in result.err
        assert "very-secret" not in result.err
    assert not log.exists()
    assert not moot.db.exists()
    project.write_text(f"model: {moot.script()}\n")
    assert moot("Is it so?", "--rounds", "1", MOOT_TRUST_PROJECTS=str(moot.folder)).code == 0
    assert log.exists()


def test_rate_limits_are_shown_one_by_one(moot):
    limits = "{openai: {requests_per_minute: 500}, 'openai:gpt-4.1': {tokens_per_minute: 30000}}"
    found = moot("config", MOOT_RATE_LIMITS=limits)
    lines = [line.split() for line in found.out.splitlines() if line.startswith("rate_limits")]
    assert lines == [
        ["rate_limits.openai.requests_per_minute", "500", "MOOT_RATE_LIMITS"],
        ["rate_limits.openai:gpt-4.1.tokens_per_minute", "30000", "MOOT_RATE_LIMITS"],
    ]
    wrong = moot("config", MOOT_RATE_LIMITS="{openay: {requests_per_minute: 500}}")
    assert (wrong.code, wrong.out) == (2, "")
    assert "Did you mean openai?" in wrong.err
