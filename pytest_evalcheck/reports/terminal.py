"""The summary of a run as lines of text; writing and colouring them is the hook's part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_evalcheck.gates import figure_text
from pytest_evalcheck.model import Gate, Result
from pytest_evalcheck.reports.failure import sides_text
from pytest_evalcheck.reports.textwidth import cut_to_width, display_width, wrap_text
from pytest_evalcheck.results import MetricFigures, Results, SliceFigures, place_text
from pytest_evalcheck.safetext import safe_line
from pytest_evalcheck.statistics import rule_of_three

__all__ = ["Line", "summary_lines"]

PLAIN: Final[frozenset[str]] = frozenset()
RED: Final = frozenset({"red"})
YELLOW: Final = frozenset({"yellow"})
GREEN: Final = frozenset({"green"})
BOLD: Final = frozenset({"bold"})
LOUD: Final = frozenset({"red", "bold"})

# Rows named below a table; -v names every row that was kept.
WORST_SHOWN: Final = 5
# Slices listed below a table.
SLICES_SHOWN: Final = 40
# Below this many values a mean says little.
FEW: Final = 5

NO_FIGURE: Final = "n/a"
GAP: Final = 2
HEADERS: Final = ("metric", "kind", "gate", "scored/rows", "pass rate", "mean", "verdict")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the summary.

    Attributes:
        text: without a line end, safe to print.
        markup: words of pytest's terminal markup (`red`, `bold`).
    """

    text: str
    markup: frozenset[str] = PLAIN


def summary_lines(results: Results, *, verbosity: int = 0, width: int = 80) -> list[Line]:
    """Return the summary of a run: a table per suite and, below it, what needs saying.

    Args:
        results: the finished run; without metrics there is nothing to say.
        verbosity: as pytest counts it: below 0 one line of counts per suite, above 0
            every failing row that was kept, and the intervals of means.
        width: columns of the terminal; fewer than 80 count as 80.
    """
    if not results.metrics:
        return []
    width = max(width, 80)
    lines = list(_incomplete_lines(results, width))
    for suite in results.suites:
        figures = [each for each in results.metrics if each.suite == suite]
        if verbosity < 0:
            lines += _count_lines(suite, figures, width)
        else:
            lines += _suite_lines(suite, figures, verbosity=verbosity, width=width)
    return lines if verbosity < 0 else [*lines, *_gates_lines(results, width)]


def _suite_lines(
    suite: str, figures: Sequence[MetricFigures], *, verbosity: int, width: int
) -> Iterator[Line]:
    yield Line(cut_to_width(safe_line(suite), width), BOLD)
    yield from _table_lines(figures, width)
    yield from _verdict_lines(figures, width)
    yield from _reason_lines(figures, width)
    yield from _worst_lines(figures, verbosity, width)
    yield from _note_lines(figures, width)
    if verbosity > 0:
        yield from _interval_lines(figures, width)
    yield from _slice_lines(figures, width)
    yield from _added_lines(figures, width)
    yield Line("")


def _incomplete_lines(results: Results, width: int) -> Iterator[Line]:
    run = results.run
    if run.complete:
        return
    if run.expected is not None:
        said = f"incomplete: {results.ran} of {run.expected} items ran"
    else:
        said = f"incomplete: {results.ran} items ran, others did not"
    yield Line(cut_to_width(f"{said}; the figures are of what ran", width), LOUD)


# One line of counts per suite


