"""Planning and reporting a large evaluation, each in a fresh process: `python -m perf.evaluations FILE ARGUMENT…` runs
the command `moot` with these arguments and writes what it took to FILE."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from moot.app import App
from moot.cli.main import main as moot
from moot.client.client import Client
from moot.core.settings import Settings, read
from moot.core.types import Json
from moot.corpus.quiz import simulated_questions
from moot.evaluate.drafting import EvaluationRequest, draft
from moot.evaluate.plans import Block, EvaluationPlan, blocks
from moot.evaluate.running import Running
from moot.store import StoredEvaluation
from perf.process import environment, last_line
from perf.rig import median, run
from perf.table import Goal, Row

_ARMS = ("single", "self-consistency", "reflect", "best-of", "council")
_MODEL = "sim:?skill=.6&rho=.3&repair=.2&price_in=1&price_out=4"
_SAMPLES = 8
_OPTIONS = 3
_PLAN_SECONDS, _REPORT_SECONDS, _REPORT_MIB = 2, 10, 500
_GOAL = Goal(sign="<=", bound=1)


def measure(folder: Path, *, items: int = 2500, originals: int = 20, repeats: int = 3) -> list[Row]:
    """`originals`: how many items are really run; fewer than there are."""
    task, database = _task(folder, items, originals), folder / "moot.db"
    plan = run(_fill(task, database, originals), seconds=600)
    arguments = ["--arms", ",".join(_ARMS), "--model", _MODEL, "--pool", str(_SAMPLES)]
    planned = _repeated(repeats, folder, "plan", str(task), *arguments)
    reported = _repeated(repeats, folder, "report", plan.id)
    exported = _repeated(repeats, folder, "report", plan.id, "--inspect", str(folder / "logs"))
    count = f"{plan.cells:,} cells"
    return [
        Row(
            name=f"plan of an evaluation of {count}",
            value=_median(planned, "cpu_seconds"),
            unit=f"s of CPU ({_median(planned, 'seconds'):.3g} s in all)",
            reference=_PLAN_SECONDS,
            against=f"{_PLAN_SECONDS} s",
            goal=_GOAL,
            note="`moot eval` in a fresh process; cells are copies of those of a few items that were really run",
            details={"runs": planned},
        ),
        Row(
            name=f"report of {count}",
            value=_median(reported, "cpu_seconds"),
            unit=f"s of CPU ({_median(reported, 'seconds'):.3g} s in all)",
            reference=_REPORT_SECONDS,
            against=f"{_REPORT_SECONDS} s",
            goal=_GOAL,
            details={"runs": reported},
        ),
        Row(
            name=f"report of {count}, memory at its most",
            value=_median(reported, "peak_bytes") / 2**20,
            unit="MiB",
            reference=_REPORT_MIB,
            against=f"{_REPORT_MIB} MiB",
            goal=_GOAL,
        ),
        Row(
            name=f"report of {count} with logs for Inspect",
            value=_median(exported, "cpu_seconds"),
            unit=f"s of CPU ({_median(exported, 'peak_bytes') / 2**20:.0f} MiB at its most)",
            reference=_median(reported, "cpu_seconds"),
            against=f"{_median(reported, 'cpu_seconds'):.3g} s: the report alone",
            details={"runs": exported},
        ),
    ]


def _median(runs: Sequence[Json], name: str) -> float:
    return median([float(each[name]) for each in runs])


def _task(folder: Path, items: int, originals: int) -> Path:
    """Write a task file. Its questions are those of its first items, again and again."""
    asked = list(simulated_questions(originals, options=_OPTIONS))
    lines = [
        {"id": str(n), "question": each.text, "options": each.options, "target": each.target}
        for n, each in ((n, asked[n % len(asked)]) for n in range(items))
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = folder / "task.yaml"
    path.write_text("name: large\nkind: choice\nitems: items.jsonl\n")
    return path


async def _fill(task: Path, database: Path, originals: int) -> EvaluationPlan:
    """Store the evaluation: its first items are run, the cells of all others are copies of theirs."""
    app = App(read(Settings, {"database_url": str(database), "embedder": "none"}), {})
    try:
        client = Client(app)
        asked = EvaluationRequest(task=str(task), arms=_ARMS, model=_MODEL, pool=_SAMPLES)
        plan = await draft(client, asked)
        few = plan.model_copy(update={"task": plan.task.model_copy(update={"items": plan.task.items[:originals]})})
        ran = await Running(client=client, plan=few).run()
        if ran.blocks != originals:
            raise RuntimeError(f"{ran.blocks} of {originals} items were completed")
        await client.store.add_evaluation(StoredEvaluation(id=plan.id, name=plan.task.name, plan=plan.as_json()))
    finally:
        await app.close()
    _copy(database, plan, few)
    return plan


def _copy(database: Path, plan: EvaluationPlan, few: EvaluationPlan) -> None:
    name = plan.id
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        found = connection.execute("select * from debate_sessions where evaluation = ?", [few.id])
        columns = [column[0] for column in found.description]
        id, evaluation = columns.index("id"), columns.index("evaluation")
        rows = {row[id]: row for row in found}
        originals = list(blocks(few))

        def copies(block: Block, original: Block) -> Iterator[tuple[Any, ...]]:
            for cell, ran in zip(block.cells, original.cells, strict=True):
                values = list(rows[ran.id])
                values[id], values[evaluation] = cell.id, name
                yield tuple(values)

        quoted = ", ".join(f'"{column}"' for column in columns)
        marks = ", ".join("?" * len(columns))
        connection.execute("begin immediate")
        for n, block in enumerate(blocks(plan)):
            made = copies(block, originals[n % len(originals)])
            connection.executemany(f"insert into debate_sessions ({quoted}) values ({marks})", made)
        connection.execute("commit")
        connection.execute("pragma wal_checkpoint(truncate)")


def _repeated(repeats: int, folder: Path, *arguments: str) -> list[Json]:
    return [_moot_eval(folder, *arguments) for _ in range(repeats)]


def _moot_eval(folder: Path, *arguments: str) -> Json:
    """Run `moot eval` in a process of its own. Raises RuntimeError if it fails."""
    environ = {
        **{name: os.environ.get(name, "") for name in ("PATH", "PYTHONPATH")},
        "HOME": str(folder),
        "MOOT_CONFIG": str(folder / "none.yaml"),
        "MOOT_DATABASE_URL": str(folder / "moot.db"),
        "MOOT_EMBEDDER": "none",
    }
    (folder / "none.yaml").touch()
    took = folder / "took.json"
    clock = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "perf.evaluations", str(took), "eval", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env=environment(environ),
    )
    seconds = time.perf_counter() - clock
    if done.returncode:
        raise RuntimeError(f"moot eval {arguments[0]} failed: {last_line(done.stderr)}")
    return {**json.loads(took.read_text()), "seconds": seconds}


def peak_bytes() -> int:
    """The most memory that this process has had resident."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024


def main(file: str, *arguments: str) -> int:
    code = moot(list(arguments))
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": peak_bytes()}
    Path(file).write_text(json.dumps(took))
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
