"""The fixtures `evalcheck` and `eval_row` for tests marked with `@pytest.mark.metric`.

PYTEST_DONT_REWRITE: every run imports this, and there is no assert to rewrite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

if TYPE_CHECKING:
    from pytest_evalcheck.model import Metric, Row, Score

__all__ = ["EVALCHECK", "Evalcheck", "eval_row", "evalcheck"]


class Evalcheck:
    """What a Python test can say about the metric it stands for.

    Attributes:
        recorded: the last score given, or None.
        absent: code and reason of a missing verdict, or None.
        evaluated: what `evaluate` scored: metric, row and score.
        telling: whether pytest is being told of subtests, which make reports of their own.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self.recorded: tuple[float | bool, str] | None = None
        self.absent: tuple[str, str] | None = None
        self.evaluated: list[tuple[Metric, Row, Score]] = []
        self.telling = False

    def score(self, value: float, *, reason: str = "") -> None:
        """Give the test's metric its value; the metric's threshold decides if it passes.

        Args:
            value: a finite number, or True or False, which need no threshold.
            reason: one line for the report.

        Raises:
            ValueError: the value is not a finite number (a missing verdict is told by
                `non_evaluable`, never by NaN or None), the reason is no text, or the
                test has given a value before.
        """
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(
                f"evalcheck.score({value!r}): expected a finite number. "
                "Use evalcheck.non_evaluable(reason) when there is no verdict."
            )
        _check_reason(reason)
        if self.recorded is not None:
            raise ValueError(
                f"evalcheck.score({value!r}): the test has given {self.recorded[0]!r} before. "
                "A test gives its metric one value: parametrize it, or score once."
            )
        self.recorded = (value, reason)

    def non_evaluable(self, reason: str, *, code: str = "not_applicable") -> NoReturn:
        """Say that there is no verdict, and why; the test ends as skipped.

        Args:
            reason: what is missing.
            code: one of the reason codes.

        Raises:
            ValueError: the reason is no text, or the code is not one of the list.
        """
        from pytest_evalcheck.model import CODES
        from pytest_evalcheck.safetext import safe_line

        _check_reason(reason)
        if code not in CODES:
            raise ValueError(f"code {code!r} is not one of: {', '.join(CODES)}")
        self.absent = (code, reason)
        pytest.skip(safe_line(f"{code}: {reason}"))

    def evaluate(
        self, output: Any, *, row: Row | Mapping[str, Any] | None = None
    ) -> dict[str, Score]:
        """Score an output the test made with every metric of the governing suite.

        A failing metric whose gate is `each` fails the test: as a subtest of its own
        where pytest has subtests, else all of them together at the end of the test.

        Args:
            output: what the application answered, text or JSON.
            row: the row it answers: `eval_row`, a mapping as a dataset line would be, or
                None for an output without expected value.

        Returns:
            The score of each metric that applies, by name.

        Raises:
            UsageError: no suite governs the test's file.
        """
        from pytest_evalcheck.plugin.marked import evaluate_output

        return evaluate_output(self, self._request, output, row)


def _check_reason(reason: object) -> None:
    if not isinstance(reason, str):
        raise ValueError(f"reason={reason!r}: expected a text")


EVALCHECK: Final = pytest.StashKey[Evalcheck]()


@pytest.fixture
def evalcheck(request: pytest.FixtureRequest) -> Evalcheck:
    """Say more than pass or fail: a score, a missing verdict, or a whole suite."""
    helper = request.node.stash[EVALCHECK] = Evalcheck(request)
    return helper


@pytest.fixture
def eval_row(request: pytest.FixtureRequest) -> Row:
    """The dataset row of this run of a test marked with `metric(..., dataset=...)`."""
    pytest.fail(
        "eval_row has a value only in a test marked with "
        '@pytest.mark.metric("name", dataset="file.jsonl")',
        pytrace=False,
    )
