"""Dataset files in every container become records with lines, or say what is wrong."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_evalcheck.datasets import DATASET_SUFFIXES, DatasetOptions, load_rows
from pytest_evalcheck.errors import DatasetError


@pytest.fixture
def rows_of(tmp_path):
    def read(name, content, **options):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return load_rows(tmp_path / name, DatasetOptions(**options), shown=name)

    return read


@pytest.fixture
def problems_of(rows_of):
    def read(name, content, **options):
        with pytest.raises(DatasetError) as caught:
            rows_of(name, content, **options)
        return [problem.text() for problem in caught.value.problems]

    return read


def asked(rows):
    return [(row.line, row.input) for row in rows]


# JSON Lines


def test_blank_lines_in_json_lines_are_skipped_and_counted(rows_of):
    """microsoft/graphrag#2424"""
    rows = rows_of("a.jsonl", '\n{"input": "a"}\n\n  \r\n{"input": "b"}')
    assert asked(rows) == [(2, "a"), (5, "b")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.yaml", "a.csv", "a.ndjson"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_is_no_part_of_the_data(rows_of, name, mark, encoding):
    """UKGovernmentBEIS/inspect_ai#5353, #5474: fixed in one loader and not in the other"""
    if name == "a.csv":
        text = "input,expected\nä,1\n"
    elif name == "a.yaml":
        text = "- {input: ä, expected: '1'}\n"
    else:
        text = '{"input": "ä", "expected": "1"}\n'
    (row,) = rows_of(name, mark + text.encode(encoding))
    assert (row.input, row.expected, row.metadata) == ("ä", "1", {})


def test_a_broken_line_names_file_line_and_column_and_does_not_hide_others(problems_of):
    """wandb/rai-toolkit#88"""
    texts = problems_of("a.jsonl", '{"input": "a"}\n\n{"input": }\n[1]\n{"input": NaN}\n')
    assert len(texts) == 3
    assert texts[0].startswith("a.jsonl:3: not JSON: ")
    assert "(column 11)" in texts[0]
    assert texts[1] == "a.jsonl:4: the line is a list, expected an object."
    assert texts[2].startswith("a.jsonl:5: not JSON: ")


def test_duplicate_keys_are_refused(problems_of):
    (text,) = problems_of("a.jsonl", '{"input": "a", "input": "b"}\n')
    assert "'input' stands twice" in text


def test_a_line_separator_inside_a_text_is_no_line_end(rows_of):
    rows = rows_of("a.jsonl", '{"input": "a\u2028b\u0085c\x7f"}\n{"input": "d"}\n')
    assert asked(rows) == [(1, "a\u2028b\u0085c\x7f"), (2, "d")]


@pytest.mark.parametrize("text", ['[\n{"input": "a"}\n]', '{\n"input": "a"\n}'])
def test_a_document_named_jsonl_is_told_once(problems_of, text):
    (told,) = problems_of("a.jsonl", text)
    assert told == (
        "a.jsonl:1: one JSON document over several lines, expected one object a line. "
        "Name the file .json, or say format: json."
    )


def test_deep_nesting_is_a_message(problems_of):
    assert problems_of("a.jsonl", '{"input": ' + "[" * 100_000 + "\n")
    assert problems_of("a.json", "[" * 100_000)


@pytest.mark.parametrize("depth", range(700, 1000, 9))
def test_a_row_at_the_edge_of_what_can_be_read_is_a_row_or_a_message(rows_of, depth):
    record = '{"input": "a", "b": ' + "[" * depth + "]" * depth + ', "tokens": [[1]]}'
    for name, text in [("a.jsonl", record), ("a.json", f"[{record}]")]:
        with pytest.raises(DatasetError, match=r"a whole number|too deep"):
            rows_of(name, text)


# What is no dataset


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", gzip.compress(b"{}", mtime=0), "this is gzip data. Unpack it (gunzip)"),
        ("a.jsonl.gz", b"", "suffix '.gz' is not read"),
        ("a.xlsx", b"PK\x03\x04", "Save the sheet as CSV UTF-8"),
        ("a.csv", b"PK\x03\x04xl", "a zip archive or an Excel workbook"),
        ("a.csv", b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
        ("a.parquet", b"PAR1", "Write it out as JSON Lines"),
        ("a.json", b"PAR1....", "this is a Parquet file"),
        ("a.txt", b"x", "suffix '.txt' is not read"),
        (
            "a.jsonl",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
            "this is a Git LFS pointer, not the data. Fetch the data with 'git lfs pull'.",
        ),
        ("a.jsonl", b'{"input": "a"}\n{"input": "\x00"}\n', "a.jsonl:2: a NUL byte"),
        ("a.json", b'[\n{"input": "\x00"}]', "a.json:2: a NUL byte"),
        ("a.yaml", b"- input: a\n\x00", "a.yaml:2: a NUL byte"),
        ("a.csv", b"input\n\x00\n", "a.csv:2: a NUL byte"),
        ("a.csv", "input\nä\n".encode("utf-16-le"), "encoding: utf-16-le or utf-16-be"),
        ("a.jsonl", b"", "no rows, expected one row or more"),
        ("a.jsonl", b"\n \n", "no rows, expected one row or more"),
        ("a.json", b" ", "the file is empty, expected rows"),
        ("a.json", b"[]", "no rows, expected one row or more"),
        ("a.yaml", b"# none\n", "the file is empty, expected rows"),
        ("a.csv", b"", "the file is empty, expected a header line"),
        ("a.csv", b"\n\n", "the file is empty, expected a header line"),
        ("a.csv", b"input,expected\n", "no rows, expected one row or more"),
    ],
)
def test_what_is_no_dataset_is_refused_by_name(problems_of, name, content, words):
    (text,) = problems_of(name, content)
    assert words in text


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    for name, words in [("no.jsonl", "there is no such file"), ("", "no suffix")]:
        with pytest.raises(DatasetError, match=words):
            load_rows(tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DatasetError, match="this is not a regular file"):
        load_rows(tmp_path / "folder.csv")


