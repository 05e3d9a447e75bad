"""Makes mutants of Python code: copies with one small mistake each. Runs inside the sandbox, as it parses the code.

Input: JSON with `code` and `most`. Results: JSON, a list of what was changed and the changed code.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, cast

RESULTS = 3
Change = tuple[int, str, Callable[[], None], Callable[[], None]]  # line, what it does, do it, undo it

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def mutants(code: str) -> Iterator[tuple[int, str, str]]:
    """Line, what is changed, and the code with that change, one after the other. Raises SyntaxError."""
    tree = ast.parse(code)
    before = ast.unparse(tree)
    for line, what, do, undo in changes(tree):
        do()
        after = ast.unparse(tree)
        undo()
        if after != before:
            yield line, what, after


def changes(tree: ast.AST) -> Iterator[Change]:
    for node in walk(tree):
        yield from of_expression(node)
        yield from of_statement(node)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations, decorators and docstrings, which decide nothing."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        children = cast("list[Any]", value if isinstance(value, list) else [value])
        for child in children:
            if isinstance(child, ast.AST) and not is_docstring(child):
                yield from walk(child)


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def setting(node: Any, name: str, value: Any, what: str) -> Change:
    old = getattr(node, name)
    return getattr(node, "lineno", 0), what, lambda: setattr(node, name, value), lambda: setattr(node, name, old)


def of_expression(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            other = [*node.ops]
            other[number] = COMPARISONS[type(operator)]()
            yield setting(node, "ops", other, f"{type(operator).__name__} becomes {type(other[number]).__name__}")
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        other_op = OPERATORS[type(node.op)]
        yield setting(node, "op", other_op(), f"{type(node.op).__name__} becomes {other_op.__name__}")
    elif isinstance(node, ast.BoolOp):
        other_bool = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield setting(node, "op", other_bool, f"{type(node.op).__name__} becomes {type(other_bool).__name__}")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield setting(node, "op", ast.UAdd(), "the sign is dropped")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield setting(node, "operand", ast.UnaryOp(op=ast.Not(), operand=node.operand), "not is dropped")
    elif isinstance(node, ast.IfExp):
        yield setting(node, "test", ast.UnaryOp(op=ast.Not(), operand=node.test), "the condition is negated")
    elif isinstance(node, ast.Constant):
        yield from of_constant(node)
    if isinstance(node, ast.comprehension) and node.ifs:
        yield setting(node, "ifs", [], "the filter is dropped")


def of_constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield setting(node, "value", not value, f"{value} becomes {not value}")
    elif isinstance(value, int | float):
        yield setting(node, "value", value + 1, f"{value} becomes {value + 1}")
    elif isinstance(value, str):
        other = "" if value else "x"
        yield setting(node, "value", other, f"{value[:20]!r} becomes {other!r}")


def of_statement(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.If | ast.While):
        yield setting(node, "test", ast.UnaryOp(op=ast.Not(), operand=node.test), "the condition is negated")
    elif isinstance(node, ast.Return) and node.value is not None:
        yield setting(node, "value", ast.Constant(value=None), "nothing is returned")
    for name in ("body", "orelse", "finalbody"):
        block: list[Any] = getattr(node, name, None) or []
        if not isinstance(block, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            continue  # the body of a lambda or a conditional expression
        for number, statement in enumerate(block):
            if isinstance(statement, ast.Break | ast.Continue | ast.Assign | ast.AugAssign | ast.Expr):
                if is_docstring(statement):
                    continue
                other: list[Any] = [*block[:number], ast.Pass(), *block[number + 1 :]]
                line, what, do, undo = setting(node, name, other, "the statement is dropped")
                yield statement.lineno or line, what, do, undo


def spread(items: list[Any], most: int) -> list[Any]:
    """At most so many of the items, from all over."""
    return items if len(items) <= most else [items[number * len(items) // most] for number in range(most)]


def main() -> None:
    with open(0, "rb", closefd=False) as request:
        given = json.load(request)
    try:
        made = sorted(mutants(given["code"]), key=lambda each: each[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        os.write(RESULTS, json.dumps({"problem": f"{type(error).__name__}: {error}"}).encode())
        return
    with open(RESULTS, "wb", closefd=False) as results:
        found = [(f"line {line}: {what}", code) for line, what, code in spread(made, given["most"])]
        results.write(json.dumps({"made": len(made), "mutants": found}).encode())


if __name__ == "__main__":
    main()
