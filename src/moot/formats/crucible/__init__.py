from moot.formats import Format
from moot.formats.crucible.rules import parts, play
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.trace import trace_of

FORMAT = Format(
    name="crucible",
    version=1,
    summary="A proposer answers, a skeptic attacks the answer round after round; what has held is written up.",
    settings=CrucibleSettings,
    parts=parts,
    play=play,
    trace=trace_of,
)
