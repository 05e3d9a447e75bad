"""docs/simulated.md can fail: it lists every option with its default, and the corpus is as it says."""

from __future__ import annotations

import re
from pathlib import Path

from moot.corpus import tasks
from moot.models.providers.sim import SimOptions

TEXT = (Path(__file__).parents[2] / "docs" / "simulated.md").read_text()


def test_every_option_is_listed_with_its_default():
    listed = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) ?\|", TEXT, re.MULTILINE))
    defaults = {name: info.default for name, info in SimOptions.model_fields.items()}
    assert listed == {name: "no" if value is False else f"{value}" for name, value in defaults.items()}


def test_the_figures_of_the_corpus():
    said = re.search(r"has (\d+) small tasks in (\d+) domains", TEXT)
    assert said is not None
    assert (int(said[1]), int(said[2])) == (len(tasks()), len({each.domain for each in tasks()}))
    assert {len(each.given) for each in tasks()} == {2}
    assert {len(each.mutants) for each in tasks()} == {3, 4, 5, 6}
