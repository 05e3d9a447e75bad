from moot.formats import Format
from moot.formats.duel.rules import parts, play
from moot.formats.duel.settings import DuelSettings

FORMAT = Format(
    name="duel",
    version=1,
    summary="Two characters plan, think and speak in turn; a judge scores every statement and rules.",
    settings=DuelSettings,
    parts=parts,
    play=play,
)
