"""The command `moot tally`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from fractions import Fraction

from moot import formats
from moot.cli.commands import DONE, FAILED
from moot.cli.printer import Printer, Span, table
from moot.cli.session import open_client
from moot.cli.views import print_json, printer_of
from moot.core.amounts import listed
from moot.core.types import Ballot, CountRound, Debate, Json, Poll, Result
from moot.reasoning.fence import one_line
from moot.runtime.tally import Recount, Tallied

SAME = "The same as stored."
READ = "Every ballot was read again from the debate's turns, and every vote counted again."


async def tally(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        tallied = await client.tally(debate, args.method)
        wording = formats.wording_of(debate)
        await client.learn(wording, debate)
        names = wording.names
    if args.json:
        print_json(_json(debate, tallied), indent=2)
    else:
        _print(printer_of(args), debate, tallied, names)
    return DONE if tallied.same else FAILED


def _json(debate: Debate, tallied: Tallied) -> Json:
    def of(result: Result | None) -> Json | None:
        return None if result is None else result.model_dump(mode="json")

    return {
        "type": "moot.tally",
        "debate": debate.id,
        "winner": None if debate.outcome is None else debate.outcome.winner,
        "same": tallied.same,
        "read_from_turns": not tallied.unread,
        "differences": [*([tallied.unread] if tallied.unread else []), *tallied.differences],
        "votes": [
            {
                **each.poll.model_dump(mode="json"),
                "recounted": of(each.result),
                "other": of(each.other),
                "differences": list(each.differences),
            }
            for each in tallied.recounts
        ],
    }


def _print(printer: Printer, debate: Debate, tallied: Tallied, names: Mapping[str, str]) -> None:
    printer.line((f"Votes of debate {debate.short}", "bold"))
    printer.line(one_line(debate.topic, 200))
    for n, each in enumerate(tallied.recounts, 1):
        printer.line()
        _vote(printer, each, f"Vote {n} of {len(tallied.recounts)}" if len(tallied.recounts) > 1 else "The vote", names)
    printer.line()
    for line in tallied.differences:
        printer.line((line, "bold red"))
    if tallied.unread:
        printer.line((f"The ballots could not be read from the turns again: {tallied.unread}", "yellow"))
    elif tallied.same:
        printer.line(READ)


def _vote(printer: Printer, recount: Recount, title: str, names: Mapping[str, str]) -> None:
    poll = recount.poll
    when = f", after round {poll.round}" if poll.round else ""
    counts = "" if poll.decides else " (another vote counts, or none)"
    printer.line((f"{title}{when}{counts}", "bold"))
    result = recount.result or poll.result
    chosen = f", which is {result.method} for {result.voters} voters" if poll.method != result.method else ""
    ties = f"; ties are broken by {', then '.join(poll.tie_breaks)}" if poll.tie_breaks else "; a tie stays a tie"
    printer.line(f"Method: {poll.method}{chosen}{ties}")
    printer.line()
    _ballots(printer, poll, names)
    _count(printer, poll, result)
    if recount.other is not None:
        printer.line()
        printer.line((f"By {recount.other.method}", "bold"))
        _count(printer, poll, recount.other)
    printer.line()
    for line in recount.differences:
        printer.line((line, "bold red"))
    if not recount.differences:
        printer.line((SAME, "green"))


def _ballots(printer: Printer, poll: Poll, names: Mapping[str, str]) -> None:
    weighed = any(ballot.weight != 1 for ballot in poll.ballots)
    head = ["VOTER", *(["WEIGHT"] if weighed else []), "STEP", "RANKING"]
    rows: list[list[Span]] = []
    for ballot in poll.ballots:
        voter = one_line(names.get(ballot.voter, ballot.voter), 60)
        weight = [_number(ballot.weight)] if weighed else []
        rows.append([voter, *weight, ", ".join(ballot.keys), _ranking(ballot, poll)])
    table(printer, head, rows)


def _ranking(ballot: Ballot, poll: Poll) -> str:
    titles = poll.titles
    if not ballot.ranking:
        return f"abstains: {one_line(ballot.reason, 200)}" if ballot.reason else "abstains"
    order = " > ".join(one_line(titles.get(each, each), 60) for each in ballot.ranking)
    behind = [one_line(titles.get(each, each), 60) for each in ballot.approves]
    return f"{order} (stands behind {listed(behind)})" if behind else order


def _count(printer: Printer, poll: Poll, result: Result) -> None:
    for n, each in enumerate(result.rounds, 1):
        printer.line()
        most = f", {_number(each.most)} at most" if each.most != 1 else ""
        printer.line((f"Round {n}: {each.name}{most}", "bold"))
        _figures(printer, poll, each, result)
        if each.found:
            printer.line(each.found)
    printer.line()
    if result.tie_break:
        printer.line(f"The first place was decided by the tie-break {result.tie_break!r}.")
    if result.fallback:
        printer.line(f"Fallback: the first place is by {result.fallback}.")
    abstained = f", {result.abstained} abstained" if result.abstained else ""
    printer.line(f"Result of {result.voters} voters{abstained}: {_in_words(poll, result)}")


def _figures(printer: Printer, poll: Poll, round: CountRound, result: Result) -> None:
    order = [each for place in result.places for each in place if each in round.figures]
    rows: list[list[Span]] = []
    for each in order:
        against = round.against.get(each, {})
        pairs = ", ".join(
            f"{_number(against[other])} over {_title(poll, other)}" for other in order if other in against
        )
        rows.append([_title(poll, each), _number(round.figures[each]), pairs])
    width = max((len(str(row[0])) for row in rows), default=0)
    number = max((len(str(row[1])) for row in rows), default=0)
    for name, figure, pairs in rows:
        printer.line(f"  {name:<{width}}  {figure:>{number}}  {pairs}")


def _in_words(poll: Poll, result: Result) -> str:
    places = [" and ".join(_title(poll, each) for each in place) for place in result.places]
    if not result.reached:
        return f"nothing is decided. {result.reason}"
    order = " > ".join(places)
    return f"{order}." if result.winner is not None else f"a tie between {places[0]}. {result.reason} Order: {order}."


def _title(poll: Poll, candidate: str) -> str:
    return one_line(poll.titles.get(candidate, candidate), 60)


def _number(value: Fraction) -> str:
    """Exact, with an approximation where that is easier to read."""
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.3f})"