def _count_lines(suite: str, figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    counts = {
        name: sum(getattr(each, name) for each in figures)
        for name in ("passed", "failed", "non_evaluable", "blocked", "errors")
    }
    shown = [f"{counts[name]} {name}" for name in ("passed", "failed")]
    shown += [f"{count} {name}" for name, count in list(counts.items())[2:] if count]
    said = ", ".join(shown)
    closed = sum(each.verdict not in ("pass", "off") for each in figures)
    if closed:
        said += f"; gates not passed: {closed}"
    name = safe_line(suite)
    room = max(10, width - display_width(said) - 2)
    for place, text in enumerate(
        wrap_text(said, width, first=f"{_cut_left(name, room)}: ", rest="  ")
    ):
        yield Line(text, RED if closed and not place else PLAIN)


def _cut_left(text: str, width: int) -> str:
    """Return the text, or an ellipsis and its end, in at most `width` columns."""
    if display_width(text) <= width:
        return text
    while display_width(text) > width - 1:
        text = text[1:]
    return f"…{text}"


# The table


def _table_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    cells = [_cells(each) for each in figures]
    taken = _columns_width(("kind", *HEADERS[3:]), [[row[1], *row[3:]] for row in cells])
    room = width - taken - GAP * (len(HEADERS) - 1)
    names_width = max(len("metric"), *(display_width(row[0]) for row in cells))
    # The name gives way last: a gate is told in full where it matters.
    gate_width = max(len("each"), room - names_width)
    for row in cells:
        row[2] = row[2] if len(row[2]) <= gate_width else "rule"
    gate_width = max(len("gate"), *(len(row[2]) for row in cells))
    for row in cells:
        row[0] = cut_to_width(row[0], max(room - gate_width, len("metric")))
    head, rule, *lines = _tabulated(HEADERS, cells, "lllrrrl")
    yield Line(head)
    yield Line(rule)
    for line, each in zip(lines, figures, strict=True):
        yield Line(line, _verdict_markup(each.verdict))


def _columns_width(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    return sum(max(map(display_width, column)) for column in zip(headers, *rows, strict=True))


def _tabulated(headers: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Return a table as lines; only the first column may hold wide characters.

    tabulate counts those rightly only where another package happens to be
    installed, so it is given stand-ins of the same width.
    """
    from tabulate import tabulate

    sides = {"l": "left", "r": "right"}
    stood = [["x" * display_width(row[0]), *row[1:]] for row in rows]
    # The headings go in as a row: as headings they would each take two columns more.
    top, *lines, _ = tabulate(
        [list(headers), *stood],
        tablefmt="simple",
        disable_numparse=True,
        colalign=[sides[side] for side in align],
    ).split("\n")
    for place, row in enumerate(rows, start=1):
        lines[place] = row[0] + lines[place][display_width(row[0]) :]
    return [line.rstrip() for line in (lines[0], top, *lines[1:])]


def _cells(figures: MetricFigures) -> list[str]:
    plan = figures.plan
    return [
        safe_line(plan.name),
        plan.kind,
        _gate_cell(plan.gate),
        f"{figures.scored}/{figures.rows}",
        _rate_cell(figures),
        NO_FIGURE if figures.mean is None else value_text(figures.mean),
        figures.verdict,
    ]


def _gate_cell(gate: Gate) -> str:
    """Return the gate in few columns; a rule of several parts ends in an ellipsis."""
    if gate.kind != "rule":
        return gate.kind
    parts = [
        f"{name} {value:g}"
        for name, value in (("rate", gate.pass_rate), ("mean", gate.mean), ("cover", gate.coverage))
        if value is not None
    ]
    more = len(parts) > 1 or gate.confidence is not None
    return (parts[0] if parts else "rule") + ("…" if more else "")


def _rate_cell(figures: MetricFigures | SliceFigures) -> str:
    if figures.pass_rate is None or figures.pass_rate_interval is None:
        return NO_FIGURE
    low, high = figures.pass_rate_interval
    return f"{figure_text(figures.pass_rate)} [{low:.2f}, {high:.2f}]"


def value_text(value: float) -> str:
    """Return a score with two decimals, or fewer digits where it is large or tiny."""
    return figure_text(value) if 0.005 <= abs(value) < 100_000 or value == 0 else f"{value:.3g}"


def _verdict_markup(verdict: str) -> frozenset[str]:
    return {"fail": RED, "blocked": YELLOW, "undecided": YELLOW}.get(verdict, PLAIN)


# What is said below the table


def _verdict_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    for each in figures:
        if each.verdict in ("fail", "blocked"):
            name = safe_line(each.name, 60)
            said = f"{each.verdict.upper()} {name} (gate: {each.plan.gate.text()}): {each.why}"
            for text in wrap_text(said, width, rest="  "):
                yield Line(text, _verdict_markup(each.verdict))
    # A run that was stopped leaves all of these for one and the same reason.
    undecided = [each for each in figures if each.verdict == "undecided"]
    if undecided:
        names = ", ".join(safe_line(each.name, 60) for each in undecided)
        for text in wrap_text(f"UNDECIDED {names}: {undecided[0].why}", width, rest="  "):
            yield Line(text, _verdict_markup("undecided"))


def _reason_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    totals: Counter[str] = Counter()
    for each in figures:
        totals.update(each.reasons)
    if not totals:
        return
    yield Line("not scored, by reason:")
    for code, total in sorted(totals.items(), key=lambda item: (-item[1], item[0])):
        of = [each for each in figures if code in each.reasons]
        metrics = ", ".join(f"{safe_line(each.name, 60)} {each.reasons[code]}" for each in of)
        said = f"{total} {code} ({metrics}), first at {safe_line(of[0].reason_examples[code])}"
        yield from map(Line, wrap_text(said, width, first="  ", rest="    "))


def _worst_lines(figures: Sequence[MetricFigures], verbosity: int, width: int) -> Iterator[Line]:
    rows = _worst_rows(figures, None if verbosity > 0 else WORST_SHOWN)
    if not rows:
        return
    failing = sum(each.failed + each.errors for each in figures)
    more = f" ({len(rows)} of {failing})" if failing > len(rows) else ""
    yield Line(f"worst rows{more}:")
    for row in rows:
        place = f"{_cut_left(safe_line(place_text(row)), width - 2)}"
        who = f"{place} {safe_line(row.row)} {safe_line(row.metric)}:"
        said = _row_text(row, width - 4)
        if display_width(who) + display_width(said) + 3 <= width:
            yield Line(f"  {who} {said}")
            continue
        yield from map(Line, wrap_text(who, width, first="  ", rest="    "))
        yield Line(f"    {said}")


def _worst_rows(figures: Sequence[MetricFigures], most: int | None) -> list[Result]:
    """Return failing rows: of each metric its worst, then its second, gating metrics first."""
    gating = sorted(figures, key=lambda each: each.plan.gate.kind == "off")
    depth = max((len(each.worst) for each in figures), default=0)
    rows = [each.worst[rank] for rank in range(depth) for each in gating if rank < len(each.worst)]
    return rows[:most]


def _row_text(row: Result, width: int) -> str:
    sides = sides_text(row.found, row.wanted, width)
    if sides:
        return sides
    bare = row.status if row.value is None else f"scored {value_text(row.value)}"
    said = safe_line(row.reason) or bare
    if row.code and not said.startswith(row.code):
        said = f"{row.code}: {said}"
    return cut_to_width(said, width)


def _note_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    for note in _notes(figures):
        yield from map(Line, wrap_text(note, width, first="note: ", rest="      "))


def _notes(figures: Sequence[MetricFigures]) -> Iterator[str]:
    for each in figures:
        remarks = dict.fromkeys((each.plan.note, each.plan.gate.note))
        yield from (f"{safe_line(each.name, 60)}: {safe_line(text)}" for text in remarks if text)
    yield from _equal_notes(figures)
    few = [f"{safe_line(e.name, 60)} ({e.scored})" for e in figures if 0 < e.scored < FEW]
    if few:
        yield f"fewer than {FEW} scored rows, so the mean says little: {', '.join(few)}"


def _equal_notes(figures: Sequence[MetricFigures]) -> Iterator[str]:
    for outcome, other, equal in (
        ("passed", "failures", [e for e in figures if e.scored and e.passed == e.scored]),
        ("failed", "passes", [e for e in figures if e.scored and not e.passed]),
    ):
        # Fewer than four rows bound nothing: 3/n is 1.
        bounds = [
            f"{safe_line(e.name, 60)} {figure_text(rule_of_three(e.scored))} (n={e.scored})"
            for e in equal
            if e.scored > 3
        ]
        if bounds:
            yield (
                f"all scored rows {outcome}; by the rule of three the rate of {other} "
                f"may still be up to {', '.join(bounds)}"
            )


def _interval_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    for each in figures:
        # Of a yes/no metric the table shows the interval already.
        if each.mean is None or each.mean_interval is None or each.mean == each.pass_rate:
            continue
        low, high = each.mean_interval
        said = (
            f"mean of {safe_line(each.name, 60)}: {value_text(each.mean)} "
            f"[{value_text(low)}, {value_text(high)}] (95 %, n={each.scored})"
        )
        yield from map(Line, wrap_text(said, width, rest="  "))


def _slice_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    slices = [(each, part) for each in figures for part in each.slices]
    if not slices:
        return
    shown = slices[:SLICES_SHOWN]
    rows = [
        [
            f"{safe_line(each.name)}: {safe_line(part.name)}",
            f"{part.scored}/{part.rows}",
            _rate_cell(part),
            NO_FIGURE if part.mean is None else value_text(part.mean),
        ]
        for each, part in shown
    ]
    headers = ("metric: slice", "scored/rows", "pass rate", "mean")
    room = width - _columns_width(headers[1:], [row[1:] for row in rows]) - GAP * (len(headers) - 1)
    rows = [[cut_to_width(row[0], room), *row[1:]] for row in rows]
    yield Line("")
    yield from map(Line, _tabulated(headers, rows, "lrrr"))
    if len(slices) > len(shown):
        yield Line(f"and {len(slices) - len(shown)} more slices")


def _added_lines(figures: Sequence[MetricFigures], width: int) -> Iterator[Line]:
    """Yield what results add themselves; lines keep their indentation when they are wrapped."""
    for text in (text for each in figures for text in each.summary):
        indent = " " * (len(text) - len(text.lstrip(" ")))
        said = safe_line(text.lstrip(" "))
        if display_width(indent + said) <= width:
            yield Line(indent + said)
            continue
        yield from map(Line, wrap_text(said, width, first=indent, rest=f"{indent}    "))


def _gates_lines(results: Results, width: int) -> Iterator[Line]:
    words = [each.verdict for each in results.metrics]
    bad = not results.gates_pass
    markup = LOUD if "fail" in words else YELLOW if bad else GREEN
    yield from (Line(text, markup) for text in wrap_text(f"gates: {_counted(words)}", width))


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    order = ("fail", "blocked", "undecided", "pass", "off")
    return ", ".join(f"{counts[word]} {word}" for word in order if counts[word])
