"""JUnit properties are flat text that XML can carry."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from pytest_evalcheck.model import Row, Score
from pytest_evalcheck.reports.junit import junit_properties
from pytest_evalcheck.results import make_result


def properties(score: Score, metric: str = "cites") -> list[tuple[str, str]]:
    row = Row(id="r", line=1)
    return junit_properties(make_result(score, suite="s", dataset="d", row=row, metric=metric))


def test_a_scored_row_has_its_value() -> None:
    assert properties(Score("scored", 0.25, False)) == [
        ("metric", "cites"),
        ("value", "0.25"),
        ("status", "scored"),
        ("code", ""),
    ]


def test_a_row_without_value_says_why() -> None:
    assert properties(Score("non_evaluable", code="missing_output")) == [
        ("metric", "cites"),
        ("value", ""),
        ("status", "non_evaluable"),
        ("code", "missing_output"),
    ]


def test_no_name_breaks_the_xml() -> None:
    for name, value in properties(Score("scored", 1.0, True), metric="a\x00\x1b\ud800<&\"'\ufffe"):
        element = ET.Element("property", name=name, value=value)
        assert ET.fromstring(ET.tostring(element)).get("value") == value


def test_the_list_is_the_callers_own() -> None:
    properties(Score("scored", 1.0, True)).clear()
    assert len(properties(Score("scored", 1.0, True))) == 4
