"""JSON schemas of others: what can't be used is refused with the reason, and no schema can make a check take long."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.json_schema import MAX_DEPTH, NotASchema, check_schema, mistakes

VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "choice": {"enum": ["redis", "postgresql"]},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "sure": {"$ref": "#/$defs/Share"},
        "more": {"type": "object", "patternProperties": {"^x": {"type": "integer"}}},
    },
    "required": ["choice", "sure"],
    "additionalProperties": False,
    "$defs": {"Share": {"type": ["number", "null"], "maximum": 1}},
}


def of(inner: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": inner}, **more}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"choice": "redis", "sure": 0.5, "code": "abc", "more": {"x": 1, "y": "z"}}, []),
        ({"choice": "redis", "sure": None}, []),
        ({"choice": "mysql", "sure": 0.5}, ['choice must be one of "redis", "postgresql"']),
        ({"choice": "redis"}, ["it lacks 'sure'"]),
        ({"choice": "redis", "sure": "much"}, ["sure must be a number or null"]),
        ({"choice": "redis", "sure": 2}, ["sure does not keep maximum 1"]),
        ({"choice": "redis", "sure": 1, "code": "A1"}, ["code must match ^[a-z]+$"]),
        ({"choice": "redis", "sure": 1, "more": {"x": "1"}}, ["more.x must be a whole number"]),
        ({"choice": "redis", "sure": 1, "z": 1}, ["it has names that are not asked for"]),
        ("redis", ["it must be an object"]),
    ],
)
def test_a_mistake_is_said_in_plain_words(value, said):
    check_schema(VERDICT)
    assert mistakes(VERDICT, value) == said


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "array"}, "must describe an object"),
        ({}, "must describe an object"),
        (of({"$ref": "http://127.0.0.1:1/schema.json"}), "leads nowhere"),
        (of({"$ref": "file:///etc/passwd"}), "leads nowhere"),
        (of({"$ref": "#/$defs/Lost"}), "leads nowhere"),
        (of({"pattern": "(?=a)b"}), "looks around"),
        (of({"pattern": "a" * 1000}), "too long"),
        (of({"patternProperties": {"(?<!a)b": {}}}), "looks around"),
        (of({"type": "strin"}), "at properties.a.type it is not valid JSON Schema"),
        (of({}, **{"$id": "http://127.0.0.1:1/"}), "$id can't be used"),
        (of({"description": "x" * 30_000}), "20,000 are the most"),
        (of({"const": float("nan")}), "not valid JSON"),
    ],
)
def test_what_can_t_be_used_is_refused_with_the_reason(schema, said):
    with pytest.raises(NotASchema) as refused:
        check_schema(schema)
    assert said in str(refused.value)


def test_a_schema_can_t_be_nested_without_end():
    deep: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 1):
        deep = of(deep)
    with pytest.raises(NotASchema, match="nested deeper"):
        check_schema(deep)


def test_references_can_t_multiply_the_work():
    """Each level is checked twice by the level above it: 2^30 checks for a value of 30 levels."""
    defs: dict[str, Any] = {"d30": {"type": "string"}}
    for n in range(30):
        inner = {"properties": {"c": {"$ref": f"#/$defs/d{n + 1}"}}}
        defs[f"d{n}"] = {"allOf": [inner, inner]}
    schema = {"type": "object", "properties": {"c": {"$ref": "#/$defs/d0"}}, "$defs": defs}
    value: Any = "end"
    for _ in range(31):
        value = {"c": value}
    check_schema(schema)
    assert mistakes(schema, value) == ["it can't be checked: its references lead too far"]


def test_a_reference_to_itself_ends():
    schema = of({"$ref": "#/$defs/Loop"}, **{"$defs": {"Loop": {"$ref": "#/$defs/Loop"}}})
    check_schema(schema)
    assert mistakes(schema, {"a": 1}) == ["it can't be checked: its references lead too far"]


def test_a_pattern_takes_linear_time():
    schema = of({"type": "string", "pattern": "^(a+)+$"})
    check_schema(schema)
    assert mistakes(schema, {"a": "a" * 100_000 + "!"})
