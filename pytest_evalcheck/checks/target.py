"""The way every check goes: read the target, read the operand, compare, judge.

A check supplies a `Plan`: how it wants its target, how it reads its operand, and a
small function that compares the two. Everything else (missing evidence, paths,
extraction, case, negation, thresholds) happens here, once, in one order:

1. no output recorded -> non_evaluable `missing_output`;
2. no expected value where one is needed -> non_evaluable `missing_expected`; one
   that the check cannot use -> non_evaluable `expected_unusable`;
3. an output that is not JSON, or lacks the path asked of it -> failed, code
   `path_unresolved`, under `negate` too;
4. the comparison, then `negate` and `threshold`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pytest_evalcheck.checks.options import Settings, show_value
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.model import Row, Score, Scorer

__all__ = [
    "Finding",
    "OperandError",
    "Plan",
    "Settled",
    "TextForm",
    "assemble",
    "fold",
    "quote",
    "shorten",
    "text_form",
]

# Shares are compared after rounding both sides to this many places (CompletionKit's rule).
PLACES: Final = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """What one comparison found.

    Attributes:
        passed: the verdict, or None when `share` against the threshold decides.
        share: the value of a check that measures: a share in 0..1, or a quantity; None
            for a yes/no check.
        found: what was found, when it is not simply the target.
        wanted: what was wanted, as a phrase that fits after "expected".
        wanted_text: the raw text of the other side, for a marked difference.
        firm: a failure that `negate` does not turn into a pass.
        code: a reason code that belongs beside the verdict, or None.
        details: more plain data for the results.
    """

    passed: bool | None
    share: float | None = None
    found: str | None = None
    wanted: str = ""
    wanted_text: str | None = None
    firm: bool = False
    code: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Settled(Exception):
    """The score is known before the comparison: evidence is missing, or a path is."""

    def __init__(self, score: Score) -> None:
        super().__init__(score.reason)
        self.score = score

    @classmethod
    def missing(cls, code: str, reason: str) -> Settled:
        """Return the end of a row that cannot be evaluated."""
        return cls(Score("non_evaluable", reason=f"{code}: {reason}", code=code))

    @classmethod
    def unresolved(cls, reason: str, found: str, wanted: str) -> Settled:
        """Return the failure of an output that lacks what a path or pattern asks for."""
        return cls(
            Score(
                "scored",
                0.0,
                False,
                reason=f"path_unresolved: {reason}",
                code="path_unresolved",
                details={"found": found, "wanted": wanted},
            )
        )

    @classmethod
    def error(cls, code: str, reason: str, details: Mapping[str, Any] | None = None) -> Settled:
        """Return an error: what was to be run could not be, and nobody's output is to blame."""
        return cls(Score("error", reason=f"{code}: {reason}", code=code, details=details or {}))


class OperandError(Exception):
    """An operand that cannot be read as what the check needs: (found, expected)."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"{found}, expected {expected}")
        self.found, self.expected = found, expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one compiled check does its work.

    Attributes:
        compare: (target, operand) -> Finding; with `reads="row"` the target is the Row.
            `operand` is None for a check that takes none.
        reads: `text` (the target as text, stripped and folded as the options say),
            `plain` (the target as text, stripped if asked, never folded), `value`
            (the value as it stands), `row` (the whole row; the target options are
            refused).
        operand: reads the raw operand (from the suite once, or from each row) and
            raises OperandError when it is of no use; None when the check takes none.
        operand_name: the option that holds the operand in the suite.
        operand_optional: no option and no compare_to means the row's expected value.
        least: the value from which a row passes, where another option than `threshold`
            says so.
        score_range: lowest and highest value of a check that measures in its own unit.
        many: a path with several matches hands over the list of them instead of
            being ambiguous.
        source: reads the raw target of a row where the entry names neither target nor
            target_path; None means the row's output. May end the row by Settled.
        expected: reads the row's expected value; None means its `expected`.
    """

    compare: Callable[[Any, Any], Finding]
    reads: Literal["text", "plain", "value", "row"] = "text"
    operand: Callable[[Any], Any] | None = None
    operand_name: str = "value"
    operand_optional: bool = False
    least: float | None = None
    score_range: tuple[float, float] | None = None
    many: bool = False
    source: Callable[[Row], Any] | None = None
    expected: Callable[[Row], Any] | None = None


