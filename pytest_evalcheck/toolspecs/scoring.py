"""The score of one tool: six parts that add up to 0..100.

The rules are those the public scorer forecall documents, version 2 (October 2026).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from pytest_evalcheck.toolspecs.arguments import Argument, object_at, text_at, walk_arguments
from pytest_evalcheck.toolspecs.words import (
    VERBS,
    count_words,
    description_tokens,
    first_word,
    has_disambiguation,
    has_example,
    name_tokens,
    names_cost_or_effect,
    names_return,
    usage_cues,
)

__all__ = [
    "HINTS",
    "PART_NAMES",
    "RULES_VERSION",
    "Parts",
    "Subject",
    "read_subject",
    "score_parts",
]

RULES_VERSION: Final = 2

# The parts by field name: the words for a person, and the most points.
PART_NAMES: Final[Mapping[str, tuple[str, int]]] = {
    "purpose": ("purpose", 20),
    "usage": ("when to use", 20),
    "arguments": ("arguments", 25),
    "returns": ("return value", 15),
    "constraints": ("constraints and side effects", 10),
    "examples": ("examples", 10),
}
HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint")
_ANNOTATIONS: Final = ("title", *HINTS, "openWorldHint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The six parts of a score, in points."""

    purpose: int
    usage: int
    arguments: int
    returns: int
    constraints: int
    examples: int

    @property
    def total(self) -> int:
        """The sum, 0..100."""
        return sum(self.values())

    def values(self) -> tuple[int, ...]:
        """Return the points in the order of the rules."""
        return tuple(getattr(self, name) for name in PART_NAMES)

    def text(self) -> str:
        """Return the points as `6/0/18/8/7/0`."""
        return "/".join(map(str, self.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A tool as the rules look at it; null values are absent.

    Attributes:
        name: the tool's name.
        text: its description, shared notes taken out.
        words: the number of words of the text.
        schema: its input schema, or an empty mapping.
        arguments: every argument the schema reaches.
        has_output_schema: whether it has a non-empty output schema.
        annotations: what its annotations say, nulls left out.
    """

    name: str
    text: str
    words: int
    schema: Mapping[str, Any]
    arguments: tuple[Argument, ...]
    has_output_schema: bool
    annotations: Mapping[str, Any]

    @property
    def is_blank(self) -> bool:
        """Whether there is no description to speak of."""
        return not self.text.strip()

    @property
    def is_restatement(self) -> bool:
        """Whether the description only says the name again: few words, and the name's."""
        if self.is_blank or self.words >= 10:
            return False
        tokens = description_tokens(self.text)
        parts = name_tokens(self.name)
        said = sum(1 for part in parts if part.lower() in tokens)
        return said >= max(1, len(parts) - 1)

    @property
    def strings(self) -> tuple[Argument, ...]:
        """The arguments whose type is exactly `string`."""
        return tuple(one for one in self.arguments if one.kind == "string")


def read_subject(tool: Mapping[str, Any], text: str | None = None) -> Subject:
    """Return a tool as the rules see it.

    Args:
        tool: the tool as `tools/list` gives it.
        text: the description to score instead of the tool's own, or None.
    """
    said = text_at(tool, "description") if text is None else text
    schema = object_at(tool, "inputSchema")
    return Subject(
        name=text_at(tool, "name"),
        text=said,
        words=count_words(said),
        schema=schema,
        arguments=tuple(walk_arguments(schema)),
        has_output_schema=bool(object_at(tool, "outputSchema")),
        annotations={
            key: value for key, value in object_at(tool, "annotations").items() if value is not None
        },
    )


def score_parts(subject: Subject) -> Parts:
    """Return the six parts of a tool's score."""
    return Parts(
        purpose=purpose_points(subject),
        usage=usage_points(subject.text),
        arguments=argument_points(subject),
        returns=return_points(subject),
        constraints=constraint_points(subject),
        examples=example_points(subject),
    )


def purpose_points(subject: Subject) -> int:
    """Return 0..20: is there a purpose, long enough, beginning with a verb, not the name again?"""
    if subject.is_blank:
        return 0
    points = 8 + (4 if subject.words >= 12 else 0) + (3 if subject.words >= 25 else 0)
    if first_word(subject.text) in VERBS:
        points += 3
    return min(points, 6) if subject.is_restatement else points + 2


def usage_points(text: str) -> int:
    """Return 0..20: 5 for each of at most three cues, 5 for a disambiguation."""
    return 5 * min(usage_cues(text), 3) + (5 if has_disambiguation(text) else 0)


def argument_points(subject: Subject) -> int:
    """Return 0..25: described, constrained, required named, nothing else let in."""
    arguments = subject.arguments
    if not arguments:
        return 25 if subject.schema.get("type") == "object" else 20
    strings = subject.strings
    described = share_points(15, [one.is_described for one in arguments])
    constrained = share_points(5, [one.is_constrained for one in strings]) if strings else 5
    required = 3 if subject.schema.get("required") else 0
    closed = 2 if subject.schema.get("additionalProperties") is False else 0
    return described + constrained + required + closed


def share_points(most: int, verdicts: Collection[bool]) -> int:
    """Return the share of true ones as points, halves to the even number."""
    return round(Fraction(most * sum(verdicts), len(verdicts)))


def return_points(subject: Subject) -> int:
    """Return 0..15: an output schema, and words on what comes back."""
    return (8 if subject.has_output_schema else 0) + (7 if names_return(subject.text) else 0)


def constraint_points(subject: Subject) -> int:
    """Return 0..10: annotations, hints among them, and words on limits and effects."""
    annotated = any(key in subject.annotations for key in _ANNOTATIONS)
    hinted = any(key in subject.annotations for key in HINTS)
    said = names_cost_or_effect(subject.text)
    return (5 if annotated else 0) + (2 if hinted else 0) + (3 if said else 0)


def example_points(subject: Subject) -> int:
    """Return 0..10: an example in the text, and one at an argument."""
    shown = any(one.has_examples or has_example(one.description) for one in subject.arguments)
    return (5 if has_example(subject.text) else 0) + (5 if shown else 0)
