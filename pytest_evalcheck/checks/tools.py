"""Checks on tool use: were the right tools called, with the right arguments, in the right order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from pytest_evalcheck.checks.arguments import MODES, Fits, compile_arguments
from pytest_evalcheck.checks.bounds import Bounds
from pytest_evalcheck.checks.calls import Call, call_text, names_calls, read_calls
from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, OperandError, Plan, Settled
from pytest_evalcheck.jsonvalues import JsonTextError, kind_name, kind_phrase, parse_json
from pytest_evalcheck.model import Row

__all__: list[str] = []

# Calls that are written out in a reason.
LISTED: Final = 6
# A name alone, as people list expected tools.
BARE_NAME: Final = re.compile(r"[^\s(){}\[\],\"']+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One expected call.

    Attributes:
        text: the call for messages.
        name: the tool.
        fits: the test of its arguments, or None where any will do.
    """

    text: str
    name: str
    fits: Fits | None

    def is_met_by(self, call: Call) -> bool:
        """Tell whether a call is this one."""
        if call.name != self.name:
            return False
        return self.fits is None or (not call.flaw and self.fits(call.args))


# ── tool_calls ────────────────────────────────────────────────────────────────────────


@check(
    "tool_calls",
    Option(name="value", kind="any", summary="the expected calls, or names, of every row"),
    Option(
        name="order",
        kind="choice",
        choices=("any", "in_order", "exact"),
        default="any",
        summary="any order, in the expected order, or call by call",
    ),
    Option(
        name="args",
        kind="choice",
        choices=MODES,
        default="exact",
        summary="the call holds just the expected arguments, at least them, at most them, "
        "whatever, or one of the values listed for each (BFCL)",
    ),
    Option(
        name="score_by",
        kind="choice",
        choices=("recall", "precision", "f1", "jaccard", "all"),
        summary="which share is the score; all is 1 or 0; recall if not given, all with any_of",
    ),
    Option(
        name="extra",
        kind="choice",
        choices=("allow", "fail"),
        summary="whether calls beyond the expected ones make the score 0; fail if not given, but "
        "allow where score_by counts them (precision, f1, jaccard)",
    ),
    summary="the tools that were called are the row's expected_tool_calls; repeats count",
    score="share",
)
def build_tool_calls(settings: Settings) -> Plan:
    """Compile `tool_calls`."""
    order, mode = settings["order"], settings["args"]
    score_by = settings["score_by"] or ("all" if mode == "any_of" else "recall")
    counted = score_by in ("precision", "f1", "jaccard")
    extra = settings["extra"] or ("allow" if counted else "fail")

    def compare(value: Any, wanted: Sequence[Wanted]) -> Finding:
        calls = read_calls(value)
        pairs = PAIRINGS[order](calls, wanted)
        missing = [one for at, one in enumerate(wanted) if at not in pairs]
        # A call out of its order is not one too many.
        used = set((pairs if order == "any" else pair_any(calls, wanted)).values())
        beyond = [call for at, call in enumerate(calls) if at not in used]
        share = share_of(score_by, len(pairs), len(calls), len(wanted))
        if beyond and extra == "fail":
            share = 0.0
        return Finding(
            None,
            share,
            found=called_text(calls),
            wanted=expected_text(wanted, missing, beyond),
            details={
                "called": [call_text(call) for call in calls],
                "missing": [one.text for one in missing],
                "extra": [call_text(call) for call in beyond],
            },
        )

    return Plan(
        compare=compare,
        reads="value",
        operand=lambda raw: read_wanted(raw, mode),
        operand_optional=True,
        many=True,
        source=recorded_calls,
        expected=expected_calls,
    )


def share_of(score_by: str, matched: int, called: int, wanted: int) -> float:
    """Return the share of calls that are right; nothing wanted and nothing called is 1.0."""
    if score_by == "all":
        return 1.0 if matched == wanted else 0.0
    if score_by == "recall":
        return matched / wanted if wanted else 1.0
    if not called and not wanted:
        return 1.0
    if score_by == "precision":
        return matched / called if called else 0.0
    if score_by == "f1":
        return 2 * matched / (called + wanted)
    return matched / (called + wanted - matched)


# ── which call is which expected one: {index of the expected: index of the call} ────────


def pair_exactly(calls: Sequence[Call], wanted: Sequence[Wanted]) -> dict[int, int]:
    """Pair calls by position: the first with the first, and so on."""
    return {
        at: at
        for at, (call, one) in enumerate(zip(calls, wanted, strict=False))
        if one.is_met_by(call)
    }


