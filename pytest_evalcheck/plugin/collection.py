"""The collection tree: a dataset file, its rows, and an item for each row and metric."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_evalcheck.errors import EvalcheckError, Problem
from pytest_evalcheck.plugin.dataset_pass import MetricPass, pass_over
from pytest_evalcheck.plugin.outcomes import Outcome
from pytest_evalcheck.plugin.suites import problems_text

if TYPE_CHECKING:
    from pytest_evalcheck.model import Metric, Row, Score
    from pytest_evalcheck.plugin.run import EvalRun
    from pytest_evalcheck.plugin.suites import Dataset
    from pytest_evalcheck.suite import Suite

__all__ = ["DatasetItem", "EvalFile", "EvalItem", "EvalRow", "RowItem", "SuiteFile"]


class SuiteFile(pytest.File):
    """An `evalcheck.yaml` met on the way: checked, and asked for the files a walk misses.

    A walk finds the datasets below a suite by itself. It misses those outside the
    suite's folder and those in folders that `norecursedirs` leaves out; and when the
    suite file itself is named on the command line, all of them are meant.
    """

    run: EvalRun

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, run: EvalRun) -> SuiteFile:
        """Return the node of a suite file."""
        node = cls.from_parent(parent, path=path)
        node.run = run
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return a node for each listed file that the walk does not reach."""
        try:
            suite = self.run.shelf.load(self.path)
        except EvalcheckError as error:
            if self.run.shelf.is_news(error):
                raise self.CollectError(problems_text(error)) from None
            return []
        named = self.session.isinitpath(self.path)
        paths = [path for path in suite.listed_files() if named or self._missed_by_walk(path)]
        return listed_nodes(self, suite, paths, self.run)

    def _missed_by_walk(self, path: Path) -> bool:
        base = self.path.parent
        if not path.is_relative_to(base):
            return True
        patterns = self.config.getini("norecursedirs")
        between = [parent for parent in path.parents if parent.is_relative_to(base)]
        return any(
            folder != base and any(folder.match(pattern) for pattern in patterns)
            for folder in between
        )


class EvalFile(pytest.File):
    """A dataset file: its rows become collectors, their metrics items."""

    run: EvalRun
    dataset: Dataset
    parts: dict[str, MetricPass] | None = None

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, run: EvalRun) -> EvalFile:
        """Return the node of a dataset file."""
        node = cls.from_parent(parent, path=path)
        node.run = run
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return the items of the file, or its row nodes when one of them was asked for.

        Raises:
            CollectError: the suite or the file is broken: every problem, a line each.
        """
        if not self.run.claim(self.path, self):
            return []
        try:
            dataset = self.run.shelf.dataset(self.path)
            if dataset is None:
                return []
            if dataset.options is None and dataset.suite and dataset.suite.inline_rows is None:
                return listed_nodes(self, dataset.suite, dataset.suite.listed_files(), self.run)
            self.dataset = dataset
            self._add_tags(self, dataset.tags)
            if self.run.settings.items == "dataset":
                nodes: list[pytest.Item | pytest.Collector] = list(self._dataset_items())
            else:
                nodes = list(self._row_nodes())
            problems = self.run.finish_file(dataset)
        except EvalcheckError as error:
            if self.run.shelf.is_news(error):
                raise self.CollectError(problems_text(error)) from None
            return []
        if problems:
            raise self.CollectError(problems_text(EvalcheckError(problems)))
        return nodes

    def _row_nodes(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield what the rows become.

        A row node is made for every row either way, so that ids, trees and `-k` are
        the same; collecting it as a node of its own costs pytest more than its items
        do, and is needed only to select `file::row`.
        """
        run, dataset = self.run, self.dataset
        rows = choose_sample(run.shelf.rows(dataset), run.settings.sample)
        by_row = self._names_a_row()
        for read in rows:
            row = run.prepare_row(read)
            metrics = run.shelf.metrics_of(dataset, row)
            run.note_row(dataset, metrics)
            if not metrics:
                continue
            if run.settings.items == "row":
                yield RowItem.of(self, row, metrics)
                continue
            node = EvalRow.of(self, row, metrics)
            if by_row:
                yield node
            else:
                yield from node.collect()

    def _dataset_items(self) -> Iterator[pytest.Item]:
        suite = self.dataset.suite
        if suite is None or not suite.metrics:
            raise EvalcheckError(
                Problem(
                    path=self.dataset.shown,
                    found="--evalcheck-items=dataset needs metrics in a suite file",
                    fix="Rows that bring their own metrics run with --evalcheck-items=row.",
                )
            )
        for metric in suite.metrics:
            self.run.note_selected(self.dataset, metric, 0)
            yield DatasetItem.of(self, metric)

    def _names_a_row(self) -> bool:
        return any("::" in str(argument) for argument in self.config.args)

    def _add_tags(self, node: pytest.Collector, tags: Iterable[str]) -> None:
        node.own_markers.extend(self.run.marks(tags, self.dataset.shown))


class EvalRow(pytest.Collector):
    """One row of a dataset; its children are its metrics."""

    row: Row
    metrics: list[Metric]
    parent: EvalFile

    @classmethod
    def of(cls, parent: EvalFile, row: Row, metrics: list[Metric]) -> EvalRow:
        """Return the node of a row."""
        node = cls.from_parent(parent, name=row.id)
        node.row = row
        node.metrics = metrics
        if row.tags:
            parent._add_tags(node, row.tags)
        return node

    def collect(self) -> Iterable[EvalItem]:
        """Return one item a metric."""
        return [EvalItem.of(self, metric) for metric in self.metrics]


