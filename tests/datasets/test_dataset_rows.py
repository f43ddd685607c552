"""Records become rows: spellings, types, ids, and everything wrong told at once."""

from __future__ import annotations

import json
import re

import pytest

from pytest_evalcheck.datasets import (
    DatasetOptions,
    load_rows,
    read_rows,
    row_from_mapping,
    rows_from_values,
)
from pytest_evalcheck.errors import DatasetError


def rows_of(*records, **options):
    numbered = list(enumerate(records, start=1))
    return rows_from_values(numbered, "a.jsonl", DatasetOptions(**options))


def problems_of(*records, **options):
    with pytest.raises(DatasetError) as caught:
        rows_of(*records, **options)
    return [problem.text() for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("field", "spelling"),
    [
        ("expected", "expected"),
        ("expected", "expected_output"),
        ("expected", "expectedOutput"),
        ("expected", "reference"),
        ("expected", "ideal"),
        ("expected", "target"),
        ("expected", "answer"),
        ("expected", "ground_truth"),
        ("expected", "groundTruth"),
        ("expected", "expected_response"),
        ("expected", "expectedResponse"),
        ("output", "output"),
        ("output", "actual_output"),
        ("output", "actualOutput"),
        ("output", "response"),
        ("output", "completion"),
    ],
)
def test_a_field_is_read_under_each_of_its_spellings(field, spelling):
    (row,) = rows_of({"input": "q", spelling: "v"})
    assert getattr(row, field) == "v"
    assert row.metadata == {}
    assert row.notes == ()


@pytest.mark.parametrize(
    "spelling", ["input", "question", "prompt", "query", "user_input", "userInput"]
)
def test_what_is_asked_is_read_under_each_of_its_spellings(spelling):
    assert rows_of({spelling: "why"})[0].input == "why"


@pytest.mark.parametrize("value", [0, False, "", [], {}, 0.0])
def test_an_expected_value_that_is_falsy_is_kept(value):
    (row,) = rows_of({"input": "q", "expected": value})
    assert row.expected == value
    assert type(row.expected) is type(value)


def test_all_other_fields_have_their_types():
    (row,) = rows_of(
        {
            "id": 7,
            "input": {"a": 1},
            "output": "o",
            "retrievedContexts": ["c1", "c2"],
            "tools_called": [{"name": "f"}],
            "expectedTools": [{"name": "g"}],
            "latency_s": 2,
            "tokens": 12.0,
            "costUsd": 0.5,
            "appVersion": "1.10",
            "tags": ["x", "x", " y "],
            "metadata": {"topic": "t"},
            "metrics": {"name": "m", "check": "contains", "value": "o"},
            "skip": "ticket 12",
            "xfail": False,
            "expectedBehavior": "stays calm",
            "other": None,
        },
        tags=("set",),
    )
    assert row.id == "7"
    assert row.context == ("c1", "c2")
    assert row.tool_calls == [{"name": "f"}]
    assert row.expected_tool_calls == [{"name": "g"}]
    assert (row.latency_s, row.tokens, row.cost_usd) == (2.0, 12, 0.5)
    assert type(row.tokens) is int
    assert row.app_version == "1.10"
    assert row.tags == ("set", "x", "y")
    assert row.metadata == {"topic": "t", "expected_behavior": "stays calm", "other": None}
    assert row.metrics == ({"name": "m", "check": "contains", "value": "o"},)
    assert (row.skip, row.xfail) == ("ticket 12", None)
    assert (row.path, row.line) == ("a.jsonl", 1)


def test_two_spellings_of_one_value_are_one_value():
    (row,) = rows_of({"input": "q", "expected": [1], "target": [1.0], "answer": None})
    assert row.expected == [1]
    assert row.metadata == {}


def test_two_spellings_that_differ_are_an_error_naming_both():
    assert problems_of({"id": "x", "input": "q", "answer": "a", "ground_truth": "b"}) == [
        "a.jsonl:1: row 'x': expected: 'answer' and 'ground_truth' both spell expected and differ "
        "('a' and 'b'), expected one value. Say which one counts with columns: {expected: "
        "ground_truth}; the other becomes metadata."
    ]


