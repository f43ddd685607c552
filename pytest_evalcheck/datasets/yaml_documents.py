"""A YAML document of rows: a list, or an object that holds one.

Unquoted `yes`, `no`, `on` and `off` are text here and dates stay text; see
`pytest_evalcheck.yamlnodes` for the whole rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_evalcheck.datasets.containers import choose_row_key
from pytest_evalcheck.datasets.files import read_text
from pytest_evalcheck.datasets.options import DatasetOptions
from pytest_evalcheck.datasets.phrases import too_deep
from pytest_evalcheck.errors import ConfigError, DatasetError, Problem
from pytest_evalcheck.jsonvalues import kind_phrase
from pytest_evalcheck.yamlnodes import load_yaml

__all__ = ["checked_row", "read_yaml"]


def read_yaml(path: Path, options: DatasetOptions, shown: str) -> Iterator[tuple[int, Any]]:
    """Yield (line, value) of each row; a row that is no object yields a Problem.

    Raises:
        DatasetError: the YAML is broken (all its problems), or holds no rows.
    """
    text = read_text(path, options, shown)
    try:
        document, lines = load_yaml(text, shown)
    except ConfigError as error:
        raise DatasetError(error.problems) from None
    prefix: tuple[str | int, ...] = ()
    if isinstance(document, dict):
        key = _row_key(document, lines, shown)
        if key is None:
            yield lines[()], document
            return
        prefix, document = (key,), document[key]
    if document is None:
        raise DatasetError(Problem(found="the file is empty", expected="rows", path=shown))
    if not isinstance(document, list):
        raise DatasetError(
            Problem(
                found=f"the document is {kind_phrase(document)}",
                expected="a list of rows",
                path=shown,
                line=lines[()],
            )
        )
    for index, value in enumerate(document):
        line = lines[(*prefix, index)]
        yield line, checked_row(value, shown, line)


def _row_key(
    document: dict[Any, Any], lines: dict[tuple[str | int, ...], int], shown: str
) -> str | None:
    try:
        return choose_row_key(document, shown)
    except DatasetError as error:
        raise DatasetError(
            problem.located(path=shown, line=lines.get(problem.keys)) for problem in error.problems
        ) from None


def checked_row(value: Any, shown: str, line: int) -> Any:
    """Return a row written as values, or the Problem that it is no object of JSON."""
    if not isinstance(value, Mapping):
        return Problem(
            found=f"the row is {kind_phrase(value)}",
            expected="an object",
            path=shown,
            line=line or None,
        )
    try:
        return _key_problem(value, shown, line) or value
    except RecursionError:
        return too_deep(shown, line)


def _key_problem(value: Any, shown: str, line: int, path: str = "") -> Problem | None:
    """Return a problem when an object below has a key that is no text, as JSON has none."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                return Problem(
                    found=f"the key {key!r} is {kind_phrase(key)}",
                    expected="text",
                    fix="Put it into quotes.",
                    where=path,
                    path=shown,
                    line=line or None,
                )
            below = _key_problem(inner, shown, line, f"{path}.{key}" if path else key)
            if below is not None:
                return below
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            below = _key_problem(inner, shown, line, f"{path}[{index}]")
            if below is not None:
                return below
    return None
