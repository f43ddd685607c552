"""How well MCP tools are described: a row is a tool of a `tools/list`, or the server itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, Plan, Settled
from pytest_evalcheck.errors import ConfigError, DatasetError
from pytest_evalcheck.model import Row

# What scores is imported when an entry is compiled: few suites have tools to describe.

SEVERITIES: Final = ("critical", "major", "minor")
# Rows of other files, which say nothing of the kind, are taken as what the check needs.
TOOLS: Final[Mapping[str, Any]] = {"mcp": ["tool", None]}
SERVERS: Final[Mapping[str, Any]] = {"mcp": ["server", None]}
EITHER: Final[Mapping[str, Any]] = {"mcp": ["tool", "server", None]}
# The version of the public scorer's rules; it stands in the source of every result.
RULES: Final = 2
LOWEST_SHOWN: Final = 20
# More tools than any file is read with: the limit is the reader's to set.
NO_LIMIT: Final = 1_000_000

FAIL_ON: Final = Option(
    name="fail_on",
    kind="choice",
    choices=SEVERITIES,
    summary="fail on any finding of this severity or worse",
)


# ── reading the row ───────────────────────────────────────────────────────────────────


def read_document(row: Row) -> Any:
    """Return the row's output as JSON."""
    if row.output is None:
        raise Settled.missing("missing_output", "the row has no tool as its output")
    if not isinstance(row.output, str):
        return row.output
    from pytest_evalcheck.jsonvalues import JsonTextError, parse_json

    try:
        return parse_json(row.output)
    except JsonTextError as error:
        raise Settled.missing("not_applicable", f"the output is no tool: {error}") from None


def read_tool(row: Row) -> Mapping[str, Any]:
    """Return the row's output as one tool of a `tools/list`."""
    from pytest_evalcheck.toolspecs.dump import tool_problems

    tool = read_document(row)
    if problems := tool_problems(tool):
        said = "; ".join(problem.text() for problem in problems)
        raise Settled.missing("not_applicable", f"the output is no tool: {said}")
    return tool  # type: ignore[no-any-return]  # tool_problems lets mappings pass alone


def read_catalog(row: Row) -> Any:
    """Return the row's output as a whole `tools/list`."""
    from pytest_evalcheck.toolspecs.dump import Limits, dump_of

    try:
        return dump_of(read_document(row), limits=Limits(max_tools=NO_LIMIT))
    except DatasetError as error:
        said = "; ".join(problem.text() for problem in error.problems)
        raise Settled.missing("not_applicable", f"the output is no tools/list: {said}") from None


def plan_of(compare: Callable[[Row], Finding], top: float = 100.0) -> Plan:
    """Return the plan of a check that reads the whole row."""
    return Plan(compare=lambda row, _operand: compare(row), reads="row", score_range=(0.0, top))


# ── the score of a tool ───────────────────────────────────────────────────────────────


@check(
    "tool_description",
    FAIL_ON,
    summary="how well one MCP tool is described, 0 to 100; threshold is the least that passes",
    score="value",
    version=RULES,
    threshold="any",
    applies_to=TOOLS,
)
def build_tool_description(settings: Settings) -> Plan:
    """Compile `tool_description`; findings alone never fail, and nor does a score as such."""
    from pytest_evalcheck.toolspecs.catalog import ToolScore, rate, score_tool

    least = read_least(settings, "threshold")
    fail_on = settings["fail_on"]
    wanted = wanted_phrase(least, fail_on)

    def found_phrase(score: ToolScore) -> str:
        said = f"{score.total} of 100 ({rate(score.total)}): {parts_phrase(score.parts)}"
        return "; ".join([said, *(finding.text() for finding in score.findings)])

    def compare(row: Row) -> Finding:
        score = score_tool(read_tool(row), repeated=repeated_note(row))
        return Finding(
            score.total >= (least or 0) and not bad_ones(score.findings, fail_on),
            float(score.total),
            found=found_phrase(score),
            wanted=wanted,
            details={
                "parts": dict(zip(part_names(), score.parts.values(), strict=True)),
                "findings": plain_findings(score.findings),
                "rules_version": score.rules_version,
            },
        )

    return plan_of(compare)


