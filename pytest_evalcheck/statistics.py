"""Intervals and estimates, in plain Python: no import heavier than `math`.

Every function refuses what has no answer (`ValueError`) instead of returning a
number that only looks like one. Sums are exactly rounded (`math.fsum`), so that
no figure depends on the order in which values arrive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache

__all__ = [
    "bootstrap_interval",
    "mean",
    "median",
    "normal_quantile",
    "pass_all_k",
    "pass_at_k",
    "rule_of_three",
    "stdev",
    "student_t_interval",
    "student_t_interval_of",
    "student_t_quantile",
    "wilson_bounds",
    "wilson_interval",
]

Interval = tuple[float, float]


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, independent of the order of the values.

    Raises:
        ValueError: there are no values; "nothing measured" is not 0.
    """
    if not values:
        raise ValueError("the mean of no values does not exist")
    return math.fsum(values) / len(values)


def stdev(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1 in the denominator).

    Equal values give exactly 0.0, where a rounded mean would leave a residue.

    Raises:
        ValueError: fewer than two values.
    """
    if len(values) < 2:
        raise ValueError("a standard deviation needs two values")
    if min(values) == max(values):
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def median(values: Iterable[float]) -> float:
    """Return the middle value, or the mean of the two middle ones.

    Raises:
        ValueError: there are no values.
    """
    ranked = sorted(values)
    if not ranked:
        raise ValueError("the median of no values does not exist")
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2


@cache
def normal_quantile(confidence: float) -> float:
    """Return z so that a normal variable lies within +-z with that probability.

    Raises:
        ValueError: `confidence` is not strictly between 0 and 1.
    """
    # The standard library's module of this name costs 5 ms to import.
    from statistics import NormalDist

    _check_confidence(confidence)
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson_interval(passed: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the score interval of a rate.

    Source: E. B. Wilson, "Probable inference, the law of succession, and
    statistical inference", JASA 22 (1927), without continuity correction.

    Raises:
        ValueError: `n` is not a positive whole number, or `passed` not within 0..n.
    """
    _check_count("n", n, least=1)
    _check_count("passed", passed, least=0)
    if passed > n:
        raise ValueError(f"{passed} passed of {n} is not a rate")
    return wilson_bounds(passed / n, n, normal_quantile(confidence))


def wilson_bounds(rate: float, n: int, z: float) -> Interval:
    """Return Wilson's bounds of a rate that need not be a whole count of `n`."""
    z2 = z * z
    centre = rate + z2 / (2 * n)
    spread = z * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    scale = 1 + z2 / n
    # At 0 and 1 one bound is exact; rounding must not push it off the edge.
    lower = 0.0 if rate == 0 else max(0.0, (centre - spread) / scale)
    upper = 1.0 if rate == 1 else min(1.0, (centre + spread) / scale)
    return lower, upper


def student_t_interval(
    values: Sequence[float],
    confidence: float = 0.95,
    score_range: Interval | None = None,
) -> Interval | None:
    """Return the t interval of a mean, clamped to the possible range, or None below n = 2.

    Source: "Student" (W. S. Gosset), "The probable error of a mean", Biometrika 6 (1908).
    """
    if len(values) < 2:
        return None
    return student_t_interval_of(len(values), mean(values), stdev(values), confidence, score_range)


def student_t_interval_of(
    n: int,
    mean: float,
    stdev: float | None,
    confidence: float = 0.95,
    score_range: Interval | None = None,
) -> Interval | None:
    """Return the t interval from the figures alone, or None below n = 2."""
    _check_confidence(confidence)
    if n < 2 or stdev is None:
        return None
    margin = 0.0 if stdev == 0 else _margin(n, stdev, confidence)
    lower, upper = mean - margin, mean + margin
    if score_range is None:
        return lower, upper
    least, most = score_range
    return min(max(lower, least), most), max(min(upper, most), least)


def _margin(n: int, stdev: float, confidence: float) -> float:
    return student_t_quantile(0.5 + confidence / 2, n - 1) * stdev / math.sqrt(n)


@cache
def student_t_quantile(p: float, df: int) -> float:
    """Return t so that a Student t variable with `df` degrees of freedom is below it with `p`.

    Found by inverting the regularised incomplete beta function: the two tails
    beyond t hold I_x(df/2, 1/2) with x = df / (df + t^2) (Abramowitz and Stegun,
    Handbook of Mathematical Functions, 26.5.27 and 26.7.1).

    Raises:
        ValueError: `p` is not strictly between 0 and 1, or `df` below 1.
    """
    _check_confidence(p)
    _check_count("df", df, least=1)
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -student_t_quantile(1 - p, df)
    tails = 2 * (1 - p)
    high = 1.0
    while _t_tails(high, df) > tails:
        high *= 2
    return _bisect_down(lambda t: _t_tails(t, df) - tails, high / 2 if high > 1 else 0.0, high)


