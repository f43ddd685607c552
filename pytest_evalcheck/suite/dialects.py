"""Metric entries of EvalGlass and CompletionKit as their users write them, made native.

EvalGlass: `evaluator_ref` names a built-in (`field_presence@1`) or a function
(`evaluators/answer.py:evaluate`); `metric_status` decides whether the metric may gate
(EvalGlass 0.2, harness/config.py and core/authority.py).
CompletionKit: `metric_type: check` with `check_config` (its API, metrics_controller.rb).
What an entry asks for and this project cannot do is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.suite.keys import METRIC_KEYS, Key, check_keys, near, show

__all__ = ["COMPLETIONKIT_KEYS", "EVALGLASS_KEYS", "NEVER_GATING", "Native", "to_native"]

NEVER_GATING: Final = ("draft", "proposed", "informational", "calibrating", "retired")
STATUSES: Final = (*NEVER_GATING, "gating")
OURS: Final = tuple(
    key
    for key in METRIC_KEYS
    if key.name in ("name", "gate", "tags", "applies_to", "title", "description")
)

EVALGLASS_KEYS: Final[tuple[Key, ...]] = (
    *OURS,
    Key(name="evaluator_ref", kind="text", summary="name@version, or path.py:function"),
    Key(name="params", kind="mapping", summary="the options of the evaluator"),
    Key(name="threshold", kind="number", summary="the value from which a row passes"),
    Key(name="score_range", kind="range", summary="lowest and highest value"),
    Key(name="score_type", kind="text", summary="binary or continuous; not read"),
    Key(name="lens", kind="text", summary="reference or non_reference; not read"),
    Key(name="granularity", kind="text", summary="call or trajectory; not read"),
    Key(name="aggregation", kind="any", summary="mean; another is refused"),
    Key(name="direction", kind="any", summary="higher_is_better; another is refused"),
    Key(name="metric_status", kind="any", summary="gating, or one that never gates"),
    Key(name="threshold_approval", kind="text", summary="approved or proposed; not read"),
    Key(name="dataset", kind="text", summary="the one dataset file the metric applies to"),
    Key(name="version", kind="any", summary="the metric's own version; not read"),
    Key(name="emits", kind="any", summary="not read"),
    Key(name="profile", kind="any", summary="not read"),
    Key(name="required_evidence", kind="any", summary="not read"),
    Key(name="prerequisites", kind="any", summary="not read"),
    Key(name="judge_calibration", kind="any", summary="not read"),
    Key(name="display", kind="mapping", summary="how EvalGlass shows it; not read"),
    Key(name="requires_baseline", kind="bool", summary="false; true is refused"),
)

COMPLETIONKIT_KEYS: Final[tuple[Key, ...]] = (
    *OURS,
    Key(name="metric_type", kind="any", summary="check"),
    Key(name="check_config", kind="mapping", summary="check_kind and the options of that check"),
    Key(name="tag_names", kind="tags", summary="the same as tags"),
)

# What an EvalGlass entry may leave out or set to this, and nothing else.
ONLY: Final[Mapping[str, tuple[Any, str]]] = {
    "direction": ("higher_is_better", "Turn the score round, or use a check with `negate`."),
    "aggregation": ("mean", "Write a `gate` on the whole metric."),
    "requires_baseline": (False, "Gates against a baseline are not part of this version."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """An entry in the project's own words.

    Attributes:
        entry: the native entry.
        prefix: where its options stood in the foreign one (`("params",)`), for messages.
        source_key: the foreign key that says what scores, or "" in a native entry.
        score_range: the range the foreign entry declares, or None.
        off: why the metric never gates, or "".
        dataset: the only dataset the metric applies to, relative to the suite, or "".
    """

    entry: Mapping[str, Any]
    prefix: tuple[str, ...] = ()
    source_key: str = ""
    score_range: tuple[float, float] | None = None
    off: str = ""
    dataset: str = ""


def to_native(entry: Mapping[str, Any]) -> Native:
    """Return an entry in the project's own words; a native one is returned as it is.

    Raises:
        ConfigError: with every mistake of a foreign entry that is seen before its
            check is compiled.
    """
    if "evaluator_ref" in entry:
        return from_evalglass(entry)
    if "metric_type" in entry or "check_config" in entry:
        return from_completionkit(entry)
    return Native(entry=entry)


def from_evalglass(entry: Mapping[str, Any]) -> Native:
    """Return an EvalGlass entry as a native one.

    Raises:
        ConfigError: with every mistake.
    """
    problems = check_keys(entry, EVALGLASS_KEYS, of="an EvalGlass metric")
    problems += [wrong for name in ONLY if (wrong := only_problem(entry, name))]
    problems += status_problems(entry)
    if problems:
        raise ConfigError(problems)
    native = {key.name: entry[key.name] for key in OURS if key.name in entry}
    native |= evalglass_source(entry)
    status = entry.get("metric_status", "gating")
    score_range = entry.get("score_range")
    return Native(
        entry=native,
        prefix=("params",),
        source_key="evaluator_ref",
        score_range=None if score_range is None else (float(score_range[0]), float(score_range[1])),
        off=f"metric_status: {status} never gates" if status in NEVER_GATING else "",
        dataset=entry.get("dataset", ""),
    )


def evalglass_source(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what does the work in an EvalGlass entry: a check or a function, with its options."""
    reference = entry["evaluator_ref"].removeprefix("file:")
    threshold = {"threshold": entry["threshold"]} if "threshold" in entry else {}
    if ".py:" in reference:
        score_range = {"score_range": entry["score_range"]} if "score_range" in entry else {}
        params = entry.get("params", {})
        return {"evaluator": reference, "params": params, **threshold, **score_range}
    from pytest_evalcheck.checks.dialects import from_evalglass as check_options

    return {**check_options(entry), **threshold}


