"""CSV and TSV: a header line, then one row a record, streamed.

Rules: cells are text, an empty cell of a known field is no value, blank lines and
records of blank cells only (a spreadsheet writes them) are not rows, a record with more
or fewer cells than the header is an error. Names in the header lose surrounding blanks.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from pytest_evalcheck.datasets.files import MAX_LINE_CHARACTERS, nul_problem, open_text
from pytest_evalcheck.datasets.options import DatasetOptions
from pytest_evalcheck.errors import DatasetError, Problem

__all__ = ["Dialect", "detect_dialect", "read_csv"]

_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLE_CHARACTERS: Final = 1 << 16
_SAMPLE_RECORDS: Final = 50
# A spreadsheet's own hint in front of the header: `sep=;`.
_SEP_LINE: Final = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_SHOWN_CELLS: Final = 60


@dataclass(frozen=True, slots=True)
class Dialect:
    """One character between cells and one around them."""

    delimiter: str
    quotechar: str


def read_csv(
    path: Path, options: DatasetOptions, shown: str, *, tabs: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield (line, record) of each row, a mapping from column to cell text.

    A record that does not fit the header yields a Problem. Memory holds one record
    at a time and a sample of 64 Ki characters to detect the dialect.

    Raises:
        DatasetError: the file is empty, has no header or no end to a quoted cell.
    """
    with open_text(path, options, shown) as stream:
        for _ in range(options.skip_lines):
            stream.readline(MAX_LINE_CHARACTERS)
        table = _Table(stream, options, shown, tabs=tabs)
        yield from table.rows()


class _Table:
    def __init__(self, stream: TextIO, options: DatasetOptions, shown: str, *, tabs: bool) -> None:
        self.shown = shown
        self.line = options.skip_lines
        self.text = ""
        self.stream = stream
        self.sample, more = _take_sample(stream)
        sep = self._take_sep_line()
        self.dialect = detect_dialect(
            self.sample,
            delimiter=options.delimiter or sep or ("\t" if tabs else ""),
            quotechar=options.quotechar,
            more=more,
        )

    def _take_sep_line(self) -> str:
        match = _SEP_LINE.fullmatch(self.sample[0]) if self.sample else None
        if match is None:
            return ""
        self.sample = self.sample[1:]
        self.line += 1
        return match[1]

    def rows(self) -> Iterator[tuple[int, Any]]:
        records = self._records()
        header_line, cells = next(records, (0, []))
        if not cells:
            raise DatasetError(
                Problem(found="the file is empty", expected="a header line", path=self.shown)
            )
        header = self._header(cells, header_line)
        for line, record in records:
            if len(record) != len(header):
                yield line, self._ragged(record, header, line)
            elif any(record):
                yield line, self._mapping(record, header, line)

    def _header(self, cells: Sequence[str], line: int) -> list[str]:
        names = [cell.strip() for cell in cells]
        twice = sorted({name for name in names if name and names.count(name) > 1})
        if twice:
            raise DatasetError(
                Problem(
                    found=f"column {', '.join(map(repr, twice))} stands twice in the header",
                    expected="each column once",
                    path=self.shown,
                    line=line,
                )
            )
        return names

    def _mapping(self, record: Sequence[str], header: Sequence[str], line: int) -> Any:
        mapping = dict(zip(header, record, strict=True))
        if "" not in mapping:
            return mapping
        # A header that ends in a delimiter has nameless columns; they must be blank.
        for number, (name, cell) in enumerate(zip(header, record, strict=True), start=1):
            if not name and cell.strip():
                return Problem(
                    found=f"column {number} has the cell {_cut(cell)!r} but no name",
                    expected="a name in the header",
                    path=self.shown,
                    line=line,
                )
        del mapping[""]
        return mapping

    def _ragged(self, record: Sequence[str], header: Sequence[str], line: int) -> Problem:
        if len(record) > len(header):
            fix = (
                f"Put a cell that holds {_name(self.dialect.delimiter)} into quotes, "
                "or name the right delimiter."
            )
            what = f"the first beyond is {_cut(record[len(header)])!r}"
        else:
            fix = "Fill the row up with empty cells, or close the quotes of the one before."
            what = f"the last is {_cut(record[-1])!r}" if record else "none"
        return Problem(
            found=f"{len(record)} cells ({what})",
            expected=f"{len(header)} as in the header ({_cut(', '.join(header))})",
            fix=fix,
            path=self.shown,
            line=line,
        )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (first physical line, cells) of each record that is not a blank line."""
        reader = csv.reader(
            self._lines(),
            delimiter=self.dialect.delimiter,
            quotechar=self.dialect.quotechar,
            strict=True,
        )
        while True:
            start = self.line + 1
            try:
                with _wide_cells():
                    record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise DatasetError(self._broken(error, start)) from None
            if record and record != [""]:
                yield start, record

    def _lines(self) -> Iterator[str]:
        for text in self._all_lines():
            self.line += 1
            self.text = text
            if "\0" in text:
                raise DatasetError(nul_problem(self.shown, self.line))
            if len(text) > MAX_LINE_CHARACTERS:
                raise DatasetError(_too_long(self.shown, self.line))
            yield text

    def _all_lines(self) -> Iterator[str]:
        yield from self.sample
        while text := self.stream.readline(MAX_LINE_CHARACTERS + 1):
            yield text

    def _broken(self, error: csv.Error, start: int) -> Problem:
        said = str(error)
        if "unexpected end of data" in said:
            return Problem(
                found=f"a cell opened with {self.dialect.quotechar} is never closed",
                fix="Close it, or name the right quotechar.",
                path=self.shown,
                line=start,
            )
        column = _fault_column(self.text, self.dialect) if start == self.line else None
        place = f" in column {column}" if column else ""
        return Problem(
            found=f"text{place} after the closing {self.dialect.quotechar} of a cell",
            expected=f"{_name(self.dialect.delimiter)} or the end of the line",
            fix=f"Write a quote inside a quoted cell as {self.dialect.quotechar * 2}.",
            path=self.shown,
            line=self.line,
        )


def detect_dialect(
    lines: Sequence[str], *, delimiter: str = "", quotechar: str = "", more: bool = False
) -> Dialect:
    """Return the dialect of the first part of a table.

    Of the delimiters `,` `;` tab and `|` that occur in the header outside quotes, the one
    under which most of the first records have as many cells as the header is taken, then
    the one with most columns. `'` quotes cells only where `"` leaves records that do not
    fit and `'` does not. Without any delimiter the table has one column.

    Args:
        lines: from the header on, with their ends; at most 50 records are looked at.
        delimiter: what is given already, or "".
        quotechar: likewise.
        more: lines follow, so the last record may be cut and does not count.
    """
    lines, was_cut = _cut_lines(lines)
    best: tuple[float, int] | None = None
    chosen = Dialect(delimiter or ",", quotechar or '"')
    for quote in (quotechar,) if quotechar else _possible_quotes(lines):
        for mark in (delimiter,) if delimiter else _DELIMITERS:
            if mark == quote:
                continue
            records = _sample_records(lines, Dialect(mark, quote), cut=more or was_cut)
            if not records or (len(records[0]) < 2 and not delimiter):
                continue
            fitting = sum(len(record) == len(records[0]) for record in records)
            rank = (fitting / len(records), len(records[0]))
            # '"' is tried first: "'" must leave fewer records out, not only cut finer.
            better = best is None or (
                rank > best if quote == chosen.quotechar else rank[0] > best[0]
            )
            if better:
                best, chosen = rank, Dialect(mark, quote)
    return chosen


def _fault_column(text: str, dialect: Dialect) -> int | None:
    """Return the 1-based column of the text that follows a closed quote, in one line."""
    quote = re.escape(dialect.quotechar)
    quoted = re.compile(f"{quote}(?:[^{quote}]|{quote}{quote})*+{quote}")
    position = 0
    while position < len(text):
        match = quoted.match(text, position)
        if match is None:
            position = text.find(dialect.delimiter, position) + 1
            if not position:
                return None
        elif text[match.end() : match.end() + 1] == dialect.delimiter:
            position = match.end() + 1
        else:
            return match.end() + 1
    return None


def _possible_quotes(lines: Sequence[str]) -> tuple[str, ...]:
    """Return `"`, and `'` too where cells begin with it and none begins with `"`."""
    begins = {quote for line in lines for quote in re.findall(r"""(?:^|[,;|\t])[ ]?(["'])""", line)}
    return ('"', "'") if begins == {"'"} else ('"',)


