"""Spans, through the SDK's own exporter in memory."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

from moot.app import App
from moot.core.settings import Settings
from moot.core.types import Debate, Sampling
from moot.telemetry import names
from moot.telemetry.telemetry import Telemetry
from tests.models.wire import Say, Wire
from tests.records.test_webhook import Receiver
from tests.running import new_debate, run_to_rest

CANARY = "aardvark"


def traced(folder: Path, monkeypatch: pytest.MonkeyPatch, model: str, **settings: Any) -> tuple[Debate, Sequence]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("moot")
    own = Telemetry.of
    monkeypatch.setattr(Telemetry, "of", classmethod(lambda cls, settings: own(settings, tracer=tracer)))

    async def main() -> Debate:
        given = {"database_url": str(folder / "moot.db"), **settings}
        app = App(Settings(**given), environ={}, measured=True)
        try:
            return await run_to_rest(app, await new_debate(app, model, "classic", max_rounds=1))
        finally:
            await app.close()

    debate = asyncio.run(main())
    return debate, exporter.get_finished_spans()


def named(spans: Sequence[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


def test_a_debate_its_steps_and_their_calls(tmp_path, monkeypatch):
    with Wire(Say("Yes.", tokens=(200, 5, 8)), Say(status=503), Say("No.", tokens=(300, 6, 0))) as wire:
        debate, spans = traced(tmp_path, monkeypatch, f"openai:m@{wire.openai}", backoff_tries=3)
    (root,) = named(spans, "debate classic")
    assert root.parent is None
    assert root.attributes is not None
    assert (root.attributes[names.DEBATE], root.attributes[names.EPOCH]) == (debate.id, 1)
    assert root.attributes[names.STATUS] == debate.status
    steps = [*named(spans, "step speak"), *named(spans, "step verdict")]
    assert [span.attributes[names.KEY] for span in steps] == ["1/speak/a", "1/speak/b", "1/verdict/judge"]
    assert {span.parent.span_id for span in steps} == {root.context.span_id}
    assert {span.context.trace_id for span in spans} == {root.context.trace_id}
    calls = named(spans, "chat m")
    by_step = [[call for call in calls if call.parent.span_id == step.context.span_id] for step in steps]
    assert [len(each) for each in by_step[:2]] == [1, 2]  # the second was refused once, and tried again
    first, (refused, second) = by_step[0][0], by_step[1]
    assert (first.kind, first.status.status_code) == (SpanKind.CLIENT, StatusCode.UNSET)
    assert {name: first.attributes[name] for name in (names.OPERATION, names.PROVIDER, names.REQUEST_MODEL)} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
    }
    assert first.attributes[names.CONVERSATION] == debate.id
    used = (names.INPUT_TOKENS, names.OUTPUT_TOKENS, names.CACHED_TOKENS)
    assert [first.attributes[name] for name in used] == [200, 5, 8]
    assert list(first.attributes[names.FINISH_REASONS]) == ["stop"]
    assert (refused.status.status_code, refused.attributes[names.ERROR]) == (StatusCode.ERROR, "ModelOverloaded")
    assert second.attributes[names.OUTPUT_TOKENS] == 6
    assert steps[1].attributes[names.ATTEMPTS] == 1


@pytest.mark.parametrize("content", [False, True])
def test_what_is_said_is_in_spans_only_when_asked_for(tmp_path, monkeypatch, content):
    with Wire(Say(f"{CANARY} says so."), Say(status=400, error={"error": {"message": CANARY}})) as wire:
        debate, spans = traced(tmp_path, monkeypatch, f"openai:m@{wire.openai}", trace_content=content)
    assert debate.status == "failed"
    everything = "".join(span.to_json() for span in spans)
    assert (CANARY in everything) is content
    assert (debate.topic in everything) is content
    if content:
        (said,) = [span for span in spans if names.OUTPUT_MESSAGES in span.attributes]
        assert f'"content": "{CANARY} says so."' in said.attributes[names.OUTPUT_MESSAGES]
        failed = [span for span in spans if span.status.status_code == StatusCode.ERROR]
        assert all(CANARY not in (span.status.description or "") and not span.events for span in failed)


def test_names_are_those_of_the_conventions():
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    ours = {*names.SAMPLING.values(), *(value for value in vars(names).values() if isinstance(value, str))}
    conventional = {name for name in ours if name.startswith("gen_ai.")}
    assert len(conventional) > 10
    assert conventional <= known
    assert names.SAMPLING.keys() == Sampling.model_fields.keys()


def test_nothing_of_it_is_imported_unless_it_is_wanted(tmp_path):
    code = f"""
import sys
from moot.app import App
from moot.core.settings import Settings
app = App(Settings(database_url={str(tmp_path / "moot.db")!r}), {{}}, measured=True)
app.runtime, app.models.open("sim:")
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_traces_are_refused_with_what_to_install_where_the_libraries_are_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(Exception, match=r'pip install "moot\[telemetry\]"'):
        App(Settings(traces=True, database_url=str(tmp_path / "moot.db")), {})


@pytest.mark.slow
def test_spans_reach_a_collector(tmp_path):
    """The real exporter, against a loopback server."""
    with Receiver(200) as collector:
        code = f"""
import asyncio
from moot.app import App
from moot.core.settings import Settings
from tests.running import new_debate, run_to_rest

async def main():
    app = App(Settings(database_url={str(tmp_path / "moot.db")!r}, traces=True), {{}})
    await run_to_rest(app, await new_debate(app, "sim:", "classic", max_rounds=1))
    await app.close()

asyncio.run(main())
"""
        endpoint = collector.url.removesuffix("/hooks/t0ps3cret")
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "PATH": "", "OTEL_SERVICE_NAME": "team"}
        subprocess.run([sys.executable, "-c", code], env=environ, cwd=Path(__file__).parents[2], check=True, timeout=60)
    assert {path for path, _, _ in collector.requests} == {"/v1/traces"}
    sent = b"".join(body for _, _, body in collector.requests)
    assert b"debate classic" in sent
    assert b"team" in sent
