"""The check that reads a judge's verdict recorded in the row, as EvalGlass users keep it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.checks.options import Option, Settings, show_value
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, Plan, Settled
from pytest_evalcheck.model import Row, Score

# EvalGlass's states of judge evidence in which there is no verdict to be had.
UNAVAILABLE: Final[Mapping[str, str]] = {
    "missing": "judge_unavailable",
    "timeout": "timeout",
    "provider_error": "judge_unavailable",
}
VALUE_KEYS: Final = ("parsed_value", "value", "score")


@check(
    "judge_score",
    Option(name="metric", kind="filled_text", summary="which of several recorded verdicts is read"),
    Option(name="score_range", kind="list", summary="[lowest, highest] value that is accepted"),
    summary="the judge's value recorded in the row reaches threshold",
    score="value",
    threshold="any",
)
def build_judge_score(settings: Settings) -> Plan:
    """Compile `judge_score`.

    The verdict is read from the row's metadata: `judge_score` (a number) or
    `judge_evidence`: a record with `parsed_value` and perhaps `status` (ok, missing,
    timeout, provider_error, malformed), a list of records with `metric` names, or a
    mapping of metric names to numbers or records. Absent evidence is non_evaluable, a
    judge that gave none is blocked, and so is a value outside score_range: never 0.
    """
    score_range = read_range(settings)
    threshold = settings["threshold"]
    if threshold is None:
        threshold = score_range[1] if score_range else None
    if threshold is None:
        raise settings.problem("threshold", "judge_score lacks a threshold", "the value to reach")
    if score_range and not score_range[0] < threshold <= score_range[1]:
        raise settings.problem(
            "threshold",
            f"{threshold:g} on a range of {score_range[0]:g} to {score_range[1]:g}",
            "a value above the lowest, up to the highest",
        )

    def compare(row: Any, _operand: None) -> Finding:
        value = evidence_value(row, settings["metric"], score_range)
        wanted = f"a judge's value of at least {threshold:g}"
        return Finding(value >= threshold, value, found=f"{value:g}", wanted=wanted)

    return Plan(compare=compare, reads="row", score_range=score_range, least=threshold)


def read_range(settings: Settings) -> tuple[float, float] | None:
    """Return the accepted range of values, or None.

    Raises:
        ConfigError: it is not two finite numbers in order.
    """
    raw = settings["score_range"]
    if raw is None:
        return None
    if len(raw) != 2 or not all(is_finite(one) for one in raw) or raw[0] >= raw[1]:
        raise settings.problem("score_range", show_value(list(raw)), "[lowest, highest]")
    return float(raw[0]), float(raw[1])


def is_finite(value: Any) -> bool:
    """Tell whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def blocked(code: str, reason: str) -> Settled:
    """Return the end of a row whose verdict was wanted and could not be had."""
    return Settled(Score("blocked", reason=f"{code}: {reason}", code=code))


def evidence_value(row: Row, metric: str | None, score_range: tuple[float, float] | None) -> float:
    """Return the value of the evidence in a row, which must be there and within range."""
    record = find_evidence(row.metadata, metric)
    if record is None:
        raise Settled.missing("not_applicable", "the row has no judge evidence")
    status = "ok"
    value = record
    if isinstance(record, Mapping):
        status = str(record.get("status") or "ok").lower()
        value = next((record[key] for key in VALUE_KEYS if record.get(key) is not None), None)
    if status in UNAVAILABLE:
        raise blocked(UNAVAILABLE[status], f"the judge's evidence is marked {status}")
    if status != "ok" or not is_finite(value):
        raise blocked("judge_unparsable", f"the judge's evidence holds {show_value(record)}")
    if score_range and not score_range[0] <= value <= score_range[1]:
        raise blocked(
            "score_out_of_range",
            f"{value} lies outside {score_range[0]:g} to {score_range[1]:g}",
        )
    return float(value)


def find_evidence(metadata: Mapping[str, Any], metric: str | None) -> Any:
    """Return the record of a metric, or the only one; None when there is none."""
    evidence = metadata.get("judge_evidence")
    if evidence is None:
        evidence = metadata.get("judge_score")
    if isinstance(evidence, list | tuple):
        fitting = [
            one
            for one in evidence
            if metric is None or (isinstance(one, Mapping) and one.get("metric") == metric)
        ]
        return fitting[0] if len(fitting) == 1 else None
    if isinstance(evidence, Mapping) and metric is not None:
        if metric in evidence:
            return evidence[metric]
        return evidence if evidence.get("metric") in (metric, None) else None
    return evidence
