"""The argument map: any text gives a valid Mermaid chart, with the right boxes and arrows."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.types import Failure
from moot.reasoning.claims import Claim, ClaimDraft, Ledger, LedgerStatement, add_wave, settle
from moot.reasoning.fence import one_line
from moot.records.argument_map import LABEL_CHARS, MOST_CHARS, label, mermaid
from moot.records.markdown import render
from tests.playing import good
from tests.records.making import completed, headings, made, section, split, tokens

NODE = re.compile(r'^  (c\d+)\["([^"]*)"\]:::(conceded|standing|open|refuted)$')
EDGE = re.compile(
    r"^  (c\d+) (--x\|attacks\||-\.->\|supports\||-\.->\|supports its own\||-\.-\|does not count\|) (c\d+)$"
)
NAMES = {"a": "Ada", "b": "Basil"}
HOSTILE = [
    '"]:::refuted\n  c9 --> c1',
    'say "no" [now] {or} (never) <b>',
    "`code` and ```fence```",
    "end",
    "a --> b -.-> c ==> d ~~~ e",
    "%%{init: {'theme': 'dark'}}%%",
    "---\ntitle: x\n---",
    "style c1 fill:#fff;",
    "click c1 javascript:alert(1)",
    "#quot; #35; &amp; &#60;",
    "go in the direction LR now",
    "{{ site.secret }} {% raw %} {# x #}",
    "$$x^2$$ | table | \\slash",
    "line\nbreak\r\nand\u2028more",
    "x" * 500,
    "你好，世界。",
    "שלום עולם",
    "हिन्दी में तर्क",
    "🙂 Zażółć gęślą jaźń",
]


def ledger_with(*texts: str) -> Ledger:
    kept = Ledger()
    for wave, text in enumerate(texts):
        said = LedgerStatement(key=f"{wave}/speak/a", seat="ab"[wave % 2], wave=wave, text=text)
        kept = add_wave(kept, [(said, [ClaimDraft(text=text)])])
    return settle(kept)


def unescaped(text: str) -> str:
    """As Mermaid shows it."""
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", text))


def read(chart: str) -> tuple[dict[str, tuple[str, str]], list[tuple[str, str, str]]]:
    """Boxes and arrows; every line must be one of them."""
    first, *lines = chart.splitlines()
    assert first == "flowchart BT"
    boxes: dict[str, tuple[str, str]] = {}
    arrows: list[tuple[str, str, str]] = []
    for line in lines:
        node, edge = NODE.match(line), EDGE.match(line)
        if node:
            boxes[node[1]] = (unescaped(node[2]), node[3])
        elif edge:
            arrows.append((edge[1], edge[2].strip("-.>x|"), edge[3]))
        else:
            assert re.fullmatch(r"  classDef (conceded|standing|open|refuted) [\w:#,; -]+", line), line
    return boxes, arrows


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_label(text: str):
    boxes, arrows = read(mermaid(ledger_with(text, "Other."), NAMES))
    assert boxes["c1"] == (f"c1 (Ada, standing) {one_line(text, LABEL_CHARS)}", "standing")
    assert len(boxes) == 2
    assert arrows == []


@given(st.text(min_size=1))
def test_any_label_holds_only_what_means_nothing_and_reads_as_the_text(text: str):
    made_ = label(text)
    assert re.fullmatch(r"(#\d+;|[^\W_]|[ .,'()?!-]|[^\x00-\x7f])*", made_)
    assert not re.search(r'["`\[\]{}<>|%&$*_~\\:=^/@]', re.sub(r"#\d+;", "", made_))
    assert "direction " not in made_
    assert unescaped(made_) == one_line(text)


@given(st.text(), st.text(max_size=20))
def test_any_text_and_any_name_give_a_chart(text: str, name: str):
    boxes, _ = read(mermaid(ledger_with(f"c {text}"), {"a": name}))
    assert list(boxes) == ["c1"]


def test_support_attack_and_what_does_not_count_can_be_told_apart():
    kept = Ledger()
    waves = [
        ("a", [ClaimDraft(text="One.")]),
        (
            "b",
            [
                ClaimDraft(text="No.", stance="attacks", target="c1"),
                ClaimDraft(text="Aye.", stance="supports", target="c1"),
            ],
        ),
        ("a", [ClaimDraft(text="Own.", stance="supports", target="c1")]),
        ("b", [ClaimDraft(text="False.", stance="attacks", target="c1", quote="never said")]),
    ]
    for wave, (seat, listed) in enumerate(waves):
        kept = add_wave(kept, [(LedgerStatement(key=str(wave), seat=seat, wave=wave, text="Words."), listed)])
    boxes, arrows = read(mermaid(settle(kept), NAMES))
    assert arrows == [
        ("c2", "attacks", "c1"),
        ("c3", "supports", "c1"),
        ("c4", "supports its own", "c1"),
        ("c5", "does not count", "c1"),
    ]
    assert {id: status for id, (_, status) in boxes.items()} == {each.id: each.status for each in settle(kept).claims}


def test_a_ledger_that_is_too_large_for_mermaid_is_cut_and_says_so():
    many = tuple(
        Claim(id=f"c{n}", seat="a", statement="1", wave=n, text="<>" * 200, stance="attacks", target=f"c{n - 1}")
        for n in range(1, 1001)
    )
    chart = mermaid(settle(Ledger(claims=many)), NAMES)
    assert len(chart) < MOST_CHARS
    *lines, last = chart.splitlines()
    boxes, arrows = read("\n".join(lines))
    assert last == f'  more["{1000 - len(boxes)} more are left out here"]'
    assert len(boxes) > 50
    assert len(arrows) == len(boxes) - 1
    short = tuple(Claim(id=f"c{n}", seat="a", statement="1", wave=n, text="x") for n in range(1, 1001))
    assert mermaid(Ledger(claims=short), NAMES).count(":::") == 400


def test_no_claims_at_all_are_a_chart_too():
    assert mermaid(Ledger(), {}).endswith('  none["No claim is listed"]\n')


def claiming(text: str):
    item = {"text": text, "stance": "none", "target": "", "quote": "", "evidence": text, "concedes": []}
    return lambda step: {"claims": [item]} if step.phase.startswith("claims-") else good(step)


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_a_record_has_the_map_before_the_transcript_and_stays_whole(text: str):
    debate, turns = completed("classic", claiming(text), max_rounds=1, claims=True)
    record = made(debate, turns)
    _, body = split(render(record))
    sections = [name for level, name in headings(body) if level == "h2"]
    assert sections[-3:] == ["How It Was Decided", "Argument Map", "Transcript"]
    [chart] = [token.content for token in tokens(body) if token.type == "fence" and token.info == "mermaid"]
    assert read(chart)[0]["c1"][0].startswith("c1 (Debater A, standing) ")
    assert not [token for token in tokens(body) if token.type in ("html_block", "html_inline", "link_open", "image")]
    assert len(headings(body)) == len(headings(split(render(made(*completed("classic", max_rounds=1))))[1])) + 1


def test_a_record_without_a_ledger_has_no_map():
    record = made(*completed("classic", max_rounds=1))
    assert "Argument Map" not in render(record)
    assert record.as_json()["ledger"] is None


def test_a_list_of_claims_that_a_limit_forbids_does_not_cut_the_debate_short():
    limit = Failure(kind="limit", message="No tokens are left.")
    debate, turns = completed(
        "classic", lambda step: limit if step.key == "1/claims-speak/b" else good(step), max_rounds=1, claims=True
    )
    record = made(debate, turns)
    assert record.decided.limits_reached == ()
    assert "not, or not all, known: `1/speak/b`." in render(record)


def test_a_record_lists_the_claims_by_status_and_what_is_not_known():
    def answer(step):
        if step.key == "1/claims-speak/b":
            item = {"text": "No.", "stance": "attacks", "target": "c1", "quote": "x y", "evidence": "", "concedes": []}
            return {"claims": [item]}
        return claiming("Redis is fast.")(step)

    debate, turns = completed("classic", answer, max_rounds=1, claims=True)
    record = made(debate, turns)
    text = section(split(render(record))[1], "Argument Map")
    assert "- `c1` Debater A: Redis is fast. (evidence: Redis is fast.)" in text
    assert "- `c2` Debater B: No. (quotes words that no one said)" in text
    assert [each["id"] for each in record.as_json()["ledger"]["claims"]] == ["c1", "c2"]
    assert json.dumps(record.as_json())
