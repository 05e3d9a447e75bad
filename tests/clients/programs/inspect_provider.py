"""Tasks of Inspect's own on models that are debates, without a server: moot and Inspect in one environment."""

import asyncio
import json
import sys

clients, folder = sys.argv[1:]
sys.path.append(clients)  # after moot's own packages

from inspect_ai import Task, eval  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, ResponseSchema, get_model  # noqa: E402
from inspect_ai.scorer import choice  # noqa: E402
from inspect_ai.solver import multiple_choice, system_message  # noqa: E402
from inspect_ai.tool import ToolInfo  # noqa: E402
from inspect_ai.util import JSONSchema  # noqa: E402

SETTINGS = {"effort": "quick", "answer": {"kind": "choice", "options": ["A", "B"]}}
SAMPLES = [
    Sample(input="Which colour has the sky?", choices=["blue", "green"], target="A"),
    Sample(input="Which colour has grass?", choices=["blue", "green"], target="B"),
]
task = Task(dataset=SAMPLES, solver=[system_message("Be brief."), multiple_choice()], scorer=choice())
(log,) = eval(task, model="moot/council/sim:", model_args=SETTINGS, display="none", log_dir=folder)


def refused(model: str, **arguments: object) -> str:
    try:
        get_model(model, **arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "made"


async def asked(model: str, *, tools: list[ToolInfo] = [], config: GenerateConfig = GenerateConfig(), **more: object):  # noqa: B006, B008
    try:
        async with get_model(model, memoize=False, **more) as made:
            said = [
                ChatMessageUser(content="Tea or coffee?"),
                ChatMessageAssistant(content="Tea."),
                ChatMessageUser(content="And in the evening?"),
            ]
            output = await made.generate(said, tools=tools, config=config)
            return output.completion, output.metadata
    except Exception as error:
        return f"{type(error).__name__}: {error}", None


schema = JSONSchema(type="object", properties={"drink": JSONSchema(type="string")}, required=["drink"])
shaped = GenerateConfig(response_schema=ResponseSchema(name="drink", json_schema=schema))
done = log.samples or []
print(
    json.dumps(
        {
            "status": log.status,
            "error": str(log.error),
            "answers": [sample.output.completion for sample in done],
            "right": [sample.scores["choice"].value for sample in done if sample.scores],
            "chosen": [sample.scores["choice"].answer for sample in done if sample.scores],
            "debates": [sample.output.metadata["debate"] for sample in done],
            "tokens": {name: used.output_tokens for name, used in log.stats.model_usage.items()},
            "no_format": refused("moot/counsil"),
            "no_setting": refused("moot/council/sim:", depht="vote"),
            "no_model": refused("moot/council/nonsense:x"),
            "address": refused("moot/council", base_url="http://127.0.0.1:1"),
            "tools": asyncio.run(asked("moot/council/sim:", tools=[ToolInfo(name="t", description="d")]))[0],
            "shaped": asyncio.run(asked("moot/duel/sim:", config=shaped, turns=2)),
            "unattended": asyncio.run(asked("moot/panel/sim:", rounds=1))[1],
            "failed": asyncio.run(asked("moot/duel/sim:?fail=1", turns=2))[0],
        }
    )
)
