"""Python tests marked with `@pytest.mark.metric`: one run a row, outcomes as scores."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_evalcheck.errors import ConfigError, EvalcheckError, Problem
from pytest_evalcheck.model import Gate, Metric, Row, Score
from pytest_evalcheck.plugin.fixtures import EVALCHECK, Evalcheck
from pytest_evalcheck.plugin.outcomes import decide_outcome
from pytest_evalcheck.plugin.suites import marker_name, problems_text
from pytest_evalcheck.reports.failure import failure_lines
from pytest_evalcheck.safetext import safe_line
from pytest_evalcheck.suite.keys import KINDS, is_name
from pytest_evalcheck.suite.plan import shown_path
from pytest_evalcheck.suite.user_frames import error_text

if TYPE_CHECKING:
    from pytest_evalcheck.model import Result
    from pytest_evalcheck.plugin.run import EvalRun

__all__ = ["MarkedTests", "evaluate_output", "prepare_marked_test"]

KEYWORDS: Final = ("name", "dataset", "threshold", "gate", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMark:
    """A `metric` marker, read.

    Attributes:
        name: the metric, or None for the test's own name.
        dataset: path of a dataset relative to the test's file, or None.
        threshold: the value from which `evalcheck.score` passes, or None.
        gate: the rule by which the metric can fail the run.
        tags: become markers of the test.
    """

    name: str | None = None
    dataset: str | None = None
    threshold: float | None = None
    gate: Gate = field(default_factory=Gate)
    tags: tuple[str, ...] = ()


def read_mark(mark: pytest.Mark | None) -> MetricMark:
    """Return what a marker says.

    Raises:
        ConfigError: an argument is unknown or of the wrong kind; all of them at once.
    """
    if mark is None:
        return MetricMark()
    from pytest_evalcheck.suite.gate_rules import read_gate

    problems = [_unknown_argument(name) for name in mark.kwargs if name not in KEYWORDS]
    values: dict[str, Any] = dict(mark.kwargs)
    if len(mark.args) > 1:
        problems.append(
            Problem(found=f"{len(mark.args)} positional arguments", expected="the name alone")
        )
    elif mark.args:
        values["name"] = mark.args[0]
    for name, kinds, expected in (
        ("name", (str,), "a text"),
        ("dataset", (str, Path), "a path relative to the test's file"),
        ("threshold", (int, float), "a number"),
        ("tags", (list, tuple, str), "a list of texts"),
    ):
        value = values.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            problems.append(
                Problem(where=name, found=f"{value!r}", expected=expected, keys=(name,))
            )
    problems += _unusable_values(values)
    gate = Gate()
    if "gate" in values:
        try:
            gate = read_gate(values["gate"], None)
        except ConfigError as error:
            problems += [replace(problem, where="gate") for problem in error.problems]
    if problems:
        raise ConfigError(problems)
    tags = values.get("tags") or ()
    return MetricMark(
        name=values.get("name"),
        dataset=None if values.get("dataset") is None else str(values["dataset"]),
        threshold=values.get("threshold"),
        gate=gate,
        tags=(tags,) if isinstance(tags, str) else tuple(tags),
    )


def _unusable_values(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is of the right kind and still cannot be used, by a suite's rules."""
    name, threshold, tags = values.get("name"), values.get("threshold"), values.get("tags")
    if isinstance(name, str) and not is_name(name):
        yield Problem(where="name", found=repr(name), expected=KINDS["name"].expected)
    if isinstance(threshold, float) and not math.isfinite(threshold):
        yield Problem(where="threshold", found=f"{threshold!r}", expected="a finite number")
    for tag in (tags,) if isinstance(tags, str) else tags if isinstance(tags, list | tuple) else ():
        if not isinstance(tag, str) or marker_name(tag) is None:
            yield Problem(where="tags", found=repr(tag), expected=KINDS["tags"].expected)


def _unknown_argument(name: str) -> Problem:
    near = difflib.get_close_matches(name, KEYWORDS, n=1)
    hint = f"Did you mean {near[0]}=?" if near else f"It takes {', '.join(KEYWORDS)}."
    return Problem(found=f"the marker metric has no argument {name}=", fix=hint)