def _sample_records(lines: Sequence[str], dialect: Dialect, *, cut: bool) -> list[list[str]]:
    reader = csv.reader(
        lines, delimiter=dialect.delimiter, quotechar=dialect.quotechar, strict=True
    )
    records: list[list[str]] = []
    try:
        with _wide_cells():
            for record in reader:
                if record and record != [""]:
                    records.append(record)
                if len(records) > _SAMPLE_RECORDS:
                    return records
    except csv.Error:
        # What was read so far counts; a dialect that breaks off loses by the rest.
        return records if cut else [*records, []] if records else []
    return records[:-1] if cut and len(records) > 1 else records


def _take_sample(stream: TextIO) -> tuple[list[str], bool]:
    """Return whole first lines of 64 Ki characters or more, and whether more may follow."""
    lines: list[str] = []
    taken = 0
    while taken < _SAMPLE_CHARACTERS:
        text = stream.readline(MAX_LINE_CHARACTERS + 1)
        if not text:
            return lines, False
        lines.append(text)
        taken += len(text)
    return lines, True


def _cut_lines(lines: Sequence[str]) -> tuple[list[str], bool]:
    """Return the lines up to the sample's size, and whether something was left out."""
    kept: list[str] = []
    left = _SAMPLE_CHARACTERS
    for text in lines:
        kept.append(text[:left])
        left -= len(text)
        if left < 0:
            return kept, True
    return kept, False


@contextmanager
def _wide_cells() -> Iterator[None]:
    """Lift the csv module's limit of 131072 characters a cell, which is process-wide."""
    before = csv.field_size_limit(MAX_LINE_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _too_long(shown: str, line: int) -> Problem:
    return Problem(
        found=f"a line of more than {MAX_LINE_CHARACTERS} characters", path=shown, line=line
    )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CELLS else text[: _SHOWN_CELLS - 1] + "…"


def _name(character: str) -> str:
    return "a tab" if character == "\t" else f"'{character}'"
