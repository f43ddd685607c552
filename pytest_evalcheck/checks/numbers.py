"""Reading numbers as people and models write them, and the checks on numbers.

A number is read exactly: decimal arithmetic throughout, so that 1.1 lies within 0.1
of 1.0 and two integers of twenty digits that differ by one are different.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from pytest_evalcheck.checks.bounds import Bounds, bound_options, read_bounds
from pytest_evalcheck.checks.fields import FIELD, field_reader, join_field
from pytest_evalcheck.checks.options import Option, Settings, show_value
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, OperandError, Plan, as_text, quote
from pytest_evalcheck.jsonvalues import kind_phrase

__all__ = ["NumberForm", "find_numbers", "read_number", "to_decimal"]

# Unicode general category Sc (Unicode 16): the currency signs.
CURRENCY: Final = "$¢-¥֏؋߾߿৲৳৻૱௹฿៛₠-⃏꠸﷼﹩＄￠￡￥￦\U00011fdd-\U00011fe0\U0001e2ff\U0001ecb0"  # noqa: RUF001
SIGN: Final = "+\\-−－"  # noqa: RUF001 (the minus signs people paste)
# Space, no-break, thin, narrow no-break, figure space; underscore.
SPACES: Final = " \u00a0\u2009\u202f\u2007"

# Numbers beyond these could only be a run of looping digits, and arithmetic on them costs.
MOST_DIGITS: Final = 4000
MOST_EXPONENT: Final = 999
MOST_BITS: Final = 13_287  # of an integer of MOST_DIGITS digits
EXACT: Final = Context(prec=4 * (MOST_DIGITS + MOST_EXPONENT), Emax=99999, Emin=-99999)

NO_SIGNS: Final = str.maketrans("−－", "--", "+")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How numbers are written where they are read.

    Attributes:
        decimal: the decimal mark, `.` or `,`; the other one groups digits.
        percent: a percent sign may follow; the number is what stands before it.
        unit: a unit that may stand before or after ("USD"), or "".
    """

    decimal: str = "."
    percent: bool = False
    unit: str = ""


DEFAULT_FORM: Final = NumberForm()


