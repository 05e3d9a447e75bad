"""Commands that label debates, so that people find them again: rename, pin, tag, archive."""

from __future__ import annotations

from argparse import Namespace

from moot.cli.commands import DONE
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.reasoning.fence import one_line
from moot.runtime.labels import read_tags


async def rename(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        named = await client.label(found, title=" ".join(args.words))
        if named.title:
            print(f"Debate {named.short} is called “{one_line(named.title)}”.")
            note(f"Call it by its question again with: moot rename {named.short}")
        else:
            print(f"Debate {named.short} is called by its question: “{one_line(named.topic, 80)}”.")
    return DONE


async def pin(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        await client.label(found, pinned=not args.off)
        print(f"Debate {found.short} is {'no longer ' if args.off else ''}pinned.")
        if not args.off:
            note("See what is pinned with: moot list --pinned")
    return DONE


async def archive(args: Namespace) -> int:
    async with open_client(args) as client:
        for each in args.ids:
            found = await client.find(each)
            await client.label(found, archived=not args.off)
            print(f"Debate {found.short} is {'back in' if args.off else 'no longer in'} the list.")
        if not args.off:
            note("See the archive with: moot list --archived. Nothing was deleted.")
    return DONE


async def tag(args: Namespace) -> int:
    async with open_client(args) as client:
        found = await client.find(args.id)
        if args.tags:
            given = set(read_tags(args.tags))
            tags = {*found.tags} - given if args.remove else {*found.tags} | given
            found = await client.label(found, tags=tags)
        print(
            f"Debate {found.short} has the tags {', '.join(found.tags)}."
            if found.tags
            else f"Debate {found.short} has no tags."
        )
    return DONE
