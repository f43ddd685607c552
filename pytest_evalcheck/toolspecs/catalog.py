"""The score of a whole server: the average, look-alikes, and notes pasted into every tool."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from pytest_evalcheck.toolspecs.arguments import text_at
from pytest_evalcheck.toolspecs.findings import SEVERITIES, Finding, find_faults, listed
from pytest_evalcheck.toolspecs.lookalikes import Pair, find_pairs
from pytest_evalcheck.toolspecs.scoring import RULES_VERSION, Parts, read_subject, score_parts
from pytest_evalcheck.toolspecs.words import count_words, description_tokens, name_tokens

__all__ = [
    "CatalogScore",
    "ToolScore",
    "average_of",
    "rate",
    "score_catalog",
    "score_tool",
    "shared_sentences",
]

PAIRS_SHOWN: Final = 12
INSTRUCTIONS_LIMIT: Final = 2048
# The end of a sentence, or of a line.
_SENTENCE: Final = re.compile(r"[^\n]+?(?:[.!?](?=\s|$)|(?=\n)|$)")

Rating = Literal["sunny", "cloudy", "rain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScore:
    """The score of one tool.

    Attributes:
        name: the tool's name.
        total: 0..100, the sum of the parts.
        parts: the six parts.
        findings: what to mend, the worst first; they do not change the total.
        words: the number of words of the description that was scored.
        arguments: the number of arguments.
        rules_version: scores compare only within one version of the rules.
    """

    name: str
    total: int
    parts: Parts
    findings: tuple[Finding, ...]
    words: int
    arguments: int
    rules_version: int = RULES_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogScore:
    """The score of a server's whole list.

    Attributes:
        average: the mean of the tools' totals to one decimal, or None without tools.
        tools: the score of each tool, in the order of the list.
        findings: what to mend in the server as a whole, the worst first.
        pairs: the tools most easily taken for each other, at most 12.
        pair_total: how many such pairs there are in all.
        repeated: the sentences that were taken out of every description.
        rules_version: scores compare only within one version of the rules.
    """

    average: float | None
    tools: tuple[ToolScore, ...]
    findings: tuple[Finding, ...]
    pairs: tuple[Pair, ...]
    pair_total: int
    repeated: tuple[str, ...] = ()
    rules_version: int = RULES_VERSION


def rate(total: float) -> Rating:
    """Return the word for a score: sunny from 70, cloudy from 40, rain below."""
    return "sunny" if total >= 70 else "cloudy" if total >= 40 else "rain"


def score_tool(tool: Mapping[str, Any], *, repeated: Iterable[str] = ()) -> ToolScore:
    """Score one tool of a `tools/list`.

    Args:
        tool: the tool as the server sends it (`name`, `description`, `inputSchema`, ...).
        repeated: sentences of `shared_sentences` that do not count as the tool's own.

    Returns:
        The score: 0..100 in six parts, with what to mend.
    """
    own = remove_sentences(text_at(tool, "description"), frozenset(repeated))
    subject = read_subject(tool, own)
    parts = score_parts(subject)
    return ToolScore(
        name=subject.name,
        total=parts.total,
        parts=parts,
        findings=find_faults(subject, parts),
        words=subject.words,
        arguments=len(subject.arguments),
    )


def score_catalog(
    tools: Sequence[Mapping[str, Any]],
    *,
    instructions: str | None = None,
    says_instructions: bool = False,
) -> CatalogScore:
    """Score a server by all its tools.

    Args:
        tools: the tools in the order of the list.
        instructions: what the server says to every client, or None.
        says_instructions: whether the list can tell if there are instructions at all;
            a bare `tools/list` cannot, and then nothing is said about them.

    Returns:
        The average, the score of each tool, and the findings of the whole.
    """
    repeated = shared_sentences(text_at(tool, "description") for tool in tools)
    taken = frozenset(repeated)
    scores = tuple(score_tool(tool, repeated=taken) for tool in tools)
    own = [remove_sentences(text_at(tool, "description"), taken) for tool in tools]
    names = [text_at(tool, "name") for tool in tools]
    pairs, pair_total = find_pairs(
        [description_tokens(text) for text in own],
        [frozenset(name_tokens(name)) for name in names],
        most=PAIRS_SHOWN,
    )
    findings = [
        *_size_findings(len(tools)),
        *_pair_findings(pairs, pair_total, names),
        *_identical_findings(own, names),
        *_note_finding(repeated),
        *_instruction_findings(instructions, says_instructions),
    ]
    return CatalogScore(
        average=average_of([score.total for score in scores]),
        tools=scores,
        findings=tuple(sorted(findings, key=lambda one: SEVERITIES.index(one.severity))),
        pairs=pairs,
        pair_total=pair_total,
        repeated=repeated,
    )


def average_of(totals: Sequence[int]) -> float | None:
    """Return the mean to one decimal, halves to the even digit, or None of nothing."""
    return round(Fraction(sum(totals), len(totals)) * 10) / 10 if totals else None


# ── notes that are pasted into every description ──────────────────────────────────────


def sentences_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and the sentence with its white space evened out."""
    for match in _SENTENCE.finditer(text):
        sentence = " ".join(match[0].split())
        if count_words(sentence):
            yield match.start(), match.end(), sentence


