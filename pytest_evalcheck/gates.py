"""Gates: whether the figures of one metric let the run pass, and why, in words.

The rules are tried from the top; the first that holds decides.

| gate        | what is seen                                          | verdict   |
|-------------|-------------------------------------------------------|-----------|
| off         | anything                                              | off       |
| each, rule  | an error                                              | fail      |
| each        | a scored row that failed and is not marked `xfail`    | fail      |
| rule        | all rows ran, and pass rate or mean misses its mark   | fail      |
| each, rule  | a blocked row                                         | blocked   |
| each, rule  | not all rows ran                                      | undecided |
| each, rule  | no row was scored                                     | blocked   |
| each, rule  | the evaluable share is below `coverage`               | fail      |
| each, rule  | anything else                                         | pass      |

A mark counts as met when the figure equals it but for rounding. With
`confidence`, the lower bound of the two-sided interval must meet the mark, not
the figure itself: Wilson's for a pass rate, Student's t for a mean. Only `pass`
and `off` let a run pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from pytest_evalcheck.model import Gate
from pytest_evalcheck.statistics import (
    normal_quantile,
    student_t_interval_of,
    wilson_bounds,
    wilson_interval,
)

__all__ = ["Figures", "Verdict", "VerdictWord", "decide", "figure_text"]

VerdictWord = Literal["pass", "fail", "blocked", "undecided", "off"]

# Above this many rows "collect more" is no advice.
MOST_ROWS_ADVISED = 1_000_000


class Figures(Protocol):
    """What a gate reads of a metric's figures."""

    @property
    def applicable(self) -> int: ...  # noqa: D102
    @property
    def scored(self) -> int: ...  # noqa: D102
    @property
    def passed(self) -> int: ...  # noqa: D102
    @property
    def failed(self) -> int: ...  # noqa: D102
    @property
    def xfailed(self) -> int: ...  # noqa: D102
    @property
    def blocked(self) -> int: ...  # noqa: D102
    @property
    def errors(self) -> int: ...  # noqa: D102
    @property
    def mean(self) -> float | None: ...  # noqa: D102
    @property
    def stdev(self) -> float | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate says of a metric.

    Attributes:
        word: one of `pass`, `fail`, `blocked`, `undecided`, `off`.
        why: the reason in words with its numbers; "" when there is nothing to say.
    """

    word: VerdictWord
    why: str = ""

    @property
    def lets_pass(self) -> bool:
        """Tell whether the run may still pass."""
        return self.word in ("pass", "off")


def decide(gate: Gate, figures: Figures, *, complete: bool) -> Verdict:
    """Return the verdict of a gate by the table above.

    Args:
        gate: the rule of the metric.
        figures: the counts and estimates of the metric.
        complete: whether every row that was to run has run.
    """
    if gate.kind == "off":
        return Verdict("off", gate.note)
    failures = list(_failures(gate, figures, complete))
    if failures:
        return Verdict("fail", "; ".join([*failures, *_blocked_words(figures)]))
    if figures.blocked:
        return Verdict("blocked", "; ".join(_blocked_words(figures)))
    if not complete:
        return Verdict("undecided", "the run ended before all rows had run")
    if not figures.scored:
        return Verdict("blocked", _nothing_scored_words(figures))
    lacking = _coverage_words(gate, figures)
    return Verdict("fail", lacking) if lacking else Verdict("pass")


def _failures(gate: Gate, figures: Figures, complete: bool) -> Iterator[str]:
    if figures.errors:
        yield f"{_rows(figures.errors)} ended in an error"
    unexpected = figures.failed - figures.xfailed
    if gate.kind == "each" and unexpected:
        yield f"{unexpected} of {figures.scored} scored rows failed"
    if not (complete and figures.scored):
        return
    if gate.pass_rate is not None:
        yield from _pass_rate_misses(gate.pass_rate, gate.confidence, figures)
    if gate.mean is not None:
        yield from _mean_misses(gate.mean, gate.confidence, figures)


def _pass_rate_misses(mark: float, confidence: float | None, figures: Figures) -> Iterator[str]:
    n, rate = figures.scored, figures.passed / figures.scored
    shown = f"pass rate {figure_text(rate, mark)} ({figures.passed} of {n})"
    if not reaches(rate, mark):
        yield f"{shown} is below {mark:g}"
        return
    if confidence is None:
        return
    bound = wilson_interval(figures.passed, n, confidence)[0]
    if not reaches(bound, mark):
        z = normal_quantile(confidence)
        advice = _rows_advice(n, lambda rows: reaches(wilson_bounds(rate, rows, z)[0], mark))
        yield f"{shown} has its {_level(confidence)} lower bound at " + (
            f"{figure_text(bound, mark)}, below {mark:g}; {advice}"
        )


def _mean_misses(mark: float, confidence: float | None, figures: Figures) -> Iterator[str]:
    n, centre = figures.scored, figures.mean
    if centre is None:
        return
    shown = f"mean {figure_text(centre, mark)} (of {n} scored)"
    if not reaches(centre, mark):
        yield f"{shown} is below {mark:g}"
        return
    if confidence is None:
        return
    interval = student_t_interval_of(n, centre, figures.stdev, confidence)
    if interval is None:
        yield f"{shown} has no interval; at least 2 scored rows are needed"
    elif not reaches(interval[0], mark):
        advice = _rows_advice(n, lambda rows: _mean_settled(rows, mark, confidence, figures))
        yield f"{shown} has its {_level(confidence)} lower bound at " + (
            f"{figure_text(interval[0], mark)}, below {mark:g}; {advice}"
        )


def _mean_settled(rows: int, mark: float, confidence: float, figures: Figures) -> bool:
    centre = figures.mean if figures.mean is not None else -math.inf
    interval = student_t_interval_of(rows, centre, figures.stdev, confidence)
    return interval is not None and reaches(interval[0], mark)


def _rows_advice(n: int, settled: Callable[[int], bool]) -> str:
    """Say how many rows would settle the gate if they scored as the rows so far."""
    enough = n
    while not settled(enough):
        enough *= 2
        if enough > MOST_ROWS_ADVISED:
            return "no number of rows would settle it at this figure"
    short = enough // 2
    while enough - short > 1:
        middle = (enough + short) // 2
        short, enough = (short, middle) if settled(middle) else (middle, enough)
    return f"about {enough} scored rows at this figure would settle it"


def _coverage_words(gate: Gate, figures: Figures) -> str:
    if gate.coverage is None or not figures.applicable:
        return ""
    share = figures.scored / figures.applicable
    if reaches(share, gate.coverage):
        return ""
    return (
        f"coverage {figure_text(share, gate.coverage)} ({figures.scored} of "
        f"{figures.applicable} rows scored) is below {gate.coverage:g}"
    )


def _blocked_words(figures: Figures) -> list[str]:
    return [f"{_rows(figures.blocked)} blocked"] if figures.blocked else []


def _nothing_scored_words(figures: Figures) -> str:
    if not figures.applicable:
        return "no row to evaluate"
    return f"none of {_rows(figures.applicable)} could be evaluated"


def reaches(figure: float, mark: float) -> bool:
    """Tell whether a figure is at least the mark, rounding of the arithmetic aside."""
    return figure >= mark or math.isclose(figure, mark, rel_tol=1e-9, abs_tol=1e-12)


def figure_text(figure: float, mark: float | None = None) -> str:
    """Return a figure with two decimals, or as many more as keep it apart from the mark.

    A rate short of 1 never reads as 1.00, and one above 0 never as 0.00.
    """
    marks = {0.0, 1.0} | ({mark} if mark is not None else set())
    for decimals in range(2, 7):
        text = f"{figure:.{decimals}f}"
        if all(float(text) != other or figure == other for other in marks):
            return text
    return f"{figure:.9g}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _level(confidence: float) -> str:
    return f"{confidence * 100:g} %"
