"""Texts measured in terminal columns: wide characters take two, combining ones none."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

__all__ = ["char_width", "cut_to_width", "display_width", "wrap_text"]


def char_width(char: str) -> int:
    """Return the columns of one character (Unicode Standard Annex 11)."""
    if char.isascii():
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def display_width(text: str) -> int:
    """Return the columns a text takes on one line."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def cut_to_width(text: str, width: int) -> str:
    """Return the text, or its start and an ellipsis, in at most `width` columns."""
    if display_width(text) <= width:
        return text
    kept, room = [], width - 1
    for char in text:
        room -= char_width(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + "…" if width > 0 else ""


def wrap_text(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Return the words of a text on lines of at most `width` columns.

    Args:
        text: words parted by single spaces.
        width: columns of a line, its indentation included.
        first: what the first line begins with.
        rest: what every other line begins with.
    """
    lines: list[str] = []
    line, empty = first, True
    for word in _short_words(text, width - max(display_width(first), display_width(rest))):
        joined = line + word if empty else f"{line} {word}"
        if not empty and display_width(joined) > width:
            lines.append(line)
            joined = rest + word
        line, empty = joined, False
    return [*lines, line]


def _short_words(text: str, width: int) -> Iterator[str]:
    """Yield the words of a text, those longer than a line in pieces."""
    for word in text.split(" "):
        while display_width(word) > width:
            piece = cut_to_width(word, width + 1)[:-1] or word[:1]
            yield piece
            word = word[len(piece) :]  # noqa: PLW2901 - the rest of it is the word now
        yield word
