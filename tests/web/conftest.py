"""The dashboard in real Chromium, against a real server. Nothing may go wrong unnoticed on any page: an error in the
console, a violation of the content security policy or a request to another machine fails the test."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from moot.server.dashboard import STATIC
from perf.frames import FLAGS, chromium
from tests.server.serving import Served, served

ROOT = Path(__file__).parents[2]
SIZES = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
SIM = "sim:?tps=900&latency_ms=20&tokens=70&price_in=1&price_out=4"
COMPLETED = ".debate-top [data-status=completed]"
PATIENCE_MS = 90_000  # a test that passes never waits so long, however busy the machine is
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def built() -> None:
    """The page, built once, also when several processes run tests."""
    (ROOT / ".artifacts").mkdir(exist_ok=True)
    with (ROOT / ".artifacts" / "web.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (STATIC / "index.html").exists():
            subprocess.run([sys.executable, str(ROOT / "web" / "build.py")], check=True)


@pytest.fixture(scope="module")  # while Playwright is there, no other test in this process can run an event loop
def browser() -> Iterator[Browser]:
    found = chromium()
    if found is None:
        pytest.fail("there is no Chromium on this machine: install one, or name it in CHROMIUM")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("web"), model=SIM) as server:
        server.model = SIM
        yield server


@dataclass
class Watch:
    """What must not happen on a page."""

    allowed: tuple[str, ...] = ()
    wrong: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def on(self, page: Page) -> None:
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("pageerror", lambda error: self.wrong.append(f"uncaught: {error}"))
        page.on("request", self._asked)
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error('CSP: ' + e.violatedDirective + ' ' "
            "+ e.blockedURI))"
        )

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.hosts.add(urlsplit(request.url).hostname or "")

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(each in text for each in self.allowed):
            self.wrong.append(f"{kind}: {text}")

    def check(self) -> None:
        assert self.wrong == []
        assert self.hosts <= {"127.0.0.1"}


@dataclass
class Open:
    """Opens a page of a size and theme; when it is closed, it must have been without fault."""

    browser: Browser
    opened: list[tuple[BrowserContext, Watch]] = field(default_factory=list)

    def __call__(self, url: str, *, size: str = "desktop", theme: str = "light", allowed: tuple[str, ...] = ()) -> Page:
        context = self.browser.new_context(viewport=SIZES[size], color_scheme=theme, has_touch=size == "phone")
        context.set_default_timeout(PATIENCE_MS)
        page, watch = context.new_page(), Watch(allowed)
        watch.on(page)
        self.opened.append((context, watch))
        page.goto(url)
        return page

    def close(self) -> None:
        while self.opened:
            context, watch = self.opened.pop(0)
            context.close()
            watch.check()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    pages = Open(browser)
    yield pages
    pages.close()


Serve = Callable[..., AbstractContextManager[Served]]


@pytest.fixture
def serve(built: None, open_page: Open, tmp_path: Path) -> Serve:
    """A server for one test. Its pages are closed before it ends: they would report that they can't reach it."""

    @contextmanager
    def serving(**settings: Any) -> Iterator[Served]:
        with served(tmp_path, **settings) as site:
            try:
                yield site
            finally:
                open_page.close()

    return serving


def check_axe(page: Page, *rules: str) -> None:
    options = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else None
    found = Axe().run(page, options=options).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]][:3]) for each in found] == []


def to_checkpoint(site: Served, debate_id: str) -> dict[str, Any]:
    """Past the clarification that a simulated moderator may ask for."""
    while True:
        site.rested(debate_id)
        gates = site.get(f"/v1/debates/{debate_id}/gates").json()["items"]
        gate = next(each for each in gates if each["status"] == "open")
        if gate["kind"] == "checkpoint":
            return gate
        site.post(f"/v1/debates/{debate_id}/answer", {"text": "A small team."}).raise_for_status()
