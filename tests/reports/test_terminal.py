"""The summary is the same text for the same results, and says what needs saying."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.model import Gate, Result, Row, Score
from pytest_evalcheck.reports.terminal import Line, summary_lines
from pytest_evalcheck.reports.textwidth import display_width
from pytest_evalcheck.results import MetricPlan, Results, RunInfo, make_result, summarise

SUITE = "evals/evalcheck.yaml"
PASSED = Score("scored", 1.0, True)
MISSED = Score(
    "scored",
    0.0,
    False,
    "found '20 days', expected text that contains '30 days'",
    details={"found": "You have 20 days", "wanted": "30 days"},
)
NO_OUTPUT = Score("non_evaluable", code="missing_output", reason="missing_output: none recorded")
NO_PACKAGE = Score("blocked", code="dependency_missing", reason="dependency_missing: install it")


def plan(name: str, gate: Gate | None = None, *, suite: str = SUITE, **more: Any) -> MetricPlan:
    return MetricPlan(suite=suite, name=name, gate=gate or Gate(), **more)


def row_results(metric: str, scores: Iterable[Score], suite: str = SUITE) -> list[Result]:
    return [
        make_result(
            score,
            suite=suite,
            dataset="evals/tickets.jsonl",
            row=Row(id=f"ticket-{line}", line=line),
            metric=metric,
        )
        for line, score in enumerate(scores, start=1)
    ]


def summary_text(results: Results, verbosity: int = 0, width: int = 80) -> str:
    return "\n".join(line.text for line in summary_lines(results, verbosity=verbosity, width=width))


def support_run(**run: Any) -> Results:
    """Return a run in which every kind of thing there is to say happens."""
    plans = [
        plan("cites_policy"),
        plan("total", Gate(kind="rule", pass_rate=0.9, coverage=0.8, confidence=0.95)),
        plan("stars", Gate(kind="off", note="metric_status: draft"), score_range=(1.0, 5.0)),
        plan("mentions_order", kind="evaluator"),
    ]
    stars = [Score("scored", float(value), value >= 4) for value in (2, 4, 5)]
    results = [
        *row_results("cites_policy", [MISSED if n in (2, 6, 8) else PASSED for n in range(20)]),
        *row_results("total", [NO_OUTPUT if n in (3, 4) else PASSED for n in range(20)]),
        *row_results("stars", stars),
        *row_results("mentions_order", [NO_PACKAGE if n == 3 else PASSED for n in range(20)]),
    ]
    random.Random(run.pop("seed", 0)).shuffle(results)
    return summarise(plans, results, run=RunInfo(**run))


def test_the_whole_summary_of_a_run_with_everything_to_say() -> None:
    assert (
        summary_text(support_run())
        == """\
evals/evalcheck.yaml
metric          kind       gate  scored/rows          pass rate  mean  verdict
--------------  ---------  ----  -----------  -----------------  ----  -------
cites_policy    check      each        20/20  0.85 [0.64, 0.95]  0.85  fail
total           check      rule        18/20  1.00 [0.82, 1.00]  1.00  fail
stars           check      off           3/3  0.67 [0.21, 0.94]  3.67  off
mentions_order  evaluator  each        19/20  1.00 [0.83, 1.00]  1.00  blocked
FAIL cites_policy (gate: each): 3 of 20 scored rows failed
FAIL total (gate: pass_rate 0.9, coverage 0.8, confidence 0.95): pass rate 1.00
  (18 of 18) has its 95 % lower bound at 0.82, below 0.9; about 35 scored rows
  at this figure would settle it
BLOCKED mentions_order (gate: each): 1 row blocked
not scored, by reason:
  2 missing_output (total 2), first at evals/tickets.jsonl:4
  1 dependency_missing (mentions_order 1), first at evals/tickets.jsonl:4
worst rows:
  evals/tickets.jsonl:3 ticket-3 cites_policy:
    found You have 20 days / wanted 30 days
  evals/tickets.jsonl:1 ticket-1 stars: scored 2.00
  evals/tickets.jsonl:7 ticket-7 cites_policy:
    found You have 20 days / wanted 30 days
  evals/tickets.jsonl:9 ticket-9 cites_policy:
    found You have 20 days / wanted 30 days
note: stars: metric_status: draft
note: all scored rows passed; by the rule of three the rate of failures may
      still be up to total 0.17 (n=18), mentions_order 0.16 (n=19)
