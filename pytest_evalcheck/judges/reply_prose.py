r"""A verdict in prose: only where the reply says in so many words that it is the verdict.

Explicit are: the whole reply; its first or last line; `[[4]]`, `\\boxed{4}`, `<score>4</score>`;
a label (`Score: 4`, `the final grade is B`); a verb (`I rate this an 8`). All explicit ones
must agree, but a "final" or "overall" one decides. A number or a word that merely occurs
is no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from pytest_evalcheck.judges.reply_numbers import Unreadable, number_of, number_pattern, within
from pytest_evalcheck.judges.scales import Scale, plain_label

__all__ = ["FALSE_WORDS", "TRUE_WORDS", "read_prose", "vocabulary_of", "word_value"]

MAX_PROSE: Final = 50_000

TRUE_WORDS: Final = (
    *("true", "yes", "pass", "passed", "correct", "right", "met", "satisfied", "success"),
    *("y", "t", "1", "✓", "✔", "✅"),
)
FALSE_WORDS: Final = (
    *("false", "no", "fail", "failed", "incorrect", "wrong", "unmet", "unsatisfied", "failure"),
    *("not true", "not passed", "not correct", "not met", "not satisfied"),
    *("n", "f", "0", "✗", "✘", "❌"),
)
# A word in the place of a letter that was offered: inspect's graders, yes/no and pass/fail.
WORDS_OF_LETTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "c": ("correct",),
    "i": ("incorrect",),
    "p": ("partial", "partially correct", "pass", "passed"),
    "f": ("fail", "failed", "false"),
    "y": ("yes",),
    "n": ("no",),
    "t": ("true",),
}

LABELS: Final = (
    r"scores?|ratings?|grades?|verdict|decision|judge?ment|conclusion|evaluation"
    r"|评分|得分|分数|スコア|점수|оценка|bewertung|puntuación|calificación"
)
# Words that also name what was judged: a colon must follow them.
COLON_LABELS: Final = r"answer|result|choice|label|outcome|classification|points|mark"
# Numbers of another kind than the verdict.
OTHER_FIGURES: Final = re.compile(
    r"\b(?:confidence|certainty|probability|max(?:imum)?|min(?:imum)?|highest|lowest"
    r"|threshold|passing|average|baseline|previous|possible|required)\s+$",
    re.IGNORECASE,
)
FINAL: Final = re.compile(r"\b(?:final|overall)\s+$", re.IGNORECASE)
DENIED: Final = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)\s+(?:\w+\s+){0,3}$"
    r"|\b(?:if|unless|instead\s+of|rather\s+than|than|to\s+(?:get|earn|reach|achieve|receive))"
    r"\s+(?:\w+\s+){0,6}$",
    re.IGNORECASE,
)
SUPPOSED: Final = re.compile(
    r"[ \t]+(?:if|unless|only|would|could|when|is\s+not|isn['’]t|requires?|needs?)\b", re.IGNORECASE
)
CONNECTS: Final = (
    r"[\"'*_`]*[ \t]*(?:\([^()\n]{0,40}\)|\[[^\]\n]{0,40}\])?(?:[ \t]+(?:for|on)[ \t]+[\w \t,'-]{1,60}?)?"
    r"(?:[ \t]*(?::|=|->|→|\||[-–—](?=[ \t])|\b(?:is|was|of|would[ \t]+be|should[ \t]+be|at|an?|the"
    r"|therefore|thus|it|this|equals?|be)\b)){0,5}\s*[\"'*_`(\[{<]*[ \t]*"
)
COLON_CONNECTS: Final = r"[\"'*_`]*[ \t]*(?:is[ \t]*)?[:=]\s*[\"'*_`(\[{<]*[ \t]*"
OBJECT: Final = r"(?:(?:this|that|it|the|them)(?:[ \t]+\w+){0,3}?[ \t]+)?(?:(?:a|an|at|as|with)[ \t]+)?(?:(?:score|rating|grade)[ \t]+of[ \t]+)?"
VERBS: Final = rf"\b(?:(?:rat|scor|grad|award|assign|deserv|merit|earn|giv)(?:e|es|ed|ing|s)?|gave|given)[ \t]+{OBJECT}"
SAYS: Final = r"\b(?:(?:this|that|it)[ \t]+(?:is|should[ \t]+be|would[ \t]+be)|should[ \t]+be)[ \t]+(?:an?[ \t]+)?"
# What may follow a number that no label stands before.
CLOSES: Final = r"(?=[ \t]*(?:[.,;:!)\]\n]|$|[-–—][ \t]|(?:because|since|as|for|on|overall)\b))"
TAG: Final = r"<(?:score|rating|grade|verdict|answer|result|label)>\s*"
LIST_ITEM: Final = re.compile(r"^\s*\(?\w{1,3}[-–—:.)]", re.MULTILINE)
EMPHASIS: Final = re.compile(r"(?<!\w)(\*\*\*|\*\*|__|\*|_|`)(?=\S)([^\n]{1,200}?)(?<=\S)\1(?!\w)")
OUTER: Final = " \t\r\n\"'`*_()[]{}<>“”‘’「」"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One explicit verdict.

    Attributes:
        value: the score.
        final: the reply calls it final or overall.
        shown: the words it was read from.
    """

    value: float
    final: bool = False
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """How a verdict of one scale looks, and what it is worth.

    Attributes:
        pattern: the regular expression of one verdict.
        value: the score of a match.
        bare_after: what follows it where no label stands before.
    """

    pattern: str
    value: Callable[[re.Match[str]], float]
    bare_after: str


