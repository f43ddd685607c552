"""Checks against the expected value as a whole: exact_match, any_of, f1, choice."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_evalcheck.checks.lists import f1_of, share_of
from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import (
    Finding,
    OperandError,
    Plan,
    as_text,
    fold,
    keep,
    quote,
    shorten,
)
from pytest_evalcheck.jsonvalues import (
    JsonTextError,
    json_equal,
    json_text,
    kind_phrase,
    parse_json,
)

__all__ = ["normalize_squad"]

ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
# A point or comma between digits: the point belongs to the number, the comma only groups.
INNER_POINT: Final = re.compile(r"(?<=\d)\.(?=\d)|\.(?=\d)(?<!\w\.)")
PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
POINT: Final = "\ue000"


def normalize_squad(text: str) -> str:
    """Return a text as SQuAD's evaluation sees it: no case, punctuation, articles or spacing.

    Rajpurkar et al. 2016, evaluate-v1.1.py, with one difference: the decimal point of a
    number stays, so that 3.14 is not 314.
    """
    lowered = INNER_POINT.sub(POINT, text.lower())
    bare = lowered.translate(PUNCTUATION).replace(POINT, ".")
    return " ".join(ARTICLES.sub(" ", bare).split())


NORMALIZERS: Final[Mapping[str, Callable[[str], str]]] = {
    "none": keep,
    "casefold": fold,
    "nfkc+casefold": lambda text: fold(unicodedata.normalize("NFKC", text)),
    "squad": normalize_squad,
}

NORMALIZE: Final = Option(
    name="normalize",
    kind="choice",
    choices=tuple(NORMALIZERS),
    default="none",
    summary="what is made of texts on both sides first",
)
CASE: Final = Option(
    name="case_sensitive", kind="bool", default=True, summary="compare texts as written"
)


def read_form(settings: Settings) -> Callable[[Any], Any]:
    """Return what `normalize`, `strip` and `case_sensitive` make of a value's texts."""
    normalize = NORMALIZERS[settings["normalize"]]
    strip = settings["strip"]
    folds = not settings["case_sensitive"]
    if normalize is keep and not strip and not folds:
        return keep

    def form(value: Any) -> Any:
        if type(value) is str:
            text = normalize(value.strip() if strip else value)
            return fold(text) if folds else text
        if isinstance(value, list | tuple):
            return [form(item) for item in value]
        if isinstance(value, Mapping):
            return {key: form(item) for key, item in value.items()}
        return value

    return form


def refuse_blank(raw: Any) -> None:
    """Refuse an expected text of white space only: nothing can be told from a match with it."""
    if type(raw) is str and raw and not raw.strip():
        raise OperandError("a blank text", "a value that says something")


@check("exact_match", NORMALIZE, CASE, summary="the output equals the expected value, typed")
def build_exact_match(settings: Settings) -> Plan:
    """Compile `exact_match`: deep and typed, exact as written unless normalising is asked for."""
    form = read_form(settings)

    def read(raw: Any) -> tuple[Any, Any]:
        refuse_blank(raw)
        return raw, form(raw)

    def compare(value: Any, operand: tuple[Any, Any]) -> Finding:
        raw, expected = operand
        return Finding(
            json_equal(form(value), expected),
            found=shown_value(value),
            wanted=shown_value(raw),
            wanted_text=as_text(raw),
        )

    return Plan(compare=compare, operand=read, reads="value", operand_optional=True, many=True)


def shown_value(value: Any) -> str:
    """Return a value with its type where it matters: texts in quotes, others as JSON."""
    if type(value) is str:
        return quote(value)
    return shorten(json_text(value))


