"""`moot eval judge`: have verdicts read again, and say how stable they are."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from moot.cli.commands import DONE
from moot.cli.printer import make_printer, note, table
from moot.cli.session import open_client
from moot.cli.views import print_json
from moot.core.amounts import count
from moot.core.errors import InputError
from moot.core.types import Json
from moot.evaluate.intervals import Interval
from moot.evaluate.judging import READERS, Reread, Share, Stability, reread, stability

FEW_READINGS = 20


async def judge(args: Namespace) -> int:
    if not args.what:
        raise InputError("Which debate is to be judged again? Give its id: moot eval judge ID")
    models = [each.strip() for each in (args.judges or args.judge or "").split(",") if each.strip()]
    async with open_client(args) as client:
        found = [await client.find(each) for each in args.what]
        each_usd = None if args.max_cost_usd is None else args.max_cost_usd / len(found)
        readers = READERS if args.readers is None else args.readers
        done = [await reread(client, debate, readers, models, each_usd) for debate in found]
    figures = stability(done)
    if args.json:
        document: Json = {
            "type": "moot.eval.judge",
            "debates": [asdict(each) for each in done],
            "stability": asdict(figures),
        }
        print_json(document, indent=2)
    else:
        _print(done, figures)
    return DONE


def _print(done: list[Reread], figures: Stability) -> None:
    out = make_printer()
    rows = [
        ("gives the stored verdict", *_cells(figures.stable)),
        *((f"  asked in {name}", *_cells(share)) for name, share in figures.by_wording.items()),
        ("changes sides in the other order", *_cells(figures.flipped)),
        ("chooses the side read first", *_cells(figures.first)),
        ("chooses the side that said more", *_cells(figures.longer)),
    ]
    table(out, ("A READING", "SHARE", "OF", "95% INTERVAL"), rows)
    out.line()
    agree = "not defined, as all readings agree" if figures.alpha is None else f"{figures.alpha:.2f}"
    out.line(f"Krippendorff's alpha across the readers: {agree}")
    shared = ", ".join(figures.shared_families)
    out.line(
        f"The readers' models are of {'a family' if len(figures.families) == 1 else 'families'} of the debaters, too: "
        f"{shared}."
        if shared
        else "No reader's model is of a debater's family."
    )
    if figures.abstained:
        out.line(f"{count(figures.abstained, 'reading')} of {figures.readings} gave no valid choice.")
    planned = sum(each.planned for each in done)
    if figures.readings < planned:
        out.line(
            f"Only {figures.readings} of {planned} readings were made: a limit, or what they may cost, was reached."
        )
    for each in done:
        note(f"Debate {each.debate[:8]} was read again in its fork {each.fork[:8]}: moot show {each.fork[:8]}")
    if figures.readings < FEW_READINGS or len(done) == 1:
        note(
            "Readings of one debate tell how stable its verdict is. What readers do in general, such as choosing the "
            "first or the longer side, takes several debates."
        )


def _cells(share: Share) -> tuple[str, str, str]:
    if share.value is None:
        return "", "0", ""
    return f"{share.value:.0%}", str(share.of), _words(share.interval)


def _words(interval: Interval) -> str:
    return f"{interval.low:.0%} to {interval.high:.0%}"
