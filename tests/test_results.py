"""Figures are the same in whatever order results arrive, and say what was measured."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.model import Gate, Metric, Result, Row, Score
from pytest_evalcheck.results import (
    TEXT_LIMIT,
    WORST_KEPT,
    MetricPlan,
    Results,
    RunInfo,
    RunTally,
    crashed_result,
    make_result,
    result_from_plain,
    result_to_plain,
    row_slices,
    summarise,
)

SUITE = "evals/evalcheck.yaml"
PASSED = Score("scored", 1.0, True)
FAILED = Score("scored", 0.0, False, "not there", details={"found": "20 days", "wanted": "30 days"})


def plan(name: str = "cites", gate: Gate | None = None, **more: Any) -> MetricPlan:
    return MetricPlan(suite=SUITE, name=name, gate=gate or Gate(), **more)


def result(score: Score, line: int = 1, metric: str = "cites", **more: Any) -> Result:
    row = Row(id=f"row-{line}", line=line)
    fields = {"suite": SUITE, "dataset": "evals/t.jsonl", **more}
    return make_result(score, row=row, metric=metric, **fields)


def test_the_figures_of_a_small_run_are_those_of_a_hand_calculation() -> None:
    scores = [PASSED] * 17 + [FAILED] * 3 + [Score("non_evaluable", code="missing_output")] * 4
    results = summarise([plan()], [result(score, i) for i, score in enumerate(scores, start=1)])
    figures = results.metric("cites")
    assert (figures.rows, figures.scored, figures.passed, figures.failed) == (24, 20, 17, 3)
    assert (figures.non_evaluable, figures.blocked, figures.errors) == (4, 0, 0)
    assert figures.reasons == {"missing_output": 4}
    assert figures.reason_examples == {"missing_output": "evals/t.jsonl:21"}
    assert figures.pass_rate == 0.85
    # Wilson: (p + z2/2n -+ z sqrt(pq/n + z2/4n2)) / (1 + z2/n), z = 1.959964
    assert figures.pass_rate_interval == pytest.approx((0.639581, 0.947631), abs=1e-6)
    assert figures.mean == 0.85
    assert figures.stdev == pytest.approx(math.sqrt(17 * 3 / 20 / 19))
    assert figures.coverage == pytest.approx(20 / 24)
    assert (figures.verdict, figures.why) == ("fail", "3 of 20 scored rows failed")


def test_nothing_scored_is_no_figure_and_never_zero() -> None:
    figures = summarise([plan()], [result(Score("blocked", code="timeout"))]).metric("cites")
    assert figures.pass_rate is figures.mean is figures.stdev is None
    assert figures.pass_rate_interval is figures.mean_interval is None
    assert (figures.verdict, figures.coverage) == ("blocked", 0.0)


def test_one_value_has_a_mean_and_no_interval() -> None:
    figures = summarise([plan()], [result(PASSED)]).metric("cites")
    assert (figures.mean, figures.mean_interval) == (1.0, None)


def test_the_interval_of_a_mean_stays_within_the_range_of_the_score() -> None:
    results = [result(Score("scored", value, True), line) for line, value in enumerate([4.0, 5.0])]
    figures = summarise([plan(score_range=(1.0, 5.0))], results).metric("cites")
    assert figures.mean_interval == (1.0, 5.0)


def test_rows_a_metric_does_not_apply_to_leave_coverage_alone() -> None:
    off = result(Score("non_evaluable", code="not_applicable"), 2)
    figures = summarise([plan()], [result(PASSED), off]).metric("cites")
    assert (figures.rows, figures.applicable, figures.coverage) == (2, 1, 1.0)
    assert figures.reasons == {"not_applicable": 1}


def test_a_reason_without_code_is_counted_by_status() -> None:
    figures = summarise([plan()], [result(Score("error", reason="boom"))]).metric("cites")
    assert figures.reasons == {"error": 1}


def test_the_worst_rows_are_errors_then_the_lowest_values_in_order_of_lines() -> None:
    results = [
        *(result(Score("scored", 0.5 - line / 100, False), line) for line in range(1, 9)),
        result(Score("error"), 99),
        result(PASSED, 100),
    ]
    random.Random(3).shuffle(results)
    worst = summarise([plan()], results).metric("cites").worst
    assert [row.line for row in worst] == [99, 8, 7, 6, 5]
    assert len(worst) == WORST_KEPT


@st.composite
def some_results(draw: st.DrawFn) -> list[Result]:
    scores = st.one_of(
        st.floats(-5, 5).map(lambda value: Score("scored", value, value > 0)),
        st.sampled_from(["missing_output", "not_applicable"]).map(
            lambda code: Score("non_evaluable", code=code)
        ),
        st.just(Score("blocked", code="timeout", reason="timeout: 30 s")),
        st.just(Score("error", reason="KeyError")),
        st.just(FAILED),
    )
    places = st.tuples(
        st.sampled_from(["evals/t.jsonl", "evals/sub/a.csv", "evals/b.jsonl"]),
        st.integers(1, 9),
        st.sampled_from(["cites", "total", "unplanned"]),
    )
    keys = draw(st.lists(places, unique=True, max_size=30))
    tags = st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple)
    return [
        replace(result(draw(scores), line, metric, dataset=dataset), slices=draw(tags))
        for dataset, line, metric in keys
    ]


@given(results=some_results(), seed=st.integers(0, 99), plain=st.booleans())
def test_order_and_transport_change_neither_figures_nor_document(
    results: list[Result], seed: int, plain: bool
) -> None:
    plans = [plan("total", Gate(kind="rule", pass_rate=0.5)), plan()]
    arrived = [json.loads(json.dumps(result_to_plain(r))) if plain else r for r in results]
    random.Random(seed).shuffle(arrived)
    first = summarise(plans, results, run=RunInfo(expected=len(results)))
    other = summarise(plans, arrived, run=RunInfo(expected=len(results)))
    assert other == first
    assert json.dumps(other.to_document()) == json.dumps(first.to_document())


@given(some_results())
def test_every_result_is_counted_exactly_once(results: list[Result]) -> None:
    for figures in summarise([plan(), plan("total")], results).metrics:
        own = [r for r in results if r.metric == figures.name]
        assert figures.rows == len(own)
        assert figures.scored == figures.passed + figures.failed
        unscored = figures.non_evaluable + figures.blocked + figures.errors
        assert unscored == sum(figures.reasons.values()) == figures.rows - figures.scored


def test_results_come_in_the_order_of_collection() -> None:
    plans = [plan("second"), plan("first")]
    given_results = [
        result(PASSED, line, metric, dataset=dataset)
        for dataset in ("evals/z.jsonl", "evals/a/x.jsonl", "evals/a.jsonl")
        for line in (10, 9)
        for metric in ("first", "second")
    ]
    order = [
        (r.dataset, r.line, r.metric)
        for r in summarise(plans, given_results, datasets=["evals/z.jsonl"]).results
    ]
    assert order == [
        (dataset, line, metric)
        for dataset in ("evals/z.jsonl", "evals/a/x.jsonl", "evals/a.jsonl")
        for line in (9, 10)
        for metric in ("second", "first")
    ]


@pytest.mark.parametrize(
    "gate",
    [Gate(), Gate(kind="off", note="draft"), Gate(kind="rule", mean=4.0, confidence=0.9)],
    ids=lambda gate: gate.text(),
)
def test_a_plan_travels_as_plain_json(gate: Gate) -> None:
    sent = plan(gate=gate, version=1, source="contains@1", score_range=(0.0, 1.0), threshold=0.5)
    assert MetricPlan.from_plain(json.loads(json.dumps(sent.to_plain()))) == sent


@pytest.mark.parametrize(
    ("source", "version"), [("contains@1", 1), ("checks.py:polite", None), ("a@b.py:f", None)]
)
def test_a_plan_takes_its_version_from_a_built_in_source(source: str, version: int | None) -> None:
    metric = Metric(name="m", kind="check", source=source, score=lambda row: PASSED)
    assert MetricPlan.of(SUITE, metric) == plan("m", source=source, version=version)


@given(some_results())
def test_a_result_travels_as_plain_json(results: list[Result]) -> None:
    for sent in results:
        assert result_from_plain(json.loads(json.dumps(result_to_plain(sent)))) == sent


def test_a_passed_result_travels_without_the_fields_that_say_nothing() -> None:
    assert result_to_plain(result(PASSED)) == {
        "suite": SUITE,
        "dataset": "evals/t.jsonl",
        "line": 1,
        "row": "row-1",
        "metric": "cites",
        "status": "scored",
        "passed": True,
        "value": 1.0,
    }


def test_a_score_of_zero_travels_as_zero() -> None:
    assert result_to_plain(result(FAILED))["value"] == 0.0
    assert result_to_plain(result(FAILED))["passed"] is False


def test_a_result_takes_over_what_the_row_recorded() -> None:
    row = Row(
        id="r", line=7, latency_s=1.5, tokens=40, cost_usd=0.01, tags=("golden",), app_version="2.1"
    )
    made = make_result(FAILED, suite=SUITE, dataset="d.jsonl", row=row, metric="m", repeat=2)
    assert (made.line, made.row, made.latency_s, made.tokens, made.cost_usd) == (
        *(7, "r", 1.5, 40, 0.01),
    )
    assert (made.tags, made.app_version, made.repeat) == (("golden",), "2.1", 2)
    assert (made.found, made.wanted, made.reason) == ("20 days", "30 days", "not there")


def test_both_sides_are_kept_as_json_and_cut_when_long() -> None:
    details = {"found": {"total": 5}, "wanted": "x" * (TEXT_LIMIT + 1)}
    made = result(Score("scored", 0.0, False, "differs", details=details))
    assert json.loads(made.found or "") == {"total": 5}
    assert made.wanted == "x" * TEXT_LIMIT + "… (2,001 characters)"


def test_text_of_a_model_is_safe_in_a_result() -> None:
    details = {"found": "\x1b[2J::error::x", "wanted": "tok3n-value"}
    score = Score("scored", 0.0, False, "found \x1b[2J", details=details)
    made = result(score, redact=lambda text: text.replace("tok3n-value", "[TOKEN redacted]"))
    assert made.reason == "found \\x1b[2J"
    assert made.found == "\\x1b[2J::error::x"
    assert made.wanted == "[TOKEN redacted]"


@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_a_score_that_is_no_number_never_becomes_a_figure(value: float | None) -> None:
    """MCPJam/inspector#2359."""
    with pytest.raises(ValueError, match="needs a finite value"):
        Score("scored", value, True)


