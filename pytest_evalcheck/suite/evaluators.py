"""Host evaluators: a user's own function as a metric.

The function is named `file.py:function` (relative to the suite file) or
`package.module:function`. What it is given is decided by its signature, once:

- a parameter named `row`, `params`, `output`, `expected`, `input`, `context`,
  `messages`, `tool_calls`, `transcript` or `metadata` gets that;
- of the parameters with other names the first gets the row, the second the params.

A row without any output is `missing_output` and the function is not called, unless
it declares `output` with a default; the same holds for `expected`.

It may return a `Score`, true or false, a number, or a mapping with `score` (or
`value`), `passed`, `reason`, `status`, `code`, `details`.
"""

from __future__ import annotations

import copy
import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.model import Row, Score, Scorer
from pytest_evalcheck.suite.answers import Scale, read_answer
from pytest_evalcheck.suite.host_functions import fault, load_function
from pytest_evalcheck.suite.user_frames import error_text, own_frames, raise_point

__all__ = ["compile_evaluator"]

FIELDS: Final = (
    "row",
    "params",
    "output",
    "expected",
    "input",
    "context",
    "messages",
    "tool_calls",
    "transcript",
    "metadata",
)
EVIDENCE: Final = ("output", "transcript", "tool_calls", "messages", "turns")
CONTAINERS: Final = (dict, list, tuple)
JSON_FIELDS: Final = (
    "input",
    "output",
    "expected",
    "context",
    "messages",
    "turns",
    "tool_calls",
    "expected_tool_calls",
    "transcript",
    "metadata",
)


@dataclass(frozen=True, slots=True)
class Call:
    """What a function is called with: names for positions, then names for keywords."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    needed: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Return every name a value is needed for."""
        return frozenset((*self.positional, *self.keywords))


def compile_evaluator(
    reference: str,
    *,
    base_dir: Path,
    rootdir: Path,
    params: Mapping[str, Any],
    scale: Scale,
) -> Scorer:
    """Return the scorer that calls a user's function.

    Args:
        reference: `file.py:function` or `package.module:function`.
        base_dir: the folder of the suite file.
        rootdir: the folder the file must lie in.
        params: handed to the function as `params`, a fresh copy a call.
        scale: threshold and range of the metric.

    Raises:
        ConfigError: the function cannot be found, imported or called.
    """
    function = load_function(reference, base_dir=base_dir, rootdir=rootdir)
    call = plan_call(function, reference)
    given, names = dict(params), call.names

    def score(row: Row) -> Score:
        missing = missing_evidence(row, call)
        if missing is not None:
            return missing
        try:
            own = {name: own_value(name, row, given) for name in names}
        except RecursionError:
            return Score("error", reason="the row is nested too deep for a host evaluator")
        try:
            answer = function(
                *[own[name] for name in call.positional],
                **{name: own[name] for name in call.keywords},
            )
            return read_answer(answer, scale)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit, a library's own stop, pytest.skip: no verdict
            return raised_score(scale.name, error)

    return score


def plan_call(function: Callable[..., Any], reference: str) -> Call:
    """Return what a function is called with, by its signature.

    Raises:
        ConfigError: it demands more than there is to give.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature: row and params
        return Call(("row", "params"), (), frozenset())
    free = iter(("row", "params"))
    positional: list[str] = []
    keywords: list[str] = []
    needed: set[str] = set()
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        demanded = parameter.default is parameter.empty
        by_name = parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in FIELDS
        by_position = parameter.kind is not parameter.KEYWORD_ONLY and not keywords
        if by_name:
            keywords.append(parameter.name)
            needed |= {parameter.name} if demanded else set()
        elif demanded and by_position and (name := next(free, None)) is not None:
            positional.append(name)
        elif demanded:
            raise fault(
                f"{reference!r} demands {parameter.name!r}, which cannot be given",
                "parameters among " + ", ".join(FIELDS),
                "Give it a default, or name it after one of them.",
            )
    return Call(tuple(positional), tuple(keywords), frozenset(needed))


def missing_evidence(row: Row, call: Call) -> Score | None:
    """Return the score of a row that holds nothing to evaluate, or None to go on."""
    takes_gap = "output" in call.keywords and "output" not in call.needed
    if "output" in call.needed and row.output is None:
        return Score("non_evaluable", reason="the row has no output", code="missing_output")
    if not takes_gap and all(getattr(row, name) is None for name in EVIDENCE):
        return Score("non_evaluable", reason="the row has no output", code="missing_output")
    if "expected" in call.needed and row.expected is None:
        return Score(
            "non_evaluable", reason="the row has no expected value", code="missing_expected"
        )
    return None


def own_value(name: str, row: Row, params: Mapping[str, Any]) -> Any:
    """Return what a name of `FIELDS` stands for, as a copy no other metric shares."""
    if name == "params":
        return copy.deepcopy(params)
    if name == "row":
        return own_row(row)
    value = getattr(row, name)
    return copy.deepcopy(value) if isinstance(value, CONTAINERS) else value


def own_row(row: Row) -> Row:
    """Return the row with copies of what a function could change."""
    copies: dict[str, Any] = {
        name: copy.deepcopy(value)
        for name in JSON_FIELDS
        if isinstance(value := getattr(row, name), CONTAINERS) and value
    }
    return replace(row, **copies) if copies else row


def raised_score(name: str, error: BaseException) -> Score:
    """Return the error score of a function that raised, with the user's own frames."""
    frames = own_frames(error)
    said = error_text(error)
    point = raise_point(error)
    return Score(
        "error",
        reason=f"{name} raised {said}" + (f" ({point})" if point else ""),
        details={
            "traceback": "".join(traceback.format_exception(type(error), error, frames)).rstrip()
        },
    )
