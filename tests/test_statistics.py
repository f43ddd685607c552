"""Intervals and estimates equal their published formulas and scipy's figures."""

from __future__ import annotations

import itertools
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pytest_evalcheck import statistics as stats
from shared_data import shared

# Kinds of the shared vectors that belong to capabilities this package does not have yet:
# judges (judge_score, judge_agreement, agreement), tool use (trajectory_shape), comparing
# runs (paired_delta), sampling plans (population), grouping (diagnostic_clusters).
LATER_KINDS = {
    "agreement",
    "diagnostic_clusters",
    "judge_agreement",
    "judge_score",
    "paired_delta",
    "population",
    "trajectory_shape",
}
KINDS_HERE = {
    "aggregate",
    "estimate",
    "mean_interval",
    "rollup",
    "rule_of_three",
    "student_t_quantile",
    "wilson_interval",
    "z_quantile",
}


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 19, 60, 199, 200, 1_000, 50_000, 1_000_000])
@pytest.mark.parametrize("p", [0.01, 0.4, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999, 0.999999])
def test_the_t_quantile_equals_scipys(p: float, df: int) -> None:
    assert stats.student_t_quantile(p, df) == pytest.approx(scipy_stats.t.ppf(p, df), rel=1e-9)


def test_the_middle_of_the_t_distribution_is_exactly_zero() -> None:
    assert stats.student_t_quantile(0.5, 3) == 0.0


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_the_normal_quantile_equals_scipys(confidence: float) -> None:
    want = scipy_stats.norm.ppf(0.5 + confidence / 2)
    assert stats.normal_quantile(confidence) == pytest.approx(want, rel=1e-12)


@given(
    counts=st.integers(1, 100_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    confidence=st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
def test_the_wilson_interval_equals_scipys(counts: tuple[int, int], confidence: float) -> None:
    passed, n = counts
    want = scipy_stats.binomtest(passed, n).proportion_ci(confidence, method="wilson")
    low, high = stats.wilson_interval(passed, n, confidence)
    assert (low, high) == (
        pytest.approx(want.low, rel=1e-9, abs=1e-12),
        pytest.approx(want.high, rel=1e-9),
    )
    assert 0 <= low <= passed / n <= high <= 1


@pytest.mark.parametrize(
    ("passed", "n"), [(0, 0), (2, 1), (-1, 5), (True, 3), (1, True), (1.0, 3)], ids=repr
)
def test_a_count_that_is_no_rate_is_refused(passed: Any, n: Any) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number|is not a rate"):
        stats.wilson_interval(passed, n)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, True, math.nan])
def test_a_confidence_outside_zero_and_one_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        stats.normal_quantile(confidence)


@given(st.lists(st.integers(-(10**6), 10**6).map(lambda n: n / 1000), min_size=2, max_size=40))
def test_the_t_interval_equals_scipys(values: list[float]) -> None:
    interval = stats.student_t_interval(values)
    assert interval is not None
    if len(set(values)) == 1:
        assert interval == (pytest.approx(values[0]), pytest.approx(values[0]))
        return
    want = scipy_stats.t.interval(
        0.95, len(values) - 1, loc=math.fsum(values) / len(values), scale=scipy_stats.sem(values)
    )
    scale = max(abs(bound) for bound in want)
    assert interval == pytest.approx(want, rel=1e-9, abs=1e-9 * scale + 1e-300)


def test_a_t_interval_is_clamped_to_the_range_of_the_score() -> None:
    low, high = stats.student_t_interval([3, 4, 5], score_range=(1, 5)) or (0, 0)
    assert (low, high) == (pytest.approx(4 - 4.302652729749464 / math.sqrt(3)), 5)


@pytest.mark.parametrize("values", [[], [0.7]], ids=["none", "one"])
def test_fewer_than_two_values_have_no_interval(values: list[float]) -> None:
    assert stats.student_t_interval(values) is None
    assert stats.bootstrap_interval(values) is None


def test_no_values_have_no_mean_and_no_median() -> None:
    for figure in (stats.mean, stats.median):
        with pytest.raises(ValueError, match="no values"):
            figure([])
    with pytest.raises(ValueError, match="two values"):
        stats.stdev([1.0])


def test_equal_values_have_no_spread_at_all() -> None:
    assert stats.stdev([0.1] * 3) == 0.0
    assert stats.student_t_interval([0.7, 0.7, 0.7]) == (
        pytest.approx(0.7),
        pytest.approx(0.7),
    )


def test_figures_do_not_depend_on_the_order_of_the_values() -> None:
    values = [0.1, 0.2, 0.3, 1e9, -1e9, 0.7]
    figures = {
        (stats.mean(order), stats.stdev(order), stats.median(order))
        for order in itertools.permutations(values)
    }
    assert len(figures) == 1


@pytest.mark.parametrize(("n", "want"), [(1, 1.0), (3, 1.0), (30, 0.1), (300, 0.01)])
def test_the_rule_of_three_is_three_over_n_and_at_most_one(n: int, want: float) -> None:
    assert stats.rule_of_three(n) == want


