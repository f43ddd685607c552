"""The controller's side: reports become figures, gates, exit status, files and the summary.

Exactly one process has a recorder: the only one, or xdist's controller. It knows
results from reports alone, so that every way of running gives the same text.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_evalcheck import __version__
from pytest_evalcheck.errors import EvalcheckError
from pytest_evalcheck.plugin.run import EvalRun
from pytest_evalcheck.reports.files import ResultsLog, write_results
from pytest_evalcheck.reports.terminal import summary_lines
from pytest_evalcheck.results import (
    MetricPlan,
    MetricTally,
    Results,
    RunInfo,
    RunTally,
    crashed_result,
    result_from_plain,
)

if TYPE_CHECKING:
    from pytest_evalcheck.model import Result
    from pytest_evalcheck.plugin.options import Settings

__all__ = ["Recorder"]

CRASHED: Final = "worker_crashed"

# Options under which pytest shows what would run, so that there is nothing to judge.
NOTHING_RUNS: Final = ("collectonly", "setupplan")


class Recorder:
    """Gathers results from reports and tells the run's verdict."""

    def __init__(
        self, config: pytest.Config, settings: Settings, run: EvalRun | None = None
    ) -> None:
        self.config = config
        self.settings = settings
        self.run = run
        self.summary: Results | None = None
        self.trouble: list[str] = []
        self._plans: dict[tuple[str, str], MetricPlan] = {}
        self._suites: dict[str, str] = {}
        self._results: dict[str, tuple[Result, ...]] = {}
        self._tallies: dict[str, MetricTally] = {}
        self._expected: dict[str, int] = {}
        self._crashed: dict[str, str] = {}
        self._log: ResultsLog | None = None
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()

    # What arrives

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the items of this process, in their order."""
        from pytest_evalcheck.plugin.collection import EvalItem

        if self.run is not None:
            for item in session.items:
                if isinstance(item, EvalItem):
                    self._expected[item.nodeid] = 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Note the items xdist hands out, in their order; those of others are left out later."""
        for nodeid in ids:
            self._expected.setdefault(nodeid, 1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the results a report carries; the last attempt of an item counts."""
        told: Any = report
        plan = getattr(told, "evalcheck_plan", None)
        if plan is not None:
            self._take_plan(plan)
        tally = getattr(told, "evalcheck_tally", None)
        results = getattr(told, "evalcheck", None)
        if tally is not None:
            self._tallies[report.nodeid] = (
                MetricTally.from_plain(tally) if isinstance(tally, dict) else tally
            )
            told.evalcheck_tally = ()
        elif results is not None:
            if results and isinstance(results[0], dict):
                results = tuple(map(result_from_plain, results))
                # The terminal keeps every report: what was read is not kept twice.
                told.evalcheck = ()
            self._results[report.nodeid] = results
            self._crashed.pop(report.nodeid, None)
            self._log_results(results)
        elif report.when not in ("setup", "call", "teardown") and report.failed:
            # xdist's own report of an item whose worker died has no phase.
            self._crashed[report.nodeid] = str(report.longrepr or "")

    def _take_plan(self, plain: list[Any]) -> None:
        for entry in plain:
            plan = MetricPlan.from_plain(entry[0])
            self._plans.setdefault((plan.suite, plan.name), plan)
            for dataset in entry[1]:
                self._suites[dataset] = plan.suite

    def _log_results(self, results: tuple[Result, ...]) -> None:
        path = self.settings.results
        if path is None or path.suffix != ".jsonl" or self.trouble:
            return
        try:
            if self._log is None:
                self._log = ResultsLog(path)
                self._log.open(self._info())
            for result in results:
                self._log.append(result)
        except (OSError, EvalcheckError) as error:
            self.trouble.append(f"the results could not be written to {path}: {error}")

    # What is told

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Decide the gates, set the exit status, write the results file.

        A gate only ever makes a run stricter: only the status "all passed" changes.
        """
        if any(self.config.getoption(name, False) for name in NOTHING_RUNS):
            return
        if self.run is not None:
            self._take_plan(self.run.plain_plan())
        if not self._results and not self._tallies and not self._lost(session):
            return
        ended_early = bool(session.shouldfail or session.shouldstop)
        interrupted = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        complete = not ended_early and not interrupted
        results = self._summarise(session, complete)
        if not results.gates_pass and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        run = replace(results.run, exit_status=int(session.exitstatus))
        self.summary = replace(results, run=run)
        self.config.hook.pytest_evalcheck_summary(summary=self.summary)
        self._write_files(self.summary)
        if self.trouble and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _lost(self, session: pytest.Session) -> list[str]:
        """Return the items of ours that were to run and sent no result."""
        return [
            nodeid
            for nodeid in self._expected
            if nodeid not in self._results
            and nodeid not in self._tallies
            and nodeid.partition("::")[0] in self._suites
        ]

    def _summarise(self, session: pytest.Session, complete: bool) -> Results:
        lost = self._lost(session)
        crashed = [nodeid for nodeid in lost if nodeid in self._crashed]
        if self._crashed and complete:
            crashed = lost
        # The results themselves are kept and put in order for those who look at them.
        looked_at = bool(self.config.hook.pytest_evalcheck_summary.get_hookimpls())
        tally = RunTally(self._plans.values(), keep=self.settings.results is not None or looked_at)
        for results in self._results.values():
            for result in results:
                tally.add(result)
        for dataset_tally in self._tallies.values():
            tally.add_tally(dataset_tally)
        for nodeid in crashed:
            for result in self._crash_results(nodeid):
                tally.add(result)
        missing = len(lost) - len(crashed)
        info = self._info(complete=complete and not missing, expected=tally.ran + missing)
        datasets = list(dict.fromkeys(nodeid.partition("::")[0] for nodeid in self._expected))
        return tally.finish(info, datasets=datasets, narrowed=True)

    def _crash_results(self, nodeid: str) -> list[Result]:
        """Return the results of an item whose worker died: errors, so that none is lost."""
        dataset, row, *rest = nodeid.split("::")
        suite = self._suites[dataset]
        metrics = rest or [name for of, name in self._plans if of == suite]
        return [
            crashed_result(
                suite=suite,
                dataset=dataset,
                line=self._line_of(dataset, row),
                row=row,
                metric=metric,
                reason=f"{CRASHED}: the worker process died while this row ran or before it did",
            )
            for metric in metrics
        ]

    def _line_of(self, dataset: str, row: str) -> int:
        """Return the line of a row, read again: only a crash asks for it."""
        shelf = EvalRun(self.config, self.settings).shelf
        try:
            found = shelf.dataset(self.config.rootpath / dataset)
            rows = [] if found is None else shelf.rows(found)
        except EvalcheckError:
            return 0
        return next((read.line for read in rows if read.id == row), 0)

    def _info(self, *, complete: bool = True, expected: int | None = None) -> RunInfo:
        return RunInfo(
            started_at=self._started_at.isoformat(timespec="seconds"),
            duration_s=round(time.perf_counter() - self._clock, 3),
            app_version=self.settings.app_version,
            versions={"pytest": pytest.__version__, "pytest-evalcheck": __version__},
            complete=complete,
            expected=expected,
            by=self.settings.by,
        )

    def _write_files(self, results: Results) -> None:
        path = self.settings.results
        if path is None:
            return
        try:
            if self._log is not None:
                self._log.close(results)
            else:
                write_results(results, path)
        except (OSError, EvalcheckError) as error:
            self.trouble.append(f"the results could not be written to {path}: {error}")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the figures under pytest's own sections."""
        for trouble in self.trouble:
            terminalreporter.write_line(f"evalcheck: {trouble}", red=True)
        if self.summary is None:
            return
        verbosity = self.config.get_verbosity()
        lines = summary_lines(self.summary, verbosity=verbosity)
        if lines and verbosity >= 0:
            terminalreporter.write_sep("=", "evaluations")
        for line in lines:
            terminalreporter.write_line(line.text, **dict.fromkeys(line.markup, True))
