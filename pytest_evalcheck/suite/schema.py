"""The JSON Schema of `evalcheck.yaml`, for editors: made of the tables the loader validates with.

It never refuses what the loader accepts. The loader refuses more: it looks at files,
at names that must be unique and at options that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_evalcheck.suite.dialects import COMPLETIONKIT_KEYS, EVALGLASS_KEYS, STATUSES
from pytest_evalcheck.suite.keys import (
    DATASET_KEYS,
    GATE_KEYS,
    KINDS,
    METRIC_KEYS,
    SUITE_KEYS,
    Key,
)

if TYPE_CHECKING:
    from pytest_evalcheck.checks import CheckSpec, Option

__all__ = ["SCHEMA_ID", "json_schema"]

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_ID: Final = "urn:pytest-evalcheck:suite:1"

_TEXT: Final = {"type": "string"}
_FILLED: Final = {"type": "string", "minLength": 1}
_NUMBER: Final = {"type": "number"}

# Option kinds of the checks; a kind that is not here takes any value.
OPTION_KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": _TEXT,
    "filled_text": _FILLED,
    "pattern": _FILLED,
    "path": _FILLED,
    "file": _FILLED,
    "number": _NUMBER,
    "amount": {"type": "number", "minimum": 0},
    "count": {"type": "number", "minimum": 0, "multipleOf": 1},
    "bool": {"type": "boolean"},
    "list": {"type": "array", "minItems": 1},
    "texts": {"anyOf": [_FILLED, {"type": "array", "minItems": 1, "items": _FILLED}]},
    "schema": {"type": ["object", "boolean"]},
    "mapping": {"type": "object"},
    "operand": {"type": ["string", "number", "boolean", "object"]},
    "any": {"type": ["string", "number", "boolean", "object", "array"]},
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a suite file, the checks registered now included."""
    properties = properties_of(SUITE_KEYS)
    properties["datasets"] = datasets_schema()
    properties["metrics"] = {
        "type": "array",
        "minItems": 1,
        "items": {"$ref": "#/$defs/metric"},
        "description": description("metrics", SUITE_KEYS),
    }
    properties["rows"] |= {"items": {"type": "object"}}
    return {
        "$schema": DRAFT,
        "$id": SCHEMA_ID,
        "title": "A suite of pytest-evalcheck",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [{"required": ["datasets"]}, {"required": ["rows"]}],
        "$defs": {
            "metric": metric_schema(),
            "gate": gate_schema(),
            "check": check_schema(),
            "evaluator": object_schema(metric_properties(METRIC_KEYS), required=("evaluator",)),
            "evalglass": evalglass_schema(),
            "completionkit": object_schema(
                metric_properties(COMPLETIONKIT_KEYS) | {"metric_type": {"const": "check"}},
                required=("check_config",),
            ),
        },
    }


def metric_schema() -> dict[str, Any]:
    """Return the schema of a metric: which form it has is seen by the key that says what scores."""
    return {
        "type": "object",
        "if": {"required": ["evaluator_ref"]},
        "then": {"$ref": "#/$defs/evalglass"},
        "else": {
            "if": {"anyOf": [{"required": ["check_config"]}, {"required": ["metric_type"]}]},
            "then": {"$ref": "#/$defs/completionkit"},
            "else": {
                "if": {"required": ["evaluator"]},
                "then": {"$ref": "#/$defs/evaluator"},
                "else": {"$ref": "#/$defs/check"},
            },
        },
    }


def check_schema() -> dict[str, Any]:
    """Return the schema of a metric with a check: the options allowed are those of the check."""
    from pytest_evalcheck.checks import CHECKS

    names = sorted(CHECKS)
    words = [word for name in names for word in (name, f"{name}@{CHECKS[name].version}")]
    return {
        "required": ["check"],
        "properties": {"check": {"enum": words, "description": "the deterministic check"}},
        "allOf": [
            {
                "if": {"properties": {"check": {"enum": [name, f"{name}@{CHECKS[name].version}"]}}},
                "then": options_schema(CHECKS[name]),
            }
            for name in names
        ],
    }


def options_schema(spec: CheckSpec) -> dict[str, Any]:
    """Return the schema of the metrics with one check."""
    from pytest_evalcheck.checks.registry import option_table

    ours = [key for key in METRIC_KEYS if key.name not in ("evaluator", "params", "score_range")]
    properties = metric_properties(ours) | {
        option.name: option_schema(option) for option in option_table(spec)
    }
    properties["check"] = {"description": spec.summary}
    required = tuple(option.name for option in spec.options if option.required)
    return object_schema(properties, required=required)


def option_schema(option: Option) -> dict[str, Any]:
    """Return the schema of one option of a check."""
    kind = {"enum": list(option.choices)} if option.choices else OPTION_KINDS.get(option.kind, {})
    default = {} if option.default is None else {"default": plain(option.default)}
    return {"description": option.summary, **kind, **default}


def plain(value: Any) -> Any:
    """Return a default as JSON has it."""
    return list(value) if isinstance(value, tuple | frozenset) else value


def evalglass_schema() -> dict[str, Any]:
    """Return the schema of an EvalGlass entry."""
    properties = metric_properties(EVALGLASS_KEYS)
    properties["metric_status"] = {"enum": list(STATUSES)}
    return object_schema(properties, required=("evaluator_ref",))


def datasets_schema() -> dict[str, Any]:
    """Return the schema of `datasets`: one entry or a list of them."""
    from pytest_evalcheck.datasets.options import EXPANSIONS, FORMATS

    properties = properties_of(DATASET_KEYS)
    properties["format"] |= {"enum": list(FORMATS)}
    properties["expand"] |= {"enum": list(EXPANSIONS)}
    entry = {"anyOf": [_FILLED, object_schema(properties, required=("path",))]}
    return {
        "description": description("datasets", SUITE_KEYS),
        "anyOf": [*entry["anyOf"], {"type": "array", "minItems": 1, "items": entry}],
    }


def gate_schema() -> dict[str, Any]:
    """Return the schema of a gate; false is what readers of YAML 1.1 make of a bare `off`."""
    share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    properties = properties_of(GATE_KEYS)
    properties["pass_rate"] |= share
    properties["coverage"] |= share
    properties["confidence"] |= {"type": "number", "minimum": 0.5, "exclusiveMaximum": 1}
    properties["regression"] = {"const": False}
    rule = object_schema(properties) | {"minProperties": 1}
    return {
        "description": description("gate", METRIC_KEYS),
        "anyOf": [{"enum": ["each", "off", False]}, rule],
    }


def metric_properties(keys: Iterable[Key]) -> dict[str, Any]:
    """Return the properties of a form of metric, its gate by reference."""
    properties = properties_of(keys)
    if "gate" in properties:
        properties["gate"] = {"$ref": "#/$defs/gate"}
    return properties


def properties_of(keys: Iterable[Key]) -> dict[str, Any]:
    """Return the schema of each key, with its summary for the editor."""
    return {key.name: {"description": key.summary, **KINDS[key.kind].schema} for key in keys}


def object_schema(properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of a mapping with these keys and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def description(name: str, keys: Iterable[Key]) -> str:
    """Return the summary of a key."""
    return next(key.summary for key in keys if key.name == name)
