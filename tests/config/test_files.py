"""Config files: where they are found, and what is wrong with them, in one line."""

from __future__ import annotations

import os
from typing import Any

import pytest

from moot.config import files, load
from moot.core.errors import InputError
from moot.core.settings import Settings
from tests.config.conftest import Place


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
    "wrong type": ({"concurrency": "many"}, ["concurrency must be a whole number from 1 to 1000; it is 'many'"]),
    "yes for a number": ({"concurrency": True}, ["concurrency", "it is true"]),
    "out of range": ({"concurrency": 0}, ["concurrency must be a whole number from 1 to 1000; it is 0"]),
    "unknown format": ({"format": "duell"}, ["no format 'duell'", "'duel'"]),
    "unknown format of defaults": ({"defaults": {"clasic": {}}}, ["defaults.clasic", "no format", "'classic'"]),
    "defaults without formats": ({"defaults": {"max_rounds": 3}}, ["defaults.max_rounds", "mapping"]),
    "defaults that are a list": ({"defaults": []}, ["defaults", "mapping"]),
    "unknown default": (
        {"defaults": {"classic": {"max_round": 3}}},
        ["defaults.classic", "no setting 'max_round'", "'max_rounds'"],
    ),
    "unknown nested default": ({"defaults": {"duel": {"judge": {"nam": "X"}}}}, ["defaults.duel", "'nam'", "'name'"]),
    "wrong default": ({"defaults": {"classic": {"max_rounds": 0}}}, ["defaults.classic", "max_rounds", "; it is 0"]),
    "wrong list of defaults": (
        {"defaults": {"duel": {"debaters": [{"position": "x"}, {"name": "B"}]}}},
        ["defaults.duel", "debaters.0.name is missing"],
    ),
    "unknown provider": ({"model_judge": "opnai:x"}, ["model_judge", "'opnai'", "openai:x"]),
    "malformed": ("concurrency: 3\nmodel: [x\n", ["not valid YAML", "line 3"]),
    "no mapping": ("- a\n", ["should be a mapping", "a list"]),
    "a date": ("model: 2026-01-01\n", ["model", "2026-01-01"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line_with_the_file(place: Place, name: str) -> None:
    content, said = WRONG[name]
    message = place.refused(content)
    assert str(place.user) in message
    for words in said:
        assert words in message


def test_a_file_that_cannot_be_read(place: Place) -> None:
    place.user.mkdir()
    assert f"{place.user} is a folder, not a config file" in place.refused()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MOOT_CONCURRENCY", "none", ["must be a whole number", "'none'"]),
        ("MOOT_DEFAULTS", "{classic: {max_round: 3}}", ["'max_rounds'"]),
        ("MOOT_DEFAULTS", "{classic", ["not valid YAML"]),
    ],
)
def test_what_is_wrong_in_the_environment_names_the_variable(place: Place, name: str, value: str, said: list[str]):
    message = place.refused(environ={name: value})
    assert message.startswith(f"{name}: ")
    for words in said:
        assert words in message
