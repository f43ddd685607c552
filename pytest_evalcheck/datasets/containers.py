"""Which part of a JSON or YAML document holds the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.datasets.fields import SPELLINGS
from pytest_evalcheck.errors import DatasetError, Problem

__all__ = ["ROW_KEYS", "choose_row_key"]

# Keys under which tools write a list of rows.
ROW_KEYS: Final = (
    "rows",
    "data",
    "examples",
    "samples",
    "cases",
    "items",
    "records",
    "goldens",
    "dataset",
    "questions",
)
# Keys beside the rows that say something about the file and nothing about a row.
_ABOUT: Final = frozenset({"metadata", "tags", "info", "columns", "features", "splits"})
_ROW_MARKS: Final = frozenset({"input", "output", "messages", "turns", "goal", "transcript"})


def choose_row_key(document: Mapping[Any, Any], shown: str) -> str | None:
    """Return the key that holds the rows, or None when the object is itself one row.

    Args:
        document: the object; a list of objects in it counts as rows.
        shown: the path of the file for messages.

    Raises:
        DatasetError: no key holds rows, more than one does, or other keys would be lost.
    """
    if any(isinstance(key, str) and SPELLINGS.get(key) in _ROW_MARKS for key in document):
        return None
    found = [key for key in ROW_KEYS if isinstance(document.get(key), list)]
    if len(found) != 1:
        raise DatasetError(_no_choice(found, document, shown))
    lost = [
        Problem(
            found=f"'{key}' beside '{found[0]}' is not read from a dataset",
            expected="only the rows, a title and a description",
            fix="Metrics and judges stand in evalcheck.yaml."
            if key in ("metrics", "judges", "task")
            else "Remove it, or put it into each row.",
            path=shown,
            keys=(key,),
        )
        for key, value in document.items()
        if key != found[0] and isinstance(value, list | dict) and key not in _ABOUT
    ]
    title = document.get("title")
    if isinstance(title, str) and not 2 <= len(title) <= 120:
        lost.append(
            Problem(
                found=f"a title of {len(title)} characters",
                expected="2 to 120",
                path=shown,
                keys=("title",),
            )
        )
    if lost:
        raise DatasetError(lost)
    return found[0]


def _no_choice(found: list[str], document: Mapping[Any, Any], shown: str) -> Problem:
    if found:
        return Problem(
            found=f"rows could stand under {' or '.join(repr(key) for key in found)}",
            expected="one list of rows",
            fix="Keep one of them, or write a list alone.",
            path=shown,
        )
    keys = ", ".join(repr(str(key)[:40]) for key in list(document)[:8]) or "no keys"
    return Problem(
        found=f"an object without rows (it has {keys})",
        expected="a list of rows, or an object with a list under 'rows'",
        path=shown,
    )
