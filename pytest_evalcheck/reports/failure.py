"""What a person reads of a failed row: the reason, both sides, and where they part.

the text is not equal
  found:  "refund within 20 days"
  wanted: "refund within 30 days"
                         ^
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_evalcheck.jsonvalues import JsonTextError, json_equal, json_text, parse_json
from pytest_evalcheck.model import Score
from pytest_evalcheck.reports.textwidth import char_width, cut_to_width, display_width
from pytest_evalcheck.safetext import Redactor, safe_line, safe_text

__all__ = ["failure_lines", "reason_text", "sides_text"]

# Two sides that share less than this are different texts: marks would cover all of them.
LEAST_SHARED: Final = 0.25
# Texts so short, quotes included, that marks under all of them still help.
SHORT: Final = 10
# Characters of a text that are looked at; a difference further on is not shown.
MOST_COMPARED: Final = 200_000
# Levels a JSON value is followed to its first difference.
DEEPEST: Final = 50


def failure_lines(score: Score, *, width: int = 80, redact: Redactor | None = None) -> list[str]:
    """Return the lines that explain a row that failed or ended in an error.

    The first line stands alone: it is what pytest's short summary shows. Every
    line after it is indented, safe to print and, tracebacks apart, at most
    `width` columns wide.
    """
    head, *more = reason_text(score, redact).split("\n")
    lines = [head, *(f"  {line}" for line in more)]
    details, sides = score.details, _sides(score)
    if len(sides) == 2 and not _told(*sides.values()):
        lines += _compared(sides["found"], sides["wanted"], width, redact)
    elif len(sides) == 1:
        ((name, value),) = sides.items()
        lines.append(_labelled(name, _around(_shown(value, redact), 0, width - 10), width))
    if details.get("traceback"):
        lines += [
            f"  {line}" for line in safe_text(str(details["traceback"]), redact=redact).split("\n")
        ]
    return lines


class _Words(str):
    """A side in words ("at most 3 characters"), which no quotes should surround."""

    __slots__ = ()


def _sides(score: Score) -> dict[str, Any]:
    """Return what was found and wanted; a text that the reason shows bare is words, not a value."""
    sides = {name: score.details[name] for name in ("found", "wanted") if name in score.details}
    for name, said in (("found", "found"), ("wanted", "expected")):
        side = sides.get(name)
        if isinstance(side, str) and side and f"{said} {side}" in score.reason:
            sides[name] = _Words(side)
    return sides


def _told(found: Any, wanted: Any) -> bool:
    """Tell whether the reason holds both sides in words, so that marks would add nothing."""
    return isinstance(found, _Words) and isinstance(wanted, _Words) and not _is_json(found)


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except (JsonTextError, RecursionError):
        return False
    return True


def reason_text(score: Score, redact: Redactor | None = None) -> str:
    """Return the reason, beginning with its code if it has one."""
    reason = safe_text(score.reason, redact=redact)
    if score.code and not reason.startswith(score.code):
        reason = f"{score.code}: {reason}" if reason else score.code
    return reason or ("failed" if score.status == "scored" else score.status)


def sides_text(found: str | None, wanted: str | None, width: int) -> str:
    """Return both sides on one line of at most `width` columns, each cut where it must be."""
    sides = [
        (name, safe_line(text if text.strip() else f'"{text}"'))
        for name, text in (("found", found), ("wanted", wanted))
        if text is not None
    ]
    if not sides:
        return ""
    labels = sum(len(name) + 1 for name, _ in sides) + 3 * (len(sides) - 1)
    room = max((width - labels) // len(sides), 8)
    # What a short side leaves free, the other may take.
    free = sum(max(0, room - display_width(text)) for _, text in sides)
    return " / ".join(f"{name} {cut_to_width(text, room + free)}" for name, text in sides)


def _compared(found: Any, wanted: Any, width: int, redact: Redactor | None) -> Iterator[str]:
    """Yield both sides, narrowed to where they part."""
    path, found, wanted = _first_difference(*_as_json(found, wanted))
    if path != "$":
        yield cut_to_width(f"  at {safe_line(path)}:", width)
    texts = isinstance(found, str) and isinstance(wanted, str)
    if texts and ("\n" in found or "\n" in wanted):
        yield from _compared_lines(found, wanted, width, redact)
    else:
        yield from _side_by_side(_shown(found, redact), _shown(wanted, redact), width)


def _compared_lines(found: str, wanted: str, width: int, redact: Redactor | None) -> Iterator[str]:
    """Yield the first line in which two texts differ."""
    sides = [safe_text(side[:MOST_COMPARED], redact=redact).split("\n") for side in (found, wanted)]
    pairs = enumerate(zip(*sides, strict=False))
    shorter = min(map(len, sides))
    place = next((index for index, (a, b) in pairs if a != b), shorter)
    if place == shorter and len(sides[0]) == len(sides[1]):
        yield from _side_by_side(_shown(found, redact), _shown(wanted, redact), width)
        return
    found_lines, wanted_lines = sides
    yield (
        f"  first different line: {place + 1} "
        f"(found {len(found_lines)} lines, wanted {len(wanted_lines)})"
    )
    left, right = (
        f'"{safe_line(lines[place])}"' if place < len(lines) else "(no such line)"
        for lines in sides
    )
    yield from _side_by_side(left, right, width)


def _first_difference(found: Any, wanted: Any) -> tuple[str, Any, Any]:
    """Follow two JSON values to the first place in which they differ, as a JSON path."""
    path = "$"
    for _ in range(DEEPEST):
        step = _different_step(found, wanted)
        if step is None:
            break
        name, found, wanted = step
        path += name
    return path, found, wanted


def _different_step(found: Any, wanted: Any) -> tuple[str, Any, Any] | None:
    if isinstance(found, Mapping) and isinstance(wanted, Mapping) and found.keys() == wanted.keys():
        for key in wanted:
            if not json_equal(found[key], wanted[key]):
                step = f".{key}" if key.isidentifier() else f"[{_quoted(key)}]"
                return step, found[key], wanted[key]
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for index, (a, b) in enumerate(zip(found, wanted, strict=True)):
            if not json_equal(a, b):
                return f"[{index}]", a, b
    return None


def _quoted(key: str) -> str:
    """Return a key as a JSON path writes one that is no plain name."""
    import json

    return json.dumps(key, ensure_ascii=False)


def _as_json(found: Any, wanted: Any) -> tuple[Any, Any]:
    """Return two texts as the objects or lists they hold, if both do; else as they are."""
    if not all(
        isinstance(side, str) and side.lstrip()[:1] in ("{", "[") for side in (found, wanted)
    ):
        return found, wanted
    if max(len(found), len(wanted)) > MOST_COMPARED:
        return found, wanted
    try:
        values = parse_json(found), parse_json(wanted)
        return (found, wanted) if json_equal(*values) else values
    except (JsonTextError, RecursionError):
        return found, wanted


def _shown(value: Any, redact: Redactor | None) -> str:
    """Return a value as JSON on one safe line; a text keeps quotes, so that its ends show."""
    if isinstance(value, _Words):
        return safe_line(value[:MOST_COMPARED], redact=redact)
    if isinstance(value, str):
        return f'"{safe_line(value[:MOST_COMPARED], redact=redact)}"'
    return safe_line(json_text(value)[:MOST_COMPARED], redact=redact)


@dataclass(frozen=True, slots=True)
class _Difference:
    """Where two texts part: the length of their common start and of the rest on each side."""

    start: int
    found: int
    wanted: int

    def worth_marking(self, found: str, wanted: str) -> bool:
        if found == wanted:
            return False
        longest = max(len(found), len(wanted))
        shared = longest - max(self.found, self.wanted)
        return longest <= SHORT or shared / longest >= LEAST_SHARED


def _difference(found: str, wanted: str) -> _Difference:
    shortest = min(len(found), len(wanted))
    start = next((i for i in range(shortest) if found[i] != wanted[i]), shortest)
    room = shortest - start
    end = next((i for i in range(room) if found[-1 - i] != wanted[-1 - i]), room)
    return _Difference(start, len(found) - start - end, len(wanted) - start - end)


def _side_by_side(found: str, wanted: str, width: int) -> Iterator[str]:
    room = width - 10
    difference = _difference(found, wanted)
    marked = difference.worth_marking(found, wanted)
    start = difference.start if marked else 0
    shown = [_around(side, start, room) for side in (found, wanted)]
    yield _labelled("found", shown[0], width)
    yield _labelled("wanted", shown[1], width)
    if not marked:
        return
    yield " " * 10 + _marks(shown[1], start, difference, room)
    note = _lookalike_note(found, wanted, difference)
    if note:
        yield cut_to_width(f"  {note}", width)


def _labelled(name: str, excerpt: _Excerpt, width: int) -> str:
    line = f"  {name + ':':<8}{excerpt.text}"
    if not excerpt.cut:
        return line
    length = f" ({excerpt.length:,} characters)"
    return line + length if display_width(line) + len(length) <= width else line


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """A part of a text that fits a line; `offset` is where in the text it begins."""

    text: str
    offset: int
    cut: bool
    length: int


def _around(text: str, place: int, room: int) -> _Excerpt:
    """Return what fits around a place of a text, with an ellipsis where it was cut."""
    if display_width(text) <= room:
        return _Excerpt(text, 0, cut=False, length=len(text))
    # The length in words takes its part of the line.
    room -= len(f" ({_length(text):,} characters)")
    offset = max(0, place - room // 3)
    # Where the end fits, show as much as the line holds.
    while offset > 0 and display_width(text[offset - 1 :]) < room:
        offset -= 1
    head = "…" if offset else ""
    body = cut_to_width(text[offset : offset + room + 1], room - len(head))
    if not body.endswith("…") and offset + len(body) < len(text):
        body = cut_to_width(body, room - len(head) - 1) + "…"
    return _Excerpt(head + body, offset - len(head), cut=True, length=_length(text))


def _length(text: str) -> int:
    """Return the length of a shown side without the quotes it was given."""
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return len(text) - 2 if quoted else len(text)


def _marks(shown: _Excerpt, start: int, difference: _Difference, room: int) -> str:
    """Return carets below the part of the wanted side that differs, at least one."""
    before = shown.text[: start - shown.offset]
    part = shown.text[start - shown.offset :][: difference.wanted]
    indent = display_width(before)
    return " " * indent + "^" * max(1, min(display_width(part), room - indent))


def _lookalike_note(found: str, wanted: str, difference: _Difference) -> str:
    """Name the characters when the two sides differ in what the eye cannot tell apart."""
    if max(difference.found, difference.wanted) > 8:
        return ""
    start = difference.start
    parts = found[start : start + difference.found], wanted[start : start + difference.wanted]
    folded = [unicodedata.normalize("NFKC", part) for part in parts]
    unseen = folded[0] == folded[1] or any(sum(map(char_width, part)) == 0 for part in parts)
    if not unseen or all(part.isascii() for part in parts):
        return ""
    return "found {}, wanted {}".format(*(_names(part) for part in parts))


def _names(part: str) -> str:
    return " ".join(f"U+{ord(char):04X}" for char in part) or "nothing"
