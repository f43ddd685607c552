"""Literal API keys in a suite file."""

from __future__ import annotations

import pytest

from pytest_evalcheck.suite.secrets import secret_problems

KEY = "sk-" + "a1B2" * 8
REFUSED = {
    "a known shape anywhere": ({"metrics": [{"value": KEY}]}, ("metrics", 0, "value")),
    "inside a longer text": ({"description": f"use {KEY} here"}, ("description",)),
    "a bearer header": (
        {"judges": {"x": {"headers": {"Accept": "Bearer " + "q" * 24}}}},
        ("judges", "x", "headers", "Accept"),
    ),
    "any text under the name of a key": (
        {"judges": {"x": {"api_key": "hello"}}},
        ("judges", "x", "api_key"),
    ),
    "a key of another spelling": (
        {"judges": {"x": {"apiKey": "hello"}}},
        ("judges", "x", "apiKey"),
    ),
}
TAKEN = {
    "a variable": {"judges": {"x": {"api_key": "${OPENAI_API_KEY}"}}},
    "a variable with a default": {"judges": {"x": {"api_key": "${OPENAI_API_KEY:-none}"}}},
    "the name of a variable": {"judges": {"x": {"api_key_env": "OPENAI_API_KEY"}}},
    "a pattern that finds keys": {"metrics": [{"pattern": "sk-[A-Za-z0-9]{20,}"}]},
    "the beginning of a key": {"metrics": [{"value": "sk-"}]},
}


@pytest.mark.parametrize(("document", "keys"), REFUSED.values(), ids=REFUSED)
def test_a_literal_key_is_refused_without_being_repeated(document, keys):
    (problem,) = secret_problems(document)
    assert problem.keys == keys
    assert problem.found == "a literal API key"
    assert "hello" not in problem.text()
    assert KEY not in problem.text()


@pytest.mark.parametrize("document", TAKEN.values(), ids=TAKEN)
def test_a_text_that_is_no_key_is_taken(document):
    assert secret_problems(document) == []
