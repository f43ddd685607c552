"""Glama's Tool Definition Quality Score: six dimensions that a judge gives, 1 to 5 each.

What the judge says is not read here; these are the figures made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal

__all__ = ["DIMENSIONS", "Tier", "server_tdqs", "tdqs", "tier_of", "to_tenths"]

# The dimensions with their weights, in hundredths.
DIMENSIONS: Final[Mapping[str, int]] = {
    "purpose": 25,
    "usage": 20,
    "behaviour": 20,
    "parameters": 15,
    "conciseness": 10,
    "completeness": 10,
}
Tier = Literal["A", "B", "C", "D"]
_TIERS: Final[tuple[tuple[Fraction, Tier], ...]] = (
    (Fraction(35, 10), "A"),
    (Fraction(3), "B"),
    (Fraction(2), "C"),
)


def tdqs(given: Mapping[str, int | float]) -> Fraction:
    """Return the weighted mean of the six dimensions, exact.

    Args:
        given: a score of 1 to 5 for each of `DIMENSIONS`.

    Raises:
        ValueError: a dimension is missing, unknown, or outside of 1 to 5.
    """
    if given.keys() != DIMENSIONS.keys():
        raise ValueError(f"TDQS needs a score for each of {', '.join(DIMENSIONS)}")
    if outside := [name for name, score in given.items() if not 1 <= score <= 5]:
        raise ValueError(f"TDQS goes from 1 to 5, which {', '.join(outside)} does not")
    weighted = (weight * Fraction(str(given[name])) for name, weight in DIMENSIONS.items())
    return sum(weighted, Fraction(0)) / 100


def server_tdqs(tools: Sequence[Fraction]) -> Fraction | None:
    """Return 0.6 of the mean and 0.4 of the lowest of a server's tools, or None of none."""
    if not tools:
        return None
    return Fraction(6, 10) * sum(tools, Fraction(0)) / len(tools) + Fraction(4, 10) * min(tools)


def tier_of(score: Fraction) -> Tier:
    """Return the tier of a score before it is rounded."""
    return next((tier for least, tier in _TIERS if score >= least), "D")


def to_tenths(score: Fraction) -> float:
    """Return a score as Glama shows it: one decimal, halves up."""
    return (score * 10 + Fraction(1, 2)).__floor__() / 10
