"""The command `moot calibration`: how sure decisions were, and how often they turned out right."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

from moot.cli.commands import DONE
from moot.cli.printer import Printer, Span, note, table
from moot.cli.session import open_client
from moot.cli.views import print_json, printer_of
from moot.core.amounts import count
from moot.core.types import Json
from moot.evaluate.calibration import FEW, SOURCE_WORDS, Bin, Calibration, Forecast, calibrated, forecasts

NONE_YET = (
    "No decision has an outcome yet; debates of evaluations are left out: moot eval report ID shows how well they are "
    "calibrated. Record how one turned out with: moot outcome ID right|wrong"
)


async def calibration(args: Namespace) -> int:
    async with open_client(args) as client:
        found = [each async for each in forecasts(client, args.by)]
    whole = calibrated(found)
    groups = calibrated(found, grouped=True) if args.by else []
    if args.json:
        document: Json = {
            "type": "moot.calibration",
            "decisions": _decisions(found),
            "demonstrations": len({each.debate for each in found if each.demonstration}),
            "sources": [asdict(each) for each in whole],
            "by": args.by,
            "groups": [asdict(each) for each in groups],
        }
        print_json(document, indent=2)
    elif not found:
        note(NONE_YET)
    else:
        out = printer_of(args)
        for each in whole:
            _print(out, each, [group for group in groups if group.source == each.source], args.by)
        _close(found)
    return DONE


def _decisions(found: Sequence[Forecast]) -> int:
    return len({each.debate for each in found})


def _print(out: Printer, whole: Calibration, groups: Sequence[Calibration], by: str | None) -> None:
    out.line((f"By {SOURCE_WORDS[whole.source]}: ", "bold"), _summed(whole))
    table(out, ("SAID", "DECISIONS", "RIGHT", "95% INTERVAL"), [_row(each) for each in whole.bins])
    out.line()
    if by and groups:
        rows = [
            (each.group, str(each.n), f"{each.right:.0%}", _interval(each), *map(_score, (each.brier, each.ece)))
            for each in groups
        ]
        table(out, (by.upper(), "DECISIONS", "RIGHT", "95% INTERVAL", "BRIER", "ECE"), rows)
        out.line()


def _summed(each: Calibration) -> str:
    parts = [count(each.n, "decision"), f"{each.right:.0%} right ({_interval(each)})"]
    if each.brier is not None and each.ece is not None and each.confidence is not None:
        parts += [f"{each.confidence:.0%} sure on average", f"Brier {each.brier:.3f}", f"ECE {each.ece:.3f}"]
    return ", ".join(parts)


def _row(each: Bin) -> Sequence[Span]:
    return (each.label, str(each.n), f"{each.right:.0%}", _interval(each))


def _interval(each: Bin | Calibration) -> str:
    return f"{each.interval.low:.0%} to {each.interval.high:.0%}"


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _close(found: Sequence[Forecast]) -> None:
    decisions = _decisions(found)
    if decisions < FEW:
        note(
            f"Only {count(decisions, 'decision')} with a recorded outcome: these figures say little. With {FEW}, a "
            "share is known to within about 10 points."
        )
    shown = len({each.debate for each in found if each.demonstration})
    if shown:
        note(f"In {shown} of them a demonstration model took part; they say nothing about real ones.")