def fold(text: str) -> str:
    """Return the text as case-insensitive comparison sees it: NFC, case-folded, NFC.

    Unicode 3.13 (caseless matching), so that STRASSE equals straße.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def fold_stripped(text: str) -> str:
    """Return the folded text without the white space around it."""
    return fold(text.strip())


def keep(text: str) -> str:
    """Return the text as it stands."""
    return text


TextForm = Callable[[str], str]


def text_form(settings: Settings) -> TextForm:
    """Return what `strip` and `case_sensitive` make of both sides of a text check."""
    if settings["case_sensitive"]:
        return str.strip if settings["strip"] else keep
    return fold_stripped if settings["strip"] else fold


def quote(text: str, limit: int = 120) -> str:
    """Return a text in quotes for a reason: control characters visible, long ones cut."""
    if len(text) > limit:
        return f"{text[: limit - 20]!r}… ({len(text)} characters)"
    return repr(text)


def shorten(text: str, limit: int = 200) -> str:
    """Return a text cut to a limit, with its length when it was longer."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def as_text(value: Any) -> str:
    """Return a target as text: text as it stands, any other value as compact JSON."""
    return value if type(value) is str else json_text(value)


# ── reading the target ────────────────────────────────────────────────────────────────


def compile_target(settings: Settings) -> Callable[[Row], Any]:
    """Return the function that reads the raw target of a row, before any path."""
    target = settings["target"]
    if target in ("output", "json_path"):
        return read_output
    attribute = target

    def read_attribute(row: Row) -> Any:
        value = getattr(row, attribute)
        if value is None or (attribute == "metadata" and not value):
            raise Settled.missing("not_applicable", f"the row has no {attribute}")
        return list(value) if isinstance(value, tuple) else value

    return read_attribute


def read_output(row: Row) -> Any:
    """Return the row's output, which must be there."""
    output = row.output
    if output is None:
        raise Settled.missing("missing_output", "the row has no recorded output")
    return output


def compile_path_reader(settings: Settings, name: str, many: bool) -> Callable[[Any], Any] | None:
    """Return the function that follows `target_path` in a raw target, or None."""
    from pytest_evalcheck.checks.paths import compile_path

    text = settings[name]
    if text is None:
        return None
    path = compile_path(text)

    def follow(raw: Any) -> Any:
        matches = path.find(parse_target(raw, f"at the path {text}"))
        if not matches:
            raise Settled.unresolved(
                f"the output has nothing at {text}", as_text(raw), f"a value at {text}"
            )
        if len(matches) == 1:
            return matches[0]
        return matches if many else Several(tuple(matches), text)

    return follow


@dataclass(frozen=True, slots=True)
class Several:
    """Several matches where one is needed: a list to be compared, else ambiguous."""

    matches: tuple[Any, ...]
    path: str


def parse_target(raw: Any, purpose: str) -> Any:
    """Return a target as JSON: text is parsed, anything else stands.

    Raises:
        Settled: failed with `path_unresolved` when the text is not JSON.
    """
    if type(raw) is not str:
        return raw
    from pytest_evalcheck.jsonvalues import JsonTextError, parse_json

    try:
        return parse_json(raw)
    except JsonTextError as error:
        raise Settled.unresolved(
            f"the output is not JSON ({error}), {purpose}", raw, "JSON"
        ) from None


def compile_extract(settings: Settings) -> Callable[[str], str] | None:
    """Return the function that reduces a text to what `extract` finds in it, or None."""
    source = settings["extract"]
    if source is None:
        return None
    from pytest_evalcheck.checks.patterns import compile_pattern

    pattern = compile_pattern(source, option="extract", case_sensitive=settings["case_sensitive"])

    def extract(text: str) -> str:
        match = pattern.find_last(text)
        if match is None:
            raise Settled.unresolved(
                f"nothing in the output matches extract {source!r}", text, f"a match of {source!r}"
            )
        return match

    return extract


# ── reading the operand ───────────────────────────────────────────────────────────────


def compile_expected(
    settings: Settings,
    read: Callable[[Any], Any],
    source: Callable[[Row], Any] | None = None,
) -> Callable[[Row], Any]:
    """Return the function that reads the operand from the row's expected value."""
    text = settings["expected_path"]
    path = None
    if text is not None:
        from pytest_evalcheck.checks.paths import compile_path

        path = compile_path(text)

    def read_expected(row: Row) -> Any:
        raw = row.expected if source is None else source(row)
        if raw is None:
            raise Settled.missing("missing_expected", missing_expected_text(row))
        if path is not None:
            raw = follow_expected(path, text, raw)
        try:
            return read(raw)
        except OperandError as error:
            raise Settled.missing(
                "expected_unusable",
                f"the expected value is {error.found}, and the check needs {error.expected}",
            ) from None

    return read_expected