def pair_in_order(calls: Sequence[Call], wanted: Sequence[Wanted]) -> dict[int, int]:
    """Pair as many calls as can be without any pair crossing another (longest common part)."""
    met = [[one.is_met_by(call) for call in calls] for one in wanted]
    best = [[0] * (len(calls) + 1) for _ in range(len(wanted) + 1)]
    for i in reversed(range(len(wanted))):
        for j in reversed(range(len(calls))):
            kept = max(best[i + 1][j], best[i][j + 1])
            best[i][j] = max(kept, best[i + 1][j + 1] + 1) if met[i][j] else kept
    pairs: dict[int, int] = {}
    i = j = 0
    while i < len(wanted) and j < len(calls):
        if met[i][j] and best[i][j] == best[i + 1][j + 1] + 1:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            i += 1
    return pairs


def pair_any(calls: Sequence[Call], wanted: Sequence[Wanted]) -> dict[int, int]:
    """Pair as many calls as can be, each once (augmenting paths, after Kuhn 1955)."""
    choices = [[j for j, call in enumerate(calls) if one.is_met_by(call)] for one in wanted]
    taken: dict[int, int] = {}
    for start in sorted(range(len(wanted)), key=lambda at: len(choices[at])):
        seen: set[int] = set()
        trail: list[tuple[int, Any]] = [(start, iter(choices[start]))]
        chosen: list[int] = []
        while trail:
            j = next((j for j in trail[-1][1] if j not in seen), None)
            if j is None:
                trail.pop()
                if chosen:
                    chosen.pop()
                continue
            seen.add(j)
            chosen.append(j)
            if j not in taken:
                for (i, _), call in zip(trail, chosen, strict=True):
                    taken[call] = i
                break
            trail.append((taken[j], iter(choices[taken[j]])))
    return {i: j for j, i in taken.items()}


PAIRINGS: Final[Mapping[str, Callable[..., dict[int, int]]]] = {
    "any": pair_any,
    "in_order": pair_in_order,
    "exact": pair_exactly,
}


# ── reading both sides ────────────────────────────────────────────────────────────────


def recorded_calls(row: Row) -> Any:
    """Return where the row keeps its calls: tool_calls, the transcript, or the output itself.

    An output in words is no record of calls: whether any were made is then unknown.
    """
    if row.tool_calls is not None:
        return row.tool_calls
    if row.transcript is not None:
        return row.transcript
    output = row.output
    if isinstance(output, str):
        try:
            output = parse_json(output)
        except JsonTextError:
            output = row.output
    calls = read_calls(output, known=False)
    if calls or (not isinstance(output, str) and names_calls(output)):
        return row.output
    raise Settled.missing(
        "missing_output", "the row records no tool calls (an empty list says that none were made)"
    )


def expected_calls(row: Row) -> Any:
    """Return the row's expected calls, or its expected value where that holds them."""
    return row.expected if row.expected_tool_calls is None else row.expected_tool_calls


def read_wanted(raw: Any, mode: str) -> tuple[Wanted, ...]:
    """Return the expected calls of an operand: calls, names, or BFCL's answers.

    Raises:
        OperandError: something in it is neither a call nor a name, or a matcher is bad.
    """
    try:
        calls = [call for one in operand_items(raw) for call in wanted_calls(one)]
        return tuple(wanted_of(call, mode) for call in calls)
    except RecursionError:
        raise OperandError("nested too deep", "calls or names") from None


def operand_items(raw: Any) -> list[Any]:
    """Return the members of an operand: a list, JSON text of one, or names with commas."""
    if isinstance(raw, str) and raw.strip():
        if raw.lstrip()[:1] in ("[", "{"):
            try:
                return operand_items(parse_json(raw))
            except JsonTextError as error:
                raise OperandError(f"a text that is no JSON ({error})", "calls") from None
        return [name.strip() for name in re.split(r"[,\n]", raw) if name.strip()]
    if isinstance(raw, list | tuple):
        return list(raw)
    if isinstance(raw, Mapping):
        return [raw]
    raise OperandError(kind_name(raw), "calls ({name, args}), or names of tools")


def wanted_calls(one: Any) -> list[tuple[Call, bool]]:
    """Return the calls of one member, each with whether its arguments matter."""
    if isinstance(one, str):
        if not BARE_NAME.fullmatch(one):
            raise OperandError(f"{one[:80]!r}", "the name of a tool, or {name, args}")
        return [(Call(one), False)]
    calls = read_calls([one]) if isinstance(one, Mapping) else []
    if calls:
        return [(call, bool(call.args) or shows_arguments(one)) for call in calls]
    if isinstance(one, Mapping) and one and all(isinstance(v, Mapping) for v in one.values()):
        # BFCL: {tool: {argument: [accepted, ...]}}.
        return [(Call(str(name), args), True) for name, args in one.items()]
    raise OperandError(f"{kind_phrase(one)} that is no call", "{name, args}, or a name")


def shows_arguments(one: Any) -> bool:
    """Tell whether an expected call says what its arguments are, be it that there are none."""
    return not isinstance(one, Mapping) or bool(one.keys() - {"name"})


