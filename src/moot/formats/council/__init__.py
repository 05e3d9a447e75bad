from moot.formats import Format
from moot.formats.council.rules import parts, play
from moot.formats.council.settings import CouncilSettings

FORMAT = Format(
    name="council",
    version=1,
    summary="Members answer alone, rank each other's answers blind, debate where they disagree; a chair writes it up.",
    settings=CouncilSettings,
    parts=parts,
    play=play,
)