def missing_expected_text(row: Row) -> str:
    """Return why there is nothing to compare with, with what the reader noted."""
    return "; ".join(["the row has no expected value", *row.notes])


def follow_expected(path: Any, text: str, raw: Any) -> Any:
    """Return what a path finds in the expected value, which must be there."""
    if type(raw) is str:
        from pytest_evalcheck.jsonvalues import JsonTextError, parse_json

        try:
            raw = parse_json(raw)
        except JsonTextError as error:
            raise Settled.missing(
                "missing_expected", f"the expected value is not JSON ({error}), to look up {text}"
            ) from None
    matches = path.find(raw)
    if not matches or (len(matches) == 1 and matches[0] is None):
        raise Settled.missing("missing_expected", f"the expected value has nothing at {text}")
    return matches[0] if len(matches) == 1 else list(matches)


def compile_operand(settings: Settings, plan: Plan) -> Callable[[Row], Any]:
    """Return the function that gives the operand for a row.

    Raises:
        ConfigError: no operand, two operands, or one the check cannot use.
    """
    if plan.operand is None:
        return no_operand
    name = plan.operand_name
    from_row = settings["compare_to"] is not None or settings["expected_path"] is not None
    written = name in settings.given
    if written and from_row:
        raise settings.problem(
            name,
            f"{name!r} stands beside compare_to: expected",
            fix="Drop one: the operand comes from the suite or from the row.",
        )
    if from_row or (plan.operand_optional and not written):
        return compile_expected(settings, plan.operand, plan.expected)
    if not written:
        raise settings.problem(
            name,
            f"{settings.check} has nothing to compare with",
            f"{name!r}, or compare_to: expected",
        )
    try:
        constant = plan.operand(settings[name])
    except OperandError as error:
        raise settings.problem(name, error.found, error.expected) from None
    return lambda _row: constant


def no_operand(_row: Row) -> None:
    """Give the operand of a check that takes none."""


# ── from finding to score ─────────────────────────────────────────────────────────────


def compile_verdict(settings: Settings) -> Callable[[Any, Finding], Score]:
    """Return the function that turns a finding into a score: negate, threshold, words."""
    negate = settings["negate"]
    threshold = 1.0 if settings["threshold"] is None else settings["threshold"]
    least = round(threshold, PLACES)

    def decide(shown: Any, finding: Finding) -> Score:
        passed = finding.passed
        share = finding.share
        if passed is None:
            passed = share is not None and round(share, PLACES) >= least
        if negate and not (finding.firm and not passed):
            passed = not passed
        value = (1.0 if passed else 0.0) if share is None else share
        if passed:
            # A yes that was asked for explains itself; a share or a code says more.
            plain = share is None and finding.code is None
            reason = "" if plain else reason_text(shown, finding, negate, None)
            return Score("scored", value, True, reason, finding.code, finding.details)
        found = finding.found if finding.found is not None else as_text(shown)
        details = {"found": found, "wanted": wanted_text(finding, negate), **finding.details}
        least_shown = threshold if finding.passed is None else None
        reason = reason_text(shown, finding, negate, least_shown)
        return Score("scored", value, False, reason, finding.code, details)

    return decide


def wanted_text(finding: Finding, negate: bool) -> str:
    """Return the other side of a failure, for the results and a marked difference."""
    if negate:
        return f"anything but {finding.wanted}"
    return finding.wanted if finding.wanted_text is None else finding.wanted_text


def reason_text(shown: Any, finding: Finding, negate: bool, least: float | None) -> str:
    """Return one line: what was found, what was expected and, for a share, the figure."""
    found = quote(as_text(shown)) if finding.found is None else finding.found
    wanted = f"anything but {finding.wanted}" if negate else finding.wanted
    code = f"{finding.code}: " if finding.code else ""
    text = f"{code}found {found}, expected {wanted}" if wanted else f"{code}found {found}"
    if least is None or finding.share is None:
        return text
    return f"{text} (score {round(finding.share, PLACES):g}, threshold {least:g})"


# ── the whole way ─────────────────────────────────────────────────────────────────────


