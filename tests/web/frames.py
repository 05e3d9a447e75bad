"""How smoothly the dashboard draws text that comes in: four debaters at 200 tokens a second each, in headless Chromium.

    python -m tests.web.frames [SECONDS]

It prints frames a second, the slowest frames, and how fast a page does nothing in the same browser, for comparison.
The debaters are simulated; the server, the stream and the page are real."""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.server.serving import served
from tests.web.conftest import FLAGS, SIZES, chromium

TALKATIVE = "sim:?tps=200&latency_ms=50&tokens=4000"
MEASURE = """(seconds) => new Promise((done) => {
  const times = []
  const step = (now) => {
    times.push(now)
    if (now - times[0] < seconds * 1000) requestAnimationFrame(step)
    else done(times)
  }
  requestAnimationFrame(step)
})"""
CHARS = "() => [...document.querySelectorAll('[data-flight]')].reduce((sum, each) => sum + each.textContent.length, 0)"


def measured(page: Page, seconds: float) -> dict[str, float]:
    times = page.evaluate(MEASURE, seconds)
    gaps = sorted(after - before for before, after in pairwise(times))
    return {
        "frames_per_second": round(1000 * len(gaps) / (times[-1] - times[0]), 1),
        "slowest_percent_ms": round(gaps[int(len(gaps) * 0.99)], 1),
        "slowest_ms": round(gaps[-1], 1),
    }


def main(seconds: float) -> None:
    settings = {
        "perspectives": 4,
        "max_rounds": 1,
        "checkpoints": False,
        "debater_max_tokens": 100_000,
        "token_budget_per_round": 0,
        "max_total_output_tokens": 10_000_000,
        "round_timeout_seconds": 3600,
        "model_debater": TALKATIVE,
        "model_judge": "sim:",
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as house,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport=SIZES["desktop"])
        page.goto("about:blank")
        idle = measured(page, 3)
        debate = house.made(topic="Four at once?", format="panel", settings=settings)
        page.goto(f"{house.url}/debates/{debate['id']}")
        page.wait_for_function("() => document.querySelectorAll('[data-flight]').length === 4")
        before = page.evaluate(CHARS)
        drawn = measured(page, seconds)
        chars = page.evaluate(CHARS) - before
        house.post(f"/v1/debates/{debate['id']}/cancel")
        browser.close()
    print(json.dumps({"idle": idle, "streaming": drawn, "characters_per_second": round(chars / seconds)}, indent=2))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10)
