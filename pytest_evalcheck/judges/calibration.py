"""May a judge gate? Its verdicts held against labels that people gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, DatasetError, Problem
from pytest_evalcheck.judges.agreement import (
    Level,
    agreement_rate,
    cohen_kappa,
    evidence_level,
    flip_rate,
    mean_absolute_error,
    order_bias,
    rank_correlation,
    rates_at,
    round_half_up,
)
from pytest_evalcheck.judges.reply import read_reply
from pytest_evalcheck.judges.reply_numbers import Unreadable
from pytest_evalcheck.judges.rubric import near
from pytest_evalcheck.judges.scales import Direction, Scale, is_number
from pytest_evalcheck.model import Row, Score
from pytest_evalcheck.statistics import wilson_interval

__all__ = [
    "STATISTICS",
    "Calibration",
    "CalibrationPlan",
    "LabelledRow",
    "calibrate",
    "load_labelled_rows",
    "read_calibration",
]

STATISTICS: Final = ("kappa", "weighted_kappa", "agreement", "spearman")
KEYS: Final = ("labels", "column", "statistic", "min", "min_labels", "waived")
DEFAULT_MIN: Final = 0.6
DEFAULT_MIN_LABELS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPlan:
    """How a judge is calibrated.

    Attributes:
        labels: the file of labelled rows, relative to the suite; "" when waived.
        column: the column that holds what people said.
        statistic: one of `STATISTICS`.
        minimum: the least value of the statistic.
        min_labels: the least number of labels.
        waived: why the metric may gate without, or "".
    """

    labels: str = ""
    column: str = "human"
    statistic: str = "kappa"
    minimum: float = DEFAULT_MIN
    min_labels: int = DEFAULT_MIN_LABELS
    waived: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRow:
    """A row with what people said of it, on the judge's scale."""

    row: Row
    human: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What came out.

    Attributes:
        labels: how many labelled rows there are.
        scored: how many of them the judge scored; the figures are over these.
        level: `count`, `provisional` or `firm`, by `scored`.
        agreement, agreement_interval: the share of equal values, with Wilson's interval.
        kappa: Cohen's kappa over the values of the scale.
        weighted_kappa: the same with quadratic weights, on an ordinal scale.
        true_positive_rate, true_negative_rate: at the threshold.
        mean_absolute_error, spearman: on a scale of numbers.
        flip_rate: over samples. order_bias: over pairs asked in both orders.
        statistic, value, minimum: the figure that decides, and what it must reach.
        reached: whether the judge may gate.
        why: in words.
        fingerprint: of what was calibrated, part by part.
    """

    labels: int
    scored: int
    level: Level
    agreement: float | None
    agreement_interval: tuple[float, float] | None
    kappa: float | None
    weighted_kappa: float | None
    true_positive_rate: float | None
    true_negative_rate: float | None
    mean_absolute_error: float | None
    spearman: float | None
    flip_rate: float | None
    order_bias: float | None
    statistic: str
    value: float | None
    minimum: float
    reached: bool
    why: str
    fingerprint: Mapping[str, str] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        plain = asdict(self)
        if self.agreement_interval is not None:
            plain["agreement_interval"] = list(self.agreement_interval)
        return plain


def read_calibration(written: Any, scale: Scale) -> CalibrationPlan:
    """Return the plan that `calibration:` of a metric describes.

    Raises:
        ConfigError: with every mistake; `keys` is relative to the metric.
    """
    if not isinstance(written, Mapping):
        raise ConfigError(
            Problem(
                found=f"calibration {written!r}",
                expected='{labels: labels.csv, column: human} or {waived: "why"}',
                keys=("calibration",),
            )
        )
    problems = [
        Problem(
            found=f"{key!r} is not a key of calibration",
            expected="one of " + ", ".join(KEYS),
            fix=near(key, KEYS),
            keys=(str(key),),
        )
        for key in written
        if key not in KEYS
    ]
    problems += waiver_problems(written) if "waived" in written else plan_problems(written, scale)
    if problems:
        raise ConfigError(replace(one, keys=("calibration", *one.keys)) for one in problems)
    return CalibrationPlan(
        labels=written.get("labels", ""),
        column=written.get("column", "human"),
        statistic=written.get("statistic", "kappa"),
        minimum=float(written.get("min", DEFAULT_MIN)),
        min_labels=written.get("min_labels", DEFAULT_MIN_LABELS),
        waived=str(written.get("waived", "")).strip(),
    )


def waiver_problems(written: Mapping[str, Any]) -> list[Problem]:
    reason = written["waived"]
    problems = []
    if not isinstance(reason, str) or len(reason.strip()) < 3:
        problems.append(
            Problem(
                found=f"waived: {reason!r}",
                expected="the reason, in words: it is shown in the summary",
                keys=("waived",),
            )
        )
    if "labels" in written:
        problems.append(
            Problem(found="waived beside labels", expected="one of them", keys=("waived",))
        )
    return problems


def plan_problems(written: Mapping[str, Any], scale: Scale) -> list[Problem]:
    """Return what is wrong with the keys of a calibration by labels."""
    found: list[tuple[str, str]] = []
    labels, column = written.get("labels"), written.get("column", "human")
    statistic, least = written.get("statistic", "kappa"), written.get("min", DEFAULT_MIN)
    if not isinstance(labels, str) or not labels.strip():
        found.append(("labels", "the path of a file of labelled rows"))
    if not isinstance(column, str) or not column.strip():
        found.append(("column", "the name of the column that holds what people said"))
    if statistic not in STATISTICS:
        found.append(("statistic", "one of " + ", ".join(STATISTICS)))
    if not is_number(least) or not 0 < least <= 1:
        found.append(("min", "a number above 0, up to 1"))
    count = written.get("min_labels", DEFAULT_MIN_LABELS)
    if type(count) is not int or count < 1:
        found.append(("min_labels", "a whole number above 0"))
    problems = [
        Problem(
            found=f"{key} {written[key]!r}" if key in written else f"no {key}",
            expected=expected,
            fix=near(statistic, STATISTICS) if key == "statistic" else "",
            keys=(key,) if key in written else (),
        )
        for key, expected in found
    ]
    needs = statistic_needs(str(statistic), scale)
    if needs:
        problems.append(
            Problem(found=f"statistic: {statistic}", expected=needs, keys=("statistic",))
        )
    return problems


def statistic_needs(statistic: str, scale: Scale) -> str:
    """Return what a statistic needs that a scale is not, or ""."""
    if statistic == "weighted_kappa" and not is_ordinal(scale):
        return "kappa: weights need whole numbers or labels with scores of their own"
    if statistic == "spearman" and scale.kind == "pass_fail":
        return "kappa or agreement: pass and fail have no ranks"
    return ""


def is_ordinal(scale: Scale) -> bool:
    """Tell whether a scale has steps that can be counted."""
    return scale.whole or scale.kind in ("labels", "pass_fail")


def load_labelled_rows(
    path: Path,
    plan: CalibrationPlan,
    scale: Scale,
    *,
    shown: str = "",
    known: Mapping[str, Row] | None = None,
) -> list[LabelledRow]:
    """Return the rows of a labels file that carry a label; blank labels are left out.

    Args:
        path: the file, in any format that a dataset may have.
        plan: names the column.
        scale: on which the label must lie: a number, pass or fail, or a label.
        shown: the path for messages.
        known: rows of the suite by id, for a file that holds ids and labels only.

    Raises:
        DatasetError: with every problem of the file.
        ConfigError: no row has a label.
    """
    from pytest_evalcheck.datasets import load_rows

    rows = joined_rows(path, plan, known, shown) if known else None
    rows = load_rows(path, shown=shown) if rows is None else rows
    problems, labelled = [], []
    for row in rows:
        written = label_of(row, plan.column)
        if written is None or (isinstance(written, str) and not written.strip()):
            continue
        try:
            labelled.append(LabelledRow(row=row, human=human_value(written, scale)))
        except Unreadable as error:
            problems.append(
                Problem(
                    found=f"the label {written!r} {error.why}",
                    expected=scale.text(),
                    where=f"row {row.id!r}: {plan.column}",
                    path=shown or str(path),
                    line=row.line or None,
                )
            )
    if problems:
        raise DatasetError(problems)
    if not labelled:
        raise ConfigError(no_labels(plan, rows, shown or str(path)))
    return labelled


def joined_rows(
    path: Path, plan: CalibrationPlan, known: Mapping[str, Row] | None, shown: str
) -> list[Row] | None:
    """Return known rows with the labels of a file that holds ids and labels only, else None.

    Raises:
        DatasetError: an id is unknown.
    """
    from pytest_evalcheck.datasets import read_records

    records = list(read_records(path, shown=shown))
    if not known or not all(
        isinstance(record, Mapping) and set(record) == {"id", plan.column} for _, record in records
    ):
        return None
    problems = [
        Problem(
            found=f"no row of the suite has the id {record['id']!r}",
            fix=near(record["id"], known),
            path=shown or str(path),
            line=line,
        )
        for line, record in records
        if str(record["id"]) not in known
    ]
    if problems:
        raise DatasetError(problems)
    return [
        replace(
            known[str(record["id"])],
            metadata={**known[str(record["id"])].metadata, plan.column: record[plan.column]},
            line=line,
        )
        for line, record in records
    ]


def label_of(row: Row, column: str) -> Any:
    """Return what stands in a column of a row: metadata first, then a field of that name."""
    if column in row.metadata:
        return row.metadata[column]
    return row.get(column)


def no_labels(plan: CalibrationPlan, rows: Sequence[Row], shown: str) -> Problem:
    columns = dict.fromkeys(key for row in rows for key in row.metadata)
    return Problem(
        found=f"no row has a label in the column {plan.column!r}",
        expected="what people said, one value a row",
        fix=near(plan.column, columns)
        or (f"The columns are {', '.join(list(columns)[:8])}." if columns else ""),
        path=shown,
    )


def human_value(written: Any, scale: Scale) -> float:
    """Return a human label on the judge's scale.

    Raises:
        Unreadable: it is not on the scale.
    """
    try:
        if isinstance(written, bool | int | float) and scale.kind != "labels":
            return read_reply({"score": written}, scale, key="score").value
        return read_reply({"score": str(written)}, scale, key="score").value
    except Unreadable as error:
        raise Unreadable("is not on the scale", error.code) from None


def calibrate(
    labelled: Sequence[LabelledRow],
    scores: Sequence[Score],
    plan: CalibrationPlan,
    scale: Scale,
    *,
    threshold: float,
    direction: Direction = "higher",
    fingerprint: Mapping[str, str] | None = None,
) -> Calibration:
    """Return how the judge's scores stand against the labels.

    Args:
        labelled: the rows with their labels.
        scores: the judge's score of each, in the same order; one without a value is left
            out of the figures and counted.
        plan: which figure decides.
        scale: the metric's.
        threshold: the metric's.
        direction: the metric's.
        fingerprint: of the judge and the metric.
    """
    both = [
        (score, one.human)
        for one, score in zip(labelled, scores, strict=True)
        if score.status == "scored" and score.value is not None
    ]
    pairs = [(float(score.value or 0.0), human) for score, human in both]
    verdicts = [
        (scale.passes(judge, threshold, direction), scale.passes(human, threshold, direction))
        for judge, human in pairs
    ]
    true_positive, true_negative = rates_at(verdicts)
    steps = stepped_pairs(pairs, verdicts, scale)
    categories = sorted({value for pair in steps for value in pair} | set(steps_of(scale)))
    agreement = agreement_rate(steps)
    figures: dict[str, float | None] = {
        "agreement": agreement,
        "kappa": cohen_kappa(steps, categories),
        "weighted_kappa": cohen_kappa(steps, categories, quadratic=True)
        if is_ordinal(scale)
        else None,
        "spearman": None if scale.kind == "pass_fail" else rank_correlation(pairs),
    }
    value = figures[plan.statistic]
    reached, why = judgement(plan, value, len(pairs), len(labelled))
    return Calibration(
        labels=len(labelled),
        scored=len(pairs),
        level=evidence_level(len(pairs)),
        agreement_interval=wilson_interval(sum(one == other for one, other in steps), len(steps))
        if steps
        else None,
        true_positive_rate=true_positive,
        true_negative_rate=true_negative,
        mean_absolute_error=None if scale.kind == "pass_fail" else mean_absolute_error(pairs),
        flip_rate=flip_rate([sides(score, scale, threshold, direction) for score, _ in both]),
        order_bias=order_bias([order for score in scores for order in orders_of(score)]),
        statistic=plan.statistic,
        value=value,
        minimum=plan.minimum,
        reached=reached,
        why=why,
        fingerprint=dict(fingerprint or {}),
        **figures,
    )


def stepped_pairs(
    pairs: Sequence[tuple[float, float]], verdicts: Sequence[tuple[bool, bool]], scale: Scale
) -> list[tuple[float, float]]:
    """Return pairs as categories: steps of the scale, or its two sides where it has none."""
    if not is_ordinal(scale):
        return [(float(judge), float(human)) for judge, human in verdicts]
    if scale.kind == "number":
        low, high = scale.low, scale.high
        return [
            (round_half_up(one, low, high), round_half_up(other, low, high)) for one, other in pairs
        ]
    return list(pairs)


def steps_of(scale: Scale) -> list[float]:
    """Return the categories of a scale in order."""
    if scale.kind == "labels":
        return sorted({score for _, score in scale.labels})
    if scale.kind == "number" and scale.whole and scale.high - scale.low <= 1000:
        return [scale.low + step for step in range(int(scale.high - scale.low) + 1)]
    return [0.0, 1.0]


def sides(score: Score, scale: Scale, threshold: float, direction: Direction) -> list[bool]:
    """Return on which side of the threshold each sample of a score fell."""
    values = score.details.get("samples", ())
    return [scale.passes(value, threshold, direction) for value in values if value is not None]


def orders_of(score: Score) -> list[tuple[float, float]]:
    """Return the output's values in both orders of each sample of a pairwise score."""
    orders = score.details.get("orders", ())
    return [(one, other) for one, other in orders if one is not None and other is not None]


def judgement(
    plan: CalibrationPlan, value: float | None, scored: int, labels: int
) -> tuple[bool, str]:
    """Return whether a judge may gate, and why."""
    if scored < plan.min_labels:
        lost = f" ({labels - scored} of {labels} got no score)" if scored < labels else ""
        return False, f"{scored} labels{lost}, {plan.min_labels} needed"
    if value is None:
        return False, f"{plan.statistic} does not exist for these labels: one side is constant"
    said = f"{plan.statistic} {value:.2f} over {scored} labels"
    if value >= plan.minimum:
        return True, f"{said} reaches {plan.minimum:g}"
    return False, f"{said} is below {plan.minimum:g}"
