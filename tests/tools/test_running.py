"""Code that is run and checked: results, cheats, bad input, and tools that are not there."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from moot.core.errors import ToolError
from moot.core.values import sha256_of
from moot.reasoning.code.cases import Case, CaseRun, passes
from moot.reasoning.code.requests import CasesRun, CheckRun, ScriptRun, SnapshotRun
from moot.tools.checks import linters
from moot.tools.code import CodeTools
from moot.tools.git.snapshots import Snapshots
from moot.tools.runners.cases import CaseLimits, cases_job, read_cases
from moot.tools.runners.declared import Runners
from moot.tools.sandbox import PROCESS, Limits

pytestmark = pytest.mark.slow

CODE = "def double(n):\n    return 2 * n\n"
TESTS = "from solution import double\n\ndef test_it():\n    assert double(2) == 4\n"

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
# Each says, as the harness would, that the call can't be read.
NO_CALL = {
    "python": "import os\nsaid = bytes([0, 0, 0, 11, 73, 0, 0, 0, 1, 120, 0, 0, 0, 1, 121])\ndef double(n):\n"
    "    for fd in range(3, 64):\n        try: os.write(fd, said)\n        except OSError: pass\n    os._exit(0)",
    "javascript": "const said = Buffer.from([0, 0, 0, 11, 73, 0, 0, 0, 1, 120, 0, 0, 0, 1, 121])\n"
    "function double(n) {\n  for (let fd = 3; fd < 64; fd++) try { require('fs').writeSync(fd, said) } catch {}\n"
    "  for (;;);\n}",
}

# Each would pass a naive judge that runs `assert double(2) == 4` beside it, or reads what it prints.
CHEATS = {
    "__eq__": "class Yes:\n    def __eq__(self, other): return True\ndef double(n): return Yes()",
    "__repr__": "class Four(int):\n    def __repr__(self): return '4'\ndef double(n): return Four(5)",
    "subclass of str": "class S(str):\n    def __eq__(self, o): return True\ndef double(n): return S('4')",
    "os._exit": "import os\ndef double(n): os._exit(0)",
    "sys.exit": "import sys\ndef double(n): sys.exit(0)",
    "patched json": "import json\njson.dumps = lambda *a, **k: '4'\ndef double(n): return 5",
    "patched marshal": "import marshal\nmarshal.dumps = lambda *a, **k: b'i\\x04\\0\\0\\0'\ndef double(n): return 5",
    "stdout": "def double(n):\n    print('4')\n    print('returned 4')",
    "forged results": "import os\ndef double(n):\n    for fd in range(3, 64):\n        try:\n"
    "            os.write(fd, b'R' + b'\\x04' * 40)\n        except OSError: pass\n    os._exit(0)",
    "SystemExit": "def double(n): raise SystemExit(0)",
    "patched builtins": "import builtins\nbuiltins.repr = lambda x: '4'\nbuiltins.type = lambda x: int\n"
    "def double(n): return 5",
}


def tools(folder: Path) -> CodeTools:
    return CodeTools(sandbox=PROCESS, runners=Runners(), snapshots=Snapshots(lambda: folder))


def use(folder: Path, name: str, arguments: dict[str, Any], *texts: str) -> Any:
    shapes = {"cases": CasesRun, "script": ScriptRun, "checks": CheckRun, "snapshot": SnapshotRun}
    given = {sha256_of(text): text for text in texts}
    return shapes[name].model_validate(asyncio.run(tools(folder).by_name()[name](arguments, given)))


def called(folder: Path, code: str, *calls: str, language: str = "python") -> tuple[CaseRun, ...]:
    arguments = {"version": sha256_of(code), "language": language, "calls": [[call] for call in calls]}
    return use(folder, "cases", arguments, code).results


SKIPS = [
    "import unittest\n    raise unittest.SkipTest",
    "import pytest\n    pytest.skip('x')",
    "import pytest\n    pytest.xfail('x')",
    "class SkipTest(Exception): pass\n    raise SkipTest",
]


class TestCases:
    def test_how_the_run_ended_is_recorded(self, tmp_path):
        code = "import os\ndef double(n):\n    os.kill(-1, 9)\n"
        arguments = {"version": sha256_of(code), "language": "python", "calls": [["double(2)"], ["double(3)"]]}
        done = use(tmp_path, "cases", arguments, code)
        assert ([run.outcome for run in done.results], done.ended_by, done.code) == (["died", "not_run"], "ended", 137)

    @pytest.mark.parametrize("name", ["honest code", *CHEATS])
    def test_no_cheat_passes(self, tmp_path, name):
        (run,) = called(tmp_path, CHEATS.get(name, CODE), "double(2)")
        assert passes(Case(call=("double(2)",), expected="4"), run) == (name == "honest code"), run

    @pytest.mark.parametrize("language", ["python", pytest.param("javascript", marks=NODE)])
    def test_code_can_not_say_that_a_call_is_none(self, tmp_path, language):
        """The call could then never be held against it."""
        runs = called(tmp_path, NO_CALL[language], "double(2)", "double(", language=language)
        assert [run.outcome for run in runs] == ["died", "invalid"]

    @pytest.mark.parametrize(
        ("code", "passed"),
        [
            ("def double(n): return [][n]", True),
            ("class Mine(IndexError): pass\nMine.__name__ = 'IndexError'\ndef double(n): raise Mine", False),
            ("class IndexError(Exception): pass\ndef double(n): raise IndexError", False),
            ("import builtins\nclass IndexError(Exception): pass\nbuiltins.IndexError = IndexError\n"
             "def double(n): raise IndexError", False),
            ("class M(type):\n    __name__ = 'IndexError'\nclass E(Exception, metaclass=M): pass\n"
             "def double(n): raise E", False),
        ],
    )  # fmt: skip
    def test_a_built_in_exception_is_no_other_of_its_name(self, tmp_path, code, passed):
        (run,) = called(tmp_path, code, "double(2)")
        assert passes(Case(call=("double(2)",), raises="IndexError"), run) is passed, run

    def test_an_exception_of_the_codes_own_is_known_by_its_name(self, tmp_path):
        (run,) = called(tmp_path, "class Odd(ValueError): pass\ndef double(n): raise Odd", "double(3)")
        assert passes(Case(call=("double(3)",), raises="Odd"), run)

    @NODE
    @pytest.mark.parametrize(
        ("code", "passed"),
        [
            ("function double(n) { return [].reduce((a, b) => a) }", True),
            ("function double(n) { return Buffer.from(n) }", True),  # raised by Node itself
            ("class Odd extends TypeError {}; function double(n) { throw new Odd() }", True),
            ("function double(n) { throw {name: 'TypeError'} }", False),
            ("globalThis.TypeError = class extends Error { name = 'TypeError' }\n"
             "function double(n) { throw new TypeError() }", False),
        ],
    )  # fmt: skip
    def test_a_built_in_error_of_javascript_is_no_other_of_its_name(self, tmp_path, code, passed):
        (run,) = called(tmp_path, code, "double(2)", language="javascript")
        assert passes(Case(call=("double(2)",), raises="TypeError"), run) is passed, run

    @NODE
    def test_two_versions_in_javascript_share_no_process(self, tmp_path):
        """Code of one could otherwise slow down the other, with which it is compared."""
        marks = "globalThis.constructor.constructor('return process')().marked = true; function f() { return 1 }"
        looks = "function f() { return !!globalThis.constructor.constructor('return process')().marked }"
        made = [(0, ["f()"]), (1, ["f()"]), (1, ["f()"]), (0, ["f()"])]
        job = cases_job("javascript", [marks, looks], made, Limits(), CaseLimits())
        results = read_cases(asyncio.run(PROCESS.run(job)), len(made))
        assert [run.value for run in results] == ["1", "False", "False", "1"]

    def test_what_came_of_each_call(self, tmp_path):
        code = f"{CODE}\ndef spin():\n    while True: pass\n"
        calls = ["double('ab')", "double(None)", "double(", "object()", "spin()", "(1, [2.5, {'a': b'x'}])"]
        runs = called(tmp_path, code, *calls)
        assert [run.outcome for run in runs] == [
            "returned", "raised", "invalid", "unreadable", "timed_out", "returned",
        ]  # fmt: skip
        assert (runs[0].value, runs[1].error, runs[5].value) == ("'abab'", "TypeError", "(1, [2.5, {'a': b'x'}])")

    def test_values_that_are_nested_deeply_or_very_long_are_not_read(self, tmp_path):
        code = """