def read_prose(
    text: str,
    scale: Scale,
    *,
    marker: str | None = None,
    key: str | None = None,
    decimal: str = ".",
) -> Found:
    """Return the verdict of a reply in prose.

    Args:
        text: the reply without reasoning and without JSON objects.
        scale: what was asked for.
        marker: what stands before the verdict; then nothing else counts.
        key: another label for the verdict.
        decimal: "," takes a decimal comma too.

    Raises:
        Unreadable: there is none, or two that differ.
    """
    if len(text) > MAX_PROSE:
        raise Unreadable(f"the reply is {len(text):,} characters of prose")
    token = token_of(scale, decimal)
    text = without_emphasis(text)
    if marker is not None and marker.strip():
        return read_marked(text, marker, scale, token)
    text = without_scale(text, scale)
    whole = re.fullmatch(rf"{token.pattern}[.!。]*", text.strip(OUTER), re.IGNORECASE)
    if whole is not None:
        return Found(value=token.value(whole), shown=whole[0])
    found = list(explicit_verdicts(text, token, key))
    finals = [one for one in found if one.final]
    if not found and scale.kind == "number":
        found = list(bare_fractions(text, token))
    if not found:
        raise Unreadable("the reply holds no verdict")
    return agreed(finals or found)


def agreed(found: list[Found]) -> Found:
    """Return the verdict that all are.

    Raises:
        Unreadable: they differ.
    """
    values = sorted({one.value for one in found})
    if len(values) > 1:
        shown = " and ".join(f"{value:g}" for value in values[:4])
        raise Unreadable(f"the reply holds verdicts that differ: {shown}")
    return found[0]


def token_of(scale: Scale, decimal: str = ".") -> Token:
    """Return how a verdict of a scale looks."""
    if scale.kind == "number":
        return Token(
            pattern=number_pattern(decimal),
            value=lambda match: number_of(match, scale),
            bare_after=CLOSES,
        )
    vocabulary = vocabulary_of(scale)
    return Token(
        pattern=word_pattern(tuple(vocabulary)),
        value=lambda match: vocabulary[plain_label(match["word"])],
        bare_after=r"(?=[ \t]*(?:[.,;:!)\n]|$|[-–—][ \t]))(?!\.[ \t]*\d)",
    )


