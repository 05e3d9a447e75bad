"""No text can change the structure of the document."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from moot.core.types import ArguedPosition, RecordParts, SeatSpec, Section
from moot.reasoning.fence import clean
from moot.records.issue import draft
from moot.records.markdown import front_matter, render
from moot.records.quoting import code, item, literal, quote
from tests.records.making import completed, described, expected_headings, headings, made, split, tokens, visible

HOSTILE = [
    "---\nstatus: accepted\n---\n# Taken over",
    "# Heading\n## Another\n\nSetext\n======\n\nSetext\n---\n",
    "- # in a list\n  - ## deeper\n1. # numbered\n> # quoted\n>> ## twice",
    "<script>alert(1)</script><img src=x onerror=alert(1)>\n<!-- hidden\n<div>\n\n</div>",
    "[click](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example> [a]: https://evil.example",
    "[a][b]\n\n[b]: javascript:alert(1)\n[^1]: footnote",
    "```\n# in code\n```\n# after code\n~~~\n<b>\n",
    "``` `` ` <b> ` `` ```",
    "`a` <b> `c\n<i>` d",
    "`` <b> ` <i> ``",
    "| a | b |\n|---|---|\n| <b> | # |",
    "&lt;b&gt; &#60;b&#62; &copy;",
    "\\<b> \\\\<b> \\`<b>\\` ending\\",
    "{{ site.secret }} {% include x %} `{{ y }}`\n```\n{% raw %}\n```",
    "a\u2028# b\u2029# c\r# d\r\n# e\x0b# f\x0c# g\x85# h",
    "\u202e# reversed\u202c \u200b# invisible \ufeff---",
    "    # indented\n\t# tab\n\n    code?",
    "* * *\n***\n___\n---\n- - -\n===\n--\n=",
    "1) one\n2. two\n10000000000. three\n-\n*\n+\n1.\n",
    "!!! note\n:::warning\n=== tab\n%%% x\n$$\\frac$$ ~~gone~~",
    "**bold** _and_ *so on*\n**unclosed\n\n*x",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u4e2d\u6587 \U0001f600 Ελληνικά",
    "x" * 500,
    "/" * 50 + '"' * 50 + "'" * 50,
    "",
    " \n ",
]
CLASSIC, DUEL = completed("classic", max_rounds=1), completed("duel", turns=2)
FORBIDDEN = {"html_block", "html_inline", "link_open", "image", "table_open", "s_open"}


def check(document: str, record) -> None:
    front, body = split(document)
    assert front == front_matter(record)
    assert headings(body) == expected_headings(record)
    assert not FORBIDDEN & {token.type for token in tokens(body)}
    for tag in ("{{", "{%", "{#"):
        assert tag not in body


def check_issue(body: str) -> None:
    found = [name for _, name in headings(body)]
    assert found[1:] in (["Context", "Decision", "Done when"], ["Context", "Decision", "Done when", "Keep in mind"])
    assert not FORBIDDEN & {token.type for token in tokens(body)}


def everywhere(text: str):
    """Records with the text in every place that untrusted text can reach."""
    debate, played = CLASSIC
    turns = [replace(turn, content=text) if turn.phase == "speak" else turn for turn in played]
    outcome = debate.outcome.model_copy(
        update=dict.fromkeys(("statement", "reason", "headline", "ended_by", "decided_by"), text)
    )
    person = replace(turns[0], kind="gate", key="1/checkpoint/you", seat="you", phase="checkpoint")
    yield made(replace(debate, topic=text, outcome=outcome, initiated_by=text), [*turns, person])
    duel, turns = DUEL
    cast = tuple(replace(seat, name=text, model=f"scripted:{text}") for seat in duel.cast)
    yield made(
        replace(duel, cast=cast, outcome=duel.outcome.model_copy(update={"facts": {text: text}, "tally": {text: 3}})),
        turns,
    )
    lists = (text, f"- {text}", f"x\n{text}")
    parts = RecordParts(
        recommendation=text,
        caveats=lists,
        agreements=lists,
        tensions=lists,
        dissent=lists,
        positions=(
            ArguedPosition(name=text, arguments=lists, trade_offs=lists, stance=text, recommendation=text),
            ArguedPosition(name="Short", arguments=(text.replace("\n", " ")[:200],)),
        ),
        sections=(Section(title=f"x {text}", items=lists),),
    )
    yield made(described(parts, topic=text), demonstration=True)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words(text):
    for record in everywhere(text):
        check(render(record), record)
        check_issue(draft(record).render())
        assert headings(draft(record).render())[0] == ("h1", f"Follow up: {record.title}")


PIECES = st.sampled_from(list("\n\n\n #-*_`~<>[]()!&|\\:=+.1{}%$\t\"'/abc\u2028\r"))
WORDS = st.one_of(st.text(), st.text(alphabet=PIECES, max_size=60), st.sampled_from(HOSTILE))


CALLS = st.sampled_from(["@everyone", "`", "#12", "<b>"])


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(WORDS, CALLS), min_size=1, max_size=4).map("".join))
@example("`a @b <script>`")
@example("`\\` <b> `")
def test_any_words(text):
    for record in everywhere(text):
        check(render(record), record)
        check_issue(draft(record).render())


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4).map("\n".join))
def test_a_quote_is_one_block_quote(text):
    found = tokens(f"before\n\n{quote(text)}\n\nafter")
    assert [
        token.type for token in found if token.level == 0 and token.type in ("paragraph_open", "blockquote_open")
    ] == [
        "paragraph_open",
        "blockquote_open",
        "paragraph_open",
    ]
    assert not (FORBIDDEN | {"heading_open", "hr"}) & {token.type for token in found}


@settings(max_examples=300, deadline=None)
@given(WORDS)
def test_a_literal_reads_as_it_was_written(text):
    words = " ".join(clean(text).split())
    for line in (f"# {literal(text)}", f"- x {literal(text)}"):
        [inline] = [token for token in tokens(line) if token.type == "inline"] or [None]
        if words:
            assert visible(inline.children).removeprefix("x ") == words


@settings(max_examples=300, deadline=None)
@given(WORDS)
def test_an_item_is_one_item(text):
    found = tokens(f"- {item(text)}\n- next")
    assert sum(token.type == "list_item_open" for token in found) == 2
    assert not (FORBIDDEN | {"heading_open", "hr", "code_block"}) & {token.type for token in found}


@pytest.mark.parametrize("text", ["1/speak/a", "a`b", "`", "``x", "x``", "<b>", "{{ x }}", "a  b", "\\"])
def test_code_spans(text):
    [inline] = [token for token in tokens(code(text)) if token.type == "inline"]
    assert visible(inline.children) == " ".join(text.split())


def test_what_can_do_no_harm_is_kept():
    text = (
        "**Point:** use `a[0] < b`.\nNext line.\n1. one\n2. two\n\n```python\nif a < b:\n    # why\n    pass\n```\nEnd."
    )
    assert quote(text) == (
        "> **Point:** use `a[0] < b`.\\\n> Next line.\n>\n> 1. one\n> 2. two\n>\n"
        "> ```\n> if a < b:\n>     # why\n>     pass\n> ```\n>\n> End."
    )


def test_front_matter_is_that_of_madr_with_our_own_keys():
    record = made(*completed("classic", max_rounds=1))
    record = replace(record, initiated_by="sam")
    front, _ = split(render(record))
    assert list(front)[:5] == ["status", "date", "decision-makers", "consulted", "informed"]
    assert (front["status"], front["date"].isoformat()) == ("proposed", "2025-12-05")
    assert front["decision-makers"] == ["sam"]
    assert front["consulted"][0] == "Debater A (debater, scripted:none)"
    assert (front["debate"], front["format"], front["confidence"]) == (record.debate, "classic", "Medium")


@pytest.mark.parametrize("topic", ["yes", "1e3", "2025-12-05", "!!python/object:x", "a: b # c"])
def test_front_matter_keeps_titles_that_look_like_something_else(topic):
    record = made(*completed("classic", topic=topic, max_rounds=1))
    assert split(render(record))[0]["title"] == topic


def test_the_same_debate_always_gives_the_same_document():
    debate, turns = completed("duel", turns=2)
    assert render(made(debate, turns)) == render(made(debate, turns))


def test_seat_without_a_name():
    debate, turns = completed("classic", max_rounds=1)
    cast = (SeatSpec(id="a", name="\u200b", role="debater", model="x", max_tokens=1, voice=True), *debate.cast[1:])
    assert made(replace(debate, cast=cast), turns).perspectives[0].name == "a"