def deep(value, n):
    for _ in range(n):
        value = [value] if type(value) is list else (value,) if type(value) is tuple else {1: value}
    return value

def ring():
    made = []
    made.append(made)
    return made
"""
        calls = ["deep([], 100000)", "deep((), 100000)", "deep({}, 100000)", "ring()", "'x' * 10**7", "10**100000"]
        runs = called(tmp_path, code, *calls, "deep([], 5)", "[" * 5000 + "]" * 5000)
        assert [run.outcome for run in runs] == ["unreadable"] * len(calls) + ["returned", "invalid"]
        assert [run.error for run in runs[:6]] == ["list", "tuple", "dict", "list", "str", "int"]
        assert "nested more than 50 deep" in runs[0].message

    def test_code_that_is_no_code(self, tmp_path):
        for code in ("this is no code (", "\x01\x02\xff", "x" * 1000):
            (run,) = called(tmp_path, code, "double(2)")
            assert run.outcome == "raised", run
            assert run.error in ("SyntaxError", "NameError")

    @pytest.mark.parametrize(
        ("code", "problem"),
        [
            ("#" * 200_001, "The code has 200,001 characters; 200,000 is the most"),
            ("a\0b", "it has NUL"),
            ("a\ud800b", "it has halves of characters"),
        ],
        ids=["long", "binary", "halves"],
    )
    def test_what_can_be_no_code_is_refused(self, tmp_path, code, problem):
        version, files = sha256_of(code), [{"path": "a.py", "text": sha256_of(code)}]
        with pytest.raises(ToolError, match=problem):
            use(tmp_path, "cases", {"version": version, "calls": [["double(2)"]]}, code)
        with pytest.raises(ToolError, match=problem):
            use(tmp_path, "snapshot", {"versions": [{"message": "One", "files": files}]}, code)
        assert list(tmp_path.iterdir()) == []

    def test_a_language_that_is_not_declared(self, tmp_path):
        with pytest.raises(ToolError, match="no language 'cobol'.*Declared: python"):
            called(tmp_path, CODE, "double(2)", language="cobol")

    def test_a_language_without_single_calls(self, tmp_path):
        with pytest.raises(ToolError, match="Single calls can't be made in shell"):
            called(tmp_path, "true", "true", language="shell")

    @NODE
    def test_javascript(self, tmp_path):
        (run,) = called(tmp_path, "function double(n) { return 2 * n }", "double(4)", language="javascript")
        assert (run.outcome, run.value) == ("returned", "8")


class TestScripts:
    def script(self, folder: Path, code: str, tests: str, *, language: str = "python", **more: str) -> ScriptRun:
        base = [{"path": path, "text": sha256_of(text)} for path, text in more.items()]
        arguments = {"version": sha256_of(code), "tests": sha256_of(tests), "base": base, "language": language}
        return use(folder, "script", arguments, code, tests, *more.values())

    def test_each_test_has_its_outcome(self, tmp_path):
        tests = f"{TESTS}\ndef test_other():\n    assert double(2) == 5\n"
        done = self.script(tmp_path, CODE, tests)
        assert {test.name.rpartition("::")[2]: test.outcome for test in done.tests} == {
            "test_it": "passed", "test_other": "failed",
        }  # fmt: skip
        assert not done.passed
        assert done.in_process

    def test_code_that_ends_the_process_or_hides_the_tests_does_not_pass(self, tmp_path):
        assert not self.script(tmp_path, "import os\nos._exit(0)", TESTS).passed
        hidden = {"conftest.py": "def pytest_collection_modifyitems(items): items.clear()"}
        wrong = "def double(n):\n    return 5\n"
        assert not self.script(tmp_path, wrong, TESTS, **hidden).passed

    @pytest.mark.parametrize(
        "test",
        ["def test_it():\n    assert double(2) == 4",
         "@pytest.mark.usefixtures('tmp_path')\ndef test_it():\n    assert double(2) == 4",
         "class TestIt:\n    class TestMore:\n        def test_it(self):\n            assert double(2) == 4"],
    )  # fmt: skip
    def test_code_that_ends_the_process_in_a_test_does_not_pass_however_it_is_written(self, tmp_path, test):
        code = "import os\ndef double(n):\n    if n: os._exit(0)\n    return 0\n"
        tests = "import pytest\nfrom solution import double\n\ndef test_zero():\n    assert double(0) == 0\n"
        done = self.script(tmp_path, code, f"{tests}\n{test}\n")
        assert {test.name: test.outcome for test in done.tests}["test_zero"] == "passed"
        assert not done.passed, done

    @pytest.mark.parametrize("skip", SKIPS)
    def test_code_that_skips_a_test_does_not_pass_it(self, tmp_path, skip):
        code = f"def double(n):\n  if n == 2:\n    {skip}\n  return 2 * n\n"
        done = self.script(tmp_path, code, f"{TESTS}\ndef test_other():\n    assert double(0) == 0\n")
        assert {test.name: test.outcome for test in done.tests}["test_other"] == "passed"
        assert not done.passed, done

    @pytest.mark.parametrize("skip", SKIPS)
    def test_code_does_not_pass_by_a_skip_under_a_condition_that_is_false(self, tmp_path, skip):
        code = f"def double(n):\n  if n == 2:\n    {skip}\n  return 2 * n\n"
        done = self.script(tmp_path, code, """