@cache
def word_pattern(words: tuple[str, ...]) -> str:
    """Return the regular expression of one of some words, the longest first.

    `I` and `A` are English words too: no sentence may go on after them. `A-` and `C/I`
    are no choice, and neither is one of two.
    """
    ordered = sorted(words, key=len, reverse=True)
    spelt = "|".join(r"[ \t_-]+".join(map(re.escape, word.split())) for word in ordered)
    return (
        rf"(?P<word>(?<![\w-])(?:{spelt}))(?![\w+]|[-/|]\w|['’]\w|-(?![\w \t\n-])|-$)"
        rf"(?!(?<=\b[AIai])[ \t]+(?!because|since|as\b|for\b)[A-Za-z])"
        rf"(?![ \t]*(?:\bor\b|/|\|)[ \t]*(?:{spelt})(?!\w))"
    )


def vocabulary_of(scale: Scale) -> dict[str, float]:
    """Return every word that is a verdict on a scale, as `plain_label` writes it."""
    if scale.kind == "pass_fail":
        return dict.fromkeys(TRUE_WORDS, 1.0) | dict.fromkeys(FALSE_WORDS, 0.0)
    own = {plain_label(label): score for label, score in scale.labels}
    words = {
        word: score for letter, score in own.items() for word in WORDS_OF_LETTERS.get(letter, ())
    }
    return words | own


def word_value(text: str, scale: Scale) -> float | None:
    """Return the score of a text that is a verdict, with a remark after a mark at most."""
    vocabulary = vocabulary_of(scale)
    exact = vocabulary.get(plain_label(text.strip(OUTER + ".!")))
    if exact is not None:
        return exact
    match = re.match(rf"\s*{word_pattern(tuple(vocabulary))}\s*[-–—:.,;(]", text, re.IGNORECASE)
    return None if match is None else vocabulary[plain_label(match["word"])]


def read_marked(text: str, marker: str, scale: Scale, token: Token) -> Found:
    """Return the verdict after the last occurrence of a marker.

    A marker that is itself two verdicts (`[[YES]]/[[NO]]`) is looked for as such.

    Raises:
        Unreadable: the marker is missing, or what follows it was not offered.
    """
    alternatives = marker_verdicts(marker, scale)
    if alternatives:
        found = [
            Found(value=value, shown=literal)
            for literal, value in alternatives.items()
            if re.search(rf"(?<!\w){re.escape(literal)}(?!\w)", text, re.IGNORECASE)
        ]
        if not found:
            raise Unreadable(f"the reply holds none of {' and '.join(alternatives)}")
        return agreed(found)
    spelt = r"[ \t*_`]*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", marker)))
    places = list(re.finditer(rf"(?<!\w){spelt}" if marker[0].isalnum() else spelt, text, re.I))
    if not places:
        raise Unreadable(f"the reply has no {marker!r}")
    tail = text[places[-1].end() :].lstrip(" \t\r\n:=\"'`*_([{<“‘")
    match = re.match(token.pattern, tail, re.IGNORECASE)
    if match is None:
        said = " ".join(tail[:40].split())
        raise Unreadable(f"after {marker!r} stands {said!r}, not {scale.text()}")
    return Found(value=token.value(match), shown=match[0])


def marker_verdicts(marker: str, scale: Scale) -> dict[str, float]:
    """Return the verdicts that a marker of alternatives spells out, or nothing."""
    parts = [part.strip() for part in re.split(r"[/|]", marker) if part.strip()]
    if len(parts) < 2 or scale.kind == "number":
        return {}
    values = {part: word_value(part, scale) for part in parts}
    return {part: value for part, value in values.items() if value is not None}


def explicit_verdicts(text: str, token: Token, key: str | None) -> Iterator[Found]:
    """Yield the verdicts of a reply that are said to be it."""
    yield from line_verdicts(text, token)
    for frame in (rf"\[\[\s*{token.pattern}\s*\]\]", rf"\\boxed\{{\s*{token.pattern}\s*\}}"):
        yield from matches(frame, text, token)
    yield from matches(rf"{TAG}{token.pattern}\s*</", text, token)
    own = rf"|{re.escape(key)}" if key and key.strip() else ""
    for labels, connects in ((LABELS + own, CONNECTS), (COLON_LABELS, COLON_CONNECTS)):
        frame = rf"(?<![\w-])(?:{labels})(?![\w-]){connects}{token.pattern}"
        yield from asserted(matches_with_place(frame, text), text, token)
    if "num" in token.pattern:
        frame = rf"{VERBS}{token.pattern}{token.bare_after}"
        yield from asserted(matches_with_place(frame, text), text, token)
        frame = rf"{SAYS}{token.pattern}{token.bare_after}"
        yield from asserted(matches_with_place(frame, text), text, token)