@pytest.mark.parametrize("latency_s", [math.nan, math.inf])
def test_no_figure_that_is_no_number_gets_into_a_result(latency_s: float) -> None:
    row = Row(id="r", line=1, latency_s=latency_s)
    made = make_result(PASSED, suite=SUITE, dataset="d", row=row, metric="m")
    assert made.latency_s is None


@pytest.mark.parametrize(
    ("by", "want"),
    [
        ("tag", ("a", "b")),
        ("a", ("a",)),
        ("region", ("EU",)),
        ("stars", ("5",)),
        ("app_version", ("2.1",)),
        ("absent", ("(none)",)),
    ],
)
def test_a_row_is_sliced_by_tags_or_a_metadata_key(by: str, want: tuple[str, ...]) -> None:
    row = Row(tags=("b", "a"), metadata={"region": "EU", "stars": 5}, app_version="2.1")
    assert row_slices(row, by) == want


def test_slices_hold_the_same_figures_by_value() -> None:
    results = [
        replace(result(score, line), slices=(region,))
        for line, (score, region) in enumerate([(PASSED, "EU"), (FAILED, "EU"), (PASSED, "US")])
    ]
    figures = summarise([plan()], results).metric("cites")
    assert [(s.name, s.rows, s.scored, s.passed, s.pass_rate) for s in figures.slices] == [
        ("EU", 2, 2, 1, 0.5),
        ("US", 1, 1, 1, 1.0),
    ]


