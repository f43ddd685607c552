"""Real dataset files of other tools load, or are refused with a clear reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalcheck.datasets import DatasetOptions, load_rows
from pytest_evalcheck.errors import DatasetError
from shared_data import shared

SPECTRUM = (
    "comma_in_quotes",
    "empty",
    "empty_crlf",
    "escaped_quotes",
    "json",
    "newlines",
    "newlines_crlf",
    "quotes_and_newlines",
    "simple",
    "simple_crlf",
    "utf8",
)


def cells_of(row, first):
    return {first: row.input, **row.metadata}


@pytest.mark.parametrize("name", SPECTRUM)
def test_a_table_of_csv_spectrum_has_the_rows_it_says(name):
    path = shared("data", "csv", f"csv-spectrum__{name}.csv")
    wanted = json.loads(path.with_suffix("").with_suffix(".expected.json").read_text("utf-8"))
    first = next(iter(wanted[0]))
    rows = load_rows(path, DatasetOptions(columns={"input": first}))
    assert [cells_of(row, first) for row in rows] == wanted


@pytest.mark.parametrize(
    ("name", "options", "rows"),
    [
        ("csvkit__blanks", {"columns": {"input": "b"}}, [("NA", "N/A")]),
        (
            "csvkit__mac_newlines",
            {"columns": {"input": "a", "output": "b"}},
            [("1", "2"), ("Once upon\ra time", "5")],
        ),
        (
            "csvkit__optional_quote_characters",
            {"columns": {"input": "a", "output": "b"}},
            [("1", "2")],
        ),
        ("csvkit__test_header_newline", {"columns": {"input": "b", "output": "c"}}, [("e", "f")]),
        (
            "csvkit__test_latin1",
            {"columns": {"input": "a", "output": "c"}, "encoding": "latin-1"},
            [("1", "3"), ("4", "©")],
        ),
        (
            "csvkit__test_utf16_big",
            {"columns": {"input": "a", "output": "c"}},
            [("1", "3"), ("4", "ʤ")],
        ),
        (
            "csvkit__test_utf16_little",
            {"columns": {"input": "a", "output": "c"}},
            [("1", "3"), ("4", "ʤ")],
        ),
        (
            "csvkit__test_utf8",
            {"columns": {"input": "foo", "output": "baz"}},
            [("1", "3"), ("4", "ʤ")],
        ),
        (
            "csvkit__test_utf8_bom",
            {"columns": {"input": "foo", "output": "baz"}},
            [("1", "3"), ("4", "ʤ")],
        ),
        *[
            (
                f"sqlite-utils__sniff_example{number}",
                {"columns": {"input": "name", "output": "age"}, "quotechar": quotechar},
                [("Cleo", "5"), ("Pancakes", "4"), ("Mozie", "8"), ("Daisy, the tarantula", "6")],
            )
            for number, quotechar in ((2, ""), (3, ""), (4, "'"))
        ],
    ],
)
def test_a_table_of_another_tool_is_read(name, options, rows):
    read = load_rows(shared("data", "csv", f"{name}.csv"), DatasetOptions(**options))
    if name == "csvkit__blanks":
        assert [(row.input, row.metadata["c"]) for row in read] == rows
    else:
        assert [(row.input, row.output) for row in read] == rows


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("csvkit__bad_skip_lines.csv", ':5: 4 cells (the first beyond is "I\'m too long!")'),
        ("csvkit__empty.csv", "the file is empty, expected a header line"),
        ("csvkit__no_header_row.csv", "no rows, expected one row or more"),
        ("csvkit__null_byte.csv", ":2: a NUL byte, expected text"),
        ("csvkit__test_empty_columns_long_row.csv", ":2: 4 cells"),
        ("csvkit__test_empty_columns_short_row.csv", ":2: 2 cells"),
        ("csvkit__test_latin1.csv", ":3: byte 0xa9 at offset 16 is not UTF-8"),
        ("csvkit__test_skip_lines.xlsx", "Save the sheet as CSV UTF-8"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(name, words):
    path = shared("data", "csv", name)
    with pytest.raises(DatasetError) as caught:
        load_rows(path)
    assert words in caught.value.problems[0].text()


def test_every_table_of_the_folder_is_in_one_of_these_tests():
    source = Path(__file__).read_text("utf-8")
    names = {path.name.split(".")[0] for path in shared("data", "csv").iterdir()}
    named = {f"csv-spectrum__{name}" for name in SPECTRUM}
    named |= {f"sqlite-utils__sniff_example{number}" for number in (2, 3, 4)}
    assert {name for name in names - named if name not in source} == set()


@pytest.mark.parametrize(
    ("parts", "columns", "count", "first"),
    [
        (("inspect", "dataset.jsonl"), {}, 10, "[claim]"),
        (("inspect", "example_bias_detection.jsonl"), {}, 100, "[claim]"),
        (("inspect", "example_biology_qa.jsonl"), {}, 20, "Leprosy"),
        (("inspect", "example_popularity.jsonl"), {}, 100, None),
        (
            ("inspect", "example_security_guide.jsonl"),
            {},
            16,
            "use parameterized queries and prepared statements",
        ),
        (("inspect", "example_theory_of_mind.jsonl"), {}, 100, "bathtub"),
        (("inspect", "samples-mcq.csv"), {}, 1, "A"),
        (("inspect", "samples-mcq.jsonl"), {}, 1, "A"),
        (("inspect", "samples-md.csv"), {}, 1, "Hello, World"),
        (("inspect", "samples-md.jsonl"), {}, 1, "Hello, World"),
        (("inspect", "samples.csv"), {}, 1, "Hello, World"),
        (("inspect", "samples.jsonl"), {}, 1, "Hello, World"),
        (("deepeval", "goldens.csv"), {}, 15, "Mount Everest"),
        (("deepeval", "goldens.json"), {}, 15, "Mount Everest"),
        (("humaneval", "HumanEval.first12.jsonl"), {}, 12, None),
        (("humaneval", "example_problem.jsonl"), {}, 1, None),
        (("humaneval", "example_samples.jsonl"), {}, 6, None),
        (
            ("openai_evals", "canto_wu_pronunciation__data_raw.csv"),
            {"input": "Character", "expected": "Cantonese"},
            34,
            "yāt-jat1",
        ),
    ],
    ids=lambda value: "/".join(value) if isinstance(value, tuple) else None,
)
def test_rows_of_another_tool_load_by_alias(parts, columns, count, first):
    rows = load_rows(shared("data", *parts), DatasetOptions(columns=columns))
    assert len(rows) == count
    assert len({row.id for row in rows}) == count
    assert rows[0].expected == first


def test_json_in_a_cell_and_in_a_line_is_the_same_metadata():
    (cell,) = load_rows(shared("data", "inspect", "samples-md.csv"))
    (line,) = load_rows(shared("data", "inspect", "samples-md.jsonl"))
    assert cell.metadata == line.metadata
    assert cell.metadata["age"] == 42


def test_model_answers_of_gsm8k_load_with_their_reference():
    path = shared("data", "gsm8k", "model_solutions.sample.jsonl")
    rows = load_rows(path, DatasetOptions(columns={"expected": "ground_truth"}))
    assert len(rows) == 240
    assert all(row.output and row.expected for row in rows)
    assert {type(row.metadata["is_correct"]) for row in rows} == {bool}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("deepeval", "convo_goldens.csv"), "a conversation with both sides is messages"),
        (("deepeval", "convo_goldens.json"), "a conversation with both sides is messages"),
        (("humaneval", "HumanEval.jsonl.gz"), "Unpack it (gunzip)"),
        (("openai_evals", "lfs_pointer__test_fuzzy_match__samples.jsonl"), "a Git LFS pointer"),
    ],
    ids=lambda value: "/".join(value) if isinstance(value, tuple) else None,
)
def test_a_file_that_is_no_flat_dataset_says_why(parts, words):
    with pytest.raises(DatasetError) as caught:
        load_rows(shared("data", *parts))
    assert words in caught.value.problems[0].text()