def test_latin_1_is_named_with_the_place_and_can_be_given(problems_of, rows_of):
    data = "input,expected\na,b\nZoë,c\n".encode("latin-1")
    (text,) = problems_of("a.csv", data)
    assert text == (
        "a.csv:3: byte 0xeb at offset 21 is not UTF-8, expected UTF-8 text. Save the file as "
        "UTF-8, or say how it is encoded: encoding: latin-1 (Western European; cp1252 for Windows)."
    )
    assert rows_of("a.csv", data, encoding="latin-1")[1].input == "Zoë"


def test_a_bad_byte_far_inside_has_the_right_place(problems_of):
    data = b'{"input": "abc"}\r\n' * 100_000 + b'{"input": "\xff"}\n'
    (text,) = problems_of("a.jsonl", data)
    assert text.startswith("a.jsonl:100001: byte 0xff at offset 1800011 is not UTF-8")


def test_utf_8_given_by_name_still_drops_the_mark(rows_of):
    (row,) = rows_of("a.csv", codecs.BOM_UTF8 + b"input\na\n", encoding="UTF-8")
    assert row.input == "a"


# JSON documents


def test_each_row_of_a_document_has_its_line(rows_of):
    text = (
        '[\n  {"input": "a, ]",\n   "b": [1, {"c": "\\"}"}]},\n\n  {"input": "d"}, {"input": 1}]\n'
    )
    assert asked(rows_of("a.json", text)) == [(2, "a, ]"), (5, "d"), (5, 1)]


@pytest.mark.parametrize("key", ["rows", "data", "examples", "samples", "cases", "items"])
def test_rows_may_stand_under_a_key(rows_of, key):
    document = {"title": "A title", "version": 1, "metadata": {"a": [1]}, key: [{"input": "a"}]}
    assert [row.input for row in rows_of("a.json", json.dumps(document))] == ["a"]
    assert [row.input for row in rows_of("a.yaml", json.dumps(document))] == ["a"]


def test_one_object_is_one_row(rows_of):
    assert asked(rows_of("a.json", '\n{"input": "a", "data": [1]}')) == [(2, "a")]
    assert asked(rows_of("a.yaml", "# c\ninput: a\n")) == [(2, "a")]


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"rows": [], "data": []}, "rows could stand under 'rows' or 'data'"),
        ({"a": 1}, "an object without rows (it has 'a')"),
        ({"rows": [{"input": "a"}], "metrics": []}, "Metrics and judges stand in evalcheck.yaml."),
        ({"rows": [{"input": "a"}], "more": {}}, "'more' beside 'rows' is not read"),
        ({"rows": [{"input": "a"}], "title": "t"}, "a title of 1 characters, expected 2 to 120"),
        (3, "the document is a number, expected a list of rows"),
        ([1], "the row is a number, expected an object"),
    ],
)
def test_a_document_without_clear_rows_is_refused(problems_of, name, document, words):
    (text,) = problems_of(name, json.dumps(document))
    assert words in text


