"""Commands that read debates and change nothing: list, show, watch, replay, audit."""

from __future__ import annotations

import shlex
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial

from moot.cli.blocks import DEMONSTRATION, RenderContext, answer_line
from moot.cli.commands import DONE, FAILED
from moot.cli.follow import Follower
from moot.cli.listing import listed, print_debates
from moot.cli.printer import Printer, Span, note, table
from moot.cli.run import summary
from moot.cli.session import open_client
from moot.cli.views import debate_json, print_json, printer_of, view_of
from moot.cli.words import clock, exit_code, how_it_turned_out, next_step, rating, spent
from moot.client import Client
from moot.client.pinned import pinned_first
from moot.core.amounts import count, duration, money
from moot.core.errors import InputError, UnknownName
from moot.core.types import STATUSES, Debate, Json
from moot.reasoning.fence import one_line
from moot.store import Page

_FOLLOW_UPS = 20  # are named of a debate, at most


async def list(args: Namespace) -> int:
    async with open_client(args) as client:
        if args.status is not None and args.status not in STATUSES:
            raise UnknownName("status", args.status, STATUSES)
        if not 1 <= args.limit <= 1000:
            raise InputError(f"--limit is {args.limit}; it can be 1 to 1000.")
        parent, follows = [each and await client.parent_id(each) for each in (args.parent, args.follows)]
        look = partial(client.page, pinned=True) if args.pinned else partial(pinned_first, client)
        page = await look(
            status=args.status,
            format=args.format,
            contains=args.contains,
            parent=parent,
            follows=follows,
            tag=args.tag,
            archived=args.archived,
            limit=args.limit,
            after=args.after,
        )
        dead = await client.interrupted()
        if args.json:
            print_json(_page_json(client, page, dead), indent=2)
        else:
            answers = {each.id: answer_line(each, demonstration=client.is_demonstration(each)) for each in page.debates}
            _print_page(printer_of(args), page, answers, dead, _filters(args))
    return DONE


