"""Keywords of JSON Schema that jsonschema answers wrongly, slowly, or without an end.

- `pattern`, `patternProperties`, `additionalProperties`: searched within a time limit;
- `multipleOf` (draft 3: `divisibleBy`): in decimal arithmetic, so that 19.99 is a
  multiple of 0.01;
- `uniqueItems`: in time proportional to the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from pytest_evalcheck.checks.schema_patterns import search

__all__ = ["own_keywords"]

# (validator, value of the keyword, instance, schema) -> faults
Keyword = Callable[[Any, Any, Any, Any], Iterator[Any]]


def own_keywords(kind: Any) -> dict[str, Keyword]:
    """Return our keywords for a draft's validator class: those that the draft has."""
    made = {name: keyword for name, keyword in KEYWORDS.items() if name in kind.VALIDATORS}
    if "unevaluatedProperties" in kind.VALIDATORS:
        made["unevaluatedProperties"] = probing(kind.VALIDATORS["unevaluatedProperties"])
    return made


def fault(message: str) -> Any:
    """Return a fault as jsonschema has them."""
    from jsonschema import ValidationError

    return ValidationError(message)


def check_pattern(validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """Yield the fault of a text in which a pattern is not found."""
    if validator.is_type(instance, "string") and search(pattern, instance) is None:
        yield fault(f"{instance!r} does not match {pattern!r}")


def check_pattern_properties(
    validator: Any, patterns: Any, instance: Any, _schema: Any
) -> Iterator[Any]:
    """Yield the faults of the values whose names match a pattern."""
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            if search(pattern, name) is not None:
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def check_additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    """Yield the faults of the values that neither `properties` nor a pattern names."""
    if not validator.is_type(instance, "object"):
        return
    named = schema.get("properties") or {}
    patterns = schema.get("patternProperties") or {}
    others = [
        name
        for name in instance
        if name not in named and not any(search(pattern, name) for pattern in patterns)
    ]
    if validator.is_type(allowed, "object"):
        for name in others:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and others:
        yield fault(f"{', '.join(map(repr, sorted(others)))} is not among the properties allowed")


def probing(keyword: Any) -> Keyword:
    """Return a keyword that first tries each pattern beside it within the time limit."""

    def probe(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, Mapping):
            for pattern in schema.get("patternProperties") or ():
                for name in instance:
                    search(pattern, name)
        yield from keyword(validator, value, instance, schema) or ()

    return probe


def check_multiple(validator: Any, divisor: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """Yield the fault of a number that is no multiple of another, as both are written."""
    if not validator.is_type(instance, "number"):
        return
    endless = isinstance(instance, float) and not math.isfinite(instance)
    if endless or exact(instance) % exact(divisor):
        yield fault(f"{instance!r} is not a multiple of {divisor!r}")


def exact(number: float) -> Fraction:
    """Return a number as its shortest decimal text has it."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def check_unique(validator: Any, unique: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """Yield the fault of a list in which a member stands twice."""
    if not unique or not validator.is_type(instance, "array"):
        return
    seen: dict[Hashable, int] = {}
    for at, member in enumerate(instance):
        first = seen.setdefault(identity(member), at)
        if first != at:
            yield fault(f"has non-unique elements: [{first}] and [{at}] are equal")
            return


def identity(value: Any) -> Hashable:
    """Return what equal JSON values share: true is not 1, 1 is 1.0, key order is free."""
    if isinstance(value, Mapping):
        return "object", frozenset((key, identity(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return "list", tuple(identity(inner) for inner in value)
    return type(value) is bool, value


KEYWORDS: Final[Mapping[str, Keyword]] = {
    "pattern": check_pattern,
    "patternProperties": check_pattern_properties,
    "additionalProperties": check_additional_properties,
    "multipleOf": check_multiple,
    "divisibleBy": check_multiple,
    "uniqueItems": check_unique,
}
