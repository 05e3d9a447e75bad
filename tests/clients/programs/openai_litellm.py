"""litellm: a chat, at once and streamed, in a schema, and a response."""

import json
import sys

import litellm
from pydantic import BaseModel

QUESTION = "Redis or PostgreSQL?"


class Pick(BaseModel):
    pick: str


where = {"api_base": sys.argv[1], "api_key": "unused"}
messages = [{"role": "user", "content": QUESTION}]

chat = litellm.completion(model="openai/moot/classic", messages=messages, **where)
stream = litellm.completion(model="openai/moot/classic", messages=messages, stream=True, **where)
streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
picked = litellm.completion(model="openai/moot/classic", messages=messages, response_format=Pick, **where)
response = litellm.responses(model="openai/moot/classic", input=QUESTION, **where)
print(
    json.dumps(
        {
            "chat": chat.choices[0].message.content,
            "more": "Debater A" in chat.choices[0].message.reasoning_content,
            "streamed": streamed,
            "picked": json.loads(picked.choices[0].message.content),
            "response": response.output[-1].content[0].text,
        }
    )
)
