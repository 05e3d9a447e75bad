"""The description of the API: complete, true, and good enough for generated clients."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from moot.server import openapi
from moot.server.app import ROUTERS, create_app
from moot.server.problems import KINDS
from tests.running import an_app
from tests.server.serving import Served, served, watching
from tests.web.talking import Talk

DOCS = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
OPEN = {"isAlive", "isReady", "login", "logout", "getSession"}
STREAMS = {"watchMany"}  # tested by clients that can read them


@pytest.fixture(scope="module")
def described(tmp_path_factory) -> dict[str, Any]:
    async def made() -> dict[str, Any]:
        async with an_app(tmp_path_factory.mktemp("described")) as app:
            return create_app(app).openapi()

    return asyncio.run(made())


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, each) for path, methods in described["paths"].items() for method, each in methods.items()]


def test_every_operation_is_described(described):
    ids = [operation["operationId"] for _, _, operation in operations(described)]
    assert len(ids) == len(set(ids)) == len(openapi.routes(ROUTERS))
    for path, method, operation in operations(described):
        where = f"{method} {path}"
        assert re.fullmatch(r"[a-z][a-zA-Z]+", operation["operationId"]), where
        assert operation["summary"], where
        assert operation["description"], where
        assert len(operation["tags"]) == 1, where
        assert operation["tags"][0] in [tag["name"] for tag in described["tags"]], where
        assert ("x-scope" in operation) != (operation["operationId"] in OPEN), where
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            if int(status) >= 400 and operation["operationId"] != "isReady":
                told = "application/json" if operation["tags"] == ["chat"] else "application/problem+json"
                assert list(content) == [told], f"{where} {status}"
            elif status not in ("204", "304"):
                assert content, f"{where} {status}"
                assert all(kind["schema"] for kind in content.values()), f"{where} {status}"
        for status in ("429", "500", "503", *(("401", "403") if "x-scope" in operation else ())):
            assert status in operation["responses"], f"{where} {status}"


def test_every_name_leads_somewhere(described):
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)))
    assert names <= set(described["components"]["schemas"])
    assert all(re.fullmatch(r"[A-Z][A-Za-z]+", name) for name in described["components"]["schemas"])
    for streamed in ("Event", "Delta", "End", "DebateSummary", "Problem"):
        assert streamed in described["components"]["schemas"]


def schemas_in(node: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the description, with its place; names of properties are no keywords."""
    if isinstance(node, dict):
        yield where, node
        for name, value in node.items():
            inside = value.items() if name == "properties" else [(name, value)]
            for key, each in inside:
                yield from schemas_in(each, f"{where}/{key}")
    elif isinstance(node, list):
        for at, each in enumerate(node):
            yield from schemas_in(each, f"{where}/{at}")


def test_generators_find_one_class_for_each_name(described):
    """They make classes of titles and of choices that stand in a place of their own, and can't make one of null."""
    choices = {tuple(each["enum"]) for each in described["components"]["schemas"].values() if "enum" in each}
    assert ("read", "run", "decide", "admin") in choices
    for where, schema in schemas_in({"paths": described["paths"], "components": described["components"]}):
        assert not isinstance(schema.get("title"), str), where
        if schema.get("type") == "null":
            assert re.search(r"/anyOf/\d+$", where), where
        if isinstance(schema.get("enum"), list):
            assert re.match(r"/components/schemas/\w+$", where) or tuple(schema["enum"]) not in choices, where
    for name, schema in described["components"]["schemas"].items():
        assert "cast" not in schema.get("properties", {}), f"{name}: it would hide the function that generators call"
    for _, _, operation in operations(described):
        for parameter in operation.get("parameters", ()):
            assert {"type": "null"} not in parameter["schema"].get("anyOf", ()), parameter


def test_a_live_stream_is_what_the_description_says(server: Served, described):
    import jsonschema_rs

    def valid(name: str, value: Any) -> bool:
        schema = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
        return jsonschema_rs.validator_for(schema).is_valid(value)

    items = described["components"]["schemas"]["StreamItem"]["discriminator"]["mapping"]
    kinds: set[str] = set()
    with Talk() as talk, ExitStack() as stack:
        made = server.made(start=False, settings={"max_rounds": 1, "model_debater": talk.model})
        events = stack.enter_context(watching(server, f"/v1/debates/{made['id']}/events"))
        server.post(f"/v1/debates/{made['id']}/start").raise_for_status()
        for each in events:
            if each.event == ":":
                continue
            item = {"event": each.event, "data": json.dumps(each.data), **({"id": each.id} if each.id else {})}
            assert valid("StreamItem", item), item
            schema = described["components"]["schemas"][items[each.event].rsplit("/", 1)[-1]]
            assert valid(schema["properties"]["data"]["contentSchema"]["$ref"].rsplit("/", 1)[-1], each.data), each
            if each.event == "delta" and "delta" not in kinds:
                talk.go_on(2)  # what is said is not ended before a part of it is sent
            kinds.add(each.event)
    assert kinds == set(items)


def test_what_is_always_there_is_required(described):
    for name in (
        "Debate",
        "DebateSummary",
        "Outcome",
        "Vocabulary",
        "Seat",
        "Turn",
        "Event",
        "Delta",
        "Gate",
        "Record",
        "Diff",
    ):
        schema = described["components"]["schemas"][name]
        assert set(schema["required"]) == set(schema["properties"]), name


