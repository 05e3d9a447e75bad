"""The same debate as a LangGraph graph. Runs in an environment of its own, without moot.

Reads a JSON line with the statements' texts, then a JSON line for each measurement; answers each with a JSON line.
"""
# pyright: basic, reportMissingImports=false

import asyncio
import json
import operator
import os
import sqlite3
import sys
import tempfile
import time
from importlib.metadata import version
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class Debate(TypedDict):
    messages: Annotated[list, operator.add]
    step: int


def speaker(name, texts):
    async def speak(state):
        step = state["step"]
        return {"messages": [{"role": name, "text": texts[step]}], "step": step + 1}

    return speak


def graph_of(texts):
    """A speaks, B speaks, the judge scores, until the texts end: one node, so one checkpoint, per step."""
    order = ("a", "b", "judge")

    def following(state):
        return order[state["step"] % 3] if state["step"] < len(texts) else END

    graph = StateGraph(Debate)
    for name in order:
        graph.add_node(name, speaker(name, texts))
        graph.add_conditional_edges(name, following, [*order, END])
    graph.add_edge(START, "a")
    return graph


async def measure(graph, steps, debates, folder):
    with tempfile.TemporaryDirectory(dir=folder, prefix="peer-") as name:
        path = os.path.join(name, "langgraph.db")
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            await saver.setup()
            compiled = graph.compile(checkpointer=saver)
            clock = time.perf_counter()
            states = await asyncio.gather(*(one(compiled, str(n), steps) for n in range(debates)))
            seconds = time.perf_counter() - clock
            settings = {name: await pragma(saver, name) for name in ("journal_mode", "synchronous")}
        if any(len(state["messages"]) != steps for state in states):
            raise RuntimeError("a debate has lost messages")
        return {
            "seconds": seconds,
            "stored": fewest(path, debates),
            "about": f'durability="sync", journal {settings["journal_mode"]}, synchronous={settings["synchronous"]}',
        }


async def one(compiled, thread, steps):
    config = {"configurable": {"thread_id": thread}, "recursion_limit": steps + 10}
    return await compiled.ainvoke({"messages": [], "step": 0}, config, durability="sync")


async def pragma(saver, name):
    cursor = await saver.conn.execute(f"pragma {name}")
    return (await cursor.fetchone())[0]


def fewest(path, debates):
    """The fewest checkpoints that any debate has."""
    connection = sqlite3.connect(path)
    counts = [n for (n,) in connection.execute("select count(*) from checkpoints group by thread_id")]
    connection.close()
    if len(counts) != debates:
        raise RuntimeError(f"{len(counts)} debates are in the database, not {debates}")
    return min(counts)


def main():
    texts = json.loads(sys.stdin.readline())
    graph = graph_of(texts)
    versions = {name: version(name) for name in ("langgraph", "langgraph-checkpoint-sqlite")}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        print(json.dumps(asyncio.run(measure(graph, len(texts), json.loads(line), sys.argv[1]))), flush=True)


main()
