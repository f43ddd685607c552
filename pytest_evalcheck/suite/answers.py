"""What a host evaluator's answer means as a score: taken strictly, never coerced."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_evalcheck.model import CODES, STATUSES, Score
from pytest_evalcheck.suite.keys import near, show
from pytest_evalcheck.suite.user_frames import one_line

__all__ = ["Scale", "read_answer"]

ANSWER_KEYS: Final = ("score", "value", "passed", "reason", "status", "code", "details")
MAY_RETURN: Final = (
    "a Score, true or false, a number, or a mapping with score, passed, reason, status, code"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How the numbers of an evaluator are read.

    Attributes:
        name: the metric's name, for messages.
        threshold: the value from which a row passes, as written, or None.
        score_range: lowest and highest value, as written, or None.
    """

    name: str
    threshold: float | None = None
    score_range: tuple[float, float] | None = None


def read_answer(answer: Any, scale: Scale) -> Score:
    """Return the score a function's answer means; an answer that means none is an error."""
    answer = plain_number(answer)
    if isinstance(answer, Score):
        return checked_score(answer, scale)
    if isinstance(answer, bool):
        return verdict_score(answer, "")
    if isinstance(answer, int | float):
        return number_score(answer, scale)
    if isinstance(answer, Mapping):
        return mapping_score(answer, scale)
    if inspect.iscoroutine(answer):
        answer.close()
    return wrong_answer(scale, f"returned {kind(answer)}")


def plain_number(answer: Any) -> Any:
    """Return numpy's scalars, decimals and fractions as Python's own numbers."""
    home = type(answer).__module__.partition(".")[0]
    if home == "numpy" and getattr(answer, "shape", None) == ():
        return answer.item()
    if home in ("decimal", "fractions", "_decimal"):
        return float(answer)
    return answer


def checked_score(score: Score, scale: Scale) -> Score:
    """Return a function's own Score, unless its value lies outside the declared range."""
    if score.status == "scored" and score.value is not None:
        return out_of_range(score.value, scale) or score
    return score


def verdict_score(passed: bool, reason: str) -> Score:
    """Return the score of a bare verdict."""
    said = reason or f"the evaluator says {'yes' if passed else 'no'}"
    return Score("scored", value=float(passed), passed=passed, reason=said)


def number_score(
    number: float, scale: Scale, *, said: str = "", details: Mapping[str, Any] | None = None
) -> Score:
    """Return the score of a number: it passes from the threshold on.

    Without a threshold the top of the range is it, as 1.0 is for every fraction-valued
    check; without a range a number outside of 0..1 is an error that asks for them.
    """
    outside = out_of_range(number, scale)
    if outside is not None:
        return outside
    if scale.threshold is None and scale.score_range is None and not 0 <= number <= 1:
        return Score(
            "error",
            reason=f"{scale.name} returned {number:g}, and the metric has neither threshold nor "
            "score_range: write the value from which a row passes",
        )
    needed = scale.threshold
    if needed is None:
        needed = scale.score_range[1] if scale.score_range else 1.0
    passed = round(number, 4) >= round(needed, 4)
    compared = f"{number:g} {'reaches' if passed else 'is below'} the threshold {needed:g}"
    reason = f"{compared}: {said}" if said else compared
    return Score("scored", value=float(number), passed=passed, reason=reason, details=details or {})


def out_of_range(number: float, scale: Scale) -> Score | None:
    """Return the blocked score of a number that is none or lies outside its range, or None."""
    try:
        finite = math.isfinite(number)
    except OverflowError:
        finite = False
    low, high = scale.score_range or (-math.inf, math.inf)
    if finite and low <= number <= high:
        return None
    wanted = "a finite number" if scale.score_range is None else f"{low:g} to {high:g}"
    return Score(
        "blocked",
        reason=f"{scale.name} returned {show(number)}, not {wanted}",
        code="score_out_of_range",
    )


def mapping_score(answer: Mapping[Any, Any], scale: Scale) -> Score:
    """Return the score of a mapping, each of its values taken strictly."""
    wrong = mapping_fault(answer)
    if wrong:
        return wrong_answer(scale, wrong)
    reason, details = one_line(answer.get("reason") or ""), dict(answer.get("details") or {})
    status = answer.get("status", "scored")
    if status != "scored":
        code = answer.get("code") or ("not_applicable" if status == "non_evaluable" else None)
        return Score(status, reason=reason, code=code, details=details)
    number = plain_number(answer.get("score", answer.get("value")))
    passed: bool | None = answer.get("passed")
    if number is None:
        return replace(
            verdict_score(bool(passed), reason), code=answer.get("code"), details=details
        )
    outside = out_of_range(number, scale)
    if outside is not None:
        return outside
    if passed is None or (scale.threshold is not None and not isinstance(number, bool)):
        score = number_score(float(number), scale, said=reason, details=details)
        if score.passed is None or passed in (None, score.passed):
            return score
        conflict = f"{score.reason} (the evaluator says passed: {str(passed).lower()})"
        return replace(score, reason=conflict)
    return Score(
        "scored",
        value=float(number),
        passed=passed,
        reason=reason,
        code=answer.get("code"),
        details=details,
    )


def mapping_fault(answer: Mapping[Any, Any]) -> str:
    """Return what is wrong with an answer given as a mapping, or ''."""
    for name in answer:
        if name not in ANSWER_KEYS:
            return f"returned the key {show(name)}. {near(name, ANSWER_KEYS)}".rstrip(". ")
    if "score" in answer and "value" in answer:
        return "returned both score and value"
    number = plain_number(answer.get("score", answer.get("value")))
    status, code, passed = answer.get("status", "scored"), answer.get("code"), answer.get("passed")
    if number is not None and not isinstance(number, bool | int | float):
        return f"returned the score {show(number)}, which is no number"
    if passed is not None and not isinstance(passed, bool):
        return f"returned passed: {show(passed)}, which is neither true nor false"
    if status not in STATUSES:
        return f"returned the status {show(status)}, which is none of {', '.join(STATUSES)}"
    if code is not None and code not in CODES:
        return f"returned the code {show(code)}, which is none of {', '.join(CODES)}"
    if not isinstance(answer.get("reason", ""), str | None):
        return f"returned the reason {show(answer['reason'])}, which is no text"
    if not isinstance(answer.get("details") or {}, Mapping):
        return f"returned the details {show(answer['details'])}, which are no mapping"
    if status == "scored" and number is None and passed is None:
        return "returned neither score nor passed"
    if status != "scored" and (number is not None or passed is not None):
        return f"returned a score or verdict beside the status {status}"
    if status == "blocked" and code is None:
        return "returned the status blocked without a code"
    return ""


def wrong_answer(scale: Scale, what: str) -> Score:
    """Return the error of an answer that means no score, saying what may be returned."""
    return Score("error", reason=f"{scale.name} {what}; it may return {MAY_RETURN}")


def kind(value: Any) -> str:
    """Return what a value is, in words for a message."""
    if value is None:
        return "None"
    return f"{show(value)} ({type(value).__name__})"
