"""JSON objects inside a reply, as models really write them.

Read are, beside JSON: comments, trailing commas, single and curly quotes, bare keys,
line breaks and unescaped quotes inside a text, Python's and JavaScript's literals. An
object keeps every pair, so that a key that stands twice is seen.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["FoundObjects", "Pairs", "find_objects", "to_pairs"]

MAX_DEPTH: Final = 40
MAX_ATTEMPTS: Final = 50

# `{` opens an object when a key, or its end, follows: not in `{a}`, `\frac{1}{2}` or `f{[`.
SPACE: Final = r"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|\#[^\n]*)*"
KEY: Final = r"(?:[\"'“][^\"'“”\n]{1,80}[\"'”]|[A-Za-z_][\w-]{0,60})"
OPENS_OBJECT: Final = re.compile(rf"\{{{SPACE}(?:[\"'“‘]|[A-Za-z_][\w-]{{0,60}}\s*:|\}}|$)")
SPACES: Final = re.compile(SPACE)
AFTER_KEY: Final = re.compile(rf"{SPACE}:")
AFTER_VALUE: Final = re.compile(
    rf"{SPACE}(?:\}}|$|,{SPACE}(?:\}}|$|{KEY}\s*:))|[ \t]*\n\s*[\"'][^\"'\n]{{1,80}}[\"']\s*:"
)
AFTER_ITEM: Final = re.compile(rf"{SPACE}(?:\]|,|$)")
BARE_KEY: Final = re.compile(r"[A-Za-z_][\w-]{0,60}")
BARE_CHARACTER: Final = r"(?:(?!//|/\*|\#)[^\s,{}\[\]\"':])"
BARE_VALUE: Final = re.compile(rf"{BARE_CHARACTER}+(?:[ \t]+{BARE_CHARACTER}+)*")
NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
QUOTES: Final[Mapping[str, str]] = {'"': '"', "'": "'", "“": '”"', "‘": "’'"}
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"}
LITERALS: Final[Mapping[str, Any]] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "undefined": None,
    "nan": math.nan,
    "infinity": math.inf,
    "-infinity": -math.inf,
}


class Pairs(list[tuple[str, Any]]):
    """The pairs of an object in their order, keys that stand twice included."""


class Broken(Exception):
    """An object that cannot be read."""


class CutOff(Exception):
    """The text ends before an object does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObjects:
    """The objects of a text.

    Attributes:
        objects: those that were read, with where each begins and ends.
        broken: where objects begin that could not be read.
        cut_off: the text ends inside an object.
    """

    objects: tuple[tuple[Pairs, int, int], ...] = ()
    broken: tuple[int, ...] = ()
    cut_off: bool = False


def find_objects(text: str) -> FoundObjects:
    """Return the outermost objects that stand in a text, in time linear in its length."""
    objects: list[tuple[Pairs, int, int]] = []
    broken: list[int] = []
    start = text.find("{")
    while start >= 0:
        if OPENS_OBJECT.match(text, start) is None:
            start = text.find("{", start + 1)
            continue
        if len(objects) + len(broken) >= MAX_ATTEMPTS:
            broken.append(start)
            break
        try:
            pairs, end = read_object(text, start)
        except CutOff:
            return FoundObjects(objects=tuple(objects), broken=tuple(broken), cut_off=True)
        except Broken:
            broken.append(start)
            start = text.find("{", start + 1)
        else:
            objects.append((pairs, start, end))
            start = text.find("{", end)
    return FoundObjects(objects=tuple(objects), broken=tuple(broken))


def read_object(text: str, start: int) -> tuple[Pairs, int]:
    """Return the object that begins at a position, and where it ends.

    Raises:
        Broken: it is none.
        CutOff: the text ends inside it.
    """
    try:
        value, end = STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = LooseReader(text, start)
        value = reader.read_object(0)
        end = reader.at
    return value, end


