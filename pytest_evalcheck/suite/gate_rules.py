"""The `gate` of a metric entry, read into a `Gate`: a rule that cannot fail is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Gate
from pytest_evalcheck.suite.keys import GATE_KEYS, is_number, near, show, unknown_key

__all__ = ["read_gate"]

RULES: Final = tuple(key.name for key in GATE_KEYS)
EXPECTED: Final = "each, off or a rule such as {pass_rate: 0.9}"


def read_gate(value: Any, score_range: tuple[float, float] | None) -> Gate:
    """Return the gate an entry asks for.

    Args:
        value: what stands under `gate`. Readers of YAML 1.1 make false of a bare `off`,
            so false is taken for it; null, a key left empty, is no gate.
        score_range: lowest and highest value of the metric, or None when unbounded.

    Raises:
        ConfigError: with every mistake; each Problem's `keys` begins with `gate`.
    """
    if value == "each":
        return Gate(kind="each")
    if value is False or value == "off":
        return Gate(kind="off")
    if isinstance(value, Mapping):
        return read_rule(value, score_range)
    fix = near(value, ("each", "off", *RULES))
    raise ConfigError(problem((), show(value), EXPECTED, fix))


def read_rule(rule: Mapping[Any, Any], score_range: tuple[float, float] | None) -> Gate:
    """Return the gate of a rule on the whole metric.

    Raises:
        ConfigError: with every mistake of the rule.
    """
    if not rule:
        raise ConfigError(problem((), "an empty rule", EXPECTED))
    problems = [wrong for name, given in rule.items() if (wrong := fault(name, given, score_range))]
    numbers: dict[str, Any] = {
        name: float(rule[name]) for name in RULES if is_number(rule.get(name))
    }
    if not problems and not numbers.keys() - {"confidence"}:
        problems.append(
            problem((), "a rule that asks for nothing", "pass_rate, mean or coverage in it")
        )
    if problems:
        raise ConfigError(problems)
    return Gate(kind="rule", **numbers)


def fault(name: Any, given: Any, score_range: tuple[float, float] | None) -> Problem | None:
    """Return what is wrong with one part of a rule, or None."""
    if name == "regression":
        return regression_fault(given)
    if name not in RULES:
        unknown = unknown_key(name, (*RULES, "regression"), "a gate")
        return problem((name,), unknown.found, unknown.expected, unknown.fix)
    if not is_number(given):
        fix = "Write 90% as 0.9." if isinstance(given, str) and "%" in given else ""
        return problem((name,), show(given), "a number", fix)
    if name == "mean":
        return mean_fault(given, score_range)
    return SHARES[name](name, given)


def regression_fault(given: Any) -> Problem | None:
    """Return why `regression` is refused, or None when it is switched off."""
    if given is False:
        return None
    return problem(
        ("regression",),
        "a gate against a baseline is not part of this version",
        fix="Drop `regression`; gate on pass_rate, mean or coverage.",
    )


def share_fault(name: str, given: float) -> Problem | None:
    """Return what is wrong with a least share: it must be able to fail and to pass."""
    if 0 < given <= 1:
        return None
    if given == 0:
        return problem((name,), "0 cannot fail", "a share above 0, up to 1")
    fix = f"Write {given:g}% as {given / 100:g}." if 1 < given <= 100 else ""
    return problem((name,), f"{given:g}", "a share above 0, up to 1", fix)


def confidence_fault(name: str, given: float) -> Problem | None:
    """Return what is wrong with a level of confidence: 0.5 to below 1."""
    if 0.5 <= given < 1:
        return None
    fix = f"Write {given:g}% as {given / 100:g}." if 1 < given < 100 else ""
    return problem((name,), f"{given:g}", "a level from 0.5 to below 1, such as 0.95", fix)


def mean_fault(given: float, score_range: tuple[float, float] | None) -> Problem | None:
    """Return what is wrong with a least mean in the light of the metric's range."""
    if score_range is None:
        return None
    low, high = score_range
    if given <= low:
        return problem(("mean",), f"{given:g} cannot fail", f"above {low:g}, up to {high:g}")
    if given > high:
        return problem(
            ("mean",), f"{given:g} can never be reached", f"above {low:g}, up to {high:g}"
        )
    return None


def problem(keys: tuple[Any, ...], found: str, expected: str = "", fix: str = "") -> Problem:
    """Return a problem below `gate`."""
    where = ".".join(("gate", *(str(key) for key in keys)))
    return Problem(found=found, expected=expected, fix=fix, where=where, keys=("gate", *keys))


SHARES: Final[Mapping[str, Callable[[str, float], Problem | None]]] = {
    "pass_rate": share_fault,
    "coverage": share_fault,
    "confidence": confidence_fault,
}
