"""What a client wants, whichever of the two APIs it speaks: checked, and turned into the request for a debate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, cast

from moot import formats
from moot.app import App
from moot.core.ceilings import lowered
from moot.core.errors import InputError
from moot.core.types import Json, record
from moot.formats.format import Effort
from moot.planning import Plan
from moot.reasoning.fence import clean
from moot.reasoning.followup import following
from moot.request import Request, format_for, merged
from moot.runtime.executors import Executors
from moot.runtime.rehearsal import least_tokens
from moot.runtime.threads import in_thread
from moot.server.chat.about import About
from moot.server.chat.chores import is_chore
from moot.server.chat.conversation import Message, context_of, earlier_question
from moot.server.chat.models import PREFIX, find_model
from moot.server.chat.shapes import TEXT, Shape
from moot.server.problems import Refused

# OpenAI's efforts in our words; what is not named leaves the format as it is.
_EFFORTS: dict[str, Effort] = {
    "none": "quick", "minimal": "quick", "low": "quick", "medium": "standard", "high": "thorough", "xhigh": "thorough",
}  # fmt: skip


@record
class Wanted:
    """A request as the client has made it."""

    model: str
    messages: Sequence[Message]
    stream: bool = False
    cap: int | None = None  # tokens that all participants together may write
    cap_param: str = ""  # what the client calls it
    effort: str | None = None
    shape: Shape = field(default_factory=lambda: TEXT)
    tools: bool = False  # it offers tools
    tool_choice: Any = None
    metadata: Json = field(default_factory=dict[str, Any])
    settings: str | None = None  # of the format, in a header, which wins over the metadata
    attach: str | None = None  # a debate to follow, in a header
    previous: str | None = None  # the id of the debate that this one follows
    private: bool = False  # one of the debates that it follows is


@record
class Question:
    """A request that has been checked: the debate to create or to follow."""

    wanted: Wanted
    request: Request
    context: str  # the conversation before the question; empty: there was none
    own: Json  # the settings that the client gave, apart from those of a preset
    chore: bool  # the client asks for itself, and no debate is needed
    attach: str | None = None  # the id of a debate to follow, instead of a new one

    @property
    def about(self) -> About:
        wanted, shape = self.wanted, self.wanted.shape.kind
        return About(
            model=wanted.model,
            metadata={name: value for name, value in wanted.metadata.items() if not name.startswith("moot_")},
            follows=wanted.previous or "",
            shape="" if shape == "text" else shape,
        )


def read(app: App, wanted: Wanted) -> Question:
    """Raises InputError or Refused."""
    preset = find_model(app, wanted.model)
    own = _read_settings(wanted.settings if wanted.settings is not None else wanted.metadata.get("moot_settings"))
    attach = wanted.attach if wanted.attach is not None else wanted.metadata.get("moot_debate")
    last = max((at for at, each in enumerate(wanted.messages) if each.role == "user"), default=None)
    if last is None:
        raise Refused("invalid", "There is no message of the role 'user': the last one is what is debated.")
    said, before = clean(wanted.messages[last].text).strip(), wanted.messages[:last]
    chore = is_chore(wanted.messages, said)
    if not chore:
        _check_tools(app, wanted)
    topic = following(said, earlier_question(before)) if said else said
    if preset.format == formats.AUTO:
        asked = replace(preset, topic=said, settings=merged(preset.settings, own))
        preset = replace(preset, format=format_for(asked, app.default_format).format)
    chosen = merged(_unattended(preset), own)
    if wanted.cap is not None:
        most = {"max_total_output_tokens": min(wanted.cap, _most(app, preset.format, chosen))}
        chosen = {**chosen, **lowered(app.ceilings, most)}
    if wanted.shape.kind == "schema":
        chosen = {**chosen, "answer_schema": wanted.shape.schema}
    return Question(
        wanted=wanted,
        request=Request(
            topic=topic,
            format=preset.format,
            settings=chosen,
            effort=_EFFORTS.get(wanted.effort or ""),
            private=_read_private(wanted.metadata.get("moot_private")),
        ),
        context=context_of(before),
        own=own,
        chore=chore,
        attach=str(attach) if attach else None,
    )


async def check_room(app: App, question: Question, plan: Plan) -> None:
    """Refuse a cap that would end the debate before any model has taken part."""
    cap, param = question.wanted.cap, question.wanted.cap_param
    if cap is None:
        return
    least = await in_thread(lambda: least_tokens(plan.format, plan.debate, Executors(app.models)))
    if cap < least:
        raise Refused(
            "invalid",
            f"`{param}` is {cap:,}; a debate of the format {plan.format.name} with these settings needs {least:,} at "
            "least: the tokens of all participants count, and the verdict's are kept from the beginning. Raise it, or "
            "leave it out.",
            param=param,
        )


def _check_tools(app: App, wanted: Wanted) -> None:
    if not wanted.tools:
        return
    preset = app.settings.presets.get(wanted.model.removeprefix(PREFIX))
    mode = (preset.chat_tools if preset is not None else None) or app.settings.chat_tools
    if mode == "refuse":
        raise Refused(
            "invalid",
            "A debate calls no tools: leave `tools` out. If the client can't, let the operator of this server set "
            "chat_tools to `ignore`, for all models or in a preset: then it is answered in text.",
            param="tools",
        )
    if wanted.tool_choice not in (None, "auto", "none"):
        raise Refused(
            "invalid",
            "A debate answers in text and calls no tools: `tool_choice` must be 'auto' or 'none'.",
            param="tool_choice",
        )


def _unattended(preset: Request) -> Json:
    """The preset's settings, without checkpoints unless it asks for them: there is no one to answer."""
    return merged(formats.get(preset.format or "").unattended, preset.settings)


def _most(app: App, format: str | None, chosen: Json) -> int:
    format_ = formats.get(format or "")
    default = format_.settings.model_fields["max_total_output_tokens"].default
    said = merged(app.config.debate(format_.name), chosen).get("max_total_output_tokens", default)
    return said if isinstance(said, int) else int(default)


def _read_private(given: Any) -> bool:
    """Metadata are texts for some clients, and JSON for others."""
    if given in (None, False, "", "false"):
        return False
    if given in (True, "true"):
        return True
    raise InputError("`moot_private` in the metadata must be true or false.")


def _read_settings(text: Any) -> Json:
    if text is None or text == "":
        return {}
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError('The settings must be a JSON object, for example {"max_rounds": 2}.')
    return cast(Json, found)
