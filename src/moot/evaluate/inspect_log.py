"""Logs for Inspect: a `.eval` file that `inspect view` and `inspect_ai.log.read_eval_log` open.

`inspect_log` is a pure function of rows; equal rows give equal bytes. Inspect itself is not needed to write one.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from moot.core.types import Json, Usage, record

LOG_VERSION = 2
SCORER = "moot"
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip file; a fixed time keeps the bytes the same


@record
class InspectRow:
    """One answer to one question."""

    id: str
    epoch: int = 1
    question: str
    answer: str
    options: tuple[str, ...] = ()
    target: str = ""  # empty: not known
    score: float | None = None  # 0 (wrong) to 1 (right); None: not scored
    model: str  # what answered: a model, or an arm such as `moot/council`
    debate: str = ""  # the id of the debate that led to it
    usage: Usage
    started_at: float | None = None
    completed_at: float | None = None
    error: str = ""  # why there is no answer


def inspect_log(rows: Sequence[InspectRow], *, task: str, model: str, created: float) -> bytes:
    """The log of an evaluation: one sample for each row. `model` is what the whole evaluation is of."""
    samples = [_sample(row) for row in rows]
    head = _spec(rows, task=task, model=model, created=created)
    plan: Json = {"name": "plan", "steps": []}
    whole: Json = {
        "version": LOG_VERSION,
        "status": "success",
        "eval": head,
        "plan": plan,
        "results": _results(rows),
        "stats": _stats(rows, created),
    }
    files: list[tuple[str, object]] = [("_journal/start.json", {"version": LOG_VERSION, "eval": head, "plan": plan})]
    files += [(f"samples/{row.id}_epoch_{row.epoch}.json", sample) for row, sample in zip(rows, samples, strict=True)]
    files += [("summaries.json", [_summary(sample) for sample in samples]), ("header.json", whole)]
    return _zipped(files)


def _sample(row: InspectRow) -> Json:
    choice: Json = {"message": {"role": "assistant", "content": row.answer}, "stop_reason": "stop"}
    usage = _usage(row.usage)
    sample: Json = {
        "id": row.id,
        "epoch": row.epoch,
        "input": row.question,
        "choices": list(row.options) or None,
        "target": row.target,
        "messages": [{"role": "user", "content": row.question}, choice["message"]],
        "output": {"model": row.model, "choices": [choice], "completion": row.answer, "usage": usage},
        "scores": None if row.score is None else {SCORER: {"value": row.score, "answer": row.answer}},
        "metadata": {"debate": row.debate, "cost_usd": row.usage.cost_usd},
        "model_usage": {row.model: usage},
        "started_at": _time(row.started_at),
        "completed_at": _time(row.completed_at),
        "total_time": _seconds(row),
        "uuid": _hashed(row.id, str(row.epoch)),
    }
    if row.error:
        sample["error"] = {"message": row.error, "traceback": "", "traceback_ansi": ""}
    return {name: value for name, value in sample.items() if value is not None}


def _summary(sample: Json) -> Json:
    kept = (
        "id", "epoch", "input", "choices", "target", "scores", "metadata", "model_usage", "started_at", "completed_at",
        "total_time", "uuid",
    )  # fmt: skip
    made = {name: sample[name] for name in kept if name in sample}
    if "error" in sample:
        made["error"] = sample["error"]["message"]
    return made | {"completed": True}


def _spec(rows: Sequence[InspectRow], *, task: str, model: str, created: float) -> Json:
    run = _hashed(task, model, repr(created), *(f"{row.id}/{row.epoch}" for row in rows))
    ids = list(dict.fromkeys(row.id for row in rows))
    return {
        "eval_id": run,
        "run_id": run,
        "task_id": run,
        "created": _time(created),
        "task": task,
        "task_version": 0,
        "model": model,
        "dataset": {"name": task, "samples": len(ids), "sample_ids": ids},
        "config": {"epochs": max((row.epoch for row in rows), default=1)},
        "scorers": [{"name": SCORER}],
    }


def _results(rows: Sequence[InspectRow]) -> Json:
    scored = [row.score for row in rows if row.score is not None]
    accuracy: Json = {"accuracy": {"name": "accuracy", "value": sum(scored) / len(scored)}} if scored else {}
    score: Json = {"name": SCORER, "scorer": SCORER, "scored_samples": len(scored), "metrics": accuracy}
    return {"total_samples": len(rows), "completed_samples": len(rows), "scores": [score] if scored else []}


def _stats(rows: Sequence[InspectRow], created: float) -> Json:
    used: dict[str, Usage] = {}
    for row in rows:
        used[row.model] = used.get(row.model, Usage()) + row.usage
    ended = max((row.completed_at for row in rows if row.completed_at is not None), default=created)
    return {
        "started_at": _time(created),
        "completed_at": _time(ended),
        "model_usage": {model: _usage(usage) for model, usage in used.items()},
    }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.tokens_in,
        "output_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
    }


def _seconds(row: InspectRow) -> float | None:
    if row.started_at is None or row.completed_at is None:
        return None
    return max(0.0, row.completed_at - row.started_at)


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


def _zipped(files: Iterable[tuple[str, object]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files:
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, json.dumps(content, ensure_ascii=False))
    return made.getvalue()
