"""The properties a result leaves in pytest's own JUnit XML."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_evalcheck.model import Result
from pytest_evalcheck.safetext import safe_line

__all__ = ["JUNIT_NAMES", "junit_properties"]


# The names of the properties, in their order.
JUNIT_NAMES: Final = ("metric", "value", "status", "code")


def junit_properties(result: Result) -> list[tuple[str, str]]:
    """Return `metric`, `value`, `status` and `code` as flat text, "" for no value.

    pytest writes a property that is no text as its repr; these are text that XML
    1.0 can carry.
    """
    return list(_properties(result.metric, result.value, result.status, result.code))


@lru_cache(maxsize=4_096)
def _properties(
    metric: str, value: float | None, status: str, code: str | None
) -> tuple[tuple[str, str], ...]:
    return (
        ("metric", safe_line(metric)),
        ("value", "" if value is None else repr(float(value))),
        ("status", status),
        ("code", code or ""),
    )
