"""Every shared vector of the checks gives the result its own test suite wants."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_evalcheck.checks import CHECKS, compile_check
from pytest_evalcheck.checks.dialects import from_completionkit
from pytest_evalcheck.datasets import row_from_mapping
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Score
from shared_data import SHARED

# Vectors that contradict what our checks mean, with the rule each would break.
EXCEPTIONS = {
    "eg-fields-15": "field_presence takes dotted names: x.a is there in {x: {a: 1}}",
    "eg-shape-09": "structural_shape with a schema holds the mapping to it: z is required",
}
VECTORS = SHARED / "cases" / "checks.jsonl"


def revive(value: Any) -> Any:
    """Return a vector's value with the floats that JSON cannot hold put back."""
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            return float(value["$float"])
        return {key: revive(item) for key, item in value.items()}
    return [revive(item) for item in value] if isinstance(value, list) else value


def read_vectors() -> Iterator[Any]:
    if not VECTORS.exists():
        yield pytest.param({}, id="absent", marks=pytest.mark.skip("the shared vectors are absent"))
        return
    for line in VECTORS.read_text(encoding="utf-8").splitlines():
        vector = revive(json.loads(line))
        yield pytest.param(vector, id=vector["id"])


def score_vector(metric: dict[str, Any], row: dict[str, Any]) -> Score:
    if "check_config" in metric:
        options = from_completionkit(metric)
    else:
        options = {key: value for key, value in metric.items() if key != "name"}
    return compile_check(options).score(row_from_mapping(row))


@pytest.mark.parametrize("vector", list(read_vectors()))
def test_a_shared_vector_gives_its_result(vector):
    if vector["id"] in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[vector["id"]])
    want = vector["want"]
    if want["status"] == "config_error":
        with pytest.raises(ConfigError):
            score_vector(vector["metric"], vector["row"])
        return
    score = score_vector(vector["metric"], vector["row"])
    if want["status"] == "non_evaluable":
        assert score.status in ("non_evaluable", "blocked"), score
        return
    assert (score.status, score.passed) == ("scored", want["status"] == "passed"), score
    if want["score"] is not None:
        assert math.isclose(score.value, want["score"], abs_tol=5e-5), score


def test_every_exception_is_a_vector_that_we_answer_otherwise():
    if not VECTORS.exists():
        pytest.skip("the shared vectors are absent")
    vectors = [param.values[0] for param in read_vectors()]
    named = [vector for vector in vectors if vector["id"] in EXCEPTIONS]
    assert len(named) == len(EXCEPTIONS)
    for vector in named:
        score = score_vector(vector["metric"], vector["row"])
        assert score.passed is not (vector["want"]["status"] == "passed"), vector["id"]


def test_every_check_of_the_vectors_is_registered():
    names = {"contains", "numeric_equals", "list_overlap", "exact_match", "tool_calls"}
    assert names <= set(CHECKS)
