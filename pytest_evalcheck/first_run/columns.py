"""Which column of a file holds which field, where the names are not those of fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pytest_evalcheck.datasets.fields import FIELDS, METADATA_FIELDS, SPELLINGS, near_field

__all__ = ["guess_columns"]

# Names people give to a field that no reader takes for it by itself: the words of a
# name, lower case. A name that could be two fields is in none of them.
NAMES: Final[Mapping[str, frozenset[str]]] = {
    "input": frozenset(
        {
            "ask",
            "asked",
            "customer message",
            "customer question",
            "instruction",
            "problem",
            "request",
            "user",
            "user message",
            "user prompt",
            "user query",
            "user question",
            "utterance",
        }
    ),
    "output": frozenset(
        {
            "actual",
            "actual answer",
            "actual response",
            "agent response",
            "ai response",
            "assistant",
            "assistant response",
            "bot",
            "bot answer",
            "bot reply",
            "bot said",
            "generated",
            "generated answer",
            "generated text",
            "generation",
            "got",
            "llm answer",
            "llm output",
            "llm response",
            "model answer",
            "model completion",
            "model output",
            "model reply",
            "model response",
            "predicted",
            "predicted answer",
            "prediction",
            "reply",
            "system output",
        }
    ),
    "expected": frozenset(
        {
            "correct",
            "correct answer",
            "correct label",
            "expected answer",
            "expected label",
            "expected result",
            "expected value",
            "gold",
            "gold answer",
            "gold label",
            "golden",
            "golden answer",
            "gt",
            "ideal answer",
            "label",
            "must mention",
            "reference answer",
            "reference output",
            "should be",
            "solution",
            "true label",
            "truth",
            "want",
            "wanted",
        }
    ),
    "context": frozenset(
        {"documents", "evidence", "passage", "passages", "retrieved documents", "sources"}
    ),
}
FIELD_OF: Final = {name: field for field, names in NAMES.items() for name in names}
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def guess_columns(records: Iterable[Any]) -> dict[str, str]:
    """Return field -> column for fields that no column is named after.

    A column is taken for a field when its name is nearly that of the field or one of
    those people use for it, and no other column could be meant as well.

    Args:
        records: what the file holds; what is no mapping is passed over.
    """
    names = list(dict.fromkeys(name for one in records if isinstance(one, Mapping) for name in one))
    present = {SPELLINGS[name] for name in names if name in SPELLINGS}
    found: dict[str, list[str]] = {}
    for name in names:
        if name in SPELLINGS or not isinstance(name, str) or not name.strip():
            continue
        field = _field_of(name)
        if field is not None and field not in present:
            found.setdefault(field, []).append(name)
    return {field: found[field][0] for field in FIELDS if len(found.get(field, ())) == 1}


def _field_of(name: str) -> str | None:
    words = " ".join(WORD.findall(name[:80])).lower()
    if words in FIELD_OF:
        return FIELD_OF[words]
    spelling = near_field(name)
    field = SPELLINGS[spelling] if spelling is not None else None
    return None if field in METADATA_FIELDS or field == "id" else field
