"""`gate:` of a metric entry."""

from __future__ import annotations

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Gate
from pytest_evalcheck.suite.gate_rules import read_gate

RIGHT = {
    "each": ("each", None, Gate(kind="each")),
    "off": ("off", None, Gate(kind="off")),
    "off as YAML 1.1 reads it": (False, None, Gate(kind="off")),
    "pass rate": ({"pass_rate": 0.9}, None, Gate(kind="rule", pass_rate=0.9)),
    "all must pass": ({"pass_rate": 1}, None, Gate(kind="rule", pass_rate=1.0)),
    "mean at the top": ({"mean": 5}, (1, 5), Gate(kind="rule", mean=5.0)),
    "mean without a range": ({"mean": -3}, None, Gate(kind="rule", mean=-3.0)),
    "coverage alone": ({"coverage": 0.8}, None, Gate(kind="rule", coverage=0.8)),
    "regression switched off": (
        {"pass_rate": 0.5, "regression": False},
        None,
        Gate(kind="rule", pass_rate=0.5),
    ),
    "all together": (
        {"pass_rate": 0.9, "mean": 4.0, "coverage": 0.8, "confidence": 0.95},
        (1, 5),
        Gate(kind="rule", pass_rate=0.9, mean=4.0, coverage=0.8, confidence=0.95),
    ),
}

SHARE = "expected a share above 0, up to 1."
FORM = "expected each, off or a rule such as {pass_rate: 0.9}."
WRONG = {
    "a misspelt word": ("eahc", None, f"gate: 'eahc', {FORM} Did you mean 'each'?"),
    "a truth value": (True, None, f"gate: True, {FORM}"),
    "a key left empty": (None, None, f"gate: null, {FORM}"),
    "a number": (0.9, None, f"gate: 0.9, {FORM}"),
    "an empty rule": ({}, None, f"gate: an empty rule, {FORM}"),
    "a pass rate of 0": ({"pass_rate": 0}, None, f"gate.pass_rate: 0 cannot fail, {SHARE}"),
    "a percentage": (
        {"pass_rate": 90},
        None,
        f"gate.pass_rate: 90, {SHARE} Write 90% as 0.9.",
    ),
    "a percentage as text": (
        {"pass_rate": "90%"},
        None,
        "gate.pass_rate: '90%', expected a number. Write 90% as 0.9.",
    ),
    "a truth value for a share": (
        {"coverage": True},
        None,
        "gate.coverage: True, expected a number.",
    ),
    "no number": ({"mean": float("nan")}, None, "gate.mean: nan, expected a number."),
    "a mean at the low end": (
        {"mean": 1},
        (1, 5),
        "gate.mean: 1 cannot fail, expected above 1, up to 5.",
    ),
    "a mean beyond the range": (
        {"mean": 6},
        (1, 5),
        "gate.mean: 6 can never be reached, expected above 1, up to 5.",
    ),
    "confidence alone": (
        {"confidence": 0.95},
        None,
        "gate: a rule that asks for nothing, expected pass_rate, mean or coverage in it.",
    ),
    "confidence as a percentage": (
        {"pass_rate": 0.9, "confidence": 95},
        None,
        "gate.confidence: 95, expected a level from 0.5 to below 1, such as 0.95. "
        "Write 95% as 0.95.",
    ),
    "a misspelt rule": (
        {"passrate": 0.9},
        None,
        "gate.passrate: 'passrate' is not a key of a gate, expected one of pass_rate, mean, "
        "coverage, confidence, regression. Did you mean 'pass_rate'?",
    ),
    "a baseline": (
        {"regression": True},
        None,
        "gate.regression: a gate against a baseline is not part of this version. "
        "Drop `regression`; gate on pass_rate, mean or coverage.",
    ),
    "two mistakes": (
        {"pass_rate": 2, "mean": 9},
        (0, 1),
        f"gate.pass_rate: 2, {SHARE} Write 2% as 0.02.\n"
        "gate.mean: 9 can never be reached, expected above 0, up to 1.",
    ),
}


@pytest.mark.parametrize(("value", "score_range", "gate"), RIGHT.values(), ids=RIGHT)
def test_a_gate_is_read_as_written(value, score_range, gate):
    assert read_gate(value, score_range) == gate


@pytest.mark.parametrize(("value", "score_range", "text"), WRONG.values(), ids=WRONG)
def test_a_gate_that_cannot_fail_or_pass_is_refused(value, score_range, text):
    with pytest.raises(ConfigError) as caught:
        read_gate(value, score_range)
    assert str(caught.value) == text
    assert all(problem.keys[0] == "gate" for problem in caught.value.problems)
