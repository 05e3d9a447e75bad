"""A ledger of claims as a JSON document and as a Mermaid flowchart."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from moot.core.types import Debate, Json
from moot.reasoning.claims import TEXT_CHARS, Claim, Ledger
from moot.reasoning.fence import one_line

VERSION = 1
LABEL_CHARS = 120
MOST_CHARS = 45_000  # Mermaid refuses 50,000
MOST_CLAIMS = 400  # and 500 arrows; a claim has one at most

# Allowed in a label besides letters, marks and digits of any script. Everything else could have a meaning in Mermaid,
# Markdown or a site generator, so it is written as a numeric entity.
_PLAIN = frozenset(" .,'-()?!")
_ARROWS = {"attacks": "--x|attacks|", "supports": "-.->|supports|"}
_OWN = "-.->|supports its own|"
_VOID = "-.-|does not count|"
_CLASSES = (
    "classDef conceded fill:#cfe8d5,stroke:#1b6b36,color:#10301c,stroke-width:3px",
    "classDef standing fill:#e3eefb,stroke:#1f5fa8,color:#0f2c4d",
    "classDef open fill:#fff4cf,stroke:#8a6a00,color:#3d2f00,stroke-dasharray:6 3",
    "classDef refuted fill:#f3f3f3,stroke:#9b2c2c,color:#5a5a5a,stroke-dasharray:2 2",
)


def ledger_json(debate: Debate, ledger: Ledger, names: Mapping[str, str]) -> Json:
    """The document of `moot claims ID --json`; docs/claims.md describes it."""
    return {
        "type": "moot.ledger",
        "version": VERSION,
        "debate": debate.id,
        "topic": debate.topic,
        "format": debate.format,
        "status": debate.status,
        "names": {seat: name for seat, name in names.items() if any(each.seat == seat for each in ledger.statements)},
        "counts": ledger.counts(),
        **ledger.as_json(),
    }


def mermaid(ledger: Ledger, names: Mapping[str, str]) -> str:
    """The ledger as a flowchart that is valid for any text. If it would exceed Mermaid's limits, the latest claims are
    left out, and a box says how many."""
    lines = ["flowchart BT", *(f"  {line}" for line in _CLASSES)]
    room = MOST_CHARS - sum(len(line) + 1 for line in lines) - LABEL_CHARS
    drawn: set[str] = set()
    for claim in ledger.claims[:MOST_CLAIMS]:
        own = [_box(claim, names), *([_arrow(claim, ledger)] if claim.target in drawn else [])]
        room -= sum(len(line) + 1 for line in own)
        if room < 0:
            break
        drawn.add(claim.id)
        lines += own
    left_out = len(ledger.claims) - len(drawn)
    if left_out:
        lines.append(f'  more["{left_out} more are left out here"]')
    if not ledger.claims:
        lines.append('  none["No claim is listed"]')
    return "\n".join(lines) + "\n"


def label(text: str) -> str:
    """Escape text for a label in quotation marks."""
    safe = (
        c if c in _PLAIN or unicodedata.category(c)[0] in "LMN" else f"#{ord(c)};" for c in one_line(text, TEXT_CHARS)
    )
    # Mermaid obeys `direction LR` anywhere in a line, even in a label.
    return "".join(safe).replace("direction ", "direction#32;")


def _box(claim: Claim, names: Mapping[str, str]) -> str:
    who = one_line(names.get(claim.seat, claim.seat), 60)
    words = f"{label(f'{claim.id} ({who}, {claim.status})')} {label(one_line(claim.text, LABEL_CHARS))}"
    return f'  {claim.id}["{words}"]:::{claim.status}'


def _arrow(claim: Claim, ledger: Ledger) -> str:
    author = next(each.seat for each in ledger.claims if each.id == claim.target)
    arrow = _ARROWS.get(claim.stance, _VOID) if claim.counts else _VOID
    if claim.stance == "supports" and claim.seat == author and claim.quote_ok is not False:
        arrow = _OWN
    return f"  {claim.id} {arrow} {claim.target}"
