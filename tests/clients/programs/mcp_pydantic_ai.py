"""An agent of pydantic-ai with moot's tools. Its model is a function here, which does what each result calls for. Takes
an address, or a command, of a server."""

import asyncio
import json
import os
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

QUESTION = "Redis or PostgreSQL?"
SETTINGS = {"max_rounds": 1, "perspectives": 2}
PATIENCE = 120  # seconds: the machine may be busy
seen = {"tools": [], "answered": 0, "wrong": None, "state": None}


def call(name: str, **arguments) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(name, arguments)])


def model(messages, info) -> ModelResponse:
    seen["tools"] = [tool.name for tool in info.function_tools]
    last = messages[-1].parts[-1]
    if isinstance(last, RetryPromptPart):
        seen["wrong"] = str(last.content)
        return call("start_debate", question=QUESTION, format="panel", settings=SETTINGS)
    if not isinstance(last, ToolReturnPart):
        return call("start_debate", question=QUESTION, format="nonsense")
    if last.tool_name == "read_record":
        return ModelResponse(parts=[TextPart(last.content)])
    state = last.content
    if state["status"] == "completed":
        seen["state"] = state
        return call("read_record", debate_id=state["id"])
    if state.get("asks"):
        asked = state["asks"][0]
        seen["answered"] += 1
        answer = {"choice": asked["choices"][0]} if asked["choices"] else {"text": "For a small shop."}
        return call("answer_gate", debate_id=state["id"], key=asked["key"], **answer)
    return call("wait_for_debate", debate_id=state["id"])


async def main(server) -> str:
    async with MCPToolset(server, init_timeout=PATIENCE, read_timeout=PATIENCE) as toolset:
        agent = Agent(FunctionModel(model), toolsets=[toolset])
        return (await agent.run("Debate it.")).output


target = sys.argv[1]
if not target.startswith("http"):
    target = StdioTransport(command=target, args=sys.argv[2:], env=dict(os.environ), keep_alive=False)
record = asyncio.run(main(target))
print(json.dumps({**seen, "record": record}))
