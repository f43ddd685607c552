"""Checks on JSON: what counts as JSON, as fitting, as equal, and how far two documents agree."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import problems_of, score

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Row

OBJECT = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}

# ── valid_json ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ('{"a": [1, null, "x"]}', True),
        (" 5 \n", True),
        ("null", True),
        ({"a": 1}, True),
        (5, True),
        ("", False),
        ("{'a': 1}", False),
        ("[1,]", False),
        ("[NaN]", False),
        ("[1] // one", False),
        ("```json\n[1]\n```", False),
        ("[" * 10_000 + "]" * 10_000, False),
        ("\ufeff[]", False),
    ],
)
def test_an_output_is_json_or_it_is_not(output, passed):
    found = score("valid_json", output)
    assert found.passed is passed
    # promptfoo/promptfoo#9824: the words of a negated check fit it
    negated = score("valid_json", output, negate=True)
    assert negated.passed is not passed
    assert "anything but JSON" in negated.reason or not passed


# ── contains_json ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ('Here: {"a": 1}. Fine?', True),
        ('```json\n{"a": 1}\n```', True),
        ("a list [1, 2] in prose", True),
        ("text {a} {not json} then {}", True),
        ('[see: {"a": 1}]', True),
        ('{"broken": {"a": 1}', True),
        ({"a": 1}, True),
        ([1], True),
        ("only 5", False),
        ('"text"', False),
        (5, False),
        (True, False),
        ("{a: 1}", False),
        ("[link](url)", False),
        ("{'a': 1}", False),
        ('{"a": NaN}', False),
        ("", False),
    ],
)
def test_json_is_found_in_prose_and_fences(output, passed):
    assert score("contains_json", output).passed is passed


def test_the_json_in_a_text_must_fit_the_schema_where_one_is_given():
    text = 'First {"b": 1}, then {"a": 2}.'
    assert score("contains_json", text, schema=OBJECT).passed
    found = score("contains_json", 'Only {"a": "x"}', schema=OBJECT)
    assert "at a: 'x' is not of type 'integer'" in found.reason
    # promptfoo/promptfoo#8069: negated with a schema, fitting JSON fails
    assert score("contains_json", text, schema=OBJECT, negate=True).passed is False
    assert score("contains_json", '{"b": 1}', schema=OBJECT, negate=True).passed


@pytest.mark.parametrize(
    "text",
    ["[" * 300_000, "{" * 300_000, '{"' * 200_000, "[1," * 100_000, '{"a":' * 100_000,
     "[ " * 200_000,
     ("[1," * 900 + "x ") * 100, "[" + "1," * 300_000, "[" * 10_000 + "]" * 10_000],
    ids=["lists", "objects", "keys", "items", "deep", "blanks", "again", "unclosed", "closed"],
)  # fmt: skip
def test_a_hostile_text_is_searched_in_bounded_time(text):
    began = time.process_time()
    assert score("contains_json", text).status == "scored"
    assert time.process_time() - began < 5


def test_many_brackets_do_not_hide_the_json_behind_them():
    code = 'if (x) { y(); } else { z["k"] = 1; }\n' * 5_000
    assert score("contains_json", code + '{"a": 2}', schema=OBJECT).passed


# ── json_schema ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("schema", "output", "passed"),
    [
        (OBJECT, '{"a": 1}', True),
        (OBJECT, {"a": 1.0}, True),
        (OBJECT, '{"a": true}', False),
        (OBJECT, '{"a": "1"}', False),
        (OBJECT, "[]", False),
        ({"const": 1}, "true", False),
        ({"enum": [0]}, "false", False),
        ({"uniqueItems": True}, "[1, true]", True),
        (True, "5", True),
        (False, "5", False),
        ({"prefixItems": [{"type": "string"}]}, '["a", 1]', True),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
         "[1]", False),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, "null", True),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": 5}', False),
        ({"properties": {"$ref": {"type": "string"}}}, '{"$ref": 5}', False),
        ({"format": "ipv4"}, '"no address"', True),
    ],
)  # fmt: skip
def test_an_output_fits_a_schema_or_it_does_not(schema, output, passed):
    assert score("json_schema", output, schema=schema).passed is passed


def test_formats_are_checked_when_asked_for():
    assert score("json_schema", '"no address"', schema={"format": "ipv4"}, formats=True).passed is (
        False
    )


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2032-02-29", "2031-02-29"),
        ("date-time", "2031-07-04T12:00:00Z", "2031-07-04"),
        ("email", "ana@example.org", "ana"),
        ("uuid", "12345678-1234-1234-1234-123456789abc", "1234"),
        ("uri", "https://example.org/a", "a b"),
        ("hostname", "example.org", "-a-"),
        ("json-pointer", "/a/0", "a"),
        ("regex", "a+", "("),
        ("somebody's own", "a", None),
    ],
)
def test_a_format_is_checked_or_the_row_is_blocked(name, good, bad):
    pytest.importorskip("rfc3339_validator")
    options = {"schema": {"items": {"format": name}}, "formats": True}
    assert score("json_schema", [good], **options).passed
    if bad is not None:
        found = score("json_schema", [bad], **options)
        assert found.passed is False
        assert f"at [0]: {bad!r} is not a {name!r}" in found.reason


def test_a_format_whose_package_is_missing_is_not_taken_as_fitting(monkeypatch):
    monkeypatch.setattr("pytest_evalcheck.checks.json_schemas.find_spec", lambda _name: None)
    schema = {"properties": {"at": {"format": "date-time"}}}
    found = score("json_schema", {"at": "noon"}, schema=schema, formats=True)
    assert (found.status, found.code) == ("blocked", "dependency_missing")
    assert "the format date-time are not installed" in found.reason
    assert "pip install 'pytest-evalcheck[json]'" in found.reason
    assert score("json_schema", {"at": "noon"}, schema=schema).passed


@pytest.mark.parametrize(
    ("number", "divisor", "passed"),
    [
        (19.99, 0.01, True),
        (0.3, 0.1, True),
        (0.35, 0.1, False),
        (4.5, 1.5, True),
        (7, 2, False),
        (12_391_239_123, 1e-8, True),
        (1e308, 0.123456789, False),
        (10**400, 10, True),
    ],
)
def test_a_multiple_is_one_in_decimal_arithmetic(number, divisor, passed):
    assert score("json_schema", number, schema={"multipleOf": divisor}).passed is passed


def test_no_number_is_a_multiple_where_it_has_no_end():
    assert score("json_schema", "[1e999]", schema={"items": {"multipleOf": 0.5}}).passed is False


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ([1, True, "1", None, [1], {"a": 1}], True),
        ([0, False], True),
        ([[0], [False]], True),
        ([1, 1.0], False),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ([[1, 2], [2, 1]], True),
    ],
)
def test_members_of_a_list_are_unique_by_typed_equality(output, passed):
    assert score("json_schema", output, schema={"uniqueItems": True}).passed is passed


def test_a_long_list_is_searched_for_repeats_in_little_time():
    began = time.process_time()
    members = [{"id": n, "tags": ["a"]} for n in range(20_000)]
    assert score("json_schema", members, schema={"uniqueItems": True}).passed
    again = score("json_schema", [*members, members[7]], schema={"uniqueItems": True})
    assert "[7] and [20000] are equal" in again.reason
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "text", "passed"),
    [
        ("^[a-z]+$", "abc", True),
        ("^[a-z]+$", "abc\n", False),
        (r"^\d+$", "42", True),
        (r"^\d+$", "\u0664\u0662", False),
        (r"^[\d-]+$", "4-2", True),
        (r"^\w+$", "caf\u00e9", False),
        (r"^\W$", "\u00e9", True),
        (r"^\p{L}+$", "caf\u00e9", True),
        (r"^a\$$", "a$", True),
        ("^[$]$", "$", True),
        ("b", "abc", True),
    ],
)
def test_a_pattern_of_a_schema_means_what_ecmascript_says(pattern, text, passed):
    assert score("json_schema", json.dumps(text), schema={"pattern": pattern}).passed is passed
    schema = {"patternProperties": {pattern: False}}
    assert score("json_schema", {text: 1}, schema=schema).passed is not passed
    schema = {"additionalProperties": False, "patternProperties": {pattern: {}}}
    assert score("json_schema", {text: 1}, schema=schema).passed is passed


def test_what_a_schema_does_not_allow_is_named():
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    found = score("json_schema", {"a": 1, "c": 1, "b": 1}, schema=schema)
    assert "at the top: 'b', 'c' is not among the properties allowed" in found.reason
    typed = {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    assert score("json_schema", {"a": "x", "b": 1}, schema=typed).passed
    assert "at b: 'y' is not" in score("json_schema", {"b": "y"}, schema=typed).reason


def test_the_fault_inside_the_alternative_that_was_meant_is_named():
    street = {"type": "object", "properties": {"street": {"type": "string"}}}
    for alternatives in ([street, {"type": "null"}], [{"type": "null"}, street]):
        schema = {"properties": {"home": {"anyOf": alternatives}}}
        found = score("json_schema", {"home": {"street": 5}}, schema=schema)
        assert "at home.street: 5 is not of type 'string'" in found.reason
    kinds = [
        {"properties": {"kind": {"const": kind}, "n": {"type": rule}}}
        for kind, rule in (("a", "string"), ("b", "integer"))
    ]
    found = score("json_schema", {"kind": "b", "n": "x"}, schema={"oneOf": kinds})
    assert "at n: 'x' is not of type 'integer'" in found.reason
    found = score("json_schema", [], schema={"anyOf": [{"type": "string"}, {"type": "null"}]})
    assert "at the top: [] is not valid under any of the given schemas" in found.reason


def test_an_output_that_is_no_json_fails_under_negate_too():
    for negate in (False, True):
        found = score("json_schema", "no json", schema=OBJECT, negate=negate)
        assert (found.passed, found.code) == (False, "path_unresolved")


def test_the_fault_nearest_the_root_is_named_whatever_the_order():
    output = {"z": 1, "b": [{"c": 1}, {"c": "x"}], "a": "y"}
    number, text = {"type": "number"}, {"type": "string"}
    rules = {"b": {"items": {"properties": {"c": text}}}, "z": text, "a": number}
    for names in (["a", "b", "z"], ["z", "b", "a"]):
        schema = {"properties": {name: rules[name] for name in names}}
        assert (
            "at a: 'y' is not of type 'number'"
            in score("json_schema", output, schema=schema).reason
        )
    deep = {"items": {"type": "number"}}
    assert "at [2]: " in score("json_schema", [1, 2, "c"] + ["x"] * 10, schema=deep).reason


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "0 schemas"),
        ({"schema": {}, "schema_file": "x.json"}, "2 schemas"),
        ({"schema": {"type": "strin"}}, "schema: schema: the schema is not valid at type"),
        ({"schema": {"minLength": -1}}, "not valid at minLength"),
        ({"schema": {"pattern": "("}}, "not valid at pattern"),
        ({"schema": {"$schema": "http://example.com/mine"}}, "no draft that is known"),
        ({"schema": {"$ref": "#/$defs/none"}}, "'#/$defs/none' leads to nothing"),
        ({"schema": {"items": {"$ref": "http://example.com/x.json"}}}, "nothing is fetched"),
        ({"schema": {"$dynamicRef": "http://example.com/y.json"}}, "nothing is fetched"),
        ({"schema": {"$schema": 5}}, "$schema 5 is no draft that is known"),
        ({"schema": "x"}, "a mapping, or true or false"),
    ],
)
def test_a_miswritten_schema_is_told_when_loading(options, said):
    assert said in "\n".join(problems_of("json_schema", **options))


def test_a_schema_file_lies_beside_the_suite(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(OBJECT), encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    check = compile_check({"check": "json_schema", "schema_file": "s.json"}, base_dir=tmp_path)
    assert check.score(Row(output='{"a": 1}')).passed
    for name, said in (("none.json", "cannot be read"), ("bad.json", "holds no JSON")):
        with pytest.raises(ConfigError, match=said):
            compile_check({"check": "json_schema", "schema_file": name}, base_dir=tmp_path)
    assert "there is none" in problems_of("json_schema", schema_file="s.json")[0]


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 40 + "b"),
        ({"patternProperties": {"^(a+)+$": {}}}, {"a" * 40 + "b": 1}),
        (
            {"additionalProperties": False, "patternProperties": {"^(a+)+$": {}}},
            {"a" * 40 + "b": 1},
        ),
        ({"patternProperties": {"(x+x+)+y": {}}}, {"x" * 40: 1}),
        (
            {"additionalProperties": False, "patternProperties": {"(x+x+)+y": {}}},
            {"x" * 40: 1},
        ),
    ],
)
def test_a_pattern_of_a_schema_cannot_hang_a_run(schema, output):
    began = time.process_time()
    value = json.dumps(output)
    found = score("json_schema", value, schema=schema)
    assert time.process_time() - began < 5
    assert (found.status, found.code) in (("error", "timeout"), ("scored", None))


def test_a_deep_output_is_no_crash():
    schema = {"$defs": {"l": {"items": {"$ref": "#/$defs/l"}}}, "$ref": "#/$defs/l"}
    deep = 1
    for _ in range(3000):
        deep = [deep]
    assert "nested too deep" in score("json_schema", deep, schema=schema).reason


def test_without_jsonschema_a_row_is_blocked_with_the_command():
    program = (
        "import sys; sys.modules['jsonschema'] = None\n"
        "from pytest_evalcheck import score\n"
        "for check in ('json_schema', 'contains_json'):\n"
        "    found = score({'check': check, 'schema': {}}, {'output': '{}'})\n"
        "    print(found.status, found.reason)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    line = "blocked dependency_missing: jsonschema is not installed. Run: "
    assert ran.stdout.splitlines() == [line + "pip install 'pytest-evalcheck[json]'"] * 2


# ── json_path_equals ──────────────────────────────────────────────────────────────────

ORDER = '{"total": 5.0, "paid": true, "note": null, "lines": [{"n": 1}, {"n": 2}], "a.b": "x"}'


@pytest.mark.parametrize(
    ("path", "expected", "passed"),
    [
        ("total", 5, True),
        ("total", "5", False),
        ("paid", 1, False),
        ("paid", True, True),
        ("note", None, True),
        ("gone", None, False),
        ("lines[0]", {"n": 1}, True),
        ("lines.1.n", 2, True),
        ("$.lines[*].n", [1, 2], True),
        ("$.lines[*].n", [2, 1], False),
        ("$.lines[*].n", 1, False),
        ("$.lines[?@.n == 2].n", 2, True),
        ("['a.b']", "x", True),
        ("a.b", "x", False),
    ],
)
def test_the_value_at_a_path_is_compared_typed(path, expected, passed):
    found = score("json_path_equals", ORDER, json_path=path, expected=expected)
    assert found.passed is passed, found.reason


def test_what_is_not_there_is_told_from_null_and_from_several():
    gone = score("json_path_equals", ORDER, json_path="gone", expected=None, negate=True)
    assert (gone.passed, gone.code) == (False, "path_unresolved")
    several = score("json_path_equals", ORDER, json_path="lines[*].n", expected=1)
    assert "2 values at lines[*].n: [1,2]" in several.reason
    assert score("json_path_equals", ORDER, json_path="total", expected="5").reason == (
        "found 5.0 (number), expected '5'"
    )


def test_the_value_at_a_path_may_be_held_against_the_row():
    options = {"json_path": "total", "compare_to": "expected"}
    assert score("json_path_equals", ORDER, 5, **options).passed
    assert score("json_path_equals", ORDER, None, **options).code == "missing_expected"
    assert score("json_path_equals", "no json", 5, **options).code == "path_unresolved"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"json_path": "a["}, "json_path: "),
        ({"json_path": "$.a[01]", "expected": 1}, "is not one"),
        ({"json_path": "a"}, "nothing to compare with"),
        ({"expected": 1}, "lacks 'json_path'"),
    ],
)
def test_a_miswritten_path_is_told_when_loading(options, said):
    assert said in "\n".join(problems_of("json_path_equals", **options))


# ── json_diff ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "expected", "options", "value"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {}, 1),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {}, 1 / 2),
        ({"a": 1}, {"a": 1, "b": 2}, {}, 1 / 2),
        ({"a": None}, {}, {}, 0),
        ({"a": True}, {"a": 1}, {}, 0),
        ('{"a": [1, 2, 3]}', '{"a": [1, 2, 4]}', {}, 2 / 3),
        ([1, 2], [2, 1], {}, 0),
        ({"0": 1}, [1], {}, 0),
        (["skip", "same"], ["skip", "same"], {}, 1),  # braintrustdata/autoevals#210
        (["x", "same"], ["skip", "same"], {}, 1 / 2),
        ({"a": "x", "b": "same"}, {"a": "skip", "b": "same"}, {}, 1 / 2),
        ([], [], {}, 1),  # Agenta-AI/agenta#1942: no keys counted
        ({}, {}, {}, 1),
        ([], {}, {}, 0),
        ("null", {"amount": 100}, {}, 0),  # braintrustdata/autoevals#220
        ({"a": 1.1}, {"a": 1.0}, {"numeric_tolerance": 0.1}, 1),
        ({"a": 1.11}, {"a": 1.0}, {"numeric_tolerance": 0.1}, 0),
        ({"a": "1"}, {"a": 1}, {"numeric_tolerance": 1}, 0),
        ("[1e999]", "[1e999]", {"numeric_tolerance": 1}, 1),
        ({"id": 1, "b": 2}, {"id": 9, "b": 2}, {"ignore_paths": ["id"]}, 1),
        ({"l": [{"id": 1, "n": 1}]}, {"l": [{"id": 2, "n": 1}]}, {"ignore_paths": ["l.*.id"]}, 1),
        ({"l": [{"i": 1, "n": 1}]}, {"l": [{"i": 2, "n": 1}]}, {"ignore_paths": ["$.l[*].i"]}, 1),
        ({"l": [{"id": 1}, 2]}, {"l": [{"id": 2}, 2]}, {"ignore_paths": ["l[0]"]}, 1),
        ({"l": [1, 2]}, {"l": [9, 2]}, {"ignore_paths": ["l.0"]}, 1),
        ({"a.b": 1, "c": 1}, {"a.b": 2, "c": 1}, {"ignore_paths": ["['a.b']"]}, 1),
        ({"meta": {"x": 1}, "c": 1}, {"meta": {"y": 2}, "c": 1}, {"ignore_paths": ["meta"]}, 1),
    ],
)  # fmt: skip
def test_the_score_is_the_share_of_leaves_that_agree(output, expected, options, value):
    found = score("json_diff", output, expected, **options)
    assert found.value == pytest.approx(value), found.reason
    assert found.passed is (value == 1)


def test_the_differing_places_are_listed():
    found = score("json_diff", {"a": [1, {"b": 2}], "x": 1}, {"a": [1, {"b": 3}], "y": None})
    assert found.reason == (
        "found a[1].b is 2, not 3; x is 1, not nothing; y is nothing, not null, expected no "
        "difference (score 0.25, threshold 1)"
    )
    assert found.details["differing"] == ["a[1].b", "x", "y"]
    assert score("json_diff", {"a": 1}, {"a": 1, "b": 1}, threshold=0.5).passed


def test_no_expected_json_is_no_failure():
    assert score("json_diff", {"a": 1}, None).code == "missing_expected"
    assert score("json_diff", {"a": 1}, "n/a").code == "expected_unusable"
    assert score("json_diff", "n/a", {"a": 1}).code == "path_unresolved"


@pytest.mark.parametrize("path", ["$", "*", "a"])
def test_documents_of_which_all_is_ignored_have_no_score(path):
    found = score("json_diff", {"a": 1}, {"a": 2}, ignore_paths=[path])
    assert (found.status, found.code) == ("non_evaluable", "not_applicable")
    assert "ignore_paths leaves nothing to compare" in found.reason


@pytest.mark.parametrize("path", ["l[", "l[1:2]", "$..id", "l[?@.a]", "a."])
def test_an_ignored_path_that_names_no_places_is_told_when_loading(path):
    problem = problems_of("json_diff", ignore_paths=["fine", path])[0]
    assert problem.startswith("ignore_paths: ")
    assert repr(path) in problem


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "0", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["0", "1", "a", "a.b"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(output=VALUES, expected=VALUES)
def test_documents_agree_wholly_just_when_they_are_equal(output, expected):
    from pytest_evalcheck.jsonvalues import json_equal

    found = score("json_diff", json.dumps(output), expected)
    if expected is None:
        assert found.status == "non_evaluable"
        return
    if isinstance(expected, str):
        return  # an expected text is JSON text
    assert (found.value == 1) is json_equal(output, expected)
    back = score("json_diff", json.dumps(expected), [output])
    assert 0 <= back.value <= 1
