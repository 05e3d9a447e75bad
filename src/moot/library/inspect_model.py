"""A debate as a model of Inspect (the package `inspect_ai`): `--model moot/council`, without a server.

Debates run on an event loop of moot's own, in a thread, whatever loop Inspect uses. Inspect closes no models, so moot
stays open until the process ends, and weights are loaded once."""

# Inspect is not installed with moot.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import json
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from moot.client.presets import expanded
from moot.client.shorthand import settings_of
from moot.core.errors import InputError, WrongStatus
from moot.core.types import Json
from moot.formats.format import Effort
from moot.library.handle import AsyncDebate, run_to_rest
from moot.library.loop_thread import LoopThread
from moot.library.opening import open
from moot.library.session import AsyncMoot
from moot.planning import Plan
from moot.reasoning.conversation import context
from moot.records.transcript import outcome_text
from moot.request import Request, merged, read_effort

T = TypeVar("T")

logger = logging.getLogger(__name__)

EVALUATION = "inspect"  # of its debates: like the cells of an evaluation, they are not listed and not remembered
ANSWER = "ANSWER"  # how Inspect's scorers expect a choice
# Options of Inspect that don't reach into a debate, and don't have to.
_OWN = {
    "response_schema", "max_connections", "adaptive_connections", "max_retries", "timeout", "attempt_timeout",
    "system_message", "cache", "batch",
}  # fmt: skip


class DebateModel(ModelAPI):
    """The model `FORMAT` or `FORMAT/MODEL`: a format or a preset, and the model of all its seats."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        effort: str | None = None,
        database: str | None = None,
        data_dir: str | None = None,
        **settings: Any,
    ) -> None:
        """Raises InputError if there is no such format, setting or model."""
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        if base_url is not None or api_key is not None:
            raise InputError(
                "Debates run in this process: leave the base URL and the key out. The keys of models are read from the "
                "environment, as on the command line."
            )
        name, _, spec = model_name.partition("/")
        self._format, self._spec, self._settings = name, spec or None, settings
        self._effort: Effort | None = read_effort(effort)
        opening = open(database=database, data_dir=data_dir)
        self._thread = LoopThread()
        self._ignored: set[str] = set()

        async def opened() -> AsyncMoot:
            session = opening.session()
            await self._plan(session, "Is everything there?", {})  # a wrong setting is refused before the first sample
            return session

        try:
            self._moot = self._thread.call(opened)
        except BaseException:
            self._thread.close()
            raise

    async def aclose(self) -> None:
        await self._run(lambda: self._moot.close())
        await to_thread.run_sync(self._thread.close)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Debate the last message of the user. What was said before is background."""
        if tools and tool_choice != "none":
            raise InputError("A debate calls no tools. Run a task or a solver that offers none.")
        self._note_ignored(config)
        schema = None if config.response_schema is None else _schema(config)
        question, before = _question(input)
        debate = await self._run(lambda: self._debate(question, before, schema))
        return self._output(debate, schema)

    async def _debate(self, question: str, before: str, schema: Json | None) -> AsyncDebate:
        plan = await self._plan(self._moot, question, {} if schema is None else {"answer_schema": schema})
        client = self._moot.client
        made = await client.create(replace(plan, evaluation=EVALUATION, looks_back=False), guidance=before)
        return await run_to_rest(await AsyncDebate.of(client, made))

    async def _plan(self, moot: AsyncMoot, question: str, more: Json) -> Plan:
        """The plan of the debate, with nothing that a person would be asked."""
        client, given = moot.client, {**self._settings, **more}
        expanded(client.app, Request(format=self._format))  # an unknown name is refused
        settings = settings_of(client.app, self._format, given, model=self._spec)
        request = Request(topic=question, format=self._format, settings=settings, effort=self._effort)
        plan = await client.plan(request)
        asked = {name: value for name, value in plan.format.unattended.items() if name not in settings}
        return await client.plan(replace(request, settings=merged(asked, settings))) if asked else plan

    async def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do work on moot's loop. If Inspect cancels the wait, so is the work: a debate is stopped."""
        future = self._thread.submit(work)
        alone = CapacityLimiter(1)  # threads that wait for debates are taken from no one
        try:
            return await to_thread.run_sync(future.result, abandon_on_cancel=True, limiter=alone)
        finally:
            future.cancel()

    def _output(self, debate: AsyncDebate, schema: Json | None) -> ModelOutput:
        """Raises WrongStatus if the debate has no outcome."""
        outcome, used = debate.outcome, debate.usage
        if schema is not None and outcome.structured is None:
            raise WrongStatus(
                f"Debate {debate.id[:8]} is decided, but its answer could not be put into the schema of the task: "
                f"{outcome.unstructured.rstrip('.')}.",
                debate=debate.id[:8],
                status=debate.status,
                verb="record",
            )
        if schema is not None:
            text = json.dumps(outcome.structured, ensure_ascii=False)
        else:
            text = outcome_text(outcome, demonstration=debate.demonstration)
            if outcome.answer is not None and not outcome.answer.is_code and "answer" in self._settings:
                text += f"\n\n{ANSWER}: {outcome.answer}"
        message = ChatMessageAssistant(content=text, model=self.model_name, source="generate")
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason="stop")],
            usage=ModelUsage(
                input_tokens=used.tokens_in - used.tokens_cached - used.tokens_stored,
                output_tokens=used.tokens_out,
                total_tokens=used.tokens_in + used.tokens_out,
                input_tokens_cache_read=used.tokens_cached,
                input_tokens_cache_write=used.tokens_stored,
                total_cost=used.cost_usd,
            ),
            metadata={"debate": debate.id, "format": debate.format, "winner": outcome.winner},
        )

    def _note_ignored(self, config: GenerateConfig) -> None:
        given = {name for name, value in config.model_dump(exclude_none=True).items() if value not in (False, [], {})}
        for name in sorted(given - _OWN - self._ignored):
            logger.warning("A debate has several models, so %s is not used. Settings of moot are given with -M.", name)
            self._ignored.add(name)


def _question(messages: list[ChatMessage]) -> tuple[str, str]:
    """The last message of the user, and what was said before it, fenced."""
    last = max((at for at, each in enumerate(messages) if each.role == "user"), default=None)
    if last is None:
        raise InputError("There is no message of the user to debate.")
    for each in messages:
        for part in () if isinstance(each.content, str) else each.content:
            if part.type not in ("text", "reasoning"):
                raise InputError(f"Debates are about words: content of the type {part.type!r} can't be read.")
    before = messages[:last]
    system = "\n\n".join(each.text for each in before if each.role == "system")
    return messages[last].text, context(system, [(each.role, each.text) for each in before if each.role != "system"])


def _schema(config: GenerateConfig) -> Json:
    return config.response_schema.json_schema.model_dump(mode="json", exclude_none=True)
