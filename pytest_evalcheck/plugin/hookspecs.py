"""The hooks by which other plugins and conftest files extend the run.

Every hook is optional; implement the ones you need in a `conftest.py`.

PYTEST_DONT_REWRITE: every run imports this, and there is no assert to rewrite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_evalcheck.model import Metric, Row, Score
    from pytest_evalcheck.results import Results


@pytest.hookspec
def pytest_evalcheck_register(registry: Any) -> None:
    """Add checks of your own, before the first suite is read.

    Args:
        registry: call `registry.add(spec)` with a
            `pytest_evalcheck.checks.registry.CheckSpec`; a name that exists already
            is refused.
    """


@pytest.hookspec(firstresult=True)
def pytest_evalcheck_row(row: Row) -> Row | None:
    """Replace a row after it was read and before its items are made.

    Return a new row (`dataclasses.replace(row, ...)`) or None to leave it to the
    next implementation. The id must stay unique within the dataset.
    """


@pytest.hookspec
def pytest_evalcheck_score(row: Row, metric: Metric, score: Score) -> None:
    """Look at a score when it has been made; it cannot be changed."""


@pytest.hookspec
def pytest_evalcheck_summary(summary: Results) -> None:
    """Look at the figures of the whole run, on the controller, before they are printed."""
