"""Metrics that fit a dataset, proposed from its columns and values, each with its reason.

A proposal is tried on the rows before it is made: its reason tells how it went, and of
several comparisons that would do the strictest is taken that most rows pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.checks.numbers import read_number
from pytest_evalcheck.datasets import DatasetOptions, load_rows, read_records, read_rows
from pytest_evalcheck.errors import DatasetError
from pytest_evalcheck.first_run.columns import guess_columns
from pytest_evalcheck.jsonvalues import JsonTextError, json_text, parse_json
from pytest_evalcheck.model import Row

__all__ = ["DatasetProposal", "MetricProposal", "propose"]

# Rows that are looked at: enough to see what a column holds, whatever the file's size.
LOOKED_AT: Final = 500
# Up to this size a file is read to its end, so that the suite is sure to run.
WHOLE_FILE_BYTES: Final = 32 * 1024 * 1024
# A column of this many different short texts at most is a column of labels.
MOST_LABELS: Final = 12
LONGEST_LABEL: Final = 40
# Expected texts up to this mean length are looked for in the output.
SHORT_TEXT: Final = 80
MOST_FIELDS: Final = 20
FOLDED: Final[Mapping[str, Any]] = {"normalize": "nfkc+casefold", "strip": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProposal:
    """One metric entry and why it fits.

    Attributes:
        name: a name that says what it checks.
        entry: the entry, without name and gate.
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
        columns: field -> column, for columns whose names are no field's.
        metrics: what fits, the most telling first.
        notes: remarks for a person, such as that nothing was recorded.
        taken: names of metrics that the rows bring along.
    """

    file: str
    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[MetricProposal, ...] = ()
    notes: tuple[str, ...] = ()
    taken: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How an entry did on the rows: rows it applies to, rows measured, rows passed."""

    rows: int
    scored: int
    passed: int
    code: str

    @property
    def mostly_passes(self) -> bool:
        """Tell whether half of the rows or more were measured and passed."""
        return self.scored > 0 and 2 * self.passed >= self.scored

    def text(self) -> str:
        """Return the words of a reason."""
        if not self.scored:
            return f"nothing can be measured yet ({self.code} in {_rows_text(self.rows)})"
        rest = self.rows - self.scored
        more = f", {rest} cannot be measured ({self.code})" if rest else ""
        return f"{self.passed} of {_rows_text(self.scored)} pass{more}"


def propose(path: Path, shown: str) -> DatasetProposal:
    """Return what fits a dataset file.

    Args:
        path: the file; up to 500 of its rows are looked at.
        shown: the path as messages show it.

    Raises:
        DatasetError: the file cannot be read as rows.
    """
    whole = path.stat().st_size <= WHOLE_FILE_BYTES
    columns, rows = _read(path, shown, whole=whole)
    taken = frozenset(str(entry.get("name")) for row in rows for entry in row.metrics)
    looked_at = rows[:: math.ceil(len(rows) / LOOKED_AT)]
    return DatasetProposal(
        file=path.name,
        columns=columns,
        metrics=tuple(_proposals(looked_at)),
        notes=tuple(_notes(columns, looked_at, len(rows), whole=whole)),
        taken=taken,
    )


def _read(path: Path, shown: str, *, whole: bool) -> tuple[Mapping[str, str], list[Row]]:
    """Return the columns to map and the rows read so; a guess that does not hold is dropped."""
    records = [value for _, value in islice(read_records(path, shown=shown), LOOKED_AT)]
    columns = guess_columns(records)
    if columns:
        try:
            return columns, _rows(path, shown, DatasetOptions(columns=columns), whole=whole)
        except DatasetError:
            pass
    return {}, _rows(path, shown, DatasetOptions(), whole=whole)


def _rows(path: Path, shown: str, options: DatasetOptions, *, whole: bool) -> list[Row]:
    if whole:
        return load_rows(path, options, shown)
    return list(islice(read_rows(path, options, shown=shown), LOOKED_AT))


def _notes(
    columns: Mapping[str, str], rows: list[Row], total: int, *, whole: bool
) -> Iterator[str]:
    if not whole:
        yield f"a large file: only its first {total} rows were looked at"
    elif len(rows) < total:
        yield f"{len(rows)} of {total} rows were looked at"
    if columns:
        yield "columns maps fields to columns, guessed by their names: correct what is wrong"
    if all(row.output is None and row.transcript is None for row in rows):
        yield (
            "no row has a recorded output, so nothing can be measured yet and every item is "
            "skipped; add an `output` to each row"
        )