async def show(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        view = view_of(args, RenderContext.of(debate, demonstration=client.is_demonstration(debate)))
        for event in await client.events(debate):
            view.event(event)
        if not args.json:
            await summary(client, view, debate)
            interrupted = debate.id in await client.interrupted()
            said = [
                how_it_turned_out(debate),
                await _parent(client, debate),
                _follows(debate),
                await _followed(client, debate),
                _labels(debate),
                _quarantine(debate),
                _private(debate),
            ]
            for text in said:
                if text:
                    view.note(text)
            if debate.status != "completed":
                view.note(next_step(debate, interrupted=interrupted))
    return DONE


async def watch(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        context = RenderContext.of(debate, demonstration=client.is_demonstration(debate))
        view = view_of(args, context, hint="Ctrl-C leaves, the debate goes on")
        left = await Follower(client, debate, view).follow()
        if not args.json:
            await summary(client, view, left.debate)
        view.note(next_step(left.debate, interrupted=left.interrupted))
        return exit_code(left.debate)


async def replay(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        proof = await client.replay(debate)
        difference = proof.first_difference
        if difference is None:
            print(f"The same transcript, byte for byte: {count(debate.turn_count, 'turn')} replayed without a model.")
            print(f"sha256 {proof.sha256}, {len(proof.recorded):,} bytes")
            return DONE
        line, recorded, replayed = difference
        print(f"The replay differs from the record, first in line {line} of the transcript.")
        print(f"recorded: {recorded}\nreplayed: {replayed}")
        note("The record was changed, or made by another version of moot. Replay it with the version that made it.")
        return FAILED


async def audit(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        document = await client.audit(debate)
        if args.json:
            print_json(document, indent=2)
        else:
            _print_audit(printer_of(args), document, debate, demonstration=client.is_demonstration(debate))
    return DONE


async def _parent(client: Client, debate: Debate) -> str:
    """A fork's origin; empty for any other debate."""
    if debate.parent_id is None:
        return ""
    gone = await client.store.tombstone(debate.parent_id)
    when = "" if gone is None else f", which was deleted on {clock(gone.deleted_at)}"
    return f"Branched off from {debate.parent_id[:8]} at {debate.forked_at}{when}"


def _follows(debate: Debate) -> str:
    return f"Asked after {debate.follows[:8]}" if debate.follows else ""


async def _followed(client: Client, debate: Debate) -> str:
    page = await client.page(follows=debate.id, archived=None, limit=_FOLLOW_UPS)
    more = ", and more" if page.next else ""
    return f"Asked further: {', '.join(each.short for each in page.debates)}{more}" if page.debates else ""


def _labels(debate: Debate) -> str:
    title = f"Called “{one_line(debate.title)}”" if debate.title else ""
    tags = f"tags {', '.join(debate.tags)}" if debate.tags else ""
    flags = [name for name in ("pinned", "archived") if getattr(debate, name)]
    said = ", ".join(filter(None, [title, *flags, tags]))
    return said[:1].upper() + said[1:]


def _private(debate: Debate) -> str:
    return "Private: over HTTP, chat and MCP, its own token and admins see it" if debate.private else ""


def _quarantine(debate: Debate) -> str:
    if debate.quarantined_at is None:
        return ""
    by = f" by {debate.quarantined_by}" if debate.quarantined_by else ""
    return f"In quarantine since {clock(debate.quarantined_at)}{by}: not recalled into new debates"


def _page_json(client: Client, page: Page, dead: frozenset[str]) -> Json:
    debates = [
        debate_json(each, demonstration=client.is_demonstration(each), interrupted=each.id in dead)
        for each in page.debates
    ]
    return {"debates": debates, "next": page.next}


def _filters(args: Namespace) -> str:
    """The filter flags as given, for the command that shows the next page."""
    given = [(name, getattr(args, name)) for name in ("status", "format", "contains", "parent", "follows", "tag")]
    switches = [f" --{name}" for name in ("pinned", "archived") if getattr(args, name)]
    return "".join([f" --{name} {shlex.quote(value)}" for name, value in given if value] + switches)


def _print_page(printer: Printer, page: Page, answers: Mapping[str, str], dead: frozenset[str], filters: str) -> None:
    if not page.debates and filters:
        note("No debate matches. See all of them with: moot list")
        return
    if not page.debates:
        note('No debates here. Begin one: moot "Should we use Redis or PostgreSQL for caching?"')
        return
    print_debates(printer, [listed(each, answers[each.id], dead, time.time()) for each in page.debates])
    if page.next:
        printer.note(f"There are more: moot list{filters} --after {page.next}")
    gone = [debate for debate in page.debates if debate.id in dead]
    if len(gone) == 1:
        printer.note(f"{gone[0].short}: {next_step(gone[0], interrupted=True)}")
    elif gone:
        printer.note(f"The processes of {len(gone)} debates are gone; nothing is lost. Go on with: moot resume --all")


def _print_audit(printer: Printer, document: Json, debate: Debate, *, demonstration: bool) -> None:
    printer.line((f"Debate {debate.id}", "bold"))
    printer.line(f"{one_line(debate.topic)}")
    printer.line(
        f"{debate.format} (version {debate.format_version}), {debate.status}, begun {clock(debate.created_at)}"
    )
    if debate.parent_id:
        printer.line(f"branched off from {debate.parent_id} at {debate.forked_at}")
    printer.line()
    rows = [_audit_row(turn) for turn in document["turns"]]
    if rows:
        table(printer, ("STEP", "TOKENS IN", "OUT", "COST", "TIME", "END", "PROMPT", "SHA", "MODEL"), rows, cut=True)
        printer.line()
    lost = debate.lost
    if lost.tokens_in or lost.tokens_out or lost.cost_usd:
        printer.line(f"Lost in attempts that led to no turn: {lost.tokens_in + lost.tokens_out:,} tokens")
    printer.line(", ".join([count(debate.turn_count, "turn"), *spent(debate)]))
    if debate.outcome is not None:
        printer.line(f"Verdict: {one_line(f'{debate.outcome.headline} {debate.outcome.how}')}")
        if demonstration:
            printer.line((DEMONSTRATION, "bold red"))
    if debate.user_rating is not None:
        printer.line(f"{rating(debate).capitalize()}.")
    if debate.turned_out is not None:
        printer.line(how_it_turned_out(debate))
    printer.note(f"Every word that was sent and received: moot audit {debate.short} --json")


def _audit_row(turn: Json) -> Sequence[Span]:
    failure = turn["failure"]
    return (
        turn["key"],
        f"{turn['tokens_in']:,}",
        f"{turn['tokens_out']:,}",
        money(turn["cost_usd"]),
        duration(turn["duration_ms"] / 1000),
        (failure["kind"], "red") if failure else turn["finish_reason"],
        turn["prompt"],
        turn["prompt_hash"][:8],
        turn["model"],
    )
