"""Reading a dump: each accepted form, and one clear message for each fault."""

from __future__ import annotations

import json

import pytest

from pytest_evalcheck.errors import DatasetError
from pytest_evalcheck.toolspecs.dump import Limits, parse_dump, read_dump

TOOL = {"name": "weigh", "description": "Weigh it", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param([TOOL], id="a list"),
        pytest.param({"tools": [TOOL]}, id="tools"),
        pytest.param({"jsonrpc": "2.0", "id": 2, "result": {"tools": [TOOL]}}, id="JSON-RPC"),
        pytest.param({"x": {"tools": []}, "tools": [TOOL], "more": [1]}, id="unknown keys"),
        pytest.param([{**TOOL, "title": None, "annotations": None, "x": 1}], id="null is absent"),
    ],
)
def test_accepted_forms(document):
    dump = parse_dump(json.dumps(document), "t.json")
    assert [listed.name for listed in dump.tools] == ["weigh"]
    assert not dump.says_instructions


def test_each_tool_has_its_physical_line():
    text = """{
 "a": {"tools": [1]},
 "tools": [
  {"name": "a"},

  {"name":
 "b"}, {"name": "c"}]}"""
    assert [listed.line for listed in parse_dump(text).tools] == [4, 6, 7]


@pytest.mark.parametrize(
    ("beside", "says", "instructions"),
    [
        ({}, False, None),
        ({"server": {"name": "s"}}, True, None),
        ({"instructions": "Do"}, True, "Do"),
        ({"instructions": None}, False, None),
    ],
)
def test_what_a_dump_says_of_the_server(beside, says, instructions):
    dump = parse_dump(json.dumps({"tools": [TOOL], **beside}))
    assert (dump.says_instructions, dump.instructions) == (says, instructions)


def test_a_list_with_more_pages_says_so():
    assert parse_dump(json.dumps({"tools": [TOOL], "nextCursor": "x"})).is_partial


