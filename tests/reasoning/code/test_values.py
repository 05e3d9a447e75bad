"""Values as tests compare them."""

from __future__ import annotations

import pytest

from moot.reasoning.code.cases import Case, CaseRun, passes
from moot.reasoning.code.evidence import Statement, alike


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("2", "2.0"),
        ("10000000000000000", "1e16"),
        ("0.3", "0.30000000000000004"),
        ("3.0000000000000004", "3"),
        ("0.0", "1e-13"),
        ("[0.1, {'a': 0.0}]", "[0.10000000000001, {'a': -1e-13}]"),
        ("complex(0.0, 1.0)", "complex(1e-13, 1.0)"),
        ("float('nan')", "float('nan')"),
    ],
)
def test_numbers_that_pass(expected: str, found: str):
    assert passes(Case(call=("f()",), expected=expected), CaseRun(outcome="returned", value=found))


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("50000000000000001", "5e16"),
        ("50000000000000001", "50000000000000000"),
        ("3", "3.0000000000000004"),
        ("1e-13", "0.0"),
        ("1e-13", "2e-13"),
        ("0.1", "0.1000001"),
        ("0.0", "1e-9"),
        ("1", "True"),
        ("1.5", "float('nan')"),
        ("[1, (2, {'a': 3})]", "[1, (2, {'a': 3.0000000000000004})]"),
    ],
)
def test_numbers_that_do_not_pass(expected: str, found: str):
    assert not passes(Case(call=("f()",), expected=expected), CaseRun(outcome="returned", value=found))


def test_two_expect_the_same_only_if_each_would_accept_what_the_other_expects():
    def states(expected: str) -> Statement:
        return Statement(expected=expected)

    assert alike(states("0.3"), states("0.30000000000000004"))
    for one, two in (("0.0", "1e-13"), ("5e16", "50000000000000001")):
        assert not alike(states(one), states(two))
        assert not alike(states(two), states(one))
