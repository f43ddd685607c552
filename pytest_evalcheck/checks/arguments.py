"""When the arguments of a call are those that were expected: modes, matchers, BFCL's lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.numbers import read_number
from pytest_evalcheck.checks.options import near_names
from pytest_evalcheck.checks.patterns import compile_pattern
from pytest_evalcheck.checks.target import OperandError, fold
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.jsonvalues import json_equal, json_text, kind_name

__all__ = ["MODES", "Fits", "Test", "compile_arguments", "holds_matcher"]

MODES: Final = ("exact", "superset", "subset", "ignore", "any_of")
MATCH: Final = "$match"

# Whether one value is the expected one.
Test = Callable[[Any], bool]
# Whether all arguments of a call are the expected ones.
Fits = Callable[[Mapping[str, Any]], bool]

# What BFCL leaves out of both sides before it compares texts (ast_checker, standardize_string).
IGNORED_MARKS: Final = re.compile(r"[ ,./\-_*^]")


def compile_arguments(expected: Mapping[str, Any], mode: str) -> Fits:
    """Return the test of a call's arguments.

    Args:
        expected: argument -> value, where a value (or one inside it) may be a matcher
            `{$match: exact|contains|regex|ignore|number, value: ...}`; with `any_of`,
            argument -> list of accepted values, "" among them for one that may be left
            out (BFCL).
        mode: `exact` (just the expected arguments), `superset` (at least them), `subset`
            (at most them) or `any_of`.

    Raises:
        OperandError: a matcher is mis-written.
    """
    if mode == "any_of":
        return accepted_arguments(expected)
    free = {name for name, value in expected.items() if matcher_word(value) == "ignore"}
    tests = {name: compile_value(value) for name, value in expected.items() if name not in free}

    def fits(args: Mapping[str, Any]) -> bool:
        if mode != "subset" and not tests.keys() <= args.keys():
            return False
        if mode != "superset" and not args.keys() <= expected.keys():
            return False
        return all(test(args[name]) for name, test in tests.items() if name in args)

    return fits


# ── matchers ──────────────────────────────────────────────────────────────────────────


def matcher_word(value: Any) -> Any:
    """Return the word of a matcher, or None for a value that is none."""
    return value.get(MATCH) if isinstance(value, Mapping) else None


def holds_matcher(value: Any) -> bool:
    """Tell whether a matcher stands anywhere in a value."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            if MATCH in one:
                return True
            pending += one.values()
        elif isinstance(one, list | tuple):
            pending += one
    return False


def compile_value(expected: Any) -> Test:
    """Return the test of one value: typed equality, with the matchers inside it honoured."""
    if not holds_matcher(expected):
        return lambda value: json_equal(value, expected)
    if isinstance(expected, Mapping) and MATCH in expected:
        return compile_matcher(expected)
    if isinstance(expected, Mapping):
        tests = {name: compile_value(value) for name, value in expected.items()}
        return lambda value: (
            isinstance(value, Mapping)
            and value.keys() == tests.keys()
            and all(test(value[name]) for name, test in tests.items())
        )
    each = [compile_value(value) for value in expected]
    return lambda value: (
        isinstance(value, list | tuple)
        and len(value) == len(each)
        and all(test(one) for test, one in zip(each, value, strict=True))
    )


def compile_matcher(matcher: Mapping[str, Any]) -> Test:
    """Return the test of a matcher.

    Raises:
        OperandError: the word is none, a key is unknown, or the value is of no use.
    """
    word = matcher[MATCH]
    build = MATCHERS.get(word) if isinstance(word, str) else None
    if build is None:
        raise OperandError(
            f"the matcher {word!r}. {near_names(word, MATCHERS)}".rstrip(". "),
            "one of " + ", ".join(MATCHERS),
        )
    known = {MATCH, "value"} | ({"tolerance"} if word == "number" else set())
    unknown = [str(name) for name in matcher if name not in known]
    if unknown:
        raise OperandError(f"{', '.join(unknown)} in a matcher", "only " + ", ".join(sorted(known)))
    if word != "ignore" and "value" not in matcher:
        raise OperandError(f"the matcher {word!r} without a value", "value: ...")
    return build(matcher)


