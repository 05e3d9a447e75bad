"""fastmcp's client: typed results, errors as exceptions. Takes an address, or a command, of a server."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError

QUESTION = "Redis or PostgreSQL?"
SETTINGS = {"max_rounds": 1, "perspectives": 2}
PATIENCE = 120  # seconds: the machine may be busy


async def main(server) -> dict:
    told = []

    async def progress(done, total, message) -> None:
        told.append([done, total])

    async with Client(server, progress_handler=progress, init_timeout=PATIENCE) as client:
        tools = [tool.name for tool in await client.list_tools()]
        arguments = {"question": QUESTION, "format": "panel", "settings": SETTINGS}
        debate = {"debate_id": (await client.call_tool("start_debate", arguments)).data.id}
        answered = 0
        while True:
            state = await client.call_tool("wait_for_debate", debate)
            for asked in state.data.asks:
                answer = {"choice": asked.choices[0]} if asked.choices else {"text": "For a small shop."}
                await client.call_tool("answer_gate", {**debate, "key": asked.key, **answer})
                answered += 1
            if state.data.status == "completed":
                break
        wrong = None
        try:
            await client.call_tool("start_debate", {"question": "x?", "format": "nonsense"})
        except ToolError as error:
            wrong = str(error)
        prompt = await client.get_prompt("debate_question", {"question": QUESTION})
        return {
            "tools": tools,
            "answered": answered,
            "state": state.structured_content,
            "progress": told,
            "record": (await client.call_tool("read_record", debate)).content[0].text,
            "resource": (await client.read_resource(f"moot://debates/{state.data.id}/record"))[0].text,
            "wrong": wrong,
            "prompt": prompt.messages[0].content.text,
        }


target = sys.argv[1]
if not target.startswith("http"):
    target = StdioTransport(command=target, args=sys.argv[2:], env=dict(os.environ), keep_alive=False)
print(json.dumps(asyncio.run(main(target))))