def test_a_row_run_again_is_one_row_and_the_last_attempt_counts() -> None:
    """deepeval#1992."""
    results = summarise([plan()], [result(FAILED), result(PASSED)])
    assert results.ran == 1
    assert results.metric("cites").verdict == "pass"


def test_the_same_row_of_another_dataset_or_repeat_is_another_result() -> None:
    results = [result(PASSED), result(PASSED, dataset="b.jsonl"), result(PASSED, repeat=2)]
    assert summarise([plan()], results).metric("cites").rows == 3


def test_a_crash_is_an_error_that_never_replaces_a_result() -> None:
    crash = crashed_result(
        suite=SUITE, dataset="evals/t.jsonl", line=1, row="row-1", metric="cites"
    )
    assert crash.code == "worker_crashed"
    alone = summarise([plan()], [crash]).metric("cites")
    assert (alone.errors, alone.reasons, alone.verdict) == (1, {"worker_crashed": 1}, "fail")
    for order in ([crash, result(PASSED)], [result(PASSED), crash]):
        assert summarise([plan()], order).metric("cites").passed == 1


@pytest.mark.parametrize(
    ("run", "complete"),
    [
        (RunInfo(), True),
        (RunInfo(expected=1), True),
        (RunInfo(expected=2), False),
        (RunInfo(complete=False), False),
    ],
)
def test_a_run_that_lacks_results_is_incomplete_and_its_gates_undecided(
    run: RunInfo, complete: bool
) -> None:
    results = summarise([plan()], [result(PASSED)], run=run)
    assert results.run.complete is complete
    assert results.metric("cites").verdict == ("pass" if complete else "undecided")
    assert results.gates_pass is complete