import pytest, sys, unittest
from solution import double

@pytest.mark.skipif(sys.platform == "win32", reason="x")
def test_skipif(): assert double(2) == 4

@unittest.skipIf(sys.platform == "win32", "x")
def test_unittest(): assert double(2) == 4

@pytest.mark.xfail(sys.platform == "win32", reason="x")
def test_xfail(): assert double(2) == 4

class TestIt(unittest.TestCase):
    @unittest.skipIf(sys.platform == "win32", "x")
    def test_method(self): self.assertEqual(double(2), 4)

def test_other(): assert double(0) == 0
""")  # fmt: skip
        passed = [test.name for test in done.tests if test.outcome in ("passed", "skipped")]
        assert passed == ["test_other"], done
        assert not done.passed

    def test_marks_are_heeded_wherever_they_stand(self, tmp_path):
        done = self.script(tmp_path, CODE, """
import pytest, sys, unittest
from solution import double

def test_it(): assert double(2) == 4

class TestA:
    class TestB:
        @pytest.mark.skip
        def test_inner(self): assert 0

class TestC:
    pytestmark = pytest.mark.skip
    def test_class(self): assert 0

@pytest.mark.parametrize("n", [2, pytest.param(3, marks=pytest.mark.skip)])
def test_case(n): assert double(n) == 4

