"""The same debate as a LangGraph graph on PostgreSQL. Runs in an environment of its own, without moot."""
# pyright: basic, reportMissingImports=false

import asyncio
import json
import operator
import sys
import time
import uuid
from importlib.metadata import version
from typing import Annotated, TypedDict

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

ORDER = ("a", "b", "judge")


class Debate(TypedDict):
    messages: Annotated[list, operator.add]
    step: int


def graph_of(texts):
    def speaker(name):
        async def speak(state):
            step = state["step"]
            return {"messages": [{"role": name, "text": texts[step]}], "step": step + 1}

        return speak

    def following(state):
        return ORDER[state["step"] % 3] if state["step"] < len(texts) else END

    graph = StateGraph(Debate)
    for name in ORDER:
        graph.add_node(name, speaker(name))
        graph.add_conditional_edges(name, following, [*ORDER, END])
    graph.add_edge(START, "a")
    return graph


async def measure(compiled, pool, steps, debates):
    threads = [uuid.uuid4().hex for _ in range(debates)]

    async def one(thread):
        config = {"configurable": {"thread_id": thread}, "recursion_limit": steps + 10}
        return await compiled.ainvoke({"messages": [], "step": 0}, config, durability="sync")

    clock = time.perf_counter()
    states = await asyncio.gather(*(one(thread) for thread in threads))
    seconds = time.perf_counter() - clock
    if any(len(state["messages"]) != steps for state in states):
        raise RuntimeError("a debate has lost messages")
    async with pool.connection() as connection:
        rows = await connection.execute(
            "select count(*) as n from checkpoints where thread_id = any(%s) group by thread_id", (threads,)
        )
        counts = [row["n"] for row in await rows.fetchall()]
    if len(counts) != debates:
        raise RuntimeError(f"{len(counts)} debates are in the database, not {debates}")
    return {"seconds": seconds, "stored": min(counts)}


async def main():
    texts = json.loads(sys.stdin.readline())
    names = ("langgraph", "langgraph-checkpoint-postgres")
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(sys.argv[1], min_size=4, max_size=20, kwargs=options, open=False) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        compiled = graph_of(texts).compile(checkpointer=saver)
        print(json.dumps({name: version(name) for name in names}), flush=True)
        for line in sys.stdin:
            print(json.dumps(await measure(compiled, pool, len(texts), json.loads(line))), flush=True)


asyncio.run(main())
