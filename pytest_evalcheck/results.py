"""Figures over results: what each metric measured, computed once, in any order.

A run hands over results one by one (`RunTally.add`), as `Result` or as the plain
mapping a worker process sent; `finish` computes the figures and verdicts. The
same results give the same figures and the same document in whatever order they
arrived.
"""

from __future__ import annotations

import json
import math
import sys
from array import array
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from pytest_evalcheck.gates import VerdictWord, decide
from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.model import Gate, Metric, MetricKind, Result, Row, Score
from pytest_evalcheck.safetext import safe_text
from pytest_evalcheck.statistics import mean, stdev, student_t_interval_of, wilson_interval

__all__ = [
    "SCHEMA",
    "MetricFigures",
    "MetricPlan",
    "MetricTally",
    "Results",
    "RunInfo",
    "RunTally",
    "SliceFigures",
    "crashed_result",
    "make_result",
    "result_from_plain",
    "result_record",
    "result_to_plain",
    "row_slices",
    "summarise",
]

SCHEMA: Final = "evalcheck-results/1"

# What a result may add to the summary: lines, characters of a line, results of one metric.
SUMMARY_LINES: Final = 60
SUMMARY_WIDTH: Final = 400
SUMMARIES_KEPT: Final = 50
# Fields of a result that are tuples of texts, in plain form lists.
TUPLES: Final = ("tags", "slices", "summary")
# The longest reason, found and wanted kept of a row, in characters.
TEXT_LIMIT: Final = 2_000
# Failing rows kept for the summary, per metric.
WORST_KEPT: Final = 5
# What a row without the key of the slices is counted under.
NO_SLICE: Final = "(none)"

