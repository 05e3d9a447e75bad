"""Flags of the command `eval`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from moot.cli.flags.common import counting_number, dollars, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _eval(parser: ArgumentParser) -> None:
    actions = (
        "plan",
        "run",
        "resume",
        "stop",
        "show",
        "report",
        "replay",
        "compare",
        "judge",
        "audit",
        "validate",
    )
    parser.add_argument("action", choices=actions, metavar="ACTION", help=", ".join(actions))
    parser.add_argument(
        "what", nargs="*", metavar="WHAT",
        help="of plan and run: a task file, or a built-in task (default: reasoning); of the others: ids",
    )  # fmt: skip
    parser.add_argument("--items", metavar="PATH", help="the files of the task mmlu or gsm8k: a folder, or one of them")
    parser.add_argument(
        "--arms", metavar="A,B", help="single, self-consistency, majority, best-of, reflect, or formats"
    )
    parser.add_argument("--model", metavar="SPEC", help="the model of all participants")
    parser.add_argument("--models", metavar="A,B", help="models that take turns in the arm majority")
    parser.add_argument(
        "--limit",
        type=counting_number,
        metavar="N",
        help="the first N items; of built-in tasks, how many are made or chosen",
    )
    parser.add_argument("--epochs", type=counting_number, metavar="N", help="how often each item is asked")
    parser.add_argument(
        "--pool", type=counting_number, metavar="K", help="samples for the baselines (default: what a debate costs)"
    )
    parser.add_argument("--match", choices=("usd", "tokens"), help="what equal cost means (default: usd)")
    parser.add_argument(
        "--max-cost-usd",
        type=dollars,
        metavar="USD",
        help="never spend more in all; a larger one goes on with the same evaluation",
    )
    parser.add_argument(
        "--max-output-tokens", type=counting_number, metavar="N", help="never write more, by whole items"
    )
    parser.add_argument("--set", action="append", metavar="ARM.NAME=VALUE", help="a setting of one arm")
    parser.add_argument("--at-once", type=counting_number, metavar="N", help="items under way at once")
    parser.add_argument("--workers", action="store_true", help="let the workers of a PostgreSQL database run the cells")
    parser.add_argument(
        "--new", action="store_true", help="of `run`: begin anew where the task file has changed under an evaluation"
    )
    parser.add_argument(
        "--old-items", action="store_true", help="of `resume`: go on with the items as they were when it was begun"
    )
    parser.add_argument(
        "--tests", action="store_true", help="of `replay`: run the tests of all answers again, and compare the grades"
    )
    parser.add_argument("--html", metavar="FILE", help="write the report as one page, too")
    parser.add_argument("--inspect", metavar="PATH", help="the folder to write logs of a report for Inspect into")
    parser.add_argument(
        "-k", dest="readers", type=counting_number, metavar="N", help="readers of `judge`, 1 to 25 (default: 5)"
    )
    parser.add_argument(
        "--judge", metavar="SPEC", help="the model that grades the answers of a task with `score: graded`"
    )
    parser.add_argument("--judges", metavar="MODELS", help="models of the readers, in turn (default: the judge's own)")
    parser.add_argument(
        "--seed", type=whole_number, metavar="N", help="of the items, the samples and `validate` (default: 1)"
    )
    parser.add_argument(
        "--json", nargs="?", const=True, default=False, type=_json_file, metavar="FILE",
        help="one JSON document; with a FILE that ends with .json, the report is written to it, too",
    )  # fmt: skip


def _json_file(text: str) -> str:
    """A flag's value that must name a file: what stands after a bare --json is not taken for one."""
    if not text.endswith(".json"):
        raise ArgumentTypeError(
            f"takes a file that ends with .json, not {text!r}; tasks and ids stand before it, right after the action"
        )
    return text


FLAGS: dict[str, Callable[[ArgumentParser], None]] = {
    "eval": _eval,
}