FORMS = 'a list of tools, {"tools": [...]}, or a JSON-RPC response {"result": {"tools": [...]}}'
ASKED = "List the tools of the MCP server itself and save its answer."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "{",
            "t.json:1: not JSON: expecting property name enclosed in double quotes, expected "
            "the JSON of a tools/list.",
            id="not JSON",
        ),
        pytest.param(
            "",
            "t.json:1: not JSON: empty text, expected the JSON of a tools/list. Did the command "
            "that should have made the dump fail?",
            id="empty",
        ),
        pytest.param(
            "Server ready\n[]",
            "t.json:1: not JSON: expecting value, expected the JSON of a tools/list. Keep what "
            "the server prints on standard error out of the file.",
            id="noise before it",
        ),
        pytest.param(
            '[{"name": "a", "name": "b"}]',
            "t.json:1: not JSON: the key 'name' stands twice in one object, expected the JSON of "
            "a tools/list.",
            id="a key twice",
        ),
        pytest.param(
            '{"tools": {}}', f"t.json: 'tools' is an object, expected {FORMS}.", id="object"
        ),
        pytest.param("5", f"t.json: the document is a number, expected {FORMS}.", id="number"),
        pytest.param("[]", "t.json: no tools, expected one tool or more.", id="none"),
        pytest.param(
            '{"tolls": []}',
            f"t.json: an object without 'tools' (it has 'tolls'), expected {FORMS}. Is 'tolls' "
            "meant to be 'tools'?",
            id="misspelt",
        ),
        pytest.param(
            json.dumps(TOOL),
            "t.json: an object without 'tools' (it has 'name', 'description', 'inputSchema'), "
            f"expected {FORMS}. This is a single tool: put it into a list.",
            id="one tool",
        ),
        pytest.param(
            '{"openapi": "3.1.0", "paths": {}}',
            f"t.json: this is an OpenAPI document, expected {FORMS}. {ASKED}",
            id="OpenAPI",
        ),
        pytest.param(
            '{"swagger": "2.0"}',
            f"t.json: this is an OpenAPI (Swagger) document, expected {FORMS}. {ASKED}",
            id="Swagger",
        ),
        pytest.param(
            '{"mcpServers": {}}',
            f"t.json: this is a client's configuration of servers, expected {FORMS}. {ASKED}",
            id="a client's configuration",
        ),
        pytest.param(
            '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}',
            "t.json: this is the JSON-RPC error that a server answered with, expected "
            f"{FORMS}. Mend the call first.",
            id="JSON-RPC error",
        ),
        pytest.param(
            '[{"name": "a"},\n {"description": "x"}]',
            "t.json:2: tools[1]: the tool has no name, expected a name.",
            id="no name",
        ),
        pytest.param(
            '[{"name": "a",\n "input_schema": {}, "annotations": {"read_only_hint": true}}]',
            "t.json:1: tools[0] 'a': 'input_schema' is not a key of MCP's wire form, expected "
            "'inputSchema'. Dump what the server sends (by_alias=True in the Python SDK).\n"
            "t.json:1: tools[0] 'a': annotations: 'read_only_hint' is not a key of MCP's wire "
            "form, expected 'readOnlyHint'. Dump what the server sends (by_alias=True in the "
            "Python SDK).",
            id="snake_case",
        ),
        pytest.param(
            '[7, {"name": ""}, {"name": "a", "description": 5, "inputSchema": [],\n'
            ' "annotations": {"readOnlyHint": "yes"}}]',
            "t.json:1: tools[0]: the tool is a number, expected an object.\n"
            "t.json:1: tools[1]: the name is empty, expected a name.\n"
            "t.json:1: tools[2] 'a': 'description' is a number, expected text.\n"
            "t.json:1: tools[2] 'a': 'inputSchema' is a list, expected an object.\n"
            "t.json:1: tools[2] 'a': annotations: 'readOnlyHint' is text, expected true or false.",
            id="all at once",
        ),
        pytest.param(
            json.dumps({"tools": [TOOL], "instructions": 5}),
            "t.json: 'instructions' is a number, expected text.",
            id="instructions",
        ),
        pytest.param(
            '[{"name": "a",\n"inputSchema": ' + '{"items":' * 10_000 + "{}" + "}" * 10_000 + "}]",
            "t.json:2: nested deeper than 200 levels, expected a schema that a model can follow. "
            "Flatten it, or refer to the inner part with $ref.",
            id="10,000 levels",
        ),
        pytest.param(
            json.dumps([{"name": f"t{at}"} for at in range(5000)]),
            "t.json: 5,000 tools, expected at most 200. No model can choose among so many; raise "
            "the limit with max_tools to score them all the same.",
            id="5,000 tools",
        ),
    ],
)
def test_a_fault_is_one_clear_message(text, message):
    with pytest.raises(DatasetError) as caught:
        parse_dump(text, "t.json")
    assert str(caught.value) == message


def test_a_function_of_a_models_api_is_recognised():
    with pytest.raises(DatasetError, match="This is a function of a model's API"):
        parse_dump('[{"type": "function", "function": {"name": "a"}}]')


def test_a_recursive_schema_is_read():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert parse_dump(json.dumps([{"name": "a", "inputSchema": node}])).tools[0].name == "a"


def test_a_file_of_two_mebibytes_is_refused_and_the_limit_can_be_raised(tmp_path):
    path = tmp_path / "big.json"
    path.write_text(json.dumps([{"name": "a", "description": "x" * (2 << 20)}]), "utf-8")
    with pytest.raises(DatasetError) as caught:
        read_dump(path, "big.json")
    assert str(caught.value) == (
        "big.json: the file has 2,097,186 bytes, expected at most 1,048,576. Is it a tools/list? "
        "Raise the limit with max_bytes if it is."
    )
    assert len(read_dump(path, limits=Limits(max_bytes=4 << 20)).tools) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_byte_order_mark_says_the_encoding(tmp_path, encoding):
    path = tmp_path / "t.json"
    path.write_bytes(json.dumps([{"name": "ä"}], ensure_ascii=False).encode(encoding))
    assert read_dump(path).tools[0].name == "ä"


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(b'[\n{"name": "\xe4"}]')
    with pytest.raises(DatasetError, match=r"t\.json:2: the file is not utf-8 text"):
        read_dump(path, "t.json")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read: No such file"):
        read_dump(tmp_path / "none.json")
