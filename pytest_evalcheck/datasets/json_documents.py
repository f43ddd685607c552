"""A JSON document: a list of rows, an object that holds one, or a single row.

The document is cut into its elements first and each is parsed alone, so that every
row has its physical line and one broken row does not hide the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.datasets.containers import choose_row_key
from pytest_evalcheck.datasets.files import open_text, read_text
from pytest_evalcheck.datasets.jsonl import read_jsonl
from pytest_evalcheck.datasets.options import DatasetOptions
from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.jsonvalues import JsonTextError, kind_phrase, parse_json

__all__ = ["read_json"]

# A string as a whole, or one character that opens, closes or separates.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},:]', re.DOTALL)
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_MAX_DEPTH: Final = 10_000  # far beyond what the JSON parser follows
_FIRST_LINE_CHARACTERS: Final = 1_000_000

Span = tuple[int, int]


def read_json(path: Path, options: DatasetOptions, shown: str) -> Iterator[tuple[int, Any]]:
    """Yield (line, value) of each row of a JSON document; a broken row yields a Problem.

    JSON Lines under the name `.json` are recognised and read as such.

    Raises:
        DatasetError: the document holds no rows, or it is ambiguous where.
    """
    if not options.format and _is_json_lines(path, options, shown):
        yield from read_jsonl(path, options, shown)
        return
    text = read_text(path, options, shown)
    yield from _Document(text, shown).rows()


def _is_json_lines(path: Path, options: DatasetOptions, shown: str) -> bool:
    """Tell whether the first line that is not blank is a whole object and more follows."""
    with open_text(path, options, shown) as stream:
        first = ""
        while not first:
            line = stream.readline(_FIRST_LINE_CHARACTERS)
            if not line:
                return False
            first = line.strip()
        if not (first.startswith("{") and first.endswith("}")):
            return False
        if not any(more.strip() for more in iter(lambda: stream.readline(4096), "")):
            return False
    try:
        return isinstance(parse_json(first), dict)
    except JsonTextError:
        return False


class _Document:
    """The text of a document with a line counter that only moves forward."""

    def __init__(self, text: str, shown: str) -> None:
        self.text = text
        self.shown = shown
        self._counted_to = 0
        self._line = 1

    def rows(self) -> Iterator[tuple[int, Any]]:
        start = self._skip_blank(0)
        if start == len(self.text):
            raise DatasetError(Problem(found="the file is empty", expected="rows", path=self.shown))
        opening = self.text[start]
        if opening == "[":
            yield from self._elements(start)
        elif opening == "{":
            yield from self._object_rows(start)
        else:
            self._refuse_whole("a list of rows")

    def line_at(self, position: int) -> int:
        """Return the 1-based line of a position; positions must not go backwards."""
        if position < self._counted_to:
            self._counted_to, self._line = 0, 1
        between = self.text.count("\n", self._counted_to, position)
        if not between and "\r" in self.text[self._counted_to : position]:
            between = self._lone_returns(position)
        self._line += between
        self._counted_to = position
        return self._line

    def _lone_returns(self, position: int) -> int:
        return len(re.findall(r"\r(?!\n)", self.text[self._counted_to : position]))

    def _skip_blank(self, position: int) -> int:
        match = _BLANK.match(self.text, position)
        return match.end() if match else position

    def _object_rows(self, start: int) -> Iterator[tuple[int, Any]]:
        spans: dict[str, Span] = {}
        outline: dict[str, Any] = {}
        for begin, end in self._parts(start):
            key, value_at = self._member_key(begin, end)
            if key in spans:
                raise DatasetError(self._duplicate(key, begin))
            spans[key] = (value_at, end)
            is_list = self.text[value_at : value_at + 1] == "["
            # Lists stay text until one of them is chosen; the rest is small.
            outline[key] = [] if is_list else self._member_value(value_at, end)
        row_key = choose_row_key(outline, self.shown)
        if row_key is None:
            yield self.line_at(start), self._parse(start, len(self.text), "an object")
        else:
            yield from self._elements(spans[row_key][0])

    def _member_key(self, begin: int, end: int) -> tuple[str, int]:
        match = _TOKEN.match(self.text, begin, end)
        after = self._skip_blank(match.end()) if match else begin
        if match is None or match[0][0] != '"' or self.text[after : after + 1] != ":":
            self._refuse_whole("a list of rows")
        key = self._parse(begin, match.end() if match else end, "text")
        if isinstance(key, Problem):
            raise DatasetError(key)
        return str(key), self._skip_blank(after + 1)

    def _member_value(self, begin: int, end: int) -> Any:
        value = self._parse(begin, end, "")
        if isinstance(value, Problem):
            raise DatasetError(value)
        return value

    def _duplicate(self, key: str, position: int) -> Problem:
        return Problem(
            found=f"key '{key}' stands twice in the object",
            expected="each key once",
            path=self.shown,
            line=self.line_at(position),
        )

    def _elements(self, start: int) -> Iterator[tuple[int, Any]]:
        for begin, end in self._parts(start):
            line = self.line_at(begin)
            value = self._parse(begin, end, "an object")
            if not isinstance(value, dict | Problem):
                value = Problem(
                    found=f"the row is {kind_phrase(value)}",
                    expected="an object",
                    path=self.shown,
                    line=line,
                )
            yield line, value

    def _parts(self, start: int) -> Iterator[Span]:
        """Yield the span of each element of the list or object that opens at `start`."""
        closing = "]" if self.text[start] == "[" else "}"
        depth = 0
        begin = self._skip_blank(start + 1)
        count = 0
        for match in _TOKEN.finditer(self.text, start + 1):
            token = match[0]
            if token in "[{":
                depth += 1
                if depth > _MAX_DEPTH:
                    self._refuse_whole("fewer levels")
            elif token in "]}":
                depth -= 1
                if depth < 0:
                    if begin < match.start() or count:
                        yield begin, match.start()
                    self._check_end(start, match, closing)
                    return
            elif token == "," and depth == 0:
                yield begin, match.start()
                count += 1
                begin = self._skip_blank(match.end())
        self._refuse_whole("the end of the list of rows")

    def _check_end(self, start: int, match: re.Match[str], closing: str) -> None:
        if match[0] != closing:
            self._refuse_whole(f"'{closing}'")
        is_outermost = start == self._skip_blank(0)
        if is_outermost and self._skip_blank(match.end()) != len(self.text):
            self._refuse_whole("nothing after the document")

    def _parse(self, begin: int, end: int, expected: str) -> Any:
        """Return the value of a span, or a Problem with its place in the whole file."""
        try:
            return parse_json(self.text[begin:end], duplicates="refuse")
        except JsonTextError as error:
            at = min(begin + error.position, len(self.text))
            column = at - self.text.rfind("\n", 0, at)
            return Problem(
                found=f"not JSON: {error.message} (column {column})",
                expected=expected,
                path=self.shown,
                line=self.line_at(at),
            )

    def _refuse_whole(self, expected: str) -> None:
        problem = self._parse(0, len(self.text), expected)
        if not isinstance(problem, Problem):
            problem = Problem(
                found=f"the document is {kind_phrase(problem)}", expected=expected, path=self.shown
            )
        raise DatasetError(problem)
