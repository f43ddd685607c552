"""Checks on shape, on measures, on quotations and on recorded evidence."""

from __future__ import annotations

import pytest
from scoring import problems_of, score

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.checks.quotes import find_quotations
from pytest_evalcheck.model import Row


@pytest.mark.parametrize(
    ("output", "fields", "value"),
    [
        ({"a": 1, "b": 2}, ["a", "b"], 1.0), ({"a": 1}, ["a", "b"], 0.5), ({}, ["a"], 0.0),
        ({"a": None, "b": ""}, ["a", "b"], 1.0), ('{"a": 1}', ["a"], 1.0),
        ({"x": {"y": 0}}, ["x.y"], 1.0), ({"x.y": 0}, ["x.y"], 1.0),
        ({"x": [{"y": 0}]}, ["x.0.y", "x.1.y"], 0.5), ({"a": 1}, ["a", "a", "b"], 2 / 3),
    ],
)  # fmt: skip
def test_field_presence_is_the_share_of_fields(output, fields, value):
    result = score("field_presence", output, required_fields=fields)
    assert result.value == pytest.approx(value)
    assert result.passed is (value == 1.0)


@pytest.mark.parametrize("output", ["prose", [1], 5, "[1]", "{broken"])
def test_fields_of_what_is_no_mapping_are_not_applicable(output):
    result = score("field_presence", output, required_fields=["a"], negate=True)
    assert (result.status, result.code) == ("non_evaluable", "not_applicable")


def test_missing_fields_are_named():
    result = score("field_presence", {"a": 1}, required_fields=["a", "b"])
    assert "without b" in result.reason
    assert problems_of("field_presence", required_fields=[])
    assert problems_of("field_presence", required_fields=["a", ""])


@pytest.mark.parametrize(
    ("output", "passes"),
    [({}, True), ({"a": 1}, True), ("{}", False), ([{}], False), (0, False), (False, False)],
)
def test_structural_shape_wants_a_mapping(output, passes):
    assert score("structural_shape", output).passed is passes


def test_structural_shape_wants_the_schema_to_fit():
    schema = {"required": ["a"]}
    assert score("structural_shape", {"a": 1}, schema=schema).passed is True
    assert score("structural_shape", {"b": 1}, schema=schema).passed is False
    (problem,) = problems_of("structural_shape", schema={"type": "no such type"})
    assert problem.startswith("schema: ")


@pytest.mark.parametrize(
    ("output", "value"),
    [(["x", None, "y", None], 0.5), ([{"output": "x"}, {"output": None}], 0.5), (["", 0], 1.0)],
)
def test_trajectory_shape_is_the_share_of_members_with_an_output(output, value):
    assert score("trajectory_shape", output, threshold=0.5).value == value


@pytest.mark.parametrize("output", ["one call", {"a": 1}, [], [None]])
def test_a_single_call_is_no_trajectory(output):
    assert score("trajectory_shape", output).code == "not_applicable"


@pytest.mark.parametrize(
    ("output", "options", "passes"),
    [
        ({"t": "one two"}, {"field": "t", "min": 2, "max": 2}, True),
        ({"t": "  "}, {"field": "t", "min": 1}, False), ("one two", {"max": 1}, False),
        ({"t": {"u": "one"}}, {"target_path": "t.u", "max": 1}, True),
        ('{"t": "a b"}', {"field": "t", "max": 2}, True),
    ],
)  # fmt: skip
def test_word_count_bounds_count_between_white_space(output, options, passes):
    assert score("word_count_bounds", output, **options).passed is passes


@pytest.mark.parametrize(
    ("name", "row", "most", "value", "passes"),
    [
        ("latency", Row(latency_s=0.25), 250, 250.0, True),
        ("latency", Row(latency_s=0.2501), 250, 250.1, False),
        ("cost", Row(cost_usd=0.0), 0, 0.0, True),
        ("cost", Row(cost_usd=0.02), 0.01, 0.02, False),
        ("tokens", Row(tokens=900), 1000, 900.0, True),
    ],
)
def test_measures_give_their_quantity(name, row, most, value, passes):
    check = compile_check({"check": name, "max": most})
    result = check.score(row)
    assert (result.value, result.passed) == (value, passes)
    assert check.score_range is None