class EvalItem(pytest.Item):
    """One metric of one row.

    Made by the ten thousand, so it holds nothing of its own but the metric: the row
    is the parent's, and the markers are the metric's, shared until one is added.
    """

    metric: Metric
    parent: EvalRow
    scored: tuple[tuple[Metric, Row, Score], ...] | None = None
    outcome: Outcome | None = None

    @classmethod
    def of(cls, parent: EvalRow, metric: Metric) -> EvalItem:
        """Return the item of a metric on a row."""
        node = cls.from_parent(parent, name=metric.name)
        node.metric = metric
        node.own_markers = parent.parent.run.metric_marks(metric, parent.parent.dataset)
        return node

    @property
    def file(self) -> EvalFile:
        """The node of the dataset file."""
        return self.parent.parent

    @property
    def run(self) -> EvalRun:
        """The state of this run."""
        return self.file.run

    @property
    def dataset(self) -> Dataset:
        """The dataset the item belongs to."""
        return self.file.dataset

    @property
    def line(self) -> int:
        """The 1-based line the row starts on."""
        return self.parent.row.line

    @property
    def pairs(self) -> Iterable[tuple[Metric, Row]]:
        """The metric and row this item stands for."""
        return ((self.metric, self.parent.row),)

    def add_marker(self, marker: str | pytest.MarkDecorator, append: bool = True) -> None:
        """Add a marker to this item alone."""
        self.own_markers = list(self.own_markers)
        super().add_marker(marker, append)

    def runtest(self) -> None:
        """Score the row and raise what pytest calls the outcome (the full protocol's way)."""
        outcome = self.run.score_item(self)
        if outcome.word == "failed":
            pytest.fail(self.run.failure_text(self), pytrace=False)
        if outcome.word == "skipped":
            pytest.skip(outcome.reason)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the dataset file, the 0-based line of the row, and the headline of a failure."""
        headline = f"{self.nodeid.partition('::')[2]} ({self.dataset.shown}:{self.line})"
        return self.path, max(self.line - 1, 0), headline


class RowItem(EvalItem):
    """All metrics of one row as one item (`--evalcheck-items=row`)."""

    metrics: list[Metric]
    own_row: Row

    @classmethod
    def of(cls, parent: Any, row: Any, metrics: list[Metric] | None = None) -> RowItem:
        """Return the item of a row."""
        node = cls.from_parent(parent, name=row.id)
        node.own_row = row
        node.metrics = metrics or []
        node.own_markers = parent.run.row_marks(row, node.metrics, parent.dataset)
        return node

    @property
    def file(self) -> EvalFile:
        """The node of the dataset file."""
        return cast("EvalFile", self.parent)

    @property
    def line(self) -> int:
        """The 1-based line the row starts on."""
        return self.own_row.line

    @property
    def pairs(self) -> Iterable[tuple[Metric, Row]]:
        """Each metric with the row."""
        return ((metric, self.own_row) for metric in self.metrics)


class DatasetItem(EvalItem):
    """One metric over a whole dataset as one item (`--evalcheck-items=dataset`).

    The rows are streamed, so the memory does not grow with the file.
    """

    @classmethod
    def of(cls, parent: Any, metric: Metric) -> DatasetItem:
        """Return the item of a metric on a dataset."""
        node = cls.from_parent(parent, name=metric.name)
        node.metric = metric
        node.own_markers = parent.run.metric_marks(metric, parent.dataset)
        return node

    @property
    def file(self) -> EvalFile:
        """The node of the dataset file."""
        return cast("EvalFile", self.parent)

    @property
    def line(self) -> int:
        """The first line of the file."""
        return 1

    @property
    def pairs(self) -> Iterable[tuple[Metric, Row]]:
        """None: a dataset's rows are scored in one pass for all its items."""
        return ()

    def part(self) -> MetricPass:
        """Return this metric's part of the pass over the dataset, made by the first to ask."""
        file = self.file
        if file.parts is None:
            metrics = [
                item.metric
                for item in self.session.items
                if isinstance(item, DatasetItem) and item.file is file
            ]
            file.parts = pass_over(self.run, file.dataset, self._rows(), metrics)
        return file.parts[self.metric.name]

    def _rows(self) -> Iterator[Row]:
        run = self.run
        rows: Iterable[Row] = run.shelf.stream(self.dataset)
        if run.settings.sample is not None:
            rows = choose_sample(list(rows), run.settings.sample)
        return map(run.prepare_row, rows)


def listed_nodes(
    node: pytest.File, suite: Suite, paths: Iterable[Path], run: EvalRun
) -> list[pytest.Item | pytest.Collector]:
    """Return the nodes of files that a suite lists, beside the node of the suite itself.

    Raises:
        CollectError: another suite lists one of them too.
    """
    nodes: list[pytest.Item | pytest.Collector] = []
    for path in paths:
        try:
            run.shelf.claim_for(path, suite)
        except EvalcheckError as error:
            raise node.CollectError(problems_text(error)) from None
        nodes.append(EvalFile.of(node.parent or node.session, path, run))
    return nodes


def choose_sample(rows: list[Row], size: int | None) -> list[Row]:
    """Return `size` rows in file order, chosen by a hash of their ids.

    The same rows are chosen every time, wherever they stand, and a larger sample
    holds a smaller one.
    """
    if size is None or size >= len(rows):
        return rows
    ranked = sorted(rows, key=lambda row: hashlib.sha256(row.id.encode()).digest())
    chosen = {row.id for row in ranked[:size]}
    return [row for row in rows if row.id in chosen]
