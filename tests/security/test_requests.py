"""Requests that are made to hurt: huge names, many mistakes, models without end."""

from __future__ import annotations

import json

import pytest

from tests.server.serving import Served, served

KIB = 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    with served(tmp_path_factory.mktemp("hostile"), model="sim:") as made:
        yield made


@pytest.mark.parametrize(
    "body",
    [
        {"://a:" * 100_000: 1},
        {"x" * 900_000: 1},
        {f"key {n}": 1 for n in range(60_000)},
        {"topic": ["://a:@" * 100_000]},
        {"topic": {"a": {"b": "y" * 500_000}}},
    ],
    ids=["a long name like an address", "a long name", "many names", "a long list", "a long mapping"],
)
def test_a_refusal_quotes_little(server: Served, body: dict):
    answer = server.post("/v1/debates", body)
    assert answer.status_code == 422
    assert len(answer.content) < 8 * KIB
    assert len(json.loads(answer.content)["errors"]) <= 20


@pytest.mark.parametrize("path", ["/v1/formats/", "/v1/roles/", "/v1/templates/", "/v1/models/", "/v1/debates/", "/"])
def test_a_long_address_is_quoted_in_part(server: Served, path: str):
    answer = server.get(path + "y" * 30_000)
    assert answer.status_code in (404, 422)
    assert len(answer.content) < 8 * KIB


def test_a_long_name_inside_of_settings_is_quoted_in_part(server: Served):
    answer = server.post("/v1/debates", {"topic": "Is it so?", "settings": {"seats": {"z" * 900_000: {}}}})
    assert answer.status_code == 422
    assert len(answer.content) < 8 * KIB


def test_a_cascade_has_an_end(server: Served):
    for model in ("|".join(["sim:"] * 50_000), "|".join(["sim:"] * 11)):
        answer = server.post("/v1/debates", {"topic": "Is it so?", "settings": {"model_judge": model}})
        assert answer.status_code == 422
        assert len(answer.content) < 8 * KIB
    assert "at most 10 models" in answer.json()["detail"]
    assert server.get("/v1/debates").json()["items"] == []


def test_without_a_token_little_can_be_sent(server: Served):
    answer = server.post("/v1/session", {"token": "x" * 4000})
    assert answer.status_code == 413
    assert "4,000 bytes" in answer.json()["detail"]