def test_one_broken_row_of_a_document_does_not_hide_the_others(problems_of):
    text = '[{"input": "a"},\n {"input": tru},\n {"input": "b",},\n 3]'
    assert [told.split(": ")[0] for told in problems_of("a.json", text)] == [
        "a.json:2",
        "a.json:3",
        "a.json:4",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[{"input": "a"}',
        '[{"input": "a"}] x',
        '[{"input": "a"}}',
        '[{"input": "a"},]',
        '[{"input": "a"} {"input": "b"}]',
        '[,{"input": "a"}]',
        '{"rows": [{"input": "a"}]',
        '{"rows": [{"input": "a"}], "rows": []}',
        '{"rows" [{"input": "a"}]}',
        '{rows: [{"input": "a"}]}',
        "input: a",
        '["',
    ],
)
def test_a_broken_document_is_refused(problems_of, text):
    assert problems_of("a.json", text)


def test_json_lines_under_the_name_json_are_recognised(rows_of):
    rows = rows_of("a.json", '\n{"input": "a"}\n{"input": "b"}\n')
    assert asked(rows) == [(2, "a"), (3, "b")]


# YAML


def test_yaml_rows_have_their_lines_and_yes_is_text(rows_of):
    text = "rows:\n- input: a\n  expected: yes\n\n- {input: 2024-05-01, expected: true}\n"
    first, second = rows_of("a.yml", text)
    assert (first.line, first.expected) == (2, "yes")
    assert (second.line, second.input, second.expected) == (5, "2024-05-01", True)


def test_yaml_problems_come_at_once(problems_of):
    texts = problems_of("a.yaml", "- {input: a, input: b}\n- {input: !own c}\n")
    assert [text.split(": ")[0] for text in texts] == ["a.yaml:1", "a.yaml:2"]
    (text,) = problems_of("a.yaml", "- input: a\n  expected: {b: [{1: c}]}\n")
    assert text.startswith("a.yaml:1: expected.b[0]: the key 1 is a number, expected text.")


