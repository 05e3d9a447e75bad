"""What a project's file may set, and what only a trusted one may."""

from __future__ import annotations

import os
from typing import Any

import pytest

from moot.config import PROJECT_MAY, PROJECT_NEVER, PROJECT_TRUSTED, load
from moot.core.settings import Settings
from tests.config.conftest import Place, value_of

OUTREACH: dict[str, Any] = {
    "database_url": {"database_url": "x.db"},
    "data_dir": {"data_dir": "."},
    "model": {"model": "openai:m@https://evil.example/v1"},
    "model_debater": {"model_debater": "OpenAI : m@http://evil.example/v1"},
    "defaults.classic.model_judge": {"defaults": {"classic": {"model_judge": "ollama:m@http://evil.example"}}},
    "defaults.classic.seats.a.model": {"defaults": {"classic": {"seats": {"a": {"model": "scripted:x.yaml"}}}}},
    "defaults.classic.jury_models": {"defaults": {"classic": {"jury_models": ["local", "replay:3f2a"]}}},
    "defaults.panel.model_judge": {"defaults": {"panel": {"model_judge": "sim: | local:~/mine.gguf"}}},
    "presets.x.settings.model_judge": {
        "presets": {"x": {"format": "duel", "settings": {"model_judge": "openai:m@https://evil.example/v1"}}}
    },
    "defaults.duel.debaters.model": {
        "defaults": {"duel": {"debaters": [{"name": "A", "model": "sim: | scripted:x"}, {"name": "B"}]}}
    },
}

# A value for each setting that is unset by default.
SOME = {
    "database_url": "x.db",
    "data_dir": ".",
    "templates_dir": "t",
    "retention_days": 1.0,
    "embedder": "none",
    "metrics_port": 9000,
}


class TestTrust:
    @pytest.mark.parametrize("name", OUTREACH)
    def test_a_project_cannot_reach_out(self, place: Place, name: str) -> None:
        message = place.refused(project=OUTREACH[name])
        assert message.startswith(f"In {place.project}: {name} would ")
        assert "trust_projects" in message
        assert str(place.user) in message or os.devnull in message

    @pytest.mark.parametrize("name", OUTREACH)
    def test_the_user_can_and_so_can_a_trusted_project(self, place: Place, name: str) -> None:
        assert place.load(user=OUTREACH[name]).origins
        assert place.load({"trust_projects": [str(place.folder)]}, OUTREACH[name]).origins
        assert place.load({"trust_projects": str(place.folder.parent)}, OUTREACH[name]).origins
        assert place.load({"trust_projects": "../project"}, OUTREACH[name]).origins

    def test_trust_from_the_environment_replaces_that_of_the_file(self, place: Place) -> None:
        said = OUTREACH["database_url"]
        assert place.load({}, said, {"MOOT_TRUST_PROJECTS": str(place.folder)}).settings.database_url
        assert place.load({}, said, {"MOOT_TRUST_PROJECTS": f"[/elsewhere, {place.folder}]"}).settings.database_url
        place.refused({"trust_projects": [str(place.folder)]}, said, {"MOOT_TRUST_PROJECTS": "/elsewhere"})

    def test_a_folder_with_a_longer_name_is_not_trusted(self, place: Place) -> None:
        place.refused({"trust_projects": [str(place.folder)[:-1]]}, OUTREACH["database_url"])

    def test_a_project_cannot_trust_itself(self, place: Place) -> None:
        said = {"trust_projects": [str(place.folder)]}
        assert "can't trust itself" in place.refused(project=said)
        assert "can't trust itself" in place.refused(user=said, project=said)

    def test_a_project_names_no_tool_servers_even_when_it_is_trusted(self, place):
        servers = {"tool_servers": {"mine": {"command": ["./server"], "tools": ["look"]}}}
        for user in (None, {"trust_projects": [str(place.folder)]}):
            assert "can't say which programs and servers are used" in place.refused(user, servers)
        assert place.load(servers, {}).settings.tool_servers["mine"].command == ["./server"]

    def test_a_project_names_no_language_servers_even_when_it_is_trusted(self, place):
        servers = {"language_servers": {"mine": {"command": ["./server"], "languages": ["python"]}}}
        for user in (None, {"trust_projects": [str(place.folder)]}):
            assert "can't say which programs are run" in place.refused(user, servers)
        assert place.load(servers, {}).settings.language_servers["mine"].command == ["./server"]

    def test_a_project_sets_no_ceilings_even_when_it_is_trusted(self, place):
        raised, trusted = {"ceilings": {"day_usd": 1000}}, {"trust_projects": [str(place.folder)]}
        for user in (None, trusted):
            assert "can't say what its debates may use" in place.refused(user, raised)
        own = place.load({"ceilings": {"day_usd": 5.0, "debate_usd": "none"}}, {}, {"MOOT_CEILINGS": "{day_usd: 7}"})
        assert own.settings.ceilings.model_dump(exclude_none=True) == {"day_usd": 7, "debate_usd": "none"}

    def test_the_file_that_the_user_names_is_the_users(self, place: Place) -> None:
        place.project.write_text("database_url: x.db")
        config = load({"MOOT_CONFIG": str(place.project)}, folder=place.folder)
        assert value_of(config, "database_url")[1].layer == "user"

    def test_every_setting_that_a_project_may_set_without_trust(self, place: Place) -> None:
        values = {
            "format": "duel",
            "model": "openai:gpt-6-luna | local | local:small",
            "model_debater": "ollama:llama3.2",
            "model_judge": "sim:?seed=1",
            "defaults": {"duel": {"debaters": [{"name": "A", "position": "Mail me @https"}, {"name": "B"}]}},
            "presets": {"quick": {"format": "duel", "settings": {"turns": 2}}},
            "rate_limits": {"openai:gpt-6-luna": {"requests_per_minute": 60}},
        }
        numbers = {"call_timeout_seconds": 60.0, "backoff_tries": 2, "concurrency": 2}
        config = place.load(project=values | numbers)
        found = {entry.name.split(".")[0] for entry in config.entries() if entry.origin.layer == "project"}
        assert found == {*values, *numbers} == PROJECT_MAY

    def test_every_setting_is_a_projects_the_users_or_no_projects(self) -> None:
        """A new setting has to be thought about: it is in none of these, and fails here."""
        lists = [*PROJECT_MAY, *PROJECT_TRUSTED, *PROJECT_NEVER]
        assert sorted(lists) == sorted(Settings.model_fields)

    @pytest.mark.parametrize("name", PROJECT_TRUSTED)
    def test_what_is_not_its_own_takes_trust(self, place: Place, name: str) -> None:
        info = Settings.model_fields[name]
        value = info.get_default(call_default_factory=True)
        given = {name: SOME.get(name, value)}
        assert f"{name} would {PROJECT_TRUSTED[name]}, and" in place.refused(project=given)
        assert place.load({"trust_projects": [str(place.folder)]}, given).origins[name].layer == "project"

    def test_limits_of_one_model_come_together_from_all_layers(self, place: Place) -> None:
        user = {"rate_limits": {"openai": {"requests_per_minute": 60, "tokens_per_minute": 9000}}}
        config = place.load(user, {"rate_limits": {"openai": {"requests_per_minute": 30}}})
        found = {entry.name: (entry.value, entry.origin.layer) for entry in config.entries()}
        assert found["rate_limits.openai.requests_per_minute"] == (30, "project")
        assert found["rate_limits.openai.tokens_per_minute"] == (9000, "user")
