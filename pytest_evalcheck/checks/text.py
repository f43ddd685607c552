"""Checks on text: what it contains, how it begins, what it matches, how long it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.bounds import Bounds, bound_options, read_bounds
from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import (
    Finding,
    OperandError,
    Plan,
    TextForm,
    as_text,
    quote,
    text_form,
)
from pytest_evalcheck.jsonvalues import (
    JsonTextError,
    json_equal,
    json_text,
    kind_phrase,
    parse_json,
)

VALUE: Final = Option(name="value", kind="operand", summary="the text (or number) to look for")
VALUES: Final = Option(name="values", kind="any", summary="the list of texts to look for")


# ── one text ──────────────────────────────────────────────────────────────────────────


def read_needle(form: TextForm) -> Callable[[Any], tuple[str, str]]:
    """Return the reader of a text operand that must not match everything: (raw, compared)."""

    def read(raw: Any) -> tuple[str, str]:
        if isinstance(raw, Mapping | list | tuple):
            raise OperandError(kind_phrase(raw), "text or a number")
        text = as_text(raw)
        needle = form(text)
        if not needle:
            raise OperandError("an empty text", "a text (an empty one matches everything)")
        return text, needle

    return read


def plan_needle(settings: Settings, holds: Callable[[str, str], bool], phrase: str) -> Plan:
    """Return the plan of a check that looks for one text in the target."""

    def compare(text: str, needle: tuple[str, str]) -> Finding:
        return Finding(
            holds(text, needle[1]), wanted=phrase + quote(needle[0]), wanted_text=needle[0]
        )

    return Plan(compare=compare, operand=read_needle(text_form(settings)))


@check("contains", VALUE, summary="the text contains value, literally")
def build_contains(settings: Settings) -> Plan:
    """Compile `contains`."""
    return plan_needle(settings, str.__contains__, "text that contains ")


@check("not_contains", VALUE, summary="the text does not contain value")
def build_not_contains(settings: Settings) -> Plan:
    """Compile `not_contains`; a missing output or path never satisfies it."""
    return plan_needle(settings, lambda text, needle: needle not in text, "text without ")


@check("starts_with", VALUE, summary="the text starts with value")
def build_starts_with(settings: Settings) -> Plan:
    """Compile `starts_with`."""
    return plan_needle(settings, str.startswith, "text that starts with ")


@check("ends_with", VALUE, summary="the text ends with value")
def build_ends_with(settings: Settings) -> Plan:
    """Compile `ends_with`."""
    return plan_needle(settings, str.endswith, "text that ends with ")


# ── several texts ─────────────────────────────────────────────────────────────────────


def read_needles(form: TextForm) -> Callable[[Any], tuple[tuple[str, str], ...]]:
    """Return the reader of a list of texts, none of which may be empty."""
    read_one = read_needle(form)

    def read(raw: Any) -> tuple[tuple[str, str], ...]:
        texts = as_list(raw)
        if texts is None:
            raise OperandError(kind_phrase(raw), "a list of texts")
        if not texts:
            raise OperandError("an empty list", "a list of one text or more")
        return tuple(read_one(one) for one in texts)

    return read


def as_list(raw: Any) -> list[Any] | None:
    """Return a list, or the list that a text is as JSON (a CSV cell), else None."""
    if type(raw) is str and raw.lstrip().startswith("["):
        try:
            raw = parse_json(raw)
        except JsonTextError:
            return None
    return list(raw) if isinstance(raw, list | tuple) else None


def plan_needles(
    settings: Settings,
    judge: Callable[[list[str], list[str]], Finding],
) -> Plan:
    """Return the plan of a check on which of several texts occur: judge(present, absent)."""

    def compare(text: str, needles: tuple[tuple[str, str], ...]) -> Finding:
        present = [shown for shown, needle in needles if needle in text]
        absent = [shown for shown, needle in needles if needle not in text]
        return judge(present, absent)

    return Plan(compare=compare, operand=read_needles(text_form(settings)), operand_name="values")


def quote_all(texts: list[str]) -> str:
    """Return texts in quotes, with commas."""
    return ", ".join(quote(text, 40) for text in texts)


@check("contains_any", VALUES, summary="at least one of values occurs")
def build_contains_any(settings: Settings) -> Plan:
    """Compile `contains_any`."""

    def judge(present: list[str], absent: list[str]) -> Finding:
        wanted = f"one of {quote_all([*present, *absent])}"
        return Finding(bool(present), wanted=wanted, details={"present": present})

    return plan_needles(settings, judge)


@check("contains_all", VALUES, summary="every one of values occurs", score="share")
def build_contains_all(settings: Settings) -> Plan:
    """Compile `contains_all`; its value is the share of the values that occur."""

    def judge(present: list[str], absent: list[str]) -> Finding:
        share = len(present) / (len(present) + len(absent))
        missing = f" (missing: {quote_all(absent)})" if absent else ""
        wanted = f"all of {quote_all([*present, *absent])}{missing}"
        return Finding(None, share, wanted=wanted, details={"missing": absent})

    return plan_needles(settings, judge)


@check("contains_none", VALUES, summary="none of values occurs")
def build_contains_none(settings: Settings) -> Plan:
    """Compile `contains_none`."""

    def judge(present: list[str], absent: list[str]) -> Finding:
        occurring = f" (found: {quote_all(present)})" if present else ""
        wanted = f"none of {quote_all([*present, *absent])}{occurring}"
        return Finding(not present, wanted=wanted, details={"present": present})

    return plan_needles(settings, judge)


# ── equality ──────────────────────────────────────────────────────────────────────────


@check("equals", VALUE, summary="the whole text equals value; a mapping is compared as JSON")
def build_equals(settings: Settings) -> Plan:
    """Compile `equals`: text with text, a number with a number, a mapping as JSON."""
    form = text_form(settings)

    def read(raw: Any) -> tuple[Any, str]:
        if isinstance(raw, list | tuple):
            raise OperandError("a list", "one value (exact_match and list_overlap take lists)")
        text = as_text(raw)
        if type(raw) is str and raw and not raw.strip():
            raise OperandError("a blank text", "a text that says something")
        return raw, form(text)

    def compare(found: Any, operand: tuple[Any, str]) -> Finding:
        raw, text = operand
        wanted_text = as_text(raw)
        return Finding(
            equal_values(found, raw, text, form), wanted=quote(wanted_text), wanted_text=wanted_text
        )

    return Plan(compare=compare, operand=read, reads="value")


def equal_values(found: Any, raw: Any, text: str, form: TextForm) -> bool:
    """Tell whether a target equals an operand: as JSON where both are, else as text."""
    if type(raw) is dict or isinstance(raw, Mapping):
        if type(found) is str:
            try:
                found = parse_json(found)
            except JsonTextError:
                return False
        return json_equal(found, raw)
    if type(found) is str:
        return form(found) == text
    if type(raw) is not str:
        return json_equal(found, raw)
    return form(json_text(found)) == text


# ── patterns ──────────────────────────────────────────────────────────────────────────


@check(
    "regex",
    Option(name="pattern", kind="pattern", required=True, summary="the regular expression"),
    Option(
        name="multiline", kind="bool", default=False, summary="^ and $ match at line breaks too"
    ),
    Option(name="dotall", kind="bool", default=False, summary=". matches a line break too"),
    Option(name="full_match", kind="bool", default=False, summary="the whole text must match"),
    summary="the pattern is found anywhere in the text",
)
def build_regex(settings: Settings) -> Plan:
    """Compile `regex`; letters match in either case unless case_sensitive."""
    from pytest_evalcheck.checks.patterns import compile_pattern

    pattern = compile_pattern(
        settings["pattern"],
        option="pattern",
        case_sensitive=settings["case_sensitive"],
        multiline=settings["multiline"],
        dotall=settings["dotall"],
    )
    find = pattern.match_whole if settings["full_match"] else pattern.search
    wanted = f"a match of {settings['pattern']!r}"
    if settings["full_match"]:
        wanted += " with the whole text"

    def compare(text: str, _operand: None) -> Finding:
        return Finding(find(text) is not None, wanted=wanted)

    return Plan(compare=compare, reads="plain")


# ── length ────────────────────────────────────────────────────────────────────────────

SENTENCE_END: Final = re.compile(
    r"(?:[.!?…]+[\"\'”’)\]]*(?=\s|$))|[。！？｡]+[」』”’）]*|\n\s*\n"  # noqa: RUF001
)


def count_sentences(text: str) -> int:
    """Return the number of sentences: parts with a word in them between closing marks."""
    return sum(1 for part in SENTENCE_END.split(text) if any(map(str.isalnum, part)))


UNITS: Final[Mapping[str, Callable[[str], int]]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "lines": lambda text: len(text.splitlines()),
    "sentences": count_sentences,
}


def plan_count(bounds: Bounds, unit: str) -> Plan:
    """Return the plan of a check on a count of units of text."""
    count = UNITS[unit]
    wanted = bounds.text(unit)

    def compare(text: str, _operand: None) -> Finding:
        number = count(text)
        return Finding(
            bounds.hold(number),
            found=f"{number} {unit}",
            wanted=wanted,
            details={"count": number},
        )

    return Plan(compare=compare, reads="plain")


@check(
    "length_bounds",
    *bound_options("amount"),
    Option(
        name="unit",
        kind="choice",
        choices=tuple(UNITS),
        default="characters",
        summary="what is counted; characters are Unicode code points",
    ),
    summary="the length lies within min and max, both included",
)
def build_length_bounds(settings: Settings) -> Plan:
    """Compile `length_bounds`."""
    return plan_count(read_bounds(settings), settings["unit"])
