"""One metric entry compiled: from a suite file, a row, a marker or the library API."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Gate, Metric, MetricKind, Scorer
from pytest_evalcheck.suite.dialects import Native, to_native
from pytest_evalcheck.suite.gate_rules import read_gate
from pytest_evalcheck.suite.keys import KINDS, METRIC_KEYS, check_keys, near, show, texts
from pytest_evalcheck.suite.later import judge_problem, weight_problem
from pytest_evalcheck.suite.plan import shown_path

if TYPE_CHECKING:
    from pytest_evalcheck.checks import Option

__all__ = ["build_metric", "compile_metric"]

# Keys of a metric entry that are no options of its check.
OURS: Final = frozenset(key.name for key in METRIC_KEYS) - {"check", "threshold"}
NOT_OF_A_CHECK: Final = ("evaluator", "params", "score_range")
EXAMPLE: Final = "a mapping such as {check: contains, value: text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What scores a row: the part of a metric that its kind decides."""

    kind: MetricKind
    source: str
    score: Scorer
    threshold: float | None
    score_range: tuple[float, float] | None
    applies_to: Mapping[str, Any] = field(default_factory=dict)


def compile_metric(
    entry: Mapping[str, Any],
    *,
    base_dir: Path,
    shown: str = "",
    line: int = 0,
    rootdir: Path | None = None,
) -> Metric:
    """Return a compiled metric; native, EvalGlass and CompletionKit entries are taken.

    Args:
        entry: the metric as a suite file writes it.
        base_dir: the folder that paths in the entry are relative to.
        shown: the file the entry stands in, for messages, or "".
        line: the 1-based line it stands on, or 0.
        rootdir: the folder no path may leave; `base_dir` when not given.

    Raises:
        ConfigError: with every mistake of the entry.
    """
    try:
        metric = build_metric(entry, base_dir=base_dir, rootdir=rootdir or base_dir)
    except ConfigError as error:
        raise ConfigError(
            problem.located(path=shown, line=line or None) for problem in error.problems
        ) from None
    return replace(metric, path=shown, line=line)


def build_metric(entry: Any, *, base_dir: Path, rootdir: Path) -> Metric:
    """Return a compiled metric without a place.

    Raises:
        ConfigError: with every mistake; each Problem's `keys` is relative to the entry.
    """
    if not isinstance(entry, Mapping):
        raise ConfigError(Problem(found=f"a metric given as {show(entry)}", expected=EXAMPLE))
    refused = [one for one in (judge_problem(entry), weight_problem(entry)) if one]
    entry = {key: value for key, value in entry.items() if key != "weight"}
    if any(one.where != "weight" for one in refused):
        raise ConfigError(refused)
    problems = list(refused)
    try:
        native = to_native(entry)
        problems += common_problems(native.entry)
        metric = assemble_metric(native, problems, base_dir=base_dir, rootdir=rootdir)
    except ConfigError as error:
        problems += error.problems
    if problems:
        raise ConfigError(dict.fromkeys(problems))
    return metric


def assemble_metric(
    native: Native, problems: list[Problem], *, base_dir: Path, rootdir: Path
) -> Metric:
    """Return the metric of a native entry; what is wrong beside its work goes to `problems`.

    Raises:
        ConfigError: what scores the rows cannot be compiled.
    """
    entry = native.entry
    gate = Gate()
    try:
        work = compile_work(native, base_dir=base_dir, rootdir=rootdir)
    except ConfigError as error:
        problems += gate_problems(entry, None)
        raise ConfigError([moved(problem, native) for problem in error.problems]) from None
    problems += gate_problems(entry, work.score_range)
    if not problems:
        gate = gate_of(native, work.score_range)
    return Metric(
        name=str(entry.get("name") or default_name(entry)),
        kind=work.kind,
        source=work.source,
        score=work.score,
        gate=gate,
        threshold=work.threshold,
        score_range=work.score_range,
        tags=texts(entry.get("tags")) if KINDS["tags"].fits(entry.get("tags")) else (),
        applies_to=dict(entry["applies_to"])
        if isinstance(entry.get("applies_to"), Mapping)
        else work.applies_to,
        dataset=shown_dataset(native.dataset, base_dir, rootdir),
    )


