"""JSON Schema through the jsonschema library (extra `json`): compiled once, first fault named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final

from pytest_evalcheck.checks.schema_keywords import own_keywords
from pytest_evalcheck.checks.schema_patterns import compile_ecma
from pytest_evalcheck.checks.target import Settled
from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Score

__all__ = ["compile_schema"]

INSTALL: Final = "pip install 'pytest-evalcheck[json]'"
# The longest text of one fault, in characters.
LONGEST: Final = 300
# What jsonschema checks a format with, where it does not itself: any one of the packages.
URIS: Final = ("rfc3987", "rfc3986_validator")
IRIS: Final = ("rfc3987", "rfc3987_syntax")
FORMAT_PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "date-time": ("rfc3339_validator",),
    "time": ("rfc3339_validator",),
    "duration": ("isoduration",),
    "hostname": ("fqdn",),
    "idn-hostname": ("idna",),
    "uri": URIS,
    "uri-reference": URIS,
    "iri": IRIS,
    "iri-reference": IRIS,
    "uri-template": ("uri_template",),
    "json-pointer": ("jsonpointer",),
    "relative-json-pointer": ("jsonpointer",),
    "color": ("webcolors",),
}


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
        kind.check_schema(schema, format_checker=_pattern_checker())
    except jsonschema.SchemaError as error:
        place = ".".join(str(part) for part in error.absolute_path) or "its top"
        raise ConfigError(
            Problem(found=f"the schema is not valid at {place}: {error.message[:LONGEST]}")
        ) from None
    from jsonschema_specifications import REGISTRY

    parts = resolve_parts(schema, kind)
    checker = kind.FORMAT_CHECKER if formats else None
    unchecked = [part["format"] for part in parts if formats and lacks_package(part.get("format"))]
    if unchecked:
        return _missing_formats(sorted(set(unchecked)))
    validators: Any = jsonschema.validators
    # This registry holds the drafts' own schemas and fetches nothing.
    validator = validators.extend(kind, own_keywords(kind))(
        schema, format_checker=checker, registry=REGISTRY
    )

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
        return None if fault is None else _fault_text(_innermost(fault))

    return first_fault


def _missing(_value: Any) -> str | None:
    raise blocked("jsonschema is not installed")


def _missing_formats(names: list[str]) -> Callable[[Any], str | None]:
    def end_row(_value: Any) -> str | None:
        raise blocked(f"the packages that check the format {', '.join(names)} are not installed")

    return end_row


def blocked(why: str) -> Settled:
    """Return the end of a row whose schema needs a package that is not here."""
    reason = f"dependency_missing: {why}. Run: {INSTALL}"
    return Settled(Score("blocked", code="dependency_missing", reason=reason))


def lacks_package(name: Any) -> bool:
    """Tell whether a format goes unchecked for want of a package."""
    packages = FORMAT_PACKAGES.get(name, ()) if isinstance(name, str) else ()
    return bool(packages) and not any(find_spec(package) for package in packages)


def _pattern_checker() -> Any:
    """Return the checker of a schema's own patterns: they compile as they will be searched."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())

    @checker.checks("regex")
    def is_pattern(instance: Any) -> bool:
        import regex

        try:
            return not isinstance(instance, str) or bool(compile_ecma(instance))
        except regex.error:
            return False

    return checker


def _validator_class(schema: Any) -> Any:
    """Return the validator of the draft a schema names.

    Raises:
        ConfigError: the draft is none that jsonschema knows.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    default: Any = Draft202012Validator if named is None else None
    known = named is None or isinstance(named, str)
    found = validator_for(schema, default=default) if known else None
    if found is None:
        raise ConfigError(
            Problem(
                found=f"$schema {named!r} is no draft that is known",
                expected="a JSON Schema draft from 3 to 2020-12",
            )
        )
    return found


def resolve_parts(schema: Any, kind: Any) -> list[Mapping[str, Any]]:
    """Return a schema and the schemas inside it, having followed each `$ref` of theirs.

    Raises:
        ConfigError: with every `$ref` that leads neither to a place inside the schema nor
            to a draft's own.
    """
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    specification = specification_with(kind.META_SCHEMA.get("$schema", ""))
    root = specification.create_resource(schema)
    pending = [(root, REGISTRY.resolver_with_root(root))]
    parts: list[Mapping[str, Any]] = []
    lost: set[str] = set()
    while pending:
        resource, resolver = pending.pop()
        contents = resource.contents
        if isinstance(contents, Mapping):
            parts.append(contents)
            for reference in (contents.get(name) for name in ("$ref", "$dynamicRef")):
                if not isinstance(reference, str):
                    continue
                try:
                    resolver.lookup(reference)
                except Unresolvable:
                    lost.add(reference)
        pending += [(one, resolver.in_subresource(one)) for one in resource.subresources()]
    if lost:
        raise ConfigError(
            Problem(
                found=f"$ref {reference!r} leads to nothing in the schema",
                expected="a place inside it: nothing is fetched",
                fix="Copy what it refers to into $defs.",
            )
            for reference in sorted(lost)
        )
    return parts


# ── the fault that is named ───────────────────────────────────────────────────────────


def _fault_key(error: Any) -> tuple[Any, ...]:
    path = [(isinstance(part, str), part) for part in error.absolute_path]
    return (len(path), path, str(error.validator), error.message)


def _innermost(error: Any) -> Any:
    """Return the fault behind `anyOf` or `oneOf`, where only one alternative was meant.

    Alternatives of another type, such as the null of an optional value, were not; nor were
    those of another constant, as long as one is left.
    """
    while error.context:
        branches: dict[Any, list[Any]] = {}
        for inner in error.context:
            branches.setdefault(inner.relative_schema_path[0], []).append(inner)
        meant = [faults for faults in branches.values() if not any(map(_of_other_type, faults))]
        if len(meant) > 1:
            meant = [faults for faults in meant if all(one.validator != "const" for one in faults)]
        if len(meant) != 1:
            break
        error = min(meant[0], key=_fault_key)
    return error


def _of_other_type(error: Any) -> bool:
    return error.validator == "type" and not error.relative_path


def _fault_text(error: Any) -> str:
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
    )
    message = str(error.message)
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}… ({len(message)} characters)"
    return f"at {path.lstrip('.') or 'the top'}: {message}"