def shared_sentences(descriptions: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences that are a note of the server rather than of one tool.

    They stand in at least half of the descriptions, and in three, and have 20 words
    together; otherwise nothing is shared.
    """
    texts = list(descriptions)
    users: dict[str, int] = defaultdict(int)
    for text in texts:
        for sentence in dict.fromkeys(sentence for _, _, sentence in sentences_of(text)):
            users[sentence] += 1
    shared = tuple(
        sentence for sentence, count in users.items() if count >= 3 and count * 2 >= len(texts)
    )
    return shared if sum(map(count_words, shared)) >= 20 else ()


def remove_sentences(text: str, taken: frozenset[str]) -> str:
    """Return a text without the sentences that were taken out."""
    if not taken:
        return text
    kept, end = [], 0
    for start, stop, sentence in sentences_of(text):
        if sentence in taken:
            kept.append(text[end:start])
            end = stop
    return "".join([*kept, text[end:]])


# ── findings of the whole ─────────────────────────────────────────────────────────────


def _size_findings(count: int) -> Iterator[Finding]:
    if count <= 25:
        return
    too_many = count > 40
    yield Finding(
        code="too_many_tools" if too_many else "many_tools",
        severity="major" if too_many else "minor",
        found=f"the server has {count} tools",
        fix="Offer fewer at a time, 25 at most: merge near twins, or let clients choose toolsets.",
    )


def _pair_findings(
    pairs: Sequence[Pair], pair_total: int, names: Sequence[str]
) -> Iterator[Finding]:
    for pair in pairs:
        first, second = names[pair.first], names[pair.second]
        yield Finding(
            code="confusable_pair",
            severity="minor",
            found=f"{first} and {second} read alike (descriptions {pair.description:.2f}, "
            f"names {pair.name:.2f})",
            fix="Say in each what it does that the other does not, and point to the other.",
            paths=(first, second),
        )
    if pair_total > len(pairs):
        yield Finding(
            code="confusable_pair_total",
            severity="minor",
            found=f"{pair_total} pairs of tools read alike, of which the {len(pairs)} most alike "
            "are listed",
            fix="Begin each description with what sets the tool apart.",
        )


def _identical_findings(texts: Sequence[str], names: Sequence[str]) -> Iterator[Finding]:
    groups: dict[str, list[str]] = defaultdict(list)
    for text, name in zip(texts, names, strict=True):
        if stripped := text.strip():
            groups[stripped].append(name)
    for group in groups.values():
        if len(group) > 1:
            yield Finding(
                code="identical_description",
                severity="critical",
                found=f"{len(group)} tools have the same description: {listed(group)}",
                fix="Give each a text of its own; a model can tell them apart by nothing else.",
                paths=tuple(group),
            )


def _note_finding(repeated: Sequence[str]) -> Iterator[Finding]:
    if repeated:
        words = sum(map(count_words, repeated))
        start = repeated[0] if len(repeated[0]) <= 60 else f"{repeated[0][:60]}…"
        yield Finding(
            code="repeated_note",
            severity="major",
            found=f"a note of {words} words stands in at least half of the tools ({start!r})",
            fix="Say it once, in the server's instructions; it does not count for any tool.",
        )


def _instruction_findings(instructions: str | None, says: bool) -> Iterator[Finding]:
    if not says:
        return
    text = (instructions or "").strip()
    if not text:
        yield Finding(
            code="instructions_missing",
            severity="minor",
            found="the server has no instructions",
            fix="Say in `instructions` what the server is for and how its tools go together.",
        )
    elif len(text) > INSTRUCTIONS_LIMIT:
        yield Finding(
            code="instructions_long",
            severity="minor",
            found=f"the server's instructions have {len(text)} characters",
            fix=f"Keep them to {INSTRUCTIONS_LIMIT:,}: clients cut what is longer.",
        )