# --- what fits -------------------------------------------------------------------------


def _proposals(rows: list[Row]) -> Iterator[MetricProposal]:
    made = [*_against_expected(rows), *_of_outputs(rows), *_of_recorded(rows)]
    if made:
        yield from made
    else:
        entry = {"check": "length_bounds", "min": 1}
        yield _proposal("answered", entry, "the least to ask is that there is an answer", rows)


def _proposal(name: str, entry: Mapping[str, Any], why: str, rows: list[Row]) -> MetricProposal:
    return MetricProposal(name=name, entry=entry, reason=f"{why}; {_try(entry, rows).text()}")


def _try(entry: Mapping[str, Any], rows: list[Row]) -> Trial:
    score = compile_check(entry).score
    scores = [score(row) for row in rows]
    codes = Counter(one.code or one.status for one in scores if one.status != "scored")
    return Trial(
        rows=len(rows),
        scored=sum(one.status == "scored" for one in scores),
        passed=sum(one.passed is True for one in scores),
        code=codes.most_common(1)[0][0] if codes else "",
    )


def _against_expected(rows: list[Row]) -> Iterator[MetricProposal]:
    """Yield the comparison that the expected values call for."""
    rows = [row for row in rows if row.expected is not None]
    if not rows:
        return
    wanted = [row.expected for row in rows]
    seen = f"each of {len(rows)} expected values is"
    if all(_is_number(value) for value in wanted):
        entry: dict[str, Any] = {"check": "numeric_equals", "compare_to": "expected"}
        yield _proposal("right_number", entry, f"{seen} a number", rows)
    elif all(_is_letter(value) for value in wanted):
        yield _proposal("right_choice", {"check": "choice"}, f"{seen} the letter of a choice", rows)
    elif all(isinstance(_as_json(value), list) for value in wanted):
        yield _against_lists(rows, seen)
    elif all(isinstance(_as_json(value), Mapping) for value in wanted):
        entry = {"check": "json_diff", "threshold": 0.9}
        yield _proposal("expected_fields", entry, f"{seen} a JSON object", rows)
    else:
        yield _against_texts(rows, [json_text(value) for value in wanted])


def _against_lists(rows: list[Row], seen: str) -> MetricProposal:
    if any(isinstance(_as_json(row.output), list) for row in rows):
        entry: dict[str, Any] = {"check": "list_overlap", "compare_to": "expected"}
        return _proposal("right_items", entry, f"{seen} a list, as outputs are", rows)
    entry = {"check": "any_of", **FOLDED}
    return _proposal("accepted_answer", entry, f"{seen} a list: any of them is right", rows)


def _against_texts(rows: list[Row], wanted: list[str]) -> MetricProposal:
    """Return the strictest comparison that most rows pass, or the one their lengths call for."""
    labels = set(wanted)
    is_label = 2 <= len(labels) <= MOST_LABELS and max(map(len, wanted)) < LONGEST_LABEL
    exact = {"check": "exact_match", **FOLDED}
    trial = _try(exact, rows)
    if is_label and len(wanted) >= 2 * len(labels) and (trial.mostly_passes or not trial.scored):
        why = f"{len(wanted)} expected values are {len(labels)} labels"
        return _proposal("right_label", exact, why, rows)
    if trial.mostly_passes:
        return _proposal("right_answer", exact, "outputs are what is expected, whole", rows)
    contains = {"check": "contains", "compare_to": "expected", "case_sensitive": False}
    trial = _try(contains, rows)
    if trial.mostly_passes:
        why = "the expected texts occur in the outputs"
        return _proposal("mentions_expected", contains, why, rows)
    if _mean_length(wanted) <= _shorter_than(rows):
        why = "the expected texts are short: they should occur in the outputs"
        return _proposal("mentions_expected", contains, why, rows)
    why = "the expected texts are about as long as an answer: the words are compared"
    return _proposal("same_words", {"check": "f1", "threshold": 0.5}, why, rows)


def _shorter_than(rows: list[Row]) -> float:
    """Return the mean length up to which an expected text is a part of an answer."""
    found = [json_text(row.output) for row in rows if row.output is not None]
    return min(SHORT_TEXT, 0.8 * _mean_length(found)) if found else SHORT_TEXT


