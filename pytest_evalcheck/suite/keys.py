"""The keys of a suite file as data: what the loader validates with and the JSON Schema is made of.

A kind of value is three things in one place: the words for a message, the test,
and the JSON Schema fragment. The fragment never refuses what the test accepts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_evalcheck.errors import Problem

__all__ = [
    "DATASET_KEYS",
    "GATE_KEYS",
    "KINDS",
    "METRIC_KEYS",
    "SUITE_KEYS",
    "Key",
    "Kind",
    "check_keys",
    "near",
    "show",
    "texts",
]

# Markers with which pytest itself decides what runs: a tag of that name would skip or
# multiply items without a word.
MARKERS_OF_PYTEST: Final = (
    "filterwarnings",
    "metric",
    "parametrize",
    "skip",
    "skipif",
    "usefixtures",
    "xfail",
)
WORDS_OF_M: Final = ("and", "or", "not")  # operators of pytest's -m expressions
TAG_PATTERN: Final = r"^[^\W_][\w.+:-]*$"
NAME_PATTERN: Final = r"^(?!\s)(?!.*\s$)(?!.*::)[^\[\]\x00-\x1f\x7f]{1,200}$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of value.

    Attributes:
        expected: the words for a message.
        fits: whether a value is of this kind.
        schema: the JSON Schema fragment.
    """

    expected: str
    fits: Callable[[Any], bool]
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a mapping in a suite file.

    Attributes:
        name: the key.
        kind: a key of `KINDS`.
        summary: one line for the reference and for editors.
        choices: the words of a `choice`.
    """

    name: str
    kind: str
    summary: str
    choices: tuple[str, ...] = ()


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | bool) or is_number(value)


def is_tag(value: Any) -> bool:
    return (
        isinstance(value, str)
        and re.fullmatch(TAG_PATTERN, value) is not None
        and value not in MARKERS_OF_PYTEST
        and value not in WORDS_OF_M
    )


def is_tags(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(is_tag(one) for one in value)
    return is_tag(value)


def is_name(value: Any) -> bool:
    # Half of a surrogate pair can be written in JSON, and no file or channel can carry it.
    return (
        isinstance(value, str)
        and re.fullmatch(NAME_PATTERN, value) is not None
        and re.search("[\ud800-\udfff]", value) is None
    )


def is_selector(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(key, str) and key and is_allowed(one) for key, one in value.items())
    )


def is_allowed(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(is_scalar(one) for one in value)
    return is_scalar(value)


def is_range(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(is_number(bound) for bound in value)
        and value[0] < value[1]
    )


def is_columns(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(is_text(key) and is_text(column) for key, column in value.items())
    )


def is_character(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1


def is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


_TEXT: Final = {"type": "string", "minLength": 1}
_SCALAR: Final = {"type": ["string", "number", "boolean", "null"]}
_TAG: Final = {
    "type": "string",
    "pattern": TAG_PATTERN,
    "not": {"enum": [*MARKERS_OF_PYTEST, *WORDS_OF_M]},
}

KINDS: Final[Mapping[str, Kind]] = {
    "text": Kind(expected="a text that says something", fits=is_text, schema=_TEXT),
    "name": Kind(
        expected="a name of up to 200 characters without '[', ']', '::', line breaks or "
        "outer spaces",
        fits=is_name,
        schema={"type": "string", "minLength": 1, "maxLength": 200},
    ),
    "number": Kind(expected="a finite number", fits=is_number, schema={"type": "number"}),
    "count": Kind(
        expected="a whole number of 0 or more",
        fits=lambda value: type(value) is int and value >= 0,
        schema={"type": "integer", "minimum": 0},
    ),
    "bool": Kind(
        expected="true or false",
        fits=lambda value: isinstance(value, bool),
        schema={"type": "boolean"},
    ),
    "list": Kind(
        expected="a list of one or more",
        fits=lambda value: isinstance(value, list) and bool(value),
        schema={"type": "array", "minItems": 1},
    ),
    "mapping": Kind(expected="a mapping", fits=is_mapping, schema={"type": "object"}),
    "tags": Kind(
        expected="a tag or a list of tags: letters, digits and . + : - _, beginning with a "
        "letter or digit, none of them a marker of pytest's own",
        fits=is_tags,
        schema={"anyOf": [_TAG, {"type": "array", "items": _TAG}]},
    ),
    "selector": Kind(
        expected="a mapping of metadata keys (or tag) to a value or a list of values; null is "
        "a row without the key",
        fits=is_selector,
        schema={
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [_SCALAR, {"type": "array", "minItems": 1, "items": _SCALAR}]
            },
        },
    ),
    "range": Kind(
        expected="[lowest, highest]",
        fits=is_range,
        schema={"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}},
    ),
    "columns": Kind(
        expected="a mapping of fields to the names of columns",
        fits=is_columns,
        schema={"type": "object", "minProperties": 1, "additionalProperties": _TEXT},
    ),
    "character": Kind(
        expected="one character",
        fits=is_character,
        schema={"type": "string", "minLength": 1, "maxLength": 1},
    ),
    "any": Kind(expected="a value", fits=lambda _value: True, schema={}),
}

SUITE_KEYS: Final[tuple[Key, ...]] = (
    Key(name="datasets", kind="any", summary="paths or patterns of dataset files, or mappings"),
    Key(name="metrics", kind="list", summary="what every row is scored by"),
    Key(name="rows", kind="list", summary="rows written here, in a self-contained *.eval.yaml"),
    Key(name="tags", kind="tags", summary="become markers of every item of the suite"),
    Key(name="title", kind="text", summary="what a person calls the suite"),
    Key(name="description", kind="text", summary="what the suite is for"),
    Key(name="$schema", kind="text", summary="for editors; not read"),
)

DATASET_KEYS: Final[tuple[Key, ...]] = (
    Key(name="path", kind="text", summary="a file or pattern, relative to the suite file"),
    Key(name="format", kind="text", summary="how the file is read, where its name does not say"),
    Key(name="tags", kind="tags", summary="become markers of every item of the dataset"),
    Key(name="columns", kind="columns", summary="field -> the column that holds it"),
    Key(name="encoding", kind="text", summary="the text encoding, where it is not UTF-8"),
    Key(name="delimiter", kind="character", summary="what separates the cells of a CSV file"),
    Key(name="quotechar", kind="character", summary="what quotes the cells of a CSV file"),
    Key(name="skip_lines", kind="count", summary="lines before the header that are no data"),
    Key(name="expand", kind="text", summary="depths makes a row of each user message of a chat"),
    Key(name="max_tools", kind="count", summary="the most tools of an mcp_tools file; 200"),
    Key(name="max_bytes", kind="count", summary="the most bytes of an mcp_tools file; 1048576"),
    Key(name="title", kind="text", summary="what a person calls the data"),
    Key(name="description", kind="text", summary="where the data comes from"),
)

METRIC_KEYS: Final[tuple[Key, ...]] = (
    Key(name="name", kind="name", summary="unique within the suite; the last part of an item's id"),
    Key(name="check", kind="any", summary="a deterministic check, with or without its version"),
    Key(
        name="evaluator",
        kind="text",
        summary="a function of yours: file.py:function or package.module:function",
    ),
    Key(name="params", kind="mapping", summary="handed to the evaluator as `params`"),
    Key(name="gate", kind="any", summary="each, off, or a rule on the whole metric"),
    Key(name="threshold", kind="number", summary="the value from which a row passes"),
    Key(name="score_range", kind="range", summary="lowest and highest value of an evaluator"),
    Key(name="tags", kind="tags", summary="become markers of the metric's items"),
    Key(
        name="applies_to",
        kind="selector",
        summary="the metadata (or tag) a row must have for the metric to apply",
    ),
    Key(name="title", kind="text", summary="what a person calls the metric"),
    Key(name="description", kind="text", summary="what the metric is for"),
)

GATE_KEYS: Final[tuple[Key, ...]] = (
    Key(name="pass_rate", kind="number", summary="least share of scored rows that pass"),
    Key(name="mean", kind="number", summary="least mean of the scored values"),
    Key(name="coverage", kind="number", summary="least share of rows that were scored"),
    Key(
        name="confidence",
        kind="number",
        summary="level of the interval whose bound must clear the rule",
    ),
)


def near(name: Any, known: Iterable[str]) -> str:
    """Return the sentence that offers the names nearest to a misspelt one, or ''."""
    from difflib import get_close_matches

    matches = get_close_matches(str(name).lower(), list(known), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(repr(one) for one in matches)}?" if matches else ""


def show(value: Any, limit: int = 60) -> str:
    """Return a short printable form of a value for a message."""
    try:
        shown = "null" if value is None else repr(value)
    except RecursionError:
        shown = f"a {type(value).__name__} nested too deep to show"
    shown = re.sub(r" at 0x[0-9A-Fa-f]+(?=>)", "", shown)  # differs between processes
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def texts(value: Any) -> tuple[str, ...]:
    """Return one text or a list of texts as a tuple without repeats; None is empty."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))


def check_keys(
    entry: Mapping[Any, Any], keys: Iterable[Key], *, of: str, unknown: bool = True
) -> list[Problem]:
    """Return every problem of a mapping's keys and of the kinds of their values.

    Args:
        entry: the mapping as written.
        keys: the keys it may have.
        of: what the mapping is, for a message ("a suite").
        unknown: whether a key outside of `keys` is a problem.
    """
    known = {key.name: key for key in keys}
    problems = []
    for name, value in entry.items():
        key = known.get(name) if isinstance(name, str) else None
        if key is None:
            if unknown:
                problems.append(unknown_key(name, known, of))
        elif not KINDS[key.kind].fits(value):
            problems.append(
                Problem(
                    found=show(value),
                    expected=KINDS[key.kind].expected,
                    where=name,
                    keys=(name,),
                )
            )
    return problems


def unknown_key(name: Any, known: Iterable[str], of: str) -> Problem:
    """Return the problem of a key that is not known, with the names nearest to it."""
    names = list(known)
    return Problem(
        found=f"{show(name)} is not a key of {of}",
        expected="one of " + ", ".join(names),
        fix=near(name, names),
        keys=(name,),
    )