def test_true_and_1_are_two_values():
    assert problems_of({"input": "q", "expected": True, "target": 1})


def test_a_mapped_column_wins_and_other_spellings_become_metadata():
    (row,) = rows_of(
        {"question": "q", "prompt": "p", "gold": "g", "answer": "a"},
        columns={"input": "question", "expected_output": "gold"},
    )
    assert (row.input, row.expected) == ("q", "g")
    assert row.metadata == {"prompt": "p", "answer": "a"}


def test_a_mapped_column_that_is_nowhere_is_an_error_naming_near_columns():
    assert problems_of({"input": "q", "golden": "g"}, columns={"expected": "gold"}) == [
        "a.jsonl: columns: expected: there is no column 'gold', expected one that holds expected, "
        "as columns says. Did you mean 'golden'?"
    ]


def test_a_column_map_with_an_unknown_field_is_refused():
    with pytest.raises(DatasetError, match=r"'expcted' is not a field of a row.*'expected'"):
        DatasetOptions(columns={"expcted": "x"})


@pytest.mark.parametrize("context", ["context", "retrieval_context"])
def test_deepeval_keeps_two_contexts_and_context_counts(context):
    other = "retrieval_context" if context == "context" else "context"
    (row,) = rows_of({"input": "q", context: ["1"], other: ["2"]})
    assert row.context == (("1",) if context == "context" else ("2",))
    assert row.metadata == {"retrieval_context": ["2"] if context == "context" else ["1"]}


@pytest.mark.parametrize(
    ("column", "spelling"),
    [
        ("expcted", "expected"),
        ("refernce", "reference"),
        ("Expected", "expected"),
        ("ground-truth", "ground_truth"),
        ("Expected Output", "expected_output"),
    ],
)
def test_a_nearly_known_column_leaves_a_note_on_the_row(column, spelling):
    (row,) = rows_of({"input": "q", column: "v"})
    assert row.expected is None
    assert row.metadata == {column: "v"}
    assert row.notes == (
        f"column '{column}' is not known; did you mean '{spelling}'? "
        f"Map it with columns: {{expected: {column}}}",
    )


def test_a_misnamed_reference_column_names_the_near_name():
    """GoogleCloudPlatform/generative-ai#2370"""
    assert rows_of({"input": "q", "reference_": "v"})[0].notes[0].startswith("column 'reference_'")


def test_no_note_when_the_field_is_there():
    assert rows_of({"input": "q", "expected": "v", "expcted": "w"})[0].notes == ()


@pytest.mark.parametrize(
    "column", ["latency_ms", "label", "topic", "is_correct", "source_file", "ids", "tag"]
)
def test_a_column_of_another_meaning_leaves_no_note(column):
    assert rows_of({"input": "q", column: 1})[0].notes == ()


@pytest.mark.parametrize(
    "record",
    [{"topic": "t"}, {"input": ""}, {"input": "  "}, {"input": None, "expected": "e"}, {}],
)
def test_a_row_with_nothing_to_ask_and_nothing_recorded_is_an_error(record):
    (text,) = problems_of(record)
    assert "the row has nothing to ask and no recorded output" in text


def test_a_misnamed_input_is_offered():
    (text,) = problems_of({"inputs": "q"})
    assert "'inputs' (did you mean 'input'?)" in text


