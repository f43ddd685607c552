"""JSON as RFC 8259 has it: strict reading, typed equality, compact text.

One reader serves dataset lines, outputs and expected values, so that a value is the
same value wherever it is met.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Literal, NoReturn

__all__ = [
    "JsonTextError",
    "PartReader",
    "json_equal",
    "json_text",
    "kind_name",
    "kind_phrase",
    "parse_json",
]

# The white space of RFC 8259, section 2; a BOM, no-break spaces and others are not it.
SPACE: Final = " \t\n\r"


class JsonTextError(ValueError):
    """A text is not JSON.

    Attributes:
        message: what is wrong, as a phrase.
        line, column: where, both from 1.
        position: where, in characters from 0.
    """

    def __init__(self, message: str, text: str = "", position: int = 0) -> None:
        self.message = message
        self.position = position
        self.line = text.count("\n", 0, position) + 1
        self.column = position - text.rfind("\n", 0, position)
        super().__init__(f"{message} at line {self.line}, column {self.column}")


class _RepeatedKey(Exception):
    """An object holds a key twice."""


def parse_json(text: str, duplicates: Literal["refuse", "last"] = "last") -> Any:
    """Return the value of a JSON text.

    Args:
        text: one JSON value with white space around it at most; a leading BOM is not
            white space (RFC 8259, section 8.1) and refused.
        duplicates: what a key that stands twice in an object is: an error, or the last
            one counts.

    Raises:
        JsonTextError: the text is not RFC 8259: NaN, Infinity, trailing commas, comments,
            single quotes, anything before or after the value; or it is nested too deep,
            or holds an integer too long, to be read.
    """
    decoder = _REFUSING if duplicates == "refuse" else _LENIENT
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise JsonTextError(_phrase(error), text, error.pos) from None
    except RecursionError:
        raise JsonTextError("nested too deep to read", text, 0) from None
    except _RepeatedKey as error:
        key = error.args[0]
        raise JsonTextError(
            f"the key {key!r} stands twice in one object", text, _second_place(text, key)
        ) from None
    except JsonTextError as error:
        position = max(text.find(error.message.split()[0]), 0)
        raise JsonTextError(error.message, text, position) from None
    except ValueError as error:
        # int() refuses integers of more digits than the interpreter's limit.
        raise JsonTextError(f"a number cannot be read: {error}", text, 0) from None


def _phrase(error: json.JSONDecodeError) -> str:
    if error.msg == "Expecting value" and error.pos >= len(error.doc.rstrip(SPACE)):
        return "the text ends before the value does" if error.doc.strip(SPACE) else "empty text"
    return error.msg[:1].lower() + error.msg[1:]


def _second_place(text: str, key: str) -> int:
    """Return where a key stands for the second time, as near as a search can tell."""
    quoted = json.dumps(key, ensure_ascii=False)
    first = text.find(quoted)
    return max(text.find(quoted, first + 1), 0)


def _refuse_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not a JSON value")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKey(key)
            seen.add(key)
    return made


_LENIENT: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_REFUSING: Final = json.JSONDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats
)


# What a reading in vain costs, in characters, and one that ends for its depth.
VAIN_COST: Final = 100
DEEP_COST: Final = 10_000
# Characters that may be read in all, per character of the text, in search of JSON in it.
READINGS: Final = 20


class PartReader:
    """Reads JSON values that stand inside a longer text, in time proportional to its length.

    Text made of opening brackets would have to be read again from each of them; what was
    read in vain is counted, and past the budget nothing more is read.
    """

    def __init__(self, text: str) -> None:
        self._text = _Unlocated(text)
        self._left = 100_000 + READINGS * len(text)

    def read(self, start: int) -> tuple[Any, int] | None:
        """Return the value that begins at a position and where it ends, or None."""
        if self._left <= 0:
            return None
        try:
            return _LENIENT.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            self._left -= VAIN_COST + error.pos - start
        except (ValueError, RecursionError):
            self._left -= DEEP_COST
        return None

    @property
    def is_spent(self) -> bool:
        """Whether nothing more will be read."""
        return self._left <= 0


class _Unlocated(str):
    """A text whose lines are not counted: each error of json would count them from the start."""

    __slots__ = ()

    def count(self, *_args: Any) -> int:
        return 0

    def rfind(self, *_args: Any) -> int:
        return -1


def json_equal(first: Any, second: Any) -> bool:
    """Tell whether two JSON values are equal, typed.

    `true` is not 1 and "5" is not 5; 5 equals 5.0 and -0 equals 0; the order of keys is
    free, that of lists counts; NaN equals nothing.
    """
    pending = [(first, second)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, Mapping):
            if not isinstance(other, Mapping) or one.keys() != other.keys():
                return False
            pending += [(one[key], other[key]) for key in one]
        elif isinstance(one, list | tuple):
            if not isinstance(other, list | tuple) or len(one) != len(other):
                return False
            pending += zip(one, other, strict=True)
        elif isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
        elif isinstance(one, int | float):
            if not isinstance(other, int | float) or one != other:
                return False
        elif type(one) is not type(other) or one != other:
            return False
    return True


def json_text(value: Any) -> str:
    """Return the compact JSON text of a value; text stays as it is.

    A value that is no JSON (a date, an object of the host's) is shown by `str`; numbers
    that JSON cannot write are shown as Python writes them.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (RecursionError, ValueError):
        return f"<{kind_name(value)} nested too deep to show>"


def kind_phrase(value: Any) -> str:
    """Return the kind of a JSON value as it stands in a sentence: "a list", "text"."""
    kind = kind_name(value)
    return ARTICLES.get(kind, kind)


ARTICLES: Final = {"number": "a number", "list": "a list", "object": "an object"}


def kind_name(value: Any) -> str:
    """Return the word for the kind of a JSON value, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, int | float):
        finite = isinstance(value, int) or math.isfinite(value)
        return "number" if finite else "not a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "list"
    return type(value).__name__
