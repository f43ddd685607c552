"""Paths into a JSON value: dotted paths and RFC 9535 JSONPath.

Three ways of writing, tried in this order:

    items.0.name      dots walk objects and lists; digits are an index on a list and a
                      key on an object; `[0]`, `[-1]`, `[1:3]`, `[*]`, `['a.b']` too
    $.items[0].name   the same with a leading `$`, names as RFC 9535 allows them
    $..name           anything richer (filters, descendants, functions, escapes) is read
                      by python-jsonpath in its strict mode, imported then and only then

One thing is ours and not the RFC's: `$.items.0` is the first item of a list.
Lookups never change the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem

__all__ = ["CompiledPath", "compile_path", "compile_place"]

Step = Callable[[list[Any]], list[Any]]

# RFC 9535, section 2.1: integers lie within I-JSON's exact range.
GREATEST: Final = 2**53 - 1

_INTEGER: Final = r"0|-?[1-9][0-9]*"
_BRACKET: Final = rf"""
    \[(?: (?P<index>{_INTEGER})
        | (?P<slice>(?:{_INTEGER})?:(?:{_INTEGER})?(?::(?:{_INTEGER})?)?)
        | (?P<every>\*)
        | '(?P<single>[^'\\\x00-\x1f]*)' | "(?P<double>[^"\\\x00-\x1f]*)" )\]