def _t_tails(t: float, df: int) -> float:
    """Return the probability beyond +-t."""
    square = t * t
    return _beta_share(df / (df + square), square / (df + square), df / 2)


def _bisect_down(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses zero, to the last bit."""
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if excess(middle) > 0:
            low = middle
        else:
            high = middle


def _beta_share(x: float, rest: float, a: float) -> float:
    """Return the regularised incomplete beta function I_x(a, 1/2), with rest = 1 - x.

    `rest` is passed because 1 - x loses its digits for x near 1.
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    log_x = math.log1p(-rest) if rest < 0.5 else math.log(x)
    front = math.exp(_log_gamma_step(a) + a * log_x) * math.sqrt(rest / math.pi)
    if x < (a + 1) / (a + 2.5):
        return front * _beta_fraction(x, a, 0.5) / a
    return 1 - front * _beta_fraction(rest, 0.5, a) * 2


def _log_gamma_step(a: float) -> float:
    """Return log(gamma(a + 1/2) / gamma(a)); the difference of two large logs loses digits.

    Source of the series: DLMF 5.11.13.
    """
    if a < 100:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function.

    Source: DLMF 8.17.22, evaluated by Lentz's method (W. J. Lentz, "Generating
    Bessel functions in Mie scattering calculations", Applied Optics 15, 1976).
    """
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            c = 1 + step / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value


def rule_of_three(n: int) -> float:
    """Return the 95 % bound on a rate of which not one case was seen in `n`: 3/n, at most 1.

    Source: J. A. Hanley and A. Lippman-Hand, "If nothing goes wrong, is
    everything all right?", JAMA 249 (1983).

    Raises:
        ValueError: `n` is not a positive whole number.
    """
    _check_count("n", n, least=1)
    return min(1.0, 3 / n)


def bootstrap_interval(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float] = median,
    *,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Interval | None:
    """Return the percentile bootstrap interval of a statistic, or None below n = 2.

    The values are sorted first, so the same values and seed give the same
    interval whatever their order.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals
    of Statistics 7 (1979).
    """
    import random

    _check_confidence(confidence)
    if len(values) < 2:
        return None
    draw = random.Random(seed)
    ranked = sorted(values)
    found = sorted(statistic(draw.choices(ranked, k=len(ranked))) for _ in range(resamples))
    tail = (1 - confidence) / 2
    return _quantile(found, tail), _quantile(found, 1 - tail)


def _quantile(ranked: Sequence[float], share: float) -> float:
    """Return a quantile by linear interpolation (Hyndman and Fan's type 7, 1996)."""
    place = share * (len(ranked) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (place - below)


def pass_at_k(n: int, passed: int, k: int) -> float:
    """Return the chance that at least one of `k` tries passes, from `passed` of `n` seen.

    The unbiased estimator 1 - C(n - c, k) / C(n, k) of M. Chen et al., "Evaluating
    large language models trained on code" (2021).

    Raises:
        ValueError: `k` is larger than `n`, or a count is impossible.
    """
    _check_tries(n, passed, k)
    return 1 - math.comb(n - passed, k) / math.comb(n, k)


def pass_all_k(n: int, passed: int, k: int) -> float:
    """Return the chance that all of `k` tries pass, from `passed` of `n` seen.

    The unbiased estimator C(c, k) / C(n, k), called pass^k by S. Yao et al.,
    "tau-bench" (2024).

    Raises:
        ValueError: `k` is larger than `n`, or a count is impossible.
    """
    _check_tries(n, passed, k)
    return math.comb(passed, k) / math.comb(n, k)


def _check_tries(n: int, passed: int, k: int) -> None:
    _check_count("n", n, least=1)
    _check_count("passed", passed, least=0)
    _check_count("k", k, least=1)
    if passed > n or k > n:
        raise ValueError(f"{passed} passed and k = {k} do not fit n = {n}")


def _check_count(name: str, value: int, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on, not {value!r}")


def _check_confidence(value: float) -> None:
    if isinstance(value, bool) or not 0 < value < 1:
        raise ValueError(f"a probability strictly between 0 and 1 is needed, not {value!r}")
