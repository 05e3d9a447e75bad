"""A format that asks people things, for the tests of gates."""

from __future__ import annotations

from moot.core.gates import Approval, Checkpoint, Clarification
from moot.core.script import Stage, together
from moot.core.settings import DebateSettings
from moot.core.types import Outcome, Prompt
from moot.formats import Part
from tests.runtime.small import a_format, outcome


class AskingSettings(DebateSettings):
    timeout_seconds: float | None = None
    decides: bool = False
    human: bool = False


def parts(settings: AskingSettings) -> list[Part]:
    return [Part(id="a", name="A", role="debater", model="human" if settings.human else None)]


async def asking(stage: Stage, settings: AskingSettings) -> Outcome:
    said = await stage.seat("a").ask("speak", Prompt(name="asking/speak", text="Speak."), round=1, shows="TURN")
    checkpoint = await stage.gate(
        "checkpoint",
        Prompt(name="asking/checkpoint", text=f"Go on after {said!r}?"),
        returns=Checkpoint,
        kind="checkpoint",
        timeout_seconds=settings.timeout_seconds,
        otherwise={"choice": "continue", "text": ""} if settings.decides else None,
        round=1,
    )
    if checkpoint.choice == "end":
        return outcome("tie", "Ended.", ended_by="person")
    prompt = Prompt(name="asking/guided", text=f"Guidance: {checkpoint.text}")
    ask = Prompt(name="asking/clarify", text="What do you mean?")
    meant, spoken = await together(
        stage.gate("clarify", ask, returns=Clarification, kind="clarification", round=2),
        stage.seat("a").ask("speak", prompt, round=2, shows="TURN"),
    )
    approved = await stage.gate(
        "approve",
        Prompt(name="asking/approve", text=f"{meant.text} / {spoken}: fine?"),
        returns=Approval,
        kind="approval",
        round=2,
    )
    return outcome("a", f"{approved.choice}: {meant.text}")


FORMAT = a_format(asking, settings=AskingSettings, parts=parts)
