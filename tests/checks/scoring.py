"""Short ways to score one value with one check in a test."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Row, Score


def score(check: str, output: Any = None, expected: Any = None, /, **options: Any) -> Score:
    """Score one output with one check."""
    return compile_check({"check": check, **options}).score(Row(output=output, expected=expected))


def problems_of(check: Any, **options: Any) -> list[str]:
    """Return the problems of a mis-written check, each as its option and its text."""
    with pytest.raises(ConfigError) as caught:
        compile_check({"check": check, **options})
    return [f"{problem.keys[0]}: {problem.text()}" for problem in caught.value.problems]