@lru_cache(maxsize=64)
def number_patterns(
    form: NumberForm,
) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return three patterns: a whole text that is a number, a number in prose, its digits alone."""
    group, point = ("\\.", ",") if form.decimal == "," else (",", "\\.")
    digits = (
        rf"(?:(?P<grouped>\d{{1,3}}(?:(?P<mark>[{group}_{SPACES}])\d{{3}})(?:(?P=mark)\d{{3}})*)"
        rf"(?!\d)|(?P<plain>\d+))"
    )
    number = (
        rf"(?:{digits}(?:{point}(?P<part>\d*))?|{point}(?P<only>\d+))(?:[eE](?P<exp>[+\-−]?\d+))?"  # noqa: RUF001
    )
    unit = re.escape(form.unit) if form.unit else "(?!)"
    after = rf"(?:[{SPACES}]?(?:{unit}))?" + (rf"(?:[{SPACES}]?[%％])?" if form.percent else "")  # noqa: RUF001
    currency = rf"[{CURRENCY}]"
    whole = (
        rf"\s*(?:(?:{unit})[{SPACES}]?)?"
        rf"(?P<sign>[{SIGN}])?(?:(?P<money>{currency})[{SPACES}]?(?P<inner>[{SIGN}])?)?"
        rf"{number}(?:[{SPACES}]?(?P<tail>{currency}))?{after}\s*"
    )
    # A token of prose: digits with the marks that may stand inside a number.
    body = rf"(?:[.,]?\d)(?:\d|[.,_{SPACES}](?=\d))*(?:[eE][+\-−]?\d+)?"  # noqa: RUF001
    token = (
        rf"(?P<sign>[{SIGN}])?(?P<money>{currency}[{SPACES}]?)?(?P<inner>[{SIGN}])?(?P<body>{body})"
    )
    return re.compile(whole), re.compile(token), re.compile(body)


# The most characters that may stand before the digits of a token: sign, currency, space, sign.
LONGEST_LEAD: Final = 4


def read_number(value: Any, form: NumberForm = DEFAULT_FORM) -> Decimal | None:
    """Return the number a JSON value is, or the whole of a text says, else None.

    A true/false is not a number, and neither is NaN or an infinity.
    """
    if type(value) is str:
        match = number_patterns(form)[0].fullmatch(value) if len(value) <= MOST_DIGITS else None
        return None if match is None else number_of(match)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return to_decimal(value)


def to_decimal(number: float | Decimal) -> Decimal | None:
    """Return a JSON number as the decimal it was written as, or None when not finite."""
    if isinstance(number, float):
        return Decimal(repr(number)) if math.isfinite(number) else None
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        return None
    exact = Decimal(number)
    return exact if exact.is_finite() else None


def number_of(match: re.Match[str]) -> Decimal | None:
    """Return the number of a whole-text match, or None for a doubled sign or currency."""
    sign, inner = match["sign"], match["inner"]
    if (sign and inner) or (match["money"] and match["tail"]):
        return None
    mark = match["mark"]
    digits = match["grouped"].replace(mark, "") if mark else match["plain"] or ""
    part = match["part"] or match["only"] or ""
    exponent = (match["exp"] or "0").translate(NO_SIGNS)
    if len(exponent.lstrip("-")) > 4 or abs(int(exponent)) > MOST_EXPONENT:
        return None
    try:
        number = Decimal(f"{digits or '0'}.{part or '0'}e{exponent}")
    except InvalidOperation:
        return None
    return -number if (sign or inner or "+") in "-−－" else number  # noqa: RUF001


# ── numbers inside prose ──────────────────────────────────────────────────────────────

# Letters of alphabets that set words apart with spaces: a digit after one is part of a
# name (x2, GPT4). Hangul, kana and ideographs may touch a number that is one.
LETTER: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏͰ-ӿ_]")
# Directly after a number these change its size; with other letters they are a unit.
MAGNITUDE: Final = re.compile(r"(?:[kKMBTG]|mn|bn|mio|mrd|[xX]\d|[A-Za-z]+\d)(?![A-Za-z])")


def find_numbers(text: str, form: NumberForm = DEFAULT_FORM) -> list[Decimal]:
    """Return the numbers of a text in their order.

    A number ends where its digits end: 711 does not hold 11, `x2`, `5k`, `1/2`, `1.2.3`
    and `1,5` hold none. A percent sign or a unit may follow.
    """
    return list(iterate_numbers(text, form))


def iterate_numbers(text: str, form: NumberForm) -> Iterator[Decimal]:
    """Yield the numbers of a text in their order."""
    for match in number_patterns(form)[1].finditer(text):
        if is_bounded(text, match):
            yield from numbers_of_token(text, match, form)


def is_bounded(text: str, match: re.Match[str]) -> bool:
    """Tell whether a run of digits stands alone: no name, no fraction, no magnitude."""
    start, end = match.start("body"), match.end()
    first = match.start()
    before = text[first - 1] if first else ""
    if first == start and LETTER.match(before):
        return False
    if before == "." and first == start:
        return False
    if MAGNITUDE.match(text, end):
        return False
    return not (is_fraction_mark(text, first - 1, -1) or is_fraction_mark(text, end, 1))


def is_fraction_mark(text: str, at: int, step: int) -> bool:
    """Tell whether a slash here joins two numbers."""
    beyond = at + step
    return (
        0 <= at < len(text)
        and text[at] == "/"
        and (0 <= beyond < len(text) and text[beyond].isdigit())
    )


def numbers_of_token(text: str, match: re.Match[str], form: NumberForm) -> Iterator[Decimal]:
    """Yield the number of a run of digits; a run that is none is split at its spaces."""
    sign = match["sign"] or match["inner"] or ""
    if sign and is_operator(text, match):
        sign = ""
    number = read_number(sign + match["body"], form)
    if number is not None:
        yield number
        return
    for index, piece in enumerate(re.split(f"[{SPACES}]", match["body"])):
        number = read_number((sign if index == 0 else "") + piece, form)
        if number is not None:
            yield number


def is_operator(text: str, match: re.Match[str]) -> bool:
    """Tell whether the sign before a number takes it away from something: 9-5, (a)-5."""
    if match["sign"] is None:
        return False
    start = match.start()
    before = text[start - 1] if start else ""
    return before.isalnum() or before in (")", "]", "%")


# ── picking one ───────────────────────────────────────────────────────────────────────

WORD: Final = re.compile(r"[^\W\d_]{2,}")
LABEL: Final = re.compile(r"[^\W\d_]{2,}[*_`\s]*[:=]")


def is_prose(text: str) -> bool:
    """Tell whether a text is a sentence rather than a number with something beside it."""
    return len(WORD.findall(text, 0, 2000)) >= 2 or LABEL.search(text, 0, 2000) is not None


def pick_numbers(value: Any, pick: str | None, form: NumberForm) -> list[Decimal]:
    """Return the candidates that a value offers: none, one, or for `any` all of them."""
    whole = read_number(value, form)
    if whole is not None:
        return [whole]
    if pick == "whole" or type(value) is not str or (pick is None and not is_prose(value)):
        return []
    if pick == "any":
        return find_numbers(value, form)
    if pick == "first":
        return list(islice(iterate_numbers(value, form), 1))
    return last_number(value, form)


def last_number(text: str, form: NumberForm) -> list[Decimal]:
    """Return the last number of a text, or nothing; the ones before it are not read."""
    _, token, body = number_patterns(form)
    for digits in reversed(list(body.finditer(text))):
        match = token_at(token, text, digits.start())
        if match is not None and is_bounded(text, match):
            numbers = list(numbers_of_token(text, match, form))
            if numbers:
                return numbers[-1:]
    return []


def token_at(token: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    """Return the token whose digits begin at a place, with the signs before them.

    A search for digits alone is several times as fast as one for what may stand before
    them; the signs are then looked for at the one place that counts.
    """
    for start in range(max(at - LONGEST_LEAD, 0), at + 1):
        match = token.match(text, start)
        if match is not None and match.start("body") == at:
            return match
    return None


# ── the checks ────────────────────────────────────────────────────────────────────────

FORM_OPTIONS: Final = (
    Option(
        name="decimal",
        kind="choice",
        choices=(".", ","),
        default=".",
        summary="the decimal mark; the other mark groups digits",
    ),
    Option(
        name="percent",
        kind="bool",
        default=False,
        summary="a percent sign may follow; 5% is read as 5",
    ),
    Option(name="unit", kind="filled_text", summary="a unit that may stand before or after"),
)


def read_form(settings: Settings) -> NumberForm:
    """Return the number form of an entry."""
    return NumberForm(settings["decimal"], settings["percent"], settings["unit"] or "")


def number_text(number: Decimal) -> str:
    """Return a number as people write it, without a needless exponent or zeros."""
    if number == number.to_integral_value() and number.adjusted() < 30:
        return str(number.quantize(Decimal(1), context=EXACT))
    return str(number)


@check(
    "numeric_bounds",
    *bound_options("number"),
    FIELD,
    *FORM_OPTIONS,
    summary="the number lies within min and max, both included",
)
def build_numeric_bounds(settings: Settings) -> Plan:
    """Compile `numeric_bounds`."""
    bounds = read_bounds(settings)
    exact = Bounds(to_optional_decimal(bounds.least), to_optional_decimal(bounds.most))
    form = read_form(settings)
    wanted = f"a number of {bounds.text()}"

    def compare(value: Any, _operand: None) -> Finding:
        number = read_number(value, form)
        if number is None:
            return Finding(False, found=not_a_number(value), wanted=wanted)
        return Finding(exact.hold(number), found=number_text(number), wanted=wanted)

    return join_field(settings, compare, field_reader(settings))


def to_optional_decimal(number: float | None) -> Decimal | None:
    """Return a bound as a decimal, an open end as None."""
    return None if number is None else to_decimal(number)


def not_a_number(value: Any) -> str:
    """Return how a value that is not a number is shown."""
    return f"{quote(as_text(value))}, which is not a number"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be off: an amount, or a share of the expected number.

    Attributes:
        amount: the number as written, before the percent sign.
        relative: whether it is percent of the expected value.
    """

    amount: Decimal
    relative: bool

    def reached(self, found: Decimal, wanted: Decimal) -> bool:
        """Tell whether two numbers are near enough, in exact arithmetic."""
        apart = EXACT.abs(EXACT.subtract(found, wanted))
        if not self.relative:
            return apart <= self.amount
        return EXACT.multiply(apart, Decimal(100)) <= EXACT.multiply(self.amount, EXACT.abs(wanted))

    def text(self) -> str:
        """Return the tolerance in words, '' for none."""
        if not self.amount:
            return ""
        return f" within {number_text(self.amount)}{'%' if self.relative else ''}"