def wanted_of(expected: tuple[Call, bool], mode: str) -> Wanted:
    """Return an expected call with the test of its arguments.

    A name alone stands for a call with any arguments.

    Raises:
        OperandError: its arguments cannot be read.
    """
    call, matters = expected
    if call.flaw:
        raise OperandError(f"{call.name!r}, whose {call.flaw}", "arguments as an object")
    if not matters or mode == "ignore":
        return Wanted(call.name, call.name, None)
    return Wanted(call_text(call), call.name, compile_arguments(call.args, mode))


# ── tool_called, no_tool_calls ────────────────────────────────────────────────────────

TOOL: Final = Option(
    name="tool", kind="filled_text", summary="the tool, where * and ? stand for any letters"
)
ARGS: Final = Option(
    name="args",
    kind="mapping",
    summary="arguments the call must hold among its own; matchers may stand in them",
)


@check(
    "tool_called",
    TOOL,
    Option(
        name="name",
        kind="filled_text",
        summary="the metric's name, which is the tool where tool is not given",
    ),
    ARGS,
    Option(name="min", kind="count", summary="the least number of such calls; 1 if not given"),
    Option(name="max", kind="count", summary="the most of such calls"),
    summary="the tool was called, with such arguments, so many times",
)
def build_tool_called(settings: Settings) -> Plan:
    """Compile `tool_called`."""
    bounds = read_times(settings)
    tool = settings["tool"]
    if tool is None and bounds.least:
        # A wrong name then fails, and says which tool it looked for.
        tool = settings["name"]
    if tool is None:
        raise settings.problem("tool", "tool_called lacks 'tool'", "the name of a tool")
    selects, phrase = compile_selection(settings, tool)
    times = "" if bounds == Bounds(1, None) else f", {bounds.text('times')}"

    def compare(value: Any, _operand: None) -> Finding:
        calls = read_calls(value)
        number = sum(1 for call in calls if selects(call))
        found = called_text(calls) + (f" ({number} such)" if number else "")
        return Finding(
            bounds.hold(number),
            found=found,
            wanted=f"a call of {phrase}{times}",
            details={"called": [call_text(call) for call in calls], "count": number},
        )

    return Plan(compare=compare, reads="value", many=True, source=recorded_calls)


def read_times(settings: Settings) -> Bounds:
    """Return how often the tool must be called.

    Raises:
        ConfigError: the bounds are reversed, or nothing can fall outside of them.
    """
    most = settings["max"]
    least = settings["min"]
    if least is None:
        least = 0 if most == 0 else 1
    if most is not None and least > most:
        raise settings.problem("min", f"min {least} is above max {most}", fix="Swap them.")
    if least == 0 and most is None:
        raise settings.problem("min", "0 and no max, so that any number passes", "1 or more")
    return Bounds(least, most)


@check(
    "no_tool_calls",
    TOOL,
    ARGS,
    summary="no tool was called, or no such one where tool or args are given",
)
def build_no_tool_calls(settings: Settings) -> Plan:
    """Compile `no_tool_calls`; a row that records no calls at all does not pass."""
    selects, phrase = compile_selection(settings, settings["tool"])
    narrowed = settings["tool"] is not None or settings["args"] is not None
    wanted = f"no call of {phrase}" if narrowed else "no tool calls"

    def compare(value: Any, _operand: None) -> Finding:
        calls = [call for call in read_calls(value) if selects(call)]
        return Finding(
            not calls,
            found=called_text(calls),
            wanted=wanted,
            details={"called": [call_text(call) for call in calls]},
        )

    return Plan(compare=compare, reads="value", many=True, source=recorded_calls)


def compile_selection(settings: Settings, tool: str | None) -> tuple[Callable[[Call], bool], str]:
    """Return which calls the name of a tool and `args` select, and the words for it.

    Raises:
        ConfigError: a matcher in `args` is mis-written.
    """
    args = settings["args"]
    try:
        fits = None if args is None else compile_arguments(args, "superset")
    except OperandError as error:
        raise settings.problem("args", error.found, error.expected) from None

    def selects(call: Call) -> bool:
        if tool is not None and not fnmatchcase(call.name, tool):
            return False
        return fits is None or (not call.flaw and fits(call.args))

    return selects, call_text(Call(tool or "any tool", args or {}))


# ── words ─────────────────────────────────────────────────────────────────────────────


def called_text(calls: Sequence[Call]) -> str:
    """Return what was called, in words."""
    return f"called {list_text([call_text(call) for call in calls])}" if calls else "no tool calls"


def expected_text(wanted: Sequence[Wanted], missing: Sequence[Wanted], beyond: Any) -> str:
    """Return what should have been called, and what of it was not."""
    if not wanted:
        return "no tool calls"
    text = list_text([one.text for one in wanted])
    if missing and len(missing) < len(wanted):
        text += f"; not called as expected: {list_text([one.text for one in missing])}"
    if beyond:
        text += f"; called beyond that: {list_text([call_text(call) for call in beyond])}"
    return text


def list_text(texts: Sequence[str]) -> str:
    """Return texts with commas, the first few of many."""
    more = f" and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
    return ", ".join(texts[:LISTED]) + more
