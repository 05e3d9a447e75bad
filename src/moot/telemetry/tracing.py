"""OpenTelemetry spans of drives, steps and model calls. Imported only if traces are on."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

from moot import __version__
from moot.core.errors import InputError
from moot.core.script import Step
from moot.core.types import Call, Debate, Message, Model, Reply, Usage
from moot.models.spec import ModelSpec
from moot.telemetry import OnResult, names, task_context

Shutdown = Callable[[], None]


def start() -> tuple[Tracer, Shutdown | None]:
    """A tracer, and how to shut it down. Uses the process's tracer provider if it has one; else one that exports as the
    OTEL_ variables say, whose shutdown sends the last spans."""
    shutdown: Shutdown | None = None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):  # none is set
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            raise InputError(
                'traces need libraries that are not installed: pip install "moot[telemetry]", or set traces to false.'
            ) from None
        ours = Resource({SERVICE_NAME: "moot", SERVICE_VERSION: __version__})
        provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
        shutdown = provider.shutdown
    return trace.get_tracer("moot", __version__), shutdown


class Spans:
    """`content`: include what models read and write. Error messages, which may quote it, are never included."""

    def __init__(self, tracer: Tracer, *, content: bool = False) -> None:
        self._tracer, self._content = tracer, content

    @contextmanager
    def drive(self, debate: Debate) -> Generator[Span]:
        about = {
            names.DEBATE: debate.id,
            names.EPOCH: debate.epoch,
            names.FORMAT: debate.format,
            names.CONVERSATION: debate.id,
        }
        with self._span(f"debate {debate.format}", about) as span:
            yield span

    @contextmanager
    def step(self, debate: Debate, step: Step) -> Generator[OnResult]:
        about: dict[str, Any] = {
            names.DEBATE: debate.id,
            names.EPOCH: debate.epoch,
            names.KEY: step.key,
            names.KIND: step.kind,
            names.ROUND: step.round,
            names.PHASE: step.phase,
            names.SEAT: step.seat.id,
        }
        with self._span(f"step {step.phase}", about) as span:

            def answered(result: Reply | Exception) -> None:
                if isinstance(result, Reply):
                    span.set_attributes(_used(result.usage) | {names.ATTEMPTS: len(result.attempts)})
                else:
                    _failed(span, result)

            yield answered

    async def call(self, spec: ModelSpec, call: Call, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        about: dict[str, Any] = {
            names.OPERATION: names.CHAT,
            names.PROVIDER: spec.provider,
            names.REQUEST_MODEL: spec.model,
            names.REQUEST_MAX_TOKENS: call.max_tokens,
            names.OUTPUT_TYPE: "text" if call.json_shape is None else "json",
        }
        here = task_context.get()
        if here is not None:
            about[names.CONVERSATION] = here.debate_id
        about |= {names.SAMPLING[name]: value for name, value in call.sampling.given.items()}
        if self._content:
            about[names.INPUT_MESSAGES] = _content(call.messages)
        with self._span(f"{names.CHAT} {spec.model}".strip(), about, SpanKind.CLIENT) as span:
            reply = await ask()
            span.set_attributes(
                _used(reply.usage) | {names.RESPONSE_MODEL: reply.model, names.FINISH_REASONS: [reply.finish_reason]}
            )
            if reply.first_token_ms is not None:
                span.set_attribute(names.FIRST_CHUNK, reply.first_token_ms / 1000)
            if self._content:
                written = _content([Message(role="assistant", text=reply.text)], finish_reason=reply.finish_reason)
                span.set_attribute(names.OUTPUT_MESSAGES, written)
            return reply

    @contextmanager
    def _span(self, name: str, about: dict[str, Any], kind: SpanKind = SpanKind.INTERNAL) -> Generator[Span]:
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=about, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                _failed(span, error)
                raise


def with_spans(model: Model, spec: ModelSpec, spans: Spans) -> Model:
    async def traced(call: Call, hear: Any) -> Reply:
        return await spans.call(spec, call, lambda: model(call, hear))

    return traced


def _used(usage: Usage) -> dict[str, Any]:
    used: dict[str, Any] = {names.INPUT_TOKENS: usage.tokens_in, names.OUTPUT_TOKENS: usage.tokens_out}
    if usage.tokens_cached:
        used[names.CACHED_TOKENS] = usage.tokens_cached
    if usage.tokens_stored:
        used[names.STORED_TOKENS] = usage.tokens_stored
    if usage.cost_usd is not None:
        used[names.COST] = usage.cost_usd
    return used


def _failed(span: Span, error: BaseException) -> None:
    span.set_attribute(names.ERROR, type(error).__name__)
    span.set_status(StatusCode.ERROR)


def _content(messages: Sequence[Message], **more: str) -> str:
    made = [
        {"role": message.role, "parts": [{"type": "text", "content": message.text}], **more} for message in messages
    ]
    return json.dumps(made, ensure_ascii=False)