@pytest.mark.parametrize("name", ["latency", "cost", "tokens"])
def test_what_was_not_recorded_is_not_applicable(name):
    result = compile_check({"check": name, "max": 1}).score(Row(output="x"))
    assert (result.status, result.code) == ("non_evaluable", "not_applicable")
    assert problems_of(name)
    assert problems_of(name, max=-1)
    assert problems_of(name, max="1")


CONTEXT = ("Returns are free for 30 days. Refunds take “five working days” at most.",)


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ('It says "returns are free for 30 days".', 1.0),
        ("It says “Returns are free for 30 days.”", 1.0),
        ('"Returns are free ... 30 days."', 1.0),
        ('"Returns are free for 60 days"', 0.0),
        ('"Returns are free for 30 days" and "refunds take two days"', 0.5),
        ("> Returns are free for 30 days.\n\nSo yes.", 1.0),
        ("«Returns are free for 30 days»", 1.0),
    ],
)
def test_quotations_are_looked_up_in_the_context(output, value):
    check = compile_check({"check": "quotes_context"})
    result = check.score(Row(output=output, context=CONTEXT))
    assert result.value == value
    assert result.passed is (value == 1.0)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (Row(output="no quotation", context=CONTEXT), "not_applicable"),
        (Row(output='the "free" plan', context=CONTEXT), "not_applicable"),
        (Row(output='"one two three"'), "not_applicable"),
        (Row(context=CONTEXT), "missing_output"),
    ],
)
def test_nothing_to_look_up_is_no_verdict(row, code):
    assert compile_check({"check": "quotes_context"}).score(row).code == code


def test_quotations_that_occur_nowhere_are_named():
    row = Row(output='"Returns are never free here"', context=CONTEXT)
    result = compile_check({"check": "quotes_context"}).score(row)
    assert result.details["missing"] == ["Returns are never free here"]
    assert list(find_quotations('a "b c" „d“ 「e」')) == ["b c", "d", "e"]


@pytest.mark.parametrize(
    ("metadata", "value", "passes"),
    [
        ({"judge_score": 4}, 4.0, True),
        ({"judge_score": 3.5}, 3.5, False),
        ({"judge_evidence": {"parsed_value": 5, "status": "ok"}}, 5.0, True),
        ({"judge_evidence": [{"metric": "tone", "parsed_value": 4},
                             {"metric": "x", "parsed_value": 1}]}, 4.0, True),
        ({"judge_evidence": {"tone": {"value": 0}}}, 0.0, False),
    ],
)  # fmt: skip
def test_recorded_evidence_is_read(metadata, value, passes):
    check = compile_check({"check": "judge_score", "metric": "tone", "threshold": 4})
    result = check.score(Row(metadata=metadata))
    assert (result.value, result.passed) == (value, passes)


@pytest.mark.parametrize(
    ("metadata", "status", "code"),
    [
        ({}, "non_evaluable", "not_applicable"),
        ({"judge_evidence": [{"metric": "other", "parsed_value": 4}]}, "non_evaluable",
         "not_applicable"),
        ({"judge_evidence": {"status": "timeout"}}, "blocked", "timeout"),
        ({"judge_evidence": {"status": "provider_error"}}, "blocked", "judge_unavailable"),
        ({"judge_evidence": {"status": "malformed"}}, "blocked", "judge_unparsable"),
        ({"judge_score": "4"}, "blocked", "judge_unparsable"),
        ({"judge_score": True}, "blocked", "judge_unparsable"),
        ({"judge_score": float("nan")}, "blocked", "judge_unparsable"),
        ({"judge_score": 98989}, "blocked", "score_out_of_range"),
    ],
)  # fmt: skip
def test_evidence_that_holds_no_verdict_is_never_a_score(metadata, status, code):
    check = compile_check(
        {"check": "judge_score", "metric": "tone", "threshold": 4, "score_range": [1, 5]}
    )
    result = check.score(Row(metadata=metadata))
    assert (result.status, result.code, result.value) == (status, code, None)


@pytest.mark.parametrize(
    "options",
    [{}, {"threshold": 1, "score_range": [1, 5]}, {"threshold": 6, "score_range": [1, 5]},
     {"threshold": 4, "score_range": [5, 1]}, {"threshold": 4, "score_range": [1]},
     {"threshold": float("nan")}],
)  # fmt: skip
def test_a_miswritten_judge_score_is_refused(options):
    assert problems_of("judge_score", **options)
