"""The checks by name, and the way from a metric entry to a compiled check."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pytest_evalcheck.checks.options import (
    COMMON_OPTIONS,
    Option,
    Settings,
    near_names,
    read_settings,
    show_value,
)
from pytest_evalcheck.checks.target import Plan, assemble
from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Row, Score, Scorer

__all__ = [
    "CHECKS",
    "COMMON_OPTIONS",
    "CheckSpec",
    "CompiledCheck",
    "Option",
    "add_check",
    "check",
    "compile_check",
]

Build = Callable[[Settings], Plan]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """One check as people find it in the reference.

    Attributes:
        name: the word in a metric entry.
        version: raised when the same row could score differently.
        summary: one line: when it passes.
        options: its own options; the common ones are taken besides.
        score: `yes/no` (1.0 or 0.0), `share` (0..1 against the threshold) or `value`
            (a quantity in its own unit).
        build: compiles the validated options into a Plan.
        threshold: how `threshold` is read: `share` (above 0, up to 1), `any` (any
            finite number) or `none` (refused).
        applies_to: the rows it is for, as a metric's own `applies_to`, which it stands
            in for; empty means every row.
    """

    name: str
    version: int
    summary: str
    options: tuple[Option, ...]
    score: Literal["yes/no", "share", "value"]
    build: Build
    threshold: Literal["share", "any", "none"] = "share"
    applies_to: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCheck:
    """A check with its options, ready to score rows.

    Attributes:
        name: the check's name.
        version: the check's version, part of every result.
        score: Row -> Score; never raises for a bad row and never changes it.
        score_range: lowest and highest value, or None when unbounded.
        threshold: the value from which a row passes, where one was written.
        options: the entry it was compiled from.
        applies_to: the rows the check is for where the entry does not say.
    """

    name: str
    version: int
    score: Scorer
    score_range: tuple[float, float] | None
    threshold: float | None
    options: Mapping[str, Any] = field(default_factory=dict)
    applies_to: Mapping[str, Any] = field(default_factory=dict)


CHECKS: Final[dict[str, CheckSpec]] = {}


def add_check(spec: CheckSpec) -> None:
    """Add a check to the registry.

    Raises:
        ValueError: the name is taken.
    """
    if spec.name in CHECKS:
        raise ValueError(f"a check named {spec.name!r} is registered already")
    CHECKS[spec.name] = spec


def check(
    name: str,
    *options: Option,
    summary: str,
    score: Literal["yes/no", "share", "value"] = "yes/no",
    version: int = 1,
    threshold: Literal["share", "any", "none"] = "share",
    applies_to: Mapping[str, Any] | None = None,
) -> Callable[[Build], Build]:
    """Register the decorated build function as a check (several may share one function).

    Args:
        name: the word in a metric entry.
        options: the options of its own.
        summary: one line: when it passes.
        score: the kind of its value.
        version: its version.
        threshold: how `threshold` is read.
        applies_to: the rows it is for, unless an entry says otherwise.
    """

    def register(build: Build) -> Build:
        add_check(
            CheckSpec(
                name=name,
                version=version,
                summary=summary,
                options=options,
                score=score,
                build=build,
                threshold=threshold,
                applies_to=applies_to or {},
            )
        )
        return build

    return register


def compile_check(options: Mapping[str, Any], *, base_dir: Path | None = None) -> CompiledCheck:
    """Compile one metric entry, reduced to what concerns the check.

    Args:
        options: `check` (a name, or `name@version`) and the options of that check.
        base_dir: the directory that files named in the options are relative to.

    Returns:
        The compiled check.

    Raises:
        ConfigError: with every mistake of the entry; each Problem's `keys` holds the
            name of the option at fault.
    """
    spec = find_check(options.get("check"))
    entry = {name: value for name, value in options.items() if name != "check"}
    known = option_table(spec)
    settings, problems = read_settings(spec.name, known, entry, base_dir)
    problems += threshold_problems(spec, settings)
    if not problems:
        try:
            plan = spec.build(settings)
            score = assemble(settings, plan)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return CompiledCheck(
        name=spec.name,
        version=spec.version,
        score=guard(spec.name, score),
        score_range=plan.score_range if spec.score == "value" else (0.0, 1.0),
        threshold=settings["threshold"] if plan.least is None else plan.least,
        options=dict(options),
        applies_to=spec.applies_to,
    )


def option_table(spec: CheckSpec) -> tuple[Option, ...]:
    """Return every option a check takes; its own stand before common ones of that name."""
    own = {option.name for option in spec.options}
    return spec.options + tuple(option for option in COMMON_OPTIONS if option.name not in own)


def find_check(name: Any) -> CheckSpec:
    """Return the check of a name, with or without its version.

    Raises:
        ConfigError: no such check, or no such version of it.
    """
    match = re.fullmatch(r"([^@]*)(?:@(.*))?", name) if isinstance(name, str) else None
    if match is None:
        raise name_problem(f"{show_value(name)} is no name of a check", "the name of a check")
    word, version = match.groups()
    spec = CHECKS.get(word)
    if spec is None:
        raise name_problem(
            f"{word!r} is not a check", "one of " + ", ".join(sorted(CHECKS)), near(word)
        )
    if version is not None and version != str(spec.version):
        raise name_problem(f"{name!r} is not here", f"{word}@{spec.version}")
    return spec


def near(word: str) -> str:
    """Return the offer of near names, foreign spellings (`contains-any`) included."""
    return near_names(word.replace("-", "_"), CHECKS)


def name_problem(found: str, expected: str, fix: str = "") -> ConfigError:
    """Return the error of a check name."""
    return ConfigError(
        Problem(found=found, expected=expected, fix=fix, where="check", keys=("check",))
    )


def threshold_problems(spec: CheckSpec, settings: Settings) -> list[Problem]:
    """Return what is wrong with a threshold: one that cannot fail, or cannot pass."""
    threshold = settings["threshold"]
    if threshold is None or spec.threshold == "any":
        return []
    if spec.threshold == "none":
        found, expected = f"{spec.name} takes no threshold", ""
    elif threshold <= 0:
        found, expected = f"{threshold:g} cannot fail", "a share above 0, up to 1"
    elif threshold > 1:
        found, expected = f"{threshold:g} can never be reached", "a share above 0, up to 1"
    else:
        return []
    return [Problem(found=found, expected=expected, where="threshold", keys=("threshold",))]


def guard(name: str, score: Scorer) -> Scorer:
    """Return a scorer that turns an exception of ours into an error score with its traceback."""

    def guarded(row: Row) -> Score:
        try:
            return score(row)
        except Exception as error:
            return Score(
                "error",
                reason=f"{name} broke: {type(error).__name__}: {error}",
                details={"traceback": traceback.format_exc()},
            )

    return guarded
