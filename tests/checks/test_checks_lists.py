"""Reading lists, and the checks on lists and sets, with inputs and right values of our own."""

from __future__ import annotations

import pytest
from scoring import problems_of, score

from pytest_evalcheck.checks.lists import item_set
from pytest_evalcheck.checks.target import fold


@pytest.mark.parametrize(
    ("value", "items"),
    [
        (["Red", "blue"], ["red", "blue"]),
        ('["Red", "blue"]', ["red", "blue"]),
        ("Red, blue;green\nwhite", ["red", "blue", "green", "white"]),
        ("- Red\n* blue\n\u2022 green\n1. white", ["red", "blue", "green", "white"]),
        ("'red', \"blue\"", ["red", "blue"]),
        ("red,,  , blue,", ["red", "blue"]),
        ("red, Red, RED", ["red"]),
        ([1, "1", None, True, ""], ["1", "true"]),
        (["1,000"], ["1,000"]),
        ([["a"], "b"], ['["a"]', "b"]),
        ("", []),
        ([], []),
        ("[]", []),
        (5, ["5"]),
        ("-5, -6", ["-5", "-6"]),
        ("[broken, list", ["[broken", "list"]),
        ('"a, b"', ["a", "b"]),
    ],
)
def test_a_list_is_read_as_people_write_it(value, items):
    assert list(item_set(value, fold)) == items


@pytest.mark.parametrize(
    ("score_by", "value", "passes"),
    [("recall", 0.6667, False), ("precision", 0.5, False), ("f1", 0.5714, False),
     ("jaccard", 0.4, False)],
)  # fmt: skip
def test_each_measure_gives_its_share_rounded_to_4_places(score_by, value, passes):
    result = score("list_overlap", "a, b, x, y", value=["A", "B", "C"], score_by=score_by)
    assert (result.value, result.passed) == (value, passes)


@pytest.mark.parametrize("score_by", ["recall", "precision", "f1", "jaccard"])
@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [([], [], 1.0), (["a"], [], 0.0), ([], ["a"], 0.0), (["b", "a"], ["a", "b", "a"], 1.0)],
)
def test_empty_and_equal_lists_score_the_same_by_every_measure(score_by, output, expected, value):
    assert (
        score("list_overlap", output, expected, compare_to="expected", score_by=score_by).value
        == value
    )


def test_what_is_missing_and_what_is_extra_is_named():
    result = score("list_overlap", "a, x", value="A, B")
    assert result.details["missing"] == ["B"]
    assert result.details["extra"] == ["x"]
    assert 'missing ["B"]' in result.reason


@pytest.mark.parametrize(
    ("options", "passes"),
    [({"min": 0.5}, True), ({"threshold": 0.5}, True), ({"min": 0.51}, False),
     ({"report_only": True}, True), ({"case_sensitive": True, "min": 0.5}, False)],
)  # fmt: skip
def test_the_least_share_decides(options, passes):
    assert score("list_overlap", "a", value=["A", "B"], **options).passed is passes


@pytest.mark.parametrize("expected", [{"a": 1}, "", "  ", [""], ","])
def test_an_expected_value_that_is_no_list_is_unusable(expected):
    result = score("list_overlap", "a", expected, compare_to="expected")
    assert result.code == "expected_unusable"


@pytest.mark.parametrize(
    "options",
    [{}, {"value": ["a"], "min": 0}, {"value": ["a"], "min": 1.5}, {"value": ["a"], "min": "1"},
     {"value": ""}, {"value": {"a": 1}}, {"value": ["a"], "score_by": "recal"},
     {"value": ["a"], "min": 0.5, "threshold": 0.5},
     {"value": ["a"], "min": 0.5, "report_only": True}],
)  # fmt: skip
def test_a_miswritten_list_overlap_is_refused(options):
    assert problems_of("list_overlap", **options)


@pytest.mark.parametrize(
    ("output", "expected", "options", "value"),
    [
        ("red green", "green blue", {}, 1 / 3),
        ("red red", "red", {}, 1.0),
        ("Red", "red", {}, 0.0),
        ("Red", "red", {"case_sensitive": False}, 1.0),
        ("red,", "red", {}, 0.0),
        ("", "", {}, 1.0),
        ("red", "", {}, 0.0),
        ("red\u00a0green\tblue", "blue green red", {}, 1.0),
    ],
)
def test_set_overlap_is_the_jaccard_index_of_words(output, expected, options, value):
    assert score("set_overlap", output, expected, **options).value == value


def test_set_overlap_passes_at_its_threshold():
    assert score("set_overlap", "a b", "b c", threshold=0.3333).passed is True
    assert score("set_overlap", "a b", "b c", threshold=0.34).passed is False


@pytest.mark.parametrize(
    ("output", "allowed", "passes"),
    [
        ({"k": "red"}, ["red", "blue"], True), ({"k": "Red"}, ["red"], False),
        ({"k": 1}, [1.0], True), ({"k": True}, [1], False), ({"k": "1"}, [1], False),
        ({"k": None}, [None, "a"], True), ({"k": None}, ["a"], False),
        ({"k": [1]}, [[1], "a"], True),
    ],
)  # fmt: skip
def test_enum_membership_is_typed_and_exact(output, allowed, passes):
    assert score("enum_membership", output, field="k", allowed=allowed).passed is passes


def test_enum_membership_of_the_whole_output_and_at_a_path():
    assert score("enum_membership", "red", allowed=["red"]).passed is True
    assert score("enum_membership", "Red", allowed=["red"], case_sensitive=False).passed is True
    assert score("enum_membership", '{"a": "red"}', target_path="a", allowed=["red"]).passed is True
    assert problems_of("enum_membership", allowed=[])
    assert problems_of("enum_membership", field="a")