def test_a_result_nobody_announced_counts_under_the_strictest_gate() -> None:
    results = summarise([], [result(FAILED, metric="stray")])
    assert results.metric("stray").verdict == "fail"


def test_of_two_entries_of_one_name_the_stricter_gate_counts() -> None:
    plans = [plan(gate=Gate(kind="off")), plan(gate=Gate()), plan(gate=Gate(kind="off"))]
    assert summarise(plans, [result(FAILED)]).metric("cites").verdict == "fail"


@pytest.mark.parametrize(
    ("narrowed", "complete", "want"),
    [
        (False, True, {"cites": "pass", "total": "blocked"}),
        (True, True, {"cites": "pass"}),
        (True, False, {"cites": "undecided", "total": "undecided"}),
    ],
)
def test_a_metric_nobody_asked_for_is_left_out_of_a_narrowed_run(
    narrowed: bool, complete: bool, want: dict[str, str]
) -> None:
    results = summarise(
        [plan(), plan("total")],
        [result(PASSED)],
        run=RunInfo(complete=complete),
        narrowed=narrowed,
    )
    assert {m.name: m.verdict for m in results.metrics} == want


def test_a_metric_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError, match="0 metrics are called 'x'"):
        summarise([plan()], []).metric("x")


def test_an_informational_metric_never_stands_in_the_way() -> None:
    results = summarise([plan(gate=Gate(kind="off"))], [result(FAILED), result(Score("error"), 2)])
    assert results.gates_pass


def test_two_runs_differ_in_times_only() -> None:
    def run(start: str, latency_s: float) -> dict[str, Any]:
        info = RunInfo(started_at=start, duration_s=latency_s)
        return summarise([plan()], [result(PASSED, latency_s=latency_s)], run=info).to_document()

    first, second = run("2026-01-01T00:00:00+00:00", 1.0), run("2026-01-02T00:00:00+00:00", 2.0)
    assert first != second
    for document in (first, second):
        del document["run"]["started_at"], document["run"]["duration_s"]
        del document["results"][0]["latency_s"]
    assert first == second


def test_a_tally_need_not_keep_the_results() -> None:
    tally = RunTally([plan()], keep=False)
    for line in range(1, 4):
        tally.add(result(PASSED, line))
    results = tally.finish()
    assert isinstance(results, Results)
    assert (results.results, results.ran, results.metric("cites").passed) == ((), 3, 3)


def test_fifty_thousand_results_are_light() -> None:
    import tracemalloc

    row, made = Row(id="r", line=1), result(PASSED)
    assert row.id
    plain = result_to_plain(made)
    tracemalloc.start()
    tally = RunTally([plan()], keep=False)
    for line in range(50_000):
        tally.add({**plain, "line": line})
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 1_000_000
