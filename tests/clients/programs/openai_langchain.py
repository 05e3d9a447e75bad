"""LangChain: a chat, streamed, typed, and over responses."""

import json
import sys

from langchain_openai import ChatOpenAI
from pydantic import BaseModel

QUESTION = "Redis or PostgreSQL?"


class Pick(BaseModel):
    pick: str


model = ChatOpenAI(model="moot/classic", base_url=sys.argv[1], api_key="unused")
told = model.invoke([("system", "Be terse."), ("user", QUESTION)])
streamed = "".join(chunk.text for chunk in model.stream(QUESTION))
picked = model.with_structured_output(Pick).invoke(QUESTION)
over_responses = ChatOpenAI(model="moot/classic", base_url=sys.argv[1], api_key="unused", use_responses_api=True)
print(
    json.dumps(
        {
            "chat": told.text,
            "more": told.usage_metadata["total_tokens"] > 0,
            "streamed": streamed,
            "picked": picked.model_dump(),
            "response": over_responses.invoke(QUESTION).text,
        }
    )
)
