"""Test files that people have, and the examples of a task, as cases."""

from __future__ import annotations

import pytest

from moot.reasoning.code.examples import examples_in
from moot.reasoning.code.test_files import cases_of, line_at_fault, marked_skips
from moot.reasoning.code.written import written_case

PYTEST = '''
"""Tests."""
import pytest
from solution import Stack, add

def test_add():
    assert add(1, 2) == 3

def test_stack():
    s = Stack()
    s.push(4)
    assert s.pop() == 4
    with pytest.raises(IndexError):
        s.pop()
'''


def written(text: str) -> list[str] | None:
    found = cases_of(text)
    return None if found is None else [written_case(case) for case in found]


def test_lines_are_cases():
    assert written("# mine\nadd(1, 2) == 3\n\nadd('a', 1) raises TypeError\n") == [
        "add(1, 2) == 3",
        "add('a', 1) raises TypeError",
    ]


def test_an_exception_of_the_code_that_is_named_like_a_built_in_one_can_not_be_a_case():
    text = (
        "import pytest\nfrom solution import fetch{}\ndef test_it():\n with pytest.raises(TimeoutError):\n  fetch(1)\n"
    )
    assert written(text.format("")) == ["fetch(1) raises TimeoutError"]
    assert written(text.format(", TimeoutError")) is None


def test_plain_functions_for_pytest_become_cases():
    assert written(PYTEST) == [
        "add(1, 2) == 3",
        "s = Stack(); s.push(4); s.pop() == 4",
        "s = Stack(); s.push(4); s.pop(); s.pop() raises IndexError",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def test_it(tmp_path):\n    assert add(1, 2) == 3\n",
        "import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_it(x):\n    assert add(x, 1) == 2\n",
        "def test_it():\n    for n in range(3):\n        assert add(n, 0) == n\n",
        "def test_it():\n    assert add(1, 2)\n",
        "def test_it():\n    assert add(1, 2) == add(2, 1)\n",
        "import os\ndef test_it():\n    assert add(1, 2) == 3\n",
        "from solution import add as plus\ndef test_it():\n    assert plus(1, 2) == 3\n",
        "class TestIt:\n    pass\n",
        "no code (at all",
    ],
)
def test_anything_else_has_to_be_run_as_it_is(text):
    assert cases_of(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("add(1, 1) == 2\n\nadd(1, 2) = 3\n", 3),
        ("add(1, 1) == 2\nadd(1, 2)\n", 2),
        ("import pytest\ndef test_it(:\n    pass\n", 2),
        ("no code (at all", 1),
        ("import os\ndef test_it():\n    assert add(1, 2)\n", None),
        ("add(1, 1) == 2\n", None),
    ],
)
def test_the_line_that_spoils_a_file_is_found(text, line):
    assert line_at_fault(text) == line


def test_examples_of_a_task_are_found():
    task = """Write add(a, b).

    >>> add(1, 2)
    3
    >>> x = [1]
    >>> add(x, [2])
    [1, 2]
    >>> add(1, 'a')
    Traceback (most recent call last):
      ...
    TypeError: no

    add(0, 0) -> 0
    In prose, add(5, 5) == 10 is read, sub(5, 5) == 0 is not.
    """
    assert [written_case(case) for case in examples_in(task)] == [
        "add(1, 2) == 3",
        "x = [1]; add(x, [2]) == [1, 2]",
        "x = [1]; add(x, [2]); add(1, 'a') raises TypeError",
        "add(0, 0) == 0",
        "add(5, 5) == 10",
    ]


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ('Write a function roman(n) that gives the Roman numeral. roman(4) == "IV"', ['roman(4) == "IV"']),
        ("A function called `fib(n)`: fib(0) is 0, fib(7) should return 13.", ["fib(7) == 13"]),
        ("implement add(a, b=1) so that add(1) gives 2 and add(2, 3) -> 5", ["add(1) == 2", "add(2, 3) == 5"]),
        ("Write a function (any name) that doubles, such as double(2) == 4", []),
        ("Write add(1, 2) == 3 as code", []),  # these are no parameters
        ("Make total(items) faster; total([1, 2]) == 3", []),  # it may be any of several
    ],
)
def test_examples_of_a_function_that_is_asked_for_by_name_are_found_in_one_line(task, found):
    assert [written_case(case) for case in examples_in(task)] == found


def test_examples_in_a_docstring_are_found_however_they_are_written():
    task = '''Complete this:

    def add(a, b):
        """Adds.
        >>> add(2, 2) == 4
        add(1, 1) ➞ 2
        add([1], [2]) ==> [1, 2]  # joined
        add("a", "b") should return "ab"
        add(0.5, 0.5)   # returns 1.0
        add(a, b) => a
        sub(2, 1) ➞ 1
        add(3, 4) = 7 holds only sometimes
        >>> add(1, 2)
        3
        """
    '''
    assert [written_case(case) for case in examples_in(task)] == [
        "add(1, 2) == 3",
        "add(2, 2) == 4",
        "add(1, 1) == 2",
        "add([1], [2]) == [1, 2]",
        'add("a", "b") == "ab"',
        "add(0.5, 0.5) == 1.0",
    ]