def _of_outputs(rows: list[Row]) -> Iterator[MetricProposal]:
    rows = [row for row in rows if row.output is not None]
    if not rows:
        return
    parsed = [_as_json(row.output) for row in rows]
    documents = [value for value in parsed if isinstance(value, Mapping | list)]
    if 2 * len(documents) > len(rows):
        yield from _of_json(rows, documents)
    elif not all(_is_number(row.output) for row in rows):
        yield from _of_texts(rows)


def _of_json(rows: list[Row], documents: list[Any]) -> Iterator[MetricProposal]:
    if any(isinstance(row.output, str) for row in rows):
        why = f"{len(documents)} of {len(rows)} outputs are JSON"
        yield _proposal("is_json", {"check": "valid_json"}, why, rows)
    objects = [value for value in documents if isinstance(value, Mapping)]
    common = sorted(set.intersection(*map(set, objects))) if objects else []
    # A name with a dot or bracket would be read as a path.
    fields = [name for name in common if isinstance(name, str) and name.isidentifier()]
    if fields and 2 * len(objects) > len(rows):
        entry = {"check": "field_presence", "required_fields": fields[:MOST_FIELDS]}
        why = f"these keys are in each of {len(objects)} outputs that are JSON objects"
        yield _proposal("has_fields", entry, why, rows)


def _of_texts(rows: list[Row]) -> Iterator[MetricProposal]:
    texts = [json_text(row.output) for row in rows]
    longest = max(map(len, texts))
    labels = sorted(set(texts))
    if longest < LONGEST_LABEL and 2 <= len(labels) <= min(MOST_LABELS, len(texts) / 2):
        if all(isinstance(row.output, str) and row.output.strip() for row in rows):
            entry: dict[str, Any] = {"check": "enum_membership", "allowed": labels}
            why = f"{len(texts)} outputs are {len(labels)} labels"
            yield _proposal("known_label", entry, why, rows)
        return
    entry = {"check": "length_bounds", "min": 1, "max": 2 * max(longest, 10)}
    why = f"the longest of {len(texts)} outputs has {longest} characters; twice that is the bound"
    yield _proposal("length", entry, why, rows)
    if longest >= LONGEST_LABEL:
        entry = {"check": "is_refusal", "negate": True}
        why = "outputs in sentences: one that declines to answer is worth seeing"
        yield _proposal("answers", entry, why, rows)


def _of_recorded(rows: list[Row]) -> Iterator[MetricProposal]:
    """Yield what the other fields of the rows call for: tools, quotations, measurements."""
    tools = [row for row in rows if row.expected_tool_calls is not None]
    if tools:
        why = f"the tools to call are named in {_rows_text(len(tools))}"
        yield _proposal("right_tools", {"check": "tool_calls"}, why, tools)
    quoting = [row for row in rows if row.context]
    if quoting and _try({"check": "quotes_context"}, quoting).scored:
        why = "outputs quote, and rows carry the context"
        yield _proposal("quotes_are_real", {"check": "quotes_context"}, why, quoting)
    yield from _bound("latency", "latency_s", 1000, rows)
    yield from _bound("tokens", "tokens", 1, rows)
    yield from _bound("cost", "cost_usd", 1, rows)


def _bound(check: str, name: str, unit: int, rows: list[Row]) -> Iterator[MetricProposal]:
    """Yield a bound of twice the largest value recorded; `unit` of them make one of the check's."""
    found = [value for row in rows if (value := getattr(row, name)) is not None]
    if not found or max(found) <= 0:
        return
    most = 2 * max(found) * unit
    entry = {"check": check, "max": most if check == "cost" else math.ceil(most)}
    why = f"{name} is recorded in {_rows_text(len(found))}; twice the largest is the bound"
    yield _proposal(f"{check}_bound", entry, why, rows)


def _as_json(value: Any) -> Any:
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return parse_json(value)
    except JsonTextError:
        return value


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and read_number(value) is not None


def _is_letter(value: Any) -> bool:
    return isinstance(value, str) and len(value.strip()) == 1 and "A" <= value.strip() <= "Z"


def _rows_text(n: int) -> str:
    return f"{n} row" if n == 1 else f"{n} rows"


def _mean_length(texts: list[str]) -> float:
    return sum(map(len, texts)) / len(texts)
