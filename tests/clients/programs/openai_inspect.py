"""A task of five questions, asked of `moot/council` and scored, as Inspect runs any task."""

import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes

url, folder = sys.argv[1:]
QUESTIONS = ("Redis or PostgreSQL?", "Tabs or spaces?", "Rust or Go?", "Monolith or services?", "Tea or coffee?")
# What every answer of a simulated council has, three times, and what none has, twice.
TARGETS = ("demonstration", "demonstration", "demonstration", "no such words", "no such words")
samples = [Sample(input=question, target=target) for question, target in zip(QUESTIONS, TARGETS, strict=True)]
model = get_model("openai-api/moot/moot/council", base_url=url, api_key="unused")
(log,) = eval(Task(dataset=samples, scorer=includes()), model=model, display="none", log_dir=folder)
done = log.samples or []
print(
    json.dumps(
        {
            "status": log.status,
            "error": str(log.error),
            "questions": [sample.input for sample in done],
            "answers": [sample.output.completion for sample in done],
            "right": [sample.scores["includes"].value for sample in done if sample.scores],
            "accuracy": log.results.scores[0].metrics["accuracy"].value if log.results else None,
        }
    )
)
