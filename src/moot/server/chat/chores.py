"""Chores of chat programs: what they ask their model for behind the user's back. One call answers them; no debate."""

from __future__ import annotations

import re
from collections.abc import Sequence

from moot.client import Client
from moot.core.types import Call, Reply
from moot.core.types import Message as ModelMessage
from moot.formats.shared.structured import answer_type
from moot.request import Request
from moot.server.chat.conversation import Message
from moot.server.chat.shapes import Shape

MAX_TOKENS = 300
MAX_CHARS = 12_000  # of one message that are passed on
MOST_BEGINNING = 1_000  # characters of a message that tell whether it is a chore

# How chat programs begin such requests: for titles, tags, emoji, follow-up questions, completions of what is being
# typed, summaries for themselves, mixtures of several models' answers, and the choice of tools.
_CHORES = re.compile(
    r"""(
        \#{1,4}\s?task:
      | (please\s)?(generate|provide|create|write|give|summari[sz]e|suggest)\b.{0,80}\b
            (title|tag|emoji|name|follow-?up)s?\b.{0,80}\b(chat|conversation|discussion|query)
      | (please\s)?(generate|create)\sa\sconcise\b.{0,40}\b(title|phrase)\b
      | (please\s)?summari[sz]e\s(this|the|our)\s(above\s)?(chat|conversation|discussion)\b.{0,80}
            \b(title|context|prompt|key\sinformation)
      | analyze\sthis\sconversation\sand\sprovide\b
      | based\son\sthe\schat\shistory,\sgive\sthis\sconversation\sa\sname
      | suggest\s(\d{1,2}(\s?-\s?\d{1,2})?\s)?(relevant\s)?follow-?up\squestions
      | your\stask\sis\sto\sreflect\sthe\sspeaker's\slikely\sfacial\sexpression
      | you\shave\sbeen\sprovided\swith\sa\sset\sof\sresponses\sfrom\s(various|several|multiple)\smodels
      | 使用四到五个字 | 简要总结一下对话
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# The same, where a system prompt gives the task.
_BRIEFS = re.compile(
    r"""(
        (you\sare\s|you're\s)?(a\s|an\s)?(\w+\s){0,2}
            (conversation\ssummar|title\s(generat|maker)|emoji\s(expert|generat)|autocompletion\ssystem)
      | you\sgenerate\s(\w+,?\s){0,3}titles?\b
      | you('re|\sare)\san\sassistant\swho('s|\sis)\sgood\sat\sextracting\skey\stakeaways
      | you\sare\sa\ssidecar\b
      | available\stools:\s
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def is_chore(messages: Sequence[Message], question: str) -> bool:
    """Whether a chat program asks this for itself. Its task is in the question, the system prompt, or a last message
    of another role."""
    first, last = messages[0], messages[-1]
    brief = _beginning(first.text) if first.instructs else ""
    ends = _beginning(last.text) if last.instructs else ""
    given = (_beginning(question), brief, ends)
    return any(_CHORES.match(text) for text in given if text) or bool(_BRIEFS.match(brief))


def _beginning(text: str) -> str:
    """As much as tells a chore, on one line: patterns that allow for white space would try every way to divide it."""
    return " ".join(text[:MOST_BEGINNING].split())


async def done(client: Client, request: Request, messages: Sequence[Message], shape: Shape, cap: int | None) -> Reply:
    """The answer, by one call of the judge's model. Only what it used is stored."""
    chosen = request.settings.get("model_judge")
    spec = client.app.choose("judge", chosen if isinstance(chosen, str) else None, request.format).spec
    call = Call(
        key="chat/chore",
        seat="chat",
        messages=[_message(each) for each in messages if each.text.strip()],
        max_tokens=min(MAX_TOKENS, cap or MAX_TOKENS),
        returns=answer_type(shape.schema) if shape.kind == "schema" and shape.schema else None,
    )
    return await client.call(spec, call)


def _message(message: Message) -> ModelMessage:
    role = "system" if message.role == "developer" else message.role
    text = message.text if len(message.text) <= MAX_CHARS else message.text[-MAX_CHARS:]
    return ModelMessage(role=role if role in ("system", "user", "assistant") else "user", text=text)
