"""A format that asks people things, for the tests of gates."""

from __future__ import annotations

from moot.formats import Format, Part
from moot.gates import Approval, Checkpoint, Clarification
from moot.script import Stage, together
from moot.settings import DebateSettings
from moot.stage import Waiting
from moot.types import Outcome, Prompt


class AskingSettings(DebateSettings):
    timeout_seconds: float | None = None
    decides: bool = False
    human: bool = False


def parts(settings: AskingSettings) -> list[Part]:
    return [Part(id="a", name="A", role="debater", model="human" if settings.human else None)]


async def play(stage: Stage, settings: AskingSettings) -> Outcome:
    otherwise = {"choice": "continue", "text": ""} if settings.decides else None
    waiting = Waiting(kind="checkpoint", timeout_seconds=settings.timeout_seconds, otherwise=otherwise)
    said = await stage.seat("a").ask("speak", Prompt(name="asking/speak", text="Speak."), round=1, shows="TURN")
    question = Prompt(name="asking/checkpoint", text=f"Go on after {said!r}?")
    checkpoint = await stage.gate("checkpoint", question, returns=Checkpoint, waiting=waiting, round=1, shows="PERSON")
    if checkpoint.choice == "end":
        return Outcome(winner="tie", headline="Ended.", ended_by="person", verdict_source="judge")
    prompt = Prompt(name="asking/guided", text=f"Guidance: {checkpoint.text}")
    ask = Prompt(name="asking/clarify", text="What do you mean?")
    meant, spoken = await together(
        stage.gate("clarify", ask, returns=Clarification, waiting=Waiting(kind="clarification"), round=2),
        stage.seat("a").ask("speak", prompt, round=2, shows="TURN"),
    )
    approved = await stage.gate(
        "approve",
        Prompt(name="asking/approve", text=f"{meant.text} / {spoken}: fine?"),
        returns=Approval,
        waiting=Waiting(kind="approval"),
        round=2,
    )
    return Outcome(winner="a", headline=f"{approved.choice}: {meant.text}", ended_by="rules", verdict_source="judge")


FORMAT = Format(name="asking", version=1, summary="For tests.", settings=AskingSettings, parts=parts, play=play)