def repeated_note(row: Row) -> list[str]:
    """Return the sentences that the row's reader found in most tools of the server."""
    note = row.metadata.get("repeated_note")
    return [one for one in note if isinstance(one, str)] if isinstance(note, list) else []


def part_names() -> Iterable[str]:
    """Return the names of the six parts, in the order of the rules."""
    from pytest_evalcheck.toolspecs.scoring import PART_NAMES

    return PART_NAMES


def parts_phrase(parts: Any) -> str:
    """Return the six parts in words with their most: `purpose 6/20, when to use 0/20, ...`."""
    from pytest_evalcheck.toolspecs.scoring import PART_NAMES

    return ", ".join(
        f"{said} {points}/{most}"
        for points, (said, most) in zip(parts.values(), PART_NAMES.values(), strict=True)
    )


def read_least(settings: Settings, name: str) -> float | None:
    """Return the least score of an entry, which must be able to fail and to be reached.

    Raises:
        ConfigError: it is not above 0, up to 100.
    """
    least = settings[name]
    if least is not None and not 0 < least <= 100:
        said = "cannot fail" if least <= 0 else "can never be reached"
        raise settings.problem(name, f"{least:g} {said}", "above 0, up to 100")
    return None if least is None else float(least)


def wanted_phrase(least: float | None, fail_on: str | None) -> str:
    """Return what an entry asks for."""
    parts = []
    if least is not None:
        parts.append(f"at least {least:g}")
    if fail_on is not None:
        worse = "" if fail_on == "critical" else " or worse"
        parts.append(f"no {fail_on} finding{worse}")
    return " and ".join(parts)


def bad_ones(findings: Sequence[Any], fail_on: str | None) -> list[Any]:
    """Return the findings that fail an entry."""
    if fail_on is None:
        return []
    worst = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return [finding for finding in findings if finding.severity in worst]


def plain_findings(findings: Iterable[Any]) -> list[dict[str, Any]]:
    """Return findings as plain JSON values."""
    return [
        {
            "code": finding.code,
            "severity": finding.severity,
            "found": finding.found,
            "fix": finding.fix,
            "paths": list(finding.paths),
        }
        for finding in findings
    ]


# ── the score of a server ─────────────────────────────────────────────────────────────


@check(
    "tool_catalog",
    Option(name="fail_under", kind="number", summary="the least average that passes"),
    FAIL_ON,
    summary="how well an MCP server's tools are described on average, and how well told apart",
    score="value",
    version=RULES,
    threshold="none",
    applies_to=SERVERS,
)
def build_tool_catalog(settings: Settings) -> Plan:
    """Compile `tool_catalog`; `fail_on` looks at the findings of the tools too."""
    from pytest_evalcheck.toolspecs.catalog import score_catalog

    least = read_least(settings, "fail_under")
    fail_on = settings["fail_on"]
    wanted = wanted_phrase(least, fail_on)

    def compare(row: Row) -> Finding:
        dump = read_catalog(row)
        score = score_catalog(
            [listed.tool for listed in dump.tools],
            instructions=dump.instructions,
            says_instructions=dump.says_instructions,
        )
        average = score.average or 0.0
        findings = [*score.findings, *(one for tool in score.tools for one in tool.findings)]
        bad = bad_ones(findings, fail_on)
        shown = [*score.findings, *(one for one in bad if one not in score.findings)]
        said = [f"{average:g} of 100 on average over {len(score.tools)} tools"]
        return Finding(
            average >= (least or 0) and not bad,
            average,
            found="; ".join([*said, *(finding.text() for finding in shown[:20])]),
            wanted=wanted,
            details={
                "findings": plain_findings(score.findings),
                "pairs": score.pair_total,
                "rules_version": score.rules_version,
                "summary": summary_lines(row.path, score, is_partial=dump.is_partial),
            },
        )

    return plan_of(compare)


