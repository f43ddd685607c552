"""A failed row is explained in a few safe lines that point at the difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.model import Score
from pytest_evalcheck.reports.failure import failure_lines, sides_text
from pytest_evalcheck.reports.textwidth import display_width


def explained(found: Any, wanted: Any, reason: str = "they differ", **more: Any) -> str:
    details = {"found": found, "wanted": wanted}
    return "\n".join(failure_lines(Score("scored", 0.0, False, reason, details=details), **more))


TABLE = [
    (
        "a different part", "refund within 20 days", "refund within 30 days",
        '  found:  "refund within 20 days"\n'
        '  wanted: "refund within 30 days"\n'
        "                         ^",
    ),
    (
        "several characters", "paid by card today", "paid by cash today",
        '  found:  "paid by card today"\n'
        '  wanted: "paid by cash today"\n'
        "                     ^^",
    ),
    (
        "blanks at the end (deepeval#2954)", "act ", "act",
        '  found:  "act "\n'
        '  wanted: "act"\n'
        "              ^",
    ),
    (
        "numbers", 5.0, 7,
        "  found:  5.0\n"
        "  wanted: 7\n"
        "          ^",
    ),
    (
        "a text and a number (jsonata-python#21)", "1", 1,
        '  found:  "1"\n'
        "  wanted: 1\n"
        "          ^",
    ),
    (
        "true and one (rocketride-server#1581)", True, 1,
        "  found:  true\n"
        "  wanted: 1\n"
        "          ^",
    ),
    (
        "no value", None, 1,
        "  found:  null\n"
        "  wanted: 1\n"
        "          ^",
    ),
    (
        "a value deep in objects", {"order": {"total": 5, "a b": [1, 2]}},
        {"order": {"total": 5, "a b": [1, 3]}},
        '  at $.order["a b"][1]:\n'
        "  found:  2\n"
        "  wanted: 3\n"
        "          ^",
    ),
    (
        "objects written as text", '{"a": 1, "b": "x"}', '{"b": "y", "a": 1}',
        "  at $.b:\n"
        '  found:  "x"\n'
        '  wanted: "y"\n'
        "           ^",
    ),
    (
        "other keys", {"a": 1}, {"b": 1},
        '  found:  {"a":1}\n'
        '  wanted: {"b":1}\n'
        "            ^",
    ),
    (
        "wide characters", "返金は20日以内", "返金は30日以内",
        '  found:  "返金は20日以内"\n'
        '  wanted: "返金は30日以内"\n'
        "                 ^",
    ),
    (
        "lines", "Hello\nyour refund\nis on its way", "Hello\nyour refunds\nis on its way",
        "  first different line: 2 (found 3 lines, wanted 3)\n"
        '  found:  "your refund"\n'
        '  wanted: "your refunds"\n'
        "                      ^",
    ),
    (
        "a missing line", "one\ntwo", "one",
        "  first different line: 2 (found 2 lines, wanted 1)\n"
        '  found:  "two"\n'
        "  wanted: (no such line)",
    ),
    (
        "line ends", "one\r\ntwo", "one\ntwo",
        "  first different line: 1 (found 2 lines, wanted 2)\n"
        '  found:  "one\\r"\n'
        '  wanted: "one"\n'
        "              ^",
    ),
    (
        "texts with nothing in common are not marked", "We answer within a day", "30 days",
        '  found:  "We answer within a day"\n'
        '  wanted: "30 days"',
    ),
    (
        "equal sides (a negated check) are not marked", "same", "same",
        '  found:  "same"\n'
        '  wanted: "same"',
    ),
    (
        "what the eye cannot tell apart is named", "10\u00a0000", "10 000",
        '  found:  "10\u00a0000"\n'
        '  wanted: "10 000"\n'
        "             ^\n"
        "  found U+00A0, wanted U+0020",
    ),
    (
        "escapes are shown", "\x1b[31mred", "red",
        '  found:  "\\x1b[31mred"\n'
        '  wanted: "red"\n'
        "           ^",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "wanted", "text"), [case[1:] for case in TABLE], ids=[case[0] for case in TABLE]
)
def test_both_sides_are_shown_and_where_they_part(found: Any, wanted: Any, text: str) -> None:
    assert explained(found, wanted) == f"they differ\n{text}"


def test_it_is_said_which_side_was_found_and_which_was_wanted() -> None:
    """deepeval#1410."""
    called, expected = ["search"], ["refund"]
    assert explained(called, expected).split("\n")[2:4] == [
        '  found:  "search"',
        '  wanted: "refund"',
    ]


