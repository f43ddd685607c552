"""The words of the project as frozen data: rows, scores, gates, metrics, results.

Nothing here reads a file, imports pytest or knows a check. `None` always means
"no value"; a number is never used to say that nothing was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal, TypeVar

__all__ = [
    "CODES",
    "STATUSES",
    "Gate",
    "Metric",
    "MetricKind",
    "Result",
    "Row",
    "Score",
    "Scorer",
    "Status",
]

T = TypeVar("T")


def quick_to_make(cls: type[T]) -> type[T]:
    """Give a frozen, slotted dataclass an `__init__` several times as fast as its own.

    Rows, scores and results are made by the ten thousand. The generated `__init__` of a
    frozen class stores each field through `object.__setattr__`; this one calls the slots
    themselves. Nothing else changes: the class stays frozen.
    """
    names: dict[str, Any] = {"MISSING": MISSING}
    positional: list[str] = []
    keywords: list[str] = []
    body: list[str] = []
    for each in fields(cls):  # type: ignore[arg-type]
        name = each.name
        names[f"set_{name}"] = getattr(cls, name).__set__
        default = ""
        if each.default is not MISSING:
            names[f"default_{name}"] = each.default
            default = f"=default_{name}"
        elif each.default_factory is not MISSING:
            names[f"make_{name}"] = each.default_factory
            default = "=MISSING"
            body.append(f"if {name} is MISSING: {name} = make_{name}()")
        (keywords if each.kw_only else positional).append(f"{name}{default}")
        body.append(f"set_{name}(self, {name})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({parameters}):\n  " + "\n  ".join(body), names)
    cls.__init__ = names["__init__"]  # type: ignore[method-assign]
    return cls


Status = Literal["scored", "non_evaluable", "blocked", "error"]
MetricKind = Literal["check", "judge", "evaluator", "test"]

STATUSES: Final[tuple[Status, ...]] = ("scored", "non_evaluable", "blocked", "error")

# The closed list of reason codes: what each says is missing.
CODES: Final[Mapping[str, str]] = {
    "missing_output": "the row has no recorded output",
    "missing_expected": "the row has no expected value",
    "expected_unusable": "the expected value cannot be read as what the check needs",
    "path_unresolved": "a path leads nowhere in the value it is asked of",
    "empty_output": "the output is blank, so there is nothing to judge",
    "not_applicable": "the metric does not apply to this row",
    "task_failed": "the task raised, so the row has no output",
    "judge_unavailable": "the judge could not be reached",
    "judge_unparsable": "the judge's reply could not be read beyond doubt",
    "judge_abstained": "the judge declined to give a verdict",
    "judge_uncalibrated": "the judge has not been calibrated, so it cannot gate",
    "score_out_of_range": "the score lies outside its scale",
    "timeout": "no answer came within the time limit",
    "budget_exhausted": "the run's budget is spent",
    "no_recording": "calls are switched off and no recording fits",
    "dependency_missing": "an optional package is not installed",
    "ambiguous_number": "several numbers, and no rule which one counts",
    "worker_crashed": "the process that ran the row died",
}


@quick_to_make
@dataclass(frozen=True, slots=True)
class Score:
    """The result of one metric on one row.

    Attributes:
        status: `scored`, `non_evaluable`, `blocked` or `error`.
        value: a finite number when `status` is `scored` (1.0 or 0.0 for a yes/no
            check), else None.
        passed: True or False when `status` is `scored`, else None.
        reason: one line for a person: what was found and what was wanted.
        code: one of `CODES`; required unless scored, allowed beside a failure
            that needs one (`path_unresolved`).
        details: plain JSON-like data; `found` and `wanted` hold the two sides
            of a failure, `traceback` the user's frames of an error, `summary` lines
            for the summary of the run.
    """

    status: Status
    value: float | None = None
    passed: bool | None = None
    reason: str = ""
    code: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status {self.status!r} is none of {', '.join(STATUSES)}")
        if self.code is not None and self.code not in CODES:
            raise ValueError(f"code {self.code!r} is not one of the reason codes")
        if self.status == "scored":
            if self.value is None or not math.isfinite(self.value):
                raise ValueError(f"a scored result needs a finite value, not {self.value!r}")
            if self.passed is None:
                raise ValueError("a scored result needs passed=True or passed=False")
        elif self.value is not None or self.passed is not None:
            raise ValueError(f"a {self.status} result has neither value nor verdict")


@quick_to_make
@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One example of a dataset.

    Attributes:
        id: unique within its dataset; never holds `[`, `]`, `::` or control characters.
        input: what was asked (text or JSON), or None.
        output: the recorded output (text or JSON), or None when there is none.
        expected: the expected value (any JSON), or None when there is none.
        context: texts the answer should rest on.
        messages, turns, goal: the other row shapes (chat, sequence, simulated).
        tool_calls, expected_tool_calls: calls as JSON, in any of the accepted forms.
        transcript: a recorded conversation.
        latency_s, tokens, cost_usd: as recorded: seconds, count, US dollars.
        metadata: everything else the row carries, unknown columns included.
        metrics: metric entries that this row adds to its suite's.
        skip, xfail: the reason given in the row, or None.
        path, line: the dataset file and the 1-based physical line the row starts on.
        notes: remarks of the reader that a reason may quote, such as a column
            whose name is nearly that of a known one.
    """

    id: str = ""
    input: Any = None
    output: Any = None
    expected: Any = None
    context: tuple[Any, ...] | None = None
    messages: tuple[Mapping[str, Any], ...] | None = None
    turns: tuple[Any, ...] | None = None
    goal: str | None = None
    tool_calls: Any = None
    expected_tool_calls: Any = None
    transcript: Any = None
    latency_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    app_version: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[Mapping[str, Any], ...] = ()
    skip: str | None = None
    xfail: str | None = None
    path: str = ""
    line: int = 0
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> Any:
        """Return a field, or else the metadata of that name, as a dataset line is read."""
        if key in self.__dataclass_fields__:
            return getattr(self, key)
        return self.metadata[key]

    def __contains__(self, key: object) -> bool:
        """Tell whether the row has a field with a value, or metadata, of that name."""
        if key in self.__dataclass_fields__:
            return getattr(self, str(key)) is not None
        return key in self.metadata

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the fields, so that a row reads as a mapping of them."""
        return iter(self.__dataclass_fields__)

    def keys(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(self.__dataclass_fields__)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field or metadata, or the default where there is no value."""
        return self[key] if key in self else default  # noqa: SIM401 - this is that get


