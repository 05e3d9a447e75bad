"""`moot eval plan | run | resume | show | stop | report | replay | compare`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from moot.cli.commands import DONE, FAILED
from moot.cli.printer import make_printer, note, table
from moot.cli.session import open_client
from moot.cli.views import print_json
from moot.client.client import Client
from moot.core.amounts import count, money, p_value
from moot.core.errors import InputError
from moot.core.types import Json
from moot.evaluate import stored
from moot.evaluate.changes import check_new, check_resumed
from moot.evaluate.costs import accuracy_over_cost
from moot.evaluate.drafting import EvaluationRequest, draft, with_budget
from moot.evaluate.folding import as_bytes
from moot.evaluate.html import page
from moot.evaluate.model_grading import grading_in_words
from moot.evaluate.more import about_arms, more_about_arms
from moot.evaluate.plans import EvaluationPlan, called
from moot.evaluate.power import few, power, power_in_words
from moot.evaluate.regrading import Regraded, regraded
from moot.evaluate.running import AT_ONCE, Ran, Running
from moot.evaluate.sentences import advice, figures, missing, short_of_budget
from moot.request import read_assignments

SEED = 1
MOST_FAILED = 5  # debates that are named
DECIDED = (
    "items",
    "arms",
    "model",
    "models",
    "limit",
    "epochs",
    "pool",
    "match",
    "set",
    "judge",
    "seed",
)  # by the plan


async def plan(args: Namespace) -> int:
    async with open_client(args) as client:
        made = await draft(client, _request(args))
        if args.json:
            print_json(_plan_json(made), indent=2)
        else:
            _print_plan(made)
    return DONE


async def run(args: Namespace) -> int:
    async with open_client(args) as client:
        made = await draft(client, _request(args))
        if not args.new:
            await check_new(client, made)
        return await _ran(client, made, args)


async def resume(args: Namespace) -> int:
    if unused := [flag for flag in DECIDED if getattr(args, flag) is not None]:
        flag = unused[0].replace("_", "-")
        raise InputError(
            f"--{flag} was decided when the evaluation was planned; `resume` takes a budget and how to run and report. "
            f"Leave --{flag} out, or plan another evaluation with: moot eval run"
        )
    async with open_client(args) as client:
        found, _ = await stored.find(client, _one(args))
        if not args.old_items:
            check_resumed(found)
        made = with_budget(found, args.max_cost_usd, args.max_output_tokens)
        return await _ran(client, made, args)


async def stop(args: Namespace) -> int:
    async with open_client(args) as client:
        made, _ = await stored.find(client, _one(args))
        await client.store.stop_evaluation(made.id)
        note(
            f"Evaluation {made.id[:8]} begins no new item; those under way are finished. "
            f"Go on with: moot eval resume {made.id[:8]}"
        )
    return DONE


async def show(args: Namespace) -> int:
    async with open_client(args) as client:
        if args.what:
            return await _report(client, args)
        found = await client.store.evaluations() if client.app.has_database else ()
        if args.json:
            print_json([{"id": each.id, "task": each.name, "created_at": each.created_at} for each in found], indent=2)
            return DONE
        if not found:
            note("There are no evaluations. Begin with: moot eval plan")
            return DONE
        rows: list[tuple[str, ...]] = []
        for each in found:
            made, done = stored.plan_of(each), await client.store.cell_counts(each.id, client.viewer)
            if made is None:
                rows.append((each.id[:8], each.name, "", str(done.completed), "", "of another version of moot"))
                continue
            state = "stopped" if each.stopped_at is not None else ""
            arms, items = ", ".join(arm.name for arm in made.beside_pools), str(len(made.task.items))
            rows.append((each.id[:8], each.name, items, f"{done.completed} of {made.cells}", arms, state))
        table(make_printer(), ("ID", "TASK", "ITEMS", "CELLS DONE", "ARMS", ""), rows)
    return DONE


async def report(args: Namespace) -> int:
    async with open_client(args) as client:
        return await _report(client, args)


async def replay(args: Namespace) -> int:
    """Run the rules of all cells again, and fold again; a report that is given must have the same bytes."""
    async with open_client(args) as client:
        if not args.what:
            raise InputError("Which evaluation? Give its id; `moot eval show` lists them.")
        made, _ = await stored.find(client, args.what[0])
        cells = wrong = 0
        async for debate, problem in stored.replayed(client, made):
            cells += 1
            if problem:
                wrong += 1
                note(f"Debate {debate[:8]}: {problem}")
        found = await stored.read(client, made)
        grades = await regraded(client, made, found.cells, found.grades, tests=args.tests)
        for problem in grades.problems:
            note(problem)
        same = _read(args.what[1]) == as_bytes(found.report()) if len(args.what) > 1 else None
        deleted = sorted(found.deleted)
        if args.json:
            document: Json = {
                "type": "moot.eval.replay",
                "cells": cells,
                "differ": wrong,
                "deleted": deleted,
                "grades": {
                    "checked": grades.checked,
                    "differ": len(grades.problems),
                    "unchecked": grades.unchecked,
                },
                "same_report": same,
            }
            print_json(document, indent=2)
        else:
            kept = {
                True: "The report has the same bytes.",
                False: f"The report differs from {args.what[-1]}.",
                None: "No report was compared; give the file that --json wrote after the id, to have it compared.",
            }[same]
            if deleted:
                note(f"Deleted, so they can't be replayed: {_some([each[:8] for each in deleted])}.")
            gone = f"; {len(deleted):,} deleted" if deleted else ""
            parts = [f"{count(cells, 'cell')} replayed; {wrong} differ{gone}.", *_grades(grades), kept]
            make_printer().line(" ".join(parts))
    return FAILED if wrong or grades.problems or same is False else DONE


def _grades(found: Regraded) -> list[str]:
    """What was checked of the grades, and what not."""
    said: list[str] = []
    if found.checked:
        said.append(f"{count(found.checked, 'grade')} checked; {len(found.problems)} differ.")
    if found.unchecked:
        said.append(f"{count(found.unchecked, 'grade')} by tests not run again; --tests runs them.")
    return said


def _value(given: object) -> str:
    """A setting's value in words."""
    if isinstance(given, list | tuple):
        return ", ".join(map(str, cast("Sequence[object]", given))) or "none"
    return "none" if given is None else str(given)


