"""Variants of known calls: other arguments of the same types, and nothing that is no call."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.code.variants import MOST_CHARS, variants

PLAIN = st.recursive(
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_some_of_each_call_come_first():
    found = variants([("f([3, 1])",), ("f('ab')",)], 4)
    assert found == (("f([1, 3])",), ("f('ba')",), ("f([3])",), ("f('a')",))


def test_each_argument_is_changed_by_itself():
    found = variants([("g('ab', 2)",)], 4)
    assert found == (("g('ba', 2)",), ("g('ab', 3)",), ("g('a', 2)",), ("g('ab', 4)",))


@pytest.mark.parametrize(
    "call",
    [("f(x)",), ("f(1, key=2)",), ("f()",), ("1 +",), ("f",), ("s = S()", "s.pop(1)"), ("f(*[1])",), ("f(None)",)],
)
def test_what_has_no_plain_arguments_has_no_variants(call: tuple[str, ...]):
    assert variants([call], 9) == ()


def test_known_calls_and_long_ones_are_left_out():
    known = [("f([1, 2])",), ("f([2, 1])",)]
    assert not {*variants(known, 50)} & {*known}
    assert all(len(call[0]) <= MOST_CHARS for call in variants([(f"f({'x' * 300!r})",)], 50))


@given(st.lists(PLAIN, max_size=3), st.integers(0, 20))
def test_they_are_calls_of_the_same_thing_as_often_as_asked(arguments, most):
    call = f"deep.f({', '.join(map(repr, arguments))})"
    found = variants([(call,)], most)
    assert len(found) == len({*found}) <= most
    for (line,) in found:
        read = ast.parse(line, mode="eval").body
        assert isinstance(read, ast.Call)
        assert ast.unparse(read.func) == "deep.f"
        assert len([ast.literal_eval(each) for each in read.args]) == len(arguments)