def test_what_a_call_changes_is_there_for_those_below_it():
    task = "s = Stack(); s.push(1); s.push(2)".replace("; ", "\n>>> ")
    task = f">>> {task}\n>>> s.pop()\n2\n>>> s.size()\n1\n"
    first = "s = Stack(); s.push(1); s.push(2); s.pop()"
    assert [written_case(case) for case in examples_in(task)] == [f"{first} == 2", f"{first}; s.size() == 1"]
    body = "    s = Stack()\n    s.push(1)\n    s.push(2)\n    assert s.pop() == 2\n    assert s.pop() == 1\n"
    assert written(f"def test_pop():\n{body}") == [f"{first} == 2", f"{first}; s.pop() == 1"]
    counter = ">>> tick()\n1\n>>> tick()\n2\n"
    assert [written_case(case) for case in examples_in(counter)] == ["tick() == 1", "tick(); tick() == 2"]


@pytest.mark.parametrize(
    "task", [">>> print(add(1, 2))\n3\n", "push(x) -> None", "clear() -> None", "No example.", ">>> add(1,"]
)
def test_a_task_without_examples_has_none(task):
    assert examples_in(task) == ()


def function(text: str, head: str = "def add(a, b):") -> list[str]:
    return [
        written_case(case) for case in examples_in(f'Complete this:\n\n{head}\n    """Adds.\n    {text}\n    """\n')
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("For example add(1, 2) should\n    return 3, and add(-1, 1) gives 0.", ["add(1, 2) == 3", "add(-1, 1) == 0"]),
        ("* add(1, 2) => 3\n    - `add([1], [2])` -> [1, 2]", ["add(1, 2) == 3", "add([1], [2]) == [1, 2]"]),
        ("    add(1, 2) = 3\n    1. add('a', 'b') = 'ab'.", ["add(1, 2) == 3", "add('a', 'b') == 'ab'"]),
        ("add('a', 'b') # => 'ab' (joined)", ["add('a', 'b') == 'ab'"]),
        ("Input: a = 1, b = 2\n    Output: 3 # the sum", ["add(1, 2) == 3"]),
        ("Example 1:\n  Input:\n    b : [2]\n    a : [1]\n  Output: [1, 2]", ["add([1], [2]) == [1, 2]"]),
        ("Input: first = 1, second = 2\nOutput: 3", ["add(1, 2) == 3"]),
        ('For a = "x", b = "y", the result should be "xy"', ['add("x", "y") == "xy"']),
    ],
)
def test_examples_in_the_midst_of_words_are_found(text: str, found: list[str]):
    assert function(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "add(a, b) should return 3",  # of which a and b
        "add(1, 2) should not return 4",
        "add(1, 2) returns 1 + 2",
        "add(1, 2) returns 3 or 4, add(1, 3) returns 4.5.6, and add(1, 4) returns 5x",
        "add(n, 1) = add(n - 1, 1) + 1\n    add(0, 1) = 1",  # as in mathematics
        "It is known that add(1, 2) = 3",
        "Input: a = 1\n    Output: 3",
        "Input: a = 1, b = 2, c = 3\n    Output: 6",
        "Input: two numbers\n    Output: 3",
        "Input: a = 1, b = 2\n    Explanation: none\n    Output: 3",
        "For a = 1, b = 2, whose sum is odd, the output should be 3",
        "add(1, 2) returns (3",
        'add(1, 2) == ""three"',
    ],
)
def test_what_is_not_certain_is_no_example(text: str):
    assert function(text) == []


def test_the_only_parameter_needs_no_name():
    text = "Example 1:\n        Input: [4, 2, 3]\n        Output: [2, 1]\n        Explanation: 2 is the smallest."
    assert function(text, "def pluck(arr: list[int]) -> list[int]:") == ["pluck([4, 2, 3]) == [2, 1]"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import pytest\n@pytest.mark.skip\ndef test_it(): ...", {"test_it"}),
        (
            "import unittest as u\n@u.skip('later')\nclass TestIt(u.TestCase):\n def test_a(self): ...",
            {"TestIt::test_a"},
        ),
        ("from unittest import skipIf\nimport os\n@skipIf(os.name == 'nt', 'x')\ndef test_it(): ...", {"test_it"}),
        ("import pytest\nlater = pytest.mark.xfail(reason='x')\n@later\ndef test_it(): ...", {"test_it"}),
        (
            "import pytest\npytestmark = [pytest.mark.skip]\ndef test_it(): ...\ndef test_b(): ...",
            {"test_it", "test_b"},
        ),
        # What the code under test can bring about is no mark of the file.
        ("import pytest, solution\n@pytest.mark.skipif(solution.OFF, reason='x')\ndef test_it(): ...", set()),
        ("from solution import skip\n@skip\ndef test_it(): ...", set()),
        ("import pytest\ndef test_it(): pytest.skip('x')", set()),
        (
            "import pytest\nfrom solution import f\n@pytest.mark.skip\n@pytest.mark.skipif(f())\ndef test_it(): ...",
            set(),
        ),
        (
            "import pytest\nclass TestA:\n class TestB:\n  @pytest.mark.skip\n  def test_it(self): ...",
            {"TestA::TestB::test_it"},
        ),
        ("import pytest\nclass TestA:\n pytestmark = pytest.mark.skip\n def test_it(self): ...", {"TestA::test_it"}),
        (
            "import pytest\n@pytest.mark.parametrize('n', [pytest.param(2, marks=pytest.mark.skip)])\n"
            "def test_it(n): ...",
            {"test_it"},
        ),
        ("def test_it(", set()),
    ],
)
def test_skips_that_a_file_marks_are_known(text: str, found: set[str]):
    assert marked_skips(text) == found
