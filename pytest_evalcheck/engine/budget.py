"""What a whole run may spend: requests, tokens, US dollars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.safetext import safe_line

__all__ = ["Budget", "Ledger", "read_budget"]

NAMES: Final = {"requests": "requests", "tokens": "tokens", "usd": "cost_usd"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that a run may spend; None is no limit.

    Attributes:
        requests: attempts of calls, retries included.
        tokens: tokens in and out.
        cost_usd: US dollars, of the calls whose cost is known.
    """

    requests: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class Ledger:
    """What a run has spent against its budget; used on one thread.

    Tokens and dollars are known when a call has answered, so that calls under way when
    the budget is spent may overshoot it; requests never do.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.requests = 0
        self.tokens = 0
        self.cost_usd = 0.0

    def take_request(self) -> str:
        """Count one attempt, or return why there may be none, as a reason."""
        for spent, limit, unit in (
            (self.requests, self.budget.requests, "requests"),
            (self.tokens, self.budget.tokens, "tokens"),
            (self.cost_usd, self.budget.cost_usd, "US dollars"),
        ):
            if limit is not None and spent >= limit:
                return f"the run's budget of {limit:,g} {unit} is spent"
        self.requests += 1
        return ""

    def add(self, used: Any) -> None:
        """Add what an outcome or a trouble says that it used."""
        for name in ("tokens_in", "tokens_out"):
            self.tokens += getattr(used, name, None) or 0
        self.cost_usd += getattr(used, "cost_usd", None) or 0.0


def read_budget(value: Any) -> Budget:
    """Return the budget written as a mapping, or as text: `requests=500,tokens=1e6,usd=2.5`.

    Raises:
        ConfigError: with every mistake.
    """
    if isinstance(value, str):
        pairs = [part.partition("=")[::2] for part in value.split(",") if part.strip()]
        value = {name.strip(): number_of(text) for name, text in pairs}
    if not isinstance(value, Mapping) or not value:
        found = f"{shown(value)} is no budget"
        raise ConfigError(Problem(found=found, expected="{requests: 500, tokens: 1000000, usd: 5}"))
    problems = [problem for one in value.items() if (problem := limit_problem(*one))]
    if problems:
        raise ConfigError(problems)
    limits = {NAMES[name]: limit for name, limit in value.items()}
    return Budget(
        requests=None if limits.get("requests") is None else int(limits["requests"]),
        tokens=None if limits.get("tokens") is None else int(limits["tokens"]),
        cost_usd=limits.get("cost_usd"),
    )


def limit_problem(name: Any, limit: Any) -> Problem | None:
    if name not in NAMES:
        near = get_close_matches(str(name), NAMES, n=1)
        return Problem(
            found=f"{shown(name)} is not a key of a budget",
            expected=" or ".join(NAMES),
            fix=f"Did you mean {near[0]!r}?" if near else "",
            keys=(str(name),),
        )
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if not is_number or not math.isfinite(limit) or limit <= 0:
        return Problem(found=shown(limit), expected="a number above 0", keys=(name,))
    if name != "usd" and limit != int(limit):
        return Problem(found=shown(limit), expected="a whole number", keys=(name,))
    return None


def number_of(text: str) -> Any:
    """Return the number a text is, or the text for the message that it is none."""
    try:
        return float(text)
    except ValueError:
        return text.strip()


def shown(value: Any) -> str:
    return safe_line(repr(value), 80)