def assemble(settings: Settings, plan: Plan) -> Scorer:
    """Return the scorer of a compiled check.

    Raises:
        ConfigError: the target, the operand or the threshold is mis-written.
    """
    problems: list[Any] = []
    parts: list[Any] = []
    for build in (check_target, compile_operand, compile_reader):
        try:
            parts.append(build(settings, plan))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    _, read_operand, read_target = parts
    decide = compile_verdict(settings)
    compare = plan.compare

    def score(row: Row) -> Score:
        try:
            raw = read_target.raw(row)
            operand = read_operand(row)
            shown, target = read_target.form(raw)
            if type(target) is Several:
                return decide(shown, compare_several(target, operand))
            return decide(shown, compare(target, operand))
        except Settled as settled:
            return (
                settled.score if settled.score.status != "error" else name_row(settled.score, row)
            )

    return score


def name_row(score: Score, row: Row) -> Score:
    """Return an error with the row named in its reason."""
    if not row.id:
        return score
    return replace(score, reason=f"{score.reason} (row {row.id!r})")


def compare_several(several: Several, operand: Any) -> Finding:
    """Compare several matches with a list operand; without one they are ambiguous."""
    from pytest_evalcheck.jsonvalues import json_equal

    matches = list(several.matches)
    if isinstance(operand, list) and json_equal(matches, operand):
        return Finding(True, wanted="these matches")
    return Finding(
        False,
        found=f"{len(matches)} values at {several.path}",
        wanted="one value" if not isinstance(operand, list) else f"the list {json_text(operand)}",
        firm=True,
    )


@dataclass(frozen=True, slots=True)
class TargetReader:
    """The two steps of reading a target: the raw value, then what the check is given."""

    raw: Callable[[Row], Any]
    form: Callable[[Any], tuple[Any, Any]]


def compile_reader(settings: Settings, plan: Plan) -> TargetReader:
    """Return how the target is read; `form` gives (what is shown, what is compared)."""
    if plan.reads == "row":
        return TargetReader(lambda row: row, lambda row: ("", row))
    follow = compile_path_reader(settings, "target_path", plan.many)
    extract = compile_extract(settings)
    if plan.reads == "value":
        strip = settings["strip"]
        named = {"target", "target_path"} & settings.given
        source = None if named else plan.source
        return TargetReader(source or compile_target(settings), value_form(follow, extract, strip))
    form = text_form(settings) if plan.reads == "text" else plain_form(settings)
    return TargetReader(compile_target(settings), textual_form(follow, extract, form))


def plain_form(settings: Settings) -> TextForm:
    """Return what `strip` alone makes of a text."""
    return str.strip if settings["strip"] else keep


def value_form(
    follow: Callable[[Any], Any] | None, extract: Callable[[str], str] | None, strip: bool
) -> Callable[[Any], tuple[Any, Any]]:
    """Return the form of a check that compares values as they stand."""

    def form(raw: Any) -> tuple[Any, Any]:
        value = raw if follow is None else follow(raw)
        if extract is not None and type(value) is not Several:
            value = extract(as_text(value))
        if strip and type(value) is str:
            value = value.strip()
        return (value.matches if type(value) is Several else value), value

    return form


def textual_form(
    follow: Callable[[Any], Any] | None, extract: Callable[[str], str] | None, form: TextForm
) -> Callable[[Any], tuple[Any, Any]]:
    """Return the form of a check that compares texts."""
    if follow is None and extract is None:

        def form_text(raw: Any) -> tuple[Any, Any]:
            text = raw if type(raw) is str else json_text(raw)
            return text, form(text)

        return form_text

    def form_found(raw: Any) -> tuple[Any, Any]:
        value = raw if follow is None else follow(raw)
        if type(value) is Several:
            return list(value.matches), value
        if value is None:
            raise Settled.unresolved(
                "the output has null where text is wanted", as_text(raw), "text"
            )
        text = as_text(value)
        if extract is not None:
            text = extract(text)
        return text, form(text)

    return form_found


def check_target(settings: Settings, plan: Plan) -> None:
    """Refuse target options that contradict each other or that the check has no use for."""
    if plan.reads == "row":
        for name in ("target", "target_path", "extract"):
            if name in settings.given:
                raise settings.problem(name, f"{settings.check} does not read a target")
    if plan.operand is None:
        for name in ("compare_to", "expected_path"):
            if name in settings.given:
                raise settings.problem(name, f"{settings.check} compares with no operand")
    target, path = settings["target"], settings["target_path"]
    if target == "json_path" and path is None:
        raise settings.problem("target_path", "target: json_path lacks a target_path", "a path")
    if path is not None and "target" in settings.given and target != "json_path":
        raise settings.problem(
            "target_path",
            f"target_path stands beside target: {show_value(target)}",
            fix="A path is looked up in the output: drop target, or write target: json_path.",
        )
