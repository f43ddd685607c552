"""Which suite governs a file, and the rows and metrics a file's items are made of.

Everything here is asked for once per file and remembered for the session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalcheck.errors import ConfigError, DatasetError, EvalcheckError, Problem
from pytest_evalcheck.safetext import safe_line
from pytest_evalcheck.suite import (
    SUITE_FILE,
    Suite,
    compile_metric,
    find_suite,
    is_self_contained,
    load_suite,
)
from pytest_evalcheck.suite.keys import is_tag
from pytest_evalcheck.suite.plan import shown_path

if TYPE_CHECKING:
    from pytest_evalcheck.datasets import DatasetOptions
    from pytest_evalcheck.model import Metric, Row

__all__ = ["Dataset", "SuiteShelf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset file together with what governs it.

    Attributes:
        path: the absolute path of the file.
        shown: the path as a person types it, relative to the rootdir.
        suite: the governing suite, or None when the rows bring their metrics.
        suite_name: the name the summary and the results use.
        options: how the file is read, or None for rows inside the suite file.
        tags: the tags of the dataset entry and of the suite.
    """

    path: Path
    shown: str
    suite: Suite | None
    suite_name: str
    options: DatasetOptions | None
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class SuiteShelf:
    """The suites of one session, each loaded once.

    Attributes:
        rootdir: the folder no path may leave.
        forced: the suite file of `--evalcheck-config`, or None.
    """

    rootdir: Path
    forced: Path | None = None
    _suites: dict[Path, Suite | ConfigError] = field(default_factory=dict)
    _reported: list[EvalcheckError] = field(default_factory=list)
    _claimed_for: dict[Path, Suite] = field(default_factory=dict)
    _found: dict[Path, Path | None] = field(default_factory=dict)
    _row_metrics: dict[tuple[str, str], Metric] = field(default_factory=dict)

    def governing_file(self, path: Path) -> Path | None:
        """Return the suite file that governs a folder's files, without opening it."""
        if self.forced is not None:
            return self.forced
        folder = path.parent
        if folder not in self._found:
            self._found[folder] = find_suite(path, self.rootdir)
        return self._found[folder]

    def load(self, suite_path: Path) -> Suite:
        """Return a suite, loading it the first time.

        Raises:
            ConfigError: it is mis-written; all problems, the same error each time.
        """
        if suite_path not in self._suites:
            try:
                self._suites[suite_path] = load_suite(suite_path, self.rootdir)
            except ConfigError as error:
                self._suites[suite_path] = error
        suite = self._suites[suite_path]
        if isinstance(suite, ConfigError):
            raise suite
        return suite

    def is_news(self, error: EvalcheckError) -> bool:
        """Tell whether an error has not been reported in this session.

        A broken suite is met at each of the files it governs and is told once.
        """
        if any(error is told for told in self._reported):
            return False
        self._reported.append(error)
        return True

    def dataset(self, path: Path) -> Dataset | None:
        """Return the dataset a file is, or None when no suite claims the file.

        Raises:
            ConfigError: the governing suite is broken.
        """
        if holds_suite(path):
            own = self.load(path)
            return Dataset(
                path=path,
                shown=own.name,
                suite=own,
                suite_name=own.name,
                options=None,
                tags=tuple(own.tags),
            )
        suite = self._claimed_for.get(path)
        governing = None if suite else self.governing_file(path)
        if governing is not None:
            suite = self.load(governing)
        if suite is not None:
            entry = suite.options_for(path)
            if entry is not None:
                return self._claimed(path, suite, entry.options, entry.tags)
        if is_self_contained(path.name):
            from pytest_evalcheck.datasets import DatasetOptions

            return self._claimed(path, suite, DatasetOptions(), ())
        return None

    def claim_for(self, path: Path, suite: Suite) -> None:
        """Let a suite govern a file that it lists and that a walk would not give it.

        Raises:
            ConfigError: another suite lists the file too, and the items would have one id.
        """
        holder = self._claimed_for.setdefault(path, suite)
        governing = self.governing_file(path)
        if holder is suite and governing not in (None, suite.path):
            nearest = self.load(governing)
            holder = nearest if nearest.options_for(path) else suite
        if holder is not suite:
            raise ConfigError(
                Problem(
                    path=suite.name,
                    where="datasets",
                    found=f"{shown_path(path, self.rootdir)} is listed by {holder.name} too",
                    fix="List it in one suite only: its items would have the same ids.",
                )
            )

    def _claimed(
        self, path: Path, suite: Suite | None, options: DatasetOptions, tags: tuple[str, ...]
    ) -> Dataset:
        shown = shown_path(path, self.rootdir)
        return Dataset(
            path=path,
            shown=shown,
            suite=suite,
            suite_name=suite.name if suite else shown,
            options=options,
            tags=tuple(dict.fromkeys((*(suite.tags if suite else ()), *tags))),
        )

    def rows(self, dataset: Dataset) -> list[Row]:
        """Return every row of a dataset.

        Raises:
            DatasetError: the file cannot be used; all problems at once.
        """
        from pytest_evalcheck.datasets import load_rows

        if dataset.options is None:
            suite = dataset.suite
            return list(suite.inline_rows or ()) if suite else []
        return load_rows(dataset.path, dataset.options, shown=dataset.shown)

    def stream(self, dataset: Dataset) -> Iterator[Row]:
        """Yield the rows of a dataset in constant memory.

        Raises:
            DatasetError: at the first row that cannot be used.
        """
        from pytest_evalcheck.datasets import read_rows

        if dataset.options is None:
            yield from self.rows(dataset)
        else:
            yield from read_rows(dataset.path, dataset.options, shown=dataset.shown)

    def metrics_of(self, dataset: Dataset, row: Row) -> list[Metric]:
        """Return the metrics that apply to a row: its suite's, then its own.

        Raises:
            DatasetError: one of the row's own metrics is mis-written.
        """
        metrics = [] if dataset.suite is None else list(dataset.suite.metrics)
        if row.metrics:
            metrics += self._own_metrics(dataset, row, {metric.name for metric in metrics})
        return [metric for metric in metrics if metric.applies(row)]

    def _own_metrics(self, dataset: Dataset, row: Row, taken: set[str]) -> list[Metric]:
        metrics: list[Metric] = []
        problems: list[Problem] = []
        for position, entry in enumerate(row.metrics):
            where = f"row {row.id!r}: metrics[{position}]"
            try:
                metric = self._compile_own(dataset, row, entry)
            except ConfigError as error:
                problems += [
                    replace(problem, path=dataset.shown, line=row.line, where=where)
                    for problem in error.problems
                ]
                continue
            if metric.name in taken:
                problems.append(
                    Problem(
                        path=dataset.shown,
                        line=row.line,
                        where=where,
                        found=f"the name {metric.name!r} is taken by another metric",
                        fix="Give the row's metric a name of its own.",
                    )
                )
            taken.add(metric.name)
            metrics.append(metric)
        if problems:
            raise DatasetError(problems)
        return metrics

    def _compile_own(self, dataset: Dataset, row: Row, entry: Mapping[str, Any]) -> Metric:
        """Compile a row's entry once for all rows that write it alike."""
        key = (dataset.suite_name, json.dumps(entry, sort_keys=True, default=str))
        if key not in self._row_metrics:
            base = dataset.suite.path.parent if dataset.suite else dataset.path.parent
            self._row_metrics[key] = compile_metric(
                entry,
                base_dir=base,
                shown=dataset.shown,
                line=row.line,
                rootdir=self.rootdir,
            )
        return self._row_metrics[key]


def holds_suite(path: Path) -> bool:
    """Tell whether a file is a suite by itself (`*.eval.yaml`, or `*.eval.json` with metrics)."""
    name = path.name
    if name == SUITE_FILE or not is_self_contained(name):
        return False
    if name.endswith((".yaml", ".yml")):
        return True
    return name.endswith(".json") and _json_object_with_metrics(path)


def _json_object_with_metrics(path: Path) -> bool:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "metrics" in value


def marker_name(tag: str) -> str | None:
    """Return the marker a tag becomes, or None when pytest would take it for an order.

    What `-m` could not express (spaces, brackets) becomes an underscore.
    """
    name = re.sub(r"[^\w.+:-]+", "_", tag).lstrip("_")
    return name if is_tag(name) else None


def problems_text(error: EvalcheckError) -> str:
    """Return all problems of an error, one a line and safe to print."""
    return "\n".join(safe_line(problem.text()) for problem in error.problems)
