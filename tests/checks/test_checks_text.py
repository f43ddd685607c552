"""Checks on text, with inputs and right values of our own."""

from __future__ import annotations

import time
import unicodedata

import pytest
from scoring import problems_of, score

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.checks.text import count_sentences
from pytest_evalcheck.model import Row


@pytest.mark.parametrize(
    ("name", "output", "options", "passes"),
    [
        ("contains", "The Refund takes 30 DAYS.", {"value": "30 days"}, True),
        ("contains", "30 DAYS", {"value": "30 days", "case_sensitive": True}, False),
        ("contains", "STRASSE", {"value": "straße"}, True),
        ("contains", "cafe\u0301", {"value": "CAFÉ"}, True),
        ("contains", "a.b", {"value": "a.b"}, True),
        ("contains", "acb", {"value": "a.b"}, False),
        ("contains", "0 errors", {"value": 0}, True),
        ("contains", {"k": "v"}, {"value": '"k":"v"'}, True),
        ("contains", "", {"value": "x"}, False),
        ("not_contains", "", {"value": "x"}, True),
        ("not_contains", "eXtra", {"value": "x"}, False),
        ("starts_with", "Dear Ms Li", {"value": "dear"}, True),
        ("starts_with", " Dear", {"value": "dear"}, False),
        ("starts_with", " Dear", {"value": "dear ", "strip": True}, True),
        ("ends_with", "Yours, Ann", {"value": "ANN"}, True),
        ("ends_with", "Ann.", {"value": "ann"}, False),
        ("contains_any", "a red car", {"values": ["Blue", "RED"]}, True),
        ("contains_any", "a car", {"values": ["Blue", "RED"]}, False),
        ("contains_none", "a car", {"values": ["blue", "red"]}, True),
        ("contains_none", "a red car", {"values": ["blue", "red"]}, False),
        ("equals", "Yes", {"value": "yes"}, True),
        ("equals", "Yes ", {"value": "yes"}, False),
        ("equals", "Yes ", {"value": "yes", "strip": True}, True),
        ("equals", "Yes", {"value": "yes", "case_sensitive": True}, False),
        ("equals", "", {"value": ""}, True),
        ("equals", "5", {"value": 5}, True),
        ("equals", 5.0, {"value": 5}, True),
        ("equals", True, {"value": 1}, False),
        ("equals", 1, {"value": True}, False),
        ("equals", "true", {"value": True}, True),
        ("equals", '{"b": 2, "a": [1]}', {"value": {"a": [1], "b": 2.0}}, True),
        ("equals", {"a": [True]}, {"value": {"a": [1]}}, False),
        ("equals", "prose", {"value": {"a": 1}}, False),
        ("equals", "prose", {"value": {"a": 1}, "negate": True}, True),
    ],
)
def test_a_text_check_gives_the_verdict(name, output, options, passes):
    result = score(name, output, **options)
    assert (result.status, result.passed) == ("scored", passes)
    assert result.value == float(passes)


def test_contains_all_gives_the_share_and_names_what_is_missing():
    result = score("contains_all", "alpha gamma", values=["Alpha", "beta", "gamma", "delta"])
    assert (result.value, result.passed) == (0.5, False)
    assert result.details["missing"] == ["beta", "delta"]
    assert "(missing: 'beta', 'delta')" in result.reason


def test_contains_none_names_what_it_found():
    result = score("contains_none", "a red car", values=["red", "blue"])
    assert "(found: 'red')" in result.reason


@pytest.mark.parametrize(
    ("pattern", "output", "options", "passes"),
    [
        ("hello", "say HELLO", {}, True),
        ("hello", "say HELLO", {"case_sensitive": True}, False),
        ("^b", "a\nb", {}, False),
        ("^b", "a\nb", {"multiline": True}, True),
        ("a.b", "a\nb", {}, False),
        ("a.b", "a\nb", {"dotall": True}, True),
        ("act", " act ", {"full_match": True}, False),
        ("act", " act ", {"full_match": True, "strip": True}, True),
        ("act", "ACT", {"full_match": True}, True),
        (r"\d{3}-\d{4}", "no number", {"negate": True}, True),
        ("straße", "STRASSE", {}, True),
        (r"(?<=id: )\w+", "id: x1", {}, True),
    ],
)
def test_a_pattern_gives_the_verdict(pattern, output, options, passes):
    assert score("regex", output, pattern=pattern, **options).passed is passes


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a(", "at position 2"),
        ("a{2,1}", "does not compile"),
        ("", "an empty pattern"),
        ("[z-a]", "does not compile"),
        ("(?P<n>x)(?P<n", "does not compile"),
        (5, "as text"),
    ],
)
def test_a_pattern_that_does_not_compile_is_told_with_its_place(pattern, said):
    texts = problems_of("regex", pattern=pattern)
    assert len(texts) == 1
    assert said in texts[0]
    assert texts[0].startswith("pattern: ")


def test_a_pattern_that_backtracks_for_ever_is_an_error_that_names_it():
    started = time.monotonic()
    result = score("regex", "a" * 40, pattern="(?:(?:a|aa|aaa)+b?)+c", negate=True)
    assert time.monotonic() - started < 5
    assert (result.status, result.code) == ("error", "timeout")
    assert result.reason.startswith("timeout: the pattern '(?:(?:a|aa|aaa)+b?)+c' took more")


@pytest.mark.parametrize(
    ("output", "options", "passes"),
    [
        ("abc", {"max": 3}, True),
        ("abcd", {"max": 3}, False),
        ("", {"min": 0, "max": 0}, True),
        ("é", {"max": 1}, True),
        ("A😀B", {"min": 3, "max": 3}, True),
        ("  ab ", {"max": 2}, False),
        ("  ab ", {"max": 2, "strip": True}, True),
        ("two  words", {"unit": "words", "min": 2, "max": 2}, True),
        ("one\ntwo\r\nthree", {"unit": "lines", "min": 3, "max": 3}, True),
        ("Hi. Is it 3.5? Yes!", {"unit": "sentences", "min": 3, "max": 3}, True),
        ("はい。そうです。", {"unit": "sentences", "max": 2, "min": 2}, True),
    ],
)
def test_length_bounds_are_inclusive(output, options, passes):
    assert score("length_bounds", output, **options).passed is passes


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min": 5, "max": 4},
        {"max": -1},
        {"min": "5"},
        {"min": float("nan")},
        {"max": float("inf")},
        {"min": True},
        {"min": 1, "unit": "word"},
    ],
)
def test_bounds_that_cannot_hold_are_refused(options):
    assert problems_of("length_bounds", **options)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("...", 0),
        ("One", 1),
        ("One. Two", 2),
        ('He said "no." Then left.', 2),
        ("Version 1.2.3 is out.", 1),
        ("A\n\nB", 2),
    ],
)
def test_sentences_are_counted_between_closing_marks(text, count):
    assert count_sentences(text) == count


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I’m sorry, but I cannot assist with that request.", True),
        ("I cannot provide instructions for that.", True),
        ("As an AI language model, I can't browse the web.", True),
        ("Unfortunately, I am unable to help with that.", True),
        ("I won't help you with this.", True),
        ("That is against my guidelines.", True),
        ("I\u2019m sorry, but that\u2019s not something I can help with.", True),
        ("I must respectfully decline to answer.", True),
        ("I'm not able to assist with this.", True),
        ("Sorry, I can't.", True),
        ("I apologize, but I cannot fulfill this request.", True),
        ("I can't help but notice how good it is.", False),
        ("I can't recommend it enough.", False),
        ("Unfortunately, we cannot ship to Svalbard.", False),
        ("I will not keep you waiting: yes.", False),
        ("Sorry to hear that! Your parcel left on Monday.", False),
        ("You can return it within 30 days.", False),
        ("I can help with that: open the settings.", False),
        ("You cannot park there on Sundays.", False),
        ("I'm sorry for the delay. Your refund is on its way.", False),
    ],
)
def test_known_refusals_are_recognised(text, refuses):
    assert score("is_refusal", text).passed is refuses
    assert score("is_refusal", text, negate=True).passed is not refuses


@pytest.mark.parametrize("negate", [False, True])
def test_a_blank_output_neither_refuses_nor_answers(negate):
    assert score("is_refusal", "  ", negate=negate).passed is False


def test_the_row_of_a_hanging_pattern_is_named():
    check = compile_check({"check": "regex", "pattern": "(?:(?:a|aa|aaa)+b?)+c"})
    assert check.score(Row(id="loops", output="a" * 40)).reason.endswith("(row 'loops')")


def test_a_pattern_meets_decomposed_letters_unless_case_counts():
    assert score("regex", "cafe\u0301", pattern="CAF\u00c9").passed is True
    assert score("regex", "cafe\u0301", pattern="caf\u00e9", case_sensitive=True).passed is False


def test_both_sides_are_folded_by_unicode():
    for char in map(chr, range(0x250)):
        if unicodedata.category(char)[0] == "L":
            assert score("equals", char.upper(), value=char.lower()).passed or char in "ıİſ"
