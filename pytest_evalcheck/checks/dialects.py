"""Check entries of CompletionKit and EvalGlass, turned into options of our checks.

What such an entry means stays as its users know it: CompletionKit's patterns are Ruby's,
its numbers are read from the whole text, its flags may be the texts "true" and "false";
EvalGlass's evaluators take their options from `params`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.options import near_names, show_value
from pytest_evalcheck.checks.registry import CHECKS
from pytest_evalcheck.checks.target import as_text
from pytest_evalcheck.errors import ConfigError, Problem

__all__ = ["from_completionkit", "from_evalglass"]

TEXT_KEYS: Final = ("value", "compare_to", "expected_path", "case_sensitive", "trim")
PLACE_KEYS: Final = ("check_kind", "target", "target_path")

# CompletionKit's check kinds and the keys each reads.
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "contains": TEXT_KEYS,
    "not_contains": TEXT_KEYS,
    "equals": TEXT_KEYS,
    "regex": ("pattern", "case_sensitive", "multiline"),
    "valid_json": (),
    "json_path_equals": ("json_path", "expected", "compare_to", "expected_path"),
    "length_bounds": ("min", "max"),
    "list_overlap": (
        "value",
        "compare_to",
        "expected_path",
        "score_by",
        "min",
        "case_sensitive",
    ),
    "numeric_bounds": ("min", "max"),
    "numeric_equals": ("value", "compare_to", "expected_path", "tolerance"),
    "no_refusal": (),
}
FLAGS: Final = ("case_sensitive", "trim", "multiline")
NUMBERS: Final = ("min", "max")
TARGETS: Final[Mapping[str, str]] = {
    "response_text": "output",
    "input_data": "input",
    "json_path": "json_path",
}


def from_completionkit(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the native options of a CompletionKit metric of `metric_type: check`.

    Args:
        entry: the metric entry, with its `check_config`.

    Returns:
        Options for `compile_check`.

    Raises:
        ConfigError: with every mistake; `keys` begin with `check_config`.
    """
    config = entry.get("check_config")
    if not isinstance(config, Mapping):
        raise ConfigError(config_problem("", show_value(config), "a mapping with check_kind"))
    kind = config.get("check_kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(
            config_problem(
                "check_kind",
                f"{show_value(kind)} is not a check kind",
                "one of " + ", ".join(KINDS),
                near_names(kind, KINDS),
            )
        )
    problems = unknown_keys(config, kind)
    native: dict[str, Any] = {"check": kind}
    for key, raw in config.items():
        if key in problems or key == "check_kind":
            continue
        try:
            native |= translate(kind, key, raw)
        except ConfigError as error:
            problems[key] = error.problems[0]
    if problems:
        raise ConfigError(problems.values())
    return finish(kind, native)


def config_problem(key: str, found: str, expected: str = "", fix: str = "") -> Problem:
    """Return the problem of one key of a check_config."""
    keys = ("check_config", key) if key else ("check_config",)
    return Problem(found=found, expected=expected, fix=fix, where=".".join(keys), keys=keys)


def unknown_keys(config: Mapping[str, Any], kind: str) -> dict[str, Problem]:
    """Return the problems of the keys that a check kind does not read."""
    known = PLACE_KEYS + KINDS[kind]
    return {
        key: config_problem(
            key,
            f"{key!r} is not read by {kind}",
            "one of " + ", ".join(known),
            near_names(key, known),
        )
        for key in config
        if key not in known
    }


