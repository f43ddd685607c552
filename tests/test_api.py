"""The library API: scores and results without pytest."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pytest_evalcheck
from pytest_evalcheck import ConfigError, DatasetError, Row, evaluate, score

CONTAINS = {"check": "contains", "value": "policy"}


def test_a_metric_scores_a_row():
    result = score(CONTAINS, {"output": "Our Policy", "expected": None})
    assert (result.status, result.value, result.passed) == ("scored", 1.0, True)


def test_a_row_may_be_a_row():
    assert score(CONTAINS, Row(id="r", output="no")).passed is False


def test_aliases_of_fields_are_read_as_in_a_dataset():
    assert score({"check": "exact_match"}, {"response": "4", "ideal": "4"}).passed is True


DIALECTS = {
    "native": CONTAINS,
    "EvalGlass": {
        "name": "m",
        "evaluator_ref": "field_presence@1",
        "lens": "non_reference",
        "score_type": "continuous",
        "params": {"required_fields": ["a"]},
    },
    "CompletionKit": {
        "name": "m",
        "metric_type": "check",
        "check_config": {"check_kind": "contains", "value": "policy"},
    },
}


@pytest.mark.parametrize("metric", DIALECTS.values(), ids=DIALECTS)
def test_every_dialect_is_taken(metric):
    assert score(metric, {"output": {"a": "policy"}}).passed is True


def test_a_missing_output_is_no_verdict():
    result = score(CONTAINS, {"input": "q"})
    assert (result.status, result.value, result.passed, result.code) == (
        "non_evaluable",
        None,
        None,
        "missing_output",
    )


def test_a_miswritten_metric_is_a_config_error():
    with pytest.raises(ConfigError, match="Did you mean 'value'"):
        score({"check": "contains", "vlaue": "x"}, {"output": "x"})


def test_a_miswritten_row_is_a_dataset_error():
    with pytest.raises(DatasetError):
        score(CONTAINS, {"output": "x", "response": "y"})


def test_a_row_that_is_not_selected_is_not_applicable():
    result = score({**CONTAINS, "applies_to": {"kind": "letter"}}, {"output": "x", "kind": "mail"})
    assert (result.status, result.code) == ("non_evaluable", "not_applicable")


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "tickets.jsonl").write_text(
        '{"id": "a", "output": "our policy"}\n'
        '{"id": "b", "output": "no"}\n'
        '{"id": "c", "input": "q"}\n'
        '{"id": "d", "output": "x", "metrics": '
        '[{"name": "long", "check": "length_bounds", "min": 5}]}\n',
        encoding="utf-8",
    )
    path = tmp_path / "evalcheck.yaml"
    path.write_text(
        'datasets: ["*.jsonl"]\nmetrics: [{name: policy, check: contains, value: policy}]\n',
        encoding="utf-8",
    )
    return path


def figures(results):
    return {
        one.plan.name: (one.rows, one.scored, one.passed, one.failed, one.non_evaluable)
        for one in results.metrics
    }


def test_a_suite_is_evaluated_on_its_datasets(suite):
    results = evaluate(suite)
    assert figures(results) == {"policy": (4, 3, 1, 2, 1), "long": (1, 1, 0, 1, 0)}
    assert {one.verdict for one in results.metrics} == {"fail"}
    assert [(one.dataset, one.row, one.line) for one in results.results][:2] == [
        ("tickets.jsonl", "a", 1),
        ("tickets.jsonl", "b", 2),
    ]


def test_a_suite_is_evaluated_on_given_rows(suite):
    results = evaluate(str(suite), rows=[{"output": "policy"}, Row(id="x", output="policy")])
    assert figures(results) == {"policy": (2, 2, 2, 0, 0)}
    assert [one.row for one in results.results] == ["1", "x"] or len(results.results) == 2
    assert results.metrics[0].verdict == "pass"


WRONG = {
    "no rows": ({"rows": []}, "no rows, expected one row or more."),
    "two of an id": (
        {"rows": [{"id": "a", "output": "x"}, {"id": "a", "output": "y"}]},
        "two rows of the id 'a', expected one each.",
    ),
    "a record mode": (
        {"record_mode": "never"},
        "record_mode='never', expected one of new_episodes, once, none, all.",
    ),
}


@pytest.mark.parametrize(("arguments", "text"), WRONG.values(), ids=WRONG)
def test_arguments_that_mean_nothing_are_refused(suite, arguments, text):
    with pytest.raises(ConfigError) as caught:
        evaluate(suite, **arguments)
    assert str(caught.value) == text


def test_every_public_name_is_there():
    assert all(hasattr(pytest_evalcheck, name) for name in pytest_evalcheck.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        pytest_evalcheck.evalute  # noqa: B018


def test_scoring_and_evaluating_import_no_pytest(suite):
    code = (
        "import sys; from pytest_evalcheck import evaluate, score; "
        "score({'check': 'contains', 'value': 'x'}, {'output': 'x'}); "
        f"evaluate({str(suite)!r}); "
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('pytest', '_pytest')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_self_contained_suite_is_evaluated_on_its_own_rows(tmp_path):
    path = tmp_path / "smoke.eval.yaml"
    path.write_text(
        "metrics: [{name: polite, evaluator: 'tone.py:polite', gate: {pass_rate: 0.5}}]\n"
        "rows:\n  - {id: a, output: please}\n  - {id: b, output: now}\n",
        encoding="utf-8",
    )
    (tmp_path / "tone.py").write_text("def polite(output): return 'please' in output\n")
    results = evaluate(path)
    assert figures(results) == {"polite": (2, 2, 1, 1, 0)}
    assert [(one.dataset, one.row, one.line) for one in results.results] == [
        ("smoke.eval.yaml", "a", 3),
        ("smoke.eval.yaml", "b", 4),
    ]
    assert results.metrics[0].verdict == "pass"


def test_a_row_that_asks_to_be_skipped_is_no_verdict():
    result = score(CONTAINS, {"output": "policy", "skip": "later"})
    assert (result.status, result.code, result.reason) == (
        "non_evaluable",
        "not_applicable",
        "skipped: later",
    )
