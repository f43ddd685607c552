"""A record of a dataset file becomes a row: spellings, types, ids, and what is missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.datasets.fields import METADATA_FIELDS, SPELLINGS, near_field
from pytest_evalcheck.datasets.ids import SeenIds, content_digest, safe_id
from pytest_evalcheck.datasets.options import DatasetOptions
from pytest_evalcheck.datasets.phrases import listed, near_hint, shown_value, too_deep
from pytest_evalcheck.datasets.shapes import expand_depths, shape_problems
from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.jsonvalues import JsonTextError, json_equal, kind_phrase, parse_json
from pytest_evalcheck.model import Row

__all__ = ["RowBuilder"]

# Fields that are lists or objects, so that text in their place is read as JSON.
_STRUCTURED: Final = frozenset({"messages", "turns", "metadata", "metrics"})
# Fields whose table cells may hold JSON or plain text.
_MAYBE_STRUCTURED: Final = frozenset(
    {"context", "tags", "transcript", "tool_calls", "expected_tool_calls", "user_facts"}
)
# What DeepEval keeps apart: `context` is ideal, the others are what was retrieved.
_SECOND_CONTEXTS: Final = frozenset({"retrieval_context", "retrievalContext"})
_NUMBER: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_KEPT_COLUMNS: Final = 1000
# What a metric may miss, so that a nearly right column explains why it is absent.
_EVIDENCE: Final = frozenset(
    {
        "output",
        "expected",
        "context",
        "tool_calls",
        "expected_tool_calls",
        "transcript",
        "tokens",
        "cost_usd",
    }
)
_SHAPES: Final = frozenset({"messages", "turns", "goal"})
# A row needs one of these: something to ask, or something recorded.
_CONTENT: Final = ("input", "messages", "turns", "goal", "output", "transcript")


class RowBuilder:
    """Builds the rows of one file.

    Args:
        options: columns, tags and how chats are expanded.
        shown: the path of the file for messages.
        cells: records come from a table, so every value is text and "" is no value.
        whole: every row must have something to ask or a recorded output.
    """

    def __init__(
        self,
        options: DatasetOptions,
        shown: str,
        *,
        cells: bool = False,
        whole: bool = True,
    ) -> None:
        self.options = options
        self.shown = shown
        self.cells = cells
        self.whole = whole
        self.ids = SeenIds()
        self._fields = {column: name for name, column in options.columns.items()}
        self._mapped = frozenset(options.columns)
        self.unseen = set(self._fields)
        self.other_columns: dict[str, None] = {}

    def build(self, line: int, record: Any) -> Row:
        """Return the row of a record.

        Raises:
            DatasetError: with all problems of the row.
        """
        if isinstance(record, Problem):
            raise DatasetError(record)
        draft = _Draft(self, line)
        try:
            row = draft.row(record)
        except RecursionError:
            raise DatasetError(too_deep(self.shown, line)) from None
        if draft.problems:
            raise DatasetError(draft.located_problems())
        return row

    def rows(self, line: int, record: Any) -> list[Row]:
        """Return the rows of a record: one, or one a depth for a chat to be expanded.

        Raises:
            DatasetError: with all problems of the row.
        """
        row = self.build(line, record)
        if not (self.options.expand and row.messages):
            return [row]
        expanded = list(expand_depths(row))
        for one in expanded:
            before = self.ids.claim(one.id, line)
            if before is not None:
                problem = _same_id(before).located(
                    path=self.shown, line=line, where=f"row '{one.id}'"
                )
                raise DatasetError(problem)
        return expanded

    def field_of(self, column: Any) -> str | None:
        """Return the field that a column stands for, or None when it is metadata."""
        if column in self._fields:
            self.unseen.discard(column)
            return self._fields[column]
        if self.unseen and len(self.other_columns) < _KEPT_COLUMNS:
            self.other_columns[column] = None
        name = SPELLINGS.get(column)
        return None if name in self._mapped else name

    def header_problems(self, record: Mapping[str, Any]) -> list[Problem]:
        """Return what is wrong with the columns of a table, whatever its rows hold."""
        fields = {self.field_of(column) for column in record}
        problems = self.missing_columns()
        if self.whole and not problems and fields.isdisjoint(_CONTENT):
            problems.append(_no_content(self, record, "no column"))
        return [problem.located(path=self.shown, line=None) for problem in problems]

    def missing_columns(self) -> list[Problem]:
        """Return a problem for each column of `columns` that no record had so far."""
        return [
            Problem(
                found=f"there is no column '{column}'",
                expected=f"one that holds {self._fields[column]}, as columns says",
                fix=near_hint(column, self.other_columns)
                or f"The file has {listed(self.other_columns)}.",
                where=f"columns: {self._fields[column]}",
                path=self.shown,
            )
            for column in sorted(self.unseen)
        ]


class _Draft:
    """One row in the making, with everything found wrong so far."""

    def __init__(self, builder: RowBuilder, line: int) -> None:
        self.builder = builder
        self.line = line
        self.problems: list[Problem] = []
        self.values: dict[str, Any] = {}
        self.columns: dict[str, str] = {}
        self.extra: dict[str, Any] = {}
        self.row_id = ""

    def report(self, where: str, found: str, expected: str = "", fix: str = "") -> None:
        self.problems.append(Problem(found=found, expected=expected, fix=fix, where=where))

    def located_problems(self) -> list[Problem]:
        where = f"row '{self.row_id}'" if self.row_id else ""
        return [
            problem.located(path=self.builder.shown, line=self.line or None, where=where)
            for problem in self.problems
        ]

    def row(self, record: Mapping[Any, Any]) -> Row:
        self._sort(record)
        self._convert()
        values = self.values
        metadata = self._metadata()
        own_id = values.pop("id", None)
        if own_id is not None:
            self._read_id(own_id)
        if not _SHAPES.isdisjoint(values):
            self._check_shape(metadata)
        if self.builder.whole:
            self._need_content(record)
        self._settle_id(record)
        tags = self.builder.options.tags
        if tags:
            values["tags"] = tuple(dict.fromkeys((*tags, *values.get("tags", ()))))
        if self.extra:
            values["notes"] = self._notes()
        return Row(
            id=self.row_id, metadata=metadata, path=self.builder.shown, line=self.line, **values
        )

    def _check_shape(self, metadata: Mapping[str, Any]) -> None:
        self.problems += shape_problems(
            {**metadata, **self.values}, transcript=bool(self.builder.options.expand)
        )

    def _sort(self, record: Mapping[Any, Any]) -> None:
        """Give each value to its field, or to the metadata."""
        for column, value in record.items():
            if not isinstance(column, str):
                self.report(
                    "",
                    f"the key {column!r} is {kind_phrase(column)}",
                    "text",
                    "Put it into quotes.",
                )
                continue
            name = self.builder.field_of(column)
            if name is None:
                self.extra[column] = value
            elif value is None or (value == "" and self.builder.cells):
                continue
            elif name not in self.values:
                self.values[name], self.columns[name] = value, column
            else:
                self._second_spelling(name, column, value)

    def _second_spelling(self, name: str, column: str, value: Any) -> None:
        first = self.columns[name]
        if name == "context" and (column in _SECOND_CONTEXTS) != (first in _SECOND_CONTEXTS):
            if column in _SECOND_CONTEXTS:
                self.extra[column] = value
            else:
                self.extra[first] = self.values[name]
                self.values[name], self.columns[name] = value, column
        elif not json_equal(self.values[name], value):
            self.report(
                name,
                f"'{first}' and '{column}' both spell {name} and differ "
                f"({shown_value(self.values[name])} and {shown_value(value)})",
                "one value",
                f"Say which one counts with columns: {{{name}: {column}}}; the other "
                "becomes metadata.",
            )

    def _convert(self) -> None:
        for name in self.values.keys() & _CONVERTERS.keys():
            value = self._parsed(name, self.values[name])
            if value is not _BROKEN:
                value = _CONVERTERS[name](self, name, value)
            if value is _BROKEN or value is None:
                del self.values[name]
            else:
                self.values[name] = value

    def _parsed(self, name: str, value: Any) -> Any:
        """Return JSON that stands as text in a structured field as the value it is."""
        if not isinstance(value, str):
            return value
        must = name in _STRUCTURED
        if not must and not (self.builder.cells and name in _MAYBE_STRUCTURED):
            return value
        if not value.lstrip().startswith(("[", "{")):
            return value
        try:
            return parse_json(value, duplicates="refuse")
        except JsonTextError as error:
            if not must:
                return value
            self.report(
                self.columns[name], f"{shown_value(value)} is not JSON: {error.message}", "JSON"
            )
            return _BROKEN

    def _metadata(self) -> dict[str, Any]:
        metadata = dict(self.values.pop("metadata", {}))
        for name in self.values.keys() & METADATA_FIELDS:
            self.extra[name] = self._parsed_fact(name, self.values.pop(name))
        for key, value in self.extra.items():
            if key not in metadata:
                metadata[key] = value
            elif not json_equal(metadata[key], value):
                self.report(
                    "metadata",
                    f"'{key}' stands in metadata and as a column, with different values",
                    "one value",
                    "Rename one of them.",
                )
        return metadata

    def _parsed_fact(self, name: str, value: Any) -> Any:
        if not (self.builder.cells and isinstance(value, str)):
            return value
        if name == "max_turns" and value.strip().isascii() and value.strip().isdigit():
            return int(value[:9])
        return self._parsed(name, value)

    def _read_id(self, given: Any) -> None:
        if isinstance(given, bool) or not isinstance(given, str | int):
            self.report(
                "id", f"{shown_value(given)} is {kind_phrase(given)}", "text or a whole number"
            )
            return
        self.row_id = safe_id(str(given))
        if not self.row_id:
            self.report("id", "a blank id", "text", "Remove it, or give the row a name.")

    def _settle_id(self, record: Mapping[Any, Any]) -> None:
        """Give the row an id of its own; a second row of one id is a problem."""
        if self.row_id:
            before = self.builder.ids.claim(self.row_id, self.line)
            if before is not None:
                self.problems.append(_same_id(before))
        elif not self.problems and record and self.builder.whole:
            self._generate_id(record)

    def _generate_id(self, record: Mapping[Any, Any]) -> None:
        digest = content_digest(record)
        content = next(
            (self.values[name] for name in _CONTENT if self.values.get(name) not in (None, "")),
            None,
        )
        self.row_id = self.builder.ids.generate(content, digest, self.line)

    def _need_content(self, record: Mapping[Any, Any]) -> None:
        asked = self.values.get("input")
        if asked not in (None, [], {}) and not (isinstance(asked, str) and not asked.strip()):
            return
        if any(self.values.get(name) is not None for name in _CONTENT if name != "input"):
            return
        if any(problem.where.split("[")[0] in _CONTENT for problem in self.problems):
            return
        self.problems.append(_no_content(self.builder, record, "the row has nothing"))

    def _notes(self) -> tuple[str, ...]:
        """Return a sentence for each unknown column that nearly names an absent field."""
        notes = []
        for column in self.extra:
            if column in METADATA_FIELDS or column in SPELLINGS:
                continue
            spelling = near_field(column)
            if spelling is None:
                continue
            name = SPELLINGS[spelling]
            if name in _EVIDENCE and name not in self.values:
                notes.append(
                    f"column '{column}' is not known; did you mean '{spelling}'? "
                    f"Map it with columns: {{{name}: {column}}}"
                )
        return tuple(notes)


_BROKEN: Final = object()


def _same_id(before: int) -> Problem:
    return Problem(
        found=f"the row in line {before} has the same id",
        expected="each id once in a dataset",
        fix="Rename one of the two.",
        where="id",
    )


def _no_content(builder: RowBuilder, record: Mapping[Any, Any], subject: str) -> Problem:
    """Return the problem of a row, or of a table, with nothing to ask and nothing recorded."""
    columns = [column for column in record if isinstance(column, str) and column]
    near = [
        f"'{column}' (did you mean '{spelling}'?)"
        for column in columns
        if builder.field_of(column) is None and (spelling := near_field(column)) is not None
    ]
    return Problem(
        found=f"{subject} to ask and no recorded output: there is "
        + (", ".join(near) if near else listed(columns)),
        expected="input, messages, turns or goal, or output or transcript",
        fix="Name the column with columns: {input: ...}.",
    )


def _read_texts(draft: _Draft, name: str, value: Any) -> Any:
    """Read context: a list of texts or objects; one text alone is a list of one."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str | dict):
        return (value,)
    return _refuse(draft, name, value, "a list of texts")


