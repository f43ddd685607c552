"""Metrics that fit a dataset, proposed from its columns and values, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.checks.numbers import read_number
from pytest_evalcheck.datasets import DatasetOptions, read_rows
from pytest_evalcheck.jsonvalues import JsonTextError, json_text, parse_json
from pytest_evalcheck.model import Row

__all__ = ["DatasetProposal", "MetricProposal", "propose"]

# Rows that are looked at: enough to see what a column holds, whatever the file's size.
LOOKED_AT: Final = 500
# A column of this many different short texts at most is a column of labels.
MOST_LABELS: Final = 12
LONGEST_LABEL: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProposal:
    """One metric entry and why it fits.

    Attributes:
        entry: the entry, without name and gate.
        name: a name that says what it checks.
        reason: one line for a comment: what was seen in how many rows.
    """

    name: str
    entry: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetProposal:
    """A dataset file with what fits it.

    Attributes:
        file: the file's name in its folder.
        columns: field -> column, for columns whose names are nearly a field's.
        metrics: what fits, the most telling first.
        notes: remarks for a person, such as that nothing was recorded.
    """

    file: str
    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[MetricProposal, ...] = ()
    notes: tuple[str, ...] = ()


def propose(path: Path, shown: str) -> DatasetProposal:
    """Return what fits a dataset file.

    Args:
        path: the file; its first 500 rows are read.
        shown: the path as messages show it.

    Raises:
        DatasetError: the file cannot be read as rows.
    """
    rows = _look(path, shown, {})
    columns = _mapped_columns(rows)
    if columns:
        rows = _look(path, shown, columns)
    outputs = [row.output for row in rows if row.output is not None]
    notes = []
    if not outputs:
        notes.append(
            "no row has a recorded output yet, so every row is reported as missing_output; "
            "add an `output` to the rows"
        )
    return DatasetProposal(
        file=path.name,
        columns=columns,
        metrics=tuple(_proposals(rows, outputs)),
        notes=tuple(notes),
    )


def _look(path: Path, shown: str, columns: Mapping[str, str]) -> list[Row]:
    options = DatasetOptions(columns=dict(columns)) if columns else DatasetOptions()
    return list(islice(read_rows(path, options, shown=shown), LOOKED_AT))


def _mapped_columns(rows: list[Row]) -> dict[str, str]:
    """Return the columns the reader took for misspelt fields, as a map."""
    found: dict[str, str] = {}
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        match = re.search(r"columns: \{(\w+): ['\"]?(.+?)['\"]?\}", note)
        if match:
            found.setdefault(match[1], match[2])
    return found


def _proposals(rows: list[Row], outputs: list[Any]) -> Iterator[MetricProposal]:
    pairs = [(row.output, row.expected) for row in rows if row.expected is not None]
    if pairs:
        yield _against_expected(pairs)
    if outputs:
        yield from _of_outputs(outputs)
    elif not pairs:
        yield MetricProposal(
            name="answered",
            entry={"check": "length_bounds", "min": 1},
            reason="an answer that is there is the least to ask",
        )


def _against_expected(pairs: list[tuple[Any, Any]]) -> MetricProposal:
    """Return the comparison that the expected values call for."""
    wanted = [expected for _, expected in pairs]
    n = len(wanted)
    if all(read_number(value) is not None for value in wanted):
        return MetricProposal(
            name="right_number",
            entry={"check": "numeric_equals", "compare_to": "expected", "pick": "last"},
            reason=f"each of {n} expected values is a number; the last number of the output counts",
        )
    if all(isinstance(value, list) for value in wanted):
        return MetricProposal(
            name="accepted_answer",
            entry={"check": "any_of", "normalize": "nfkc+casefold"},
            reason=f"each of {n} expected values is a list: any of them is right",
        )
    if all(isinstance(_as_json(value), Mapping) for value in wanted):
        return MetricProposal(
            name="expected_fields",
            entry={"check": "json_diff", "threshold": 0.9},
            reason=f"each of {n} expected values is a JSON object: the share of its leaves counts",
        )
    texts = [json_text(value) for value in wanted]
    labels = set(texts)
    if n >= 2 * len(labels) and len(labels) <= MOST_LABELS and max(map(len, texts)) < LONGEST_LABEL:
        return MetricProposal(
            name="right_label",
            entry={"check": "exact_match", "normalize": "nfkc+casefold", "strip": True},
            reason=f"{n} expected values are {len(labels)} labels",
        )
    found = [json_text(output) for output, _ in pairs if output is not None]
    if found and _mean_length(texts) > 0.8 * _mean_length(found):
        return MetricProposal(
            name="same_words",
            entry={"check": "f1", "threshold": 0.5},
            reason="the expected texts are about as long as the outputs: their words are compared",
        )
    return MetricProposal(
        name="mentions_expected",
        entry={"check": "contains", "compare_to": "expected"},
        reason="the expected texts are shorter than the outputs: they should occur in them",
    )


def _of_outputs(outputs: list[Any]) -> Iterator[MetricProposal]:
    n = len(outputs)
    parsed = [_as_json(output) for output in outputs]
    if all(isinstance(value, Mapping) for value in parsed):
        yield MetricProposal(
            name="is_json",
            entry={"check": "valid_json"},
            reason=f"each of {n} outputs is a JSON object",
        )
        common = sorted(set.intersection(*(set(value) for value in parsed)))
        if common and all(isinstance(output, Mapping) for output in outputs):
            yield MetricProposal(
                name="has_fields",
                entry={"check": "field_presence", "required_fields": common[:20]},
                reason=f"these keys are in each of {n} outputs",
            )
        return
    texts = [json_text(output) for output in outputs]
    longest = max(map(len, texts))
    yield MetricProposal(
        name="length",
        entry={"check": "length_bounds", "min": 1, "max": 2 * max(longest, 10)},
        reason=f"the longest of {n} outputs has {longest} characters; twice that is the bound",
    )
    if longest >= LONGEST_LABEL:
        yield MetricProposal(
            name="answers",
            entry={"check": "is_refusal", "negate": True},
            reason="outputs in sentences: one that declines to answer is worth seeing",
        )


def _as_json(value: Any) -> Any:
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return parse_json(value)
    except JsonTextError:
        return value


def _mean_length(texts: list[str]) -> float:
    return sum(map(len, texts)) / len(texts)
