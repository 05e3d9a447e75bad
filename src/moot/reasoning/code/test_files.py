"""Reads test files that people have: lines with cases, or functions for pytest. Nothing is run."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Collection, Iterator, Sequence

from moot.reasoning.code.cases import Case
from moot.reasoning.code.written import case_of

SOLUTION = "solution"  # the module that holds the code under test

_TEST_PATH = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|/)tests?/")
_TEST_SETTINGS = ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")
_CHECKS = {"raises", "warns", "fail", "testmod", "testfile", "exit", "_exit"}  # that can fail a test when called
_SKIPS = {"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"}  # of pytest and unittest
_ASSERTING = re.compile(r"\b(?:assert|expect|throw|fail|should|exit)\b|\bt\.(?:is|deepEqual)\b", re.IGNORECASE)


def is_test_path(path: str) -> bool:
    """Whether a file of a repository belongs to its tests, or says how they are run."""
    return _TEST_PATH.search(path) is not None or path in _TEST_SETTINGS


def has_tests(text: str) -> bool:
    """Whether a Python file has functions or methods that are tests."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(node.name.startswith("test") for node in functions)


def marked_skips(text: str) -> frozenset[str]:
    """The tests of a Python file that it marks as skipped or as failing, named `test_it` or `TestIt::test_it`: by a
    decorator, a parameter, that of a class around it, or `pytestmark`, all of them under no condition or one that reads
    the standard library alone. Any other skip is one that the code under test can have brought about."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(_Markers(tree).tests(tree.body))


class _Markers:
    """What stands for a skip in a file, by what it imports and defines."""

    def __init__(self, tree: ast.Module) -> None:
        self._modules: dict[str, str] = {}  # names of modules, or of what is in them, and the modules
        self._named: dict[str, list[bool]] = {}  # markers that have a name
        for node in _statements(tree.body):
            match node:
                case ast.Import(names=names):
                    self._modules |= {each.asname or each.name.partition(".")[0]: each.name for each in names}
                case ast.ImportFrom(module=module, names=names):
                    self._modules |= {each.asname or each.name: module or "" for each in names}
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._named[name] = [*self._named.get(name, []), *self._markers(value)]
                case _:
                    pass

    def tests(self, body: Sequence[ast.stmt], path: str = "", around: Sequence[bool] = ()) -> Iterator[str]:
        """The tests in a file or a class, under the markers that stand `around` it."""
        nodes = list(_statements(body))
        here = [*around, *(mark for node in nodes for mark in self._of_all(node))]
        for node in nodes:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    markers = [*here, *self._on(node)]
                    if markers and all(markers):
                        yield path + name
                case ast.ClassDef(name=name):
                    yield from self.tests(node.body, f"{path}{name}::", [*here, *self._on(node)])
                case _:
                    pass

    def _of_all(self, node: ast.stmt) -> list[bool]:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                return self._markers(value)
            case _:
                return []

    def _on(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[bool]:
        return [mark for each in node.decorator_list for mark in self._markers(each)]

    def _markers(self, node: ast.expr) -> list[bool]:
        """The markers in an expression, each with whether it stands under no condition that the code can change."""
        match node:
            case ast.List(elts=each) | ast.Tuple(elts=each):
                return [mark for one in each for mark in self._markers(one)]
            case ast.Name(id=name) if name in self._named:
                return self._named[name]
            case ast.Call(func=marker, args=args, keywords=keywords) if self._is_marker(marker):
                return [all(map(self._is_standard, [*args, *(each.value for each in keywords)]))]
            case ast.Call(args=args, keywords=keywords):  # parametrize, with marks of its parameters
                return [mark for each in [*args, *(each.value for each in keywords)] for mark in self._markers(each)]
            case _:
                return [True] if self._is_marker(node) else []

    def _is_marker(self, node: ast.expr) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        root = next((each.id for each in ast.walk(node) if isinstance(each, ast.Name)), "")
        return name in _SKIPS and self._modules.get(root, "").partition(".")[0] in ("pytest", "unittest")

    def _is_standard(self, node: ast.expr) -> bool:
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return all(
            self._modules[name].partition(".")[0] in sys.stdlib_module_names
            if name in self._modules
            else hasattr(builtins, name)
            for name in names
        )


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, with those below an `if` or a `try`, and without those of functions and classes."""
    for node in body:
        yield node
        match node:
            case ast.If(body=inside, orelse=otherwise) | ast.Try(body=inside, orelse=otherwise):
                yield from _statements([*inside, *otherwise])
            case ast.With(body=inside):
                yield from _statements(inside)
            case _:
                pass


def modules_of(paths: Collection[str]) -> set[str]:
    """The names by which tests import the files of a repository."""
    return {path.partition("/")[0].removesuffix(".py") for path in paths if not is_test_path(path)}