Redactor = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPlan:
    """What is known of a metric before it scored anything; plain enough to travel.

    Attributes:
        suite: path of the suite relative to the rootdir, with forward slashes.
        name: the metric's name, unique within its suite.
        kind: `check`, `judge`, `evaluator` or `test`.
        source: what does the work (`contains@1`, `checks.py:polite`).
        version: the version of a built-in evaluator, or None.
        gate: the rule by which the metric can fail the run.
        score_range: lowest and highest possible value, or None when unbounded.
        threshold: the value from which a row passes, where one was given.
        note: a remark the summary shows (`calibration waived: ...`).
    """

    suite: str
    name: str
    kind: MetricKind = "check"
    source: str = ""
    version: int | None = None
    gate: Gate = field(default_factory=Gate)
    score_range: tuple[float, float] | None = None
    threshold: float | None = None
    note: str = ""

    @classmethod
    def of(cls, suite: str, metric: Metric, *, note: str = "") -> MetricPlan:
        """Return the plan of a compiled metric of a suite."""
        version = metric.source.rpartition("@")[2]
        return cls(
            suite=suite,
            name=metric.name,
            kind=metric.kind,
            source=metric.source,
            version=int(version) if "@" in metric.source and version.isdecimal() else None,
            gate=metric.gate,
            score_range=metric.score_range,
            threshold=metric.threshold,
            note=note,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the plan in plain JSON types."""
        plain: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("suite", "name", "kind", "source", "version", "threshold", "note")
        }
        plain["gate"] = _gate_to_plain(self.gate)
        plain["score_range"] = list(self.score_range) if self.score_range else None
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> MetricPlan:
        """Return the plan that `to_plain` described."""
        limits = plain["score_range"]
        return cls(
            **{
                **plain,
                "gate": Gate(**plain["gate"]),
                "score_range": (limits[0], limits[1]) if limits else None,
            }
        )


def _gate_to_plain(gate: Gate) -> dict[str, Any]:
    return {
        field.name: value
        for field in fields(Gate)
        if (value := getattr(gate, field.name)) is not None
    }


def make_result(
    score: Score,
    *,
    suite: str,
    dataset: str,
    row: Row,
    metric: str,
    by: str | None = None,
    redact: Redactor | None = None,
    **extra: Any,
) -> Result:
    """Return the result of a score at its place, with all text made safe to show.

    Args:
        score: what the metric said of the row.
        suite: the suite's path as results show it.
        dataset: the dataset's path as results show it.
        row: the row that was scored; its recorded latency, tokens, cost, tags and
            app version are taken over.
        metric: the metric's name.
        by: the tag or metadata key the run is sliced by, if any.
        redact: removes the secrets that only the run knows.
        extra: other fields of `Result` (`turn`, `tool`, `repeat`, `latency_s`, ...).
    """
    failed = not score.passed
    result = Result(
        suite=suite,
        dataset=dataset,
        line=row.line,
        row=row.id,
        metric=metric,
        status=score.status,
        passed=score.passed,
        value=score.value,
        code=score.code,
        reason=safe_text(score.reason, TEXT_LIMIT, redact=redact) if score.reason else "",
        found=_side(score.details, "found", redact) if failed else None,
        wanted=_side(score.details, "wanted", redact) if failed else None,
        latency_s=_finite(row.latency_s),
        tokens=row.tokens,
        cost_usd=_finite(row.cost_usd),
        tags=tuple(map(safe_text, row.tags)) if row.tags else (),
        app_version=row.app_version and safe_text(row.app_version),
        xfail=row.xfail and safe_text(row.xfail),
        slices=() if by is None else row_slices(row, by),
        summary=_summary(score.details, redact) if "summary" in score.details else (),
    )
    return replace(result, **extra) if extra else result


def crashed_result(
    *, suite: str, dataset: str, line: int, row: str, metric: str, reason: str = ""
) -> Result:
    """Return the result of a row whose worker process died while running it."""
    return Result(
        suite=suite,
        dataset=dataset,
        line=line,
        row=row,
        metric=metric,
        status="error",
        code="worker_crashed",
        reason=reason or "the process that ran the row died",
    )


def _side(details: Mapping[str, Any], name: str, redact: Redactor | None) -> str | None:
    if name not in details:
        return None
    return safe_text(json_text(details[name]), TEXT_LIMIT, redact=redact)


def _summary(details: Mapping[str, Any], redact: Redactor | None) -> tuple[str, ...]:
    return tuple(
        safe_text(line, SUMMARY_WIDTH, redact=redact) for line in details["summary"][:SUMMARY_LINES]
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def row_slices(row: Row, by: str) -> tuple[str, ...]:
    """Return the slices a row is counted in: its tags, or its value of a metadata key."""
    if by in ("tag", "tags"):
        return tuple(sorted({safe_text(tag, 80) for tag in row.tags})) or (NO_SLICE,)
    if by == "app_version":
        return (safe_text(row.app_version, 80) if row.app_version else NO_SLICE,)
    if row.metadata.get(by) is not None:
        return (safe_text(json_text(row.metadata[by]), 80),)
    return (by,) if by in row.tags else (NO_SLICE,)


_DEFAULTS: Final[Mapping[str, Any]] = {
    item.name: (() if item.name in TUPLES else item.default) for item in fields(Result)
}
_NAMES: Final = tuple(_DEFAULTS)


def result_to_plain(result: Result) -> dict[str, Any]:
    """Return a result in plain JSON types, without the fields that say nothing."""
    plain: dict[str, Any] = {
        "suite": result.suite,
        "dataset": result.dataset,
        "line": result.line,
        "row": result.row,
        "metric": result.metric,
        "status": result.status,
    }
    for name in _NAMES[6:]:
        value = getattr(result, name)
        if value != _DEFAULTS[name]:
            plain[name] = list(value) if type(value) is tuple else value
    return plain


def result_from_plain(plain: Mapping[str, Any]) -> Result:
    """Return the result that `result_to_plain` described; equal texts are shared."""
    filled = dict(plain)
    for name in ("suite", "dataset", "row", "metric", "status"):
        filled[name] = sys.intern(filled[name])
    for name in TUPLES:
        if name in filled:
            filled[name] = tuple(map(sys.intern, filled[name]))
    return Result(**filled)


def result_record(result: Result) -> dict[str, Any]:
    """Return a result as the results file shows it: every field, None for no value."""
    record = {name: getattr(result, name) for name in _NAMES}
    record["tags"] = list(result.tags)
    record["slices"] = list(result.slices)
    record["summary"] = list(result.summary)
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceFigures:
    """The figures of one metric over the rows of one slice."""

    name: str
    rows: int
    scored: int
    passed: int
    pass_rate: float | None
    pass_rate_interval: tuple[float, float] | None
    mean: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFigures:
    """All that one metric measured in a run.

    Attributes:
        plan: the metric itself.
        rows: results of the metric.
        applicable: rows less those of code `not_applicable`; coverage is their scored share.
        scored, passed, failed, non_evaluable, blocked, errors: counts of results.
        xfailed: how many of the failed rows were marked as known to fail.
        reasons: how many rows were not scored, by reason code (by status where the
            row gives no code).
        reason_examples: the first such row of each code, as `path:line`.
        pass_rate: passed / scored, or None when nothing was scored.
        pass_rate_interval: Wilson's 95 % interval.
        mean: of the scored values, or None.
        mean_interval: Student's 95 % interval, clamped to the range; None below two values.
        stdev: sample standard deviation of the scored values; None below two.
        verdict, why: what the gate says, and the reason in words.
        worst: failing rows, the worst first, at most `WORST_KEPT`.
        slices: the same figures by tag or metadata value, when asked for.
        summary: lines that results add to the summary, in the order of the rows.
    """

    plan: MetricPlan
    rows: int
    applicable: int
    scored: int
    passed: int
    failed: int
    xfailed: int
    non_evaluable: int
    blocked: int
    errors: int
    reasons: Mapping[str, int]
    reason_examples: Mapping[str, str]
    pass_rate: float | None
    pass_rate_interval: tuple[float, float] | None
    mean: float | None
    mean_interval: tuple[float, float] | None
    stdev: float | None
    verdict: VerdictWord = "undecided"
    why: str = ""
    worst: tuple[Result, ...] = ()
    slices: tuple[SliceFigures, ...] = ()
    summary: tuple[str, ...] = ()

    @property
    def suite(self) -> str:
        """The suite the metric belongs to."""
        return self.plan.suite

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.plan.name

    @property
    def coverage(self) -> float | None:
        """Scored share of the applicable rows, or None when there are none."""
        return self.scored / self.applicable if self.applicable else None

    def to_document(self) -> dict[str, Any]:
        """Return the figures as the results file shows them."""
        plan = self.plan
        head = {name: getattr(plan, name) for name in ("suite", "name", "kind", "source")}
        counted = ("scored", "passed", "failed", "xfailed", "non_evaluable", "blocked", "errors")
        return {
            **head,
            "version": plan.version,
            "gate": plan.gate.text(),
            "threshold": plan.threshold,
            "note": plan.note,
            "verdict": self.verdict,
            "why": self.why,
            "rows": self.rows,
            **{name: getattr(self, name) for name in counted},
            "coverage": self.coverage,
            "reasons": dict(self.reasons),
            "pass_rate": self.pass_rate,
            "pass_rate_interval": _pair(self.pass_rate_interval),
            "mean": self.mean,
            "mean_interval": _pair(self.mean_interval),
        }


def _pair(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [float(bound) for bound in interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What is known of the run as a whole.

    Attributes:
        started_at: ISO 8601 with its offset, or None.
        duration_s: wall time in seconds, or None.
        app_version: version of the application under test, or None.
        versions: of Python and the packages that matter, by name.
        seed: of what was drawn at random, or None.
        complete: whether all that was to run has run.
        exit_status: of the process, once known.
        expected: results that were to come, or None when unknown.
        by: the tag or metadata key of the slices, or None.
    """

    started_at: str | None = None
    duration_s: float | None = None
    app_version: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    complete: bool = True
    exit_status: int | None = None
    expected: int | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A finished run: figures by metric, and the results in the order of collection.

    Attributes:
        metrics: one entry a metric, in the order of the plans.
        results: sorted; empty when the run kept none.
        run: the run as a whole.
        ran: how many results there were, kept or not.
    """

    metrics: tuple[MetricFigures, ...]
    results: tuple[Result, ...]
    run: RunInfo
    ran: int

    @property
    def gates_pass(self) -> bool:
        """Tell whether no gate stands in the way of exit status 0."""
        return all(figures.verdict in ("pass", "off") for figures in self.metrics)

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites, in the order of their first metric."""
        return tuple(dict.fromkeys(figures.suite for figures in self.metrics))

    def metric(self, name: str, suite: str | None = None) -> MetricFigures:
        """Return the figures of a metric.

        Raises:
            KeyError: no metric, or more than one, has that name.
        """
        found = [m for m in self.metrics if m.name == name and suite in (None, m.suite)]
        if len(found) != 1:
            raise KeyError(f"{len(found)} metrics are called {name!r}")
        return found[0]

    def to_document(self) -> dict[str, Any]:
        """Return the run as the document of a results file (schema `evalcheck-results/1`).

        Two runs of the same rows differ in `run.started_at`, `run.duration_s` and
        measured latencies only.
        """
        return {
            "schema": SCHEMA,
            "run": self.run_document(),
            "metrics": self.metric_documents(),
            "results": [result_record(result) for result in self.results],
        }

    def metric_documents(self) -> list[dict[str, Any]]:
        """Return the `metrics` part of a results file."""
        return [figures.to_document() for figures in self.metrics]

    def run_document(self) -> dict[str, Any]:
        """Return the `run` part of a results file."""
        run = self.run
        names = ("started_at", "duration_s", "app_version", "seed", "complete", "exit_status")
        return {
            "id": self._content_id(),
            **{name: getattr(run, name) for name in names},
            "versions": dict(sorted(run.versions.items())),
            "expected": run.expected,
            "ran": self.ran,
        }

    def _content_id(self) -> str:
        """Name the run after what it measured, so that equal runs are seen to be equal."""
        import hashlib

        digest = hashlib.sha256(json.dumps(self.metric_documents(), allow_nan=False).encode())
        for result in self.results:
            plain = result_to_plain(result)
            plain.pop("latency_s", None)
            digest.update(json.dumps(plain).encode())
        return digest.hexdigest()[:16]


def place_text(result: Result) -> str:
    """Return where a result's row stands, as `path:line`."""
    return f"{result.dataset}:{result.line}" if result.line else result.dataset


def _place_key(result: Result) -> tuple[Any, ...]:
    """Order results as pytest collects them: by folder entry, then by line."""
    return (
        result.dataset.split("/"),
        result.line,
        result.row,
        result.repeat or 0,
        result.turn or 0,
        result.tool or "",
    )


def _badness_key(result: Result) -> tuple[Any, ...]:
    value = -math.inf if result.value is None else result.value
    return (value, *_place_key(result))


class _Counts:
    """Counts and values of some results; eight bytes a scored row."""

    __slots__ = ("passed", "rows", "values")

    def __init__(self) -> None:
        self.rows = 0
        self.passed = 0
        self.values = array("d")

    def add(self, result: Result) -> None:
        self.rows += 1
        if result.value is not None:
            self.values.append(result.value)
            self.passed += bool(result.passed)

    def merge(self, other: _Counts) -> None:
        self.rows += other.rows
        self.passed += other.passed
        self.values.extend(other.values)

    def to_plain(self) -> list[Any]:
        return [self.rows, self.passed, self.values.tolist()]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> _Counts:
        counts = cls()
        counts.rows, counts.passed = plain[0], plain[1]
        counts.values = array("d", plain[2])
        return counts

    def rate(self) -> dict[str, Any]:
        n = len(self.values)
        return {
            "rows": self.rows,
            "scored": n,
            "passed": self.passed,
            "pass_rate": self.passed / n if n else None,
            "pass_rate_interval": wilson_interval(self.passed, n) if n else None,
            "mean": mean(self.values) if n else None,
        }


class MetricTally:
    """Takes the results of one metric one by one and keeps little of each."""

    __slots__ = (
        "_counts",
        "_examples",
        "_reasons",
        "_slices",
        "_statuses",
        "_summaries",
        "_worst",
        "_xfailed",
        "plan",
    )

    def __init__(self, plan: MetricPlan) -> None:
        self.plan = plan
        self._counts = _Counts()
        self._statuses = {"scored": 0, "non_evaluable": 0, "blocked": 0, "error": 0}
        self._reasons: dict[str, int] = {}
        self._examples: dict[str, Result] = {}
        self._worst: list[Result] = []
        self._xfailed = 0
        self._slices: dict[str, _Counts] = {}
        self._summaries: list[Result] = []

    def add(self, result: Result) -> None:
        """Count one result."""
        self._counts.add(result)
        self._statuses[result.status] += 1
        for name in result.slices:
            if name not in self._slices:
                self._slices[name] = _Counts()
            self._slices[name].add(result)
        if result.status != "scored":
            self._count_reason(result)
        if result.summary:
            self._keep_summary(result)
        if result.passed is False and result.xfail:
            self._xfailed += 1
        elif result.passed is False or result.status == "error":
            self._keep_worst(result)

    def _count_reason(self, result: Result) -> None:
        code = result.code or result.status
        self._reasons[code] = self._reasons.get(code, 0) + 1
        self._keep_example(code, result)

    def _keep_example(self, code: str, result: Result) -> None:
        kept = self._examples.get(code)
        if kept is None or _place_key(result) < _place_key(kept):
            self._examples[code] = result

    def _keep_worst(self, result: Result) -> None:
        worst = self._worst
        if len(worst) == WORST_KEPT and _badness_key(result) >= _badness_key(worst[-1]):
            return
        insort(worst, result, key=_badness_key)
        del worst[WORST_KEPT:]

    def _keep_summary(self, result: Result) -> None:
        insort(self._summaries, result, key=_place_key)
        del self._summaries[SUMMARIES_KEPT:]

    def merge(self, other: MetricTally) -> None:
        """Count all that another tally of the same metric counted."""
        self._counts.merge(other._counts)
        for status, count in other._statuses.items():
            self._statuses[status] += count
        for code, count in other._reasons.items():
            self._reasons[code] = self._reasons.get(code, 0) + count
            self._keep_example(code, other._examples[code])
        for result in other._worst:
            self._keep_worst(result)
        for result in other._summaries:
            self._keep_summary(result)
        self._xfailed += other._xfailed
        for name, counts in other._slices.items():
            self._slices.setdefault(name, _Counts()).merge(counts)

    @property
    def rows(self) -> int:
        """How many results were counted."""
        return self._counts.rows

    def to_plain(self) -> dict[str, Any]:
        """Return the tally in plain JSON types."""
        return {
            "plan": self.plan.to_plain(),
            "counts": self._counts.to_plain(),
            "statuses": dict(self._statuses),
            "reasons": dict(self._reasons),
            "examples": {code: result_to_plain(one) for code, one in self._examples.items()},
            "worst": [result_to_plain(result) for result in self._worst],
            "xfailed": self._xfailed,
            "summaries": [result_to_plain(result) for result in self._summaries],
            "slices": {name: counts.to_plain() for name, counts in self._slices.items()},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> MetricTally:
        """Return the tally that `to_plain` described."""
        tally = cls(MetricPlan.from_plain(plain["plan"]))
        tally._counts = _Counts.from_plain(plain["counts"])
        tally._statuses = dict(plain["statuses"])
        tally._reasons = dict(plain["reasons"])
        tally._examples = {code: result_from_plain(one) for code, one in plain["examples"].items()}
        tally._worst = [result_from_plain(result) for result in plain["worst"]]
        tally._xfailed = plain["xfailed"]
        tally._summaries = [result_from_plain(result) for result in plain["summaries"]]
        tally._slices = {
            name: _Counts.from_plain(counts) for name, counts in plain["slices"].items()
        }
        return tally

    def figures(self, *, complete: bool) -> MetricFigures:
        """Return the figures of what was added, with the gate's verdict."""
        undecided = self._measured()
        verdict = decide(self.plan.gate, undecided, complete=complete)
        return replace(undecided, verdict=verdict.word, why=verdict.why)

    def _measured(self) -> MetricFigures:
        counts, values = self._counts, self._counts.values
        n = len(values)
        spread = stdev(values) if n > 1 else None
        rate = counts.rate()
        most_first = sorted(self._reasons.items(), key=lambda item: (-item[1], item[0]))
        return MetricFigures(
            plan=self.plan,
            **rate,
            applicable=counts.rows - self._reasons.get("not_applicable", 0),
            failed=n - counts.passed,
            xfailed=self._xfailed,
            non_evaluable=self._statuses["non_evaluable"],
            blocked=self._statuses["blocked"],
            errors=self._statuses["error"],
            reasons=dict(most_first),
            reason_examples={code: place_text(self._examples[code]) for code, _ in most_first},
            mean_interval=(
                student_t_interval_of(n, rate["mean"], spread, score_range=self.plan.score_range)
                if n > 1
                else None
            ),
            stdev=spread,
            worst=tuple(self._worst),
            summary=tuple(line for result in self._summaries for line in result.summary),
            slices=tuple(
                SliceFigures(name=name, **slice_counts.rate())
                for name, slice_counts in sorted(self._slices.items())
            ),
        )


class RunTally:
    """Takes all results of a run, in any order, and finishes with `Results`.

    Args:
        plans: the metrics with at least one row to run, in the order of collection; a
            plan may come again (every worker process sends its own).
        keep: whether to keep the results themselves, which a results file needs.
    """

    def __init__(self, plans: Iterable[MetricPlan] = (), *, keep: bool = True) -> None:
        self._tallies: dict[tuple[str, str], MetricTally] = {}
        self._implied: dict[tuple[str, str], MetricTally] = {}
        self._kept: list[Result] | None = [] if keep else None
        self.ran = 0
        for plan in plans:
            self.add_plan(plan)

    def add_plan(self, plan: MetricPlan) -> None:
        """Make a metric known; of two entries of one name the stricter gate counts."""
        key = (plan.suite, plan.name)
        tally = self._tallies.get(key) or self._implied.pop(key, None)
        if tally is None:
            self._tallies[key] = MetricTally(plan)
            return
        tally.plan = plan if key not in self._tallies else _stricter(tally.plan, plan)
        self._tallies[key] = tally

    def add(self, result: Result | Mapping[str, Any]) -> Result:
        """Count one result, as it is or as `result_to_plain` made it."""
        if not isinstance(result, Result):
            result = result_from_plain(result)
        self.ran += 1
        self._tally_of(result).add(result)
        if self._kept is not None:
            self._kept.append(result)
        return result

    def add_tally(self, tally: MetricTally) -> None:
        """Count all that a tally of one metric counted, without the results themselves."""
        self.ran += tally.rows
        self.add_plan(tally.plan)
        self._tallies[tally.plan.suite, tally.plan.name].merge(tally)

    def _tally_of(self, result: Result) -> MetricTally:
        key = (result.suite, result.metric)
        tally = self._tallies.get(key) or self._implied.get(key)
        if tally is None:
            # A result nobody announced still counts, under the strictest gate.
            plan = MetricPlan(suite=result.suite, name=result.metric, kind="test")
            tally = self._implied[key] = MetricTally(plan)
        return tally

    def finish(
        self,
        run: RunInfo | None = None,
        *,
        datasets: Sequence[str] = (),
        narrowed: bool = False,
    ) -> Results:
        """Compute the figures and decide the gates.

        Args:
            run: the run as a whole; it is incomplete when it says so or when fewer
                results came than `run.expected`.
            datasets: the datasets in the order of collection; others follow by name.
            narrowed: whether only a part of the suite was asked for (`-k`, one dataset):
                a metric without any result is then left out, not blocked, unless the
                run was incomplete.
        """
        run = run or RunInfo()
        complete = run.complete and (run.expected is None or self.ran >= run.expected)
        tallies = [*self._tallies.values(), *(self._implied[key] for key in sorted(self._implied))]
        figures = [tally.figures(complete=complete) for tally in tallies]
        return Results(
            metrics=tuple(each for each in figures if each.rows or not (narrowed and complete)),
            results=self._sorted(tallies, datasets),
            run=replace(run, complete=complete),
            ran=self.ran,
        )

    def _sorted(
        self, tallies: Sequence[MetricTally], datasets: Sequence[str]
    ) -> tuple[Result, ...]:
        ranks = {dataset: rank for rank, dataset in enumerate(datasets)}
        order = {(t.plan.suite, t.plan.name): place for place, t in enumerate(tallies)}

        def key(result: Result) -> tuple[Any, ...]:
            path, line, row, *rest = _place_key(result)
            rank = ranks.get(result.dataset, len(ranks))
            return (rank, path, line, row, order[result.suite, result.metric], *rest)

        return tuple(sorted(self._kept or (), key=key))


def _stricter(first: MetricPlan, second: MetricPlan) -> MetricPlan:
    if first.gate == second.gate:
        return first
    ranks = ("off", "rule", "each")
    return max(first, second, key=lambda plan: ranks.index(plan.gate.kind))


def summarise(
    plans: Iterable[MetricPlan],
    results: Iterable[Result | Mapping[str, Any]],
    *,
    run: RunInfo | None = None,
    datasets: Sequence[str] = (),
    narrowed: bool = False,
) -> Results:
    """Return the figures of a run from its plans and results, in whatever order they come.

    Of two results of the same row, metric, turn, tool and repeat the last counts:
    a row that was run again is one row. A crash never replaces a real result.

    Args:
        plans: the metrics, in the order of collection.
        results: as `Result` or as `result_to_plain` made them.
        run: the run as a whole, see `RunTally.finish`.
        datasets: the datasets in the order of collection.
        narrowed: see `RunTally.finish`.
    """
    latest: dict[tuple[Any, ...], Result] = {}
    for given in results:
        result = given if isinstance(given, Result) else result_from_plain(given)
        key = (result.suite, result.metric, *_place_key(result)[1:], result.dataset)
        if result.code != "worker_crashed" or key not in latest:
            latest[key] = result
    tally = RunTally(plans)
    for result in latest.values():
        tally.add(result)
    return tally.finish(run, datasets=datasets, narrowed=narrowed)