@pytest.mark.parametrize("record", [{"output": "o"}, {"output": ""}, {"transcript": "u: hi"}])
def test_a_recorded_row_needs_nothing_to_ask(record):
    assert len(rows_of(record)) == 1


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("latency_s", "2", "'2' is text, expected a number"),
        ("latency_s", -1, "-1 is a number, expected a number from 0"),
        ("cost_usd", 10**400, "… is a number, expected a number from 0"),
        ("cost_usd", True, "true is true/false, expected a number"),
        ("tokens", 1.5, "1.5 is a number, expected a whole number from 0"),
        ("tags", [1], "[1] is a list, expected a text or a list of texts"),
        ("tags", [""], '[""] is a list, expected a text or a list of texts'),
        ("metadata", [1], "[1] is a list, expected an object"),
        ("metadata", "{1}", "'{1}' is not JSON"),
        ("metrics", ["contains"], "expected a list of metric entries"),
        ("skip", True, "true is true/false, expected the reason as text. Write why: skip:"),
        ("xfail", "yes", "'yes' is text, expected the reason as text"),
        ("app_version", 1.1, "1.1 is a number, expected text. Put it into quotes."),
        ("tool_calls", 5, "5 is a number, expected a list of calls"),
        ("context", 5, "5 is a number, expected a list of texts"),
        ("goal", 5, "5 is a number, expected a text"),
        ("id", 1.5, "1.5 is a number, expected text or a whole number"),
        ("id", True, "true is true/false, expected text or a whole number"),
        ("id", " ", "a blank id, expected text. Remove it, or give the row a name."),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_and_never_coerced(field, value, said):
    (text,) = problems_of({"input": "q", field: value})
    assert text.startswith("a.jsonl:1: ")
    assert f"{field}: " in text
    assert said in text


def test_json_text_in_a_structured_field_is_read():
    (row,) = rows_of({"metadata": '{"a": 1}', "turns": '["a", "b"]'})
    assert row.metadata == {"a": 1}
    assert row.turns == ("a", "b")


def test_json_text_elsewhere_stays_text():
    (row,) = rows_of({"input": "[1]", "output": "{}", "expected": "[2]", "context": "[3]"})
    assert (row.input, row.output, row.expected, row.context) == ("[1]", "{}", "[2]", ("[3]",))
    assert rows_of({"input": "q", "tool_calls": "[4] is no call"})[0].tool_calls == "[4] is no call"


def test_a_metadata_key_beside_a_column_of_another_value_is_an_error():
    assert rows_of({"input": "q", "a": 1, "metadata": {"a": 1}})[0].metadata == {"a": 1}
    (text,) = problems_of({"input": "q", "a": 1, "metadata": {"a": 2}})
    assert "'a' stands in metadata and as a column, with different values" in text


def test_all_problems_of_all_rows_come_at_once():
    texts = problems_of(
        {"id": "a", "input": "q", "tokens": "x", "skip": True},
        {"input": "fine"},
        "text",
        {"id": "a", "input": "r"},
    )
    assert [re.sub(r": .*", "", text) for text in texts] == [
        "a.jsonl:1",
        "a.jsonl:1",
        "a.jsonl:3",
        "a.jsonl:4",
    ]
    assert texts[3] == (
        "a.jsonl:4: row 'a': id: the row in line 1 has the same id, expected each id once in a "
        "dataset. Rename one of the two."
    )


def test_the_problems_of_a_file_are_bounded_and_the_rest_is_counted():
    texts = problems_of(*[{"topic": n} for n in range(70)])
    assert len(texts) == 51
    assert texts[-1] == "a.jsonl: 20 more problems of this file."


def test_no_rows_are_an_error():
    assert problems_of() == ["a.jsonl: no rows, expected one row or more."]


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("refund-late", "refund-late"),
        (12, "12"),
        ("  a b  ", "a b"),
        ("a[1]", "a(1)"),
        ("a::b", "a_b"),
        ("a:::b:", "a_b_"),
        (":a", "_a"),
        ("a:b", "a:b"),
        ("a\nb\tc", "a_b_c"),
        ("\x1b[31mred", "_(31mred"),
        ("a\u202eb", "a_b"),
        ("a\ud800", "a_"),
        ("Größe/東-东", "Größe/東-东"),
    ],
)
def test_an_id_never_holds_what_a_node_id_cannot(given, safe):
    assert rows_of({"id": given, "input": "q"})[0].id == safe


def test_a_very_long_id_is_cut_and_stays_unique():
    first, second = rows_of({"id": "x" * 500, "input": "q"}, {"id": "x" * 501, "input": "q"})
    assert len(first.id) == len(second.id) == 200
    assert first.id != second.id