def test_a_long_text_is_cut_around_the_first_difference() -> None:
    same = " the same words again and again," * 20
    assert explained(f"{same} 20 days{same}", f"{same} 30 days{same}") == (
        "they differ\n"
        "  found:  …again and again, 20 days the same words again and… (1,288 characters)\n"
        "  wanted: …again and again, 30 days the same words again and… (1,288 characters)\n"
        "                            ^"
    )


def test_a_difference_at_the_end_of_a_long_text_is_shown() -> None:
    text = explained("x" * 500 + "a", "x" * 500 + "b")
    found, wanted, marks = text.split("\n")[1:]
    assert 'xa"' in found
    assert 'xb"' in wanted
    assert wanted[len(marks) - 1] == "b"


def test_sides_that_the_reason_tells_in_words_are_not_told_again() -> None:
    reason = "found 6 characters, expected at most 3 characters"
    assert explained("6 characters", "at most 3 characters", reason) == reason


def test_a_side_in_words_has_no_quotes() -> None:
    assert explained("none", "a match of 'x'", "found 'none', expected a match of 'x'") == (
        "found 'none', expected a match of 'x'\n"
        '  found:  "none"\n'
        "  wanted: a match of 'x'"
    )  # fmt: skip


def test_the_reason_begins_with_its_code() -> None:
    score = Score("scored", 0.0, False, "the output has no $.total", "path_unresolved")
    assert failure_lines(score) == ["path_unresolved: the output has no $.total"]
    said = Score("scored", 0.0, False, "path_unresolved: no $.total", "path_unresolved")
    assert failure_lines(said) == ["path_unresolved: no $.total"]


def test_a_failure_without_reason_still_says_something() -> None:
    assert failure_lines(Score("scored", 0.2, False)) == ["failed"]
    assert failure_lines(Score("error")) == ["error"]


def test_one_side_alone_is_shown() -> None:
    details = {"found": {"a": 1}}
    score = Score("scored", 0.0, False, "no $.b", "path_unresolved", details)
    assert failure_lines(score) == ["path_unresolved: no $.b", '  found:  {"a":1}']


def test_a_traceback_of_the_users_code_follows_the_reason() -> None:
    trace = 'File "checks.py", line 3, in polite\n    raise KeyError("x")\nKeyError: \'x\''
    score = Score("error", reason="KeyError: 'x'", details={"traceback": trace})
    assert failure_lines(score) == [
        "KeyError: 'x'",
        '  File "checks.py", line 3, in polite',
        '      raise KeyError("x")',
        "  KeyError: 'x'",
    ]


def test_nothing_of_a_model_is_obeyed_and_no_secret_shown() -> None:
    text = explained(
        "::error::x\n##[group]y sk-abcdefghijklmnopqrstuvwx tok3n", "fine", reason="\x1b[2J\n::x",
        redact=lambda side: side.replace("tok3n", "[TOKEN redacted]"),
    )  # fmt: skip
    assert not any(line.lstrip().startswith("::") for line in text.split("\n"))
    assert "##[" not in text
    assert "\x1b" not in text
    assert "sk-abc" not in text
    assert "tok3n" not in text


def test_huge_values_are_explained_quickly_and_briefly() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    lines = explained(deep, [deep]).split("\n")
    assert len(lines) <= 6
    assert len(explained("x" * 3_000_000, "y" * 3_000_000)) < 400


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(found=_JSON, wanted=_JSON, width=st.integers(60, 120))
def test_no_value_breaks_the_explanation(found: Any, wanted: Any, width: int) -> None:
    for line in explained(found, wanted, width=width).split("\n"):
        assert display_width(line) <= width
        assert "\n" not in line


@given(
    start=st.text("ab ", max_size=150),
    end=st.text("ab ", max_size=150),
    both=st.sampled_from("xé日"),
)
def test_the_marks_stand_below_the_difference(start: str, end: str, both: str) -> None:
    lines = explained(f"{start}1{end}{both}", f"{start}2{end}{both}").split("\n")
    if len(lines) == 4:
        wanted, marks = lines[2:]
        column = len(marks) - 1
        assert marks.strip() == "^"
        assert wanted[column] == "2"


@pytest.mark.parametrize(
    ("found", "wanted", "want"),
    [
        ("20 days", "30 days", "found 20 days / wanted 30 days"),
        ("x" * 90, "30 days", "found " + "x" * 22 + "… / wanted 30 days"),
        ("a\nb", None, "found a\\nb"),
        (None, None, ""),
    ],
)
def test_both_sides_fit_one_line(found: str | None, wanted: str | None, want: str) -> None:
    text = sides_text(found, wanted, 46)
    assert text == want
    assert display_width(text) <= 46
