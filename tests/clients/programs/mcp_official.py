"""The official MCP client: a debate from the question to the record. Takes an address, or a command, of a server.

Like all programs here it runs in the clients' environment, knows nothing of moot's code, and prints one JSON document.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

QUESTION = "Redis or PostgreSQL?"
SETTINGS = {"max_rounds": 1, "perspectives": 2}


async def main(server: str | StdioServerParameters) -> dict:
    told = []

    async def progress(done, total, message) -> None:
        told.append([done, total])

    async with Client(server) as client:

        async def call(name: str, **arguments):
            result = await client.call_tool(name, arguments, progress_callback=progress)
            assert not result.is_error, result.content
            return result.structured_content or result.content[0].text

        tools = [tool.name for tool in (await client.list_tools()).tools]
        made = await call("start_debate", question=QUESTION, format="panel", settings=SETTINGS)
        state, answered = made, 0
        while state["status"] != "completed":
            state = await call("wait_for_debate", debate_id=made["id"])
            for asked in state["asks"]:
                answer = {"choice": asked["choices"][0]} if asked["choices"] else {"text": "For a small shop."}
                await call("answer_gate", debate_id=made["id"], key=asked["key"], **answer)
                answered += 1
        wrong = await client.call_tool("start_debate", {"question": "x?", "format": "nonsense"})
        prompt = await client.get_prompt("debate_question", {"question": QUESTION})
        resource = await client.read_resource(f"moot://debates/{made['id']}/record")
        return {
            "tools": tools,
            "answered": answered,
            "state": state,
            "progress": told,
            "record": await call("read_record", debate_id=made["id"]),
            "resource": resource.contents[0].text,
            "wrong": wrong.content[0].text if wrong.is_error else None,
            "prompt": prompt.messages[0].content.text,
        }


target = sys.argv[1]
if not target.startswith("http"):
    target = StdioServerParameters(command=target, args=sys.argv[2:], env=dict(os.environ))
print(json.dumps(asyncio.run(main(target))))
