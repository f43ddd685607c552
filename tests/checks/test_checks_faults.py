"""Faults that people reported in other tools: each kind must be impossible here."""

from __future__ import annotations

import pytest
from scoring import problems_of, score

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.model import Row


@pytest.mark.parametrize("name", ["contains", "starts_with", "ends_with"])
def test_a_blank_answer_key_makes_nothing_correct(name):
    """inspect_ai#5525: a mute model scored 1.0 against a blank ground truth."""
    for expected in ("", None):
        result = score(name, "", expected, compare_to="expected")
        assert result.status == "non_evaluable"
    assert score(name, "any answer", "", compare_to="expected").code == "expected_unusable"
    assert problems_of(name, value="")


def test_a_percent_sign_is_a_decision_that_is_written_down():
    """inspect_ai#838, #939: 60% against 60."""
    assert score("numeric_equals", "75%", value=75).passed is False
    assert score("numeric_equals", "75%", value=75, percent=True).passed is True
    assert score("numeric_equals", "about 75% of them", value=75, pick="last").passed is True


def test_a_pattern_without_a_group_gives_its_whole_match():
    """inspect_ai#4829."""
    assert score("equals", "total 19", value="19", extract=r"\d+").passed is True


def test_an_empty_a_refusing_and_a_wrong_answer_are_told_apart():
    """inspect_ai#5376: one score and no reason for all three."""
    outputs = ("", "I cannot help with that.", "Bergen")
    reasons = [score("equals", output, value="Oslo").reason for output in outputs]
    assert reasons == [f"found {output!r}, expected 'Oslo'" for output in outputs]
    assert score("equals", None, value="Oslo").code == "missing_output"


def test_a_recited_example_does_not_hide_the_answer():
    """lm-evaluation-harness#3438: the first #### is from the example."""
    text = "Example: 3 + 4 = 7 #### 7. Now: 6 * 2 = 12 #### 12"
    assert score("numeric_equals", text, value=12, pick="last").passed is True
    assert score("equals", text, value="12", extract=r"#### (\d+)").passed is True


@pytest.mark.parametrize("text", ["$70,000", "70,000.00", "\u20ac 70 000", "so it is $70,000."])
def test_thousands_marks_do_not_make_a_right_answer_wrong(text):
    """opencompass#2426, #2343."""
    assert score("numeric_equals", text, value=70000, pick="last").passed is True


def test_exact_means_exact():
    """deepeval#2954, #3164: both sides were stripped."""
    assert score("exact_match", "run ", "run").passed is False
    assert score("equals", "run ", value="run").passed is False
    assert score("exact_match", "run ", "run", strip=True).passed is True
    assert score("regex", " run ", pattern="run", full_match=True).passed is False


@pytest.mark.parametrize("blank", [" ", "\n", "   \t"])
def test_two_blank_texts_are_no_match(blank):
    """deepeval#3220: scored 1.0."""
    assert score("exact_match", blank, blank).status == "non_evaluable"
    assert score("equals", blank, blank, compare_to="expected").status == "non_evaluable"


def test_a_literal_is_no_pattern():
    """deepeval#3198."""
    assert score("contains", "x1y", value="x.y").passed is False
    assert score("regex", "x1y", pattern="x.y").passed is True


def test_the_error_of_one_row_does_not_stick_to_the_next():
    """deepeval#915."""
    check = compile_check({"check": "regex", "pattern": "(?:(?:a|aa|aaa)+b?)+c"})
    assert check.score(Row(output="a" * 40)).status == "error"
    assert check.score(Row(output="abc")).passed is True


@pytest.mark.parametrize(
    ("name", "options"),
    [("contains", {"value": "x"}), ("regex", {"pattern": "x"}), ("contains_any", {"values": ["x"]}),
     ("starts_with", {"value": "x"}), ("not_contains", {"value": "y"})],
)  # fmt: skip
def test_the_words_of_a_negated_check_fit_it(name, options):
    """promptfoo#9824: the message described the opposite."""
    result = score(name, "x", negate=True, **options)
    assert result.passed is False
    assert "expected anything but" in result.reason


@pytest.mark.parametrize("name", ["contains-some", "icontains_any", "is_json", "equal"])
def test_an_invented_check_is_refused_at_load_with_near_names(name):
    """promptfoo#62."""
    (text,) = problems_of(name, value="x")
    assert "is not a check" in text
    assert "Did you mean" in text or name == "is_json"


def test_a_structured_output_meets_a_text_check_as_json():
    """promptfoo#4014: it arrived as [object Object]."""
    assert score("contains", {"a": [1, None]}, value='{"a":[1,null]}').passed is True


@pytest.mark.parametrize("output", [5, {"a": 1}, [1], True])
def test_contains_on_what_is_no_text_decides_by_its_json(output):
    """objectstack#7256: null, number and object fell through and passed."""
    assert score("contains", output, value="zzz").passed is False
    assert score("not_contains", None, value="zzz").passed is None


@pytest.mark.parametrize("values", [["", "yes"], ["yes", "  "], [""]])
def test_one_empty_accepted_text_does_not_pass_everything(values):
    """nanotune#164, agent-control#120."""
    assert problems_of("contains_any", values=values, strip=True)
    result = score("contains_any", "no", values, compare_to="expected", strip=True)
    assert result.code == "expected_unusable"


@pytest.mark.parametrize(
    ("output", "expected"), [(True, 1), (False, 0), ({"ok": True}, {"ok": 1}), ([True], [1])]
)
def test_true_is_not_one(output, expected):
    """rocketride-server#1581, jsonata-python#21."""
    assert score("exact_match", output, expected).passed is False
    assert score("any_of", output, [expected]).passed is False
    assert score("enum_membership", output, allowed=[expected]).passed is False
    if not isinstance(expected, list):
        assert score("equals", output, value=expected).passed is False


@pytest.mark.parametrize("output", [[], [1], {}, ""])
def test_nothing_counted_is_no_division_by_zero(output):
    """Agenta#1942."""
    for name, options in (
        ("field_presence", {"required_fields": ["a"]}),
        ("list_overlap", {"compare_to": "expected"}),
        ("set_overlap", {}),
        ("trajectory_shape", {}),
        ("f1", {}),
    ):
        assert score(name, output, [], **options).status != "error"


def test_a_null_entry_counts_by_one_rule_in_lists():
    """autoevals#210: left out here, counted as 0 there."""
    assert score("list_overlap", [None, "a"], value=["a", None], score_by="jaccard").value == 1.0
    assert score("list_overlap", ["a"], value=[None, "a"], score_by="jaccard").value == 1.0


@pytest.mark.parametrize("expected", [{"amount": 100}, [1], "x", 5, True])
@pytest.mark.parametrize("output", [{"amount": 1}, [2], "y", 6, False, None])
def test_values_of_different_kinds_are_a_mismatch(output, expected):
    """autoevals#220: None against an object raised."""
    result = score("exact_match", output, expected)
    assert result.passed is (None if output is None else False)
