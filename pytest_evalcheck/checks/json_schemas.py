"""JSON Schema through the jsonschema library (extra `json`): compiled once, first fault named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.patterns import TIME_LIMIT_S
from pytest_evalcheck.checks.target import Settled
from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Score

__all__ = ["compile_schema"]

INSTALL: Final = "pip install 'pytest-evalcheck[json]'"
# The longest text of one fault, in characters.
LONGEST: Final = 300


def compile_schema(schema: Any, *, formats: bool = False) -> Callable[[Any], str | None]:
    """Return the function that names the first fault of a value, or None when it fits.

    The fault named is the one nearest the root, by path and keyword, so that it does not
    depend on the order of the schema. Nothing is ever fetched: a `$ref` leads to a place
    inside the schema.

    Args:
        schema: a mapping, or true or false; the draft is that of `$schema`, else 2020-12.
        formats: whether `format` is checked; the standard leaves that open.

    Raises:
        ConfigError: the schema is not a schema of its draft, or a `$ref` in it leads to
            nothing that is here. Without jsonschema
            installed the returned function ends the row as blocked `dependency_missing`.
    """
    try:
        import jsonschema
    except ImportError:
        return _missing
    kind = _validator_class(schema)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        place = ".".join(str(part) for part in error.absolute_path) or "its top"
        raise ConfigError(
            Problem(found=f"the schema is not valid at {place}: {error.message[:LONGEST]}")
        ) from None
    from jsonschema_specifications import REGISTRY

    check_references(schema, kind)
    checker = kind.FORMAT_CHECKER if formats else None
    # This registry holds the drafts' own schemas and fetches nothing.
    validator = _bounded(kind)(schema, format_checker=checker, registry=REGISTRY)

    def first_fault(value: Any) -> str | None:
        try:
            fault = min(validator.iter_errors(value), key=_fault_key, default=None)
        except RecursionError:
            return "it is nested too deep to check"
        except TimeoutError as error:
            raise Settled.error("timeout", str(error)) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("jsonschema", "referencing"):
                raise
            reason = f"the schema cannot be followed: {error}"
            raise Settled(Score("error", reason=reason)) from None
        return None if fault is None else _fault_text(fault)

    return first_fault


def _missing(_value: Any) -> str | None:
    raise Settled(
        Score(
            "blocked",
            code="dependency_missing",
            reason=f"dependency_missing: jsonschema is not installed. Run: {INSTALL}",
        )
    )


def _validator_class(schema: Any) -> Any:
    """Return the validator of the draft a schema names.

    Raises:
        ConfigError: the draft is none that jsonschema knows.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    default: Any = Draft202012Validator if named is None else None
    found = validator_for(schema, default=default)
    if found is None:
        raise ConfigError(
            Problem(
                found=f"$schema {named!r} is no draft that is known",
                expected="a JSON Schema draft from 3 to 2020-12",
            )
        )
    return found


def check_references(schema: Any, kind: Any) -> None:
    """Refuse a schema with a `$ref` that leads out of it and of the drafts' own schemas.

    Raises:
        ConfigError: with every such `$ref`.
    """
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    specification = specification_with(kind.META_SCHEMA.get("$schema", ""))
    root = specification.create_resource(schema)
    pending = [(root, REGISTRY.resolver_with_root(root))]
    lost: list[str] = []
    while pending:
        resource, resolver = pending.pop()
        contents = resource.contents
        reference = contents.get("$ref") if isinstance(contents, Mapping) else None
        if isinstance(reference, str):
            try:
                resolver.lookup(reference)
            except Unresolvable:
                lost.append(reference)
        pending += [(one, resolver.in_subresource(one)) for one in resource.subresources()]
    if lost:
        raise ConfigError(
            Problem(
                found=f"$ref {reference!r} leads to nothing in the schema",
                expected="a place inside it: nothing is fetched",
                fix="Copy what it refers to into $defs.",
            )
            for reference in sorted(set(lost))
        )


# ── patterns that cannot hang a run ───────────────────────────────────────────────────


def _bounded(kind: Any) -> Any:
    """Return the validator with regular expressions that cannot hang a run."""
    from jsonschema import validators

    extend: Any = validators.extend
    ours = {
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
        "additionalProperties": _check_additional_properties,
    }
    return extend(kind, {name: own for name, own in ours.items() if name in kind.VALIDATORS})


def _check_pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and _search(pattern, instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: Any, instance: Any, _schema: Any
) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, inner in patterns.items():
        for name, value in instance.items():
            if _search(pattern, name) is not None:
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _check_additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    others = [
        name
        for name in instance
        if name not in named and not any(_search(pattern, name) for pattern in patterns)
    ]
    if validator.is_type(allowed, "object"):
        for name in others:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and others:
        names = ", ".join(repr(name) for name in sorted(others))
        yield ValidationError(f"no other properties are allowed, and {names} stands there")


def _search(pattern: str, text: str) -> Any:
    import regex

    try:
        return regex.search(pattern, text, timeout=TIME_LIMIT_S)
    except TimeoutError:
        raise TimeoutError(
            f"the pattern {pattern!r} of the schema took more than {TIME_LIMIT_S:g} s"
        ) from None


# ── the fault that is named ───────────────────────────────────────────────────────────


def _fault_key(error: Any) -> tuple[Any, ...]:
    path = [(isinstance(part, str), part) for part in error.absolute_path]
    return (len(path), path, str(error.validator), error.message)


def _fault_text(error: Any) -> str:
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
    )
    message = str(error.message)
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}… ({len(message)} characters)"
    return f"at {path.lstrip('.') or 'the top'}: {message}"
