"""The dumps of real servers, where they are at hand: right values and no crash."""

from __future__ import annotations

import pytest

from pytest_evalcheck.toolspecs import score_catalog
from pytest_evalcheck.toolspecs.dump import read_dump
from pytest_evalcheck.toolspecs.hygiene import (
    find_contradictions,
    find_hidden_text,
    find_orders,
    find_schema_faults,
)
from shared_data import shared

MEMORY = {
    "create_entities": (35, "6/0/14/8/7/0"),
    "create_relations": (51, "17/5/14/8/7/0"),
    "add_observations": (41, "13/0/13/8/7/0"),
    "delete_entities": (51, "13/0/23/8/7/0"),
    "delete_observations": (34, "6/0/13/8/7/0"),
    "delete_relations": (39, "6/0/18/8/7/0"),
    "read_graph": (46, "6/0/25/8/7/0"),
    "search_nodes": (46, "13/0/18/8/7/0"),
    "open_nodes": (51, "13/0/23/8/7/0"),
}


def catalog_of(name):
    (path,) = shared("data", "mcp").glob(name)
    tools = [listed.tool for listed in read_dump(path).tools]
    return tools, score_catalog(tools)


def pairs_of(tools, score):
    return [
        (tools[pair.first]["name"], tools[pair.second]["name"], pair.description, pair.name)
        for pair in score.pairs
    ]


def test_the_memory_server_tool_by_tool():
    tools, score = catalog_of("*server-memory*")
    assert {one.name: (one.total, one.parts.text()) for one in score.tools} == MEMORY
    assert score.average == 43.8
    assert pairs_of(tools, score) == [("delete_entities", "delete_relations", 0.62, 0.33)]


def test_notions_server():
    tools, score = catalog_of("notionhq*")
    assert (score.average, score.pair_total) == (33.0, 57)
    assert pairs_of(tools, score)[0][:3] == (
        "API-get-block-children",
        "API-retrieve-a-block",
        0.88,
    )
    assert len(score.pairs) == 12


def test_parameters_without_description_are_told_one_by_one():
    # modelcontextprotocol/servers#3669, firecrawl/firecrawl-mcp-server#325: of the outermost.
    for name, undescribed in (("*server-filesystem*", 18), ("firecrawl*", 146)):
        _, score = catalog_of(name)
        paths = [
            path
            for tool in score.tools
            for finding in tool.findings
            if finding.code == "param_no_description"
            for path in finding.paths
            if "." not in path and "[" not in path
        ]
        assert len(paths) == undescribed


def test_every_dump_is_scored_and_nothing_is_cried_over():
    paths = sorted(shared("data", "mcp").glob("*.json"))
    assert len(paths) == 23
    for path in paths:
        tools = [listed.tool for listed in read_dump(path).tools]
        score = score_catalog(tools)
        assert all(one.total == one.parts.total <= 100 for one in score.tools)
        for tool in tools:
            assert not find_hidden_text(tool)
            assert not find_orders(tool)
            assert not find_contradictions(tool)
            assert not find_schema_faults(tool, lambda _schema: None)


@pytest.mark.parametrize("name", ["*memory*"])
def test_a_dump_is_read_with_its_lines(name):
    (path,) = shared("data", "mcp").glob(name)
    lines = path.read_text("utf-8").splitlines()
    for listed in read_dump(path).tools:
        assert lines[listed.line - 1].strip() == "{"
        assert f'"name": "{listed.name}"' in lines[listed.line]
