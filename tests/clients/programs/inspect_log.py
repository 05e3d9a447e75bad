"""Read a log that moot has written, as Inspect reads its own."""

import json
import sys

from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries

(path,) = sys.argv[1:]
log = read_eval_log(path)
samples = sorted(log.samples or [], key=lambda each: (str(each.id), each.epoch))
summaries = sorted(read_eval_log_sample_summaries(path), key=lambda each: (str(each.id), each.epoch))
one = read_eval_log_sample(path, id=samples[0].id, epoch=2)
print(
    json.dumps(
        {
            "status": log.status,
            "task": log.eval.task,
            "model": log.eval.model,
            "accuracy": log.results.scores[0].metrics["accuracy"].value if log.results else None,
            "samples": [[s.id, s.epoch, s.input, s.target, s.output.completion] for s in samples],
            "scores": [s.scores["moot"].value if s.scores else None for s in samples],
            "summaries": [[s.id, s.epoch, s.completed] for s in summaries],
            "one": [one.id, one.epoch, one.metadata["debate"]],
            "tokens": {name: usage.total_tokens for name, usage in log.stats.model_usage.items()},
            "header_only": read_eval_log(path, header_only=True).eval.eval_id == log.eval.eval_id,
        }
    )
)
