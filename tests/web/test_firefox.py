"""The dashboard in real Firefox: a question is asked, its words come in, and the answer is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.serving import served
from tests.web.firefox import Firefox, firefox, started
from tests.web.talking import FIRST, SECOND, Talk

pytestmark = [pytest.mark.slow, pytest.mark.soak]

QUESTION = "Should we split the monolith?"


@pytest.fixture(scope="module")
def fox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    found = firefox()
    if found is None:
        pytest.fail("there is no Firefox on this machine: scripts/system-packages installs it on Debian")
    with started(found, tmp_path_factory.mktemp("firefox") / "profile") as browser:
        yield browser


def test_a_question_is_asked_streams_and_is_answered(built: None, fox: Firefox, tmp_path):
    with Talk() as talk, served(tmp_path, model_debater=talk.model, model_judge="sim:") as site:
        fox.resize(1280, 805)
        fox.open(site.url)
        fox.click("a[href='/new']")
        fox.type("#topic", QUESTION)
        fox.until("document.querySelector('.estimate .price')")
        fox.click("button.start")
        fox.until("location.pathname.startsWith('/debates/')")

        fox.until(f"document.querySelector('[data-flight]')?.textContent.includes({FIRST.rstrip()!r})")
        assert SECOND not in fox.text("main")
        talk.go_on(1000)
        fox.until("document.querySelector('section.answer')")

        debate = site.debate(fox.run("return location.pathname.split('/')[2]"))
        assert debate["status"] == "completed"
        assert debate["headline"] in fox.text("section.answer")
        top, bottom, height = fox.run(
            "const box = document.querySelector('.answer').getBoundingClientRect();"
            "return [box.top, box.bottom, innerHeight]"
        )
        assert 0 <= top < bottom <= height
        assert fox.run("return document.documentElement.scrollWidth <= innerWidth")
        asked = fox.run("return performance.getEntriesByType('resource').map((each) => new URL(each.name).origin)")
        assert set(asked) == {site.url}
        assert fox.errors(site.url) == []
