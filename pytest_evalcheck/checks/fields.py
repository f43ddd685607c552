"""The fields of an output that is a mapping, as EvalGlass's evaluators name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.target import Finding, Plan, Settled, as_text
from pytest_evalcheck.jsonvalues import JsonTextError, parse_json

__all__ = ["ABSENT", "FIELD", "as_mapping", "field_reader", "join_field", "look_up"]

FIELD: Final = Option(
    name="field",
    kind="filled_text",
    summary="the field of the output to read: a key, or a path with dots",
)

ABSENT: Final = object()


def look_up(name: str) -> Callable[[Any], Any]:
    """Return the lookup of a field: a key of that very name first, else a path; ABSENT if none.

    Raises:
        ConfigError: the name is no path either.
    """
    if name.replace("_", "").isalnum():
        return lambda value: value.get(name, ABSENT) if isinstance(value, Mapping) else ABSENT
    from pytest_evalcheck.checks.paths import compile_path

    path = compile_path(name)

    def find(value: Any) -> Any:
        if isinstance(value, Mapping) and name in value:
            return value[name]
        matches = path.find(value)
        return matches[0] if len(matches) == 1 else ABSENT

    return find


def field_reader(settings: Settings) -> Callable[[Any], Any] | None:
    """Return how the `field` of a target is read, or None when the target itself is meant.

    A target without that field is non_evaluable, as EvalGlass has it: the selector selects
    nothing. To make the field a duty, use `target_path`, or field_presence besides.

    Raises:
        ConfigError: `field` stands beside `target_path`.
    """
    name = settings["field"]
    if name is None:
        return None
    if settings["target_path"] is not None:
        raise settings.problem(
            "field", "'field' stands beside 'target_path'", fix="Both say where to read: drop one."
        )
    find = look_up(name)

    def read(value: Any) -> Any:
        mapping = as_mapping(value)
        found = ABSENT if mapping is None else find(mapping)
        if found is ABSENT:
            what = f"no field {name!r}" if mapping is not None else "no fields: it is no mapping"
            raise Settled.missing("not_applicable", f"the output has {what}")
        return found

    return read


def as_mapping(value: Any) -> Mapping[str, Any] | None:
    """Return a value as a mapping: itself, or the JSON object its text is; else None."""
    if isinstance(value, Mapping):
        return value
    if type(value) is not str or "{" not in value:
        return None
    try:
        parsed = parse_json(value)
    except JsonTextError:
        return None
    return parsed if isinstance(parsed, dict) else None


def join_field(
    settings: Settings,
    compare: Callable[[Any, Any], Finding],
    read: Callable[[Any], Any] | None,
) -> Plan:
    """Return the plan that compares the field of a target, or the target itself."""
    if read is None:
        return Plan(compare=compare, reads="value")
    name = settings["field"]

    def compare_field(value: Any, operand: Any) -> Finding:
        found = read(value)
        finding = compare(found, operand)
        shown = as_text(found) if finding.found is None else finding.found
        return Finding(
            finding.passed,
            finding.share,
            f"{shown} in the field {name!r}",
            finding.wanted,
            finding.wanted_text,
            finding.firm,
            finding.code,
            finding.details,
        )

    return Plan(compare=compare_field, reads="value")