def test_the_bootstrap_is_seeded_and_blind_to_order() -> None:
    values = [1.0, 2.0, 2.5, 3.25, 4.0, 9.0]
    first = stats.bootstrap_interval(values)
    assert first == stats.bootstrap_interval(values[::-1])
    assert first != stats.bootstrap_interval(values, seed=1, resamples=50)


def test_the_bootstrap_of_a_mean_is_close_to_scipys() -> None:
    draw = random.Random(7)
    values = [draw.gauss(10, 2) for _ in range(60)]
    want = scipy_stats.bootstrap(
        (values,), lambda v: math.fsum(v) / len(v), vectorized=False, method="percentile"
    ).confidence_interval
    assert stats.bootstrap_interval(values, stats.mean) == pytest.approx(
        (want.low, want.high), abs=0.1
    )


@pytest.mark.parametrize(("n", "passed", "k"), [(5, 2, 1), (5, 2, 3), (6, 0, 2), (6, 6, 6)])
def test_pass_at_k_and_pass_all_k_equal_counting_every_draw(n: int, passed: int, k: int) -> None:
    outcomes = [True] * passed + [False] * (n - passed)
    draws = list(itertools.combinations(outcomes, k))
    assert stats.pass_at_k(n, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert stats.pass_all_k(n, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_more_draws_than_tries_are_refused() -> None:
    with pytest.raises(ValueError, match="k = 4 do not fit n = 3"):
        stats.pass_at_k(3, 1, 4)


def vectors() -> list[Any]:
    """Return the shared vectors of the kinds this module computes, or one skip."""
    try:
        text = shared("cases", "statistics.jsonl").read_text(encoding="utf-8")
    except pytest.skip.Exception as skipped:
        return [pytest.param({}, marks=pytest.mark.skip(reason=str(skipped)), id="absent")]
    cases = [json.loads(line) for line in text.splitlines() if line]
    assert {case["kind"] for case in cases} == KINDS_HERE | LATER_KINDS
    return [pytest.param(case, id=case["id"]) for case in cases if case["kind"] in KINDS_HERE]


@pytest.mark.parametrize("case", vectors())
def test_the_shared_vectors_hold(case: dict[str, Any]) -> None:
    want = case["want"]
    compute = globals()[f"vector_{case['kind']}"]
    if want["status"] == "config_error":
        with pytest.raises(ValueError, match=r"."):
            compute(case)
        return
    for name, value in compute(case).items():
        assert_equal(value, want.get(name), name)


def assert_equal(value: Any, want: Any, name: str) -> None:
    if isinstance(want, dict):
        want = (want["lower"], want["upper"])
    assert value == (None if want is None else pytest.approx(want, abs=1e-9)), name


def vector_wilson_interval(case: dict[str, Any]) -> dict[str, Any]:
    config = case["config"]
    return {"interval": stats.wilson_interval(config["successes"], config["n"], config["level"])}


def vector_z_quantile(case: dict[str, Any]) -> dict[str, Any]:
    return {"score": stats.normal_quantile(case["config"]["level"])}


def vector_student_t_quantile(case: dict[str, Any]) -> dict[str, Any]:
    return {"score": stats.student_t_quantile(case["config"]["p"], case["config"]["df"])}


def vector_rule_of_three(case: dict[str, Any]) -> dict[str, Any]:
    return {"score": stats.rule_of_three(case["config"]["n"])}


def vector_mean_interval(case: dict[str, Any]) -> dict[str, Any]:
    config = case["config"]
    return {"interval": stats.student_t_interval(config["values"], config["level"])}


def scored_values(output: list[Any]) -> list[float]:
    """Return the values of one metric that are scored and valid."""
    return [
        entry if isinstance(entry, int | float) else entry["value"]
        for entry in output
        if isinstance(entry, int | float)
        or ("value" in entry and "metric" not in entry and entry.get("validity") != "invalid")
    ]


def vector_aggregate(case: dict[str, Any]) -> dict[str, Any]:
    values = scored_values(case["output"])
    kinds = {
        "mean": stats.mean,
        "rate": stats.mean,
        "median": stats.median,
        "min": min,
        "max": max,
    }
    figure = kinds.get(case["config"]["aggregation"])
    return {"score": figure(values) if values and figure else None, "included": len(values)}


def vector_estimate(case: dict[str, Any]) -> dict[str, Any]:
    config, values = case["config"], scored_values(case["output"])
    score = vector_aggregate(case)["score"]
    interval = None
    if score is not None and config["score_type"] == "binary":
        passed = sum(value >= 0.5 for value in values)
        interval = stats.wilson_interval(passed, len(values), config["level"])
    elif score is not None and config["aggregation"] == "mean":
        interval = stats.student_t_interval(values, config["level"], config["score_range"])
    return {"score": score, "n": len(values), "interval": interval}


def vector_rollup(case: dict[str, Any]) -> dict[str, Any]:
    scores = [entry["score"] for entry in case["output"] if "score" in entry]
    verdicts = [entry["passed"] for entry in case["output"] if entry["passed"] is not None]
    if scores:
        return {"count": len(verdicts), "avg_check_score": stats.mean(scores)}
    rate = sum(verdicts) / len(verdicts)
    return {"count": len(verdicts), "pass_rate": round(rate, 2)}
