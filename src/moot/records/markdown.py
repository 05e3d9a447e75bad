"""A record as a Markdown document: MADR 4 front matter, then one section for each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from moot.core.types import Json
from moot.formats.wording import checks_words, points_words, side_name, tally_words
from moot.reasoning.claims import CLAIM_STATUSES, Claim, Ledger
from moot.records.argument_map import mermaid
from moot.records.quoting import code, item, literal, quote, source
from moot.records.record import Decided, Quote, Record, RecordedPerspective

NOT_ASKED = "The format does not ask for this."
NONE_FOUND = "None was found."
LONG = 300  # characters; longer arguments are quoted below the list
DEMONSTRATION = (
    "**Demonstration only.** A demonstration model took part: this document shows how moot works, and its verdict "
    "means nothing beyond that."
)


def render(record: Record) -> str:
    return f"---\n{_yaml(front_matter(record))}---\n\n" + "\n\n".join(body(record)) + "\n"


def front_matter(record: Record) -> Json:
    """The keys of MADR 4, then moot's own. The status is for a person to change: models only recommend."""
    return {
        "status": "proposed",
        "date": record.date,
        "decision-makers": [record.initiated_by] if record.initiated_by else [],
        "consulted": [f"{seat.name} ({seat.role}, {seat.model})" for seat in record.seats],
        "informed": [],
        "debate": record.debate,
        "title": record.title,
        "format": record.format,
        "rounds": record.rounds,
        "confidence": record.confidence,
        "verdict": record.name(record.decided.winner),
        "demonstration": record.demonstration,
    }


def _yaml(content: Json) -> str:
    import yaml

    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=float("inf"))


def body(record: Record) -> Iterator[str]:
    """The document without its front matter, block by block."""
    yield f"# Decision: {literal(record.title)}"
    if record.decided.headline:
        yield f"**{literal(record.decided.headline)}**"
    if record.demonstration:
        yield DEMONSTRATION
    yield _bullets(
        [
            f"**Date:** {record.date.isoformat()}",
            f"**Debate ID:** {code(record.debate)}",
            f"**Format:** {literal(record.format)}",
            f"**{record.counted.capitalize()}s:** {record.rounds}",
            "**Perspectives:** "
            + (", ".join(literal(side_name(each.name, each.stance)) for each in record.perspectives) or NONE_FOUND),
        ]
    )
    yield "## Question"
    yield quote(record.question)
    yield "## Perspectives Considered"
    if not record.perspectives:
        yield NONE_FOUND
    for each in record.perspectives:
        yield from _perspective(each, record)
    yield "## Points of Agreement"
    yield _asked(record.agreements)
    for section in record.sections:
        yield f"## {literal(section.title)}"
        yield _asked(section.items)
    yield "## Key Tensions"
    found = [*map(literal, record.unsettled), *map(item, record.tensions or ())]
    yield _bullets(found) if found else _asked(record.tensions)
    yield "## Recommendation"
    yield from _recommendation(record)
    answer = record.decided.answer
    if answer is not None and answer.is_code:
        yield "## Patch" if answer.kind == "patch" else "## Code"
        yield source(answer.value, "diff" if answer.kind == "patch" else answer.language)
    yield "## Dissenting View"
    yield from _dissent(record)
    yield "## How It Was Decided"
    yield from _how(record)
    if record.ledger is not None:
        yield "## Argument Map"
        yield from _argument_map(record, record.ledger)
    yield "## Transcript"
    yield from _transcript(record)


def _perspective(each: RecordedPerspective, record: Record) -> Iterator[str]:
    yield f"### {literal(each.name)}"
    lines: list[str] = []
    if each.stance:
        lines.append(f"Argues: {literal(each.stance)}")
    if each.position:
        lines.append(f"Instruction: {literal(each.position)}")
    if each.model:
        lines.append(f"Model: {code(each.model)}")
    quoted = "the format does not ask for a list; its own words follow." if each.quotes else NOT_ASKED
    at_length = any("\n" in text or len(text) > LONG for text in each.arguments or ())
    lines.append("Key arguments:" + (" as quoted below." if at_length else _nested(each.arguments, quoted)))
    lines.append("Trade-offs accepted:" + _nested(each.trade_offs, NOT_ASKED))
    if each.recommendation:
        lines.append(f"Recommends: {item(each.recommendation)}")
    yield _bullets(lines)
    for number, text in enumerate(each.arguments or () if at_length else (), 1):
        yield f"Argument {number}:"
        yield quote(text)
    for number, words in enumerate(each.quotes):
        which = "The only statement" if len(each.steps) == 1 else "First statement" if number == 0 else "Last statement"
        yield f"{which} ({code(words.key)}):"
        yield from _quoted(words, record)


def _quoted(words: Quote, record: Record) -> Iterator[str]:
    yield quote(words.text)
    if words.left_out:
        yield f"({words.left_out:,} more characters: {code(f'moot show {record.short}')}, step {code(words.key)}.)"


def _recommendation(record: Record) -> Iterator[str]:
    if record.decided.headline:
        yield f"**{literal(record.decided.headline)}**"
    if record.decided.how:
        yield literal(record.decided.how)
    if record.decided.checks:
        yield literal(checks_words(record.decided.checks))
    if record.recommendation:
        yield quote(record.recommendation)
    elif record.decided.winner in ("tie", "undecided"):
        yield "There is no recommendation, because no side won."
    if record.statement and record.statement != record.recommendation:
        yield "The ruling, as it was written:"
        yield quote(record.statement)
    yield f"**Confidence:** {record.confidence}"
    yield _bullets(literal(reason) for reason in record.confidence_reasons)
    yield "**Caveats:**"
    found = [*map(literal, record.warnings), *map(item, record.caveats or ())]
    yield _bullets(found) if found else _asked(record.caveats)