def match_exact(matcher: Mapping[str, Any]) -> Test:
    """Return typed equality; also the way to expect a mapping that looks like a matcher."""
    expected = matcher["value"]
    return lambda value: json_equal(value, expected)


def match_contains(matcher: Mapping[str, Any]) -> Test:
    """Return whether the text of a value contains a text, in either case."""
    needle = matcher["value"]
    if not isinstance(needle, str) or not needle:
        raise OperandError(f"contains with {kind_name(needle)}", "a text that is not empty")
    folded = fold(needle)
    return lambda value: value is not None and folded in fold(json_text(value))


def match_regex(matcher: Mapping[str, Any]) -> Test:
    """Return whether a pattern is found in the text of a value, in either case."""
    source = matcher["value"]
    if not isinstance(source, str) or not source:
        raise OperandError(f"regex with {kind_name(source)}", "a pattern that is not empty")
    try:
        pattern = compile_pattern(source, option="value", case_sensitive=False)
    except ConfigError as error:
        raise OperandError(error.problems[0].found, "a pattern that compiles") from None
    return lambda value: value is not None and pattern.search(json_text(value)) is not None


def match_number(matcher: Mapping[str, Any]) -> Test:
    """Return whether a value is a number, or the text of one, within a tolerance."""
    wanted = read_number(matcher["value"])
    tolerance = read_number(matcher.get("tolerance", 0))
    if wanted is None:
        raise OperandError(f"number with {json_text(matcher['value'])}", "a number")
    if tolerance is None or tolerance < 0:
        raise OperandError("a tolerance that is no amount", "a number of 0 or more")

    def test(value: Any) -> bool:
        number = read_number(value)
        return number is not None and abs(number - wanted) <= tolerance

    return test


MATCHERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Test]]] = {
    "exact": match_exact,
    "contains": match_contains,
    "regex": match_regex,
    "ignore": lambda _matcher: lambda _value: True,
    "number": match_number,
}


# ── lists of accepted values, as BFCL has them ────────────────────────────────────────


def accepted_arguments(expected: Mapping[str, Any]) -> Fits:
    """Return the test of BFCL's answers: every value is listed, nothing is unknown or missing.

    The source is the AST checker of the Berkeley Function Calling Leaderboard (v4).

    Raises:
        OperandError: a matcher among the accepted values is mis-written.
    """
    listed = {name: accepted_values(value) for name, value in expected.items()}
    required = {name for name, values in listed.items() if "" not in values}
    tests = {name: [compile_accepted(one) for one in values] for name, values in listed.items()}

    def fits(args: Mapping[str, Any]) -> bool:
        if not required <= args.keys() <= tests.keys():
            return False
        return all(any(test(value) for test in tests[name]) for name, value in args.items())

    return fits


def accepted_values(value: Any) -> list[Any]:
    """Return the accepted values of an argument; what is no list is the only one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def compile_accepted(accepted: Any) -> Test:
    """Return the test of one accepted value: typed; texts without case, blanks and marks."""
    if isinstance(accepted, str):
        standard = standard_text(accepted)
        return lambda value: (
            isinstance(value, str)
            and (value == accepted or (standard != "" and standard_text(value) == standard))
        )
    if isinstance(accepted, Mapping):
        if MATCH in accepted:
            return compile_matcher(accepted)
        inner = accepted_arguments(accepted)
        return lambda value: isinstance(value, Mapping) and inner(value)
    if isinstance(accepted, list | tuple):
        each = [compile_accepted(one) for one in accepted]
        return lambda value: (
            isinstance(value, list | tuple)
            and len(value) == len(each)
            and all(test(one) for test, one in zip(each, value, strict=True))
        )
    return lambda value: json_equal(value, accepted)


def standard_text(text: str) -> str:
    """Return a text as BFCL compares it."""
    return IGNORED_MARKS.sub("", text).lower().replace("'", '"')
