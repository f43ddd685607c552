"""How a dataset file is to be read, where its own look is not enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_evalcheck.datasets.fields import FIELDS, SPELLINGS
from pytest_evalcheck.datasets.phrases import near_hint
from pytest_evalcheck.errors import DatasetError, Problem

__all__ = ["DATASET_SUFFIXES", "FORMATS", "DatasetOptions"]

# The container formats, each with the suffixes that stand for it.
FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "yaml": (".yaml", ".yml"),
    # A tools/list dump of an MCP server: JSON like another, so no suffix tells it.
    "mcp_tools": (),
}
DATASET_SUFFIXES: Final[frozenset[str]] = frozenset(
    suffix for suffixes in FORMATS.values() for suffix in suffixes
)
EXPANSIONS: Final = ("depths",)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetOptions:
    """How to read a dataset file; everything may be left out.

    Attributes:
        format: `jsonl`, `json`, `csv`, `tsv`, `yaml` or `mcp_tools`; "" means by the suffix.
        columns: our field to the file's column (`{"expected": "gold"}`). A column
            named here is taken for that field alone, and other spellings of the
            field become metadata.
        encoding: a codec's name (`latin-1`); "" means a byte order mark's, else UTF-8.
        delimiter: one character between cells; "" means detected (`,` `;` tab `|`).
        quotechar: one character around cells; "" means `"`, or `'` where only that fits.
        skip_lines: physical lines before the header of a table that are no data.
        tags: given to every row.
        expand: `depths` makes a row of each user message of a chat row; "" none.
        max_tools, max_bytes: the most that an `mcp_tools` file may hold; 0 means 200
            tools and 1 MiB.

    Raises:
        DatasetError: with every value that is not one of these.
    """

    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    delimiter: str = ""
    quotechar: str = ""
    skip_lines: int = 0
    tags: tuple[str, ...] = ()
    expand: str = ""
    max_tools: int = 0
    max_bytes: int = 0

    def __post_init__(self) -> None:
        problems = [
            *_choice_problems("format", self.format, FORMATS),
            *_choice_problems("expand", self.expand, EXPANSIONS),
            *_column_problems(self.columns),
            *_encoding_problems(self.encoding),
            *_character_problems("delimiter", self.delimiter),
            *_character_problems("quotechar", self.quotechar),
            *_count_problems("skip_lines", self.skip_lines),
            *_count_problems("max_tools", self.max_tools),
            *_count_problems("max_bytes", self.max_bytes),
            *_tag_problems(self.tags),
        ]
        if problems:
            raise DatasetError(problems)
        object.__setattr__(self, "tags", tuple(self.tags))
        object.__setattr__(
            self, "columns", {SPELLINGS[name]: column for name, column in self.columns.items()}
        )


def _choice_problems(key: str, value: Any, choices: Iterable[str]) -> list[Problem]:
    if value == "" or (isinstance(value, str) and value in choices):
        return []
    return [
        Problem(
            found=f"{key} {value!r}",
            expected=f"one of {', '.join(choices)}",
            fix=near_hint(str(value), choices),
            where=key,
            keys=(key,),
        )
    ]


def _column_problems(columns: Any) -> list[Problem]:
    if not isinstance(columns, Mapping):
        return [
            Problem(
                found=f"columns {columns!r}",
                expected="a mapping from our field to the file's column",
                where="columns",
                keys=("columns",),
            )
        ]
    problems = []
    taken: dict[str, str] = {}
    for name, column in columns.items():
        field_name = SPELLINGS.get(name) if isinstance(name, str) else None
        if field_name is None:
            problems.append(_unknown_field(name))
        elif not isinstance(column, str) or not column.strip():
            problems.append(
                Problem(
                    found=f"column {column!r}",
                    expected="the name of a column of the file",
                    where=f"columns: {name}",
                    keys=("columns", name),
                )
            )
        elif taken.setdefault(field_name, name) != name:
            problems.append(
                Problem(
                    found=f"'{name}' and '{taken[field_name]}' are the same field",
                    expected="one column for a field",
                    where="columns",
                    keys=("columns", name),
                )
            )
    return problems


def _unknown_field(name: Any) -> Problem:
    return Problem(
        found=f"{name!r} is not a field of a row",
        expected=f"one of {', '.join(FIELDS)}",
        fix=near_hint(str(name), SPELLINGS),
        where="columns",
        keys=("columns", name),
    )


def _encoding_problems(encoding: Any) -> list[Problem]:
    import codecs

    if encoding == "":
        return []
    try:
        if codecs.lookup(encoding)._is_text_encoding:
            return []
    except (LookupError, TypeError, ValueError):
        pass
    return [
        Problem(
            found=f"encoding {encoding!r}",
            expected="the name of a text encoding, such as utf-8, latin-1, cp1252 or utf-16",
            where="encoding",
            keys=("encoding",),
        )
    ]


def _character_problems(key: str, value: Any) -> list[Problem]:
    if value == "" or (isinstance(value, str) and len(value) == 1 and value not in "\r\n\0"):
        return []
    return [
        Problem(
            found=f"{key} {value!r}",
            expected="one character",
            fix='Write a tab as "\\t".' if key == "delimiter" else "",
            where=key,
            keys=(key,),
        )
    ]


def _count_problems(key: str, value: Any) -> list[Problem]:
    if type(value) is int and value >= 0:
        return []
    return [
        Problem(
            found=f"{key} {value!r}",
            expected="a whole number from 0",
            where=key,
            keys=(key,),
        )
    ]


def _tag_problems(tags: Any) -> list[Problem]:
    if isinstance(tags, list | tuple) and all(isinstance(tag, str) and tag.strip() for tag in tags):
        return []
    return [
        Problem(found=f"tags {tags!r}", expected="a list of texts", where="tags", keys=("tags",))
    ]