def read_tolerance(settings: Settings) -> Tolerance:
    """Return the tolerance of an entry.

    Raises:
        ConfigError: it is no number, negative, or cannot fail.
    """
    raw = settings["tolerance"]
    relative = isinstance(raw, str) and raw.strip().endswith("%")
    text = raw.strip().removesuffix("%").rstrip() if isinstance(raw, str) else raw
    amount = read_number(text) if relative or not isinstance(raw, str) else None
    if amount is None:
        raise settings.problem(
            "tolerance", show_value(raw), "a number, or a percentage in quotes such as '2%'"
        )
    if amount < 0:
        raise settings.problem("tolerance", show_value(raw), "0 or more")
    return Tolerance(amount, relative)


@check(
    "numeric_equals",
    Option(name="value", kind="operand", summary="the number wanted"),
    Option(
        name="tolerance",
        kind="any",
        default=0,
        summary="how far it may be off: an amount, or '2%' of the expected number",
    ),
    Option(
        name="pick",
        kind="choice",
        choices=("whole", "first", "last", "any"),
        summary="which number of a text counts; not set: the whole text, or in prose the last",
    ),
    *FORM_OPTIONS,
    summary="the number equals value within tolerance, in exact decimal arithmetic",
)
def build_numeric_equals(settings: Settings) -> Plan:
    """Compile `numeric_equals`."""
    tolerance = read_tolerance(settings)
    pick = settings["pick"]
    form = read_form(settings)
    near = tolerance.text()
    # A plain pass needs no words, and finding them costs as much as the comparison.
    terse = not settings["negate"]

    def compare(value: Any, wanted: Decimal) -> Finding:
        numbers = pick_numbers(value, pick, form)
        near_enough = any(tolerance.reached(number, wanted) for number in numbers)
        if near_enough and terse:
            return NEAR_ENOUGH
        return Finding(
            near_enough,
            found=found_numbers(value, numbers, pick),
            wanted=f"{number_text(wanted)}{near}",
        )

    return Plan(compare=compare, operand=number_operand(pick, form), reads="value")


NEAR_ENOUGH: Final = Finding(True, found="")


def found_numbers(value: Any, numbers: list[Decimal], pick: str | None) -> str:
    """Return the numbers that were read, and of what text."""
    if not numbers:
        return f"no number in {quote(as_text(value))}" if pick else not_a_number(value)
    shown = ", ".join(number_text(number) for number in numbers[:10])
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    if type(value) is not str or value.strip() == shown:
        return shown
    return f"{shown}{more} in {quote(value)}"


def number_operand(pick: str | None, form: NumberForm) -> Callable[[Any], Decimal]:
    """Return the reader of the number wanted: itself, or picked from a text in the same way."""

    def read(raw: Any) -> Decimal:
        numbers = pick_numbers(raw, "last" if pick == "any" else pick, form)
        if not numbers:
            shown = kind_phrase(raw) if isinstance(raw, Mapping | list) else show_value(raw)
            raise OperandError(f"{shown}", "a number")
        return numbers[0]

    return read