async def compare(args: Namespace) -> int:
    if len(args.what) != 2:
        raise InputError("Two evaluations are compared. Give two ids; `moot eval show` lists them.")
    async with open_client(args) as client:
        plans = [(await stored.find(client, each))[0] for each in args.what]
        made = await stored.compared(client, *plans)
    if args.json:
        print_json(made, indent=2)
        return DONE
    found: list[Json] = made["arms"]
    out, names = make_printer(), [plan.id[:8] for plan in plans]
    alone = [f"{made[key]} only in {name}" for key, name in zip(("only_first", "only_second"), names, strict=True)]
    out.line(f"Asked in both: {count(made['items'], 'item')}; {', '.join(alone)}.")
    for each in made["differ"]:
        first, second = _value(each["first"]), _value(each["second"])
        out.line(f"They differ in {each['what']}: {first} in {names[0]}, {second} in {names[1]}.")
    rows = [
        (
            str(each["arm"]),
            f"{each['first']:.1%}",
            f"{each['second']:.1%}",
            f"{each['difference'] * 100:+.1f}",
            f"{each['interval'][0] * 100:+.1f} to {each['interval'][1] * 100:+.1f}",
            p_value(each["p_holm"]),
        )
        for each in found
        if each["answers"]
    ]
    for each in made["left_out"]:
        out.line(each)
    if not found:
        out.line("They have no arm in common with an item that has ended in both.")
        return DONE
    corrected = "P, CORRECTED" if len(found) > 1 else "P"
    if rows:
        table(out, ("ARM", *(f"IN {name}" for name in names), "DIFFERENCE", "95% INTERVAL", corrected), rows)
    for each in found:
        out.line(str(each["sentence"]))
    return DONE