def prepare_marked_test(metafunc: pytest.Metafunc, mark: pytest.Mark | None, run: EvalRun) -> None:
    """Check a test's marker and, with `dataset=`, run the test once a row.

    Raises:
        pytest.fail.Exception: the marker or the dataset is broken; a collection error.
    """
    marked = run.config.pluginmanager.get_plugin("pytest_evalcheck_marked")
    if marked is None:
        marked = MarkedTests(run)
        run.config.pluginmanager.register(marked, "pytest_evalcheck_marked")
    test = f"{shown_path(metafunc.definition.path, run.shelf.rootdir)}: {metafunc.definition.name}"
    try:
        read = read_mark(mark)
        if mark is not None:
            marked.note_mark(metafunc.definition, read)
        if read.dataset is None:
            return
        if "eval_row" not in metafunc.fixturenames:
            raise ConfigError(
                Problem(
                    found="dataset= is given but the test does not take eval_row",
                    fix="Add the parameter `eval_row` to the test.",
                )
            )
        rows = _rows_of(metafunc.definition.path, read.dataset, run)
        cases = [pytest.param(row, id=row.id, marks=_row_marks(row, run)) for row in rows]
    except ConfigError as error:
        said = " ".join(problems_text(error).splitlines())
        pytest.fail(f"{test}: @pytest.mark.metric: {said}", pytrace=False)
    except EvalcheckError as error:
        pytest.fail(problems_text(error), pytrace=False)
    metafunc.parametrize("eval_row", cases)


def _row_marks(row: Row, run: EvalRun) -> list[pytest.Mark]:
    marks = run.marks(row.tags, row.path)
    if row.skip is not None:
        marks.append(pytest.mark.skip(reason=safe_line(row.skip)).mark)
    return marks


def _rows_of(test_path: Path, name: str, run: EvalRun) -> list[Row]:
    """Return the rows of a dataset, read as the suite that lists it says."""
    from pytest_evalcheck.datasets import DatasetOptions, load_rows
    from pytest_evalcheck.plugin.collection import choose_sample

    path = (test_path.parent / name).resolve()
    shown = shown_path(path, run.shelf.rootdir)
    if not path.is_relative_to(run.shelf.rootdir):
        raise ConfigError(
            Problem(found=f"dataset={name!r} lies outside the rootdir", fix="Move it inside.")
        )
    if not path.is_file():
        near = difflib.get_close_matches(
            path.name, [file.name for file in path.parent.glob("*")], n=1
        )
        hint = f"Did you mean {near[0]!r}?" if near else "Correct the path."
        raise ConfigError(Problem(found=f"there is no file {shown}", fix=hint))
    known = run.shelf.dataset(path) if run.shelf.governing_file(path) else None
    options = known.options if known and known.options else DatasetOptions()
    rows = [run.prepare_row(row) for row in load_rows(path, options, shown=shown)]
    return choose_sample(rows, run.settings.sample)


