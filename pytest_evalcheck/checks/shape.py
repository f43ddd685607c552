"""EvalGlass's checks on the shape of an output: fields, structure, trajectories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_evalcheck.checks.bounds import bound_options, read_bounds
from pytest_evalcheck.checks.fields import (
    ABSENT,
    FIELD,
    as_mapping,
    field_reader,
    join_field,
    look_up,
)
from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, Plan, Settled, as_text
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.jsonvalues import kind_phrase


@check(
    "field_presence",
    Option(
        name="required_fields",
        kind="texts",
        required=True,
        summary="the fields: keys, or paths with dots",
    ),
    summary="the output has the required fields; null and '' count as present",
    score="share",
)
def build_field_presence(settings: Settings) -> Plan:
    """Compile `field_presence`; its value is the share present, a repeated name counts again."""
    names = settings["required_fields"]
    finders = [(name, look_up(name)) for name in names]
    wanted = f"the fields {', '.join(names)}"

    def compare(value: Any, _operand: None) -> Finding:
        mapping = as_mapping(value)
        if mapping is None:
            raise Settled.missing(
                "not_applicable", f"the output is {kind_phrase(value)}, not a mapping"
            )
        missing = [name for name, find in finders if find(mapping) is ABSENT]
        return Finding(
            None,
            (len(names) - len(missing)) / len(names),
            found=f"a mapping without {', '.join(missing)}" if missing else "a mapping with all",
            wanted=wanted,
            details={"missing": missing},
        )

    return Plan(compare=compare, reads="value")


@check(
    "structural_shape",
    Option(name="schema", kind="schema", summary="a JSON Schema the mapping must fit"),
    summary="the output is a mapping, of the schema's shape if one is given",
)
def build_structural_shape(settings: Settings) -> Plan:
    """Compile `structural_shape`: JSON text is not parsed, it is a text."""
    first_error = compile_shape(settings)

    def compare(value: Any, _operand: None) -> Finding:
        if not isinstance(value, Mapping):
            return Finding(False, found=kind_phrase(value), wanted="a mapping")
        error = first_error(value)
        if error is None:
            return Finding(True, found="a mapping", wanted="a mapping of the schema's shape")
        return Finding(False, found=error, wanted="a mapping of the schema's shape")

    return Plan(compare=compare, reads="value")


def compile_shape(settings: Settings) -> Callable[[Any], str | None]:
    """Return the function that gives the first thing in a value that does not fit the schema.

    Raises:
        ConfigError: the schema is none.
    """
    schema = settings["schema"]
    if schema is None:
        return lambda _value: None
    from pytest_evalcheck.checks.json_schemas import compile_schema

    try:
        return compile_schema(schema)
    except ConfigError as error:
        raise ConfigError(
            replace(problem, where="schema", keys=("schema",)) for problem in error.problems
        ) from None


@check(
    "word_count_bounds",
    *bound_options("count"),
    FIELD,
    summary="the number of words lies within min and max, both included",
)
def build_word_count_bounds(settings: Settings) -> Plan:
    """Compile `word_count_bounds`: words are what stands between white space."""
    bounds = read_bounds(settings)
    wanted = bounds.text("words")

    def compare(value: Any, _operand: None) -> Finding:
        number = len(as_text(value).split())
        return Finding(
            bounds.hold(number), found=f"{number} words", wanted=wanted, details={"count": number}
        )

    return join_field(settings, compare, field_reader(settings))


@check(
    "trajectory_shape",
    summary="every member of the trajectory has an output",
    score="share",
)
def build_trajectory_shape(_settings: Settings) -> Plan:
    """Compile `trajectory_shape`: the share of members whose output is not null.

    The output is the list of the members' outputs (EvalGlass's aggregate), or of mappings
    that carry an `output` each. A single call, a list of nothing and a list in which no
    member has an output are non_evaluable.
    """

    def compare(value: Any, _operand: None) -> Finding:
        if not isinstance(value, list):
            raise Settled.missing("not_applicable", "the output is one call, not a trajectory")
        produced = sum(1 for member in value if member_output(member) is not None)
        if not produced:
            raise Settled.missing("not_applicable", "no member of the trajectory has an output")
        return Finding(
            None,
            produced / len(value),
            found=f"{produced} of {len(value)} members with an output",
            wanted="an output of every member",
        )

    return Plan(compare=compare, reads="value")


def member_output(member: Any) -> Any:
    """Return the output of one member: what it carries as `output`, or itself."""
    return member["output"] if isinstance(member, Mapping) and "output" in member else member
