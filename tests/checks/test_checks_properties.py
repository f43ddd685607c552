"""What holds for every check, whatever the row."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_evalcheck.checks import CHECKS, compile_check
from pytest_evalcheck.model import Row

# One way to write each check; checks that compare take the row's expected value.
EXAMPLES: dict[str, dict[str, Any]] = {
    "any_of": {},
    "catalog_names": {},
    "catalog_tokens": {"max": 5},
    "choice": {},
    "contains": {"compare_to": "expected"},
    "contains_all": {"compare_to": "expected"},
    "contains_any": {"compare_to": "expected"},
    "contains_none": {"compare_to": "expected"},
    "contains_json": {"schema": {"type": ["object", "array"]}},
    "cost": {"max": 1},
    "ends_with": {"compare_to": "expected"},
    "enum_membership": {"allowed": ["a", 1, None]},
    "equals": {"compare_to": "expected"},
    "exact_match": {},
    "f1": {},
    "field_presence": {"required_fields": ["a", "b.c"]},
    "is_refusal": {},
    "json_diff": {},
    "json_path_equals": {"json_path": "a.b[*]", "compare_to": "expected"},
    "json_schema": {"schema": {"type": "object", "patternProperties": {"^a": {"type": "object"}}}},
    "judge_score": {"threshold": 1},
    "latency": {"max": 1},
    "length_bounds": {"min": 1, "max": 5},
    "list_overlap": {"compare_to": "expected"},
    "no_tool_calls": {"target": "output"},
    "not_contains": {"compare_to": "expected"},
    "numeric_bounds": {"min": 0, "max": 5},
    "numeric_equals": {"compare_to": "expected"},
    "quotes_context": {},
    "regex": {"pattern": "a+b?"},
    "set_overlap": {},
    "similarity": {"method": "chrf"},
    "starts_with": {"compare_to": "expected"},
    "structural_shape": {},
    "tokens": {"max": 5},
    "tool_catalog": {"fail_under": 50},
    "tool_consistency": {},
    "tool_description": {"threshold": 50, "fail_on": "major"},
    "tool_hidden_text": {},
    "tool_orders": {},
    "tool_schema": {},
    "tool_tokens": {"max": 5},
    "tool_called": {"tool": "a*", "target": "output"},
    "tool_calls": {"target": "output"},
    "trajectory_shape": {},
    "valid_json": {},
    "word_count_bounds": {"max": 3},
}
# Checks that give their best score when output and expected are the same.
IDENTITY = ("any_of", "contains", "ends_with", "equals", "exact_match", "f1", "json_diff",
            "list_overlap", "numeric_equals", "set_overlap", "similarity",
            "starts_with")  # fmt: skip

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["", " ", "A", "(B)", "5", "1,000", "5%", "I cannot help", '"one two three"', "[1, 2]",
     '{"a": 1}', '{"a": {"b": [1]}}', "a, b", "- a\n- b", "null", "\ud800", "\x00"]
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ROWS = st.builds(
    Row,
    output=VALUES,
    expected=VALUES,
    context=st.none() | st.tuples(TEXTS),
    latency_s=st.none() | st.floats(0, 10),
    cost_usd=st.none() | st.floats(0, 10),
    tokens=st.none() | st.integers(0, 10),
    metadata=st.dictionaries(st.sampled_from(["judge_score", "judge_evidence"]), VALUES),
)
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
COMPILED = {
    (name, negate): compile_check({"check": name, "negate": negate, **options})
    for name, options in EXAMPLES.items()
    for negate in (False, True)
}


@pytest.mark.parametrize("name", EXAMPLES)
@QUICK
@given(row=ROWS)
def test_a_row_gets_a_score_within_range_and_stays_as_it_was(name, row):
    before = copy.deepcopy(row)
    check = COMPILED[name, False]
    score = check.score(row)
    assert score.status != "error", score.details.get("traceback")
    assert row == before
    if score.status == "scored":
        assert score.passed is not None
        assert math.isfinite(score.value)
        if check.score_range is not None:
            assert check.score_range[0] <= score.value <= check.score_range[1]
    else:
        assert score.reason.startswith(f"{score.code}: ")


@pytest.mark.parametrize("name", EXAMPLES)
@QUICK
@given(row=ROWS)
def test_negation_never_turns_a_missing_verdict_into_one(name, row):
    plain, negated = COMPILED[name, False].score(row), COMPILED[name, True].score(row)
    assert negated.status == plain.status
    if plain.status != "scored":
        assert negated == plain
    elif plain.passed:
        assert negated.passed is False


@pytest.mark.parametrize("name", IDENTITY)
@QUICK
@given(value=VALUES)
def test_an_output_equal_to_the_expected_value_scores_best(name, value):
    # These take a list as alternatives, of which empty ones are skipped.
    expected = [value] if name in ("any_of", "f1", "similarity") else value
    score = COMPILED[name, False].score(Row(output=value, expected=expected))
    assert score.status != "scored" or (score.passed, score.value) == (True, 1.0), score


@pytest.mark.parametrize("name", EXAMPLES)
def test_deep_nesting_is_no_crash(name):
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    text = "[" * 3000 + "]" * 3000
    for output, expected in ((deep, deep), (text, text), (text, "1"), (deep, "1")):
        COMPILED[name, False].score(Row(output=output, expected=expected))


def test_every_check_has_an_example():
    assert set(EXAMPLES) == set(CHECKS)