def cases_of(text: str) -> tuple[Case, ...] | None:
    """The tests of a file as cases; None if one of them can't be put so, and the file has to be run as it is."""
    lines = [line for line in text.splitlines() if line.strip() and not _is_comment(line)]
    found = [case_of(line) for line in lines]
    listed = [case for case in found if case is not None and not case.problem]
    if listed and len(listed) == len(lines):
        return tuple(listed)
    try:
        tree = ast.parse(text)
        cases = [case for node in tree.body for case in _of_node(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tuple(cases) if cases and not any(case.problem for case in cases) else None


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def line_at_fault(text: str) -> int | None:
    """The number of the first line that makes a file neither a list of cases nor a test file in Python, if there is
    one."""
    listed = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not _is_comment(line)]
    other = next((n for n, line in listed if case_of(line) is None), None)
    is_list = bool(listed) and case_of(listed[0][1]) is not None
    try:
        calls_alone = all(isinstance(node, ast.Expr) for node in ast.parse(text).body)
    except SyntaxError as wrong:
        last = max(1, len(text.splitlines()))
        return other if is_list else min(wrong.lineno or 1, last)
    except (ValueError, RecursionError, MemoryError):
        return other
    return other if calls_alone else None


def flaw_of(text: str, language: str, modules: Collection[str] = (SOLUTION,)) -> str:
    """Why a test file can't tell right code from wrong code; empty if it may. Every version would pass one that asserts
    nothing. `modules`: those that hold the code, of which it must name one."""
    try:
        tree = ast.parse(text) if language == "python" else None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
        return f"it can't be read as Python ({type(wrong).__name__}: {getattr(wrong, 'msg', None) or wrong})"
    if not any(module in text for module in modules):
        return f"it never uses the code, which it must import from {' or '.join(map(repr, sorted(modules)))}"
    asserts = _ASSERTING.search(text) is not None if tree is None else any(map(_asserts, ast.walk(tree)))
    return "" if asserts else "it asserts nothing, so that every version would pass it"


def flaw_in_repository(text: str) -> str:
    """As `flaw_of`, of a file that is added to the tests of a repository: it may assert by calling what the repository
    has, so only one whose tests do nothing is refused."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
        return f"it can't be read as Python ({type(wrong).__name__}: {getattr(wrong, 'msg', None) or wrong})"
    if not has_tests(text):
        return "it has no function whose name begins with test, so that pytest finds nothing in it"
    if any(map(_asserts, ast.walk(tree))) or any(map(_calls_other_code, ast.walk(tree))):
        return ""
    return "it asserts nothing, so that every version would pass it"


def _calls_other_code(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return not hasattr(builtins, name)
        case ast.Call():
            return True
        case _:
            return False


def uses_code(case: Case, task: str = "") -> bool:
    """Whether what a case calls can depend on the code: it has a name that neither it nor Python defines. A name of
    Python's own that the task mentions may be that of the code."""
    try:
        nodes = [node for statement in case.call for node in ast.walk(ast.parse(statement))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # it may be in another language
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    mentioned = set(re.findall(r"\w+", task))
    return any(not hasattr(builtins, name) or name in mentioned for name in names - own)


def _asserts(node: ast.AST) -> bool:
    match node:
        case ast.Assert():
            return any(isinstance(each, ast.Name) for each in ast.walk(node.test))
        case ast.Raise():
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.lower().startswith("assert") or name in _CHECKS
        case _:
            return False


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "//"))


def _of_node(node: ast.stmt) -> Iterator[Case]:
    """The cases of a statement of the file. Raises ValueError for what is no plain test."""
    match node:
        case ast.ImportFrom(module="solution", names=names) if any(each.asname for each in names):
            raise ValueError("cases know the names of the code only")
        case ast.ImportFrom(module="solution", names=names) if any(_is_exception(each.name) for each in names):
            raise ValueError("in a case, the name of a built-in exception means that one")
        case ast.ImportFrom(module="solution") | ast.Expr(value=ast.Constant()):
            return
        case ast.Import(names=[ast.alias(name="pytest")]):
            return
        case ast.FunctionDef(decorator_list=[]) if node.name.startswith("test") and not ast.unparse(node.args):
            yield from _of_body(node.body)
        case ast.Assert():
            yield _of_assert(node, ())
        case _:
            raise ValueError("it is no plain test")


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def _of_body(body: Sequence[ast.stmt]) -> Iterator[Case]:
    before: list[str] = []  # statements on which the tests below them build
    asserted = [node.test for node in body if isinstance(node, ast.Assert)]
    called = [ast.unparse(test.left) for test in asserted if isinstance(test, ast.Compare)]
    has_state = len(set(called)) < len(called)  # why else would the same be called twice
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.Assign() | ast.Expr():
                before.append(ast.unparse(node))
            case ast.Assert():
                found = _of_assert(node, tuple(before))
                yield found
                before += found.call[-1:] if before or has_state else ()
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as raises)], body=[ast.Expr() as called]):
                yield Case(call=(*before, ast.unparse(called)), raises=_raised(raises))
            case _:
                raise ValueError("it is no plain test")


def _of_assert(node: ast.Assert, before: tuple[str, ...]) -> Case:
    match node.test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return Case(call=(*before, ast.unparse(left)), expected=ast.unparse(right))
        case _:
            raise ValueError("it does not say which value is expected")


def _raised(call: ast.Call) -> str:
    match call:
        case ast.Call(func=ast.Attribute(attr="raises"), args=[ast.Name(id=name)], keywords=[]):
            return name
        case _:
            raise ValueError("it is no pytest.raises with one exception")
