from pydantic import Field

from moot.core.errors import LimitReached
from moot.core.script import Stage
from moot.core.settings import DebateSettings
from moot.core.types import Answer, FinalAnswer, Outcome, Prompt
from moot.formats.format import EventType, Format, Part


class Settings(DebateSettings):
    max_rounds: int = Field(2, ge=1, le=5, description="drafts at most")
    max_words: int = Field(60, ge=1, le=500, description="words of an answer that is short enough")


class Words(Answer):
    words: int


def parts(settings: Settings) -> list[Part]:
    return [Part(id="writer", name="Writer", role="writer", tier="debater", voice=True)]


async def play(stage: Stage, settings: Settings) -> Outcome:
    writer = stage.seat("writer")
    stage.open()
    text, ended_by = "", "max_rounds"
    order = Prompt(name="draft/first", text=f"Answer in at most {settings.max_words} words: {stage.topic}")
    try:
        for number in range(1, settings.max_rounds + 1):
            text = await writer.ask("draft", order, round=number, shows="DRAFT")
            counted = await stage.use("count-words", "count", {"text": text}, returns=Words, round=number)
            if counted.words <= settings.max_words:
                ended_by = "short"
                break
            again = f"That was {counted.words} words. Say it in at most {settings.max_words}."
            order = Prompt(name="draft/again", text=again)
    except LimitReached as limit:
        ended_by = limit.limit
    short = ended_by == "short"
    return Outcome(
        winner="consensus" if short else "undecided",
        headline="The answer is short enough." if short else "No draft was short enough.",
        ended_by=ended_by,
        verdict_source="rules" if text else "fallback",
        answer=FinalAnswer(value=text) if short else None,
        statement=text,
    )


FORMAT = Format(
    name="draft",
    version=1,
    purpose="An answer that fits into a few words",
    summary="A writer drafts until a tool that counts words is content.",
    settings=Settings,
    parts=parts,
    play=play,
    events={"DRAFT": EventType(verb="drafts")},
    phases={"draft": "Draft", "count": "Count"},
    endings={"short": "the draft is short enough", "max_rounds": "all rounds were played"},
    statements=("draft",),
)
