"""The observer: counts, logs and traces what the runtime does and which models it calls."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from moot.core.errors import (
    BadOutput,
    LimitReached,
    ModelError,
    ModelOverloaded,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
    StreamBrokeOff,
)
from moot.core.script import Step
from moot.core.settings import Settings
from moot.core.types import Call, Debate, Failure, Hear, Model, Reply, Status, Turn, Usage
from moot.models import providers
from moot.models.prices import Meter
from moot.models.spec import ModelSpec
from moot.store.queue import Swept
from moot.telemetry import OnResult, names
from moot.telemetry.instruments import Instruments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from moot.telemetry.tracing import Spans

log = logging.getLogger("moot.debate")


def _ignored(_: Reply | Exception) -> None:
    pass


_UNTRACED_DRIVE: AbstractContextManager[None] = nullcontext()
_UNTRACED_STEP: AbstractContextManager[OnResult] = nullcontext(_ignored)


class Telemetry:
    """Implements `Observer` for the runtime; `wrap` observes the calls of a model."""

    def __init__(self, *, spans: Spans | None = None, shutdown: Callable[[], None] | None = None) -> None:
        self.instruments = Instruments()
        self._spans, self._shutdown = spans, shutdown

    @classmethod
    def of(cls, settings: Settings, *, tracer: Tracer | None = None) -> Telemetry:
        """Raises InputError if traces are on and their libraries are not installed."""
        if not settings.traces and tracer is None:
            return cls()
        from moot.telemetry import tracing

        tracer, shutdown = tracing.start() if tracer is None else (tracer, None)
        return cls(spans=tracing.Spans(tracer, content=settings.trace_content), shutdown=shutdown)

    async def close(self) -> None:
        if self._shutdown is not None:
            await asyncio.to_thread(self._shutdown)

    def drive(self, debate: Debate) -> AbstractContextManager[None]:
        log.info("Took %s: a %s with %d turns so far.", debate.short, debate.format, debate.turn_count)
        return _UNTRACED_DRIVE if self._spans is None else self._traced_drive(debate)

    @contextmanager
    def _traced_drive(self, debate: Debate) -> Generator[None]:
        assert self._spans is not None
        with self._spans.drive(debate):
            yield

    def step(self, debate: Debate, step: Step) -> AbstractContextManager[OnResult]:
        return _UNTRACED_STEP if self._spans is None else self._spans.step(debate, step)

    def kept(self, debate: Debate, turns: Sequence[Turn]) -> None:
        instruments, format_ = self.instruments, debate.format
        for turn in turns:
            kind = turn.kind
            instruments.steps(format_, kind, "done" if turn.failure is None else turn.failure.kind).inc()
            if kind in ("ask", "recall", "use"):
                instruments.step_seconds(format_, kind).observe(turn.duration_ms / 1000)
            if log.isEnabledFor(logging.DEBUG):
                log.debug(
                    "Stored %s: %d tokens in, %d out, %d ms.",
                    turn.key, turn.tokens_in, turn.tokens_out, turn.duration_ms, extra={"step": turn.key},
                )  # fmt: skip

    def failed(self, debate: Debate, step: Step, error: Exception) -> None:
        self.instruments.steps(debate.format, step.kind, outcome(error)).inc()
        log.warning("Step %s failed for good: %s.", step.key, outcome(error), extra={"step": step.key})

    def rested(self, debate: Debate, status: Status, error: Failure | None) -> None:
        self.instruments.rests(debate.format, status).inc()
        if error is None:
            log.info("Debate %s is %s.", debate.short, status)
        else:
            log.error("Debate %s is %s: %s. `moot show %s` says more.", debate.short, status, error.kind, debate.short)
        if self._spans is not None:
            from opentelemetry import trace

            trace.get_current_span().set_attribute(names.STATUS, status)

    def refused(self, debate: Debate) -> None:
        self.instruments.refused.inc()
        log.warning("A commit of epoch %d was rejected: another process has taken the debate over.", debate.epoch)

    def took_over(self, debate: Debate, owner: str) -> None:
        self.instruments.take_overs.inc()
        log.warning("Took %s over from %s, whose lease had expired.", debate.short, owner)

    def swept(self, swept: Swept) -> None:
        for what, count in (("orphans", swept.orphans), ("answered", swept.answered), ("stopped", swept.stopped)):
            if count:
                self.instruments.swept(what).inc(count)

    def waited(self, limit: str, seconds: float) -> None:
        self.instruments.waits(limit).inc()
        self.instruments.wait_seconds(limit).inc(seconds)

    def wrap(self, spec: ModelSpec, model: Model, meter: Meter) -> Model:
        """The model with its calls counted and traced."""
        name = f"{spec.provider}:{spec.model}" if providers.find(spec.provider).remote else spec.provider
        instruments = self.instruments
        if self._spans is not None:
            from moot.telemetry.tracing import with_spans

            model = with_spans(model, spec, self._spans)

        async def observed(call: Call, hear: Hear) -> Reply:
            began = time.perf_counter()
            ended, usage = "cut_off", None
            try:
                reply = await model(call, hear)
                ended, usage = "done", reply.usage
                return reply
            except Exception as error:
                ended, usage = outcome(error), error.usage if isinstance(error, ModelError) else None
                raise
            finally:
                instruments.calls(name, ended).inc()
                instruments.call_seconds(name).observe(time.perf_counter() - began)
                if usage is not None:
                    self._count(name, usage, meter)

        return observed

    def _count(self, name: str, usage: Usage, meter: Meter) -> None:
        tokens = self.instruments.tokens
        tokens(name, "in").inc(usage.tokens_in)
        tokens(name, "out").inc(usage.tokens_out)
        if usage.tokens_cached:
            tokens(name, "cached").inc(usage.tokens_cached)
        cost = meter(usage)
        if cost:
            self.instruments.cost(name).inc(cost)


def outcome(error: Exception) -> str:
    """The label under which a failed step or call is counted."""
    match error:
        case LimitReached():
            return "limit"
        case BadOutput():
            return "invalid"
        case ModelTimeout():
            return "timeout"
        case ModelUnavailable():
            return "unavailable"
        case ModelOverloaded(refused=True):
            return "refused"
        case ModelUnreachable():
            return "unreachable"
        case StreamBrokeOff():
            return "broke_off"
        case ModelError():
            return "overloaded"
        case _:
            return "error"
