"""What a judge may answer: a number within bounds, pass or fail, or one of some labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pytest_evalcheck.errors import ConfigError, Problem

__all__ = ["Direction", "Scale", "scale_of"]

Direction = Literal["higher", "lower"]

SCALE_FORMS: Final = "[lowest, highest], 'bool' or a mapping of labels to scores"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The answers a judge may give.

    Attributes:
        kind: `number`, `pass_fail` (1 or 0) or `labels`.
        low, high: the bounds; of labels, those of their scores.
        labels: label and score, in the order written.
        bands: score and what deserves it, from the highest down; numbers only.
        whole: only whole numbers are asked for. Others within the bounds are still read,
            for a judge that answers 4.5 is understood.
    """

    kind: Literal["number", "pass_fail", "labels"]
    low: float = 0.0
    high: float = 1.0
    labels: tuple[tuple[str, float], ...] = ()
    bands: tuple[tuple[float, str], ...] = ()
    whole: bool = False

    def text(self) -> str:
        """Return the scale in words."""
        if self.kind == "pass_fail":
            return "pass or fail"
        if self.kind == "labels":
            return "one of " + ", ".join(repr(label) for label, _ in self.labels)
        return f"{self.low:g} to {self.high:g}"

    def default_threshold(self, direction: Direction = "higher") -> float:
        """Return the value that passes when no threshold is written: the best of the scale.

        Evaluators and fraction-valued checks follow the same rule.
        """
        return self.high if direction == "higher" else self.low

    def passes(self, value: float, threshold: float, direction: Direction = "higher") -> bool:
        """Tell whether a value is good enough, compared after rounding to 4 places."""
        value, threshold = round(value, 4), round(threshold, 4)
        return value >= threshold if direction == "higher" else value <= threshold


def scale_of(scale: Any, choices: Mapping[str, float] | None = None) -> Scale:
    """Return the scale that an argument of the library API describes.

    Args:
        scale: `(lowest, highest)`, `"bool"` (or `"pass_fail"`) or `{label: score}`.
        choices: labels and their scores, which go before `scale`.

    Raises:
        ConfigError: it is none of them.
    """
    if isinstance(scale, Scale) and choices is None:
        return scale
    if choices is not None:
        return labels_scale(choices)
    if isinstance(scale, str) and scale in ("bool", "pass_fail"):
        return Scale(kind="pass_fail")
    if isinstance(scale, Mapping):
        return labels_scale(scale)
    if isinstance(scale, list | tuple) and len(scale) == 2 and all(map(is_number, scale)):
        low, high = scale
        if low < high:
            return Scale(kind="number", low=float(low), high=float(high))
    raise ConfigError(Problem(found=f"the scale {scale!r}", expected=SCALE_FORMS, keys=("scale",)))


def labels_scale(labels: Mapping[str, float]) -> Scale:
    """Return the scale of labels.

    Raises:
        ConfigError: with every mistake of the mapping.
    """
    problems = label_problems(labels)
    if problems:
        raise ConfigError(problems)
    scores = [float(score) for score in labels.values()]
    return Scale(
        kind="labels",
        low=min(scores),
        high=max(scores),
        labels=tuple((label, float(score)) for label, score in labels.items()),
    )


def label_problems(labels: Any) -> list[Problem]:
    """Return what is wrong with a mapping of labels to scores."""
    if not isinstance(labels, Mapping) or len(labels) < 2:
        return [
            Problem(
                found=f"the labels {labels!r}",
                expected="a mapping of two labels or more to their scores",
                keys=("labels",),
            )
        ]
    problems = []
    seen: dict[str, str] = {}
    for label, score in labels.items():
        place = ("labels", str(label))
        if not isinstance(label, str) or not label.strip():
            problems.append(Problem(found=f"the label {label!r}", expected="a text", keys=place))
            continue
        if not is_number(score):
            problems.append(
                Problem(found=f"the score {score!r}", expected="a finite number", keys=place)
            )
        twin = seen.setdefault(plain_label(label), label)
        if twin != label:
            problems.append(
                Problem(found=f"the labels {twin!r} and {label!r} are alike", keys=place)
            )
    if not problems and len(set(labels.values())) < 2:
        problems.append(
            Problem(
                found="all labels have the same score",
                expected="two different scores at least",
                fix="A metric that cannot tell anything apart cannot fail.",
                keys=("labels",),
            )
        )
    return problems


def plain_label(label: str) -> str:
    """Return a label as it is compared: letter case, `_`, `-` and spaces do not count."""
    return " ".join(label.casefold().replace("_", " ").replace("-", " ").split())


def is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