def summary_lines(shown: str, score: Any, *, is_partial: bool) -> list[str]:
    """Return what the summary of a run says of a server: tools, findings, look-alikes."""
    from pytest_evalcheck.toolspecs.catalog import rate

    average = score.average or 0.0
    lines = [
        f"tools of {shown or 'the server'}: {average:g} of 100 on average ({rate(average)}), "
        f"{len(score.tools)} tools, rules {score.rules_version}"
    ]
    if is_partial:
        lines.append("  the list is one page of several: it has a nextCursor")
    lines.append("  lowest first: purpose/when to use/arguments/return value/constraints/examples")
    lowest = sorted(score.tools, key=lambda tool: tool.total)
    width = max((len(tool.name) for tool in lowest[:LOWEST_SHOWN]), default=0)
    lines += [
        f"  {tool.total:3d} {rate(tool.total):6} {tool.name:{min(width, 40)}} {tool.parts.text()}"
        for tool in lowest[:LOWEST_SHOWN]
    ]
    if len(lowest) > LOWEST_SHOWN:
        lines.append(f"  and {len(lowest) - LOWEST_SHOWN} tools above these")
    lines += code_lines([*score.findings, *(one for tool in score.tools for one in tool.findings)])
    lines += pair_lines(score)
    return lines


def code_lines(findings: Sequence[Any]) -> list[str]:
    """Return one line a severity with its findings counted by code."""
    lines = []
    for severity in SEVERITIES:
        counts = Counter(one.code for one in findings if one.severity == severity)
        if counts:
            said = ", ".join(f"{code} {count}" for code, count in counts.most_common())
            lines.append(f"  {severity}: {said}")
    return lines


def pair_lines(score: Any) -> list[str]:
    """Return the tools that read alike."""
    if not score.pairs:
        return []
    names = [tool.name for tool in score.tools]
    return [
        f"  read alike: {score.pair_total} pairs"
        if score.pair_total > 1
        else "  read alike: 1 pair",
        *(
            f"    {names[pair.first]} / {names[pair.second]} "
            f"(descriptions {pair.description:.2f}, names {pair.name:.2f})"
            for pair in score.pairs
        ),
    ]


# ── beyond the score ──────────────────────────────────────────────────────────────────


def verdict(row: Row, findings: Sequence[Any], wanted: str) -> Finding:
    """Return the verdict of a check that fails on what is worse than minor; that is only told."""
    minor = [one for one in findings if one.severity == "minor"]
    details: dict[str, Any] = {"findings": plain_findings(findings)}
    if minor:
        details["summary"] = [f"{row.path} {row.id}: {one.text()}" for one in minor]
    return Finding(
        len(minor) == len(findings),
        found="; ".join(finding.text() for finding in findings) or "none",
        wanted=wanted,
        details=details,
    )


def plain_plan(find: Callable[[Row], Sequence[Any]], wanted: str) -> Plan:
    """Return the plan of a check that passes when nothing worse than minor is found."""
    return Plan(compare=lambda row, _operand: verdict(row, find(row), wanted), reads="row")


@check(
    "tool_hidden_text",
    summary="no invisible or direction-turning characters in the tool, or the instructions",
    threshold="none",
    applies_to=EITHER,
)
def build_tool_hidden_text(_settings: Settings) -> Plan:
    """Compile `tool_hidden_text`."""
    from pytest_evalcheck.toolspecs.hygiene import find_hidden_text

    return plain_plan(lambda row: find_hidden_text(texts_of(row)), "no invisible characters")


@check(
    "tool_orders",
    summary="no phrases that order the model about, no paths where secrets lie",
    threshold="none",
    applies_to=EITHER,
)
def build_tool_orders(_settings: Settings) -> Plan:
    """Compile `tool_orders`."""
    from pytest_evalcheck.toolspecs.hygiene import find_orders

    return plain_plan(lambda row: find_orders(texts_of(row)), "a description, no orders")


