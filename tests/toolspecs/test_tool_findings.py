"""Every finding of a tool appears, and is gone when the text is mended as it says."""

from __future__ import annotations

import pytest
from tools import GOOD, good, with_argument

from pytest_evalcheck.toolspecs import score_tool
from pytest_evalcheck.toolspecs.findings import is_as_bad_as


def codes(tool):
    return [(one.severity, one.code) for one in score_tool(tool).findings]


def without(key):
    schema = {name: value for name, value in GOOD["inputSchema"].items() if name != key}
    return good(inputSchema=schema)


def described(text):
    return good(description=f"{GOOD['description']} {text}")


HALF = {"a": {"type": "integer"}, "b": {"type": "integer", "description": "How many at most"}}
LESS = {**HALF, "c": {"type": "integer"}}


def bare(properties):
    return good(
        inputSchema={"type": "object", "properties": properties, "required": ["a"]},
        description=GOOD["description"] + " It takes b.",
    )


def told(properties):
    return bare({name: {"type": "integer", "description": "So many"} for name in properties})


def sourceless(said):
    tool = with_argument("pageId", {"type": "string", "description": said}, required=True)
    return {**tool, "description": "Show debts, only if paid. Returns all within the limit."}


CASES = {
    "no_description": ("critical", good(description=None), GOOD),
    "restates_name": (
        "major",
        good(description="List invoices when asked; returns a limit."),
        good(description="List what a customer owes when asked; returns at most the limit of 50."),
    ),
    "too_short": (
        "major",
        good(description="Show debts when asked; returns paid"),
        good(description="Show debts of a customer when asked; returns paid"),
    ),
    "too_long": ("minor", described("word " * 400), described("word " * 300)),
    "no_usage_context": (
        "major",
        good(description="Gives back all that a customer owes, paid or not, within a limit."),
        good(description="After find_customer, gives back all that is owed, paid or not."),
    ),
    "param_no_description": ("minor", bare(HALF), told(HALF)),
    "loose_string_param": (
        "minor",
        with_argument("note", {"type": "string", "description": "A note"}),
        with_argument("note", {"type": "string", "description": "A note", "maxLength": 80}),
    ),
    "no_required": ("minor", without("required"), GOOD),
    "params_not_in_description": (
        "minor",
        good(description="Show debts, after a look at the customer. Returns all that is owed."),
        good(description="Show debts that were paid, after a look. Returns all that is owed."),
    ),
    "vague_boolean": (
        "minor",
        with_argument("deep", {"type": "boolean", "description": "Deep or not"}),
        with_argument("deep", {"type": "boolean", "description": "Look into archives too"}),
    ),
    "no_return_info": (
        "minor",
        {**good(outputSchema=None), "description": "Show debts when asked, paid or not, all."},
        {**good(outputSchema=None), "description": "Show debts when asked. Returns all, paid too."},
    ),
    "no_constraints": (
        "minor",
        {**good(annotations=None), "description": "Show debts when asked. Returns all, paid too."},
        {**good(), "description": "Show debts when asked. Returns all, paid too."},
    ),
    "destructive_unmarked": (
        "major",
        good(name="delete_invoices"),
        good(name="delete_invoices", annotations={"destructiveHint": True}),
    ),
    "generic_name": ("major", good(name="get_data"), good(name="get_invoice_data")),
    "long_name": ("minor", good(name="n" * 41), good(name="n" * 40)),
    "bad_name_chars": ("major", good(name="list invoices!"), good(name="list-invoices.v2")),
    "deprecated": ("minor", described("This is deprecated."), GOOD),
    "id_source_missing": (
        "minor",
        sourceless("Id of the page"),
        sourceless("Id of the page, from list_pages"),
    ),
}


@pytest.mark.parametrize("code", CASES)
def test_a_finding_appears_and_is_gone_when_mended(code):
    severity, faulty, mended = CASES[code]
    found = {one: severity for severity, one in codes(faulty)}
    assert found.get(code) == severity
    assert code not in {one for _, one in codes(mended)}


def test_less_than_half_described_is_major_with_every_path():
    (finding,) = [
        one for one in score_tool(bare(LESS)).findings if one.code == "param_no_description"
    ]
    assert (finding.severity, finding.paths) == ("major", ("a", "c"))


def test_a_missing_description_has_one_finding_and_no_echo():
    tool = {"name": "sort", "description": " "}
    assert codes(tool) == [("critical", "no_description")]


def test_the_worst_comes_first_and_says_what_to_do():
    tool = {"name": "get_data", "description": "Gets data."}
    found = score_tool(tool).findings
    severities = [one.severity for one in found]
    assert severities == sorted(severities, key=["critical", "major", "minor"].index)
    assert all(one.fix.endswith(".") and one.text().startswith(one.severity) for one in found)


@pytest.mark.parametrize(
    ("name", "text", "marked"),
    [
        ("drop_table", "Takes a table out", True),
        ("dropTable", "Takes a table out", True),
        ("take_out", "Purges the table", False),
        ("take_out", "Will PURGE the table", True),
        ("dropdown", "Opens a menu", False),
    ],
)
def test_destroying_words_count_as_whole_words(name, text, marked):
    found = [code for _, code in codes({"name": name, "description": text})]
    assert ("destructive_unmarked" in found) is marked


@pytest.mark.parametrize(
    ("name", "required", "asks"),
    [
        ("id", True, True),
        ("libraryId", True, True),
        ("parent", True, True),
        ("ref", True, True),
        ("next_cursor", True, True),
        ("cursor_start", True, True),
        ("page_id", False, False),
        ("identity", True, False),
        ("paid", True, False),
    ],
)
def test_an_id_that_must_be_given_needs_a_source(name, required, asks):
    tool = {
        "name": "show_page",
        "description": "Show a page.",
        "inputSchema": {
            "type": "object",
            "properties": {name: {"type": "string", "description": "Which one it is"}},
            "required": [name] if required else [],
        },
    }
    assert ("minor", "id_source_missing") in codes(tool) if asks else True
    assert (("minor", "id_source_missing") in codes(tool)) is asks


@pytest.mark.parametrize(
    "source",
    [
        "as returned by search",
        "taken from the snapshot",
        "call list_pages first",
        "retrieved from 'resolve-library-id'",
    ],
)
def test_a_source_may_be_named_in_many_ways(source):
    tool = {
        "name": "show_page",
        "description": f"Show a page; the id is {source}.",
        "inputSchema": {"properties": {"id": {"type": "string"}}, "required": ["id"]},
    }
    assert "id_source_missing" not in {code for _, code in codes(tool)}


def test_no_template_is_asked_for():
    # cloudflare/mcp-server-cloudflare#319: a linter that wants "Use when" everywhere.
    tool = {"name": "pay", "description": "Pays an invoice that must have been approved."}
    assert "no_usage_context" not in {code for _, code in codes(tool)}


@pytest.mark.parametrize(
    ("severity", "limit", "fails"),
    [("critical", "major", True), ("major", "major", True), ("minor", "major", False)],
)
def test_severities_are_ordered(severity, limit, fails):
    assert is_as_bad_as(severity, limit) is fails
