"""OpenAI's Python library: chats and responses, streamed and at once, and what follows a response."""

import json
import sys

from openai import OpenAI
from pydantic import BaseModel

QUESTION = "Redis or PostgreSQL?"


class Pick(BaseModel):
    pick: str
    reasons: list[str]


client = OpenAI(base_url=sys.argv[1], api_key="unused")
messages = [{"role": "user", "content": QUESTION}]

chat = client.chat.completions.create(model="moot/classic", messages=messages)
streamed, reasoning = "", ""
for chunk in client.chat.completions.create(model="moot/classic", messages=messages, stream=True):
    for choice in chunk.choices:
        streamed += choice.delta.content or ""
        reasoning += getattr(choice.delta, "reasoning_content", None) or ""
parsed = client.chat.completions.parse(model="moot/classic", messages=messages, response_format=Pick)

response = client.responses.create(model="moot/classic", input=QUESTION)
with client.responses.stream(
    model="moot/classic", input="And for a team of two?", previous_response_id=response.id
) as stream:
    deltas = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    final = stream.get_final_response()
typed = client.responses.parse(model="moot/classic", input=QUESTION, text_format=Pick)

print(
    json.dumps(
        {
            "models": [model.id for model in client.models.list()],
            "chat": chat.choices[0].message.content,
            "chat_usage": chat.usage.total_tokens,
            "request_id": chat._request_id,
            "streamed": streamed,
            "reasoning": reasoning,
            "parsed": parsed.choices[0].message.parsed.model_dump(),
            "response": response.output_text,
            "followed": final.output_text,
            "deltas": deltas,
            "follow_up": final.id,
            "retrieved": client.responses.retrieve(final.id).output_text,
            "typed": typed.output_parsed.model_dump(),
        }
    )
)