# CSV and TSV


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_quoted_newlines_keep_physical_lines(rows_of, end):
    text = end.join(["input,expected", '"two', 'lines",1', "", "b,2", ""])
    rows = rows_of("a.csv", text)
    assert asked(rows) == [(2, f"two{end}lines"), (5, "b")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected_outside_quotes(rows_of, delimiter):
    """dotnet/machinelearning-modelbuilder#579"""
    header = delimiter.join(['"input"', "expected", '"a, b; c | d\t"'])
    record = delimiter.join(['"say ""hi"", you; or | not\t"', '"2\n3"', "x"])
    (row,) = rows_of("a.csv", f"{header}\r\n{record}\r\n")
    assert row.input == 'say "hi", you; or | not\t'
    assert row.expected == "2\n3"
    assert row.metadata == {"a, b; c | d": "x"}


def test_a_mark_before_a_quoted_header_with_a_comma_shifts_nothing(rows_of):
    """crewAIInc/crewAI#7466"""
    (row,) = rows_of("a.csv", codecs.BOM_UTF8 + b'"last, first",input\nx,q\n')
    assert (row.input, row.metadata) == ("q", {"last, first": "x"})


def test_semicolons_win_over_commas_in_the_text(rows_of):
    text = "input;expected\nWell, yes, no;1\nOne, two;2\n"
    assert [row.expected for row in rows_of("a.csv", text)] == ["1", "2"]


def test_single_quotes_count_only_where_they_are_needed(rows_of):
    (row,) = rows_of("a.csv", "input,expected\n'a, b',1\n")
    assert row.input == "a, b"
    (row,) = rows_of("a.csv", "input,expected\n'tis,'a'\n")
    assert (row.input, row.expected) == ("'tis", "'a'")
    (row,) = rows_of("a.csv", "input,expected\n'a',1\n", quotechar="'")
    assert row.input == "a"


def test_a_given_dialect_is_not_guessed(rows_of):
    (row,) = rows_of("a.csv", "input^expected,x\na,b^1\n", delimiter="^")
    assert (row.input, row.metadata) == ("a,b", {"expected,x": "1"})


def test_the_hint_of_a_spreadsheet_is_followed(rows_of):
    assert asked(rows_of("a.csv", "sep=;\ninput;expected\na;b\n")) == [(3, "a")]


def test_tsv_means_tabs(rows_of):
    (row,) = rows_of("a.tsv", "input\texpected\na, b; c\t1\n")
    assert (row.input, row.expected) == ("a, b; c", "1")


def test_one_column_needs_no_delimiter(rows_of):
    assert asked(rows_of("a.csv", "question\nwhy\nwhat\n")) == [(2, "why"), (3, "what")]


def test_lines_before_the_header_can_be_skipped(rows_of):
    text = "Export of May\n\ninput,expected\na,1\n"
    assert asked(rows_of("a.csv", text, skip_lines=2)) == [(4, "a")]
    assert asked(rows_of("a.csv", "\n\n input , expected\na,1\n")) == [(4, "a")]


def test_rows_that_do_not_fit_the_header_name_line_and_counts(problems_of):
    texts = problems_of("a.csv", 'input,expected\na,"b,c",d\nok,1\ne\n')
    assert texts == [
        "a.csv:2: 3 cells (the first beyond is 'd'), expected 2 as in the header (input, expected)."
        " Put a cell that holds ',' into quotes, or name the right delimiter.",
        "a.csv:4: 1 cells (the last is 'e'), expected 2 as in the header (input, expected). "
        "Fill the row up with empty cells, or close the quotes of the one before.",
    ]


def test_unquoted_json_in_a_cell_names_the_line(problems_of):
    """promptfoo/promptfoo#3069"""
    (text,) = problems_of("a.csv", 'input,expected,c\nlabel,{"answer":"","b":1},x\n')
    assert text == (
        "a.csv:2: text in column 23 after the closing \" of a cell, expected ',' or the end of the "
        'line. Write a quote inside a quoted cell as "".'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('input,expected\n"a,1\nb,2\n', 'a.csv:2: a cell opened with " is never closed'),
        ('input,expected\n"a"b,1\n', 'a.csv:2: text in column 4 after the closing " of a cell'),
        ("input,input\na,b\n", "a.csv:1: column 'input' stands twice in the header"),
        ("input,\na,b\n", "a.csv:2: column 2 has the cell 'b' but no name"),
        ("first,second\na,b\nc,d\n", "no column to ask and no recorded output: there is 'first'"),
        ("Question,Answer\na,b\n", "'Question' (did you mean 'question'?)"),
    ],
)
def test_a_broken_table_is_told_once(problems_of, text, words):
    (told,) = problems_of("a.csv", text)
    assert words in told


def test_a_mapped_column_missing_from_the_header_is_told_once(problems_of):
    (text,) = problems_of("a.csv", "input,golden\na,b\nc,d\n", columns={"expected": "gold"})
    assert text == (
        "a.csv: columns: expected: there is no column 'gold', expected one that holds expected, "
        "as columns says. Did you mean 'golden'?"
    )


def test_blank_cells_are_no_value_and_blank_records_no_row(rows_of):
    first, second = rows_of("a.csv", 'input,expected,note,\na,"",,\n,,,\nb,1,x,\n')
    assert (first.expected, first.metadata) == (None, {"note": ""})
    assert (second.line, second.expected, second.metadata) == (4, "1", {"note": "x"})


def test_cells_of_structured_fields_hold_json_and_others_stay_text(rows_of):
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    cells = {
        "id": "007",
        "input": "[1]",
        "expected": "5",
        "context": '["a", "b"]',
        "tool_calls": '[{"name": "f"}]',
        "metadata": '{"level": 1}',
        "tags": "x, y",
        "latency_s": "1.5",
        "tokens": "12",
        "skip": "",
        "topic": '{"t": 1}',
    }
    writer.writerows([cells.keys(), cells.values()])
    (row,) = rows_of("a.csv", buffer.getvalue())
    assert (row.id, row.input, row.expected) == ("007", "[1]", "5")
    assert row.context == ("a", "b")
    assert row.tool_calls == [{"name": "f"}]
    assert row.metadata == {"level": 1, "topic": '{"t": 1}'}
    assert row.tags == ("x", "y")
    assert (row.latency_s, row.tokens, row.skip) == (1.5, 12, None)


