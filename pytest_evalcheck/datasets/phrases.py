"""Pieces of the sentences in which a dataset's problems are told."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Final

from pytest_evalcheck.errors import Problem
from pytest_evalcheck.jsonvalues import json_text

__all__ = ["listed", "near_hint", "shown_value", "too_deep"]

_SHOWN_CHARACTERS: Final = 60


def near_hint(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return "Did you mean 'x'?" when a known name is near, else ""."""
    near = difflib.get_close_matches(name, list(known), n=2, cutoff=cutoff)
    return f"Did you mean {' or '.join(repr(one) for one in near)}?" if near else ""


def shown_value(value: Any) -> str:
    """Return a value as compact JSON, text in quotes, cut at 60 characters."""
    text = f"'{value[:200]}'" if isinstance(value, str) else json_text(value)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def listed(names: Iterable[str]) -> str:
    """Return the first eight names in quotes and how many more there are."""
    every = list(names)
    shown = ", ".join(f"'{name[:40]}'" for name in every[:8])
    return (shown + (f" and {len(every) - 8} more" if len(every) > 8 else "")) or "no columns"


def too_deep(shown: str, line: int) -> Problem:
    """Return the problem of a row whose lists and objects nest beyond what can be read."""
    return Problem(found="the row is nested too deep to read", path=shown, line=line or None)
