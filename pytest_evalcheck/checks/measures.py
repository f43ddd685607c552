"""Checks on what a row cost: time, money and tokens, as recorded in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, Plan, Settled
from pytest_evalcheck.model import Row

MILLISECONDS: Final = 1000


def most_option(unit: str) -> Option:
    """Return the option `max` in a unit."""
    return Option(name="max", kind="amount", required=True, summary=f"the most allowed, in {unit}")


def plan_measure(
    settings: Settings, name: str, read: Callable[[Row], float | None], unit: str
) -> Plan:
    """Return the plan of a check that a recorded quantity is at most `max`."""
    most = settings["max"]

    def compare(row: Any, _operand: None) -> Finding:
        amount = read(row)
        if amount is None:
            raise Settled.missing("not_applicable", f"the row has no recorded {name}")
        return Finding(
            amount <= most,
            float(amount),
            found=f"{amount:g} {unit}",
            wanted=f"at most {most:g} {unit}",
        )

    return Plan(compare=compare, reads="row")


@check(
    "latency",
    most_option("milliseconds"),
    summary="the recorded latency is at most max milliseconds",
    score="value",
    threshold="none",
)
def build_latency(settings: Settings) -> Plan:
    """Compile `latency`; its value is in milliseconds."""
    return plan_measure(settings, "latency", latency_ms, "ms")


def latency_ms(row: Row) -> float | None:
    """Return the recorded latency in milliseconds, free of binary noise."""
    return None if row.latency_s is None else round(row.latency_s * MILLISECONDS, 6)


@check(
    "cost",
    most_option("US dollars"),
    summary="the recorded cost is at most max US dollars",
    score="value",
    threshold="none",
)
def build_cost(settings: Settings) -> Plan:
    """Compile `cost`; its value is in US dollars."""
    return plan_measure(settings, "cost", lambda row: row.cost_usd, "USD")


@check(
    "tokens",
    most_option("tokens"),
    summary="the recorded number of tokens is at most max",
    score="value",
    threshold="none",
)
def build_tokens(settings: Settings) -> Plan:
    """Compile `tokens`."""
    return plan_measure(settings, "number of tokens", lambda row: row.tokens, "tokens")