def test_a_context_cell_that_is_no_json_is_one_text(rows_of):
    (row,) = rows_of("a.csv", "input,context\nq,[1] According to a source\n")
    assert row.context == ("[1] According to a source",)


def test_broken_json_in_a_structured_cell_names_the_column(problems_of):
    (text,) = problems_of("a.csv", "input,metadata\nq,{a}\n")
    assert text.startswith("a.csv:2: metadata: '{a}' is not JSON: ")


def test_a_cell_may_be_long_and_the_limit_of_csv_is_left_as_it_was(rows_of):
    before = csv.field_size_limit()
    (row,) = rows_of("a.csv", f"input,expected\n{'x' * 300_000},1\n")
    assert len(row.input) == 300_000
    assert csv.field_size_limit() == before


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    table=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    delimiter=st.sampled_from(",;\t|"),
    quotechar=st.sampled_from("\"'"),
    # With one of "\r" and "\n" as line end the writer leaves the other unquoted in cells.
    ending=st.sampled_from(
        [
            ("\r\n", csv.QUOTE_MINIMAL),
            ("\r\n", csv.QUOTE_ALL),
            ("\n", csv.QUOTE_ALL),
            ("\r", csv.QUOTE_ALL),
        ]
    ),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path, table, delimiter, quotechar, ending, encoding
):
    end, quoting = ending
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer, delimiter=delimiter, quotechar=quotechar, lineterminator=end, quoting=quoting
    )
    names = ["input", *(f"c{n}" for n in range(1, len(table[0])))]
    writer.writerow(names)
    writer.writerows([f"q{n}{row[0]}", *row[1:]] for n, row in enumerate(table))
    path = tmp_path / "a.csv"
    path.write_bytes(buffer.getvalue().encode(encoding))
    rows = load_rows(path, DatasetOptions(delimiter=delimiter, quotechar=quotechar))
    assert [[row.input, *row.metadata.values()] for row in rows] == [
        [f"q{n}{row[0]}", *row[1:]] for n, row in enumerate(table)
    ]


SEEDS = {
    "a.jsonl": b'{"id": 1, "input": "a", "tags": ["x"]}\n{"input": "b", "output": "\\u00e4"}\n',
    "a.json": b'{"title": "tt", "rows": [{"input": "a"}, {"messages": [{"role": "user"}]}]}',
    "a.csv": b'input,expected,metadata\r\n"a ""b""",1,"{""k"": 1}"\r\nc;d,2,\r\n',
    "a.yaml": b"rows:\n- &a {input: a, expected: 1}\n- <<: *a\n  input: 'b'\n",
}


@pytest.mark.parametrize("name", SEEDS)
def test_mutated_bytes_give_rows_or_a_dataset_error(tmp_path, name):
    chance = random.Random(20_261_201)
    pieces = [b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b"[", b"{", b"\n", b"\r", b",", b"\\u"]
    for _ in range(400):
        data = bytearray(SEEDS[name])
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.choice([0, 0, 1, 9])] = chance.choice(
                [*pieces, bytes([chance.randrange(256)])]
            )
        (tmp_path / name).write_bytes(data)
        with contextlib.suppress(DatasetError):
            assert all(row.id for row in load_rows(tmp_path / name))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "xml"}, "format 'xml', expected one of jsonl, json, csv, tsv, yaml"),
        ({"format": "jsonlines"}, "Did you mean 'jsonl'"),
        ({"expand": "turns"}, "expected one of depths"),
        ({"encoding": "latin1-1"}, "expected the name of a text encoding"),
        ({"encoding": "base64"}, "expected the name of a text encoding"),
        ({"delimiter": ";;"}, "expected one character"),
        ({"quotechar": "\n"}, "expected one character"),
        ({"skip_lines": -1}, "expected a whole number from 0"),
        ({"columns": []}, "expected a mapping"),
        ({"columns": {"input": ""}}, "expected the name of a column"),
        ({"columns": {"answer": "a", "target": "b"}}, "are the same field"),
        ({"tags": "x"}, "expected a list of texts"),
    ],
)
def test_an_option_of_a_wrong_value_is_refused(options, words):
    with pytest.raises(DatasetError, match=words):
        DatasetOptions(**options)


def test_a_format_given_beats_the_suffix(rows_of):
    assert {".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".yaml", ".yml"} == DATASET_SUFFIXES
    assert asked(rows_of("a.txt", '{"input": "a"}', format="jsonl")) == [(1, "a")]
