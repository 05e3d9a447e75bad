"""python -m tests.simulation SEED [--format F] [-v]: one run again, as it was."""

from __future__ import annotations

import argparse
import sys

from tests.simulation.plan import draw, formats
from tests.simulation.world import Result, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Run one seed again.")
    parser.add_argument("seed", type=int)
    parser.add_argument(
        "--format", choices=sorted(formats()), help="play only this format; it changes what the seed means"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print all that happened")
    args = parser.parse_args()
    result = run(draw(args.seed, args.format))
    if args.verbose:
        print(story(result))
    print(f"seed {args.seed}: {result.plan}")
    print(f"{len(result.trace)} lines, {result.writes} writes, {result.seconds:.0f} simulated seconds, {result.hash}")
    print(f"VIOLATED: {result.violation}" if result.violation else "Everything holds.")
    return 1 if result.violation else 0


def story(result: Result) -> str:
    return "\n".join(
        f"{at:10.3f}  {who:6}" + " ".join(str(word) for word in what if word != "") for at, who, *what in result.trace
    )


if __name__ == "__main__":
    sys.exit(main())