Scorer = Callable[[Row], Score]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The rule by which a metric can fail the run.

    Attributes:
        kind: `each` (every evaluable row passes), `off` (reported only) or
            `rule` (on the figures of the whole metric).
        pass_rate: least share of scored rows that pass, 0..1, or None.
        mean: least mean of the scored values, or None.
        coverage: least share of rows that were scored, 0..1, or None.
        confidence: level of the interval whose bound, not the point, must clear
            the rule, 0..1, or None.
        note: why a metric does not gate although asked to, shown in the summary.
    """

    kind: Literal["each", "off", "rule"] = "each"
    pass_rate: float | None = None
    mean: float | None = None
    coverage: float | None = None
    confidence: float | None = None
    note: str = ""

    def text(self) -> str:
        """Return the gate in the words of a suite file."""
        rules = [
            f"{name} {value:g}"
            for name, value in (
                ("pass_rate", self.pass_rate),
                ("mean", self.mean),
                ("coverage", self.coverage),
                ("confidence", self.confidence),
            )
            if value is not None
        ]
        return ", ".join([self.kind, *rules] if self.kind != "rule" else rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A compiled metric: an entry of a suite, ready to score rows.

    Attributes:
        name: unique within its suite.
        kind: `check`, `judge`, `evaluator` (a user's function) or `test` (a marked
            Python test).
        source: what does the work, with its version: `contains@1`, `checks.py:polite`.
        score: scores one row; never raises for a bad row.
        gate: the rule by which the metric can fail the run.
        threshold: the value from which a row passes, where one was given.
        score_range: lowest and highest possible value, or None when unbounded.
        tags: become markers of the metric's items.
        applies_to: metadata keys or `tag` and the value a row must have; empty
            means every row.
        dataset: the dataset file, relative to the rootdir, that alone the metric
            applies to, or "" for every one.
        path, line: where the entry stands.
    """

    name: str
    kind: MetricKind
    source: str
    score: Scorer
    gate: Gate = field(default_factory=Gate)
    threshold: float | None = None
    score_range: tuple[float, float] | None = None
    tags: tuple[str, ...] = ()
    applies_to: Mapping[str, Any] = field(default_factory=dict)
    dataset: str = ""
    path: str = ""
    line: int = 0

    def applies(self, row: Row) -> bool:
        """Tell whether the row is selected by `applies_to` (tag or metadata, typed)."""
        if self.dataset and row.path and row.path != self.dataset:
            return False
        for key, wanted in self.applies_to.items():
            options = wanted if isinstance(wanted, list | tuple) else (wanted,)
            if key in ("tag", "tags"):
                if not any(option in row.tags for option in options):
                    return False
            elif not any(
                type(option) is type(value) and option == value
                for value in (row.metadata.get(key),)
                for option in options
            ):
                return False
        return True


@quick_to_make
@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of the results: a score with the place it belongs to.

    Field names are those of the results file. `suite` and `dataset` are paths
    relative to the rootdir with forward slashes; `slices` are the groups the row
    is counted in when a run is sliced by a tag or a metadata key; `xfail` is why the
    row is known to fail; `summary` are lines that the result adds to the run's summary.
    """

    suite: str
    dataset: str
    line: int
    row: str
    metric: str
    status: Status
    passed: bool | None = None
    value: float | None = None
    code: str | None = None
    reason: str = ""
    found: str | None = None
    wanted: str | None = None
    turn: int | None = None
    tool: str | None = None
    repeat: int | None = None
    latency_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    tags: tuple[str, ...] = ()
    app_version: str | None = None
    slices: tuple[str, ...] = ()
    xfail: str | None = None
    summary: tuple[str, ...] = ()
