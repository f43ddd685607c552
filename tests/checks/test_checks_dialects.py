"""Entries of CompletionKit and EvalGlass keep the meaning their users know."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.checks.dialects import from_completionkit, from_evalglass, from_ruby
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Row


def completionkit(**config: Any) -> dict[str, Any]:
    return from_completionkit({"metric_type": "check", "check_config": config})


@pytest.mark.parametrize(
    ("config", "native"),
    [
        (
            {"check_kind": "contains", "value": "x", "target": "response_text", "trim": "true"},
            {"check": "contains", "value": "x", "strip": True},
        ),
        ({"check_kind": "equals", "value": 5}, {"check": "equals", "value": "5"}),
        (
            {"check_kind": "equals", "value": "old", "compare_to": "expected",
             "expected_path": " a.b "},
            {"check": "equals", "compare_to": "expected", "expected_path": "a.b"},
        ),
        (
            {"check_kind": "regex", "pattern": r"^a\z", "multiline": True},
            {"check": "regex", "pattern": r"^a\Z", "multiline": True, "dotall": True},
        ),
        (
            {"check_kind": "regex", "pattern": "a", "case_sensitive": "false"},
            {"check": "regex", "pattern": "a", "multiline": True, "case_sensitive": False},
        ),
        (
            {"check_kind": "length_bounds", "min": "2", "max": ""},
            {"check": "length_bounds", "min": 2},
        ),
        (
            {"check_kind": "numeric_equals", "value": "5", "tolerance": "0.5"},
            {"check": "numeric_equals", "value": "5", "tolerance": 0.5, "pick": "whole"},
        ),
        (
            {"check_kind": "list_overlap", "value": ["a"], "min": 0},
            {"check": "list_overlap", "value": ["a"], "report_only": True},
        ),
        (
            {"check_kind": "json_path_equals", "json_path": "a", "expected": None},
            {"check": "json_path_equals", "json_path": "a", "expected": None},
        ),
        (
            {"check_kind": "contains", "value": "x", "target": "input_data"},
            {"check": "contains", "value": "x", "target": "input"},
        ),
        ({"check_kind": "no_refusal"}, {"check": "is_refusal", "negate": True}),
    ],
)  # fmt: skip
def test_a_completionkit_entry_becomes_native_options(config, native):
    assert completionkit(**config) == native


@pytest.mark.parametrize(
    ("config", "key", "said"),
    [
        ({"check_kind": "contans", "value": "x"}, "check_kind", "Did you mean 'contains'"),
        ({"check_kind": "contains", "valeu": "x"}, "valeu", "Did you mean 'value'"),
        ({"check_kind": "contains", "value": "  "}, "value", "a blank text"),
        ({"check_kind": "regex", "pattern": ""}, "pattern", "a blank text"),
        ({"check_kind": "valid_json", "target_path": " "}, "target_path", "a blank text"),
        ({"check_kind": "equals", "value": "x", "target": "respnse_text"}, "target", "Did you"),
        ({"check_kind": "equals", "value": "x", "trim": "maybe"}, "trim", "true or false"),
        ({"check_kind": "length_bounds", "min": "abc"}, "min", "a number"),
        ({}, "check_kind", "None is not a check kind"),
    ],
)
def test_a_miswritten_completionkit_entry_is_refused(config, key, said):
    with pytest.raises(ConfigError) as caught:
        completionkit(**config)
    (problem,) = caught.value.problems
    assert problem.keys == ("check_config", key)
    assert said in problem.text()


def test_all_mistakes_of_a_completionkit_entry_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        completionkit(check_kind="length_bounds", min="a", max="b", unit="words")
    assert {problem.keys[1] for problem in caught.value.problems} == {"min", "max", "unit"}


@pytest.mark.parametrize(
    ("ruby", "python"),
    [(r"\Aa\z", r"\Aa\Z"), (r"a\Z", r"a(?=\n?\Z)"), (r"\h+", "[0-9a-fA-F]+"),
     (r"[\h-]", "[0-9a-fA-F-]"), (r"\\z", r"\\z"), (r"\[\h", r"\[[0-9a-fA-F]")],
)  # fmt: skip
def test_ruby_escapes_become_ours(ruby, python):
    assert from_ruby(ruby) == python


def test_ruby_anchors_match_at_lines():
    check = compile_check(completionkit(check_kind="regex", pattern="^b$"))
    assert check.score(Row(output="a\nb\nc")).passed is True


@pytest.mark.parametrize(
    ("entry", "native"),
    [
        (
            {"evaluator_ref": "numeric_bounds@1", "params": {"field": "a", "max": 1}},
            {"check": "numeric_bounds@1", "field": "a", "max": 1},
        ),
        ({"evaluator_ref": "exact_match@1"}, {"check": "exact_match@1"}),
        (
            {"evaluator_ref": "judge_score@1", "name": "tone", "score_range": [1, 5]},
            {"check": "judge_score@1", "metric": "tone", "score_range": [1, 5]},
        ),
    ],
)
def test_an_evalglass_entry_becomes_native_options(entry, native):
    assert from_evalglass(entry) == native


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"evaluator_ref": "exact_mach@1"}, "Did you mean 'exact_match'"),
        ({"evaluator_ref": None}, "not a built-in evaluator"),
        ({"evaluator_ref": "numeric_bounds@1", "params": {"feild": "a"}}, "Did you mean 'field'"),
        ({"evaluator_ref": "exact_match@1", "params": ["a"]}, "expected a mapping"),
    ],
)
def test_a_miswritten_evalglass_entry_is_refused(entry, said):
    with pytest.raises(ConfigError, match=said):
        from_evalglass(entry)


def test_an_unknown_version_of_an_evaluator_is_refused():
    with pytest.raises(ConfigError, match="expected exact_match@1"):
        compile_check(from_evalglass({"evaluator_ref": "exact_match@9"}))
