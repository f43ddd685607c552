"""A tools/list dump as a dataset of a real run."""

from __future__ import annotations

import json

import pytest

DUMP = [
    {
        "name": "weigh_ingot",
        "description": "Measure one ingot when it has cooled. Returns grams, e.g. 12.",
        "inputSchema": {
            "type": "object",
            "properties": {"mark": {"type": "string", "description": "Stamped on it"}},
            "required": ["mark"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {"name": "melt", "description": "Melts."},
]
SUITE = """
datasets: [{path: tools.json, format: mcp_tools}]
metrics:
"""


@pytest.fixture
def evals(pytester):
    def make(metrics, dump=DUMP, options=""):
        suite = SUITE.replace("mcp_tools}", f"mcp_tools{options}}}")
        lines = "".join(f"  - {metric}\n" for metric in metrics)
        pytester.path.joinpath("evalcheck.yaml").write_text(suite + lines, "utf-8")
        pytester.path.joinpath("tools.json").write_text(json.dumps(dump, indent=1), "utf-8")
        return pytester

    return make


def test_each_tool_is_a_row_and_the_server_one_more(evals):
    pytester = evals(["{check: tool_description}", "{check: tool_catalog}"])
    result = pytester.runpytest_subprocess("--collect-only", "-q")
    result.stdout.fnmatch_lines(
        [
            "tools.json::@server::tool_catalog",
            "tools.json::weigh_ingot::tool_description",
            "tools.json::melt::tool_description",
        ]
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=3)
    assert result.ret == 0


def test_the_summary_lists_tools_lowest_first_findings_and_the_average(evals):
    result = evals(["{check: tool_catalog}"]).runpytest_subprocess()
    result.stdout.fnmatch_lines(
        [
            "tools of tools.json: 42.5 of 100 on average (cloudy), 2 tools, rules 2",
            "  lowest first: purpose/when to use/arguments/return value/constraints/examples",
            "   30 rain   melt        10/0/20/0/0/0",
            "   55 cloudy weigh_ingot 13/5/18/7/7/5",
            "  major: too_short 1, no_usage_context 1",
            "  minor: loose_string_param 1, no_return_info 1, no_constraints 1",
        ]
    )


@pytest.mark.parametrize(
    ("metric", "failed", "said"),
    [
        pytest.param("{check: tool_description, threshold: 40}", 1, "*at least 40*", id="least"),
        pytest.param(
            "{check: tool_description, fail_on: major}",
            1,
            "*no major finding*",
            id="fail_on",
        ),
        pytest.param("{check: tool_catalog, fail_under: 60}", 1, "*at least 60*", id="fail_under"),
        pytest.param("{check: tool_catalog, fail_on: major}", 1, "*no major finding*", id="any"),
        pytest.param("{check: tool_schema}", 1, "*no_input_schema*", id="schema"),
        pytest.param("{check: tool_tokens, max: 20}", 1, "*about *at most 20*", id="cost"),
        pytest.param("{check: catalog_tokens, max: 20}", 1, "*at most 20*", id="all tokens"),
        pytest.param("{check: tool_description}", 0, "*passed*", id="findings alone fail nothing"),
        pytest.param("{check: catalog_names}", 0, "*passed*", id="names"),
        pytest.param("{check: tool_hidden_text}", 0, "*passed*", id="hidden text"),
        pytest.param("{check: tool_orders}", 0, "*passed*", id="orders"),
        pytest.param("{check: tool_consistency}", 0, "*passed*", id="consistency"),
    ],
)
def test_what_fails_a_run(evals, metric, failed, said):
    result = evals([metric]).runpytest_subprocess()
    assert result.parseoutcomes().get("failed", 0) == failed
    assert result.ret == (1 if failed else 0)
    result.stdout.fnmatch_lines([said])


def test_the_version_of_the_rules_and_the_parts_are_in_every_result(evals):
    pytester = evals(["{check: tool_description}", "{check: tool_catalog}"])
    pytester.runpytest_subprocess("--evalcheck-results=out.json")
    document = json.loads(pytester.path.joinpath("out.json").read_text("utf-8"))
    assert [metric["source"] for metric in document["metrics"]] == [
        "tool_catalog@2",
        "tool_description@2",
    ]
    melt = next(one for one in document["results"] if one["row"] == "melt")
    assert melt["value"] == 30.0
    assert melt["reason"].startswith(
        "found 30 of 100 (rain): purpose 10/20, when to use 0/20, arguments 20/25, "
        "return value 0/15, constraints and side effects 0/10, examples 0/10; major "
    )


def test_a_shared_note_counts_for_no_tool_in_its_row_either(evals):
    note = "Must be used when dry. Never for lead, which is always kept apart from what melts here."
    note += " Avoid noise, and prefer the morning."
    dump = [{"name": f"t{at}", "description": f"Melts metal{at}. {note}"} for at in range(3)]
    result = evals(["{check: tool_description, fail_on: major}"], dump).runpytest_subprocess()
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*no_usage_context*"])


def test_two_tools_of_one_name_are_a_finding_not_a_broken_file(evals):
    dump = [{"name": "melt", "description": one} for one in ("Melts.", "Melts it all.")]
    result = evals(["{check: catalog_names}", "{check: tool_tokens}"], dump).runpytest_subprocess()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*2 tools are named 'melt' (numbers 1, 2)*"])


def test_a_broken_dump_is_a_collection_error_with_its_lines(evals):
    result = evals(
        ["{check: tool_description}"], [{"name": "a", "input_schema": {}}, {"title": "b"}]
    ).runpytest_subprocess()
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        [
            "tools.json:2: tools[[]0] 'a': 'input_schema' is not a key of MCP's wire form*",
            "tools.json:6: tools[[]1]: the tool has no name*",
        ]
    )


def test_the_limits_are_settable(evals):
    dump = [{"name": f"t{at}"} for at in range(201)]
    assert evals(["{check: tool_tokens}"], dump).runpytest_subprocess().ret == 2
    pytester = evals(["{check: tool_tokens}"], dump, ", max_tools: 300")
    pytester.runpytest_subprocess().assert_outcomes(passed=201)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("{check: tool_description, threshold: 0}", "*0 cannot fail, expected above 0, up to 100*"),
        ("{check: tool_description, threshold: 101}", "*101 can never be reached*"),
        ("{check: tool_description, fail_on: majr}", "*Did you mean 'major'?*"),
        ("{check: tool_catalog, threshold: 5}", "*tool_catalog takes no threshold*"),
        ("{check: tool_catalog, fail_under: 0}", "*0 cannot fail*"),
        ("{check: tool_tokens, max: 0}", "*0 can never be reached*"),
        ("{check: tool_description, target: input}", "*does not read a target*"),
    ],
)
def test_what_cannot_hold_is_refused(evals, metric, message):
    result = evals([metric]).runpytest_subprocess()
    assert result.ret == 2
    result.stdout.fnmatch_lines([message])


def test_the_summary_is_the_same_on_two_workers(evals):
    pytest.importorskip("xdist")
    pytester = evals(["{check: tool_description}", "{check: tool_catalog}"])
    plain, spread = (
        [
            line
            for line in pytester.runpytest_subprocess(*options).outlines
            if line.startswith(("tools of", "  "))
        ]
        for options in ((), ("-n2",))
    )
    assert [line for line in spread if line in plain] == plain
