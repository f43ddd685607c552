"""YAML text becomes plain values with lines, and everything doubtful is refused."""

from __future__ import annotations

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.yamlnodes import load_yaml


def problems_of(text):
    with pytest.raises(ConfigError) as caught:
        load_yaml(text, "a.yaml")
    return [problem.text() for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("2024-05-01", "2024-05-01"),
        ("1:30", "1:30"),
        ("007", "007"),
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1_000", "1_000"),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.2.3", "1.2.3"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("!!float 5", 5.0),
        ("! 5", "5"),
        ("[a, {b: 1}]", ["a", {"b": 1}]),
    ],
)
def test_a_scalar_is_read_by_the_documented_rule(written, value):
    read, _ = load_yaml(f"key: {written}\n", "a.yaml")
    assert read == {"key": value}
    assert type(read["key"]) is type(value)


def test_each_value_has_the_line_of_its_key_or_its_item():
    text = "a: 1\nb:\n  - x\n  - name: n\n    value: >\n      long\n      text\n"
    value, lines = load_yaml(text, "a.yaml")
    assert value == {"a": 1, "b": ["x", {"name": "n", "value": "long text\n"}]}
    assert lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "name"): 4,
        ("b", 1, "value"): 5,
    }


def test_an_empty_text_has_no_value():
    assert load_yaml("# nothing\n", "a.yaml") == (None, {})


def test_all_duplicate_keys_and_unknown_tags_are_told_at_once():
    text = "a: 1\nb: !!python/name:os.system ''\na: 2\nc: {d: 1, d: 2}\ne: .nan\n"
    assert problems_of(text) == [
        "a.yaml:2: tag '!!python/name:os.system' is not read here, expected plain text, "
        "numbers, true/false, null, lists and objects.",
        "a.yaml:3: key 'a' stands twice, first in line 1, expected each key once. "
        "Remove or rename one of them.",
        "a.yaml:4: key 'd' stands twice, first in line 4, expected each key once. "
        "Remove or rename one of them.",
        "a.yaml:5: .nan is not a finite number, expected a number, or nothing where there is none.",
    ]


def test_broken_syntax_names_the_line():
    (text,) = problems_of("a: 1\nb: [1, 2\nc: 3\n")
    assert text.startswith("a.yaml:3: the YAML cannot be read: did not find expected")


def test_merge_keys_are_followed_and_own_keys_win():
    text = "base: &b {x: 1, y: 2}\nrow:\n  <<: *b\n  y: 3\n"
    value, lines = load_yaml(text, "a.yaml")
    assert value["row"] == {"x": 1, "y": 3}
    assert lines["row", "y"] == 4
    assert lines["row", "x"] == 1


def test_aliases_that_multiply_are_refused():
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (text,) = problems_of("\n".join(levels))
    assert "aliases repeat more than 100000 values" in text


@pytest.mark.parametrize("text", ["&a [*a]", "a: &a {b: *a}", "*a"])
def test_an_alias_to_an_unfinished_or_missing_anchor_is_refused(text):
    assert problems_of(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 5000, "- " * 5000 + "x"])
def test_deep_nesting_is_refused_without_a_crash(text):
    assert problems_of(text)


def test_two_documents_are_refused():
    (text,) = problems_of("a: 1\n---\nb: 2\n")
    assert text.startswith("a.yaml:3: the file holds 2 YAML documents")


def test_control_characters_and_half_surrogates_are_refused():
    assert problems_of("a: \x00\n")
    assert problems_of("a: \ud800\n")


def test_numeric_keys_keep_their_kind():
    assert load_yaml("{5: warm, 1: rude}", "a.yaml")[0] == {5: "warm", 1: "rude"}
