"""`python -m challenges URL DATABASE [NAME …]`: run all challenges, or those named, against a running server."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from challenges.asking import Failed, Place

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("debate_*_challenge.py"))


def run(place: Place, names: Sequence[str]) -> list[str]:
    """Run challenges; returns those that failed, each with why."""
    failed: list[str] = []
    for name in names:
        print(name)
        try:
            importlib.import_module(f"challenges.{name}").challenge(place)
        except Failed as reason:
            print(f"  NO  {reason}")
            failed.append(f"{name}: {reason}")
    return failed


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("usage: python -m challenges URL DATABASE [NAME …]")
    place = Place(sys.argv[1], sys.argv[2], token=os.environ.get("MOOT_TOKEN", ""))
    failed = run(place, sys.argv[3:] or NAMES)
    print(f"{len(failed)} failed." if failed else "All hold.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