def _one(args: Namespace) -> str:
    if len(args.what) != 1:
        raise InputError("Which evaluation? Give one id; `moot eval show` lists them.")
    return str(args.what[0])


def _request(args: Namespace) -> EvaluationRequest:
    if len(args.what) > 1:
        raise InputError("One task at a time: a task file, or the name of one that is built in.")
    given: dict[str, Any] = {} if not args.what else {"task": args.what[0]}
    if args.match is not None:
        given["match"] = args.match
    return EvaluationRequest(
        **given,
        items=args.items,
        arms=_names("--arms", args.arms),
        model=args.model,
        models=_names("--models", args.models),
        limit=args.limit,
        epochs=args.epochs,
        seed=SEED if args.seed is None else args.seed,
        pool=args.pool,
        max_cost_usd=args.max_cost_usd,
        max_output_tokens=args.max_output_tokens,
        settings=read_assignments(args.set or []),
        judge=args.judge,
    )


def _names(flag: str, text: str | None) -> list[str]:
    """What a flag lists. Raises InputError if it is given and lists nothing."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is not None and not names:
        raise InputError(f"{flag} names nothing. Give names with commas between them, or leave it out.")
    return names


async def _ran(client: Client, made: EvaluationPlan, args: Namespace) -> int:
    if args.json is not True:
        note(f"Evaluation {made.id[:8]}: {count(len(made.task.items), 'item')}, {', '.join(_arms(made))}.")
    shown = None if args.json is True or not sys.stderr.isatty() else _progress
    at_once = AT_ONCE if args.at_once is None else args.at_once
    done = await Running(client=client, plan=made, by_workers=args.workers, at_once=at_once, progress=shown).run()
    if shown is not None:
        print(file=sys.stderr)
    folded = await _shown(client, made, args)
    if done.stopped:
        note(f"It was stopped. Go on with: moot eval resume {made.id[:8]}")
    if done.cut:
        flag = "--max-cost-usd USD" if made.max_cost_usd is not None else "--max-output-tokens N"
        note(
            f"{count(done.cut, 'more item')} not begun: {short_of_budget(folded)}. Go on with a larger one, for all of "
            f"it: moot eval resume {made.id[:8]} {flag}"
        )
    if done.failed:
        note(f"{count(done.failed, 'cell')} could not be finished. Try again with: moot eval resume {made.id[:8]}")
    if done.deleted:
        note(
            f"{count(len(done.deleted), 'item')} can't be completed, because debates were deleted: "
            f"{_some(done.deleted)}. The report counts them as failed."
        )
    if done.ungraded:
        note(f"{count(done.ungraded, 'item')} left out: the judge gave no valid grade for an answer to each.")
    return FAILED if done.failed else DONE


def _some(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    more = len(names) - MOST_FAILED
    return ", ".join(names[:MOST_FAILED]) + (f" and {more:,} more" if more > 0 else "")


def _progress(ran: Ran) -> None:
    print(f"\r{ran.blocks} of {ran.of} items", end="", file=sys.stderr, flush=True)


async def _report(client: Client, args: Namespace) -> int:
    made, _ = await stored.find(client, _one(args))
    await _shown(client, made, args)
    return DONE


async def _shown(client: Client, made: EvaluationPlan, args: Namespace) -> Json:
    found = await stored.read(client, made)
    folded = found.report()
    if args.html:
        _write(args.html, page(folded).encode())
        note(f"Wrote {args.html}.")
    if isinstance(args.json, str):
        _write(args.json, as_bytes(folded))
        note(f"Wrote {args.json}.")
    if args.inspect:
        _write_logs(found.inspect_logs(), args.inspect)
    if args.json is True:
        sys.stdout.write(as_bytes(folded).decode())
    else:
        _print_report(folded)
    return folded


def _write_logs(logs: Mapping[str, bytes], folder: str) -> None:
    if not logs:
        note("No item is complete, so there is no log for Inspect yet.")
        return
    try:
        Path(folder).expanduser().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be made a folder: {error.strerror}.") from None
    for name, content in logs.items():
        _write(str(Path(folder) / name), content)
    note(f"Wrote {count(len(logs), 'log')} to {folder}. Look at them with: inspect view --log-dir {folder}")


def _write(path: str, content: bytes) -> None:
    try:
        Path(path).expanduser().write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.") from None


def _read(path: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from None


def _arms(made: EvaluationPlan) -> list[str]:
    drawn = count(made.pool, "sample")
    return [called(arm.name).replace("samples", drawn, 1) if arm.name in made.pools else arm.name for arm in made.arms]


def _plan_json(made: EvaluationPlan) -> Json:
    worst = made.worst_block
    return {
        "type": "moot.eval.plan",
        "evaluation": made.id,
        "task": made.task.name,
        "task_sha256": made.task.sha256,
        "files_sha256": made.task.files_sha256 or None,
        "items": len(made.task.items),
        "cells": made.cells,
        "pool": made.pool,
        "arms": [arm.model_dump(mode="json", exclude={"settings", "seats"}) for arm in made.arms],
        "worst_usd": None if worst.usd is None else worst.usd * len(made.task.items),
        "worst_output_tokens": worst.tokens * len(made.task.items),
        **power(made, made.task.items),
    }


def _print_plan(made: EvaluationPlan) -> None:
    out, worst, items = make_printer(), made.worst_block, len(made.task.items)
    rows = [
        (name, arm.format, money(arm.worst_usd), f"{arm.worst_tokens:,}")
        for name, arm in zip(_arms(made), made.arms, strict=True)
    ]
    if made.judge is not None:
        rows.append(("each grade", made.judge.format, money(made.judge.worst_usd), f"{made.judge.worst_tokens:,}"))
    table(out, ("ARM", "FORMAT", "WORST CASE", "OUTPUT TOKENS"), rows)
    out.line(
        f"Evaluation {made.id[:8]}: {count(items, 'item')}, {count(made.cells, 'cell')}; at worst "
        f"{money(None if worst.usd is None else worst.usd * items)} and {worst.tokens * items:,} output tokens."
    )
    out.line(f"{power_in_words(power(made, made.task.items), items, len(made.compared))} Nothing was spent.")


def _print_report(folded: Json) -> None:
    out = make_printer()
    out.line(
        f"Evaluation {folded['evaluation'][:8]}, task {folded['task']}: {folded['complete']} of {folded['items']} "
        f"items complete, by {', '.join(folded['models']) or 'no model yet'}."
    )
    for each in missing(folded):
        out.line(each)
    for each in folded["failed"][:MOST_FAILED]:
        cause = str(each["cause"]).rstrip(".")
        more = "" if each["deleted"] else f" See: moot show {each['debate'][:8]}"
        out.line(f"{called(each['arm'])} failed on item {each['item']}: {cause}.{more}")
    if len(folded["failed"]) > MOST_FAILED:
        out.line(f"So did {len(folded['failed']) - MOST_FAILED} more; --json has them all.")
    if graded := grading_in_words(folded["graded_by"]):
        out.line(graded)
    if not folded["complete"]:
        return
    head, rows = about_arms(folded)
    table(out, [each.upper() for each in head], rows)
    out.line()
    out.line(("More about each arm", "bold"))
    head, more_rows = more_about_arms(folded)
    table(out, [each.upper() for each in head], more_rows)
    out.line()
    out.line(("Accuracy over cost", "bold"))
    head, cost_rows = accuracy_over_cost(folded)
    table(out, [each.upper() for each in head], cost_rows)
    out.line()
    if shown := few(folded):
        out.line(shown)
    for each in folded["comparisons"]:
        out.line(f"{each['sentence']} [{figures(each, folded['unit'])}]")
    if more := advice(folded):
        out.line(more)
