"""What every check has in common: target, operand, extraction, negation, threshold."""

from __future__ import annotations

from typing import Any

import pytest
from scoring import problems_of, score

from pytest_evalcheck.checks import CHECKS, COMMON_OPTIONS, compile_check
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Row


def verdict(result: Any) -> tuple[str, bool | None, str | None]:
    return result.status, result.passed, result.code


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("name", ["contains", "not_contains", "starts_with", "equals"])
def test_a_missing_output_is_never_a_verdict(name, negate):
    result = score(name, None, value="x", negate=negate)
    assert verdict(result) == ("non_evaluable", None, "missing_output")
    assert result.reason == "missing_output: the row has no recorded output"


@pytest.mark.parametrize("negate", [False, True])
def test_a_missing_expected_value_is_never_a_verdict(negate):
    result = score("contains", "text", None, compare_to="expected", negate=negate)
    assert verdict(result) == ("non_evaluable", None, "missing_expected")


def test_a_note_of_the_reader_says_why_an_expected_value_is_missing():
    row = Row(output="x", notes=("column 'expcted' is nearly 'expected'",))
    result = compile_check({"check": "exact_match"}).score(row)
    assert result.reason.endswith("no expected value; column 'expcted' is nearly 'expected'")


@pytest.mark.parametrize(
    ("name", "options"),
    [("contains", {"value": "x"}), ("not_contains", {"value": "x"}), ("regex", {"pattern": "x"})],
)
@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("output", ["no JSON at all", '{"b": 1}', {"b": 1}, '{"a": null}'])
def test_a_path_that_leads_nowhere_fails_under_negate_too(name, options, negate, output):
    result = score(name, output, target_path="a", negate=negate, **options)
    assert verdict(result) == ("scored", False, "path_unresolved")
    assert result.reason.startswith("path_unresolved: ")
    assert result.value == 0.0


@pytest.mark.parametrize(
    ("output", "path", "value", "passes"),
    [
        ('{"a": {"b": "Blue"}}', "a.b", "blue", True),
        ({"a": ["x", "y"]}, "a.1", "y", True),
        ('{"a": 5}', "a", "5", True),
        ('{"a": true}', "a", "true", True),
        ('{"a": {"k": 1}}', "a", '{"k":1}', True),
        ('{"a": "x"}', "a", "y", False),
    ],
)
def test_a_path_reads_a_place_inside_the_output(output, path, value, passes):
    assert score("equals", output, target_path=path, value=value).passed is passes


def test_several_matches_where_one_is_needed_fail_with_their_count():
    result = score("contains", '{"a": ["x", "y"]}', target_path="a[*]", value="x")
    assert verdict(result) == ("scored", False, None)
    assert "2 values at a[*]" in result.reason
    assert (
        score("contains", {"a": ["x", "y"]}, target_path="a[*]", value="x", negate=True).passed
        is False
    )


def test_several_matches_are_the_list_a_list_check_needs():
    result = score(
        "list_overlap", {"a": [{"n": "x"}, {"n": "y"}]}, target_path="a[*].n", value=["Y", "X"]
    )
    assert result.passed is True


@pytest.mark.parametrize(
    ("target", "row"),
    [
        ("input", Row(input="Where is it?")),
        ("messages", Row(messages=({"role": "user", "content": "Where is it?"},))),
        ("transcript", Row(transcript=[{"text": "Where is it?"}])),
        ("tool_calls", Row(tool_calls=[{"name": "f", "args": {"q": "Where is it?"}}])),
        ("context", Row(context=("Where is it?",))),
        ("metadata", Row(metadata={"note": "Where is it?"})),
    ],
)
def test_each_target_is_read_and_its_absence_is_not_applicable(target, row):
    check = compile_check({"check": "contains", "value": "where is", "target": target})
    assert check.score(row).passed is True
    assert verdict(check.score(Row(output="where is"))) == ("non_evaluable", None, "not_applicable")


@pytest.mark.parametrize(
    ("extract", "output", "value", "options", "passes"),
    [
        ("answer: (\\w+)", "Answer: A. Answer: B", "b", {}, True),
        ("answer: (\\w+)", "Answer: B", "B", {"case_sensitive": True}, False),
        ("\\d+", "1 then 22", "22", {}, True),
        ("answer:(\\d+)?", "answer: none", "", {}, False),
    ],
)
def test_extract_takes_the_last_match_of_group_one_or_the_whole(
    extract, output, value, options, passes
):
    result = score("equals", output, extract=extract, value=value, **options)
    assert result.passed is passes


@pytest.mark.parametrize("negate", [False, True])
def test_nothing_extracted_fails_and_says_so(negate):
    result = score("equals", "no digits", extract="\\d+", value="5", negate=negate)
    assert verdict(result) == ("scored", False, "path_unresolved")


def test_an_expected_path_reads_inside_the_expected_value():
    row = Row(output="total 5", expected='{"car": {"id": "TOTAL"}}')
    check = compile_check({"check": "contains", "expected_path": "car.id"})
    assert check.score(row).passed is True
    missing = compile_check({"check": "contains", "expected_path": "car.x"}).score(row)
    assert verdict(missing) == ("non_evaluable", None, "missing_expected")


@pytest.mark.parametrize("expected", ["", "  ", {"a": 1}, ["x"]])
def test_an_expected_value_that_matches_everything_or_is_no_text_is_unusable(expected):
    result = score("contains", "text", expected, compare_to="expected", strip=True)
    assert verdict(result) == ("non_evaluable", None, "expected_unusable")


def test_a_list_of_texts_may_come_from_the_row_as_list_or_json_text():
    for expected in (["red", "blue"], '["red", "blue"]'):
        assert score("contains_any", "a BLUE car", expected, compare_to="expected").passed is True
    result = score("contains_any", "a blue car", "blue", compare_to="expected")
    assert verdict(result) == ("non_evaluable", None, "expected_unusable")


