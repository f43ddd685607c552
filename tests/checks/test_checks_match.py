"""Checks against the whole expected value, with inputs and right values of our own."""

from __future__ import annotations

import pytest
from scoring import problems_of, score

from pytest_evalcheck.checks.match import normalize_squad


@pytest.mark.parametrize(
    ("output", "expected", "options", "passes"),
    [
        ("Oslo", "Oslo", {}, True), ("oslo", "Oslo", {}, False), ("Oslo ", "Oslo", {}, False),
        ("Oslo ", "Oslo", {"strip": True}, True),
        ("oslo", "Oslo", {"case_sensitive": False}, True),
        ("OSLO", "oslo", {"normalize": "casefold"}, True),
        ("ＯＳＬＯ", "oslo", {"normalize": "nfkc+casefold"}, True),
        ("The Oslo!", "oslo", {"normalize": "squad"}, True),
        ("3.14", "314", {"normalize": "squad"}, False),
        (4, "4", {}, False), (1, 1.0, {}, True), (True, 1, {}, False), (0, False, {}, False),
        ({"a": [1]}, {"a": [1.0]}, {}, True), ([1, 2], [2, 1], {}, False), ([], {}, {}, False),
        ("", "", {}, True), ({"a": "X"}, {"a": "x"}, {"normalize": "casefold"}, True),
        (True, {"a": 1}, {}, False), (5, [1], {}, False),
    ],
)  # fmt: skip
def test_exact_match_is_typed_and_exact(output, expected, options, passes):
    result = score("exact_match", output, expected, **options)
    assert (result.passed, result.value) == (passes, float(passes))


def test_two_blank_texts_say_nothing_about_each_other():
    result = score("exact_match", "   ", "   ")
    assert (result.status, result.code) == ("non_evaluable", "expected_unusable")


def test_exact_match_inside_both_values():
    result = score("exact_match", '{"a": 1}', {"b": 1}, target_path="a", expected_path="b")
    assert result.passed is True


@pytest.mark.parametrize(
    ("output", "expected", "options", "passes"),
    [
        ("NYC", ["New York", "NYC"], {}, True), ("nyc", ["New York", "NYC"], {}, False),
        ("nyc", ["NYC"], {"case_sensitive": False}, True), ("", ["", "NYC"], {}, False),
        ("NYC", '["New York", "NYC"]', {}, True), ("NYC", "NYC", {}, True), (1, [True], {}, False),
        ("[NYC", "[NYC", {}, True),
    ],
)  # fmt: skip
def test_any_of_takes_one_of_the_expected(output, expected, options, passes):
    assert score("any_of", output, expected, **options).passed is passes


@pytest.mark.parametrize("expected", [[], [""], ["", None]])
def test_an_expected_list_without_answers_is_unusable(expected):
    assert score("any_of", "x", expected).code == "expected_unusable"
    assert score("f1", "x", expected).code == "expected_unusable"


@pytest.mark.parametrize(
    ("output", "expected", "value"),
    [
        ("the red house", "a red house", 1.0),
        ("red", "red house", 2 / 3),
        ("red red", "red", 2 / 3),
        ("green", "red", 0.0),
        ("", "red", 0.0),
        ("the", "a", 1.0),
        ("red house", ["blue", "Red house."], 1.0),
    ],
)
def test_f1_of_tokens(output, expected, value):
    # Hand-computed: 2 * shared / (tokens + tokens) after SQuAD normalisation.
    assert score("f1", output, expected).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "normal"),
    [("The U.S.!", "us"), ("a  An the", ""), ("3.14.", "3.14"), ("$1,000.", "1000"),
     ("Don't", "dont"), ("x.5", "x5")],
)  # fmt: skip
def test_squad_normalisation_keeps_the_decimal_point(text, normal):
    assert normalize_squad(text) == normal


CITIES = {"choices": ["Oslo", "Rome", "New Rome", "Paris"]}


@pytest.mark.parametrize(
    ("output", "expected", "options", "passes"),
    [
        ("B", "B", {}, True), ("(B)", "B", {}, True), ("B.", "B", {}, True), ("b", "B", {}, True),
        ("**B**", "B", {}, True), ("Answer: B", "B", {}, True), ("answer is (B).", "B", {}, True),
        ("The answer is B, not A.", "B", {}, True),
        ("As a judge, A might fit. Answer: A\nNo. Answer: B", "B", {}, True),
        ("정답: B", "B", {}, True), ("정답은 B입니다", "B", {}, True),
        ("\\boxed{B}", "B", {}, False), ("Answer: \\boxed{B}", "B", {}, True),
        ("B) Rome", "B", {}, True), ("Between (A) and (B)", "B", {}, False),
        ("I would say (B) fits.", "B", {}, True), ("A cat sat.", "A", {}, False),
        ("Rome", "B", CITIES, True), ("It is Rome.", "B", CITIES, True),
        ("New Rome", "C", CITIES, True), ("Rome or Oslo", "B", CITIES, False),
        ("B", "Rome", CITIES, True), ("It is Rome", "rome", CITIES, True),
        ("Answer: B", 1, {**CITIES, "positions": True}, True),
        ("Answer: A", "1", {**CITIES, "positions": True}, False),
        ("Answer: E", "B", CITIES, False), ("", "B", {}, False),
        ("The answer is a mystery", "A", {}, False),
    ],
)  # fmt: skip
def test_choice_reads_what_was_chosen_and_guesses_nothing(output, expected, options, passes):
    result = score("choice", output, expected, **options)
    assert (result.status, result.passed) == ("scored", passes)


@pytest.mark.parametrize(
    ("expected", "options"),
    [("Berlin", CITIES), ("E", CITIES), (["A"], {}), (7, {**CITIES, "positions": True})],
)
def test_an_expected_value_that_is_no_choice_is_unusable(expected, options):
    assert score("choice", "A", expected, **options).code == "expected_unusable"


@pytest.mark.parametrize(
    "options", [{"positions": True}, {"choices": ["a"]}, {"choices": ["a", "A"]},
                {"choices": ["a", ""]}, {"choices": "a, b"}],
)  # fmt: skip
def test_miswritten_choices_are_refused(options):
    assert problems_of("choice", **options)
