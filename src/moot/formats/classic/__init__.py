from moot.formats import Format
from moot.formats.classic.rules import parts, play
from moot.formats.classic.settings import ClassicSettings

FORMAT = Format(
    name="classic",
    version=1,
    summary="Two debaters, for and against, in rounds; a judge rules at the end.",
    settings=ClassicSettings,
    parts=parts,
    play=play,
)
