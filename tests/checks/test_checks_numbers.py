"""Reading numbers and the checks on them, with inputs and right values of our own."""

from __future__ import annotations

import json
import sys
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import problems_of, score

from pytest_evalcheck.checks.numbers import (
    CURRENCY,
    DEFAULT_FORM,
    NumberForm,
    find_numbers,
    last_number,
    number_patterns,
    read_number,
)
from shared_data import shared


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", "7"), (" 7\n", "7"), ("+7", "7"), ("-7", "-7"), ("\u22127", "-7"), ("7.", "7"),
        (".5", "0.5"), ("-.5", "-0.5"), ("1e3", "1000"), ("1.5E-2", "0.015"), ("007", "7"),
        ("82,000", "82000"), ("1,234,567.89", "1234567.89"), ("1 000", "1000"),
        ("1\u00a0000", "1000"), ("1\u2009000", "1000"), ("1\u202f000 000".replace(" ", "\u202f"),
        "1000000"), ("1_000", "1000"), ("$24,995", "24995"), ("-$5", "-5"), ("$-5", "-5"),
        ("+$5", "5"), ("$ 5", "5"), ("\u20ac 1 000", "1000"), ("5\u20ac", "5"),
        ("5 \u20ac", "5"), ("\u20b95", "5"), ("\u5143".replace("\u5143", "\uffe55"), "5"),
        ("\uff11\uff12", "12"), ("\u0663", "3"), ("-0", "0"),
    ],
)  # fmt: skip
def test_a_text_that_is_a_number_is_read(text, number):
    assert read_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "-", ".", "$", "1,5", "1.5,000", "12,34", "1,2345", "1,000 000", "1.2.3", "--5",
        "+-5", "-$-5", "$$5", "$5$", "5%", "(5)", "5k", "USD 5", "1/2", "0x10", "NaN", "Infinity",
        "five", "5 apples", "1 00", "1e", "e5", "1,000,", ",5", "1e5000", "9" * 5000, "\u00bd",
        "1 2", "5-", "- 5",
    ],
)  # fmt: skip
def test_a_text_that_is_no_number_is_none(text):
    assert read_number(text) is None


@pytest.mark.parametrize("value", [True, False, None, [5], {"a": 5}, float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_none(value):
    assert read_number(value) is None


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("5%", NumberForm(percent=True), "5"), ("5 %", NumberForm(percent=True), "5"),
        ("5", NumberForm(percent=True), "5"),
        ("USD 5", NumberForm(unit="USD"), "5"), ("5 USD", NumberForm(unit="USD"), "5"),
        ("5kg", NumberForm(unit="kg"), "5"), ("5", NumberForm(unit="kg"), "5"),
        ("5 lb", NumberForm(unit="kg"), None),
        ("1.000,5", NumberForm(decimal=","), "1000.5"), ("1,5", NumberForm(decimal=","), "1.5"),
        ("1.5", NumberForm(decimal=","), None), ("1,000.5", NumberForm(decimal=","), None),
    ],
)  # fmt: skip
def test_percent_unit_and_decimal_widen_what_is_a_number(text, form, number):
    assert read_number(text, form) == (None if number is None else Decimal(number))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("711 apples, 25 pears", "711 25"),
        ("3 + 4 = 7.", "3 4 7"),
        ("9-5 is 4", "9 5 4"),
        ("it fell by -5 degrees", "-5"),
        ("so $1,200.50!", "1200.50"),
        ("**42**", "42"),
        ("\\boxed{10\\text{ cm}}", "10"),
        ("x2 and GPT4 and v1", ""),
        ("version 1.2.3", ""),
        ("1/2 of 5k", ""),
        ("about 10km or 10 km", "10 10"),
        ("60% of 5", "60 5"),
        ("답은 25입니다", "25"),
        ("\u22125 and \uff11\uff12", "-5 12"),
        ("1, 2, 3", "1 2 3"),
        ("1,5 or 2", "2"),
        ("82 000 in 2019 200 ways", "82000 2019 200"),
        ("8 . . .", "8"),
        ("<<20*60=1200>>1200", "20 60 1200 1200"),
        ("no digits", ""),
        ("1e3 and .8", "1000 0.8"),
        ("On 2026/04/19 it was 0.8", "0.8"),
    ],
)
def test_the_numbers_of_a_sentence_end_where_their_digits_end(text, numbers):
    assert find_numbers(text) == [Decimal(one) for one in numbers.split()]


