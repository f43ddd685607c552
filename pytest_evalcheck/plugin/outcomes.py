"""What pytest says of a score: pure decisions, acted on by the items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_evalcheck.model import Gate, Row, Score
from pytest_evalcheck.safetext import safe_line

__all__ = ["Outcome", "decide_outcome", "merge_outcomes"]

Word = Literal["passed", "failed", "xfailed", "xpassed", "skipped"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The word pytest uses, and the one line that goes with it."""

    word: Word
    reason: str = ""


PASSED = Outcome("passed")


def decide_outcome(score: Score, gate: Gate, row: Row) -> Outcome:
    """Return what pytest reports for a score under a gate.

    A row's own `xfail` turns a failure into xfailed and a pass into xpassed; it
    never hides an error. A failure under a gate that looks at the whole metric,
    or at nothing, is xfailed: "not gating".
    """
    if score.status == "scored":
        if score.passed:
            return Outcome("xpassed", safe_line(row.xfail)) if row.xfail else PASSED
        if row.xfail:
            return Outcome("xfailed", safe_line(row.xfail))
        if gate.kind == "each":
            return Outcome("failed", _reason(score))
        return Outcome("xfailed", f"not gating: {_reason(score)}")
    if score.status == "error":
        return Outcome("failed", _reason(score))
    return Outcome("skipped", _reason(score))


def merge_outcomes(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of an item that stands for several scores.

    The most telling one wins: a failure before an unexpected pass, then a pass,
    then a failure that does not gate; only an item without any verdict is skipped.
    """
    if all(outcome is PASSED for outcome in outcomes):
        return PASSED
    for word in ("failed", "xpassed", "xfailed", "passed", "skipped"):
        chosen = [outcome for outcome in outcomes if outcome.word == word]
        if chosen:
            more = f" (and {len(chosen) - 1} more)" if len(chosen) > 1 and word != "passed" else ""
            return Outcome(chosen[0].word, chosen[0].reason + more if chosen[0].reason else more)
    return PASSED


def _reason(score: Score) -> str:
    """Return the score's reason on one safe line, led by its code where it has one."""
    reason = safe_line(score.reason)
    if score.code and not reason.startswith(score.code):
        return f"{score.code}: {reason}" if reason else score.code
    return reason or score.status
