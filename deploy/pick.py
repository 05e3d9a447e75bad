"""Print the entries of constraints.txt, with versions and hashes, for the packages that are named in a file."""

import re
import sys
from pathlib import Path


def picked(constraints: str, names: list[str]) -> str:
    """The entries for `names`. Raises SystemExit when one is not pinned."""
    entries = {
        each[1].lower(): each[0] for each in re.finditer(r"^([\w.-]+)==.*(?:\n .*)*\n?", constraints, re.MULTILINE)
    }
    missing = [name for name in names if name not in entries]
    if missing:
        raise SystemExit(f"constraints.txt does not pin {', '.join(missing)}.")
    return "".join(entries[name] for name in names)


if __name__ == "__main__":
    print(picked(Path("constraints.txt").read_text(), Path(sys.argv[1]).read_text().split()), end="")