@pytest.mark.parametrize(
    ("output", "options", "passes"),
    [
        ("100", {"value": 100}, True),
        (" 100\n", {"value": 100}, True),
        ("$100.00", {"value": "100"}, True),
        ("100 apples", {"value": 100, "pick": "whole"}, False),
        ("There are 100 apples here", {"value": 100}, True),
        ("Answer: 100", {"value": 100}, True),
        ("**Total** = $100.", {"value": 100}, True),
        ("5k", {"value": 5}, False),
        ("USD 5", {"value": 5}, False),
        ("1.1", {"value": 1.0, "tolerance": 0.1}, True),
        ("1.1000001", {"value": 1.0, "tolerance": 0.1}, False),
        (0.3, {"value": 0.1, "tolerance": 0.2}, True),
        ("102", {"value": 100, "tolerance": "2%"}, True),
        ("102.1", {"value": 100, "tolerance": "2%"}, False),
        ("-98", {"value": -100, "tolerance": "2%"}, True),
        ("0.0001", {"value": 0, "tolerance": "10%"}, False),
        ("12345678901234567890", {"value": 12345678901234567891}, False),
        ("first 5 then 7 came", {"value": 5, "pick": "first"}, True),
        ("first 5 then 7 came", {"value": 5, "pick": "last"}, False),
        ("first 5 then 7 came", {"value": 5, "pick": "any"}, True),
        ("it is 711", {"value": 11, "pick": "any"}, False),
        ("60%", {"value": 60}, False),
        ("60%", {"value": 60, "percent": True}, True),
        ("it is 60% now", {"value": 60, "pick": "last"}, True),
        (True, {"value": 1}, False),
        ([5], {"value": 5}, False),
        ("1,5", {"value": 1.5, "decimal": ","}, True),
    ],
)
def test_numeric_equals_gives_the_verdict(output, options, passes):
    assert score("numeric_equals", output, **options).passed is passes


@pytest.mark.parametrize("expected", ["n/a", "", "  ", "nan", float("nan"), True, [5], {"a": 5}])
def test_an_expected_value_that_is_no_number_is_unusable(expected):
    result = score("numeric_equals", "5", expected, compare_to="expected")
    assert (result.status, result.code) == ("non_evaluable", "expected_unusable")


def test_the_reason_shows_both_numbers_and_the_tolerance():
    result = score("numeric_equals", "It costs $7 today", value=5, tolerance="2%", pick="last")
    assert result.reason == "found 7 in 'It costs $7 today', expected 5 within 2%"
    assert score("numeric_equals", "none", value=5).reason == (
        "found 'none', which is not a number, expected 5"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"value": "n/a"}, {"value": float("nan")}, {"value": {"a": 5}}, {"value": True},
        {"value": 5, "tolerance": -1}, {"value": 5, "tolerance": "-2%"},
        {"value": 5, "tolerance": "two"}, {"value": 5, "tolerance": float("inf")},
        {"value": 5, "tolerance": "2"}, {"value": 5, "pick": "middle"},
        {"value": 5, "decimal": ";"},
    ],
)  # fmt: skip
def test_a_miswritten_numeric_equals_is_refused(options):
    assert problems_of("numeric_equals", **options)


@pytest.mark.parametrize(
    ("output", "options", "passes"),
    [
        ("0.8", {"min": 0.8}, True), (0.79, {"min": 0.8}, False), (1, {"max": 1.0}, True),
        ("-3", {"min": -5, "max": -1}, True), ("unknown", {"min": 0}, False),
        (False, {"min": 0}, False), ({"c": 0.5}, {"field": "c", "max": 1}, True),
        ('{"c": 1.5}', {"field": "c", "max": 1}, False),
        ({"a": {"c": 0.5}}, {"field": "a.c", "max": 1}, True),
        ({"c": "n/a"}, {"field": "c", "max": 1}, False),
    ],
)  # fmt: skip
def test_numeric_bounds_are_inclusive(output, options, passes):
    assert score("numeric_bounds", output, **options).passed is passes


@pytest.mark.parametrize("output", [{"x": 1}, "text", [1], '{"x": 1}'])
def test_an_output_without_the_selected_field_is_not_applicable(output):
    result = score("numeric_bounds", output, field="c", max=1, negate=True)
    assert (result.status, result.code) == ("non_evaluable", "not_applicable")


@pytest.mark.parametrize(
    "options",
    [{}, {"min": 2, "max": 1}, {"min": "0"}, {"max": float("nan")}, {"field": "", "max": 1},
     {"field": "a", "target_path": "a", "max": 1}],
)  # fmt: skip
def test_miswritten_numeric_bounds_are_refused(options):
    assert problems_of("numeric_bounds", **options)


def test_the_last_number_is_the_label_of_every_real_answer():
    rows = [
        json.loads(line)
        for line in shared("data", "gsm8k", "model_solutions.sample.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    assert len(rows) == 240
    for row in rows:
        result = score(
            "numeric_equals", row["output"], row["ground_truth"], compare_to="expected", pick="last"
        )
        assert result.passed is row["is_correct"], row["id"]


def test_every_currency_sign_of_unicode_is_one():
    pattern = number_patterns(NumberForm())[0]
    signs = [
        char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) == "Sc"
    ]
    assert len(signs) > 50
    assert all(pattern.fullmatch(f"{char}5") for char in signs)
    assert "a" not in CURRENCY


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1e9, max_value=1e9))
def test_a_number_written_with_grouping_is_read_back(number):
    assert read_number(f"{number:,}") == number
    assert find_numbers(f"It is {number:,}.")[-1] == number


@given(st.text(max_size=60), st.sampled_from([None, "USD"]), st.booleans())
def test_no_text_raises_when_numbers_are_read(text, unit, percent):
    form = NumberForm(percent=percent, unit=unit or "")
    for number in [read_number(text, form), *find_numbers(text, form)]:
        assert number is None or number.is_finite()


@given(st.text(alphabet="0123456789.,-−+$€ \u00a0_eEx/%ab()", max_size=30))
@settings(max_examples=500)
def test_the_last_number_is_the_last_of_all_numbers(text):
    assert last_number(text, DEFAULT_FORM) == find_numbers(text)[-1:]
