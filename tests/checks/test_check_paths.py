"""Paths: the dotted dialect, and RFC 9535 wherever a path begins with `$`."""

from __future__ import annotations

import copy
import json

import pytest

from pytest_evalcheck.checks.paths import compile_path, compile_place
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.jsonvalues import json_equal
from shared_data import shared

DOCUMENT = {
    "order": {"total": 12.5, "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": None}]},
    "a.b": {"c d": True},
    "0": "zero",
    "it's": "quoted",
    "line\nbreak": "escaped",
    "☺": "smile",
}

# Differences from the RFC that the documentation of the dialect names.
OURS = {"basic, name shorthand, number": "`$.1` is the index or key 1"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("order.total", [12.5], id="dots walk objects"),
        pytest.param("order.lines.1.sku", ["b"], id="digits are an index on a list"),
        pytest.param("0", ["zero"], id="digits are a key on an object"),
        pytest.param("$.order.lines[0].sku", ["a"], id="a dollar may lead"),
        pytest.param("$.order.lines.0.sku", ["a"], id="digits after a dollar"),
        pytest.param("['a.b']['c d']", [True], id="quoted names may hold dots and spaces"),
        pytest.param("order.lines[-1].n", [None], id="a null is found"),
        pytest.param("order.lines[2].n", [], id="past the end is nothing"),
        pytest.param("order.lines[*].sku", ["a", "b"], id="a wildcard gives all"),
        pytest.param("order.lines[::-1].sku", ["b", "a"], id="a slice, backwards"),
        pytest.param("order.lines[?@.n == 1].sku", ["a"], id="a filter without a dollar"),
        pytest.param("$..sku", ["a", "b"], id="descendants"),
        pytest.param('$["line\\nbreak"]', ["escaped"], id="an escape in a quoted name"),
        pytest.param('["it\'s"]', ["quoted"], id="the other quote"),
        pytest.param("☺", ["smile"], id="any script"),
        pytest.param("order.total.cents", [], id="below a number is nothing"),
    ],
)
def test_a_path_leads_to_its_values_and_changes_nothing(path, found):
    document = copy.deepcopy(DOCUMENT)
    assert compile_path(path).find(document) == found
    assert document == DOCUMENT


@pytest.mark.parametrize(
    "path", ["", "  ", "a.", "a..", "items[", "items[01]", "$.a b", "$[?True]", 5]
)
def test_what_is_no_path_is_refused_with_a_word_on_what_to_write(path):
    with pytest.raises(ConfigError) as caught:
        compile_path(path)
    assert "order.total" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "column"),
    [("items[", 6), ("a]", 2), ("$.a b", 5), ("$.a[?@.x = 1]", 10), ("a[?@.x = 1]", 8), ("a..", 4)],
)
def test_the_column_is_told_where_reading_stopped(path, column):
    with pytest.raises(ConfigError, match=rf"column {column}\b"):
        compile_path(path)


def test_digits_that_are_no_index_of_a_list_are_a_key_alone():
    for digits in ("01", "9" * 5000):
        assert compile_path(digits).find({digits: 1}) == [1]
        assert compile_path(digits).find(["a", "b"]) == []


@pytest.mark.parametrize(
    ("path", "place", "named"),
    [
        ("a.b", ("a", "b"), True),
        ("a.b", ("a",), False),
        ("a.*", ("a", 3), True),
        ("a[3]", ("a", 3), True),
        ("a[3]", ("a", "3"), False),
        ("a.3", ("a", "3"), True),
        ("a.3", ("a", 3), True),
        ("['a.b']", ("a.b",), True),
        ("$.a[*]", ("a", "x"), True),
    ],
)
def test_a_path_names_places(path, place, named):
    assert compile_place(path)(place) is named


def test_a_filter_does_not_take_a_small_number_for_zero():
    # h2non/jsonpath-ng#227
    assert compile_path("$[?(@.p == 0)].p").find([{"p": 0.6}, {"p": 0}]) == [0]


def test_the_compliance_suite_of_rfc_9535_holds_but_for_the_named_dialect():
    tests = json.loads(shared("cases", "jsonpath-cts.json").read_text(encoding="utf-8"))["tests"]
    failing = {test["name"] for test in tests if not holds(test)}
    assert len(tests) == 703
    assert failing == set(OURS)


def holds(test):
    try:
        path = compile_path(test["selector"])
    except ConfigError:
        return bool(test.get("invalid_selector"))
    if test.get("invalid_selector"):
        return False
    wanted = [test["result"]] if "result" in test else test["results"]
    return any(json_equal(path.find(test["document"]), one) for one in wanted)
