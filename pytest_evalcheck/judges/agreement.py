"""How far a judge agrees with people: figures over pairs of judge's and human's values.

Every function returns None where its figure does not exist (no pairs, a constant side),
never a number that only looks like one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pytest_evalcheck.statistics import mean

__all__ = [
    "agreement_rate",
    "cohen_kappa",
    "confusion_kappa",
    "evidence_level",
    "flip_rate",
    "mean_absolute_error",
    "order_bias",
    "pearson",
    "rank_correlation",
    "rates_at",
    "round_half_up",
]

Pair = tuple[float, float]
Level = Literal["count", "provisional", "firm"]


def agreement_rate(pairs: Sequence[Pair]) -> float | None:
    """Return the share of pairs with equal values, or None without pairs."""
    if not pairs:
        return None
    return sum(judge == human for judge, human in pairs) / len(pairs)


def cohen_kappa(
    pairs: Sequence[Pair], categories: Sequence[float], *, quadratic: bool = False
) -> float | None:
    """Return Cohen's kappa of categorical values, or None without pairs.

    1 when no disagreement is to be expected (one category only); below zero as it is.

    Source: J. Cohen, "A coefficient of agreement for nominal scales" (1960); with
    quadratic weights, "Weighted kappa" (1968), the distance of two categories being that
    of their places.

    Args:
        pairs: judge's and human's category.
        categories: all categories in order, those that never came included.
        quadratic: weigh a disagreement by the square of its distance.

    Raises:
        ValueError: a value is not one of the categories.
    """
    if not pairs:
        return None
    places = {category: place for place, category in enumerate(categories)}
    missing = [value for pair in pairs for value in pair if value not in places]
    if missing:
        raise ValueError(f"{missing[0]!r} is not one of the categories")
    seen = Counter((places[judge], places[human]) for judge, human in pairs)
    rows = Counter(places[judge] for judge, _ in pairs)
    columns = Counter(places[human] for _, human in pairs)

    def weight(one: int, other: int) -> int:
        return (one - other) ** 2 if quadratic else int(one != other)

    observed = sum(count * weight(*cell) for cell, count in seen.items())
    expected = sum(
        rows[one] * columns[other] * weight(one, other) for one in rows for other in columns
    )
    return 1.0 if expected == 0 else 1 - observed * len(pairs) / expected


def confusion_kappa(*, tp: int, fp: int, fn: int, tn: int) -> float:
    """Return Cohen's kappa of a two by two table.

    Raises:
        ValueError: a count is no whole number of 0 or more, or all are 0.
    """
    for count in (tp, fp, fn, tn):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"a count must be a whole number of 0 or more, not {count!r}")
    n = tp + fp + fn + tn
    if n == 0:
        raise ValueError("a table without a case has no kappa")
    # The expected disagreements: a yes by one side and a no by the other.
    expected = (tp + fp) * (fp + tn) + (fn + tn) * (tp + fn)
    return 1.0 if expected == 0 else 1 - (fp + fn) * n / expected


def round_half_up(value: float, low: float, high: float) -> float:
    """Return the whole number nearest to a value, halves up, within the scale."""
    return min(max(float(math.floor(value + 0.5)), low), high)


def mean_absolute_error(pairs: Sequence[Pair]) -> float | None:
    """Return the mean distance of judge and human, or None without pairs."""
    return mean([abs(judge - human) for judge, human in pairs]) if pairs else None


def pearson(pairs: Sequence[Pair]) -> float | None:
    """Return Pearson's correlation, or None below two pairs or where a side is constant."""
    if len(pairs) < 2:
        return None
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    if min(first) == max(first) or min(second) == max(second):
        return None
    middle, centre = mean(first), mean(second)
    shared = math.fsum((one - middle) * (other - centre) for one, other in pairs)
    spread = math.fsum((one - middle) ** 2 for one in first)
    width = math.fsum((other - centre) ** 2 for other in second)
    divisor = math.sqrt(spread) * math.sqrt(width)
    return None if divisor == 0 else max(-1.0, min(1.0, shared / divisor))


def rank_correlation(pairs: Sequence[Pair]) -> float | None:
    """Return Spearman's rank correlation, ties sharing their mean rank, or None as `pearson`.

    Source: C. Spearman, "The proof and measurement of association between two things" (1904).
    """
    judges, humans = (mean_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    return pearson(list(zip(judges, humans, strict=True)))


def mean_ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1, equal values sharing the mean of theirs."""
    places: dict[float, list[int]] = {}
    for rank, value in enumerate(sorted(values), start=1):
        places.setdefault(value, []).append(rank)
    return [(places[value][0] + places[value][-1]) / 2 for value in values]


def rates_at(verdicts: Sequence[tuple[bool, bool]]) -> tuple[float | None, float | None]:
    """Return the true-positive and true-negative rate of (judge, human) verdicts.

    Of what people pass, the share the judge passes; of what they fail, the share it fails.
    None where people passed, or failed, nothing.
    """
    good = [judge for judge, human in verdicts if human]
    bad = [judge for judge, human in verdicts if not human]
    return (
        sum(good) / len(good) if good else None,
        sum(not judge for judge in bad) / len(bad) if bad else None,
    )


def flip_rate(samples: Sequence[Sequence[bool]]) -> float | None:
    """Return the share of rows whose samples are not all on one side of the threshold.

    None when no row has two samples.
    """
    repeated = [verdicts for verdicts in samples if len(verdicts) > 1]
    if not repeated:
        return None
    return sum(len(set(verdicts)) > 1 for verdicts in repeated) / len(repeated)


def order_bias(orders: Sequence[tuple[float, float]]) -> float | None:
    """Return how much more often the text shown first wins than the one shown second.

    Args:
        orders: for each pair the output's value (1, 0.5 or 0) shown first, and shown second.

    Returns:
        -1 (the second always wins) to 1 (the first always does), 0 without bias; None
        without pairs.
    """
    if not orders:
        return None
    return mean([forward - backward for forward, backward in orders])


def evidence_level(labels: int) -> Level:
    """Return what a number of labels is good for: under 10 a count, under 30 provisional."""
    return "count" if labels < 10 else "provisional" if labels < 30 else "firm"
