"""JSON Schema through the jsonschema library (extra `json`): compiled once, first fault named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

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
        ConfigError: the schema is not a schema of its draft. Without jsonschema
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
    from referencing import Registry

    checker = kind.FORMAT_CHECKER if formats else None
    validator = _bounded(kind)(schema, format_checker=checker, registry=Registry())

    def first_fault(value: Any) -> str | None:
        try:
            faults = list(validator.iter_errors(value))
        except RecursionError:
            return "it is nested too deep to check"
        except TimeoutError as error:
            raise Settled(Score("error", reason=f"timeout: {error}", code="timeout")) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("jsonschema", "referencing"):
                raise
            reason = f"the schema cannot be followed: {error}"
            raise Settled(Score("error", reason=reason)) from None
        return _fault_text(min(faults, key=_fault_key)) if faults else None

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


def _bounded(kind: Any) -> Any:
    """Return the validator with regular expressions that cannot hang a run."""
    from jsonschema import validators

    extend: Any = validators.extend
    return extend(kind, {"pattern": _check_pattern})


def _check_pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    import regex
    from jsonschema import ValidationError

    if not isinstance(instance, str):
        return
    try:
        found = regex.search(pattern, instance, timeout=1.0)
    except TimeoutError:
        raise TimeoutError(f"the pattern {pattern!r} of the schema took longer than 1 s") from None
    if found is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _fault_key(error: Any) -> tuple[Any, ...]:
    path = [str(part) for part in error.absolute_path]
    return (len(path), path, str(error.validator), error.message)


def _fault_text(error: Any) -> str:
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
    )
    message = str(error.message)
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}… ({len(message)} characters)"
    return f"at {path.lstrip('.') or 'the top'}: {message}"
