"""The data types: frozen, checked where they must be, quick to make."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from pytest_evalcheck.model import Gate, Metric, Result, Row, Score

RESULT = {
    "suite": "evalcheck.yaml",
    "dataset": "a.jsonl",
    "line": 1,
    "row": "r",
    "metric": "m",
    "status": "scored",
}
MADE = [
    pytest.param(lambda: Row(id="r"), id="row"),
    pytest.param(lambda: Score("scored", 1.0, True), id="score"),
    pytest.param(lambda: Result(**RESULT), id="result"),
]


@pytest.mark.parametrize("make", MADE)
def test_what_is_made_cannot_be_changed_and_equals_its_copies(make):
    one = make()
    with pytest.raises(FrozenInstanceError):
        setattr(one, fields(one)[0].name, "other")
    assert one == make() == replace(one) == pickle.loads(pickle.dumps(one))


def test_every_field_that_is_not_given_has_its_default():
    row = Row(id="r")
    assert {field.name: getattr(row, field.name) for field in fields(row)} == {
        field.name: {"id": "r", "path": "", "line": 0, "metadata": {}}.get(
            field.name, field.default
        )
        for field in fields(row)
    }


def test_no_two_rows_share_their_metadata():
    assert Row().metadata is not Row().metadata


def test_fields_that_a_class_does_not_have_or_needs_are_told():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nmae'"):
        Row(nmae="x")
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'status'"):
        Result(**{name: value for name, value in RESULT.items() if name != "status"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("done",), "is none of"),
        (("scored",), "needs a finite value"),
        (("scored", float("nan"), True), "needs a finite value"),
        (("scored", 1.0), "needs passed="),
        (("blocked", 0.0), "neither value nor verdict"),
        (("non_evaluable", None, None, "", "nosuch"), "not one of the reason codes"),
    ],
)
def test_a_score_that_says_what_was_not_measured_cannot_be_made(arguments, said):
    with pytest.raises(ValueError, match=said):
        Score(*arguments)


@pytest.mark.parametrize(
    ("selector", "row", "applies"),
    [
        ({}, Row(), True),
        ({"tag": "a"}, Row(tags=("a", "b")), True),
        ({"tag": ["x", "b"]}, Row(tags=("a", "b")), True),
        ({"tag": "x"}, Row(tags=("a",)), False),
        ({"tier": "gold"}, Row(metadata={"tier": "gold"}), True),
        ({"tier": ["gold", None]}, Row(), True),
        ({"n": 1}, Row(metadata={"n": True}), False),
        ({"n": 1}, Row(metadata={"n": "1"}), False),
    ],
)
def test_applies_to_selects_by_tag_and_by_typed_metadata(selector, row, applies):
    metric = Metric(
        name="m", kind="check", source="", score=lambda row: Score("error"), applies_to=selector
    )
    assert metric.applies(row) is applies


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        (Gate(), "each"),
        (Gate(kind="off"), "off"),
        (Gate(kind="rule", pass_rate=0.9, coverage=0.8), "pass_rate 0.9, coverage 0.8"),
    ],
)
def test_a_gate_reads_as_a_suite_file_says_it(gate, text):
    assert gate.text() == text
