"""A page of another site in a real browser, which enforces what the server says."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Error, Route

from tests.server.serving import served

pytestmark = pytest.mark.slow

OURS, EVIL = "https://app.example", "https://evil.example"
ASK = """async ([url, model]) => {
  const settings = {model_debater: model, model_judge: model};
  const body = JSON.stringify({topic: "Tabs or spaces?", start: false, settings});
  const headers = {"Content-Type": "application/json", "X-Own": "1"};
  try {
    const answer = await fetch(`${url}/v1/debates`, {method: "POST", headers, body});
    return [answer.status, answer.headers.get("Location")];
  } catch (error) {
    return [0, `${error}`];
  }
}"""


def blank(route: Route) -> None:
    route.fulfill(body="<!doctype html><title>another site</title>", content_type="text/html")


def test_a_listed_page_uses_the_api_and_another_can_not(browser: Browser, tmp_path):
    with served(tmp_path, serve_origins=[OURS]) as server:
        found = {}
        for origin in (OURS, EVIL):
            context = browser.new_context()
            with suppress(Error):  # a Chromium that does not ask people for it does not know it
                context.grant_permissions(["local-network-access"])
            context.route(f"{origin}/", blank)
            page = context.new_page()
            page.goto(f"{origin}/")
            found[origin] = page.evaluate(ASK, [server.url, "sim:"])
            context.close()
        debates = server.get("/v1/debates").json()["items"]
    assert found[OURS] == [201, f"/v1/debates/{debates[0]['id']}"]
    assert found[EVIL][0] == 0
    assert len(debates) == 1