@check("any_of", NORMALIZE, CASE, summary="the output equals one of the expected values")
def build_any_of(settings: Settings) -> Plan:
    """Compile `any_of`: `exact_match` against each entry of the expected list.

    Empty entries are skipped. A single expected value counts as a list of one; a text that
    is a JSON list (a CSV cell) is that list.
    """
    form = read_form(settings)

    def read(raw: Any) -> tuple[list[Any], list[Any]]:
        accepted = [one for one in accepted_values(raw) if not is_blank(one)]
        if not accepted:
            raise OperandError(f"{json_text(raw)} without an answer in it", "a list of answers")
        return accepted, [form(one) for one in accepted]

    def compare(value: Any, operand: tuple[list[Any], list[Any]]) -> Finding:
        raw, expected = operand
        formed = form(value)
        return Finding(
            any(json_equal(formed, one) for one in expected),
            found=shown_value(value),
            wanted=f"one of {shorten(json_text(raw))}",
            wanted_text=json_text(raw),
        )

    return Plan(compare=compare, operand=read, reads="value", operand_optional=True)


def accepted_values(raw: Any) -> list[Any]:
    """Return the accepted answers of an expected value."""
    if type(raw) is str and raw.lstrip().startswith("["):
        try:
            parsed = parse_json(raw)
        except JsonTextError:
            return [raw]
        raw = parsed
    return list(raw) if isinstance(raw, list | tuple) else [raw]


def is_blank(value: Any) -> bool:
    """Tell whether an accepted answer says nothing."""
    return value is None or (type(value) is str and not value.strip())


# ── f1 ────────────────────────────────────────────────────────────────────────────────


@check("f1", summary="the token F1 with the expected text reaches threshold", score="share")
def build_f1(_settings: Settings) -> Plan:
    """Compile `f1`: SQuAD's token F1, the best over a list of accepted answers."""

    def read(raw: Any) -> list[tuple[str, Counter[str]]]:
        texts = [as_text(one) for one in accepted_values(raw) if not is_blank(one)]
        if not texts:
            raise OperandError(f"{json_text(raw)} without an answer in it", "a text")
        return [(text, Counter(normalize_squad(text).split())) for text in texts]

    def compare(text: str, operand: list[tuple[str, Counter[str]]]) -> Finding:
        tokens = Counter(normalize_squad(text).split())
        share, raw = max((token_f1(tokens, wanted), raw) for raw, wanted in operand)
        return Finding(None, share, wanted=f"the tokens of {quote(raw)}", wanted_text=raw)

    return Plan(compare=compare, operand=read, reads="plain", operand_optional=True)


def token_f1(found: Counter[str], wanted: Counter[str]) -> float:
    """Return the F1 of two bags of tokens; two empty bags agree (SQuAD 2.0's rule)."""
    if not found or not wanted:
        return 1.0 if not found and not wanted else 0.0
    shared = (found & wanted).total()
    return f1_of(share_of(shared, found.total()), share_of(shared, wanted.total()))


# ── choice ────────────────────────────────────────────────────────────────────────────

LETTERS: Final = string.ascii_uppercase
# A letter that stands alone among Latin letters and digits; Hangul or kana may touch it.
ALONE: Final = r"(?<![A-Za-zÀ-ɏ0-9'’])"  # noqa: RUF001
ENDED: Final = r"(?![A-Za-zÀ-ɏ0-9'’])"  # noqa: RUF001
SAID: Final = re.compile(
    r"(?:answer|choice|option|grade|정답|答案|答え|réponse|antwort|respuesta)"
    r"(?:\s+(?:is|was|choice|option|must\s+be|should\s+be)\b)*"
    r"\s*(?:은|는|是|は|est|ist|es)?\s*[:：=]?\s*[*_`\"'(\[{\\$]*(?:boxed\{|text\{|option\s+)*"  # noqa: RUF001
    rf"([A-Za-z]){ENDED}(?!\s+[a-z])",
    re.IGNORECASE,
)
ONLY: Final = re.compile(r"\s*[*_`\"'(\[]*([A-Za-z])[*_`\"')\].:,]*(?:\s+\S.*)?\s*", re.DOTALL)
BARE: Final = re.compile(r"\s*[*_`\"'(\[]*([A-Za-z])[*_`\"')\].:,]*\s*")
MARKED_FIRST: Final = re.compile(r"\s*[*_]*(?:\(([A-Z])\)|([A-Z])[).:])(?=\s)")
BRACKETED: Final = re.compile(rf"\(([A-Z])\)|{ALONE}\*\*([A-Z])[.)]?\*\*")


