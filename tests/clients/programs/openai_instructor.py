"""instructor: a typed answer, by its mode for JSON schemas."""

import json
import sys

import instructor
from openai import OpenAI
from pydantic import BaseModel, Field


class Pick(BaseModel):
    pick: str = Field(description="the one that was chosen")
    sure: float = Field(ge=0, le=10)


client = instructor.from_openai(OpenAI(base_url=sys.argv[1], api_key="unused"), mode=instructor.Mode.JSON_SCHEMA)
picked = client.chat.completions.create(
    model="moot/classic",
    response_model=Pick,
    messages=[{"role": "user", "content": "Redis or PostgreSQL?"}],
)
print(json.dumps(picked.model_dump()))
