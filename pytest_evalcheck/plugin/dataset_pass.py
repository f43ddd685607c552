"""One pass over a dataset for the items that stand for whole datasets.

The first of a dataset's items to run streams the file once and scores every row by
every metric that was selected; each item then tells its own metric's part. Rows are
let go as soon as they are scored: what stays is a tally a metric, and the results
themselves only where a results file was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pytest_evalcheck.errors import EvalcheckError
from pytest_evalcheck.model import Result
from pytest_evalcheck.plugin.outcomes import Outcome, decide_outcome
from pytest_evalcheck.plugin.suites import problems_text
from pytest_evalcheck.reports.failure import failure_lines
from pytest_evalcheck.results import MetricPlan, MetricTally
from pytest_evalcheck.safetext import safe_line

if TYPE_CHECKING:
    from pytest_evalcheck.model import Metric, Row, Score
    from pytest_evalcheck.plugin.run import EvalRun
    from pytest_evalcheck.plugin.suites import Dataset

__all__ = ["MetricPass", "pass_over"]

# Failing rows an item shows in full; the figures count them all.
SHOWN: Final = 5


@dataclass(slots=True)
class MetricPass:
    """What one metric made of a whole dataset.

    Attributes:
        metric: the metric.
        tally: its figures so far.
        results: every result, or None where nobody asked for them.
        words: how many rows ended with each of pytest's words.
        first: the first reason of each word.
        failures: the texts of the first failing rows.
    """

    metric: Metric
    tally: MetricTally
    results: list[Result] | None
    words: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, run: EvalRun, dataset: Dataset, row: Row, score: Score) -> None:
        """Count the score of one row."""
        result = run.result(score, dataset.suite_name, dataset.shown, row, self.metric)
        if self.results is None:
            self.tally.add(result)
        else:
            self.results.append(result)
        outcome = decide_outcome(score, self.metric.gate, row)
        self.words[outcome.word] += 1
        if outcome.word not in self.first:
            self.first[outcome.word] = f"{dataset.shown}:{row.line}: {outcome.reason}"
        if outcome.word == "failed" and len(self.failures) < SHOWN:
            head = f"{dataset.shown}:{row.line}: row {row.id!r}: {self.metric.name}: "
            self.failures.append(head + "\n".join(failure_lines(score)))

    def break_off(self, dataset: Dataset, error: EvalcheckError) -> None:
        """Count the place where the file could not be read on as an error.

        Streaming meets a bad row only when it comes to it; the rows before it count.
        """
        problem = error.problems[0]
        said = safe_line(problem.text())
        result = Result(
            suite=dataset.suite_name,
            dataset=dataset.shown,
            line=problem.line or 0,
            row="",
            metric=self.metric.name,
            status="error",
            reason=said,
        )
        if self.results is None:
            self.tally.add(result)
        else:
            self.results.append(result)
        self.words["failed"] += 1
        self.first.setdefault("failed", said)
        self.failures = [problems_text(error), *self.failures]

    def outcome(self) -> Outcome:
        """Return what pytest says of the whole: the most telling word, with its count."""
        total = self.words.total()
        for word in ("failed", "xpassed", "xfailed", "passed", "skipped"):
            count = self.words[word]
            if count:
                said = "" if word == "passed" else f"{count} of {total} rows: {self.first[word]}"
                return Outcome(word, said)
        return Outcome("skipped", "not_applicable: the metric applies to no row of the dataset")

    def failure_text(self) -> str:
        """Return the text of the failing rows, the first few in full."""
        more = self.words["failed"] - len(self.failures)
        return "\n".join([*self.failures, *([f"and {more} more rows"] if more else [])])


def pass_over(
    run: EvalRun, dataset: Dataset, rows: Iterable[Row], metrics: Iterable[Metric]
) -> dict[str, MetricPass]:
    """Score every row of a dataset by every metric that applies, in one pass.

    Returns:
        The part of each metric, by name.
    """
    keep = run.settings.results is not None
    passes = [
        MetricPass(
            metric, MetricTally(MetricPlan.of(dataset.suite_name, metric)), [] if keep else None
        )
        for metric in metrics
    ]
    try:
        for row in rows:
            for each in passes:
                if each.metric.applies(row):
                    each.add(run, dataset, row, run.score_row(each.metric, row))
    except EvalcheckError as error:
        for each in passes:
            each.break_off(dataset, error)
    return {each.metric.name: each for each in passes}
