"""The figures of Glama's Tool Definition Quality Score."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_evalcheck.toolspecs.tdqs import DIMENSIONS, server_tdqs, tdqs, tier_of, to_tenths


def given(*scores):
    return dict(zip(DIMENSIONS, scores, strict=True))


@pytest.mark.parametrize(
    ("scores", "exact", "shown", "tier"),
    [
        ((4, 2, 2, 3, 4, 2), "2.85", 2.9, "C"),
        ((5, 5, 5, 5, 5, 5), "5", 5.0, "A"),
        ((1, 1, 1, 1, 1, 1), "1", 1.0, "D"),
        ((4, 3, 3, 4, 4, 3), "3.5", 3.5, "A"),
        ((3, 3, 3, 3, 3, 3), "3", 3.0, "B"),
        ((2, 2, 2, 2, 2, 1), "1.9", 1.9, "D"),
    ],
)
def test_the_weighted_mean_its_tier_and_how_it_is_shown(scores, exact, shown, tier):
    score = tdqs(given(*scores))
    assert (score, to_tenths(score), tier_of(score)) == (Fraction(exact), shown, tier)


def test_a_server_is_pulled_down_by_its_lowest_tool():
    assert server_tdqs([Fraction(4), Fraction(2)]) == Fraction("2.6")
    assert server_tdqs([]) is None


@pytest.mark.parametrize(
    "scores", [{}, given(0, 1, 1, 1, 1, 1), {**given(1, 1, 1, 1, 1, 1), "x": 1}]
)
def test_what_is_no_set_of_scores_is_refused(scores):
    with pytest.raises(ValueError, match="TDQS"):
        tdqs(scores)
