from moot.formats import Format
from moot.formats.panel.rules import parts, play
from moot.formats.panel.settings import PanelSettings

FORMAT = Format(
    name="panel",
    version=2,
    summary="Opposing perspectives argue in rounds under a moderator; you steer between rounds; a record remains.",
    settings=PanelSettings,
    parts=parts,
    play=play,
)
