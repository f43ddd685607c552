"""The library API: one metric on one row, or a whole suite, without pytest.

For notebooks and for maps over rows in Ray, Spark or a thread pool.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Metric, Row, Score
from pytest_evalcheck.suite.metrics import compile_metric

if TYPE_CHECKING:
    from pytest_evalcheck.results import MetricPlan, Results
    from pytest_evalcheck.suite.plan import Suite

__all__ = ["evaluate", "score"]

RECORD_MODES: Final = ("new_episodes", "once", "none", "all")
NOT_APPLICABLE: Final = Score(
    "non_evaluable", reason="the metric's applies_to does not select the row", code="not_applicable"
)


def score(metric: Mapping[str, Any], row: Mapping[str, Any] | Row) -> Score:
    """Return the score of one metric on one row.

    Args:
        metric: an entry as a suite file writes it: native, EvalGlass or CompletionKit.
            Files it names are relative to the working directory.
        row: a row as a dataset line writes it, aliases included, or a `Row`.

    Raises:
        ConfigError: the metric is mis-written; with every mistake.
        DatasetError: the row cannot be read; with every mistake.
    """
    compiled = compile_metric(metric, base_dir=Path.cwd())
    return score_row(compiled, read_row(row))


def evaluate(
    path: str | os.PathLike[str],
    rows: Iterable[Mapping[str, Any] | Row] | None = None,
    record_mode: str | None = None,
) -> Results:
    """Return the results of a suite.

    Args:
        path: an `evalcheck.yaml` or a `*.eval.yaml`; its folder, or the working
            directory when that lies above it, is the rootdir.
        rows: rows to score in place of the suite's datasets, as `score` takes them.
            Rows without an id are called by their position, from 1.
        record_mode: `new_episodes`, `once`, `none` or `all`. No metric of this version
            calls out, so all of them give the same.

    Raises:
        ConfigError: the suite is mis-written; with every mistake.
        DatasetError: a dataset or row cannot be read; with every mistake.
    """
    from pytest_evalcheck.results import summarise
    from pytest_evalcheck.suite.loader import load_suite

    if record_mode is not None and record_mode not in RECORD_MODES:
        raise ConfigError(
            Problem(
                found=f"record_mode={record_mode!r}", expected="one of " + ", ".join(RECORD_MODES)
            )
        )
    file = Path(os.path.abspath(path))
    suite = load_suite(file, rootdir_of(file))
    named_rows = suite_rows(suite) if rows is None else given_rows(suite, rows)
    datasets = tuple(dict.fromkeys(dataset for dataset, _ in named_rows))
    plans, results = score_rows(suite, named_rows)
    return summarise(plans, results, datasets=datasets)


def rootdir_of(file: Path) -> Path:
    """Return the working directory when the file lies below it, else the file's folder."""
    here = Path.cwd()
    return here if file.is_relative_to(here) else file.parent


def read_row(row: Mapping[str, Any] | Row) -> Row:
    """Return a row given as a mapping or as it is.

    Raises:
        DatasetError: it cannot be read as a dataset line would be.
    """
    if isinstance(row, Row):
        return row
    from pytest_evalcheck.datasets import row_from_mapping

    read: Row = row_from_mapping(row)
    return read


def suite_rows(suite: Suite) -> list[tuple[str, Row]]:
    """Return every row of a suite with the name of its dataset.

    Raises:
        DatasetError: a dataset cannot be read.
    """
    from pytest_evalcheck.datasets import load_rows
    from pytest_evalcheck.suite.plan import shown_path

    rows = [(suite.name, row) for row in suite.inline_rows or ()]
    root = Path(os.path.realpath(suite.rootdir))
    for path, ref in suite.files.items():
        shown = shown_path(path, root)
        rows += [(shown, row) for row in load_rows(path, ref.options, shown)]
    return rows


def given_rows(suite: Suite, rows: Iterable[Mapping[str, Any] | Row]) -> list[tuple[str, Row]]:
    """Return rows given by the caller, each with an id.

    Raises:
        ConfigError: there are none, or two of one id.
        DatasetError: one cannot be read.
    """
    read = [read_row(row) for row in rows]
    named = [replace(row, id=row.id or str(at)) for at, row in enumerate(read, start=1)]
    if not named:
        raise ConfigError(Problem(found="no rows", expected="one row or more"))
    seen: set[str] = set()
    for row in named:
        if row.id in seen:
            raise ConfigError(Problem(found=f"two rows of the id {row.id!r}", expected="one each"))
        seen.add(row.id)
    return [(row.path or suite.name, row) for row in named]


def score_rows(
    suite: Suite, named_rows: list[tuple[str, Row]]
) -> tuple[list[MetricPlan], list[Any]]:
    """Return the plan of every metric and the result of every metric on every row it applies to.

    Raises:
        ConfigError: a metric that a row brings is mis-written.
    """
    from pytest_evalcheck.results import make_result

    plans = {metric.name: plan_of(suite, metric) for metric in suite.metrics}
    results = []
    for dataset, row in named_rows:
        for metric in (*suite.metrics, *row_metrics(suite, row)):
            if not metric.applies(row):
                continue
            plans.setdefault(metric.name, plan_of(suite, metric))
            results.append(
                make_result(
                    score_row(metric, row),
                    suite=suite.name,
                    dataset=dataset,
                    row=row,
                    metric=metric.name,
                )
            )
    return list(plans.values()), results


def row_metrics(suite: Suite, row: Row) -> list[Metric]:
    """Return the metrics a row adds to its suite's.

    Raises:
        ConfigError: one is mis-written, or its name is taken.
    """
    metrics = [
        compile_metric(
            entry,
            base_dir=suite.path.parent,
            shown=row.path,
            line=row.line,
            rootdir=suite.rootdir,
        )
        for entry in row.metrics
    ]
    taken = {metric.name for metric in suite.metrics}
    for metric in metrics:
        if metric.name in taken:
            raise ConfigError(
                Problem(
                    found=f"row {row.id!r} brings a second metric called {metric.name!r}",
                    expected="names that differ",
                    path=row.path,
                    line=row.line or None,
                )
            )
        taken.add(metric.name)
    return metrics


def plan_of(suite: Suite, metric: Metric) -> MetricPlan:
    """Return the plan of a metric, which the figures are made for."""
    from pytest_evalcheck.results import MetricPlan

    version = metric.source.rpartition("@")[2]
    return MetricPlan(
        suite=suite.name,
        name=metric.name,
        kind=metric.kind,
        source=metric.source,
        version=int(version) if metric.kind == "check" and version.isdigit() else None,
        gate=metric.gate,
        score_range=metric.score_range,
        threshold=metric.threshold,
        note=metric.gate.note,
    )


def score_row(metric: Metric, row: Row) -> Score:
    """Return the score of a metric on a row; a row not selected by it is not applicable."""
    if row.skip is not None:
        return Score("non_evaluable", reason=f"skipped: {row.skip}", code="not_applicable")
    return metric.score(row) if metric.applies(row) else NOT_APPLICABLE
