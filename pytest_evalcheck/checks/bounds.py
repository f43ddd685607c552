"""Bounds of a number, as several checks take them: inclusive, at least one, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_evalcheck.checks.options import Option, Settings

__all__ = ["Bounds", "bound_options", "read_bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """An inclusive range; None is an open end."""

    least: Any
    most: Any

    def hold(self, number: Any) -> bool:
        """Tell whether a number lies within, ends included."""
        if self.least is not None and number < self.least:
            return False
        return self.most is None or number <= self.most

    def text(self, unit: str = "") -> str:
        """Return the range in words."""
        suffix = f" {unit}" if unit else ""
        if self.least is None:
            return f"at most {self.most}{suffix}"
        if self.most is None:
            return f"at least {self.least}{suffix}"
        if self.least == self.most:
            return f"exactly {self.least}{suffix}"
        return f"{self.least} to {self.most}{suffix}"


def bound_options(kind: str) -> tuple[Option, Option]:
    """Return the options min and max, read as a kind of number."""
    return (
        Option(name="min", kind=kind, summary="the least that passes"),
        Option(name="max", kind=kind, summary="the most that passes"),
    )


def read_bounds(settings: Settings) -> Bounds:
    """Return the bounds of an entry.

    Raises:
        ConfigError: neither is given, or they are reversed.
    """
    least, most = settings["min"], settings["max"]
    if least is None and most is None:
        raise settings.problem("min", f"{settings.check} has no bound", "min, max or both")
    if least is not None and most is not None and least > most:
        raise settings.problem(
            "min", f"min {least} is above max {most}", fix="No value can lie between: swap them."
        )
    return Bounds(least, most)
