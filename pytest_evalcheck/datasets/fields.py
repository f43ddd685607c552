"""The fields of a row and every spelling of them that is accepted."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

__all__ = ["FIELDS", "METADATA_FIELDS", "SPELLINGS", "near_field"]

# Each field with its other spellings; camelCase of each is accepted too.
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": (),
    "input": ("question", "prompt", "query", "user_input"),
    "output": ("actual_output", "response", "completion"),
    "expected": (
        "expected_output",
        "expected_response",
        "reference",
        "ideal",
        "target",
        "answer",
        "ground_truth",
    ),
    "context": ("contexts", "retrieval_context", "retrieved_context", "retrieved_contexts"),
    "messages": (),
    "turns": (),
    "goal": (),
    "tool_calls": ("tools_called",),
    "expected_tool_calls": ("expected_tools", "reference_tool_calls"),
    "transcript": (),
    "latency_s": (),
    "tokens": (),
    "cost_usd": (),
    "app_version": (),
    "tags": (),
    "metadata": ("additional_metadata",),
    "metrics": (),
    "skip": (),
    "xfail": (),
    "expected_behavior": ("expected_behaviour",),
    "persona": (),
    "disposition": (),
    "strategy": (),
    "max_turns": (),
    "user_facts": (),
    "opening": (),
}
FIELDS: Final[tuple[str, ...]] = tuple(_ALIASES)

# Known keys of a conversation that a row keeps in its metadata, under this spelling.
METADATA_FIELDS: Final[frozenset[str]] = frozenset(
    {
        "expected_behavior",
        "persona",
        "disposition",
        "strategy",
        "max_turns",
        "user_facts",
        "opening",
    }
)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _all_spellings() -> dict[str, str]:
    spellings: dict[str, str] = {}
    for name, aliases in _ALIASES.items():
        for spelling in (name, *aliases):
            spellings[spelling] = name
            spellings[_camel(spelling)] = name
    return spellings


SPELLINGS: Final[Mapping[str, str]] = _all_spellings()
_FOLDED: Final[dict[str, str]] = {
    re.sub(r"[\s_-]+", "", spelling).casefold(): spelling
    for spelling in reversed(list(SPELLINGS))
    # A near name must not bring a wrong unit along (latency_ms).
    if SPELLINGS[spelling] != "latency_s"
}


@lru_cache(maxsize=4096)
def near_field(column: str) -> str | None:
    """Return the known spelling that a column's name nearly is, or None.

    Upper case, blanks and hyphens do not count; otherwise the ratio of
    `difflib.SequenceMatcher` must be 0.8 or more.
    """
    folded = re.sub(r"[\s_-]+", "", column[:80]).casefold()
    near = difflib.get_close_matches(folded, _FOLDED, n=1, cutoff=0.8)
    return _FOLDED[near[0]] if near else None
