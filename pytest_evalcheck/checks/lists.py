"""Reading lists as people and models write them, and the checks on lists and sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.fields import FIELD, field_reader, join_field
from pytest_evalcheck.checks.options import Option, Settings, show_value
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import (
    PLACES,
    Finding,
    OperandError,
    Plan,
    TextForm,
    as_text,
    fold,
    keep,
    quote,
    shorten,
    text_form,
)
from pytest_evalcheck.jsonvalues import JsonTextError, json_equal, json_text, kind_name, parse_json

__all__ = ["read_items"]

SEPARATORS: Final = re.compile(r"[,;\r\n]")
BULLET: Final = re.compile(r"(?:[-*•]|\d+[.)])\s+")
QUOTES: Final = "\"'`"


def read_items(value: Any) -> list[Any]:
    """Return the raw items of a list, of a text that parses to one, or of a text in parts."""
    if isinstance(value, list | tuple):
        return list(value)
    if type(value) is not str:
        return [value]
    text = value
    if text.lstrip()[:1] in ("[", '"'):
        try:
            parsed = parse_json(text)
        except JsonTextError:
            parsed = None
        if isinstance(parsed, list):
            return parsed
        text = parsed if isinstance(parsed, str) else text
    return SEPARATORS.split(text)


def clean_item(item: Any) -> str:
    """Return one item as it is compared: no white space, bullet or quotes around it."""
    if item is None:
        return ""
    text = as_text(item).strip()
    bullet = BULLET.match(text)
    if bullet is not None:
        text = text[bullet.end() :]
    return text.strip(QUOTES).strip()


def item_set(value: Any, form: TextForm) -> dict[str, str]:
    """Return the distinct items of a list: compared form -> form to show, empties dropped."""
    items: dict[str, str] = {}
    for raw in read_items(value):
        shown = clean_item(raw)
        if shown:
            items.setdefault(form(shown), shown)
    return items


# ── list_overlap ──────────────────────────────────────────────────────────────────────


def share_of(part: int, whole: int) -> float:
    """Return a share, 0.0 of nothing."""
    return part / whole if whole else 0.0


def f1_of(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall, 0.0 when both are."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# (shared, expected, returned) -> share.
MEASURES: Final[Mapping[str, Callable[[int, int, int], float]]] = {
    "recall": lambda shared, expected, _returned: share_of(shared, expected),
    "precision": lambda shared, _expected, returned: share_of(shared, returned),
    "f1": lambda shared, expected, returned: f1_of(
        share_of(shared, returned), share_of(shared, expected)
    ),
    "jaccard": lambda shared, expected, returned: share_of(shared, expected + returned - shared),
}


@check(
    "list_overlap",
    Option(name="value", kind="any", summary="the list expected, or a text with commas"),
    Option(
        name="score_by",
        kind="choice",
        choices=tuple(MEASURES),
        default="recall",
        summary="what share is scored",
    ),
    Option(name="min", kind="number", summary="the share from which a row passes; default 1"),
    Option(
        name="report_only",
        kind="bool",
        default=False,
        summary="report the share; every row that has one passes",
    ),
    summary="enough of the expected items are in the list, in any order",
    score="share",
)
def build_list_overlap(settings: Settings) -> Plan:
    """Compile `list_overlap`; its value is rounded to 4 places, as CompletionKit has it."""
    least = read_least(settings)
    score_by = settings["score_by"]
    measure = MEASURES[score_by]
    form: TextForm = keep if settings["case_sensitive"] else fold

    def compare(value: Any, expected: dict[str, str]) -> Finding:
        returned = item_set(value, form)
        shared = sum(1 for item in expected if item in returned)
        share = measure(shared, len(expected), len(returned)) if expected or returned else 1.0
        share = round(share, PLACES)
        missing = [shown for item, shown in expected.items() if item not in returned]
        extra = [shown for item, shown in returned.items() if item not in expected]
        return Finding(
            share >= least,
            share,
            wanted=f"{overlap_text(expected, missing, extra)} "
            f"({score_by} {share:g}, at least {least:g})",
            wanted_text=json_text(list(expected.values())),
            details={"missing": missing, "extra": extra},
        )

    return Plan(compare=compare, operand=list_operand(form), reads="value", many=True, least=least)


def read_least(settings: Settings) -> float:
    """Return the share from which a row passes.

    Raises:
        ConfigError: it cannot fail or cannot be reached, or is said twice.
    """
    least, threshold = settings["min"], settings["threshold"]
    if settings["report_only"]:
        if least or threshold:
            raise settings.problem("report_only", "report_only stands beside min or threshold")
        return 0.0
    if least is not None and threshold is not None:
        raise settings.problem("min", "'min' stands beside 'threshold'", fix="Drop one.")
    share = threshold if least is None else least
    if share is None:
        return 1.0
    if not 0 < share <= 1:
        raise settings.problem(
            "min",
            f"{share:g} {'cannot fail' if share <= 0 else 'can never be reached'}",
            "a share above 0, up to 1",
            "Write report_only: true to report the share without judging it.",
        )
    return float(round(share, PLACES))


def list_operand(form: TextForm) -> Callable[[Any], dict[str, str]]:
    """Return the reader of the expected list: an empty list is one, a blank text is none."""

    def read(raw: Any) -> dict[str, str]:
        if isinstance(raw, Mapping):
            raise OperandError("an object", "a list, or a text with commas")
        if type(raw) is str and not raw.strip():
            raise OperandError("a blank text", "a list ([] where nothing is expected)")
        items = item_set(raw, form)
        if not items and not (raw == [] or (type(raw) is str and read_items(raw) == [])):
            raise OperandError(show_value(raw), "a list with items that are not empty")
        return items

    return read


def overlap_text(expected: dict[str, str], missing: list[str], extra: list[str]) -> str:
    """Return what was expected, what is missing and what is extra, in words."""
    text = f"the items {shorten(json_text(list(expected.values())))}"
    if missing:
        text += f", missing {shorten(json_text(missing))}"
    return f"{text}, besides them {shorten(json_text(extra))}" if extra else text


# ── set_overlap ───────────────────────────────────────────────────────────────────────


@check(
    "set_overlap",
    Option(name="case_sensitive", kind="bool", default=True, summary="compare words as written"),
    summary="the Jaccard index of the sets of words reaches threshold",
    score="share",
)
def build_set_overlap(settings: Settings) -> Plan:
    """Compile `set_overlap`: words are what stands between white space, marks included.

    Two empty sets score 1.0. Case counts unless `case_sensitive: false` (EvalGlass's rule).
    """
    form = text_form(settings)

    def read(raw: Any) -> tuple[str, frozenset[str]]:
        text = as_text(raw)
        return text, frozenset(form(text).split())

    def compare(text: str, operand: tuple[str, frozenset[str]]) -> Finding:
        raw, expected = operand
        words = frozenset(text.split())
        share = share_of(len(words & expected), len(words | expected)) if words | expected else 1.0
        return Finding(None, share, wanted=f"the words of {quote(raw)}", wanted_text=raw)

    return Plan(compare=compare, operand=read, operand_optional=True)


# ── enum_membership ───────────────────────────────────────────────────────────────────


@check(
    "enum_membership",
    FIELD,
    Option(name="allowed", kind="list", required=True, summary="the values allowed, typed"),
    Option(name="case_sensitive", kind="bool", default=True, summary="compare texts as written"),
    summary="the value is one of allowed, of the same type",
)
def build_enum_membership(settings: Settings) -> Plan:
    """Compile `enum_membership`: typed and exact, null allowed when it is listed."""
    allowed = settings["allowed"]
    form = text_form(settings)
    texts = frozenset(form(one) for one in allowed if type(one) is str)
    others = [one for one in allowed if type(one) is not str]
    wanted = f"one of {json_text(list(allowed))}"

    def compare(value: Any, _operand: None) -> Finding:
        if type(value) is str:
            return Finding(form(value) in texts, wanted=wanted)
        return Finding(
            any(json_equal(value, one) for one in others),
            found=f"the {kind_name(value)} {json_text(value)}",
            wanted=wanted,
        )

    return join_field(settings, compare, field_reader(settings))