def texts_of(row: Row) -> Any:
    """Return what to search: a tool, or of a server what its tools' rows do not hold."""
    if row.metadata.get("mcp") != "server":
        return read_tool(row)
    read_catalog(row)
    document = read_document(row)
    owner = document if isinstance(document, Mapping) else {}
    return {key: value for key, value in owner.items() if key not in ("tools", "result")}


@check(
    "tool_schema",
    summary="input and output schema are valid JSON Schema of an object, required names known",
    threshold="none",
    applies_to=TOOLS,
)
def build_tool_schema(_settings: Settings) -> Plan:
    """Compile `tool_schema`; recursion is told in the summary and does not fail."""
    from pytest_evalcheck.toolspecs.hygiene import find_schema_faults

    return plain_plan(
        lambda row: find_schema_faults(read_tool(row), schema_fault),
        "schemas that every client takes",
    )


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Return what makes a schema invalid, or None.

    Raises:
        Settled: blocked `dependency_missing` without jsonschema.
    """
    from pytest_evalcheck.checks.json_schemas import blocked, compile_schema

    if find_spec("jsonschema") is None:
        raise blocked("jsonschema is not installed")
    try:
        compile_schema(schema)
    except ConfigError as error:
        return error.problems[0].found
    return None


@check(
    "tool_consistency",
    summary="the annotations say what the name and the description say",
    threshold="none",
    applies_to=TOOLS,
)
def build_tool_consistency(_settings: Settings) -> Plan:
    """Compile `tool_consistency`."""
    from pytest_evalcheck.toolspecs.hygiene import find_contradictions

    return plain_plan(
        lambda row: find_contradictions(read_tool(row)), "annotations that agree with the text"
    )


@check(
    "catalog_names",
    summary="no two tools of a server have the same name; names one letter apart are told",
    threshold="none",
    applies_to=SERVERS,
)
def build_catalog_names(_settings: Settings) -> Plan:
    """Compile `catalog_names`; near twins are told in the summary and do not fail."""
    from pytest_evalcheck.toolspecs.hygiene import find_duplicates, find_near_names

    def find(row: Row) -> Sequence[Any]:
        names = [listed.name for listed in read_catalog(row).tools]
        return (*find_duplicates(names), *find_near_names(names))

    return plain_plan(find, "names that differ")


MOST_TOKENS: Final = Option(
    name="max", kind="count", summary="the most tokens that pass; left out, they are only told"
)


def token_plan(settings: Settings, count: Callable[[Row], int]) -> Plan:
    """Return the plan of a check that counts tokens."""
    most = settings["max"]
    if most == 0:
        raise settings.problem("max", "0 can never be reached", "1 or more")

    def compare(row: Row, _operand: None) -> Finding:
        tokens = count(row)
        return Finding(
            most is None or tokens <= most,
            float(tokens),
            found=f"about {tokens} tokens",
            wanted="" if most is None else f"at most {most}",
        )

    return Plan(compare=compare, reads="row", score_range=None)


@check(
    "tool_tokens",
    MOST_TOKENS,
    summary="about how many tokens a tool takes up in every request: four bytes to a token",
    score="value",
    threshold="none",
    applies_to=TOOLS,
)
def build_tool_tokens(settings: Settings) -> Plan:
    """Compile `tool_tokens`."""
    from pytest_evalcheck.toolspecs.hygiene import estimate_tokens

    return token_plan(settings, lambda row: estimate_tokens(read_tool(row)))


@check(
    "catalog_tokens",
    MOST_TOKENS,
    summary="about how many tokens the whole list takes up in every request",
    score="value",
    threshold="none",
    applies_to=SERVERS,
)
def build_catalog_tokens(settings: Settings) -> Plan:
    """Compile `catalog_tokens`."""
    from pytest_evalcheck.toolspecs.hygiene import estimate_tokens

    return token_plan(
        settings, lambda row: estimate_tokens([listed.tool for listed in read_catalog(row).tools])
    )