def to_pairs(value: Any, depth: int = 0) -> Any:
    """Return a value with its mappings as pairs; what is nested too deep is left out."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return Pairs((str(key), to_pairs(below, depth + 1)) for key, below in value.items())
    if isinstance(value, list | tuple):
        return [to_pairs(below, depth + 1) for below in value]
    return value


# Raw line breaks inside a text are let through: models write them all the time.
STRICT: Final = json.JSONDecoder(strict=False, object_pairs_hook=Pairs)


class LooseReader:
    """Reads one object at a position of a text; `at` is where reading stands."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def peek(self) -> str:
        """Return the next character that is neither space nor comment.

        Raises:
            CutOff: there is none.
        """
        match = SPACES.match(self.text, self.at)
        self.at = match.end() if match else self.at
        if self.at >= len(self.text):
            raise CutOff
        return self.text[self.at]

    def read_object(self, depth: int) -> Pairs:
        """Return the object that begins here."""
        self.at += 1
        pairs = Pairs()
        while (char := self.peek()) != "}":
            key = self.read_text(AFTER_KEY) if char in QUOTES else self.read_bare_key()
            if self.peek() != ":":
                raise Broken
            self.at += 1
            pairs.append((key, self.read_value(depth, AFTER_VALUE)))
            char = self.peek()
            if char == ",":
                self.at += 1
            elif char != "}" and not self.begins_line():
                raise Broken
        self.at += 1
        return pairs

    def begins_line(self) -> bool:
        """Tell whether a key stands on a line of its own, where a comma was forgotten."""
        before = self.text[max(0, self.at - 200) : self.at].rstrip(" \t")
        return before.endswith("\n") and self.text[self.at] in QUOTES

    def read_list(self, depth: int) -> list[Any]:
        """Return the list that begins here."""
        self.at += 1
        items = []
        while (char := self.peek()) != "]":
            items.append(self.read_value(depth, AFTER_ITEM))
            char = self.peek()
            if char == ",":
                self.at += 1
            elif char != "]":
                raise Broken
        self.at += 1
        return items

    def read_value(self, depth: int, after: re.Pattern[str]) -> Any:
        """Return the value that begins here."""
        if depth >= MAX_DEPTH:
            raise Broken
        char = self.peek()
        if char == "{":
            return self.read_object(depth + 1)
        if char == "[":
            return self.read_list(depth + 1)
        if char in QUOTES:
            return self.read_text(after)
        return self.read_bare_value()

    def read_text(self, after: re.Pattern[str]) -> str:
        """Return a quoted text; a quote ends it only where what must follow does."""
        ends = QUOTES[self.text[self.at]]
        self.at += 1
        parts: list[str] = []
        for _ in range(len(self.text)):
            if self.at >= len(self.text):
                break
            char = self.text[self.at]
            if char == "\\":
                parts.append(self.read_escape())
                continue
            self.at += 1
            if char in ends and after.match(self.text, self.at):
                return joined(parts)
            parts.append(char)
        raise CutOff

    def read_escape(self) -> str:
        """Return the character an escape stands for; one JSON does not know stays as it is."""
        char = self.text[self.at + 1 : self.at + 2]
        code = self.text[self.at + 2 : self.at + 6]
        if char == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", code):
            self.at += 6
            return chr(int(code, 16))
        self.at += 2
        return ESCAPES.get(char, char if char in "\"'" else f"\\{char}")

    def read_bare_key(self) -> str:
        """Return a key without quotes."""
        match = BARE_KEY.match(self.text, self.at)
        if match is None:
            raise Broken
        self.at = match.end()
        return match[0]

    def read_bare_value(self) -> Any:
        """Return a literal, a number, or a few bare words as text."""
        match = BARE_VALUE.match(self.text, self.at)
        if match is None or len(match[0]) > 80:
            raise Broken
        self.at = match.end()
        word = match[0]
        if word.lower() in LITERALS:
            return LITERALS[word.lower()]
        return float(word) if NUMBER.fullmatch(word) else word


def joined(parts: list[str]) -> str:
    """Return a text whose escaped surrogate pairs are characters again."""
    text = "".join(parts)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
