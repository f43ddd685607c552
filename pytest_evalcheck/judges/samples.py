"""Several answers to one question made one: median, majority, and both orders of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_evalcheck.judges.reply import Reading
from pytest_evalcheck.judges.reply_numbers import Unreadable
from pytest_evalcheck.judges.scales import Direction, Scale
from pytest_evalcheck.statistics import median

__all__ = ["Combined", "combine_orders", "combine_samples"]

Answer = Reading | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """Several answers as one.

    Attributes:
        reading: the answer they make together; its reason is that of the sample nearest.
        values: the value of each sample, None for one that was lost.
        spread: the highest value minus the lowest.
        flickers: the samples fall on both sides of the threshold.
    """

    reading: Reading
    values: tuple[float | None, ...]
    spread: float
    flickers: bool


def combine_samples(
    answers: Sequence[Answer], scale: Scale, threshold: float, direction: Direction
) -> Combined:
    """Return the answer that samples make together.

    Numbers give the median; pass or fail and labels the majority. Samples that were lost
    are left out while more than half are there.

    Raises:
        Unreadable: half of the samples or more were lost (with the first one's code); or no
            verdict has a majority (`judge_abstained`).
    """
    readings = [answer for answer in answers if isinstance(answer, Reading)]
    lost = [answer for answer in answers if isinstance(answer, Unreadable)]
    if len(lost) * 2 >= len(answers):
        first = lost[0]
        if len(answers) == 1:
            raise first
        raise Unreadable(f"{len(lost)} of {len(answers)} samples lost: {first.why}", first.code)
    values = [reading.value for reading in readings]
    value = median(values) if scale.kind == "number" else majority(values)
    nearest = min(readings, key=lambda reading: abs(reading.value - value))
    sides = {scale.passes(one, threshold, direction) for one in values}
    return Combined(
        reading=replace(nearest, value=value),
        values=tuple(one.value if isinstance(one, Reading) else None for one in answers),
        spread=max(values) - min(values),
        flickers=len(sides) > 1,
    )


def majority(values: Sequence[float]) -> float:
    """Return the value that comes most often.

    Raises:
        Unreadable: two come equally often.
    """
    ranked = Counter(values).most_common(2)
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        raise Unreadable("the samples are tied, so there is no verdict", "judge_abstained")
    return ranked[0][0]


def combine_orders(forward: Answer, backward: Answer) -> Answer:
    """Return the verdict on a pair that was asked in both orders.

    Args:
        forward: the value of the output (1 better, 0.5 tie, 0 worse), shown first.
        backward: the same, with the output shown second.

    Returns:
        The verdict when both orders agree; else that there is none (`judge_abstained`).
    """
    for answer in (forward, backward):
        if isinstance(answer, Unreadable):
            return answer
    if not isinstance(forward, Reading) or not isinstance(backward, Reading):
        raise TypeError("an answer is a Reading or Unreadable")
    if forward.value == backward.value:
        return forward
    return Unreadable(
        "the verdict depends on the order: "
        f"{PAIR_WORDS[forward.value]} when the output came first, "
        f"{PAIR_WORDS[backward.value]} when it came second",
        "judge_abstained",
    )


PAIR_WORDS = {1.0: "the output is better", 0.5: "a tie", 0.0: "the expected one is better"}