def _dissent(record: Record) -> Iterator[str]:
    for text in record.dissent or ():
        yield quote(text)
    decided = record.decided
    losers = [each for each in record.perspectives if each.seat and each.seat != decided.winner]
    two_sides = len(record.perspectives) == 2 and len(losers) == 1
    against = [vote for vote in decided.votes if vote.choice not in (decided.winner, "tie", "abstains")]
    if decided.winner in ("tie", "undecided"):
        if not record.dissent:
            yield NONE_FOUND if record.dissent is not None else "There is no verdict to dissent from."
        return
    if record.dissent is None and two_sides:
        loser = literal(record.side(losers[0].seat))
        yield f"{loser} argued the other side; its words are under Perspectives Considered."
    for vote in against:
        yield f"{literal(vote.name)} voted for {literal(record.side(vote.choice))} ({code(vote.key)}):"
        yield from _quoted(Quote(key=vote.key, text=vote.reason, left_out=vote.left_out), record)
    if not record.dissent and not against and (record.dissent is not None or not two_sides):
        yield NONE_FOUND if record.dissent is not None else NOT_ASKED


def _how(record: Record) -> Iterator[str]:
    decided, usage = record.decided, record.usage
    lines = [f"Decided by: {literal(decided.by) or 'not known'}"]
    if decided.reason:
        lines.append(f"Reason: {literal(decided.reason)}")
    lines += [f"{literal(name)}: {literal(text)}" for name, text in decided.facts.items()]
    lines += _counted(record, decided)
    lines.append(f"Ended because: {literal(decided.ended)}")
    lines.append(f"Limits reached: {', '.join(map(code, decided.limits_reached)) or 'none'}")
    failed = f", {decided.failed_steps} without a valid answer" if decided.failed_steps else ""
    lines.append(f"Steps: {decided.steps}{failed}")
    cost = "not known" if usage.cost_usd is None else f"${usage.cost_usd:.4f}" if usage.cost_usd else "$0"
    lines.append(f"Cost: {cost}; {usage.tokens_in:,} tokens read, {usage.tokens_out:,} written")
    lines.append(f"Running time: {record.seconds:.1f} seconds")
    yield _bullets(line.replace("$", "\\$") if line.startswith("Cost") else line for line in lines)
    if record.people:
        yield "What people said while it ran:"
        yield _bullets(f"{code(words.key)}: {item(words.text)}" for words in record.people)
    yield "Models:"
    yield _bullets(f"{literal(seat.name)} ({literal(seat.role)}): {code(seat.model)}" for seat in record.seats)


def _counted(record: Record, decided: Decided) -> Iterator[str]:
    def name(seat: str) -> str:
        return literal(record.side(seat))

    yield points_words(decided.scores, decided.scale, name, literal(decided.scored_by)) or "Points: none"
    if decided.tally:
        yield f"Votes: {tally_words(decided.tally, name)}"
    elif decided.votes:
        yield "Votes: " + ", ".join(f"{literal(vote.name)} for {name(vote.choice)}" for vote in decided.votes)
    if decided.flip_rate is None:
        yield "Read in both orders: no"
    else:
        yield f"Read in both orders: {decided.flip_rate:.0%} of the readings came out differently"


def _argument_map(record: Record, ledger: Ledger) -> Iterator[str]:
    if not ledger.claims:
        yield "No claim is listed."
    else:
        yield "The claims as their speakers listed them; what has become of each was computed, not judged."
        names = {seat.id: seat.name for seat in record.seats}
        yield f"```mermaid\n{mermaid(ledger, names)}```"
        for status in CLAIM_STATUSES:
            found = [claim for claim in ledger.claims if claim.status == status]
            if found:
                yield f"{status.capitalize()}:"
                yield _bullets(_claim(claim, record) for claim in found)
    gaps = [each.key for each in ledger.statements if each.gap]
    if gaps:
        yield f"Statements whose claims are not, or not all, known: {', '.join(map(code, gaps))}."


def _claim(claim: Claim, record: Record) -> str:
    conceded = ", ".join(literal(record.name(seat)) for seat in claim.conceded_by)
    details = [
        f"{claim.stance} {claim.target}" if claim.target and claim.counts else "",
        f"evidence: {item(claim.evidence)}" if claim.evidence else "",
        f"conceded by {conceded}" if conceded else "",
        "quotes words that no one said" if claim.quote_ok is False else "",
    ]
    more = "; ".join(filter(None, details))
    return f"{code(claim.id)} {literal(record.name(claim.seat))}: {item(claim.text)}" + (f" ({more})" if more else "")


def _transcript(record: Record) -> Iterator[str]:
    short = record.short
    commands = (f"moot show {short}", f"moot replay {short}", f"moot audit {short}")
    read, prove, audit = map(code, commands)
    yield f"{read} prints every word, {prove} proves that nothing was changed since, {audit} has what each step cost."
    steps = [f"{literal(each.name)}: {', '.join(map(code, each.steps))}" for each in record.perspectives if each.steps]
    if steps:
        yield "Steps in which they spoke:"
        yield _bullets(steps)
    if record.parent:
        yield f"Branched off from the debate {code(record.parent)}."


def _asked(texts: Sequence[str] | None) -> str:
    if texts is None:
        return NOT_ASKED
    return _bullets(item(text) for text in texts) if texts else NONE_FOUND


def _nested(texts: Sequence[str] | None, otherwise: str) -> str:
    """What follows the colon of a list item."""
    if not texts:
        return f" {otherwise if texts is None else NONE_FOUND}"
    return f" {item(texts[0])}" if len(texts) == 1 else "".join(f"\n  - {item(text)}" for text in texts)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
