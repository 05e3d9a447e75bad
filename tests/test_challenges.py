"""The challenges, all of them, against one server on a real socket."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from challenges.__main__ import NAMES, run
from challenges.asking import Failed, Place
from tests.server.serving import served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("challenges")
    with served(folder, backoff_tries=0) as running:
        yield Place(running.url, str(folder / "moot.db"))


def test_there_are_twelve():
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_the_challenge_is_met(place: Place, name: str):
    assert run(place, [name]) == []


def test_what_does_not_hold_fails(place: Place):
    with pytest.raises(Failed, match="never"):
        place.check("never", False)
    with pytest.raises(Failed, match="404"):
        place.get("/v1/debates/00000000-0000-4000-8000-000000000000")
    assert json.dumps(place.call("GET", "/v1/nothing")[1])