def _read_calls(draft: _Draft, name: str, value: Any) -> Any:
    """Read calls in any form; text is what a model wrote, and the check reads it."""
    if isinstance(value, list | dict | str):
        return value
    return _refuse(draft, name, value, "a list of calls")


def _read_goal(draft: _Draft, name: str, value: Any) -> Any:
    return value if isinstance(value, str) else _refuse(draft, name, value, "a text")


def _read_list(draft: _Draft, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return _refuse(draft, name, value, "a list")


def _read_number(draft: _Draft, name: str, value: Any) -> Any:
    """Read a number from 0: JSON's, or the text of one in a table cell."""
    number = _cell_number(draft, value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return _refuse(draft, name, value, "a number")
    if not 0 <= number <= sys.float_info.max:
        return _refuse(draft, name, value, "a number from 0")
    return float(number)


def _read_count(draft: _Draft, name: str, value: Any) -> Any:
    number = _cell_number(draft, value)
    whole = isinstance(number, int) or (isinstance(number, float) and number.is_integer())
    if isinstance(number, bool) or not whole or number < 0:
        return _refuse(draft, name, value, "a whole number from 0")
    return int(number)


def _cell_number(draft: _Draft, value: Any) -> Any:
    if not (draft.builder.cells and isinstance(value, str)):
        return value
    text = value.strip()
    if len(text) > 100 or not _NUMBER.fullmatch(text):
        return value
    return int(text) if text.isdigit() else float(text)


def _read_version(draft: _Draft, name: str, value: Any) -> Any:
    """Read a version: text, or a whole number; 1.10 as a number would be 1.1."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return _refuse(draft, name, value, "text", "Put it into quotes.")
    return str(value).strip() or None


def _read_tags(draft: _Draft, name: str, value: Any) -> Any:
    if isinstance(value, str):
        value = value.split(",") if draft.builder.cells else [value]
        value = [tag for tag in value if tag.strip()]
    if not isinstance(value, list) or not all(
        isinstance(tag, str) and tag.strip() for tag in value
    ):
        return _refuse(draft, name, value, "a text or a list of texts")
    return tuple(tag.strip() for tag in value)


def _read_metadata(draft: _Draft, name: str, value: Any) -> Any:
    return value if isinstance(value, dict) else _refuse(draft, name, value, "an object")


def _read_metrics(draft: _Draft, name: str, value: Any) -> Any:
    """Read the row's own metrics; a mapping alone is a list of one."""
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return _refuse(
            draft, name, value, "a list of metric entries such as {name: ..., check: ...}"
        )
    return tuple(entries)


def _read_reason(draft: _Draft, name: str, value: Any) -> Any:
    """Read why a row is skipped or expected to fail; false is the same as nothing."""
    if value is False:
        return None
    if isinstance(value, str) and value.strip():
        if value.strip().casefold() not in ("true", "false", "yes", "no"):
            return " ".join(value.split())
        if draft.builder.cells and value.strip().casefold() in ("false", "no"):
            return None
    return _refuse(
        draft, name, value, "the reason as text", f'Write why: {name}: "ticket 12, wrong policy".'
    )


def _refuse(draft: _Draft, name: str, value: Any, expected: str, fix: str = "") -> Any:
    column = draft.columns[name]
    draft.report(column, f"{shown_value(value)} is {kind_phrase(value)}", expected, fix)
    return _BROKEN


_CONVERTERS: Final[Mapping[str, Callable[[_Draft, str, Any], Any]]] = {
    "context": _read_texts,
    "messages": _read_list,
    "turns": _read_list,
    "goal": _read_goal,
    "tool_calls": _read_calls,
    "expected_tool_calls": _read_calls,
    "transcript": lambda _draft, _name, value: value,
    "latency_s": _read_number,
    "tokens": _read_count,
    "cost_usd": _read_number,
    "app_version": _read_version,
    "tags": _read_tags,
    "metadata": _read_metadata,
    "metrics": _read_metrics,
    "skip": _read_reason,
    "xfail": _read_reason,
}
