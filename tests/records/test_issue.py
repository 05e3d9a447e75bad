"""The draft of an issue that follows up on a decision."""

from __future__ import annotations

from pathlib import Path

from moot.records.issue import draft
from tests.records.making import ID, completed, described, failing, made, section
from tests.records.test_record import PANEL, changed


def test_the_draft_has_the_decision_and_what_is_to_be_done():
    issue = draft(
        made(described(PANEL)), Path("docs/decisions/0001-which-cache.md"), "docs/decisions/0001-which-cache.md"
    )
    body = issue.render()
    assert body.startswith("# Follow up: Which cache?\n")
    assert "> Which cache?" in section(body, "Context")
    assert "[docs/decisions/0001-which-cache.md](0001-which-cache.md)" in section(body, "Context")
    assert f"`{ID}`" in section(body, "Context")
    assert "Confidence: High." in section(body, "Context")
    assert "> Use PostgreSQL first." in section(body, "Decision")
    points = section(body, "Done when").splitlines()
    assert all(point.startswith("- [ ] ") for point in points)
    assert "- [ ] Resolved: Latency against moving parts." in points
    assert "- [ ] Taken into account: Traffic grows tenfold." in points
    assert section(body, "Keep in mind") == "> Latency will bite within a year."


def test_without_a_verdict_that_is_the_first_thing_to_settle():
    body = draft(made(*completed("classic", failing("verdict"), max_rounds=1))).render()
    assert "- [ ] Resolved: Debater A (for) against Debater B (against) is not settled." in body
    assert "Decision record:" not in body


def test_names_of_people_and_issues_are_not_called():
    record = made(described(changed(recommendation="Ask @everyone and @org/team, see #12. `@code`", caveats=("#7",))))
    body = draft(record).render()
    for call in ("@everyone", "@org", "@code", "#12", "#7"):
        assert call not in body
    assert "@\u200beveryone" in body


def test_odd_names_of_files_are_linked():
    body = draft(made(described(PANEL)), Path("my [odd] (file).md")).render()
    assert "[my \\[odd\\] (file).md](my%20%5Bodd%5D%20%28file%29.md)" in body
