"""What there is to choose from, what remains of debates, and how the server is."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import yaml

from moot import __version__, formats
from tests.plugins import write
from tests.server.serving import Served, served
from tests.server.test_debates import problem

RULING = {"summary": "A was clearer.", "score_a": 7, "score_b": 5, "no_new_substantive_arguments": False}
CLAIM = {"text": "Caches forget.", "stance": "none", "target": "", "quote": "", "evidence": "", "concedes": []}


class TestCatalog:
    def test_formats_say_all_that_a_form_needs(self, server: Served):
        found = {each["name"]: each for each in server.get("/v1/formats").json()["items"]}
        assert set(found) == set(formats.installed())
        classic = found["classic"]
        assert not any(each["default"] for each in found.values())  # the question decides
        assert classic["settings_schema"]["properties"]["a_stance"]["enum"] == ["pro", "con"]
        assert classic["defaults"]["max_rounds"] == 5
        assert [part["id"] for part in classic["parts"]] == ["a", "b", "judge"]
        assert [(part["role"], part["tier"], part["voice"]) for part in classic["parts"]] == [
            ("debater", "debater", True),
            ("debater", "debater", True),
            ("judge", "judge", False),
        ]
        assert len(found["panel"]["catalog"]) >= 16
        assert all(each["name"] and each["about"] for each in found["panel"]["catalog"])
        assert (found["duel"]["dialects"], found["crucible"]["dialects"]) == (["duel"], ["crucible"])
        assert classic["dialects"] == []
        for each in found.values():
            assert each["ledger"] is ("claims" in each["settings_schema"]["properties"])
        assert server.get("/v1/formats/duel").json() == found["duel"]
        assert "Known:" in problem(server.get("/v1/formats/nope"), 404, "not-found")["detail"]

    def test_every_example_can_be_run(self, server: Served):
        for format_ in server.get("/v1/formats").json()["items"]:
            assert format_["examples"]
            for example in format_["examples"]:
                settings = {**example["settings"], "model_debater": "sim:", "model_judge": "sim:"}
                body = {"topic": example["topic"], "format": format_["name"], "settings": settings, "start": False}
                assert server.post("/v1/debates", body).status_code == 201, example

    def test_a_format_that_can_not_be_used_is_named_with_what_is_wrong(self, server: Served, tmp_path, plugged_in):
        assert server.get("/v1/formats").json()["problems"] == []
        plugged_in(write(tmp_path, "moot-quarrel", {"moot.formats": {"quarrel": "quarrel:X"}}, {"quarrel.py": "X = 7"}))
        listed = server.get("/v1/formats").json()
        text = "It is not a `moot.formats.format.Format`."
        assert listed["problems"] == [{"name": "quarrel", "package": "moot-quarrel 1.0", "problem": text}]
        assert {each["name"] for each in listed["items"]} == set(formats.installed())
        assert "can't be used" in problem(server.get("/v1/formats/quarrel"), 404, "not-found")["detail"]

    def test_defaults_are_those_of_the_configuration(self, tmp_path):
        with served(tmp_path, format="duel", defaults={"duel": {"turns": 10}}) as server:
            duel = server.get("/v1/formats/duel").json()
            assert (duel["default"], duel["defaults"]["turns"]) == (True, 10)
            assert server.post("/v1/debates", {"topic": "Why?", "start": False}).json()["settings"]["turns"] == 10

    def test_providers_say_what_would_be_chosen(self, tmp_path):
        with served(tmp_path, environ={"ANTHROPIC_API_KEY": "x"}, model_judge="sim:") as server:
            told = server.get("/v1/providers").json()
            chosen = {each["tier"]: each for each in told["chosen"]}
            assert chosen["debater"]["model"].startswith("anthropic:")
            assert chosen["debater"]["reason"] == "ANTHROPIC_API_KEY is set"
            assert chosen["judge"]["demonstration"] is True
            usable = {each["name"]: each["usable"] for each in told["items"]}
            assert (usable["anthropic"], usable["openai"], usable["local"]) == (True, False, True)
            first, *others = told["detected"]
            assert first["model"] == chosen["debater"]["model"]
            assert first["usd_out"] > first["usd_in"] > 0
            assert first["context"] >= 100_000
            assert [each["demonstration"] for each in others if each["model"] == "sim:"] == [True]

    def test_embedded_models_say_whether_they_are_here(self, tmp_path):
        with served(tmp_path, data_dir=str(tmp_path)) as server:
            told = {each["model"]: each for each in server.get("/v1/providers").json()["embedded"]}
            assert set(told) == {"local", "local:small"}
            assert told["local"]["bytes"] > told["local:small"]["bytes"] > 0
            assert {(each["here"], each["licence"]) for each in told.values()} == {(False, "Apache-2.0")}

    def test_templates(self, server: Served):
        listed = server.get("/v1/templates").json()
        assert len(listed["items"]) >= 11
        assert listed["problems"] == []
        one = server.get(f"/v1/templates/{listed['items'][0]['id']}?html=true").json()
        assert one["text"]
        assert one["html"].startswith("<")
        problem(server.get("/v1/templates/nope"), 404, "not-found")

    def test_the_configuration_says_where_values_come_from(self, server: Served):
        told = {each["name"]: each for each in server.get("/v1/config").json()["items"]}
        assert told["serve_port"] == {"name": "serve_port", "value": 8421, "layer": "default"}


class TestRecords:
    def test_as_json_and_as_a_document(self, server: Served):
        done = server.completed(settings={"max_rounds": 1})
        path = f"/v1/debates/{done['id']}"
        record = server.get(f"{path}/record").json()
        assert (record["type"], record["debate"]) == ("moot.record", done["id"])
        by_query = server.get(f"{path}/record?format=markdown")
        by_header = server.get(f"{path}/record", headers={"Accept": "text/markdown"})
        assert by_query.text == by_header.text
        assert by_query.headers["content-type"] == "text/markdown; charset=utf-8"
        assert yaml.safe_load(by_query.text.split("---")[1])
        issue = server.get(f"{path}/issue").json()
        assert issue["title"] == f"Follow up: {record['title']}"
        assert issue["body"] in server.get(f"{path}/issue?format=markdown").text
        proof = server.get(f"{path}/proof").json()
        assert (proof["same"], proof["turns"], proof["line"]) == (True, done["turns"], None)
        problem(server.get(f"{path}/trace"), 404, "not-found")  # formats that keep one have it

    def test_there_is_none_before_the_end(self, server: Served):
        made = server.made(start=False)
        for part in ("record", "issue"):
            told = problem(server.get(f"/v1/debates/{made['id']}/{part}"), 409, "wrong-status")
            assert told["actions"][0] == "start"

    def test_claims(self, tmp_path):
        with served(tmp_path, answers={"*/claims-*/*": {"claims": [CLAIM]}, "*/verdict/*": RULING}) as server:
            done = server.completed(settings={"max_rounds": 1, "claims": True})
            ledger = server.get(f"/v1/debates/{done['id']}/claims").json()
            assert ledger["debate"] == done["id"]
            assert {claim["text"] for claim in ledger["claims"]} == {"Caches forget."}
            drawn = server.get(f"/v1/debates/{done['id']}/claims?format=mermaid")
            assert drawn.text.startswith("flowchart")
            without = server.completed(settings={"max_rounds": 1})
            problem(server.get(f"/v1/debates/{without['id']}/claims"), 404, "not-found")

    def test_what_was_decided_is_found(self, server: Served):
        done = server.completed(topic="Should penguins fly south in winter?", settings={"max_rounds": 1})
        found = server.get("/v1/search", params={"q": "penguins in winter"}).json()
        assert [hit["id"] for hit in found["items"]] == [done["id"]]
        assert server.get("/v1/search", params={"q": "zebras"}).json()["items"] == []
        problem(server.get("/v1/search"), 422, "invalid")


class TestEstimates:
    def test_of_a_duel_counts_its_calls(self, server: Served):
        priced = "sim:?price_in=1&price_out=2"
        settings = {"turns": 6, "model_debater": priced, "model_judge": priced}
        told = server.post("/v1/debates/estimate", {"topic": "Why?", "format": "duel", "settings": settings}).json()
        full = told["full_length"]
        assert full["calls"] == 30
        assert full["tokens_out"] == 14 * 600 + 16 * 400
        assert full["cost_usd"] == pytest.approx((full["tokens_in"] + 2 * full["tokens_out"]) / 1_000_000)
        assert told["limits"] == {"tokens_out": 32_000, "cost_usd": None, "runtime_seconds": 1800}
        assert any("max_cost_usd" in note for note in told["notes"])
        assert {price["usd_out"] for price in told["prices"]} == {2.0}

    def test_of_every_format_and_nothing_is_stored(self, server: Served):
        before = server.get("/v1/debates").json()
        models = {"model_debater": "sim:", "model_judge": "sim:"}
        for name in formats.installed():
            told = server.post("/v1/debates/estimate", {"topic": "Why?", "format": name, "settings": models}).json()
            assert told["full_length"]["calls"] > 2
            assert told["full_length"]["tokens_out"] <= told["limits"]["tokens_out"]
        assert server.get("/v1/debates").json() == before

    @pytest.mark.parametrize(
        ("settings", "most"),
        [
            ({"preset": "quick", "gates": ["proposal"]}, 12 + 7),
            ({"max_calls": 3}, 3),
        ],
    )
    def test_of_what_has_a_limit_of_calls_the_worst_is_said_too(self, server: Served, settings, most):
        priced = "sim:?price_in=1&price_out=2"
        models = {"model_debater": priced, "model_judge": priced}
        asked = {"topic": "Write add(a, b)", "format": "forge", "settings": {**models, **settings}}
        told = server.post("/v1/debates/estimate", asked).json()
        full, worst = told["full_length"], told["most"]
        assert worst["calls"] == most
        assert full["calls"] <= most
        assert full["tokens_out"] <= worst["tokens_out"] <= told["limits"]["tokens_out"]
        assert worst["tokens_out"] == min(most * 4000, 120_000)
        assert full["cost_usd"] <= worst["cost_usd"]
        duel = server.post("/v1/debates/estimate", {"topic": "Why?", "format": "duel", "settings": models})
        assert duel.json()["most"] is None

    def test_a_bound_on_the_money_holds_and_an_unknown_price_is_said(self, tmp_path):
        with served(tmp_path, environ={"OPENAI_API_KEY": "x"}) as server:
            dear = {"model_debater": "sim:?price_out=900000", "model_judge": "sim:", "max_cost_usd": 0.5}
            told = server.post("/v1/debates/estimate", {"topic": "Why?", "settings": dear}).json()
            assert told["full_length"]["cost_usd"] == told["limits"]["cost_usd"] == 0.5
            unknown = {"model_debater": "openai:no-such-model-at-all", "model_judge": "sim:"}
            told = server.post("/v1/debates/estimate", {"topic": "Why?", "settings": unknown}).json()
            assert told["full_length"]["cost_usd"] is None
            assert any("is not known" in note for note in told["notes"])


class TestHealth:
    def test_it_lives_and_can_work(self, server: Served):
        assert server.get("/healthz").json() == {"status": "ok"}
        told = server.get("/readyz").json()
        assert told["status"] == "ready"
        assert all(check["ok"] for check in told["checks"])

    def test_a_database_that_is_broken_is_told(self, tmp_path):
        with served(tmp_path) as server:
            with closing(sqlite3.connect(tmp_path / "moot.db")) as other:
                other.execute("alter table debate_sessions rename to gone")
            refused = server.get("/readyz")
            assert refused.status_code == 503
            assert refused.json()["status"] == "not ready"
            assert [check["ok"] for check in refused.json()["checks"]] == [False, True]
            problem(server.get("/v1/debates"), 503, "store-unavailable")
            assert server.get("/healthz").status_code == 200

    def test_numbers_for_prometheus(self, server: Served):
        server.made(start=False)
        response = server.get("/metrics")
        assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert f'version="{__version__}"' in response.text
        assert 'status="pending"' in response.text
        assert "moot_streams_open 0" in response.text
