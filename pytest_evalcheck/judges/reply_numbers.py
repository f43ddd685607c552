"""Numbers as judges write them: `4`, `.8`, `8e-1`, `4/5`, `4 out of 5`, `85 %`, `4½`."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache
from typing import Final

from pytest_evalcheck.judges.scales import Scale

__all__ = ["Unreadable", "number_of", "number_pattern", "read_number_text", "within"]

# After the number: no half of a date, a time, a range or a version; no choice of two; not
# "3 of the claims" or "3 points lower".
ENDS: Final = (
    r"(?![\w%+?~/\\]|[.,:/\-–—]\d|[ \t]*[-–—~][ \t]*[\d.]"
    r"|\s+(?:or|to|of|and\s+a|below|above|less|more|lower|higher|short|off|away|times|too)\b)"
)
UNIT: Final = r"(?:[ \t]*-?(?:(?:points?|pts?\.?|stars?)(?!\w)|[★☆⭐分点점]))?"
DENOMINATOR: Final = r"[ \t]*(?:/|\bout[ \t]+of\b|\bof\b)[ \t]*(?:a[ \t]+(?:possible|maximum|max)[ \t]+(?:of[ \t]+)?)?"
VULGAR: Final = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"


class Unreadable(Exception):
    """No score can be read beyond doubt.

    Attributes:
        code: the reason code.
        why: the reason, as a phrase.
    """

    def __init__(self, why: str, code: str = "judge_unparsable") -> None:
        self.code = code
        self.why = why
        super().__init__(f"{code}: {why}")


@cache
def number_pattern(decimal: str = ".") -> str:
    """Return the regular expression of a number with its denominator, percent sign or unit.

    Args:
        decimal: "." for a decimal point alone, "," for a decimal comma too.
    """
    mark = r"[.,]" if decimal == "," else r"\."
    plain = rf"(?:\d+(?:{mark}\d+)?|{mark}\d+)"
    return (
        rf"(?P<num>[+-]?(?:{plain}(?:[eE][+-]?\d{{1,4}})?[{VULGAR}]?|[{VULGAR}]))"
        rf"(?:{DENOMINATOR}(?P<den>{plain})|[ \t]?(?P<pct>%))?{UNIT}{ENDS}"
    )


def number_of(match: re.Match[str], scale: Scale) -> float:
    """Return the value of a match of `number_pattern`, bounds not yet looked at.

    Raises:
        Unreadable: its denominator is not the top of the scale, or it is not finite.
    """
    value = value_of(match["num"])
    if match["den"] is not None and value_of(match["den"]) != scale.high:
        raise Unreadable(f"{match[0].strip()!r} is not on the scale {scale.text()}")
    if match["pct"] is not None:
        if (scale.low, scale.high) == (0, 1):
            value /= 100
        elif scale.high != 100:
            raise Unreadable(f"{match[0].strip()!r} is not on the scale {scale.text()}")
    if not math.isfinite(value):
        raise Unreadable(f"{match['num'][:40]!r} is not a finite number")
    return value


def value_of(text: str) -> float:
    """Return the value of digits, with a fraction character behind them."""
    text = text.replace(",", ".")
    if text[-1:] not in VULGAR:
        return float(text)
    sign = -1.0 if text.startswith("-") else 1.0
    whole = text[:-1].strip("+-")
    if "." in whole or "e" in whole.lower():
        raise Unreadable(f"{text!r} is no number")
    return sign * (float(whole or 0) + unicodedata.numeric(text[-1]))


def read_number_text(text: str, scale: Scale, decimal: str = ".") -> float | None:
    """Return the number that a short text is, with a remark after a dash at most, or None.

    Raises:
        Unreadable: it is a number that is not on the scale.
    """
    match = re.match(rf"\s*{number_pattern(decimal)}(?P<rest>.*)", text, re.DOTALL)
    if match is None or not re.match(r"\s*[.!]?\s*$|\s*[-–—:,;(]\s*\D", match["rest"]):
        return None
    return number_of(match, scale)


def within(value: float, scale: Scale) -> float:
    """Return a value that lies on its scale.

    Raises:
        Unreadable: it lies outside; it is never moved to the nearest bound.
    """
    if scale.low <= value <= scale.high:
        return value
    raise Unreadable(f"{value:g} lies outside {scale.text()}", "score_out_of_range")
