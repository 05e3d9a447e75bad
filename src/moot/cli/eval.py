"""The command `moot eval`: does a debate help, and can verdicts and statistics be trusted?"""

from __future__ import annotations

from argparse import Namespace

from moot.cli.commands import DONE, FAILED
from moot.cli.judge import judge
from moot.cli.printer import make_printer, note, table
from moot.cli.session import open_client
from moot.cli.views import print_json
from moot.core.amounts import count
from moot.core.errors import InputError
from moot.core.types import Json
from moot.evaluate.auditing import Audited, audited, deleted_debates
from moot.evaluate.validate import EVALUATIONS, Check, validate
from moot.runtime.threads import in_thread

SEED = 1


async def eval_(args: Namespace) -> int:
    reported = args.action in ("run", "resume", "report") or (args.action == "show" and args.what)
    if isinstance(args.json, str) and not reported:
        raise InputError(
            f"--json writes a report to {args.json}, and `{args.action}` makes none. Give --json alone: it prints JSON."
        )
    actions = {"validate": _validate, "audit": _audit, "judge": judge}
    if args.action in actions:
        return await actions[args.action](args)
    from moot.cli import evaluation  # those above need none of it

    return await getattr(evaluation, args.action)(args)


async def _validate(args: Namespace) -> int:
    seed = SEED if args.seed is None else args.seed
    checks = await in_thread(lambda: list(validate(seed)))
    if args.json:
        print_json({"type": "moot.eval.validate", "seed": seed, "checks": [_json(each) for each in checks]}, indent=2)
    else:
        rows = [
            (each.name, f"{each.measured:.4f}", f"{each.side} {each.limit:g}", "" if each.holds else ("no", "bold red"))
            for each in checks
        ]
        table(make_printer(), ("CHECK", "FIGURE", "MUST BE", ""), rows)
        note(_summed(checks))
    return DONE if all(each.holds for each in checks) else FAILED


def _summed(checks: list[Check]) -> str:
    failed = sum(not each.holds for each in checks)
    if failed:
        return f"{failed} of {len(checks)} checks failed."
    simulated = f"Clusters and pools ({EVALUATIONS:,} evaluations each) and majorities are simulated"
    return f"All {len(checks)} hold. {simulated}; the others are counted exactly."


def _json(check: Check) -> Json:
    return {
        "name": check.name,
        "measured": check.measured,
        "side": check.side,
        "limit": check.limit,
        "holds": check.holds,
    }


async def _audit(args: Namespace) -> int:
    async with open_client(args) as client:
        found = [each async for each in audited(client)]
        deleted = await deleted_debates(client)
    wrong = [each for each in found if each.problems]
    doubted = [each for each in found if each.doubts]
    if args.json:
        document: Json = {
            "type": "moot.eval.audit",
            "debates": len(found),
            "problems": {each.debate.id: list(each.problems) for each in wrong},
            "doubts": {each.debate.id: list(each.doubts) for each in doubted},
            "deleted": deleted,
        }
        print_json(document, indent=2)
    else:
        _print(found, wrong, doubted)
        for evaluation, debates in deleted.items():
            make_printer().line(
                f"{count(debates, 'debate')} of evaluation {evaluation[:8]} {'was' if debates == 1 else 'were'} "
                "deleted and can't be checked; its report counts them as failed."
            )
    return FAILED if wrong else DONE


def _print(found: list[Audited], wrong: list[Audited], doubted: list[Audited]) -> None:
    out = make_printer()
    for each in wrong:
        out.line((f"Debate {each.debate.short}: ", "bold red"), " ".join(each.problems))
    out.line(
        f"{count(len(found), 'completed debate')}. In {len(found) - len(wrong)}, what was announced is what is "
        "recorded, and the turns lead to it."
    )
    if doubted:
        out.line(f"In {len(doubted)}, code found something about the verdict, and says so beside it.")