def test_every_route_is_documented_and_none_besides():
    known = {f"{method} {route.path}" for route in openapi.routes(ROUTERS) for method in route.methods}
    documented = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)`", DOCS))
    assert documented == known | {"GET /openapi.json"}


def test_every_problem_is_documented():
    for kind in KINDS:
        assert re.search(rf"^\| {kind.status} \| `{kind.slug}` \|", DOCS, re.MULTILINE), kind.slug


@pytest.mark.slow
def test_it_can_be_had_without_a_server(described):
    printed = subprocess.run([sys.executable, "-m", "moot.server"], capture_output=True, text=True, check=True)
    assert json.loads(printed.stdout) == described


def test_the_served_description_is_this_one(server: Served, described):
    assert server.get("/openapi.json").json() == described
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("moot.server.openapi.describe", None)  # it is written once: anyone may ask for it, often
        assert server.get("/openapi.json").json() == described


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """With debates in several states, so that generated requests find something."""
    with served(tmp_path_factory.mktemp("busy"), model="sim:") as server:
        server.completed(settings={"max_rounds": 1, "claims": False})
        server.completed(format="duel", settings={"turns": 2})
        server.made(start=False)
        yield server


# The server is in this process, and makes its ids at random while requests are drawn.
@pytest.mark.filterwarnings("ignore:Do not use the .random. module:hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("examples", [5, pytest.param(20, marks=pytest.mark.soak)])
def test_generated_requests_find_no_bug_and_no_lie(busy: Served, examples: int):
    """Every operation, with valid and invalid requests: never a 500, always what the description says."""
    import schemathesis

    schema = schemathesis.openapi.from_dict(busy.get("/openapi.json").json())
    ids = [item["id"] for item in busy.get("/v1/debates").json()["items"]]
    tried: list[str] = []
    followed: list[str] = []  # debates that a new one was made to follow
    for found in schema.get_all_operations():
        operation = found.ok()
        name = operation.definition.raw["operationId"]
        if name in STREAMS:
            continue
        followed += _try_out(
            busy, operation, ids, examples=examples * (4 if name in ("createChatCompletion", "createDebate") else 1)
        )
        tried.append(name)
    assert len(tried) == len(openapi.routes(ROUTERS)) - len(STREAMS)
    assert followed


def _try_out(server: Served, operation: Any, ids: list[str], examples: int) -> list[str]:
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi.checks import (
        negative_data_rejection,
        positive_data_acceptance,
        response_schema_conformance,
    )

    valid = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    invalid = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    followed: list[str] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(valid, invalid), place=st.integers(0, len(ids)))
    def check(case: Any, place: int) -> None:
        # What the schema can't say, such as the settings of a format, may be refused all the same.
        excluded = [positive_data_acceptance]
        for name in ("debate_id", "other_id"):
            if name in (case.path_parameters or {}) and place < len(ids):
                case.path_parameters[name] = ids[place]
                excluded = [positive_data_acceptance, negative_data_rejection]  # that was what was wrong, perhaps
        if "response_id" in (case.path_parameters or {}) and place < len(ids):
            case.path_parameters["response_id"] = f"resp_{ids[place]}"
            excluded = [positive_data_acceptance, negative_data_rejection]
        if operation.definition.raw["operationId"] == "createDebate" and place < len(ids):
            excluded = [positive_data_acceptance, negative_data_rejection]
            _make_it_follow(case, ids[place])
        if operation.path == "/v1/chat/completions" and place < len(ids):
            excluded = [positive_data_acceptance, negative_data_rejection]
            _make_a_question_of_it(case, place)
        response = case.call(base_url=server.url)
        if response.status_code == 201 and isinstance(case.body, dict) and case.body.get("follows") in ids:
            followed.append(case.body["follows"])
        if response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
            excluded = [*excluded, response_schema_conformance]  # it takes the schema for that of one event
            _is_a_whole_stream(response.text)
        case.validate_response(response, excluded_checks=excluded)

    check()
    return followed


def _is_a_whole_stream(text: str) -> None:
    *chunks, done = [line.removeprefix("data: ") for line in text.splitlines() if line and not line.startswith(":")]
    assert done == "[DONE]"
    assert {json.loads(chunk)["object"] for chunk in chunks} == {"chat.completion.chunk"}


def _make_it_follow(case: Any, earlier: str) -> None:
    """Almost everything that is drawn is refused for its format or settings: now it is a follow-up."""
    if isinstance(case.body, dict):
        case.body = {**case.body, "format": "classic", "settings": {"max_rounds": 1}, "follows": earlier}


def _make_a_question_of_it(case: Any, place: int) -> None:
    """Almost everything that is drawn is refused for its model: now it starts a debate, or is a chore."""
    if isinstance(case.body, dict):
        asked = [{"role": "user", "content": ("Redis or PostgreSQL?", "### Task:\nA title.")[place % 2]}]
        said = case.body.get("messages")
        case.body |= {"model": "moot/classic", "messages": [*(said if isinstance(said, list) else ()), *asked]}
        for name in ("n", "tools", "functions", "response_format", "logprobs", "modalities"):
            case.body.pop(name, None)
    for name in ("X-Moot-Settings", "X-Moot-Debate"):
        (case.headers or {}).pop(name, None)
