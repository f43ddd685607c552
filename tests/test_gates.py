"""Each gate gives the verdict of the documented table, with its numbers in words."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.gates import Verdict, decide, figure_text, reaches
from pytest_evalcheck.model import Gate
from pytest_evalcheck.statistics import normal_quantile, student_t_interval_of, wilson_bounds

EACH = Gate()
OFF = Gate(kind="off")


@dataclass(frozen=True)
class Seen:
    """Figures written by hand."""

    passed: int = 0
    failed: int = 0
    xfailed: int = 0
    non_evaluable: int = 0
    blocked: int = 0
    errors: int = 0
    not_applicable: int = 0
    mean: float | None = None
    stdev: float | None = None

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def applicable(self) -> int:
        return self.scored + self.non_evaluable + self.blocked + self.errors


def rate(least: float, **more: float) -> Gate:
    return Gate(kind="rule", pass_rate=least, **more)


def mean(least: float, **more: float) -> Gate:
    return Gate(kind="rule", mean=least, **more)


TABLE = [
    ("off passes over failures", OFF, Seen(failed=3), True, Verdict("off")),
    ("off passes over errors", OFF, Seen(errors=3), True, Verdict("off")),
    ("off tells its note", Gate(kind="off", note="draft"), Seen(), True, Verdict("off", "draft")),
    ("all passed", EACH, Seen(passed=3), True, Verdict("pass")),
    ("non-evaluable rows beside passed ones", EACH, Seen(passed=3, non_evaluable=9), True,
     Verdict("pass")),
    ("one failed", EACH, Seen(passed=2, failed=1), True,
     Verdict("fail", "1 of 3 scored rows failed")),
    ("one error", EACH, Seen(passed=2, errors=1), True,
     Verdict("fail", "1 row ended in an error")),
    ("failures, errors and blocked rows are all told", EACH,
     Seen(passed=2, failed=1, errors=2, blocked=4), True,
     Verdict("fail", "2 rows ended in an error; 1 of 3 scored rows failed; 4 rows blocked")),
    ("one blocked", EACH, Seen(passed=9, blocked=1), True, Verdict("blocked", "1 row blocked")),
    ("no row could be evaluated: closed", EACH, Seen(non_evaluable=4), True,
     Verdict("blocked", "none of 4 rows could be evaluated")),
    ("no row at all: closed", EACH, Seen(), True, Verdict("blocked", "no row to evaluate")),
    ("stopped early", EACH, Seen(passed=2), False,
     Verdict("undecided", "the run ended before all rows had run")),
    ("stopped early, nothing done", EACH, Seen(), False,
     Verdict("undecided", "the run ended before all rows had run")),
    ("stopped early, failed already", EACH, Seen(failed=1), False,
     Verdict("fail", "1 of 1 scored rows failed")),
    ("stopped early, blocked already", EACH, Seen(passed=1, blocked=1), False,
     Verdict("blocked", "1 row blocked")),
    ("rate above the mark", rate(0.9), Seen(passed=19, failed=1), True, Verdict("pass")),
    ("rate below the mark", rate(0.9), Seen(passed=17, failed=3), True,
     Verdict("fail", "pass rate 0.85 (17 of 20) is below 0.9")),
    ("a rate a hair below shows the digits that matter", rate(0.9),
     Seen(passed=8_999, failed=1_001), True,
     Verdict("fail", "pass rate 0.8999 (8999 of 10000) is below 0.9")),
    ("an error is no pass under a rule either", rate(0.5), Seen(passed=9, errors=1), True,
     Verdict("fail", "1 row ended in an error")),
    ("a blocked row blocks a rule", rate(0.5), Seen(passed=9, blocked=1), True,
     Verdict("blocked", "1 row blocked")),
    ("a rule waits for all rows", rate(0.9), Seen(passed=1, failed=9), False,
     Verdict("undecided", "the run ended before all rows had run")),
    ("a rule on nothing: closed", rate(0.0), Seen(non_evaluable=2), True,
     Verdict("blocked", "none of 2 rows could be evaluated")),
    ("coverage met", rate(0.9, coverage=0.8), Seen(passed=8, non_evaluable=2), True,
     Verdict("pass")),
    ("coverage short", rate(0.9, coverage=0.8), Seen(passed=7, non_evaluable=3), True,
     Verdict("fail", "coverage 0.70 (7 of 10 rows scored) is below 0.8")),
    ("coverage beside each", Gate(coverage=0.8), Seen(passed=1, non_evaluable=1), True,
     Verdict("fail", "coverage 0.50 (1 of 2 rows scored) is below 0.8")),
    ("coverage lost to an outage is blocked, not failed", rate(0.9, coverage=0.8),
     Seen(passed=5, blocked=5), True, Verdict("blocked", "5 rows blocked")),
    ("rows the metric does not apply to are not missing", rate(0.9, coverage=1.0),
     Seen(passed=5, not_applicable=5), True, Verdict("pass")),
    ("mean above the mark", mean(4), Seen(passed=3, mean=4.2, stdev=0.5), True, Verdict("pass")),
    ("mean below the mark", mean(4), Seen(passed=3, mean=3.95, stdev=0.5), True,
     Verdict("fail", "mean 3.95 (of 3 scored) is below 4")),
    ("a mean of one row has no bound", mean(4, confidence=0.95), Seen(passed=1, mean=5.0), True,
     Verdict("fail", "mean 5.00 (of 1 scored) has no interval; "
             "at least 2 scored rows are needed")),
    ("both marks are told", Gate(kind="rule", pass_rate=0.9, mean=4.0),
     Seen(passed=1, failed=1, mean=3.0, stdev=1.0), True,
     Verdict("fail", "pass rate 0.50 (1 of 2) is below 0.9; "
             "mean 3.00 (of 2 scored) is below 4")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("gate", "seen", "complete", "want"),
    [case[1:] for case in TABLE],
    ids=[case[0] for case in TABLE],
)
def test_a_gate_gives_the_verdict_of_the_table(
    gate: Gate, seen: Seen, complete: bool, want: Verdict
) -> None:
    assert decide(gate, seen, complete=complete) == want


@pytest.mark.parametrize("n", [10, 30, 70, 110, 1_000])
@pytest.mark.parametrize("tenths", range(1, 11))
def test_a_rate_that_equals_its_mark_passes(tenths: int, n: int) -> None:
    passed = n * tenths // 10
    seen = Seen(passed=passed, failed=n - passed)
    assert decide(rate(tenths / 10), seen, complete=True).word == "pass"
    # 0.1 + 0.2 is not 0.3: a mark that was computed is met as well.
    assert decide(rate(sum([0.1] * tenths)), seen, complete=True).word == "pass"


def test_a_bound_below_the_mark_fails_and_says_how_many_rows_would_settle_it() -> None:
    verdict = decide(rate(0.9, confidence=0.95), Seen(passed=19, failed=1), complete=True)
    assert verdict == Verdict(
        "fail",
        "pass rate 0.95 (19 of 20) has its 95 % lower bound at 0.76, below 0.9; "
        "about 139 scored rows at this figure would settle it",
    )
    z = normal_quantile(0.95)
    assert wilson_bounds(0.95, 139, z)[0] >= 0.9 > wilson_bounds(0.95, 138, z)[0]


def test_the_rows_named_for_a_mean_are_the_fewest_that_settle_it() -> None:
    seen = Seen(passed=5, mean=4.2, stdev=0.5)
    verdict = decide(mean(4, confidence=0.95), seen, complete=True)
    assert verdict.why.endswith("about 27 scored rows at this figure would settle it")
    settled, short = (student_t_interval_of(n, 4.2, 0.5) or (0, 0) for n in (27, 26))
    assert settled[0] >= 4 > short[0]


def test_a_rate_right_at_its_mark_is_never_settled_by_more_rows() -> None:
    verdict = decide(rate(0.9, confidence=0.95), Seen(passed=9, failed=1), complete=True)
    assert verdict.why.endswith("no number of rows would settle it at this figure")


@pytest.mark.parametrize("word", ["pass", "fail", "blocked", "undecided", "off"])
def test_only_pass_and_off_let_a_run_pass(word: str) -> None:
    assert Verdict(word).lets_pass == (word in ("pass", "off"))  # type: ignore[arg-type]


@given(
    seen=st.builds(
        Seen,
        passed=st.integers(0, 50),
        failed=st.integers(0, 5),
        non_evaluable=st.integers(0, 5),
        blocked=st.integers(0, 2),
        errors=st.integers(0, 2),
    ),
    complete=st.booleans(),
    gate=st.sampled_from(
        [EACH, rate(0.5), rate(0.9, coverage=0.9), rate(0.6, confidence=0.9), Gate(coverage=0.5)]
    ),
)
def test_a_gate_never_passes_what_was_not_measured(seen: Seen, complete: bool, gate: Gate) -> None:
    verdict = decide(gate, seen, complete=complete)
    if verdict.lets_pass:
        assert complete
        assert seen.scored > 0
        assert seen.blocked == seen.errors == 0
    else:
        assert verdict.why


@pytest.mark.parametrize(
    ("figure", "mark", "want"),
    [
        (0.85, None, "0.85"),
        (1.0, None, "1.00"),
        (0.0, None, "0.00"),
        (0.9996, None, "0.9996"),
        (0.0004, None, "0.0004"),
        (0.8999, 0.9, "0.8999"),
        (0.9, 0.9, "0.90"),
        (0.99999999, None, "0.99999999"),
    ],
)
def test_a_figure_never_reads_as_another(figure: float, mark: float | None, want: str) -> None:
    assert figure_text(figure, mark) == want


def test_reaching_a_mark_allows_for_rounding_only() -> None:
    assert reaches(0.1 * 3, 0.3)
    assert reaches(0.3, 0.1 * 3)
    assert not reaches(0.2999, 0.3)
