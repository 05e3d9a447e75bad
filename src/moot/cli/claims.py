"""The command `moot claims`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from moot.app import App
from moot.cli.blocks import DEMONSTRATION, Block
from moot.cli.commands import DONE
from moot.cli.door import find, opened
from moot.cli.lines import paper_of, print_json
from moot.cli.paper import Paper
from moot.cli.words import count, listed, next_step, one_line
from moot.errors import InputError
from moot.reasoning.claims import CLAIM_STATUSES, FALSE_QUOTE, Claim, ClaimStatus, Ledger, why_void
from moot.records.argument_map import ledger_json, mermaid, names_of
from moot.types import Debate

MEANINGS: dict[ClaimStatus, str] = {
    "conceded": "someone else accepts it, and nothing that holds speaks against it",
    "standing": "nothing that holds speaks against it",
    "open": "disputed, and not settled",
    "refuted": "attacked and not defended, or given up by its own author",
}
STYLES: dict[ClaimStatus, str] = {"conceded": "green", "standing": "cyan", "open": "yellow", "refuted": "red"}


async def claims(args: Namespace) -> int:
    async with opened(args) as app:
        debate = await find(app, args.id)
        ledger = await app.ledger(debate.id)
        if ledger is None:
            raise InputError(
                f"Debate {debate.short} keeps no ledger of claims. Ask for one when you begin a debate "
                "(--set claims=true), or branch this one off before its verdict: "
                f"moot fork {debate.short} --at KEY --set claims=true (`moot show {debate.short}` has the keys)."
            )
        names = await _names(app, debate)
    if args.json:
        print_json(ledger_json(debate, ledger, names), indent=2)
    elif args.mermaid:
        print(mermaid(ledger, names), end="")
    else:
        _print(paper_of(args), debate, ledger, names, demonstration=app.is_demonstration(debate))
    return DONE


async def _names(app: App, debate: Debate) -> dict[str, str]:
    """Those of an unfinished debate are in its events."""
    names, after = names_of(debate), 0
    while debate.outcome is None and (page := await app.runtime.store.events(debate.id, after)):
        for event in page:
            names |= event.data.get("names", {}) if event.type == "CAST" else {}
        after = page[-1].seq
    return names


def _print(paper: Paper, debate: Debate, ledger: Ledger, names: Mapping[str, str], *, demonstration: bool) -> None:
    counts = ledger.counts()
    told = ", ".join(f"{counts[status]} {status}" for status in CLAIM_STATUSES if counts[status])
    paper.line((f"Claims of debate {debate.short}", "bold"))
    paper.line(one_line(debate.topic, 200))
    paper.line(f"{count(len(ledger.claims), 'claim')}{f': {told}' if told else ''}")
    paper.line()
    for status in CLAIM_STATUSES:
        found = [claim for claim in ledger.claims if claim.status == status]
        if found:
            paper.line((status.upper(), f"bold {STYLES[status]}"), f"  {MEANINGS[status]}")
            paper.line()
        for claim in found:
            paper.block(_block(claim, ledger, names))
    _remarks(paper, ledger, names)
    if demonstration:
        paper.line((DEMONSTRATION, "bold red"))
    if not debate.terminal:
        paper.note(f"The debate is {debate.status}, so this is how it stands by now. {next_step(debate)}")
    paper.note(f"The argument map: moot claims {debate.short} --mermaid")


def _block(claim: Claim, ledger: Ledger, names: Mapping[str, str]) -> Block:
    lines = [claim.text]
    if claim.target:
        void = why_void(claim, ledger)
        lines.append(f"{claim.stance} {claim.target}{f' (counts for nothing: {void})' if void else ''}")
    if claim.quote:
        where = f" ({claim.quote_of})" if claim.quote_ok else ""
        lines.append(f'answers the words: "{claim.quote}"{where}')
    if claim.evidence:
        lines.append(f"evidence: {claim.evidence}")
    if claim.conceded_by:
        lines.append(f"conceded by {listed([names.get(seat, seat) for seat in claim.conceded_by])}")
    told = claim.target and FALSE_QUOTE
    lines += [f"note: {each}" for each in claim.notes if each != told]
    who = names.get(claim.seat, claim.seat)
    return Block(
        heading=f"{claim.id}  {one_line(who, 60)}", body="\n".join(lines), seat=claim.seat, key=claim.statement
    )


def _remarks(paper: Paper, ledger: Ledger, names: Mapping[str, str]) -> None:
    """Statements whose claims are not known, and what was dropped from others."""
    lines = [
        f"{each.key} ({names.get(each.seat, each.seat)}): {remark}"
        for each in ledger.statements
        for remark in (*((each.gap,) if each.gap else ()), *each.notes)
    ]
    if lines:
        paper.line(("Notes", "bold"))
        for line in lines:
            paper.passage(line)
        paper.line()
