"""pydantic-ai: an agent over `openai:`, which speaks responses, with a typed answer, a conversation and a stream."""

import asyncio
import json
import sys

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

QUESTION = "Redis or PostgreSQL?"


class Pick(BaseModel):
    pick: str


async def main() -> None:
    provider = OpenAIProvider(base_url=sys.argv[1], api_key="unused")
    agent = Agent(OpenAIResponsesModel("moot/classic", provider=provider), instructions="Be terse.")
    first = await agent.run(QUESTION)
    second = await agent.run("And for a team of two?", message_history=first.all_messages())
    async with agent.run_stream(QUESTION) as stream:
        streamed = await stream.get_output()
    typed = Agent(OpenAIResponsesModel("moot/classic", provider=provider), output_type=NativeOutput(Pick))
    over_chat = Agent(OpenAIChatModel("moot/classic", provider=provider))
    print(
        json.dumps(
            {
                "response": first.output,
                "more": first.usage.output_tokens > 0 and second.output,
                "streamed": streamed,
                "picked": (await typed.run(QUESTION)).output.model_dump(),
                "chat": (await over_chat.run(QUESTION)).output,
            }
        )
    )


asyncio.run(main())