def translate(kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return one key of a check_config as native options; a blank one is not set.

    Raises:
        ConfigError: the value is not what CompletionKit takes.
    """
    if key in FLAGS:
        return translate_flag(key, raw)
    if key in NUMBERS:
        return translate_number(key, raw)
    if key == "expected":
        return {"expected": raw}
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        if key in ("value", "pattern", "target_path", "json_path"):
            raise ConfigError(config_problem(key, "a blank text", "a text that says something"))
        return {}
    return TRANSLATIONS.get(key, keep_key)(kind, key, raw)


def keep_key(_kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return a key whose name and meaning are ours too."""
    return {key: raw}


def translate_path(_kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return a path without the white space around it."""
    return {key: raw.strip() if isinstance(raw, str) else raw}


def translate_target(_kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return the target in our words; the whole text is the default."""
    target = TARGETS.get(raw) if isinstance(raw, str) else None
    if target is None:
        raise ConfigError(
            config_problem(
                key, show_value(raw), "one of " + ", ".join(TARGETS), near_names(raw, TARGETS)
            )
        )
    return {} if target == "output" else {"target": target}


def translate_value(kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return the operand: a list where one is taken, otherwise its text."""
    if kind in ("list_overlap", "numeric_equals") or isinstance(raw, list | dict):
        return {key: raw}
    return {key: as_text(raw)}


def translate_tolerance(_kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return a tolerance, a number also when it is written as text."""
    if isinstance(raw, str) and not raw.strip().endswith("%"):
        return translate_number(key, raw)
    return {key: raw}


def translate_pattern(_kind: str, key: str, raw: Any) -> dict[str, Any]:
    """Return a Ruby pattern in our syntax."""
    return {key: from_ruby(raw) if isinstance(raw, str) else raw}


TRANSLATIONS: Final[Mapping[str, Callable[[str, str, Any], dict[str, Any]]]] = {
    "target": translate_target,
    "target_path": translate_path,
    "expected_path": translate_path,
    "json_path": translate_path,
    "value": translate_value,
    "tolerance": translate_tolerance,
    "pattern": translate_pattern,
}


def translate_flag(key: str, raw: Any) -> dict[str, Any]:
    """Return a flag, which CompletionKit's forms send as text."""
    name = {"trim": "strip", "multiline": "dotall"}.get(key, key)
    texts = {"true": True, "1": True, "false": False, "0": False}
    value = texts.get(raw.strip().lower()) if isinstance(raw, str) else raw
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if not isinstance(value, bool):
        raise ConfigError(config_problem(key, show_value(raw), "true or false"))
    return {name: value}


def translate_number(key: str, raw: Any) -> dict[str, Any]:
    """Return a number, which CompletionKit's forms send as text; a blank one is not set."""
    from pytest_evalcheck.checks.numbers import read_number

    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if not isinstance(raw, str):
        return {key: raw}
    number = read_number(raw)
    if number is None:
        raise ConfigError(config_problem(key, show_value(raw), "a number"))
    return {key: int(number) if number == number.to_integral_value() else float(number)}


def finish(kind: str, native: dict[str, Any]) -> dict[str, Any]:
    """Return the options with what CompletionKit takes for granted."""
    if native.get("compare_to") == "expected":
        native.pop("expected" if kind == "json_path_equals" else "value", None)
        if kind == "json_path_equals" and "expected_path" not in native:
            native["as_text"] = True
    else:
        native.pop("expected_path", None)
    if kind == "numeric_equals":
        native["pick"] = "whole"
    elif kind == "regex":
        native["multiline"] = True
    elif kind == "no_refusal":
        native |= {"check": "is_refusal", "negate": True}
    elif kind == "list_overlap" and native.get("min") == 0:
        native |= {"report_only": True}
        del native["min"]
    return native


RUBY: Final = re.compile(r"\\(.)|(\[)|(\])", re.DOTALL)


def from_ruby(pattern: str) -> str:
    r"""Return a Ruby pattern in Python's syntax: `\z`, `\Z`, `\h` and `\H` differ."""
    depth = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal depth
        escaped, opens, closes = match.groups()
        depth += bool(opens) - bool(closes and depth)
        if escaped == "z":
            return r"\Z"
        if escaped == "Z":
            return r"(?=\n?\Z)"
        if escaped == "h":
            return "0-9a-fA-F" if depth else "[0-9a-fA-F]"
        if escaped == "H" and not depth:
            return "[^0-9a-fA-F]"
        return match[0]

    return RUBY.sub(replace, pattern)


# ── EvalGlass ─────────────────────────────────────────────────────────────────────────

# EvalGlass's built-in evaluators and the params each reads (None: params are not read).
BUILTINS: Final[Mapping[str, tuple[str, ...]]] = {
    "enum_membership": ("field", "allowed"),
    "exact_match": (),
    "field_presence": ("required_fields",),
    "judge_score": (),
    "numeric_bounds": ("field", "min", "max"),
    "set_overlap": (),
    "structural_shape": (),
    "trajectory_shape": (),
    "word_count_bounds": ("field", "min", "max"),
}


def from_evalglass(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the native options of an EvalGlass metric with a built-in evaluator.

    Args:
        entry: the metric entry: `evaluator_ref: name@version` and perhaps `params`.

    Returns:
        Options for `compile_check`, the version in the check's name.

    Raises:
        ConfigError: no such evaluator, or params that are no mapping or that it does
            not read.
    """
    reference = entry.get("evaluator_ref")
    name = reference.partition("@")[0] if isinstance(reference, str) else ""
    if name not in BUILTINS and name not in CHECKS:
        raise ConfigError(
            Problem(
                found=f"{show_value(reference)} is not a built-in evaluator",
                expected="one of " + ", ".join(BUILTINS) + ", or path.py:function",
                fix=near_names(name, BUILTINS),
                where="evaluator_ref",
                keys=("evaluator_ref",),
            )
        )
    params = entry.get("params") or {}
    if not isinstance(params, Mapping):
        raise ConfigError(
            Problem(
                found=show_value(params), expected="a mapping", where="params", keys=("params",)
            )
        )
    problems = [param_problem(name, key) for key in params if not reads_param(name, key)]
    if problems:
        raise ConfigError(problems)
    native = {"check": reference, **params}
    if name == "judge_score":
        native |= {key: entry[key] for key in ("score_range",) if entry.get(key) is not None}
        native |= {"metric": entry["name"]} if isinstance(entry.get("name"), str) else {}
    return native


def reads_param(name: str, key: Any) -> bool:
    """Tell whether an evaluator reads a param; our own checks say so themselves."""
    if name in BUILTINS and key in BUILTINS[name]:
        return True
    return name in CHECKS and (name not in BUILTINS or key in own_names(name))


def own_names(name: str) -> set[str]:
    """Return the names of every option our check of that name takes."""
    from pytest_evalcheck.checks.registry import option_table

    return {option.name for option in option_table(CHECKS[name])} - {"threshold"}


def param_problem(name: str, key: Any) -> Problem:
    """Return the problem of a param the evaluator does not read."""
    return Problem(
        found=f"{name} does not read {key!r}",
        expected="one of " + ", ".join(BUILTINS.get(name) or ("no params",)),
        fix=near_names(key, BUILTINS.get(name, ())),
        where=f"params.{key}",
        keys=("params", key),
    )