note: fewer than 5 scored rows, so the mean says little: stars (3)

gates: 2 fail, 1 blocked, 1 off"""
    )


def test_a_verbose_summary_adds_every_kept_row_and_the_intervals_of_means() -> None:
    added = set(summary_text(support_run(), 1).split("\n"))
    added -= set(summary_text(support_run()).split("\n"))
    assert sorted(added) == [
        "mean of stars: 3.67 [1.00, 5.00] (95 %, n=3)",
    ]


def test_a_quiet_summary_is_one_line_of_counts() -> None:
    assert summary_text(support_run(), -1) == (
        "…heck.yaml: 56 passed, 4 failed, 2 non_evaluable, 1 blocked; gates not passed: 3"
    )


def test_a_green_run_has_little_to_say() -> None:
    results = summarise(
        [plan("cites_policy"), plan("total")],
        row_results("cites_policy", [PASSED] * 9)
        + row_results("total", [Score("scored", value / 10, True) for value in range(5, 10)]),
    )
    assert (
        summary_text(results)
        == """\
evals/evalcheck.yaml
metric        kind   gate  scored/rows          pass rate  mean  verdict
------------  -----  ----  -----------  -----------------  ----  -------
cites_policy  check  each          9/9  1.00 [0.70, 1.00]  1.00  pass
total         check  each          5/5  1.00 [0.57, 1.00]  0.70  pass
note: all scored rows passed; by the rule of three the rate of failures may
      still be up to cites_policy 0.33 (n=9), total 0.60 (n=5)

gates: 2 pass"""
    )


def test_an_incomplete_run_says_so_first_and_decides_nothing() -> None:
    done = row_results("cites_policy", [PASSED] * 12)
    results = summarise([plan("cites_policy"), plan("total")], done, run=RunInfo(expected=40))
    lines = summary_lines(results)
    assert lines[0] == Line(
        "incomplete: 12 of 40 items ran; the figures are of what ran", frozenset({"red", "bold"})
    )
    assert (
        summary_text(results)
        == """\
incomplete: 12 of 40 items ran; the figures are of what ran
evals/evalcheck.yaml
metric        kind   gate  scored/rows          pass rate  mean  verdict
------------  -----  ----  -----------  -----------------  ----  ---------
cites_policy  check  each        12/12  1.00 [0.76, 1.00]  1.00  undecided
total         check  each          0/0                n/a   n/a  undecided
UNDECIDED cites_policy, total: the run ended before all rows had run
note: all scored rows passed; by the rule of three the rate of failures may
      still be up to cites_policy 0.25 (n=12)

gates: 2 undecided"""
    )


def test_an_interrupted_run_without_a_count_is_marked_as_well() -> None:
    results = summarise([plan("m")], row_results("m", [PASSED] * 12), run=RunInfo(complete=False))
    assert summary_text(results, -1).startswith("incomplete: 12 items ran, others did not;")


def test_nothing_scored_is_no_figure() -> None:
    text = summary_text(summarise([plan("m")], row_results("m", [NO_OUTPUT] * 2)))
    assert (
        text
        == """\
evals/evalcheck.yaml
metric  kind   gate  scored/rows  pass rate  mean  verdict
------  -----  ----  -----------  ---------  ----  -------
m       check  each          0/2        n/a   n/a  blocked
BLOCKED m (gate: each): none of 2 rows could be evaluated
not scored, by reason:
  2 missing_output (m 2), first at evals/tickets.jsonl:1

gates: 1 blocked"""
    )


def test_slices_are_a_table_of_the_same_figures() -> None:
    results = [
        replace(result, slices=("EU",) if result.line < 7 else ("US", "日本"))
        for result in row_results("cites_policy", [PASSED] * 8 + [MISSED] * 2)
    ]
    text = summary_text(summarise([plan("cites_policy")], results))
    assert (
        text.split("\n\n")[1]
        == """\
