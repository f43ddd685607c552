"""The ready-made judge metrics: entries of `ready_made.yaml`, beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

__all__ = ["READY_MADE", "ready_made_entry"]

READY_MADE: Final = (
    *("correctness", "faithfulness", "hallucination", "answer_relevance", "context_relevance"),
    *("semantic_similarity", "expected_behavior", "goal_satisfied", "task_completed", "safety"),
    *("conciseness", "tone"),
)


def ready_made_entry(name: str) -> Mapping[str, Any]:
    """Return the entry of a ready-made metric, its `version` included.

    Raises:
        KeyError: there is none of that name.
    """
    return ready_made_entries()[name]


@cache
def ready_made_entries() -> Mapping[str, Mapping[str, Any]]:
    from pytest_evalcheck.yamlnodes import load_yaml

    text = files(__package__).joinpath("ready_made.yaml").read_text(encoding="utf-8")
    entries, _ = load_yaml(text, "ready_made.yaml")
    return dict(entries)
