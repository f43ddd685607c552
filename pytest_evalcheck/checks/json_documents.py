"""Checks on JSON: is it JSON, does it hold JSON, does it fit a schema, is it what was expected."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_evalcheck.checks.json_schemas import compile_schema
from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.paths import compile_path, compile_place
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, OperandError, Plan, Settled, as_text
from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.jsonvalues import (
    JsonTextError,
    PartReader,
    json_equal,
    json_text,
    kind_name,
    parse_json,
)

__all__: list[str] = []

# The keys and indices that lead to a value.
Place = tuple[str | int, ...]

# Differing places that are listed in a reason, and in the details.
LISTED: Final = 5
MOST_LISTED: Final = 100
# Where an object or a list may begin: a bracket and what can follow it.
OPENING: Final = re.compile(r"""\{(?=[ \t\n\r]*["}])|\[(?=[ \t\n\r]*[\[\]{"tfn0-9-])""")

SCHEMA: Final = Option(name="schema", kind="schema", summary="a JSON Schema it must fit")
FORMATS: Final = Option(
    name="formats", kind="bool", default=False, summary="whether `format` is checked too"
)


@check("valid_json", summary="the text parses as JSON (RFC 8259)")
def build_valid_json(_settings: Settings) -> Plan:
    """Compile `valid_json`; an output that is recorded as JSON is JSON."""

    def compare(value: Any, _operand: None) -> Finding:
        if not isinstance(value, str):
            return Finding(True, wanted="JSON")
        try:
            parse_json(value)
        except JsonTextError as error:
            return Finding(False, found=f"no JSON ({error})", wanted="JSON")
        return Finding(True, wanted="JSON")

    return Plan(compare=compare, reads="value", many=True)


@check(
    "json_schema",
    SCHEMA,
    Option(name="schema_file", kind="file", summary="a file with the schema, beside the suite"),
    FORMATS,
    summary="the output as JSON fits the JSON Schema (draft of $schema, else 2020-12)",
)
def build_json_schema(settings: Settings) -> Plan:
    """Compile `json_schema`; the fault nearest the root is named."""
    first_fault = compile_given_schema(settings)

    def compare(value: Any, _operand: None) -> Finding:
        fault = first_fault(parse_output(value))
        return Finding(fault is None, found=fault, wanted="JSON that fits the schema")

    return Plan(compare=compare, reads="value", many=True)


def compile_given_schema(settings: Settings) -> Callable[[Any], str | None]:
    """Return the compiled schema of an entry.

    Raises:
        ConfigError: no schema, two, a file that cannot be read, or a bad schema.
    """
    given = [name for name in ("schema", "schema_file") if name in settings.given]
    if len(given) != 1:
        raise settings.problem("schema", f"{len(given)} schemas", "schema or schema_file")
    schema = settings["schema"] if given == ["schema"] else read_schema_file(settings)
    return compile_schema_of(given[0], schema, settings)


def read_schema_file(settings: Settings) -> Any:
    """Return the schema a file holds.

    Raises:
        ConfigError: there is no such file beside the suite, or it holds no JSON.
    """
    name = settings["schema_file"]
    base = settings.base_dir
    if base is None:
        raise settings.problem(
            "schema_file", f"{name!r} is relative to a suite file, and there is none", "schema"
        )
    path = (base / name).resolve()
    try:
        return parse_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise settings.problem(
            "schema_file", f"{name!r} cannot be read: {error.strerror}", "a file"
        ) from None
    except (JsonTextError, UnicodeDecodeError) as error:
        raise settings.problem("schema_file", f"{name!r} holds no JSON: {error}") from None


def parse_output(value: Any) -> Any:
    """Return an output as JSON: text is parsed, anything else stands.

    Raises:
        Settled: failed with `path_unresolved` when the text is not JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except JsonTextError as error:
        raise Settled.unresolved(f"the output is not JSON ({error})", value, "JSON") from None


@check(
    "contains_json",
    SCHEMA,
    FORMATS,
    summary="a JSON object or list stands somewhere in the text, and fits the schema if given",
)
def build_contains_json(settings: Settings) -> Plan:
    """Compile `contains_json`: fences and prose around the JSON are passed over."""
    first_fault: Callable[[Any], str | None] = lambda _value: None  # noqa: E731
    if settings["schema"] is not None:
        first_fault = compile_schema_of("schema", settings["schema"], settings)

    def compare(value: Any, _operand: None) -> Finding:
        fault = "no JSON object or list in the text"
        for candidate in json_parts(value):
            said = first_fault(candidate)
            if said is None:
                return Finding(True, wanted="JSON in the text")
            fault = said
        return Finding(False, found=fault, wanted="JSON in the text")

    return Plan(compare=compare, reads="value", many=True)


def compile_schema_of(name: str, schema: Any, settings: Settings) -> Callable[[Any], str | None]:
    """Return the compiled schema of one option.

    Raises:
        ConfigError: it is no schema; the problems point at the option.
    """
    try:
        return compile_schema(schema, formats=settings["formats"])
    except ConfigError as error:
        raise ConfigError(
            replace(problem, where=name, keys=(name,)) for problem in error.problems
        ) from None


def json_parts(value: Any) -> Iterator[Any]:
    """Yield each JSON object or list in an output: those in a text, or the output itself."""
    if isinstance(value, str):
        yield from find_json(value)
    elif isinstance(value, Mapping | list | tuple):
        yield value


def find_json(text: str) -> Iterator[Any]:
    """Yield each JSON object or list of a text that is not part of an earlier one.

    The time is bounded by the length of the text, whatever stands in it.
    """
    reader = PartReader(text)
    match = OPENING.search(text)
    while match is not None and not reader.is_spent:
        found = reader.read(match.start())
        if found is not None:
            yield found[0]
        match = OPENING.search(text, match.start() + 1 if found is None else found[1])


@check(
    "json_path_equals",
    Option(name="json_path", kind="path", required=True, summary="where in the output"),
    Option(name="expected", kind="nullable", summary="the value that must stand there, typed"),
    Option(
        name="as_text",
        kind="bool",
        default=False,
        summary="take the row's expected value as text, as CompletionKit does",
    ),
    summary="the value at the path equals the expected one, typed: true is not 1, '5' is not 5",
)
def build_json_path_equals(settings: Settings) -> Plan:
    """Compile `json_path_equals`; several matches equal a list or are ambiguous."""
    text = settings["json_path"]
    try:
        path = compile_path(text)
    except ConfigError as error:
        raise settings.problem("json_path", error.problems[0].found) from None

    def compare(value: Any, operand: Any) -> Finding:
        matches = path.find(parse_output(value))
        wanted = json_text(operand) if not isinstance(operand, str) else repr(operand)
        if not matches:
            reason = f"nothing at {text} in the output"
            raise Settled.unresolved(reason, as_text(value), f"{wanted} at {text}")
        if len(matches) > 1 and not json_equal(matches, operand):
            return Finding(
                False,
                found=f"{len(matches)} values at {text}: {json_text(matches)[:200]}",
                wanted=wanted,
                firm=True,
            )
        same = len(matches) > 1 or json_equal(matches[0], operand)
        kind = kind_name(matches[0])
        return Finding(same, found=f"{json_text(matches[0])[:500]} ({kind})", wanted=wanted)

    read = as_text if settings["as_text"] else _as_it_is
    return Plan(compare=compare, reads="value", operand=read, operand_name="expected")


def _as_it_is(value: Any) -> Any:
    return value


@check(
    "json_diff",
    Option(
        name="ignore_paths",
        kind="texts",
        summary="paths that do not count, with what is below; * is any",
    ),
    Option(
        name="numeric_tolerance",
        kind="amount",
        default=0,
        summary="numbers this near to each other agree",
    ),
    summary="the share of leaves that agree with the expected JSON reaches threshold",
    score="share",
)
def build_json_diff(settings: Settings) -> Plan:
    """Compile `json_diff`: its value is agreeing leaves over the leaves of either side.

    A leaf is a value without values below it; an empty object or list is one. Where every
    leaf is ignored there is no score.
    """
    ignored = compile_ignored(settings)
    tolerance = settings["numeric_tolerance"]

    def compare(value: Any, operand: Any) -> Finding:
        found = leaves_of(parse_output(value), ignored)
        wanted = leaves_of(operand, ignored)
        paths = found.keys() | wanted.keys()
        if not paths:
            raise Settled.missing("not_applicable", "ignore_paths leaves nothing to compare")
        differing = sorted(
            (
                path
                for path in paths
                if path not in found
                or path not in wanted
                or not _agree(found[path], wanted[path], tolerance)
            ),
            key=_place_order,
        )
        share = (len(paths) - len(differing)) / len(paths)
        return Finding(
            None,
            share,
            found=_differences_text(differing, found, wanted) if differing else "no difference",
            wanted="no difference",
            details={"differing": [place_text(place) for place in differing[:MOST_LISTED]]},
        )

    return Plan(compare=compare, reads="value", operand=_expected_json, operand_optional=True)


def _expected_json(raw: Any) -> Any:
    if not isinstance(raw, str):
        return raw
    try:
        return parse_json(raw)
    except JsonTextError as error:
        raise OperandError(f"no JSON ({error})", "JSON") from None


def compile_ignored(settings: Settings) -> list[Callable[[Place], bool]]:
    """Return whether a place is one that does not count, for each of `ignore_paths`.

    Raises:
        ConfigError: with every path that is none.
    """
    problems: list[Problem] = []
    tests = []
    for text in settings["ignore_paths"] or ():
        try:
            tests.append(compile_place(text))
        except ConfigError as error:
            problems += settings.problem("ignore_paths", error.problems[0].found).problems
    if problems:
        raise ConfigError(problems)
    return tests


def leaves_of(document: Any, ignored: list[Callable[[Place], bool]]) -> dict[Place, Any]:
    """Return the leaves of a document by their place, without those that do not count."""
    leaves: dict[Place, Any] = {}
    pending: list[tuple[Place, Any]] = [((), document)]
    while pending:
        place, value = pending.pop()
        if any(names(place) for names in ignored):
            continue
        if isinstance(value, Mapping) and value:
            pending += [((*place, str(key)), inner) for key, inner in value.items()]
        elif isinstance(value, list | tuple) and value:
            pending += [((*place, at), inner) for at, inner in enumerate(value)]
        else:
            leaves[place] = value
    return leaves


def place_text(place: Place) -> str:
    """Return a place as a path: `items[0].name`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".") or "the top"


def _place_order(place: Place) -> list[tuple[bool, Any]]:
    return [(isinstance(part, str), part) for part in place]


def _agree(found: Any, wanted: Any, tolerance: float) -> bool:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (found, wanted))
    if numbers and tolerance and math.isfinite(found) and math.isfinite(wanted):
        from decimal import Decimal

        # Exact, so that 1.1 is within 0.1 of 1.0.
        distance = abs(Decimal(repr(found)) - Decimal(repr(wanted)))
        return distance <= Decimal(repr(tolerance))
    return json_equal(found, wanted)


def _differences_text(
    differing: list[Place],
    found: Mapping[Place, Any],
    wanted: Mapping[Place, Any],
) -> str:
    parts = []
    for path in differing[:LISTED]:
        here = json_text(found[path])[:60] if path in found else "nothing"
        there = json_text(wanted[path])[:60] if path in wanted else "nothing"
        parts.append(f"{place_text(path)} is {here}, not {there}")
    more = f" and {len(differing) - LISTED} more" if len(differing) > LISTED else ""
    return "; ".join(parts) + more