if True:
    @pytest.mark.skip
    def test_nested(): assert 0

@pytest.mark.xfail
def test_fails(): assert double(2) == 5

@pytest.mark.xfail(run=False)
def test_unrun(): assert double(2) == 5

@pytest.mark.skipif(sys.version_info > (3,), reason="x")
def test_true(): assert 0

@unittest.skip("later")
def test_later(): assert 0

class TestD(unittest.TestCase):
    @unittest.skip("x")
    def test_method(self): assert 0

@unittest.skip("x")
class TestE(unittest.TestCase):
    def test_whole(self): assert 0
""")  # fmt: skip
        assert [test.name for test in done.tests if test.outcome == "passed"] == ["test_it", "test_case[2]"]
        assert {test.outcome for test in done.tests} == {"passed", "skipped"}
        assert len(done.tests) == 12
        assert done.passed, done

    def test_a_fixture_is_no_test_whatever_its_name(self, tmp_path):
        tests = f"import pytest\n@pytest.fixture\ndef test_number(): return 2\n{TESTS}\n"
        done = self.script(
            tmp_path, CODE, f"{tests}\ndef test_other(test_number):\n    assert double(test_number) == 4\n"
        )
        assert done.passed, done

    def test_another_language(self, tmp_path):
        done = self.script(tmp_path, "double() { echo $((2 * $1)); }", '. ./solution.sh\n[ "$(double 2)" = 4 ]\n',
                           language="shell")  # fmt: skip
        assert done.passed, done
        assert not self.script(tmp_path, "double() { echo 5; }", '. ./solution.sh\n[ "$(double 2)" = 4 ]\n',
                               language="shell").passed  # fmt: skip


class TestChecks:
    def check(self, folder: Path, code: str, *names: str, calls: tuple[str, ...] = (), **more: Any) -> CheckRun:
        arguments = {"version": sha256_of(code), "tools": list(names), "calls": [[call] for call in calls], **more}
        return use(folder, "checks", arguments, code)

    def test_each_tool_says_what_it_finds(self, tmp_path):
        code = (
            "import os\nimport subprocess\n\n\ndef run(words: str) -> int:\n"
            "    if words:\n        return subprocess.call(words, shell=True)\n    return 'none'\n"
        )
        done = self.check(tmp_path, code, "ruff", "mypy", "bandit", "radon")
        found = {(each.tool, each.rule) for each in done.findings}
        assert {("ruff", "F401"), ("mypy", "return-value"), ("bandit", "B602")} <= found
        assert [each.severity for each in done.findings if each.rule == "B602"] == ["high"]
        assert done.metrics.complexity == 2
        assert done.metrics.maintainability is not None
        assert (set(done.done), done.missing, done.failed) == ({"ruff", "mypy", "bandit", "radon"}, (), ())

    def test_mypy_reads_the_standard_library_once_and_says_the_same(self, tmp_path, monkeypatch):
        code = "import re\nimport textwrap\n\n\ndef first(words: str) -> int:\n    return re.split(' ', words)[0]\n"
        jobs: list[int] = []
        made = linters._job
        monkeypatch.setattr(linters, "_warm", {})
        monkeypatch.setattr(
            linters, "_job", lambda *args, **more: jobs.append(len(more.get("kept", ""))) or made(*args, **more)
        )
        first, again = (self.check(tmp_path, code, "mypy") for _ in range(2))
        assert (jobs[0], len(jobs)) == (0, 3)
        assert jobs[1] == jobs[2] > 100_000
        monkeypatch.setattr(linters, "_warm", {str(linters.installed("mypy")): ""})
        without = self.check(tmp_path, code, "mypy")
        assert [each.findings for each in (first, again)] == [without.findings] * 2
        assert [each.rule for each in without.findings] == ["return-value"]
        assert [each.done for each in (first, again, without)] == [("mypy",)] * 3

    def test_a_cache_of_mypy_that_could_not_be_made_is_tried_again(self, monkeypatch):
        monkeypatch.setattr(linters, "_warm", {})
        endings = iter([b"", b'["mypy", 0, "", ""]\n"cut of', b'["mypy", 0, "", ""]\n"whole"\n'])

        async def run(job):
            return SimpleNamespace(results=next(endings))

        warmed = [asyncio.run(linters.warm_cache(run, Limits())) for _ in range(4)]  # the last one makes no run
        assert warmed == ["", "", "whole", "whole"]

    def test_a_tool_without_a_result_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setattr("moot.tools.checks.linters.installed", lambda name: None if name == "radon" else "1")
        done = self.check(tmp_path, "def broken(:\n", "bandit", "radon", "timing")
        assert done.missing == ("radon",)
        assert {failed.partition(":")[0] for failed in done.failed} == {"bandit", "timing"}
        assert done.done == ()
        assert (done.metrics.complexity, done.metrics.time_ratio) == (None, None)

    def test_a_tool_that_hangs_is_named_and_the_others_are_heard(self, tmp_path, monkeypatch):
        monkeypatch.setattr("moot.tools.checks.linters.RADON", "while True: pass")
        monkeypatch.setattr("moot.tools.checks.linters.TOOL_SECONDS", 1.5)
        done = self.check(tmp_path, CODE, "radon", "ruff")
        assert (done.done, done.failed) == (("ruff",), ("radon: it took too long",))
        assert done.metrics.maintainability is None

    def test_timing_is_a_ratio_of_cpu_time_over_the_previous_version(self, tmp_path):
        fast, slow = (f"def double(n):\n    for _ in range({n}):\n        n += 0\n" for n in (300_000, 3_000_000))
        for code, previous, found in ((fast, slow, "less"), (slow, fast, "more"), (CODE, CODE, "")):
            arguments = {"version": sha256_of(code), "previous": sha256_of(previous), "tools": ["timing"]}
            done = use(tmp_path, "checks", {**arguments, "calls": [["double(3)"]]}, code, previous)
            ratio = done.metrics.time_ratio
            assert ("" if ratio is None else "less" if ratio < 0.5 else "more" if ratio > 2 else "alike") == found
            assert done.failed == (() if found else ("timing: the calls take too little time to be compared",))


class TestSnapshots:
    def take(self, folder: Path, *codes: str, **more: Any) -> SnapshotRun:
        versions = [
            {"message": f"Version {n}", "at": n, "files": [{"path": "solution.py", "text": sha256_of(code)}]}
            for n, code in enumerate(codes)
        ]
        return use(folder, "snapshot", {"versions": versions, **more}, *codes, TESTS)

    def test_commits_and_diffs(self, tmp_path):
        other = CODE.replace("2 * n", "n + n")
        done = self.take(tmp_path, CODE, other)
        assert "+    return 2 * n" in done.commits[0].diff
        assert "-    return 2 * n\n+    return n + n" in done.commits[1].diff
        assert "+    return n + n" in done.diff
        assert "return 2 * n" not in done.diff
        assert self.take(tmp_path / "elsewhere", CODE, other) == done
        assert list(tmp_path.iterdir()) == [tmp_path / "elsewhere"]
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_over_a_base(self, tmp_path):
        base = [{"path": "tests/test_solution.py", "text": sha256_of(TESTS)}]
        done = self.take(tmp_path, CODE, base=base)
        assert "test_solution" not in done.diff

    def test_a_path_that_leaves_the_tree_is_refused(self, tmp_path):
        versions = [{"message": "x", "files": [{"path": "../out.py", "text": sha256_of(CODE)}]}]
        with pytest.raises(ToolError, match="can't be read"):
            use(tmp_path, "snapshot", {"versions": versions}, CODE)
