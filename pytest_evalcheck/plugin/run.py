"""One run on the process that executes items: scores them and reports what came out.

Under xdist this lives on each worker; the figures are put together by the recorder
on the controller, from what the reports carry.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.model import Score
from pytest_evalcheck.plugin.collection import DatasetItem, EvalItem
from pytest_evalcheck.plugin.fast_path import FastPath
from pytest_evalcheck.plugin.outcomes import Outcome, decide_outcome, merge_outcomes
from pytest_evalcheck.plugin.suites import SuiteShelf, marker_name
from pytest_evalcheck.reports.failure import failure_lines
from pytest_evalcheck.reports.junit import JUNIT_NAMES, junit_properties
from pytest_evalcheck.results import MetricPlan, make_result, result_to_plain
from pytest_evalcheck.suite.plan import shown_path

if TYPE_CHECKING:
    from pytest_evalcheck.checks import CheckSpec
    from pytest_evalcheck.model import Metric, Result, Row
    from pytest_evalcheck.plugin.options import Settings
    from pytest_evalcheck.plugin.suites import Dataset

__all__ = ["EvalRun", "PlannedMetric"]


NOTHING_MORE: Final[dict[str, Any]] = {}


class CheckRegistry:
    """Where plugins add checks of their own; see `pytest_evalcheck_register`."""

    def add(self, spec: CheckSpec) -> None:
        """Make a check known to every suite read from now on.

        Adding the very same spec again (a second session in one process) changes nothing.

        Raises:
            pytest.UsageError: another check has the name.
        """
        from pytest_evalcheck.checks import CHECKS, add_check

        known = CHECKS.get(spec.name)
        if known is None:
            add_check(spec)
        elif known.build.__qualname__ != spec.build.__qualname__:
            raise pytest.UsageError(
                f"pytest_evalcheck_register: a check named {spec.name!r} exists already. "
                "Choose another name."
            )


@dataclass(slots=True)
class PlannedMetric:
    """A metric of the run and the number of rows it applies to in what was collected."""

    plan: MetricPlan
    rows: int = 0
    datasets: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Coverage:
    """Which files of a suite were collected, and which metrics found a row."""

    files: set[Path] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    rows_without_metric: int = 0
    rows: int = 0


class EvalRun:
    """Everything one process knows of its eval items; a plugin of that process."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.shelf = SuiteShelf(rootdir=config.rootpath.resolve(), forced=settings.config)
        self.planned: dict[tuple[str, str], PlannedMetric] = {}
        self.fast_path: FastPath | None = None
        self._plans_told = False
        self._claims: dict[Path, object] = {}
        self._marks: dict[tuple[int, str], list[pytest.Mark]] = {}
        self._row_marks: dict[tuple[str, ...], list[pytest.Mark]] = {}
        self._tags: set[str] = set()
        self._coverage: dict[str, _Coverage] = {}
        self.on_worker = hasattr(config, "workerinput")
        hook = config.hook
        hook.pytest_evalcheck_register(registry=CheckRegistry())
        self._row_hook = bool(hook.pytest_evalcheck_row.get_hookimpls())
        self._score_hook = bool(hook.pytest_evalcheck_score.get_hookimpls())

    # Collection

    def claim(self, path: Path, node: object) -> bool:
        """Tell whether a node is the first of the session to stand for a file."""
        return self._claims.setdefault(path, node) is node

    def prepare_row(self, row: Row) -> Row:
        """Return the row as plugins want it."""
        if self._row_hook:
            row = self.config.hook.pytest_evalcheck_row(row=row) or row
        return row

    def note_row(self, dataset: Dataset, metrics: list[Metric]) -> None:
        """Count a row for each metric that applies to it."""
        coverage = self._coverage.setdefault(dataset.suite_name, _Coverage())
        coverage.rows += 1
        if not metrics:
            coverage.rows_without_metric += 1
        for metric in metrics:
            coverage.used.add(metric.name)
            self.note_selected(dataset, metric, 1)

    def note_selected(self, dataset: Dataset, metric: Metric, rows: int) -> None:
        """Add rows of a dataset to those a metric applies to."""
        planned = self.note_planned(dataset.suite_name, metric, rows)
        planned.datasets[dataset.shown] = None

    def note_planned(self, suite: str, metric: Metric, rows: int) -> PlannedMetric:
        """Make a metric known to the run, with rows it applies to."""
        planned = self.planned.get((suite, metric.name))
        if planned is None:
            planned = self.planned[suite, metric.name] = PlannedMetric(MetricPlan.of(suite, metric))
        planned.rows += rows
        return planned

    def finish_file(self, dataset: Dataset) -> list[Problem]:
        """Return what is wrong with a file, or a suite, now that its rows are known.

        A file whose rows meet no metric, and a selector that matches nothing in all
        of a suite, are work that cannot fail: refused.
        """
        coverage = self._coverage.setdefault(dataset.suite_name, _Coverage())
        coverage.files.add(dataset.path)
        if self.settings.items == "dataset" or self.settings.sample is not None:
            return []
        suite = dataset.suite
        if suite is None or dataset.options is None:
            listed = {dataset.path}
        else:
            listed = set(suite.listed_files())
        if not listed <= coverage.files:
            return []
        if not coverage.used:
            return [
                Problem(
                    path=dataset.shown,
                    found="no metric applies to any row",
                    fix="Add `metrics:` to the rows or to an evalcheck.yaml that lists this file.",
                )
            ]
        return [
            Problem(
                path=shown_path(Path(metric.path), self.shelf.rootdir) or dataset.suite_name,
                line=metric.line or None,
                where=f"metric {metric.name!r}: applies_to",
                found=f"{dict(metric.applies_to)} selects no row of the suite",
                fix="Correct the key or the value, or remove the metric: it can never fail.",
            )
            for metric in (suite.metrics if suite else ())
            if metric.applies_to and metric.name not in coverage.used
        ]

    def marks(self, tags: Iterable[str], shown: str) -> list[pytest.Mark]:
        """Return the tags as markers, registered so that `--strict-markers` knows them.

        A tag with a colon is two: as it is written, and with underscores for strict runs.

        Raises:
            DatasetError: a tag cannot be a marker.
        """
        names = {tag: marker_name(tag) for tag in tags}
        refused = [tag for tag, name in names.items() if name is None]
        if refused:
            raise DatasetError(
                Problem(
                    path=shown,
                    where="tags",
                    found=f"the tag {tag!r} cannot be a marker: pytest gives the word a meaning",
                    fix="Choose another word.",
                )
                for tag in refused
            )
        marks = []
        for name in dict.fromkeys(filter(None, names.values())):
            if ":" in name:
                marks.append(_mark_named(name))
            marks.append(self._registered_mark(name.replace(":", "_")))
        return marks

    def _registered_mark(self, name: str) -> pytest.Mark:
        if name not in self._tags:
            self._tags.add(name)
            self.config.addinivalue_line("markers", f"{name}: a tag of an evaluation dataset")
        mark: pytest.Mark = getattr(pytest.mark, name).mark
        return mark

    def metric_marks(self, metric: Metric, dataset: Dataset) -> list[pytest.Mark]:
        """Return the markers every item of a metric shares."""
        key = (id(metric), metric.name)
        if key not in self._marks:
            self._marks[key] = [
                pytest.mark.metric.mark,
                *self.marks(metric.tags, dataset.suite_name),
            ]
        return self._marks[key]

    def row_marks(self, row: Row, metrics: list[Metric], dataset: Dataset) -> list[pytest.Mark]:
        """Return the markers of an item that stands for a row, shared by rows tagged alike."""
        tags = (*row.tags, *(tag for metric in metrics for tag in metric.tags))
        known = self._row_marks.get(tags)
        if known is None:
            marks = self.marks(tags, dataset.shown)
            known = self._row_marks[tags] = [pytest.mark.metric.mark, *marks]
        return known

    # Running

    def score_item(self, item: EvalItem) -> Outcome:
        """Score what an item stands for and return what pytest is to say of it.

        The scores stay on the item for the report; an item that stands for a whole
        dataset keeps them too, since the report carries them to the controller.
        """
        if isinstance(item, DatasetItem):
            item.scored = ()
            item.outcome = item.part().outcome()
            return item.outcome
        scored = [(metric, row, self.score_row(metric, row)) for metric, row in item.pairs]
        item.scored = tuple(scored)
        outcomes = [decide_outcome(score, metric.gate, row) for metric, row, score in scored]
        item.outcome = outcomes[0] if len(outcomes) == 1 else merge_outcomes(outcomes)
        return item.outcome

    def score_row(self, metric: Metric, row: Row) -> Score:
        """Return the score of a metric on a row, and let plugins see it."""
        score = metric.score(row) if row.skip is None else _skipped_by_row(row.skip)
        if self._score_hook:
            self.config.hook.pytest_evalcheck_score(row=row, metric=metric, score=score)
        return score

    def failure_text(self, item: EvalItem) -> str:
        """Return the text of a failed item: a paragraph for each failing score."""
        if isinstance(item, DatasetItem):
            return item.part().failure_text()
        paragraphs: list[str] = []
        for metric, row, score in item.scored or ():
            if decide_outcome(score, metric.gate, row).word == "failed":
                head = f"{item.dataset.shown}:{row.line}: row {row.id!r}: {metric.name}: "
                lines = failure_lines(score)
                paragraphs.append(head + "\n".join(lines))
        return "\n".join(paragraphs)

    def results_of(self, item: EvalItem) -> list[Result]:
        """Return the results an item's report carries."""
        if isinstance(item, DatasetItem):
            return item.part().results or []
        dataset = item.dataset
        return [
            self.result(score, dataset.suite_name, dataset.shown, row, metric)
            for metric, row, score in item.scored or ()
        ]

    def result(self, score: Score, suite: str, dataset: str, row: Row, metric: Metric) -> Result:
        """Return the result of a score as this run's options want it."""
        version = self.settings.app_version
        extra = {"app_version": version} if version and not row.app_version else NOTHING_MORE
        return make_result(
            score,
            suite=suite,
            dataset=dataset,
            row=row,
            metric=metric.name,
            by=self.settings.by,
            **extra,
        )

    def attach(self, item: pytest.Item, report: pytest.TestReport, results: list[Result]) -> None:
        """Put results on a report, in the form the way to the controller needs.

        xdist carries plain data only. The first report of a process also carries the
        plan of all its metrics, so that a controller knows them whatever happens to
        the worker later.
        """
        report.evalcheck = (  # type: ignore[attr-defined]
            [result_to_plain(result) for result in results] if self.on_worker else tuple(results)
        )
        if self.on_worker and not self._plans_told:
            self._plans_told = True
            report.evalcheck_plan = self.plain_plan()  # type: ignore[attr-defined]
        if len(results) == 1:
            told = junit_properties(results[0])
            report.user_properties.extend(told)
            # JUnit reads the properties off the teardown report, which is made of the item's.
            kept = [pair for pair in item.user_properties if pair[0] not in JUNIT_NAMES]
            item.user_properties[:] = [*kept, *told]

    def plain_plan(self) -> list[Any]:
        """Return the metrics of this process and their datasets as plain data."""
        return [
            [planned.plan.to_plain(), list(planned.datasets)] for planned in self.planned.values()
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Decide once, when every plugin and conftest is known, how items are run."""
        self.fast_path = FastPath.when_safe(self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Run an item by the short way where nothing would be bypassed."""
        if self.fast_path is None or not isinstance(item, EvalItem):
            return None
        return self.fast_path.run(item, nextitem)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Give a report the dataset's line, the non-gating outcomes and the results."""
        report: pytest.TestReport = yield
        if isinstance(item, EvalItem) and report.when == "call" and item.scored is not None:
            self.complete_report(item, report)
        return report

    def complete_report(self, item: EvalItem, report: pytest.TestReport) -> None:
        """Turn a plain report of an item's call into what its outcome calls for."""
        outcome = item.outcome
        if outcome is not None and outcome.word != "passed":
            self._tell_outcome(item, report, outcome)
        if isinstance(item, DatasetItem) and item.part().results is None:
            tally = item.part().tally
            carried = tally.to_plain() if self.on_worker else tally
            report.evalcheck_tally = carried  # type: ignore[attr-defined]
        self.attach(item, report, self.results_of(item))
        item.scored = None

    def _tell_outcome(self, item: EvalItem, report: pytest.TestReport, outcome: Outcome) -> None:
        shown, line = item.dataset.shown, item.line
        if outcome.word == "xfailed" and report.outcome == "passed":
            report.outcome = "skipped"
            report.wasxfail = outcome.reason
            report.longrepr = f"{shown}:{line}: {outcome.reason}"
        elif outcome.word == "xpassed":
            report.wasxfail = outcome.reason
        elif outcome.word == "skipped" and report.outcome == "skipped":
            report.longrepr = (str(item.path), line, f"Skipped: {outcome.reason}")
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            if crash is not None:
                crash.path, crash.lineno = str(item.path), line


def _mark_named(name: str) -> pytest.Mark:
    """Return a marker whose name has a colon (`team:billing`), without pytest's check of names.

    pytest reads a registered marker's name up to the first colon, so `--strict-markers`
    can never know such a name, while `-m team:billing` works in every other run.
    """
    mark = copy(pytest.mark.metric.mark)
    object.__setattr__(mark, "name", name)
    return mark


def _skipped_by_row(why: str) -> Score:
    """Return the score of a row that asks to be skipped."""
    return Score(status="non_evaluable", code="not_applicable", reason=f"skipped: {why}")
