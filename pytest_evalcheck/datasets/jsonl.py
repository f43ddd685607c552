"""JSON Lines: one object a line, read line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from pytest_evalcheck.datasets.files import MAX_LINE_CHARACTERS, nul_problem, open_text
from pytest_evalcheck.datasets.options import DatasetOptions
from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.jsonvalues import JsonTextError, kind_phrase, parse_json

__all__ = ["read_jsonl"]


def read_jsonl(path: Path, options: DatasetOptions, shown: str) -> Iterator[tuple[int, Any]]:
    """Yield (line, object) of each line that is not blank; a broken line yields a Problem.

    Memory holds one line at a time. A byte order mark is accepted.

    Raises:
        DatasetError: the file as a whole is not JSON Lines.
    """
    with open_text(path, options, shown) as stream:
        for line, text in _numbered_lines(stream, shown):
            value = _parse_line(text, shown, line)
            if line == 1 and isinstance(value, Problem):
                _refuse_document(text, value, shown)
            yield line, value


def _numbered_lines(stream: TextIO, shown: str) -> Iterator[tuple[int, str]]:
    line = 0
    while text := stream.readline(MAX_LINE_CHARACTERS + 1):
        line += 1
        if len(text) > MAX_LINE_CHARACTERS:
            raise DatasetError(
                Problem(
                    found=f"a line of more than {MAX_LINE_CHARACTERS} characters",
                    expected="one row a line",
                    path=shown,
                    line=line,
                )
            )
        stripped = text.strip(" \t\r\n")
        if stripped:
            yield line, stripped


def _parse_line(text: str, shown: str, line: int) -> Any:
    if "\0" in text:
        return nul_problem(shown, line)
    try:
        value = parse_json(text, duplicates="refuse")
    except JsonTextError as error:
        return Problem(
            found=f"not JSON: {error.message} (column {error.column})",
            expected="one object a line",
            path=shown,
            line=line,
        )
    if isinstance(value, dict):
        return value
    return Problem(
        found=f"the line is {kind_phrase(value)}", expected="an object", path=shown, line=line
    )


def _refuse_document(text: str, problem: Problem, shown: str) -> None:
    """Say it once when a whole JSON document has the name of a JSON Lines file."""
    if text in ("[", "{") or (text.startswith("[{") and not problem.found.startswith("the line")):
        raise DatasetError(
            Problem(
                found="one JSON document over several lines",
                expected="one object a line",
                fix="Name the file .json, or say format: json.",
                path=shown,
                line=1,
            )
        )
