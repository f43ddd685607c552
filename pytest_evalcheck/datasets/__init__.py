"""Dataset files become rows: bytes, then records with their lines, then rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.datasets.files import format_of
from pytest_evalcheck.datasets.options import DATASET_SUFFIXES, FORMATS, DatasetOptions
from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.model import Row

__all__ = [
    "DATASET_SUFFIXES",
    "FORMATS",
    "DatasetOptions",
    "load_rows",
    "read_records",
    "read_rows",
    "row_from_mapping",
    "rows_from_values",
]

MAX_PROBLEMS: Final = 50
_NO_OPTIONS: Final = DatasetOptions()


def read_rows(
    path: Path, options: DatasetOptions = _NO_OPTIONS, *, shown: str = ""
) -> Iterator[Row]:
    """Yield the rows of a dataset file one by one.

    JSON Lines and tables are streamed: of what was read before only a number a row is
    kept, to find ids that come twice. JSON and YAML documents are read as a whole first.

    Args:
        path: the file.
        options: how to read it.
        shown: the path for messages; "" shows `path`.

    Raises:
        DatasetError: at the first row that cannot be used; with no rows at all; or at
            the end, when a column named in `options.columns` was never there.
    """
    for outcome in _outcomes(path, options, shown or str(path)):
        if isinstance(outcome, DatasetError):
            raise outcome
        yield outcome


def read_records(
    path: Path, options: DatasetOptions = _NO_OPTIONS, *, shown: str = ""
) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of each record of a file, before it becomes a row.

    Raises:
        DatasetError: the file cannot be read.
    """
    shown = shown or str(path)
    yield from _records(format_of(path, options, shown), path, options, shown)


def load_rows(path: Path, options: DatasetOptions = _NO_OPTIONS, shown: str = "") -> list[Row]:
    """Return all rows of a dataset file.

    Args:
        path: the file.
        options: how to read it.
        shown: the path for messages; "" shows `path`.

    Raises:
        DatasetError: with every problem of the file: the first 50, and how many more.
    """
    return _gather(_outcomes(path, options, shown or str(path)), shown or str(path))


def rows_from_values(
    records: Iterable[tuple[int, Any]],
    shown: str,
    options: DatasetOptions = _NO_OPTIONS,
) -> list[Row]:
    """Return the rows that stand as values in another file.

    Args:
        records: (line, mapping) of each row.
        shown: the path of the file that holds them.
        options: columns and tags for them.

    Raises:
        DatasetError: with every problem; with no rows at all.
    """
    from pytest_evalcheck.datasets.yaml_documents import checked_row

    checked = ((line, checked_row(value, shown, line)) for line, value in records)
    return _gather(_row_outcomes(checked, options, shown), shown)


def row_from_mapping(
    mapping: Mapping[str, Any],
    *,
    shown: str = "",
    line: int = 0,
    options: DatasetOptions = _NO_OPTIONS,
) -> Row:
    """Return one row as a dataset line would be read, with whatever it lacks left out.

    Unlike a line of a file it may lack an input and an output; without an id of its own
    its id is "".

    Raises:
        DatasetError: with all problems of the row.
    """
    from pytest_evalcheck.datasets.rows import RowBuilder
    from pytest_evalcheck.datasets.yaml_documents import checked_row

    builder = RowBuilder(options, shown, whole=False)
    return builder.build(line, checked_row(mapping, shown, line))


def _outcomes(path: Path, options: DatasetOptions, shown: str) -> Iterator[Row | DatasetError]:
    kind = format_of(path, options, shown)
    records = _records(kind, path, options, shown)
    return _row_outcomes(records, options, shown, cells=kind in ("csv", "tsv"))


def _records(
    kind: str, path: Path, options: DatasetOptions, shown: str
) -> Iterator[tuple[int, Any]]:
    if kind == "jsonl":
        from pytest_evalcheck.datasets.jsonl import read_jsonl

        return read_jsonl(path, options, shown)
    if kind == "json":
        from pytest_evalcheck.datasets.json_documents import read_json

        return read_json(path, options, shown)
    if kind == "yaml":
        from pytest_evalcheck.datasets.yaml_documents import read_yaml

        return read_yaml(path, options, shown)
    if kind == "mcp_tools":
        from pytest_evalcheck.datasets.mcp_tools import read_mcp_tools

        return read_mcp_tools(path, options, shown)
    from pytest_evalcheck.datasets.csv_tables import read_csv

    return read_csv(path, options, shown, tabs=kind == "tsv")


def _row_outcomes(
    records: Iterable[tuple[int, Any]],
    options: DatasetOptions,
    shown: str,
    *,
    cells: bool = False,
) -> Iterator[Row | DatasetError]:
    """Yield a row or its error for each record, and errors of the whole at the end."""
    from pytest_evalcheck.datasets.rows import RowBuilder

    builder = RowBuilder(options, shown, cells=cells)
    count = 0
    header_known = not cells
    try:
        for line, record in records:
            count += 1
            if not header_known and isinstance(record, Mapping):
                header_known = True
                if problems := builder.header_problems(record):
                    yield DatasetError(problems)
                    return
            try:
                yield from builder.rows(line, record)
            except DatasetError as error:
                yield error
    except DatasetError as error:
        yield error
        return
    if not count:
        yield DatasetError(Problem(found="no rows", expected="one row or more", path=shown))
    elif builder.unseen:
        yield DatasetError(builder.missing_columns())


def _gather(outcomes: Iterable[Row | DatasetError], shown: str) -> list[Row]:
    rows: list[Row] = []
    problems: list[Problem] = []
    more = 0
    for outcome in outcomes:
        if isinstance(outcome, Row):
            if not problems:
                rows.append(outcome)
            continue
        room = MAX_PROBLEMS - len(problems)
        problems += outcome.problems[:room]
        more += max(0, len(outcome.problems) - room)
    if more:
        problems.append(Problem(found=f"{more} more problems of this file", path=shown))
    if problems:
        raise DatasetError(problems)
    return rows
