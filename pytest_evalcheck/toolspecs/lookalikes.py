"""Tools that read alike: the pair search, which compares classes of tools, not tools.

Two tools are alike when the Jaccard similarity of their descriptions' tokens is 0.6 or
more, or that of their names' tokens 0.66 or more with 0.35 or more of the descriptions.

A token that stands in one tool alone can be shared with none: only the number of such
tokens matters. Tools with the same other tokens and the same number form one class, so
that thousands of descriptions from one template are one comparison. Between classes,
candidates come from an index of their rarest tokens (prefix filtering: Chaudhuri,
Ganti and Kaushik, 2006; Bayardo, Ma and Srikant, 2007).
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Final

__all__ = ["Pair", "find_pairs"]

DESCRIPTION_ALONE: Final = Fraction(60, 100)
NAME_LEAST: Final = Fraction(66, 100)
DESCRIPTION_LEAST: Final = Fraction(35, 100)

Tokens = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two tools that read alike.

    Attributes:
        first, second: their places in the list, from 0.
        description: the similarity of the descriptions, 0..1, to two decimals.
        name: that of the names.
    """

    first: int
    second: int
    description: float
    name: float


class _Classes:
    """The classes of one kind of token sets, by number.

    Attributes:
        of: the class of each tool.
        members: the tools of each class, in the order of the list.
        bits: the tokens of each class that others have too, as the bits of an integer.
        sizes: the size of the whole set, tokens of its own included.
    """

    def __init__(self, sets: Sequence[Tokens]) -> None:
        users = Counter(token for tokens in sets for token in tokens)
        # The rarest token is the lowest bit.
        ranked = sorted((count, token) for token, count in users.items() if count > 1)
        places = {token: place for place, (_, token) in enumerate(ranked)}
        numbers: dict[tuple[int, int], int] = {}
        self.of: list[int] = []
        self.members: list[list[int]] = []
        self.bits: list[int] = []
        self.sizes: list[int] = []
        self._places: list[list[int]] = []
        for tool, tokens in enumerate(sets):
            shared = sorted(places[token] for token in tokens if token in places)
            key = (sum(1 << place for place in shared), len(tokens))
            number = numbers.setdefault(key, len(numbers))
            if number == len(self.members):
                self.members.append([])
                self.bits.append(key[0])
                self.sizes.append(key[1])
                self._places.append(shared)
            self.members[number].append(tool)
            self.of.append(number)

    def overlap(self, one: int, other: int) -> tuple[int, int]:
        """Return the sizes of what tools of two classes share and of what they have together."""
        common = (self.bits[one] & self.bits[other]).bit_count()
        return common, self.sizes[one] + self.sizes[other] - common

    def shown(self, first: int, second: int) -> float:
        """Return the similarity of two tools to two decimals; two empty sets share nothing."""
        common, union = self.overlap(self.of[first], self.of[second])
        return to_places(Fraction(common, union)) if union else 0.0

    def alike(self, one: int, others: Iterable[int], least: Fraction) -> list[int]:
        """Return those of the other classes that are alike enough."""
        bits, sizes, own, size = self.bits, self.sizes, self.bits[one], self.sizes[one]
        # common / (size + other - common) >= p / q, in whole numbers.
        p = least.numerator
        both = p + least.denominator
        return [
            other
            for other in others
            if (common := (own & bits[other]).bit_count())
            and common * both >= p * (size + sizes[other])
        ]

    def near(self, least: Fraction) -> Iterator[tuple[int, int]]:
        """Yield the pairs of classes, each with itself included, that are alike enough."""
        index: dict[int, list[int]] = defaultdict(list)
        for one, members in enumerate(self.members):
            prefix = self._prefix(one, least)
            candidates = set().union(*(index[place] for place in prefix))
            for other in self.alike(one, candidates, least):
                yield other, one
            if len(members) > 1 and self.alike(one, (one,), least):
                yield one, one
            for place in prefix:
                index[place].append(one)

    def _prefix(self, one: int, least: Fraction) -> list[int]:
        """Return the rarest tokens, one of which every class alike enough must share."""
        size, shared = self.sizes[one], self._places[one]
        overlap = -(-size * least.numerator // least.denominator)
        return shared[: max(0, len(shared) - overlap + 1)]


def find_pairs(
    descriptions: Sequence[Tokens], names: Sequence[Tokens], *, most: int
) -> tuple[tuple[Pair, ...], int]:
    """Return the pairs most alike, and how many there are in all.

    Args:
        descriptions: the tokens of each tool's description.
        names: the tokens of each tool's name.
        most: how many pairs to return; the rest is only counted.

    Returns:
        The pairs by falling similarity of the descriptions, ties in the order of the list.
    """
    by_text, by_name = _Classes(descriptions), _Classes(names)
    found: list[tuple[float, int, int]] = []
    total, worst = 0, 0.0
    for value, first, second in _alike(by_text, by_name):
        same = first is second
        total += len(first) * (len(first) - 1) // 2 if same else len(first) * len(second)
        if value < worst:
            continue
        found += [(-value, *pair) for pair in _leading_pairs(first, second, most)]
        if len(found) > 100 * most:
            found = heapq.nsmallest(most, found)
            worst = -found[-1][0]
    return tuple(
        Pair(
            first=first,
            second=second,
            description=by_text.shown(first, second),
            name=by_name.shown(first, second),
        )
        for _, first, second in heapq.nsmallest(most, found)
    ), total


def to_places(value: Fraction) -> float:
    """Return a similarity to two decimals, halves to the even digit."""
    return round(value * 100) / 100


def _alike(by_text: _Classes, by_name: _Classes) -> Iterator[tuple[float, list[int], list[int]]]:
    """Yield the similarity of two groups of tools that are alike, and the groups."""
    for one, other in by_text.near(DESCRIPTION_ALONE):
        common, union = by_text.overlap(one, other)
        yield common / union, by_text.members[one], by_text.members[other]
    groups: list[dict[int, list[int]]] = [defaultdict(list) for _ in by_name.members]
    for tool, (text, name) in enumerate(zip(by_text.of, by_name.of, strict=True)):
        groups[name][text].append(tool)
    for first, second in by_name.near(NAME_LEAST):
        for one, other in _alike_texts(by_text, groups[first], groups[second]):
            common, union = by_text.overlap(one, other)
            yield common / union, groups[first][one], groups[second][other]


def _alike_texts(
    by_text: _Classes, first: Mapping[int, object], second: Mapping[int, object]
) -> Iterator[tuple[int, int]]:
    """Yield classes of descriptions that are alike enough only with names that are alike."""
    numbers = list(second)
    for place, one in enumerate(first):
        others = numbers[place:] if first is second else numbers
        near = by_text.alike(one, others, DESCRIPTION_LEAST)
        known = set(by_text.alike(one, near, DESCRIPTION_ALONE))
        yield from ((one, other) for other in near if other not in known)


def _leading_pairs(first: Sequence[int], second: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Return the pairs of two groups of tools that come first in the order of the list."""
    if first is second:
        return list(islice(combinations(first[: most + 1], 2), most))
    # A pair of the 13th member has twelve before it, whichever the other member is.
    pairs = ((min(pair), max(pair)) for pair in product(first[:most], second[:most]))
    return heapq.nsmallest(most, pairs)