def test_negate_flips_the_verdict_the_value_and_the_words():
    result = score("contains", "JSON here", value="json", negate=True)
    assert (result.passed, result.value) == (False, 0.0)
    assert result.reason == "found 'JSON here', expected anything but text that contains 'json'"
    assert score("contains", "text", value="json", negate=True).value == 1.0


def test_a_share_passes_at_its_threshold_after_rounding_both():
    options = {"values": ["a", "b", "c"]}
    assert score("contains_all", "a b", threshold=0.66667, **options).passed is True
    result = score("contains_all", "a b", threshold=0.667, **options)
    assert (result.passed, round(result.value, 4)) == (False, 0.6667)
    assert "threshold 0.667" in result.reason


def test_negate_leaves_the_share_as_it_is():
    result = score("contains_all", "a", values=["a", "b"], negate=True)
    assert (result.passed, result.value) == (True, 0.5)


def test_the_failure_holds_both_sides():
    result = score("equals", "Hallo", value="Hello", case_sensitive=True)
    assert result.details["found"] == "Hallo"
    assert result.details["wanted"] == "Hello"
    assert result.reason == "found 'Hallo', expected 'Hello'"


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("contans", {}, "check: check: 'contans' is not a check"),
        ("contains-any", {"values": ["x"]}, "Did you mean 'contains_any'"),
        ("contains@2", {"value": "x"}, "expected contains@1"),
        (None, {}, "None is no name of a check"),
        ("equals", {"vlaue": "x"}, "Did you mean 'value'"),
        ("contains", {}, "value: value: contains has nothing to compare with"),
        ("contains", {"value": ""}, "an empty text"),
        ("contains", {"value": None}, "value: value: no value"),
        ("contains", {"value": float("nan")}, "value: value: nan"),
        ("contains", {"value": ["x"]}, "Only contains_any"),
        ("contains", {"value": "  ", "strip": True}, "an empty text"),
        ("contains", {"value": "x", "compare_to": "expected"}, "stands beside compare_to"),
        ("contains", {"value": "x", "compare_to": "guess"}, "compare_to: compare_to: 'guess'"),
        ("contains", {"value": "x", "negate": "true"}, "Write it without quotes"),
        ("contains", {"value": "x", "target": "outptu"}, "Did you mean 'output'"),
        ("contains", {"value": "x", "target": "json_path"}, "lacks a target_path"),
        ("contains", {"value": "x", "target": "input", "target_path": "a"}, "drop target"),
        ("contains", {"value": "x", "threshold": 0}, "0 cannot fail"),
        ("contains_all", {"values": ["x"], "threshold": 1.5}, "1.5 can never be reached"),
        ("contains_all", {"values": ["x"], "threshold": float("nan")}, "nan"),
        ("contains_all", {"values": ["x"], "threshold": float("inf")}, "inf"),
        ("contains_any", {"values": []}, "an empty list"),
        ("contains_any", {"values": ["", "yes"]}, "an empty text"),
        ("contains_any", {"values": "yes"}, "a list of texts"),
        ("latency", {"max": 5, "target": "input"}, "does not read a target"),
        ("latency", {"max": 5, "threshold": 5}, "takes no threshold"),
        ("regex", {"pattern": "a", "compare_to": "expected"}, "compares with no operand"),
    ],
)
def test_a_miswritten_option_is_told_with_what_to_write(name, options, said):
    assert any(said in text for text in problems_of(name, **options))


def test_all_mistakes_of_an_entry_are_told_at_once():
    texts = problems_of("length_bounds", min="x", max=-1, unit="word", strp=True)
    assert [text.split(":")[0] for text in texts] == ["strp", "min", "max", "unit"]


def test_mistakes_in_the_target_and_in_the_operand_are_told_together():
    texts = problems_of("contains", value="", target="json_path")
    assert [text.split(":")[0] for text in texts] == ["target_path", "value"]


def test_a_version_may_be_named():
    assert compile_check({"check": "contains@1", "value": "x"}).version == 1


@pytest.mark.parametrize(
    ("options", "score_range", "threshold"),
    [
        ({"check": "contains", "value": "x"}, (0.0, 1.0), None),
        ({"check": "contains_all", "values": ["x"], "threshold": 0.5}, (0.0, 1.0), 0.5),
        ({"check": "list_overlap", "value": ["x"], "min": 0.8}, (0.0, 1.0), 0.8),
        ({"check": "latency", "max": 5}, None, None),
        ({"check": "judge_score", "threshold": 4, "score_range": [1, 5]}, (1.0, 5.0), 4),
    ],
)
def test_a_compiled_check_states_its_range_and_threshold(options, score_range, threshold):
    check = compile_check(options)
    assert (check.score_range, check.threshold) == (score_range, threshold)


def test_an_exception_of_ours_is_an_error_with_its_traceback():
    check = compile_check({"check": "contains", "value": "x"})
    result = check.score(object())  # type: ignore[arg-type]
    assert result.status == "error"
    assert "Traceback" in result.details["traceback"]


def test_one_row_does_not_touch_the_next():
    check = compile_check({"check": "regex", "pattern": "(a+)+$"})
    assert check.score(Row(output="b")).passed is False
    assert check.score(Row(output="aa")).passed is True


def test_every_check_documents_itself():
    for spec in CHECKS.values():
        assert spec.summary
        assert spec.build.__doc__
        assert all(option.summary for option in spec.options)
    assert all(option.summary for option in COMMON_OPTIONS)


def test_config_errors_survive_pickling():
    import pickle

    with pytest.raises(ConfigError) as caught:
        compile_check({"check": "contains"})
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems
