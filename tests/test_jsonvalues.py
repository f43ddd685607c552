"""JSON is RFC 8259, equality is typed, and no text makes the reader crash."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.jsonvalues import JsonTextError, json_equal, json_text, kind_name, parse_json
from shared_data import shared

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "[Infinity]",
        "-Infinity",
        "[1,]",
        '{"a":1,}',
        "{'a': 1}",
        "[1] // no",
        "\ufeff[]",
        "01",
        "[1] [2]",
        "nul",
        '"\t"',
    ],
)
def test_what_is_not_rfc_8259_is_refused(text):
    with pytest.raises(JsonTextError):
        parse_json(text)


def test_an_error_says_what_line_and_column():
    with pytest.raises(JsonTextError) as caught:
        parse_json('{\n  "a": 1,\n  "b": NaN\n}')
    assert (caught.value.line, caught.value.column) == (3, 8)
    assert "NaN is not a JSON value" in str(caught.value)


def test_a_key_that_stands_twice_is_refused_when_asked_for():
    text = '{"a": 1, "b": {"k": 1, "k": 2}}'
    assert parse_json(text) == {"a": 1, "b": {"k": 2}}
    with pytest.raises(JsonTextError, match="the key 'k' stands twice in one object"):
        parse_json(text, duplicates="refuse")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 50_000, "9" * 10_000],
    ids=["opened", "closed", "objects", "digits"],
)
def test_what_is_too_deep_or_too_long_is_refused_not_a_crash(text):
    with pytest.raises(JsonTextError):
        parse_json(text)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (True, 1, False), (False, 0, False), ("5", 5, False), (5, 5.0, True), (-0.0, 0, True),
        (None, False, False), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ([1, 2], [2, 1], False),
        ({"ok": True}, {"ok": 1}, False), ([], {}, False), (float("nan"), float("nan"), False),
        ("é", "e\u0301", False),
    ],
)  # fmt: skip
def test_equality_is_typed(first, second, same):
    assert json_equal(first, second) is same


@given(VALUES)
def test_every_value_equals_itself_through_its_text(value):
    assert json_equal(parse_json(json.dumps(value)), value)


@given(st.text())
def test_no_text_makes_the_reader_raise_anything_else(text):
    try:
        parse_json(text, duplicates="refuse")
    except JsonTextError as error:
        line = error.line
    else:
        line = 1
    assert line >= 1


def test_text_stays_as_it_is_and_values_are_compact():
    assert json_text("as is") == "as is"
    assert json_text({"a": [1, None, True]}) == '{"a":[1,null,true]}'


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "null"),
        (True, "true/false"),
        (1.5, "number"),
        ("", "text"),
        ([], "list"),
        ({}, "object"),
    ],
)
def test_kinds_have_one_word_each(value, word):
    assert kind_name(value) == word


def test_the_shared_parsing_suite_holds():
    lines = shared("cases", "json-parsing.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) == 291
    wrong = [case["id"] for case in cases if case["want"] not in ("either", verdict(case["text"]))]
    assert wrong == []


def verdict(text):
    try:
        parse_json(text)
    except JsonTextError:
        return "invalid"
    return "valid"
