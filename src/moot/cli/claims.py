"""The command `moot claims`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from moot import formats
from moot.cli.blocks import DEMONSTRATION, Block
from moot.cli.commands import DONE
from moot.cli.printer import Printer
from moot.cli.session import open_client
from moot.cli.views import print_json, printer_of
from moot.cli.words import next_step
from moot.core.amounts import count, listed
from moot.core.errors import InputError
from moot.core.types import Debate
from moot.reasoning.claims import CLAIM_STATUSES, FALSE_QUOTE, Claim, ClaimStatus, Ledger, why_void
from moot.reasoning.fence import one_line
from moot.records.argument_map import ledger_json, mermaid

MEANINGS: dict[ClaimStatus, str] = {
    "conceded": "someone else accepts it, and nothing that holds speaks against it",
    "standing": "nothing that holds speaks against it",
    "open": "disputed, and not settled",
    "refuted": "attacked and not defended, or given up by its own author",
}
STYLES: dict[ClaimStatus, str] = {"conceded": "green", "standing": "cyan", "open": "yellow", "refuted": "red"}


async def claims(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        ledger, known = await client.claims(debate), client.app.formats
        if ledger is None and (debate.format not in known or not known[debate.format].keeps_ledger):
            able = listed([name for name, format_ in known.items() if format_.keeps_ledger])
            raise InputError(f"The format {debate.format!r} keeps no ledger of claims. Formats that do: {able}.")
        if ledger is None:
            raise InputError(
                f"Debate {debate.short} keeps no ledger of claims. Ask for one when you begin a debate "
                "(--set claims=true), or branch this one off before its verdict: "
                f"moot fork {debate.short} --at KEY --set claims=true (`moot show {debate.short}` has the keys)."
            )
        wording = formats.wording_of(debate)
        await client.learn(wording, debate)
        names = wording.names
    if args.json:
        print_json(ledger_json(debate, ledger, names), indent=2)
    elif args.mermaid:
        print(mermaid(ledger, names), end="")
    else:
        _print(printer_of(args), debate, ledger, names, demonstration=client.is_demonstration(debate))
    return DONE


def _print(printer: Printer, debate: Debate, ledger: Ledger, names: Mapping[str, str], *, demonstration: bool) -> None:
    counts = ledger.counts()
    summary = ", ".join(f"{counts[status]} {status}" for status in CLAIM_STATUSES if counts[status])
    printer.line((f"Claims of debate {debate.short}", "bold"))
    printer.line(one_line(debate.topic, 200))
    printer.line(f"{count(len(ledger.claims), 'claim')}{f': {summary}' if summary else ''}")
    printer.line()
    for status in CLAIM_STATUSES:
        found = [claim for claim in ledger.claims if claim.status == status]
        if found:
            printer.line((status.upper(), f"bold {STYLES[status]}"), f"  {MEANINGS[status]}")
            printer.line()
        for claim in found:
            printer.block(_block(claim, ledger, names))
    _remarks(printer, ledger, names)
    if demonstration:
        printer.line((DEMONSTRATION, "bold red"))
    if not debate.terminal:
        printer.note(f"The debate is {debate.status}, so this may change. {next_step(debate)}")
    printer.note(f"The argument map: moot claims {debate.short} --mermaid")


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
    shown = claim.target and FALSE_QUOTE
    lines += [f"note: {each}" for each in claim.notes if each != shown]
    who = names.get(claim.seat, claim.seat)
    return Block(
        heading=f"{claim.id}  {one_line(who, 60)}", body="\n".join(lines), seat=claim.seat, key=claim.statement
    )


def _remarks(printer: Printer, ledger: Ledger, names: Mapping[str, str]) -> None:
    """Print why the claims of some statements are unknown, and what was dropped from others."""
    lines = [
        f"{each.key} ({names.get(each.seat, each.seat)}): {remark}"
        for each in ledger.statements
        for remark in (*((each.gap,) if each.gap else ()), *each.notes)
    ]
    if lines:
        printer.line(("Notes", "bold"))
        for line in lines:
            printer.passage(line)
        printer.line()