metric: slice       scored/rows          pass rate  mean
------------------  -----------  -----------------  ----
cites_policy: EU            6/6  1.00 [0.61, 1.00]  1.00
cites_policy: US            4/4  0.50 [0.15, 0.85]  0.50
cites_policy: 日本          4/4  0.50 [0.15, 0.85]  0.50"""
    )


def test_every_suite_has_its_own_table() -> None:
    results = summarise(
        [plan("m"), plan("n", suite="b/x.eval.yaml")],
        row_results("m", [PASSED] * 6) + row_results("n", [MISSED] * 6, "b/x.eval.yaml"),
    )
    lines = summary_lines(results)
    assert [line.text for line in lines if "bold" in line.markup and "/" in line.text] == [
        SUITE,
        "b/x.eval.yaml",
    ]
    assert summary_text(results, -1).split("\n") == [
        f"{SUITE}: 6 passed, 0 failed",
        "b/x.eval.yaml: 0 passed, 6 failed; gates not passed: 1",
    ]


def test_a_run_without_metrics_prints_nothing() -> None:
    for verbosity in (-1, 0, 1):
        assert summary_lines(summarise([], []), verbosity=verbosity) == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_the_text_does_not_depend_on_the_order_of_the_results(seed: int, verbosity: int) -> None:
    shuffled = summary_lines(support_run(seed=seed), verbosity=verbosity)
    assert shuffled == summary_lines(support_run(), verbosity=verbosity)


_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=90)
_GATES = st.sampled_from(
    [
        Gate(),
        Gate(kind="off", note="calibration waived: " + "word " * 30),
        Gate(kind="rule", pass_rate=0.875, coverage=0.8, confidence=0.95),
        Gate(kind="rule", mean=4.25, pass_rate=0.5),
    ]
)
_SCORES = st.one_of(
    st.sampled_from([PASSED, MISSED, NO_OUTPUT, NO_PACKAGE, Score("error", reason="x" * 200)]),
    st.floats(-1e9, 1e9).map(lambda value: Score("scored", value, value > 0)),
)


@given(
    metrics=st.lists(
        st.tuples(
            _NAMES,
            st.sampled_from(["check", "judge", "evaluator", "test"]),
            _GATES,
            st.lists(_SCORES, max_size=6),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda metric: metric[0],
    ),
    suite=_NAMES,
    slice_name=_NAMES,
    verbosity=st.sampled_from([-1, 0, 1]),
    complete=st.booleans(),
)
def test_every_line_fits_eighty_columns(
    metrics: list[Any], suite: str, slice_name: str, verbosity: int, complete: bool
) -> None:
    plans = [plan(name, gate, suite=suite, kind=kind) for name, kind, gate, _ in metrics]
    results = [
        replace(result, slices=(slice_name,), row=name)
        for name, _, _, scores in metrics
        for result in row_results(name, scores, suite)
    ]
    run = RunInfo(complete=complete)
    for line in summary_lines(summarise(plans, results, run=run), verbosity=verbosity):
        assert display_width(line.text) <= 80
        assert "\n" not in line.text
        assert "\x1b" not in line.text


def test_a_big_table_still_fits() -> None:
    gate = Gate(kind="rule", pass_rate=0.5)
    scores = [PASSED] * 29_999 + [MISSED]
    results = summarise(
        [plan("a_rather_long_name_of_a_metric", gate, kind="evaluator"), plan("b" * 50)],
        row_results("a_rather_long_name_of_a_metric", scores),
        run=RunInfo(complete=False),
    )
    assert all(display_width(line.text) <= 80 for line in summary_lines(results))


def test_a_wider_terminal_cuts_less() -> None:
    name = "n" * 60
    results = summarise([plan(name)], row_results(name, [PASSED] * 6))
    assert name not in summary_text(results).split("\n")[3]
    assert name in summary_text(results, width=140).split("\n")[3]


def test_no_text_of_a_model_is_obeyed_in_the_summary() -> None:
    details = {"found": "::error::x\n##[group]y\x1b[2J", "wanted": "fine"}
    scores = [Score("scored", 0.0, False, "::warning::r", details=details)]
    text = summary_text(summarise([plan("::error::m")], row_results("::error::m", scores)), 1)
    assert "\x1b" not in text
    assert "##[" not in text
    assert not any(line.lstrip().startswith("::") for line in text.split("\n"))


def test_only_verdicts_that_are_not_a_pass_are_coloured() -> None:
    markup = {
        line.text.split()[0]: line.markup
        for line in summary_lines(support_run())
        if line.text.startswith(("cites_policy ", "stars ", "mentions_order ", "gates:"))
    }
    assert markup == {
        "cites_policy": {"red"},
        "stars": set(),
        "mentions_order": {"yellow"},
        "gates:": {"red", "bold"},
    }
