"""Words of the design that this version does not carry out yet: each is refused in one sentence.

Whoever brings judges, tasks or weights replaces the function that refuses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.errors import Problem

__all__ = ["JUDGE_KEYS", "judge_problem", "suite_word_problems", "weight_problem"]

JUDGE_KEYS: Final = ("judge", "instruction", "rubric_bands", "rubric", "calibration")
SUITE_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "task": (
        "tasks are not part of this version",
        "Record the outputs in the rows, as `output`.",
    ),
    "judges": (
        "judges are not part of this version",
        "Use checks, or a function of yours as `evaluator`.",
    ),
}


def suite_word_problems(document: Mapping[Any, Any]) -> list[Problem]:
    """Return one problem for each word of a suite that is not carried out yet."""
    return [
        Problem(found=found, fix=fix, where=word, keys=(word,))
        for word, (found, fix) in SUITE_WORDS.items()
        if word in document
    ]


def judge_problem(entry: Mapping[Any, Any]) -> Problem | None:
    """Return the problem of a metric that asks for a judge, or None for another metric."""
    word = next((key for key in JUDGE_KEYS if key in entry), None)
    if entry.get("metric_type") == "llm_judge":
        word = "metric_type"
    elif word is None or (word != "judge" and {"check", "evaluator"} & entry.keys()):
        return None
    return Problem(
        found="judge metrics are not part of this version",
        fix="Use a check, or a function of yours as `evaluator`.",
        where=word,
        keys=(word,),
    )


def weight_problem(entry: Mapping[Any, Any]) -> Problem | None:
    """Return why a metric's `weight` is refused, or None without one."""
    if "weight" not in entry:
        return None
    weight = entry["weight"]
    if weight == 0 and not isinstance(weight, bool):
        found, fix = "weight: 0 cannot fail", "Drop the metric, or write `gate: off`."
    else:
        found = "weight has no meaning: every metric has its own gate"
        fix = "Drop `weight`."
    return Problem(found=found, fix=fix, where="weight", keys=("weight",))
