"""What a metric entry may say: options as data, and the strict reading of their values.

An option is read once, when the suite is loaded. Nothing is coerced in silence: a
number written as text, a bool written as text or a bound that cannot hold is told
with what to write instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem

__all__ = ["COMMON_OPTIONS", "Option", "Settings", "near_names", "read_settings", "show_value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a check.

    Attributes:
        name: the key in a metric entry.
        kind: how the value is read: `text`, `number` (finite), `count` (whole, not
            negative), `bool`, `list`, `texts` (a list of texts, or one text),
            `choice`, `pattern`, `path`, `schema` (a mapping or true/false), `mapping`,
            `operand` (text, number, true/false or mapping; no list), `any`.
        summary: one line for the reference.
        default: the value when the option is not written; None is "not set".
        required: whether leaving it out is a mistake.
        choices: the words of a `choice`.
    """

    name: str
    kind: str
    summary: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()


TARGETS: Final = (
    "output",
    "input",
    "json_path",
    "messages",
    "transcript",
    "tool_calls",
    "context",
    "metadata",
)

COMMON_OPTIONS: Final[tuple[Option, ...]] = (
    Option(
        name="target",
        kind="choice",
        choices=TARGETS,
        default="output",
        summary="what is read; json_path needs target_path",
    ),
    Option(
        name="target_path",
        kind="path",
        summary="a place inside the output read as JSON; implies target: json_path",
    ),
    Option(
        name="compare_to",
        kind="choice",
        choices=("expected",),
        summary="take the operand from the row's expected value instead of the suite",
    ),
    Option(
        name="expected_path",
        kind="path",
        summary="a place inside the expected value read as JSON; implies compare_to: expected",
    ),
    Option(
        name="extract",
        kind="pattern",
        summary="a regular expression applied to the target first: group 1, or the whole match; "
        "the last match wins",
    ),
    Option(
        name="case_sensitive",
        kind="bool",
        default=False,
        summary="compare as written; otherwise both sides are NFC-normalised and case-folded",
    ),
    Option(
        name="strip",
        kind="bool",
        default=False,
        summary="strip white space of both sides first",
    ),
    Option(
        name="negate",
        kind="bool",
        default=False,
        summary="flip pass and fail; a missing verdict stays missing",
    ),
    Option(
        name="threshold",
        kind="number",
        summary="the share from which a row passes, compared after rounding to 4 places",
    ),
)


@dataclass(frozen=True, slots=True)
class Settings(Mapping[str, Any]):
    """The options of one metric entry: validated, defaults filled in.

    Attributes:
        check: the name of the check.
        chosen: option name -> value, for every option of the check.
        given: the options that were written down.
        base_dir: the directory of the suite file, against which paths are read.
    """

    check: str
    chosen: Mapping[str, Any]
    given: frozenset[str]
    base_dir: Path | None = None

    def __getitem__(self, name: str) -> Any:
        return self.chosen[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)

    def problem(self, name: str, found: str, expected: str = "", fix: str = "") -> ConfigError:
        """Return the error that says what is wrong with one option, to be raised."""
        return ConfigError(
            Problem(found=found, expected=expected, fix=fix, where=name, keys=(name,))
        )


class OptionError(Exception):
    """A value that its option cannot take: (found, expected, fix)."""

    def __init__(self, found: str, expected: str, fix: str = "") -> None:
        super().__init__(found)
        self.found, self.expected, self.fix = found, expected, fix


def near_names(name: Any, known: Iterable[str]) -> str:
    """Return the sentence that offers the names nearest to a misspelt one, or ''."""
    near = get_close_matches(str(name).lower(), list(known), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(repr(one) for one in near)}?" if near else ""


def show_value(value: Any, limit: int = 60) -> str:
    """Return a short printable form of any value for a message."""
    try:
        shown = repr(value)
    except RecursionError:
        shown = f"a {type(value).__name__} nested too deep to show"
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def read_settings(
    check: str,
    options: tuple[Option, ...],
    entry: Mapping[str, Any],
    base_dir: Path | None,
) -> tuple[Settings, list[Problem]]:
    """Validate the options of one entry.

    Args:
        check: the name of the check, for messages.
        options: every option the check takes, the common ones included.
        entry: option name -> value as written, without `check`.
        base_dir: the directory of the suite file, or None.

    Returns:
        The settings (an option with a problem keeps its default) and all problems.
    """
    known = {option.name: option for option in options}
    problems = [unknown_option(check, name, known) for name in entry if name not in known]
    values: dict[str, Any] = {}
    for option in options:
        values[option.name] = option.default
        if option.name in entry:
            try:
                values[option.name] = READERS[option.kind](option, entry[option.name])
            except OptionError as error:
                problems.append(option_problem(option.name, error))
        elif option.required:
            problems.append(
                Problem(
                    found=f"{check} lacks {option.name!r}",
                    expected=option.summary,
                    where=option.name,
                    keys=(option.name,),
                )
            )
    return Settings(check, values, frozenset(entry) & set(known), base_dir), problems


