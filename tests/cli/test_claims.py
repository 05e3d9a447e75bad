"""`moot claims`: text, JSON and argument map."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Moot, Result

pytestmark = pytest.mark.slow


def item(text: str, stance: str = "none", target: str = "", **more: Any) -> Any:
    return {"text": text, "stance": stance, "target": target, "quote": "", "evidence": "", "concedes": [], **more}


LISTED = {
    "1/speak/a": "Redis answers in under a millisecond.",
    "1/claims-speak/a": {"claims": [item("Redis is fast.", evidence="our tests"), item("It is simple.")]},
    "1/claims-speak/b": {
        "claims": [
            item('It loses "data" \x1b[31m[now] -->\nCONCEDED', "attacks", "c1", quote="under a millisecond"),
            item("It is hard.", "attacks", "c2", quote="it is so very simple"),
        ]
    },
    "2/claims-speak/a": {"claims": [item("Caches may.", "attacks", "c9"), item("Cheap.", "supports", "c2")]},
    "2/claims-speak/b": {"claims": [item("True.", concedes=["c2"]), item("Dear.", "attacks", "c6")]},
}


@pytest.fixture(scope="module")
def held(shared: Moot) -> tuple[Moot, Result]:
    done = shared("Redis?", "--rounds", "2", "--model", shared.script(LISTED), "--set", "claims=true", "--plain")
    assert done.code == 0, done.err
    return shared, done


def test_claims_are_grouped_by_how_they_stand(held):
    moot, _ = held
    done = moot("claims", moot.ids[0][:8])
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:3] == [
        f"Claims of debate {moot.ids[0][:8]}",
        "Redis?",
        "8 claims: 1 conceded, 5 standing, 1 open, 1 refuted",
    ]
    groups = [line for line in lines if line[:1].isupper() and line.split()[0].isupper()]
    assert [group.split()[0] for group in groups] == ["CONCEDED", "STANDING", "OPEN", "REFUTED"]
    assert "c2  Debater A  [1/speak/a]\n  It is simple.\n  conceded by Debater B\n" in done.out
    assert '  attacks c1\n  answers the words: "under a millisecond" (1/speak/a)\n' in done.out
    assert "  attacks c2 (counts for nothing: the words it quotes were said by no one else before)\n" in done.out
    assert "  note: attacks 'c9', which is no claim made before: dropped\n" in done.out
    assert "  supports c2 (counts for nothing: the claim is of the same speaker)\n" in done.out
    assert "  evidence: our tests\n" in done.out
    assert '  It loses "data" [31m[now] --> CONCEDED\n' in done.out, "no claim can pass for a heading"
    assert "\x1b" not in done.out
    assert f"moot claims {moot.ids[0][:8]} --mermaid" in done.err


def test_claims_as_json_and_as_a_map(held):
    moot, _ = held
    document = json.loads(moot("claims", moot.ids[0], "--json").out)
    assert (document["type"], document["debate"], document["status"]) == ("moot.ledger", moot.ids[0], "completed")
    assert document["names"] == {"a": "Debater A", "b": "Debater B"}
    assert document["counts"] == {"conceded": 1, "standing": 5, "open": 1, "refuted": 1}
    assert [each["id"] for each in document["claims"]] == [f"c{n}" for n in range(1, 9)]
    chart = moot("claims", moot.ids[0], "--mermaid")
    assert (chart.code, chart.err) == (0, "")
    assert chart.out.startswith("flowchart BT\n")
    assert "\n  c3 --x|attacks| c1\n" in chart.out
    assert "#34;data#34;" in chart.out


def test_lists_are_seen_while_it_runs_and_afterwards(held):
    moot, done = held
    assert (
        "Debater A (Yes) lists claims, round 1  [1/claims-speak/a]\n  - Redis is fast. Evidence: our tests\n"
        in done.out
    )
    assert f"see its claims with: moot claims {moot.ids[0][:8]}" in done.err
    assert moot("replay", moot.ids[0]).code == 0
    assert "## Argument Map\n" in moot("record", moot.ids[0], "--print").out


def test_a_debate_without_a_ledger_says_how_to_get_one(finished):
    moot, _ = finished
    refused = moot("claims", moot.ids[0])
    assert (refused.code, refused.out) == (2, "")
    assert "keeps no ledger of claims" in refused.err
    assert "--set claims=true" in refused.err
    assert len(refused.err.splitlines()) == 1


def test_a_debate_that_failed_shows_what_it_has_and_how_to_go_on(moot):
    failing = moot.script({**LISTED, "2/speak/b": {"fail": "unavailable"}, "2/claims-speak/a": "no list"})
    moot("Redis?", "--rounds", "2", "--model", failing, "--set", "claims=true")
    short = moot.ids[0][:8]
    done = moot("claims", short)
    assert done.code == 0
    assert "4 claims: 3 standing, 1 open" in done.out
    assert "Notes\n  2/speak/a (Debater A): " in done.out
    assert "no valid answer in 3 tries" in done.out
    assert (
        "The debate is failed, so this may change. A step failed; nothing that was said is lost. "
        "Another try alone can't help" in done.err
    )
    assert f"try its open steps again with: moot retry {short}" in done.err


def test_a_format_that_keeps_no_ledger_has_no_claims_to_ask_for(moot):
    refused = moot("Is it so?", "--format", "interview", "--model", "sim:", "--set", "claims=true")
    assert refused.code == 2
    assert "There is no setting 'claims'." in refused.err
    assert moot("Is it so?", "--format", "interview", "--model", "sim:").code == 0
    refused = moot("claims", moot.ids[0])
    assert refused.code == 2
    assert "The format 'interview' keeps no ledger of claims. Formats that do: classic, " in refused.err
