"""Widths are those a terminal gives: two columns for wide characters, none for combining ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.reports.textwidth import cut_to_width, display_width, wrap_text


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("ｱ", 1), ("Ａ", 2), ("🙂", 2)],
)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "want"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("ab", 0, ""),
    ],
)
def test_a_text_that_is_too_wide_ends_in_an_ellipsis(text: str, width: int, want: str) -> None:
    assert cut_to_width(text, width) == want


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_cut_text_is_never_too_wide(text: str, width: int) -> None:
    assert display_width(cut_to_width(text, width)) <= width


@given(st.lists(st.text("abc日é", min_size=1, max_size=30), max_size=20), st.integers(10, 40))
def test_wrapped_lines_fit_and_lose_no_word(words: list[str], width: int) -> None:
    lines = wrap_text(" ".join(words), width, first="- ", rest="  ")
    assert all(display_width(line) <= width for line in lines)
    assert "".join(line[2:] for line in lines).replace(" ", "") == "".join(words)