def test_ids_that_become_the_same_are_an_error():
    (text,) = problems_of({"id": "a[1]", "input": "q"}, {"id": "a(1)", "input": "q"})
    assert "the row in line 1 has the same id" in text


def test_a_number_and_a_text_can_be_the_same_id():
    assert len(problems_of({"id": 1, "input": "q"}, {"id": "1", "input": "r"})) == 1


def test_a_generated_id_is_a_slug_and_a_hash_and_survives_moving():
    question = "Where is my parcel, number 88, that I ordered last week?"
    records = [{"input": question, "expected": "x"}, {"input": "¿Qué? 東-东"}]
    first, second = rows_of(*records)
    assert re.fullmatch(r"where-is-my-parcel-number-88-that-i-[0-9a-f]{8}", first.id)
    assert re.fullmatch(r"qué-東-东-[0-9a-f]{8}", second.id)
    again = rows_of(*reversed(records))
    assert [row.id for row in again] == [second.id, first.id]


def test_a_generated_id_does_not_depend_on_the_order_of_keys_but_on_the_content():
    (one,) = rows_of({"input": "q", "expected": "x"})
    (same,) = rows_of({"expected": "x", "input": "q"})
    (other,) = rows_of({"input": "q", "expected": "y"})
    assert one.id == same.id != other.id


@pytest.mark.parametrize(
    ("record", "slug"),
    [
        ({"messages": [{"role": "user", "content": "Hi there"}]}, "hi-there"),
        ({"input": [{"role": "user", "content": "Hi there"}]}, "hi-there"),
        ({"turns": ["First one", "b"]}, "first-one"),
        ({"goal": "Cancel it"}, "cancel-it"),
        ({"output": "It is late"}, "it-is-late"),
        ({"input": {"city": "Rome"}}, "rome"),
        ({"input": "???"}, "row"),
        ({"input": "x" * 90}, "x" * 40),
        ({"input": 0}, "0"),
    ],
)
def test_the_slug_comes_from_what_is_asked(record, slug):
    assert rows_of(record)[0].id.rpartition("-")[0] == slug


def test_equal_rows_without_ids_are_numbered_and_none_is_lost():
    ids = [row.id for row in rows_of(*[{"input": "q"}] * 3)]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


def test_row_from_mapping_accepts_what_a_line_may_lack():
    assert row_from_mapping({}).id == ""
    row = row_from_mapping({"output": "o", "expected": None}, shown="x", line=4)
    assert (row.output, row.expected, row.path, row.line) == ("o", None, "x", 4)


def test_row_from_mapping_refuses_what_a_line_may_not_hold():
    with pytest.raises(DatasetError, match="both spell output"):
        row_from_mapping({"output": "a", "response": "b"})
    with pytest.raises(DatasetError, match=r"the key 1 is a number, expected text"):
        row_from_mapping({"output": {1: "a"}})


def test_row_from_mapping_refuses_a_value_that_holds_itself():
    loop = []
    loop.append(loop)
    with pytest.raises(DatasetError, match="nested too deep"):
        row_from_mapping({"output": loop})


def test_read_rows_stops_at_the_first_bad_row(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"input": "q"}\n{"topic": 1}\n{"input": "r"}\n')
    rows = read_rows(path, shown="a.jsonl")
    assert next(rows).input == "q"
    with pytest.raises(DatasetError, match=r"^a\.jsonl:2: "):
        next(rows)


def test_streaming_a_large_file_keeps_little(tmp_path):
    import tracemalloc

    path = tmp_path / "a.jsonl"
    line = json.dumps({"input": "question", "output": "x" * 2000})
    path.write_text("".join(f'{{"id": {n}, {line[1:]}\n' for n in range(5000)))
    tracemalloc.start()
    count = sum(1 for _ in read_rows(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5000
    assert peak < 2_500_000 < path.stat().st_size / 4


def test_a_row_of_ten_megabytes_is_a_row(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"input": "x " * 5_000_000}) + "\n")
    (row,) = load_rows(path)
    assert len(row.input) == 10_000_000
    assert len(row.id) < 60