class MarkedTests:
    """Counts the outcomes of marked tests; a plugin of the process that runs them."""

    def __init__(self, run: EvalRun) -> None:
        self._run = run
        self._metrics: dict[tuple[str, str], Metric] = {}
        self._marks: dict[tuple[str, str], tuple[MetricMark, str]] = {}

    def note_mark(self, test: pytest.Function, mark: MetricMark) -> None:
        """Remember what a test says of its metric.

        Raises:
            ConfigError: another test of the metric says otherwise, and one would be ignored.
        """
        key = (self._suite_of(test), mark.name or test.originalname)
        first, whose = self._marks.setdefault(key, (mark, test.nodeid))
        for name in ("gate", "threshold"):
            if getattr(first, name) != getattr(mark, name):
                raise ConfigError(
                    Problem(
                        where=name,
                        found=f"the metric {key[1]!r} has another {name} in {whose}",
                        fix="Give both tests the same, or the metrics names of their own.",
                    )
                )

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Give a marked test its tags, and count it among the rows of its metric."""
        mark = item.get_closest_marker("metric")
        if not isinstance(item, pytest.Function) or mark is None:
            return
        read = read_mark(mark)
        item.own_markers.extend(self._run.marks(read.tags, item.nodeid))
        self._run.note_planned(self._suite_of(item), self._metric_of(item, read), 1)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Turn a test's outcome into a score, and a score below its threshold into a failure."""
        report: pytest.TestReport = yield
        if not isinstance(item, pytest.Function) or report.when == "teardown":
            return report
        helper = item.stash.get(EVALCHECK, None)
        if helper is not None and helper.telling:
            return report
        mark = item.get_closest_marker("metric")
        results: list[Result] = []
        failing: dict[str, Score] = {}
        if helper is not None and report.when == "call":
            results += self._evaluated(item, helper)
            failing = failing_scores(helper)
        counted = mark is not None or (helper is not None and helper.recorded is not None)
        if counted and (report.when == "call" or report.outcome != "passed"):
            results.append(self._marked(item, read_mark(mark), helper, report, call, failing))
        if failing and report.outcome == "passed" and not has_subtests(item.config):
            report.outcome = "failed"
            report.longrepr = _failing_text(failing)
        if results:
            self._run.attach(item, report, results)
        return report

    def _marked(
        self,
        item: pytest.Function,
        mark: MetricMark,
        helper: Evalcheck | None,
        report: pytest.TestReport,
        call: pytest.CallInfo[None],
        failing: Mapping[str, Score],
    ) -> Result:
        metric, row = self._metric_of(item, mark), row_of(item, self._run)
        score = score_of_test(mark, helper, report, call)
        if score.passed and failing:
            # The test fails with them, as subtests or together, and so has its metric.
            score = replace(score, passed=False, reason=f"failed: {', '.join(failing)}")
        outcome = decide_outcome(score, metric.gate, row)
        wasxfail = getattr(report, "wasxfail", None)
        if wasxfail is not None and score.status == "scored":
            row = replace(row, xfail=wasxfail or "xfail")
        elif helper is not None and helper.absent and report.outcome == "skipped":
            report.longrepr = (
                str(self._run.shelf.rootdir / row.path),
                row.line,
                f"Skipped: {outcome.reason}",
            )
        elif outcome.word == "failed" and report.outcome == "passed":
            report.outcome = "failed"
            report.longrepr = _failing_text(failing) or "\n".join(failure_lines(score))
        elif outcome.word == "xfailed" and report.outcome in ("passed", "failed"):
            report.outcome = "skipped"
            report.wasxfail = outcome.reason
        return self._run.result(score, self._suite_of(item), row.path, row, metric)

    def _evaluated(self, item: pytest.Function, helper: Evalcheck) -> list[Result]:
        return [
            self._run.result(score, self._suite_of(item), row.path, row, metric)
            for metric, row, score in helper.evaluated
        ]

    def _metric_of(self, item: pytest.Function, mark: MetricMark) -> Metric:
        name = mark.name or item.originalname
        key = (self._suite_of(item), name)
        if key not in self._metrics:
            shown, line = test_place(item, self._run)
            self._metrics[key] = Metric(
                name=name,
                kind="test",
                source=f"{shown}:{item.originalname}",
                score=_score_nothing,
                gate=mark.gate,
                threshold=mark.threshold,
                path=shown,
                line=line,
            )
        return self._metrics[key]

    def _suite_of(self, item: pytest.Function) -> str:
        return suite_of_test(item, self._run)


def failing_scores(helper: Evalcheck) -> dict[str, Score]:
    """Return what a test evaluated and what fails it, by metric."""
    return {
        metric.name: score
        for metric, row, score in helper.evaluated
        if decide_outcome(score, metric.gate, row).word == "failed"
    }


def _failing_text(failing: Mapping[str, Score]) -> str:
    return "\n".join(
        f"{name}: " + "\n".join(failure_lines(score)) for name, score in failing.items()
    )


def _score_nothing(row: Row) -> Score:
    raise TypeError("a marked test is scored by its own outcome")