def line_verdicts(text: str, token: Token) -> Iterator[Found]:
    """Yield the verdict the first line begins with, and the one the last line is."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return
    first = re.match(rf"[{re.escape(OUTER)}]*{token.pattern}(?P<rest>.*)", lines[0], re.IGNORECASE)
    if first is not None and begins_remark(first["rest"], token):
        is_list = any(LIST_ITEM.match(line) for line in lines[1:])
        if not (is_list and first["rest"].strip()):
            yield Found(value=token.value(first), shown=first[0])
    last = re.fullmatch(rf"{token.pattern}[.!。]*", lines[-1].strip(OUTER), re.IGNORECASE)
    if last is not None and len(lines) > 1:
        yield Found(value=token.value(last), shown=last[0])


def begins_remark(rest: str, token: Token) -> bool:
    """Tell whether what follows a verdict in its line is no part of a sentence with it."""
    if "num" in token.pattern:
        return re.match(r"[\"'*_`)\]]*\s*(?:[.!]?$|[-–—:,;(]\s*\D)", rest) is not None
    return re.match(r"[\"'*_`)\]]*\s*(?:$|[.,:;!(](?!\s*\d)|[-–—][ \t])|\)", rest) is not None


def matches(frame: str, text: str, token: Token) -> Iterator[Found]:
    for match in re.finditer(frame, text, re.IGNORECASE):
        yield Found(value=token.value(match), shown=match[0])


def matches_with_place(frame: str, text: str) -> Iterator[re.Match[str]]:
    yield from re.finditer(frame, text, re.IGNORECASE)


def asserted(places: Iterable[re.Match[str]], text: str, token: Token) -> Iterator[Found]:
    """Yield the verdicts at some places that are neither denied, supposed nor other figures."""
    for match in places:
        before = text[max(0, match.start() - 60) : match.start()]
        if OTHER_FIGURES.search(before) or DENIED.search(before):
            continue
        if SUPPOSED.match(text, match.end()):
            continue
        yield Found(
            value=token.value(match), final=FINAL.search(before) is not None, shown=match[0]
        )


def bare_fractions(text: str, token: Token) -> Iterator[Found]:
    """Yield `4/5` and `4 out of 5` that stand free in a text: better than nothing, if one."""
    frame = rf"(?<![\w.,/+\-–$€£#:]){token.pattern}{token.bare_after}"
    for match in re.finditer(frame, text, re.IGNORECASE):
        if match["den"] is not None:
            yield Found(value=token.value(match), shown=match[0])


def without_emphasis(text: str) -> str:
    """Return a text without Markdown's emphasis."""
    for _ in range(2):
        text = EMPHASIS.sub(r"\2", text)
    return text


def without_scale(text: str, scale: Scale) -> str:
    """Return a text in which mentions of the scale itself are blank: `(1-5)`, `from 1 to 5`."""
    if scale.kind != "number":
        return text
    low, high = (re.escape(f"{bound:g}") for bound in (scale.low, scale.high))
    joint = r"\s*(?:-|–|—|to|and|through|\.\.)\s*"
    frame = (
        rf"(?:\b(?:on|in|using)\s+(?:a|the)\s+)?(?:\b(?:scale|range)\b(?:\s+(?:of|from))?\s*"
        rf"|\b(?:from|between)\s+)?[(\[]?(?<![\w.]){low}{joint}{high}(?![\w.]\d|\w)[)\]]?(?:\s+scale\b)?"
        rf"|[(\[]\s*(?:out\s+of|max\.?|/)\s*{high}\s*[)\]]"
    )
    return re.sub(frame, " ", text, flags=re.IGNORECASE)


def checked(found: Found, scale: Scale) -> float:
    """Return the value of a verdict that lies on its scale."""
    return within(found.value, scale) if scale.kind == "number" else found.value
