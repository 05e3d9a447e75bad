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
        (of({"$ref": "file:///etc/passwd"}), "leads nowhere"),
        (of({"$ref": "#/$defs/Lost"}), "leads nowhere"),
        (of({"pattern": "(?=a)b"}), "looks around"),
        (of({"pattern": "a" * 1000}), "too long"),
        (of({"patternProperties": {"(?<!a)b": {}}}), "looks around"),
        (of({"type": "strin"}), "at properties.a.type it is not valid JSON Schema"),
        (of({}, **{"$id": "http://127.0.0.1:1/"}), "$id can't be used"),
        (of({"description": "x" * 30_000}), "20,000 are the most"),
        (of({"const": float("nan")}), "not valid JSON"),
        (of({"unevaluatedProperties": False}), "unevaluatedProperties can't be used"),
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


@pytest.mark.parametrize("others", [False, {"type": "integer"}])
def test_names_that_a_pattern_allows_are_found_in_linear_time(others):
    schema = {"type": "object", "properties": {"b": {}}, "patternProperties": {"^(a+)+$": {}}}
    schema |= {"additionalProperties": others}
    check_schema(schema)
    assert mistakes(schema, {"b": "", "aaa": "", **({} if others is False else {"c": 1})}) == []
    strange = "a" * 60 + "!"  # with an engine that tries every way, it would take years
    said = "it has names that are not asked for" if others is False else f"{strange} must be a whole number"
    assert mistakes(schema, {strange: ""}) == [said]


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        ([1, True, "1", [1], [True], {"a": 1}, {"a": True}, None, 0, False], True),
        ([1, 1.0], False),
        ([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], False),
        ([[True], [True]], False),
        ([{"n": n} for n in range(20_000)], True),
        ([{"n": n} for n in range(20_000)] + [{"n": 7}], False),
    ],
)
def test_what_occurs_twice_is_found_without_comparing_all(items, fits):
    schema = of({"type": "array", "uniqueItems": True})
    check_schema(schema)
    assert mistakes(schema, {"a": items}) == ([] if fits else ["a does not keep uniqueItems"])


def test_a_long_answer_can_t_multiply_the_work():
    schema = of({"type": "array", "items": {"anyOf": [{"const": n} for n in range(500)]}})
    check_schema(schema)
    assert mistakes(schema, {"a": [499] * 50}) == []
    assert mistakes(schema, {"a": [500] * 20_000}) == ["it can't be checked: it is too long for so large a schema"]


@pytest.mark.parametrize("number", [10**400, 1e300, 0.5])
def test_a_number_of_any_size_can_be_checked(number):
    schema = of({"type": "number", "multipleOf": 0.3})
    check_schema(schema)
    assert mistakes(schema, {"a": number}) == ["a does not keep multipleOf 0.3"]
    assert mistakes(schema, {"a": 0.9}) == []
