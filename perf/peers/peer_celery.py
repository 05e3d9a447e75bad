"""The same debate as Celery tasks, each of which stores its turn in PostgreSQL and sends the next through Redis.

Runs in an environment of its own, without moot. Also imported by the Celery worker that it starts."""
# pyright: basic, reportMissingImports=false

import json
import os
import subprocess
import sys
import time
import uuid
from importlib.metadata import version

import psycopg
from celery import Celery
from celery.signals import worker_process_init

URL, REDIS = os.environ["PEER_DATABASE"], os.environ["PEER_REDIS"]
TEXTS = json.loads(os.environ["PEER_TEXTS"]) if "PEER_TEXTS" in os.environ else []

app = Celery("peer_celery", broker=REDIS)
app.conf.update(task_acks_late=True, worker_prefetch_multiplier=1, task_ignore_result=True)
connections = []


@worker_process_init.connect
def connect(**_):
    connections.append(psycopg.connect(URL, autocommit=True))


@app.task(name="speak")
def speak(debate, step, steps):
    with connections[0].cursor() as cursor:
        cursor.execute(
            "insert into peer_turns (debate, step, role, text) values (%s, %s, %s, %s) on conflict do nothing",
            (debate, step, "abj"[step % 3], TEXTS[step]),
        )
    if step + 1 < steps:
        speak.delay(debate, step + 1, steps)


def measure(main, debates, steps):
    ids = [uuid.uuid4().hex for _ in range(debates)]
    clock = time.perf_counter()
    for debate in ids:
        speak.delay(debate, 0, steps)
    while True:
        done = main.execute(
            "select count(*) from peer_turns where debate = any(%s) and step = %s", (ids, steps - 1)
        ).fetchone()[0]
        if done == debates:
            break
        time.sleep(0.002)
    seconds = time.perf_counter() - clock
    stored = main.execute("select count(*) from peer_turns where debate = any(%s)", (ids,)).fetchone()[0]
    return {"seconds": seconds, "stored": stored // debates}


def main():
    texts = json.loads(sys.stdin.readline())
    connection = psycopg.connect(URL, autocommit=True)
    connection.execute(
        "create table if not exists peer_turns (debate text, step integer, role text, text text, "
        "primary key (debate, step))"
    )
    environ = {**os.environ, "PEER_TEXTS": json.dumps(texts)}
    command = [sys.executable, "-m", "celery", "-A", "peer_celery", "worker", "-c", "4", "-l", "ERROR"]
    worker = subprocess.Popen(
        [*command, "--without-gossip", "--without-mingle"],
        cwd=os.path.dirname(os.path.abspath(__file__)),
        env=environ,
        stdout=sys.stderr,
    )
    try:
        measure(connection, 1, len(texts))  # waits until the worker is up
        print(json.dumps({"celery": version("celery"), "redis": version("redis")}), flush=True)
        for line in sys.stdin:
            print(json.dumps(measure(connection, json.loads(line), len(texts))), flush=True)
    finally:
        worker.terminate()
        worker.wait()


if __name__ == "__main__":
    main()