def common_problems(entry: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the keys every metric has, and whether it has one kind of work."""
    ours = [key for key in METRIC_KEYS if key.name not in ("check", "threshold")]
    if "check" not in entry and "evaluator" not in entry:
        return check_keys(entry, METRIC_KEYS, of="a metric", unknown=False)
    if "evaluator" in entry:
        ours = [key for key in METRIC_KEYS if key.name != "check" or "check" in entry]
        return check_keys(entry, ours, of="a metric with an evaluator")
    return check_keys(entry, ours, of="a metric", unknown=False)


def compile_work(native: Native, *, base_dir: Path, rootdir: Path) -> Work:
    """Return what scores the rows of a native entry.

    Raises:
        ConfigError: it has none or two kinds of work, or its work is mis-written.
    """
    entry = native.entry
    if "check" in entry and "evaluator" in entry:
        raise ConfigError(
            Problem(
                found="both check and evaluator",
                expected="one of them",
                fix="Make two metrics of it.",
                keys=("evaluator",),
            )
        )
    if "check" in entry:
        return check_work(entry, native.score_range, base_dir=base_dir, rootdir=rootdir)
    if "evaluator" in entry:
        return evaluator_work(entry, base_dir=base_dir, rootdir=rootdir)
    raise ConfigError(no_work(entry))


def no_work(entry: Mapping[str, Any]) -> Problem:
    """Return the problem of an entry that says not what scores, with a guess of what was meant."""
    from pytest_evalcheck.checks import CHECKS

    meant = next((key for key in entry if key in CHECKS), None)
    fix = f"Write `check: {meant}` and its options beside it." if meant else ""
    if meant is None:
        words = ("check", "evaluator")
        meant = next((key for key in entry if near(key, words)), None)
        fix = f"There is {show(meant)}. {near(meant, words)}" if meant is not None else ""
    return Problem(
        found="a metric without check or evaluator",
        expected=EXAMPLE,
        fix=fix,
        keys=() if meant is None else (meant,),
    )


def check_work(
    entry: Mapping[str, Any],
    declared: tuple[float, float] | None,
    *,
    base_dir: Path,
    rootdir: Path,
) -> Work:
    """Return the work of a check.

    Raises:
        ConfigError: with every mistake of its options.
    """
    from pytest_evalcheck.checks import compile_check
    from pytest_evalcheck.checks.registry import find_check, option_table

    own = {option.name: option for option in option_table(find_check(entry["check"]))}
    # tool_called may be named after the tool.
    shared = own.keys() & {*NOT_OF_A_CHECK, "name"}
    problems = [
        Problem(found=f"{name} beside a check", expected="evaluator", where=name, keys=(name,))
        for name in NOT_OF_A_CHECK
        if name in entry and name not in own
    ]
    options = {key: value for key, value in entry.items() if key not in OURS or key in shared}
    problems += outside_problems(options, own.values(), base_dir, rootdir)
    try:
        compiled = compile_check(options, base_dir=base_dir)
    except ConfigError as error:
        raise ConfigError([*problems, *error.problems]) from None
    if problems:
        raise ConfigError(problems)
    return Work(
        kind="check",
        source=f"{compiled.name}@{compiled.version}",
        score=compiled.score,
        threshold=compiled.threshold,
        score_range=compiled.score_range or declared,
        applies_to=compiled.applies_to,
    )


def outside_problems(
    options: Mapping[str, Any], known: Iterable[Option], base_dir: Path, rootdir: Path
) -> list[Problem]:
    """Return the problem of each file named in a check's options that leaves the rootdir."""
    return [
        Problem(
            found=f"{options[option.name]!r} leads out of the rootdir",
            expected="a file inside it",
            where=option.name,
            keys=(option.name,),
        )
        for option in known
        if option.kind == "file"
        and isinstance(options.get(option.name), str)
        and leaves(options[option.name], base_dir, rootdir)
    ]


def leaves(written: str, base_dir: Path, rootdir: Path) -> bool:
    """Tell whether a path leads out of the rootdir, links followed."""
    try:
        real = Path(os.path.realpath(base_dir / written))
    except (OSError, ValueError):
        return False  # no path at all: whoever opens it says so
    return not real.is_relative_to(os.path.realpath(rootdir))


def evaluator_work(entry: Mapping[str, Any], *, base_dir: Path, rootdir: Path) -> Work:
    """Return the work of a user's function.

    Raises:
        ConfigError: the function cannot be used, or its scale is mis-written.
    """
    reference = entry["evaluator"]
    if not isinstance(reference, str):
        raise ConfigError([])  # its kind has been told by the table of keys
    from pytest_evalcheck.suite.answers import Scale
    from pytest_evalcheck.suite.evaluators import compile_evaluator

    threshold, score_range, problems = read_scale(entry)
    params = entry.get("params")
    scale = Scale(name=default_name(entry), threshold=threshold, score_range=score_range)
    try:
        score = compile_evaluator(
            reference,
            base_dir=base_dir,
            rootdir=rootdir,
            params=params if isinstance(params, Mapping) else {},
            scale=scale,
        )
    except ConfigError as error:
        raise ConfigError([*error.problems, *problems]) from None
    if problems:
        raise ConfigError(problems)
    return Work(
        kind="evaluator",
        source=reference,
        score=score,
        threshold=threshold,
        score_range=score_range,
    )


def read_scale(
    entry: Mapping[str, Any],
) -> tuple[float | None, tuple[float, float] | None, list[Problem]]:
    """Return threshold and range of an evaluator, with what is wrong between them."""
    bounds: Any = entry.get("score_range")
    threshold: Any = entry.get("threshold")
    score_range = (float(bounds[0]), float(bounds[1])) if KINDS["range"].fits(bounds) else None
    if not KINDS["number"].fits(threshold):
        return None, score_range, []
    problems = []
    if score_range is not None and not score_range[0] < threshold <= score_range[1]:
        low, high = score_range
        said = "cannot fail" if threshold <= low else "can never be reached"
        problems.append(
            Problem(
                found=f"{threshold:g} {said}",
                expected=f"above {low:g}, up to {high:g}",
                where="threshold",
                keys=("threshold",),
            )
        )
    return float(threshold), score_range, problems


def gate_problems(
    entry: Mapping[str, Any], score_range: tuple[float, float] | None
) -> list[Problem]:
    """Return what is wrong with an entry's gate."""
    try:
        read_gate(entry.get("gate", "each"), score_range)
    except ConfigError as error:
        return list(error.problems)
    return []


def gate_of(native: Native, score_range: tuple[float, float] | None) -> Gate:
    """Return the gate of a native entry: one of a status that never gates is off, and says so."""
    if native.off:
        return Gate(kind="off", note=native.off)
    return read_gate(native.entry.get("gate", "each"), score_range)


def default_name(entry: Mapping[str, Any]) -> str:
    """Return the name of a metric: its own, else its check's or its function's."""
    if isinstance(entry.get("name"), str):
        return str(entry["name"])
    if "check" in entry:
        return str(entry["check"]).partition("@")[0]
    return str(entry.get("evaluator", "")).rpartition(":")[2]


def moved(problem: Problem, native: Native) -> Problem:
    """Return a problem of a foreign entry's option with the place the option stands at."""
    if native.source_key and problem.keys[:1] in (("evaluator",), ("check",)):
        return replace(problem, keys=(native.source_key,), where=native.source_key)
    if not native.prefix or problem.keys[:1] in ((), ("threshold",)):
        return problem
    return replace(problem, keys=(*native.prefix, *problem.keys))


def shown_dataset(written: str, base_dir: Path, rootdir: Path) -> str:
    """Return the dataset an entry names as rows show it: relative to the rootdir."""
    if not written:
        return ""
    return shown_path(Path(os.path.normpath(base_dir / written)), Path(os.path.abspath(rootdir)))