"""
# RFC 9535, section 2.5.1.1 (member-name-shorthand), and digits alone.
_STRICT: Final = re.compile(
    rf"""{_BRACKET} | \.(?P<all>\*) | \.(?P<digits>[0-9]+)(?=[.\[]|\Z)
    | \.(?P<name>[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][0-9A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff]*)
    """,
    re.VERBOSE,
)
_LOOSE: Final = re.compile(
    rf"{_BRACKET} | \.(?P<all>\*)(?=[.\[]|\Z) | \.(?P<digits>[0-9]+)(?=[.\[]|\Z)"
    r" | \.(?P<name>[^.\[\]'\"?*]+)",
    re.VERBOSE,
)
_RICH: Final = re.compile(r"\.\.|\[\s*\?|\\|\[[^\]]*,|\[\s|\s\]")


@dataclass(frozen=True, slots=True)
class CompiledPath:
    """A path, ready to be looked up.

    Attributes:
        text: as it was written.
        singular: whether it can lead to one value at most.
        find: value -> the list of values it leads to; an empty list is "nothing there",
            `[None]` is a null. Raises nothing; too deep a value leads nowhere.
    """

    text: str
    singular: bool
    find: Callable[[Any], list[Any]]


def compile_path(text: Any) -> CompiledPath:
    """Return a path ready to be looked up.

    Raises:
        ConfigError: it is no path; says at which column reading stopped.
    """
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(Problem(found=f"{text!r}", expected="a path such as order.total"))
    if text.lstrip().startswith("$"):
        steps = _read_steps(text, 1, _STRICT)
        return _rich_path(text, text) if isinstance(steps, int) else _walking(text, steps)
    dotted = text if text.startswith("[") else f".{text}"
    if _RICH.search(text):
        return _rich_path(text, f"${dotted}")
    steps = _read_steps(dotted, 0, _LOOSE)
    if isinstance(steps, int):
        raise _no_path(text, f"column {steps - len(dotted) + len(text) + 1} cannot be read")
    return _walking(text, steps)


def compile_place(text: str) -> Callable[[tuple[str | int, ...]], bool]:
    """Return whether a place (the keys and indices that lead to it) is one a path names.

    Raises:
        ConfigError: the path is none, or has more than names, indices and `*`.
    """
    loose = not text.startswith("$")
    lead = "." if loose and not text.startswith("[") else ""
    steps = _read_steps(lead + text, 0 if loose else 1, _LOOSE if loose else _STRICT)
    if isinstance(steps, int) or any(kind == "slice" for kind, _ in steps):
        raise _no_path(text, "only names, indices and * can be used here")
    tests = [_place_test(kind, word) for kind, word in steps]

    def names(place: tuple[str | int, ...]) -> bool:
        return len(place) == len(tests) and all(
            test(part) for test, part in zip(tests, place, strict=True)
        )

    return names


def _place_test(kind: str, word: str) -> Callable[[str | int], bool]:
    if kind in ("every", "all"):
        return lambda _part: True
    if kind == "index":
        return lambda part: part == int(word)
    if kind == "digits":
        return lambda part: part in (word, _plain_index(word))
    return lambda part: part == word


def _read_steps(text: str, start: int, grammar: re.Pattern[str]) -> list[tuple[str, str]] | int:
    """Return the steps of a plain path, or the position where it stops being one."""
    steps: list[tuple[str, str]] = []
    at = start
    while at < len(text):
        match = grammar.match(text, at)
        if match is None or match.lastgroup is None or not _in_range(match):
            return at
        steps.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return steps


def _in_range(match: re.Match[str]) -> bool:
    numbers = re.findall(r"-?\d+", match["index"] or match["slice"] or "")
    return all(abs(int(number[:20])) <= GREATEST for number in numbers)


def _walking(text: str, read: list[tuple[str, str]]) -> CompiledPath:
    steps = [_step(kind, word) for kind, word in read]

    def find(value: Any) -> list[Any]:
        found = [value]
        for step in steps:
            found = step(found)
            if not found:
                break
        return found

    singular = all(kind not in ("slice", "every", "all") for kind, _ in read)
    return CompiledPath(text, singular, find)


def _step(kind: str, word: str) -> Step:
    if kind in ("every", "all"):
        return _children
    if kind == "index":
        return _at_index(int(word))
    if kind == "slice":
        return _in_slice(word)
    return _named(word, _plain_index(word) if kind == "digits" else None)


def _plain_index(digits: str) -> int | None:
    """Return the index that digits are on a list; 01, and what no list can have, are none."""
    plain = digits == "0" or not digits.startswith("0")
    return int(digits) if plain and len(digits) < 16 else None


def _children(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, Mapping):
            found += value.values()
        elif isinstance(value, list | tuple):
            found += value
    return found


def _at_index(index: int) -> Step:
    def step(values: list[Any]) -> list[Any]:
        return [
            value[index]
            for value in values
            if isinstance(value, list | tuple) and -len(value) <= index < len(value)
        ]

    return step


def _in_slice(word: str) -> Step:
    parts = [int(part) if part else None for part in word.split(":")]
    start, end, step_by = (*parts, None)[:3]
    if step_by == 0:
        # RFC 9535, section 2.3.4.2.2: a step of zero selects nothing.
        return lambda values: []
    chosen = slice(start, end, step_by)

    def step(values: list[Any]) -> list[Any]:
        return [one for value in values if isinstance(value, list | tuple) for one in value[chosen]]

    return step


def _named(name: str, index: int | None) -> Step:
    def step(values: list[Any]) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if isinstance(value, Mapping):
                if name in value:
                    found.append(value[name])
            elif index is not None and isinstance(value, list | tuple) and index < len(value):
                found.append(value[index])
        return found

    return step


def _rich_path(text: str, path: str) -> CompiledPath:
    """Return a path read by python-jsonpath, strictly by RFC 9535."""
    from jsonpath import CompoundJSONPath, JSONPathEnvironment
    from jsonpath.exceptions import JSONPathError

    try:
        query = JSONPathEnvironment(strict=True).compile(path)
    except (JSONPathError, RecursionError, ValueError, OverflowError) as error:
        why = str(error).splitlines()[0] if str(error) else "too deep"
        token = getattr(error, "token", None)
        if token is not None:
            index = token.index if token.index >= 0 else len(path)
            why += f" at column {max(index - len(path) + len(text), 0) + 1}"
        raise _no_path(text, why) from None

    def find(value: Any) -> list[Any]:
        try:
            return list(query.findall(value))
        except (JSONPathError, RecursionError):
            return []

    singular = not isinstance(query, CompoundJSONPath) and query.singular_query()
    return CompiledPath(text, singular, find)


def _no_path(text: str, why: str) -> ConfigError:
    return ConfigError(
        Problem(
            found=f"the path {text!r} is not one: {why}",
            fix="Write order.total, items[0], ['a.b'] or a JSONPath that begins with `$`.",
        )
    )
