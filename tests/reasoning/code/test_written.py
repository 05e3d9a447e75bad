"""What models write around code: fenced blocks, and tests as lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.code.cases import Case
from moot.reasoning.code.written import blocks, case_of, cases_in, code_in, expectation, fenced, written_case


@pytest.mark.parametrize(
    ("line", "call", "expected", "raises"),
    [
        ("add(1, 2) == 3", ("add(1, 2)",), "3", ""),
        ("- `add(1, 2) == 3`", ("add(1, 2)",), "3", ""),
        ("1. add(1, 2) -> 3", ("add(1, 2)",), "3", ""),
        ('assert add(1, 2) == 3, "three, of course"', ("add(1, 2)",), "3", ""),
        ("assert not is_even(3)", ("is_even(3)",), "False", ""),
        ("assert find('x') is None", ("find('x')",), "None", ""),
        ("f('a == b', [1 == 1]) == 'x == y'  # why", ("f('a == b', [1 == 1])",), "'x == y'", ""),
        ("s = Stack(); s.push(1); s.pop() == 1", ("s = Stack()", "s.push(1)", "s.pop()"), "1", ""),
        ("f(-1) raises ValueError: negative", ("f(-1)",), "", "ValueError"),
        ("f(-1) throws builtins.ValueError", ("f(-1)",), "", "ValueError"),
        ("divmod2(7, 2) == 3, 1", ("divmod2(7, 2)",), "(3, 1)", ""),
        ('assert is_even(2), f"not {2}"', ("is_even(2)",), "True", ""),
        ("f((x) => x) === true", ("f((x) => x)",), "true", ""),
    ],
)
def test_a_test_is_read_from_a_line(line, call, expected, raises):
    assert case_of(line) == Case(call=call, expected=expected, raises=raises)


@pytest.mark.parametrize(
    "line",
    [
        "x == 3",
        "f(1)",
        "f(1) == g(2)",
        "def f(x):",
        "# f(1) == 2",
        "f(1) == 1,000",
        "assert f(1) == 3, 1",
    ],
)
def test_other_lines_are_no_tests(line):
    assert case_of(line) is None


def test_tests_that_span_lines_are_joined_and_equal_ones_counted_once():
    text = "```cases\nf([1,\n 2]) == {1: 'a',\n  2: 'b'}\nf(1) == 1\nf(1) == 1\n```\nf(9) == 9"
    assert [written_case(case) for case in cases_in(text)] == ["f([1, 2]) == {1: 'a', 2: 'b'}", "f(1) == 1"]


CALLS = st.sampled_from(["f(1)", "f('a;b', [1])", "g()", "s.pop()"])
LITERALS = st.recursive(
    st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@given(st.lists(CALLS, min_size=1, max_size=3), LITERALS)
def test_a_case_is_read_back_from_its_line(calls, value):
    case = Case(call=tuple(calls), expected=repr(value))
    assert case_of(written_case(case)) == case


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    cases_in(text)
    expectation(text)
    blocks(text)


def test_the_longest_block_of_code_counts():
    text = (
        "```python\nprint(f(1))\n```\nand\n```python\ndef f(x):\n    return x + 1\n```\n```cases\n"
        + "f(1) == 2\n" * 9
        + "```"
    )
    assert code_in(text) == "def f(x):\n    return x + 1\n"


def test_code_without_a_fence_is_taken_if_it_begins_like_code():
    assert code_in("def f(x):\n    return x") == "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("text", "said"), [("I would rather not.", "no code"), ("", "no code"), ("```python\ndef f(", "not closed")]
)
def test_a_model_is_told_what_is_missing(text, said):
    with pytest.raises(ValueError, match=said):
        code_in(text)


@given(st.text(alphabet="`~ab \n", max_size=60))
def test_a_block_holds_any_text(text):
    made = blocks(fenced("python", text))
    assert [block.text for block in made] == [text.rstrip()]