@check(
    "choice",
    Option(name="choices", kind="list", summary="the texts of the choices, in order A, B, C ..."),
    Option(
        name="positions",
        kind="bool",
        default=False,
        summary="the expected value is the position of the right choice, counted from 0",
    ),
    Option(name="value", kind="operand", summary="the right choice, where the row names none"),
    summary="the chosen letter or text is the right one",
)
def build_choice(settings: Settings) -> Plan:
    """Compile `choice`: what the output chose, by rule, against the right letter or text.

    The last "Answer: B" counts first, then a text that is the letter ("B", "(B)", "B."),
    then the text of a choice, then the only letter in brackets. Nothing is guessed: an
    output that names no choice, or several, fails and says so.
    """
    choices = read_choices(settings)
    letters = LETTERS[: len(choices)] if choices else LETTERS
    read = choice_operand(choices, letters, settings["positions"])

    def compare(text: str, wanted: str) -> Finding:
        chosen = find_choice(text, choices, letters)
        shown = f"no choice in {quote(text)}" if chosen is None else f"{chosen} in {quote(text)}"
        return Finding(chosen == wanted, found=shown, wanted=wanted)

    return Plan(compare=compare, operand=read, reads="plain", operand_optional=True)


def read_choices(settings: Settings) -> tuple[str, ...]:
    """Return the folded texts of the choices.

    Raises:
        ConfigError: a choice is no text, empty or given twice, or there are more than letters.
    """
    raw = settings["choices"]
    if raw is None:
        if settings["positions"]:
            raise settings.problem("positions", "positions need the choices", "choices: [...]")
        return ()
    texts = tuple(fold(as_text(one).strip()) for one in raw)
    if not all(texts) or len(set(texts)) != len(texts) or not 2 <= len(texts) <= len(LETTERS):
        raise settings.problem("choices", json_text(list(raw)), "2 to 26 different texts")
    return texts


def choice_operand(choices: tuple[str, ...], letters: str, positions: bool) -> Callable[[Any], str]:
    """Return the reader of the right choice: a letter, a text of the choices or a position."""

    def read(raw: Any) -> str:
        if positions:
            if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < len(choices):
                return letters[raw]
            if type(raw) is str and raw.strip().isdecimal() and int(raw) < len(choices):
                return letters[int(raw)]
            raise OperandError(json_text(raw), f"a position from 0 to {len(choices) - 1}")
        if isinstance(raw, Mapping | list):
            raise OperandError(kind_phrase(raw), "the letter or the text of a choice")
        text = as_text(raw).strip()
        if fold(text) in choices:
            return letters[choices.index(fold(text))]
        match = BARE.fullmatch(text)
        if match is not None and match[1].upper() in letters:
            return match[1].upper()
        raise OperandError(quote(text), "the letter or the text of a choice")

    return read


def find_choice(text: str, choices: tuple[str, ...], letters: str) -> str | None:
    """Return the letter of the choice a text names beyond doubt, or None."""
    said = [match[1].upper() for match in SAID.finditer(text) if match[1].upper() in letters]
    if said:
        return said[-1]
    bare = BARE.fullmatch(text)
    if bare is not None and bare[1].upper() in letters:
        return bare[1].upper()
    by_text = choice_of_text(text, choices, letters)
    if by_text is not None:
        return by_text
    first = MARKED_FIRST.match(text)
    if first is not None and (first[1] or first[2]) in letters:
        return first[1] or first[2]
    marked = {match[1] or match[2] for match in BRACKETED.finditer(text)} & set(letters)
    return marked.pop() if len(marked) == 1 else None


def choice_of_text(text: str, choices: tuple[str, ...], letters: str) -> str | None:
    """Return the letter of the only choice whose text the output is, or holds."""
    folded = fold(text).strip().strip(" .*_\"'`")
    if folded in choices:
        return letters[choices.index(folded)]
    held = [index for index, one in enumerate(choices) if holds_words(folded, one)]
    inner = [
        index
        for index in held
        if not any(index != other and choices[index] in choices[other] for other in held)
    ]
    return letters[inner[0]] if len(inner) == 1 else None


def holds_words(text: str, words: str) -> bool:
    """Tell whether words occur in a text, not as a part of longer words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None
