"""Where settings come from, who wins, and what a project's file may not do."""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.app import App
from moot.config import LAYERS, Config, Origin, files, load, masked, shown, strays, variable
from moot.errors import InputError
from moot.request import Request
from moot.settings import Settings

DOCS = (Path(__file__).parents[1] / "docs" / "config.md").read_text()


class Place:
    """A user's file and a project, and nothing of the developer's."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "own" / "config.yaml"
        self.folder = folder / "project"
        self.project = self.folder / "moot.yaml"
        self.user.parent.mkdir()
        (self.folder / ".git").mkdir(parents=True)

    def load(
        self, user: Any = None, project: Any = None, environ: dict[str, str] | None = None, **flags: Any
    ) -> Config:
        for path, content in ((self.user, user), (self.project, project)):
            if content is not None:
                path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        own = {"MOOT_CONFIG": str(self.user)} if self.user.exists() else {"MOOT_CONFIG": os.devnull}
        named = {name: (f"--{name}", value) for name, value in flags.items()}
        return load({**own, **(environ or {})}, flags=named, folder=self.folder)

    def refused(self, *args: Any, **kwargs: Any) -> str:
        with pytest.raises(InputError) as caught:
            self.load(*args, **kwargs)
        assert "\n" not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def value_of(config: Config, name: str) -> tuple[Any, Origin]:
    entry = next(each for each in config.entries() if each.name == name)
    return entry.value, entry.origin


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


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n"])
def test_a_file_may_be_empty(place: Place, text: str) -> None:
    assert place.load(text, text).settings == Settings()


def test_the_order_of_the_docs_is_the_order_of_the_layers() -> None:
    assert re.findall(r"^\| `(\w+)` \|", DOCS, re.MULTILINE)[: len(LAYERS)] == list(LAYERS)


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL))
def test_the_examples_of_the_docs_are_valid(place: Place, text: str) -> None:
    assert place.load(text).origins


class TestFiles:
    def test_the_users_own_is_in_the_config_folder(self, monkeypatch, tmp_path) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.setenv("HOME", str(tmp_path))
        assert files({}, tmp_path).user.name == "config.yaml"
        assert files({}, tmp_path).user.is_relative_to(tmp_path)
        assert load({}, folder=tmp_path).settings == Settings()
        files({}, tmp_path).user.parent.mkdir()
        files({}, tmp_path).user.write_text("concurrency: 3")
        assert load({}, folder=tmp_path).settings.concurrency == 3

    def test_a_file_that_is_named_must_exist(self, tmp_path) -> None:
        with pytest.raises(InputError, match="There is no config file .*gone.yaml"):
            load({"MOOT_CONFIG": str(tmp_path / "gone.yaml")}, folder=tmp_path)

    def test_the_nearest_project_is_found_from_folders_below(self, place: Place) -> None:
        below = place.folder / "a" / "b"
        below.mkdir(parents=True)
        assert files({}, below).project is None
        place.project.write_text("concurrency: 3")
        assert files({}, below).project == place.project
        nearer = place.folder / "a" / "moot.yaml"
        nearer.write_text("backoff_tries: 1")
        assert files({}, below).project == nearer
        settings = load({"MOOT_CONFIG": os.devnull}, folder=below).settings
        assert (settings.backoff_tries, settings.concurrency) == (1, 8), "only the nearest is read"

    def test_a_repository_is_the_limit(self, place: Place) -> None:
        (place.folder.parent / "moot.yaml").write_text("concurrency: 3")
        assert files({}, place.folder).project is None
        worktree = place.folder / "worktree"
        worktree.mkdir()
        place.project.write_text("concurrency: 3")
        assert files({}, worktree).project == place.project
        (worktree / ".git").write_text("gitdir: elsewhere")
        assert files({}, worktree).project is None

    def test_home_is_the_limit(self, monkeypatch, tmp_path) -> None:
        home = tmp_path / "home"
        (home / "work").mkdir(parents=True)
        monkeypatch.setenv("HOME", str(home))
        (tmp_path / "moot.yaml").write_text("concurrency: 3")
        assert files({}, home / "work").project is None
        (home / "moot.yaml").write_text("concurrency: 3")
        assert files({}, home / "work").project == home / "moot.yaml"

    def test_what_anyone_can_leave_in_a_shared_folder_is_not_read(self, tmp_path) -> None:
        shared = tmp_path / "shared"
        (shared / "work").mkdir(parents=True)
        (shared / "moot.yaml").write_text("concurrency: 3")
        assert files({}, shared / "work").project == shared / "moot.yaml"
        shared.chmod(0o1777)
        assert files({}, shared / "work").project is None
        assert files({}, shared).project is None

    def test_a_folder_of_that_name_is_no_file(self, place: Place) -> None:
        place.project.mkdir()
        assert files({}, place.folder).project is None

    def test_a_current_folder_that_is_gone_has_no_project(self, monkeypatch, tmp_path) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        assert files({"MOOT_CONFIG": os.devnull}).project is None

    def test_paths_are_relative_to_their_file(self, place: Place) -> None:
        config = place.load({"database_url": "sqlite:///x.db", "data_dir": "data", "trust_projects": "~/work"})
        own = place.user.parent
        assert config.settings.database_url == f"sqlite:///{own / 'x.db'}"
        assert config.settings.data_dir == str(own / "data")
        assert config.settings.trust_projects == [os.path.expanduser("~/work")]
        for url in ("/elsewhere/x.db", "postgresql://db/x"):
            assert place.load({"database_url": url}).settings.database_url == url
        assert place.load(environ={"MOOT_DATABASE_URL": "x.db"}).settings.database_url == "x.db"


WRONG: dict[str, tuple[Any, list[str]]] = {
    "unknown": ({"concurency": 3}, ["no setting 'concurency'", "'concurrency'"]),
    "nothing near": ({"topic": "What?"}, ["no setting 'topic'", "Known: ", "format"]),
    "of a format": ({"max_rounds": 3}, ["no setting 'max_rounds'", "defaults: {classic: {max_rounds: …}}"]),
    "wrong type": ({"concurrency": "many"}, ["concurrency", "valid integer", "'many'"]),
    "quoted number": ({"concurrency": "3"}, ["concurrency", "valid integer", "'3'"]),
    "yes for a number": ({"concurrency": True}, ["concurrency", "True"]),
    "out of range": ({"concurrency": 0}, ["concurrency", "greater than or equal to 1"]),
    "number for a text": ({"model": 3}, ["model", "valid string"]),
    "unknown format": ({"format": "duell"}, ["no format 'duell'", "'duel'"]),
    "unknown format of defaults": ({"defaults": {"clasic": {}}}, ["defaults.clasic", "no format", "'classic'"]),
    "defaults without formats": ({"defaults": {"max_rounds": 3}}, ["defaults.max_rounds", "dictionary"]),
    "defaults that are a list": ({"defaults": []}, ["defaults", "dictionary"]),
    "unknown default": (
        {"defaults": {"classic": {"max_round": 3}}},
        ["defaults.classic", "no setting 'max_round'", "'max_rounds'"],
    ),
    "unknown nested default": ({"defaults": {"duel": {"judge": {"nam": "X"}}}}, ["defaults.duel", "'nam'", "'name'"]),
    "wrong default": ({"defaults": {"classic": {"max_rounds": 0}}}, ["defaults.classic", "max_rounds", "(it is 0)"]),
    "wrong list of defaults": (
        {"defaults": {"duel": {"debaters": [{"position": "x"}, {"name": "B"}]}}},
        ["defaults.duel", "debaters.0.name", "required"],
    ),
    "unknown provider": ({"model_judge": "opnai:x"}, ["model_judge", "'opnai'", "openai:x"]),
    "unknown provider of defaults": (
        {"defaults": {"duel": {"model_judge": "opnai:x"}}},
        ["defaults.duel", "model_judge", "openai:x"],
    ),
    "malformed": ("concurrency: 3\nmodel: [x\n", ["not valid YAML", "line 3"]),
    "no mapping": ("- a\n", ["should be a mapping", "a list"]),
    "a date": ("model: 2026-01-01\n", ["model", "date", "quotes"]),
    "bytes": ("model: !!binary c2ltOg==\n", ["model", "bytes", "quotes"]),
    "too deep": ("model: " + "[" * 1000, ["nested too deeply"]),
    "too much": (
        "a: &a [x]\n" + "".join(f"{b}: &{b} [{f'*{a},' * 20}]\n" for a, b in itertools.pairwise("abcdefgh")),
        ["more than 10,000 values"],
    ),
    "its own inside": ("a: &a [*a]\n", ["more than 10,000 values"]),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("layer", ["user", "project"])
def test_what_is_wrong_is_said_in_one_line_with_the_file(place: Place, layer: str, name: str) -> None:
    content, said = WRONG[name]
    message = place.refused(**{layer: content})
    assert str(getattr(place, layer)) in message
    for words in said:
        assert words in message


def test_a_file_that_cannot_be_read(place: Place) -> None:
    place.user.mkdir()
    assert f"The config file {place.user} can't be read" in place.refused()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MOOT_CONCURRENCY", "none", ["valid integer", "'none'"]),
        ("MOOT_FORMAT", "duell", ["'duel'"]),
        ("MOOT_MODEL", "opnai:x", ["openai:x"]),
        ("MOOT_DEFAULTS", "{classic: {max_round: 3}}", ["'max_rounds'"]),
        ("MOOT_DEFAULTS", "{classic", ["not valid YAML"]),
        ("MOOT_DEFAULTS", "3", ["dictionary"]),
    ],
)
def test_what_is_wrong_in_the_environment_names_the_variable(place: Place, name: str, value: str, said: list[str]):
    message = place.refused(environ={name: value})
    assert message.startswith(f"{name}: ")
    for words in said:
        assert words in message


def test_defaults_may_leave_to_the_debate_what_it_needs(place: Place) -> None:
    # judge_every_round can still come from a flag
    config = place.load({"defaults": {"classic": {"stop_when_stale": True}}})
    app = App(config.settings, {}, origins=config.origins)
    with pytest.raises(InputError, match="stop_when_stale needs judge_every_round"):
        app.plan(Request(topic="Is it so?", format="classic"))
    plan = app.plan(Request(topic="Is it so?", format="classic", settings={"judge_every_round": True}))
    assert plan.config["stop_when_stale"] is True


OUTREACH: dict[str, Any] = {
    "database_url": {"database_url": "x.db"},
    "data_dir": {"data_dir": "."},
    "model": {"model": "openai:m@https://evil.example/v1"},
    "model_debater": {"model_debater": "OpenAI : m@http://evil.example/v1"},
    "model_judge": {"model_judge": "local | openai-compatible:m@https://evil.example"},
    "defaults.classic.model_judge": {"defaults": {"classic": {"model_judge": "ollama:m@http://evil.example"}}},
    "defaults.classic.seats.a.model": {"defaults": {"classic": {"seats": {"a": {"model": "scripted:x.yaml"}}}}},
    "defaults.classic.jury_models": {"defaults": {"classic": {"jury_models": ["local", "replay:3f2a"]}}},
    "presets.x.settings.model_judge": {
        "presets": {"x": {"format": "duel", "settings": {"model_judge": "openai:m@https://evil.example/v1"}}}
    },
    "defaults.duel.debaters.model": {
        "defaults": {"duel": {"debaters": [{"name": "A", "model": "sim: | scripted:x"}, {"name": "B"}]}}
    },
}


class TestTrust:
    @pytest.mark.parametrize("name", OUTREACH)
    def test_a_project_cannot_reach_out(self, place: Place, name: str) -> None:
        message = place.refused(project=OUTREACH[name])
        assert message.startswith(f"In {place.project}: {name} would ")
        assert "trust_projects" in message
        assert str(place.user) in message or os.devnull in message

    @pytest.mark.parametrize("name", OUTREACH)
    def test_the_user_can(self, place: Place, name: str) -> None:
        assert place.load(user=OUTREACH[name]).origins

    @pytest.mark.parametrize("name", OUTREACH)
    def test_a_trusted_project_can(self, place: Place, name: str) -> None:
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

    def test_the_file_that_the_user_names_is_the_users(self, place: Place) -> None:
        place.project.write_text("database_url: x.db")
        config = load({"MOOT_CONFIG": str(place.project)}, folder=place.folder)
        assert value_of(config, "database_url")[1].layer == "user"

    def test_every_setting_that_a_project_may_set_without_trust(self, place: Place) -> None:
        values = {
            "format": "duel",
            "model": "openai:gpt-6-luna | local",
            "model_debater": "ollama:llama3.2",
            "model_judge": "sim:?seed=1",
            "defaults": {"duel": {"debaters": [{"name": "A", "position": "Mail me @https"}, {"name": "B"}]}},
            "presets": {"quick": {"format": "duel", "settings": {"turns": 2}}},
            "rate_limits": {"openai:gpt-6-luna": {"requests_per_minute": 60}},
        }
        numbers = {
            name: info.default
            for name, info in Settings.model_fields.items()
            if isinstance(info.default, int | float) and not isinstance(info.default, bool)
        }
        config = place.load(project=values | numbers)
        assert {entry.name.split(".")[0] for entry in config.entries() if entry.origin.layer == "project"} == {
            *values,
            *numbers,
        }
        # A new setting that is no number has to be thought about: refused, until it is listed.
        assert set(Settings.model_fields) - {*values, *numbers} == {
            "chat_on_disconnect",
            "database_url",
            "data_dir",
            "embedder",
            "log_format",
            "log_level",
            "metrics_host",
            "metrics_port",
            "serve_host",
            "serve_hosts",
            "serve_tokens",
            "templates_dir",
            "trace_content",
            "traces",
            "trust_projects",
        }

    @pytest.mark.parametrize(("name", "value"), [("traces", True), ("trace_content", True), ("metrics_host", "::")])
    def test_nobody_reads_along_without_trust(self, place: Place, name, value) -> None:
        with pytest.raises(InputError, match=f"{name} would (choose who reads along|change how)"):
            place.load(project={name: value})

    def test_limits_of_one_model_come_together_from_all_layers(self, place: Place) -> None:
        user = {"rate_limits": {"openai": {"requests_per_minute": 60, "tokens_per_minute": 9000}}}
        config = place.load(user, {"rate_limits": {"openai": {"requests_per_minute": 30}}})
        found = {entry.name: (entry.value, entry.origin.layer) for entry in config.entries()}
        assert found["rate_limits.openai.requests_per_minute"] == (30, "project")
        assert found["rate_limits.openai.tokens_per_minute"] == (9000, "user")

    @pytest.mark.parametrize(("name", "value"), [("embedder", "openai:text-embedding-3-small"), ("templates_dir", "t")])
    def test_nobody_reads_past_decisions_or_writes_templates_without_trust(self, place: Place, name, value) -> None:
        with pytest.raises(InputError, match=f"{name} would (choose who reads your past decisions|say where)"):
            place.load(project={name: value})


KEYS = {"OPENAI_API_KEY": "k"}
MODELS: list[tuple[dict[str, Any], dict[str, Any], dict[str, str], str, str]] = [
    ({}, {}, KEYS, "openai:gpt-6-luna", "OPENAI_API_KEY is set"),
    ({"model": "sim:u"}, {}, KEYS, "sim:u", "{user} sets model"),
    ({"model": "sim:u", "model_judge": "sim:uj"}, {}, {}, "sim:uj", "{user} sets model_judge"),
    ({"model": "sim:u", "model_debater": "sim:ud"}, {}, {}, "sim:u", "{user} sets model"),
    ({"model_judge": "sim:uj"}, {"model": "sim:p"}, {}, "sim:p", "moot.yaml sets model"),
    ({"model_judge": "sim:uj"}, {"model_judge": "sim:pj"}, {}, "sim:pj", "moot.yaml sets model_judge"),
    (
        {"model_judge": "sim:uj", "defaults": {"classic": {"model_judge": "sim:uc"}}},
        {},
        {},
        "sim:uc",
        "{user} sets defaults.classic.model_judge",
    ),
    ({"defaults": {"classic": {"model_judge": "sim:uc"}}}, {"model": "sim:p"}, {}, "sim:p", "moot.yaml sets model"),
    ({"defaults": {"duel": {"model_judge": "sim:ud"}}}, {}, KEYS, "openai:gpt-6-luna", "OPENAI_API_KEY is set"),
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
    choice = app.choose("judge")
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
    assert (seats["a"].temperature, seats["a"].max_tokens) == (0.5, 7)
    assert app.plan(Request(topic="Is it so?", settings={"turns": 6})).config["turns"] == 6
    assert app.plan(Request(topic="Is it so?", format="classic")).config["max_rounds"] == 2


def test_every_variable_that_the_code_names_is_known() -> None:
    sources = (Path(__file__).parents[1] / "src").rglob("*.py")
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
        ("/home/me/moot.db", "/home/me/moot.db"),
        ("sim:?seed=1&tokens=80", "sim:?seed=1&tokens=80"),
    ]
    + [(text, text) for text in ("openai:a@http://127.0.0.1:8000/v1 | openai:b@http://127.0.0.1:8001/v1",)],
)
def test_passwords_are_not_shown(text: str, expected: str) -> None:
    assert masked(text) == expected
    assert shown({"a": [text, 3, None]}) == {"a": [expected, 3, None]}


@pytest.mark.parametrize(
    ("preset", "said"),
    [
        ("{duel: {format: classic}}", "'duel' is a format"),
        ("{quick: {format: duell}}", "Did you mean 'duel'"),
        ("{quick: {format: duel, settings: {turn: 2}}}", "Did you mean 'turns'"),
        ("{quick: {format: duel, settings: {turns: 1}}}", "greater than or equal to 2"),
        ("{quick: {settings: {turns: 2}}}", "Field required"),
        ("{Not a name: {format: duel}}", "pattern"),
    ],
)
def test_presets_are_checked_where_they_are_written(preset: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        load({"MOOT_CONFIG": os.devnull, "MOOT_PRESETS": preset})
    assert str(refused.value).startswith("MOOT_PRESETS")