def only_problem(entry: Mapping[str, Any], name: str) -> Problem | None:
    """Return the problem of a key that is accepted with one value alone, or None."""
    wanted, fix = ONLY[name]
    given = entry.get(name, wanted)
    if given == wanted:
        return None
    shown = "false" if wanted is False else repr(wanted)
    return Problem(found=show(given), expected=shown, fix=fix, where=name, keys=(name,))


def status_problems(entry: Mapping[str, Any]) -> list[Problem]:
    """Return the problem of a `metric_status` that EvalGlass does not know."""
    status = entry.get("metric_status", "gating")
    if isinstance(status, str) and status in STATUSES:
        return []
    return [
        Problem(
            found=show(status),
            expected="one of " + ", ".join(STATUSES),
            fix=near(status, STATUSES),
            where="metric_status",
            keys=("metric_status",),
        )
    ]


def from_completionkit(entry: Mapping[str, Any]) -> Native:
    """Return a CompletionKit entry of `metric_type: check` as a native one.

    Raises:
        ConfigError: with every mistake.
    """
    problems = check_keys(entry, COMPLETIONKIT_KEYS, of="a CompletionKit metric")
    kind = entry.get("metric_type", "check")
    if kind != "check":
        problems.append(
            Problem(
                found=show(kind),
                expected="check",
                fix=near(kind, ("check", "llm_judge")),
                where="metric_type",
                keys=("metric_type",),
            )
        )
    elif "check_config" not in entry:
        problems.append(
            Problem(
                found="metric_type: check without check_config",
                expected="check_config: {check_kind: ...}",
                keys=("metric_type",),
            )
        )
    if problems:
        raise ConfigError(problems)
    from pytest_evalcheck.checks.dialects import from_completionkit as check_options

    native = {key.name: entry[key.name] for key in OURS if key.name in entry}
    if "tag_names" in entry and "tags" not in native:
        native["tags"] = entry["tag_names"]
    return Native(entry={**native, **check_options(entry)}, prefix=("check_config",))