def score_of_test(
    mark: MetricMark,
    helper: Evalcheck | None,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
) -> Score:
    """Return the score that a test's report amounts to.

    A failed assertion is a measured failure; any other exception is an error; a skip
    is a missing verdict.
    """
    value, reason = (helper.recorded if helper else None) or (None, "")
    if report.outcome == "passed":
        return _measured(True if value is None else value, mark.threshold, reason)
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        code, why = (helper.absent if helper else None) or ("not_applicable", skip_reason(report))
        return Score("non_evaluable", code=code, reason=why)
    excinfo = call.excinfo
    said = "" if excinfo is None else error_text(excinfo.value, first_line=True)
    if excinfo is not None and not excinfo.errisinstance(
        (AssertionError, pytest.fail.Exception, pytest.xfail.Exception)
    ):
        return Score("error", reason=said)
    return Score("scored", float(value or 0), False, reason or said)


def _measured(value: float | bool, threshold: float | None, reason: str) -> Score:
    """Return the score of a test that ran through: true and false need no threshold."""
    if threshold is not None:
        good = round(value, 4) >= threshold
        said = f"{value:g} is below the threshold {threshold:g}"
    else:
        good = value is not False
        said = "the test says no"
    if not good and reason:
        said += f": {reason}"
    return Score("scored", float(value), good, reason if good else said)


def skip_reason(report: pytest.TestReport) -> str:
    """Return the words a test was skipped with."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def row_of(item: pytest.Function, run: EvalRun) -> Row:
    """Return the dataset row a test ran on, or a row that stands for the test itself."""
    callspec = getattr(item, "callspec", None)
    row = None if callspec is None else callspec.params.get("eval_row")
    if isinstance(row, Row):
        return row
    shown, line = test_place(item, run)
    return Row(id=item.name, path=shown, line=line)


def test_place(item: pytest.Item, run: EvalRun) -> tuple[str, int]:
    """Return the file of a test, as a person types it, and its 1-based line."""
    line = item.location[1]
    return shown_path(item.path, run.shelf.rootdir), (line or 0) + 1


test_place.__test__ = False  # type: ignore[attr-defined]


def suite_of_test(item: pytest.Item, run: EvalRun) -> str:
    """Return the name under which a test's metrics stand: its suite's, or its file's."""
    governing = run.shelf.governing_file(item.path)
    return shown_path(governing or item.path, run.shelf.rootdir)


def has_subtests(config: pytest.Config) -> bool:
    """Tell whether this pytest (9.0 and later) has subtests."""
    return config.pluginmanager.hasplugin("subtests")


def evaluate_output(
    helper: Evalcheck,
    request: pytest.FixtureRequest,
    output: Any,
    row: Row | Mapping[str, Any] | None,
) -> dict[str, Score]:
    """Score an output with the governing suite's metrics; see `Evalcheck.evaluate`."""
    from pytest_evalcheck.datasets import row_from_mapping
    from pytest_evalcheck.plugin import activate

    item = request.node
    run = activate(request.config)
    shown, line = test_place(item, run)
    governing = run.shelf.governing_file(item.path)
    if governing is None:
        raise pytest.UsageError(
            f"{shown}:{line}: evalcheck.evaluate needs an evalcheck.yaml in the test's folder "
            "or above it"
        )
    if isinstance(row, Row):
        asked = row
    elif row is None:
        asked = row_of(item, run)
    else:
        asked = row_from_mapping({"output": output, **row}, shown=shown, line=line)
    answered = replace(
        asked,
        id=asked.id or item.name,
        output=output,
        path=asked.path or shown,
        line=asked.line or line,
    )
    suite = run.shelf.load(governing)
    scored = [
        (metric, answered, run.score_row(metric, answered))
        for metric in suite.metrics
        if metric.applies(answered)
    ]
    for metric, _, _ in scored:
        run.note_planned(suite.name, metric, 1)
    helper.evaluated += scored
    if has_subtests(request.config):
        helper.telling = True
        try:
            _tell_subtests(request, scored)
        finally:
            helper.telling = False
    return {metric.name: score for metric, _, score in scored}


def _tell_subtests(request: pytest.FixtureRequest, scored: list[tuple[Metric, Row, Score]]) -> None:
    subtests = request.getfixturevalue("subtests")
    for metric, row, score in scored:
        with subtests.test(msg=metric.name):
            outcome = decide_outcome(score, metric.gate, row)
            if outcome.word == "failed":
                pytest.fail("\n".join(failure_lines(score)), pytrace=False)
            if outcome.word == "skipped":
                pytest.skip(outcome.reason)