def unknown_option(check: str, name: Any, known: Mapping[str, Option]) -> Problem:
    """Return the problem of a key that is no option of the check."""
    return Problem(
        found=f"{name!r} is not an option of {check}",
        expected="one of " + ", ".join(sorted(known)),
        fix=near_names(name, known),
        where=str(name),
        keys=(name,),
    )


def option_problem(name: str, error: OptionError) -> Problem:
    """Return a misread option as a problem."""
    return Problem(
        found=error.found, expected=error.expected, fix=error.fix, where=name, keys=(name,)
    )


def read_text(_option: Option, raw: Any) -> str:
    if not isinstance(raw, str):
        raise OptionError(show_value(raw), "text", "Put it in quotes if text is meant.")
    return raw


def read_filled_text(_option: Option, raw: Any) -> str:
    if not isinstance(raw, str):
        raise OptionError(show_value(raw), "text", "Put it in quotes if text is meant.")
    if not raw.strip():
        raise OptionError("an empty text", "a text that says something")
    return raw


def read_pattern(_option: Option, raw: Any) -> str:
    if not isinstance(raw, str):
        raise OptionError(show_value(raw), "a regular expression as text")
    if not raw:
        raise OptionError("an empty pattern", "a pattern", "An empty one matches everything.")
    return raw


def read_number(_option: Option, raw: Any) -> int | float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        fix = "Write it without quotes." if isinstance(raw, str) else ""
        raise OptionError(show_value(raw), "a number", fix)
    if not math.isfinite(raw):
        raise OptionError(show_value(raw), "a finite number", "No comparison with it can hold.")
    return raw


def read_count(option: Option, raw: Any) -> int:
    number = read_number(option, raw)
    if number != int(number):
        raise OptionError(show_value(raw), "a whole number")
    if number < 0:
        raise OptionError(show_value(raw), "a number of 0 or more", "A count is never negative.")
    return int(number)


def read_amount(option: Option, raw: Any) -> int | float:
    number = read_number(option, raw)
    if number < 0:
        raise OptionError(show_value(raw), "a number of 0 or more")
    return number


def read_bool(_option: Option, raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise OptionError(show_value(raw), "true or false", "Write it without quotes.")
    return raw


def read_list(_option: Option, raw: Any) -> tuple[Any, ...]:
    if not isinstance(raw, list | tuple):
        raise OptionError(show_value(raw), "a list", "Write it as [a, b].")
    if not raw:
        raise OptionError("an empty list", "a list of one or more")
    return tuple(raw)


def read_texts(_option: Option, raw: Any) -> tuple[str, ...]:
    texts = (raw,) if isinstance(raw, str) else raw
    if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
        raise OptionError(show_value(raw), "a list of texts", "Write it as [a, b].")
    if not texts or not all(one.strip() for one in texts):
        raise OptionError(show_value(raw), "a list of one or more texts, none of them empty")
    return tuple(texts)


def read_choice(option: Option, raw: Any) -> str:
    if not isinstance(raw, str) or raw not in option.choices:
        raise OptionError(
            show_value(raw), "one of " + ", ".join(option.choices), near_names(raw, option.choices)
        )
    return raw


def read_schema(_option: Option, raw: Any) -> Any:
    if not isinstance(raw, bool | Mapping):
        raise OptionError(show_value(raw), "a schema: a mapping, or true or false")
    return raw


def read_mapping(_option: Option, raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise OptionError(show_value(raw), "a mapping")
    return raw


def read_operand(option: Option, raw: Any) -> Any:
    if isinstance(raw, list | tuple):
        raise OptionError(
            show_value(raw),
            "one value",
            "Only contains_any, contains_all, contains_none and list_overlap take a list.",
        )
    return read_any(option, raw)


def read_any(_option: Option, raw: Any) -> Any:
    if raw is None:
        raise OptionError("no value", "a value", "Write it, or drop the key.")
    if isinstance(raw, float) and not math.isfinite(raw):
        raise OptionError(show_value(raw), "a value JSON can hold", "Put it in quotes if text.")
    return raw


def read_nullable(option: Option, raw: Any) -> Any:
    return None if raw is None else read_any(option, raw)


READERS: Final[Mapping[str, Callable[[Option, Any], Any]]] = {
    "text": read_text,
    "filled_text": read_filled_text,
    "pattern": read_pattern,
    "path": read_filled_text,
    "file": read_filled_text,
    "number": read_number,
    "amount": read_amount,
    "count": read_count,
    "bool": read_bool,
    "list": read_list,
    "texts": read_texts,
    "choice": read_choice,
    "schema": read_schema,
    "mapping": read_mapping,
    "operand": read_operand,
    "any": read_any,
    "nullable": read_nullable,
}
