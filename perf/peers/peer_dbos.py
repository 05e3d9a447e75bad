"""The same debate as a DBOS workflow of 30 steps. Runs in an environment of its own, without moot."""
# pyright: basic, reportMissingImports=false

import asyncio
import json
import logging
import sys
import time
from importlib.metadata import version

from dbos import DBOS


def main():
    texts = json.loads(sys.stdin.readline())
    url = sys.argv[1]
    DBOS(config={"name": "peer", "system_database_url": url, "log_level": "CRITICAL", "run_admin_server": False})

    @DBOS.step()
    async def speak(step: int) -> dict:
        return {"role": "abj"[step % 3], "text": texts[step]}

    @DBOS.workflow()
    async def debate() -> int:
        messages = [await speak(step) for step in range(len(texts))]
        return len(messages)

    async def measure(debates: int) -> dict:
        clock = time.perf_counter()
        handles = [await DBOS.start_workflow_async(debate) for _ in range(debates)]
        done = await asyncio.gather(*(handle.get_result() for handle in handles))
        seconds = time.perf_counter() - clock
        if any(count != len(texts) for count in done):
            raise RuntimeError("a debate has lost messages")
        fewest = min([len(await DBOS.list_workflow_steps_async(handle.workflow_id)) for handle in handles[:5]])
        return {"seconds": seconds, "stored": fewest}

    async def serve() -> None:
        DBOS.launch()
        logging.disable(logging.CRITICAL)
        print(json.dumps({"dbos": version("dbos")}), flush=True)
        for line in sys.stdin:
            print(json.dumps(await measure(json.loads(line))), flush=True)

    asyncio.run(serve())


main()
