"""What is proposed for the columns and values of a file."""

from __future__ import annotations

import json

import pytest

from pytest_evalcheck.errors import DatasetError
from pytest_evalcheck.first_run.columns import guess_columns
from pytest_evalcheck.first_run.proposals import LOOKED_AT, propose


@pytest.fixture
def proposed(tmp_path):
    def run(*rows, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return propose(path, name)

    return run


def entries(proposal):
    return [dict(metric.entry) for metric in proposal.metrics]


def first(proposal):
    return proposal.metrics[0].entry["check"], proposal.metrics[0].reason


@pytest.mark.parametrize(
    ("rows", "check", "reason"),
    [
        pytest.param(
            [{"output": f"it is {n}", "expected": n + (n == 3)} for n in range(4)],
            "numeric_equals",
            "each of 4 expected values is a number; 3 of 4 rows pass",
            id="numbers",
        ),
        pytest.param(
            [{"output": f"Answer: {a}", "expected": b, "id": a + b} for a, b in ("AA", "BA")],
            "choice",
            "each of 2 expected values is the letter of a choice; 1 of 2 rows pass",
            id="letters",
        ),
        pytest.param(
            [{"output": "spam", "expected": ["spam", "Spam"][n % 2], "id": n} for n in range(8)],
            "exact_match",
            "8 expected values are 2 labels; 8 of 8 rows pass",
            id="labels",
        ),
        pytest.param(
            [{"output": "it is true", "expected": n == 1, "id": n} for n in range(4)],
            "contains",
            "the expected texts are short",
            id="booleans are no numbers",
        ),
        pytest.param(
            [{"output": ["a", "b"], "expected": ["b", "a"]}],
            "list_overlap",
            "each of 1 expected values is a list, as outputs are; 1 of 1 row pass",
            id="lists against lists",
        ),
        pytest.param(
            [{"output": "a", "expected": ["a", "b"]}],
            "any_of",
            "each of 1 expected values is a list: any of them is right; 1 of 1 row pass",
            id="lists against a text",
        ),
        pytest.param(
            [{"output": '{"a": 1}', "expected": {"a": 1}}],
            "json_diff",
            "each of 1 expected values is a JSON object; 1 of 1 row pass",
            id="JSON objects",
        ),
        pytest.param(
            [{"output": f"About Topic {n}.", "expected": f"topic {n}"} for n in range(3)],
            "contains",
            "the expected texts occur in the outputs; 3 of 3 rows pass",
            id="texts inside",
        ),
        pytest.param(
            [{"output": f"topic {n} ", "expected": f"Topic {n}"} for n in range(3)],
            "exact_match",
            "outputs are what is expected, whole; 3 of 3 rows pass",
            id="texts as a whole",
        ),
        pytest.param(
            [{"output": f"one two three {n}", "expected": f"three two one {n}"} for n in range(3)],
            "f1",
            "the words are compared; 3 of 3 rows pass",
            id="texts in other words",
        ),
        pytest.param(
            [{"input": "q", "expected": "30 days"}],
            "contains",
            "nothing can be measured yet (missing_output in 1 row)",
            id="nothing recorded",
        ),
    ],
)
def test_the_comparison_fits_the_expected_values_and_tells_how_it_went(
    proposed, rows, check, reason
):
    found, said = first(proposed(*({"id": f"r{n}", **row} for n, row in enumerate(rows))))
    assert found == check
    assert reason in said


@pytest.mark.parametrize(
    ("outputs", "wanted"),
    [
        pytest.param(
            ['{"a": 1, "b.c": 2}', '{"a": 2, "d": 1}', "sorry"],
            [
                {"check": "valid_json"},
                {"check": "field_presence", "required_fields": ["a"]},
            ],
            id="JSON texts, one broken",
        ),
        pytest.param(
            [{"a": 1, "b": 2}, {"b": 1, "a": None}],
            [{"check": "field_presence", "required_fields": ["a", "b"]}],
            id="objects",
        ),
        pytest.param(["[1]", "[2]"], [{"check": "valid_json"}], id="JSON lists"),
        pytest.param(
            ["yes", "no", "yes", "no"],
            [{"check": "enum_membership", "allowed": ["no", "yes"]}],
            id="labels",
        ),
        pytest.param(
            ["short", "a longer one"],
            [{"check": "length_bounds", "min": 1, "max": 24}],
            id="short texts",
        ),
        pytest.param(
            ["x" * 50, "y"],
            [
                {"check": "length_bounds", "min": 1, "max": 100},
                {"check": "is_refusal", "negate": True},
            ],
            id="sentences",
        ),
    ],
)
def test_outputs_alone_call_for_their_form(proposed, outputs, wanted):
    proposal = proposed(*({"id": f"r{n}", "output": one} for n, one in enumerate(outputs)))
    assert entries(proposal) == wanted


def test_what_was_recorded_besides_is_bounded_by_twice_the_most(proposed):
    proposal = proposed(
        {"id": "a", "output": 1, "latency_s": 0.25, "tokens": 10, "cost_usd": 0.5},
        {"id": "b", "output": 2, "latency_s": 1.5},
    )
    assert entries(proposal) == [
        {"check": "latency", "max": 3000},
        {"check": "tokens", "max": 20},
        {"check": "cost", "max": 1.0},
    ]
    assert "1 of 1 row pass, 1 cannot be measured" not in proposal.metrics[0].reason
    assert "2 of 2 rows pass" in proposal.metrics[0].reason
    assert "1 of 1 row pass, 1 cannot be measured" in proposal.metrics[1].reason


def test_expected_tool_calls_and_quotations_are_checked(proposed):
    proposal = proposed(
        {
            "input": "q",
            "output": 'The policy says "returns are free of charge for members".',
            "context": ["Note: returns are free of charge for members."],
            "tool_calls": [{"name": "search", "args": {}}],
            "expected_tool_calls": [{"name": "search", "args": {}}],
        }
    )
    assert {"tool_calls", "quotes_context"} <= {one["check"] for one in entries(proposal)}


def test_without_output_and_expected_the_least_is_asked_and_said_to_be_unmeasured(proposed):
    proposal = proposed({"input": "q"})
    assert entries(proposal) == [{"check": "length_bounds", "min": 1}]
    assert "nothing can be measured yet" in proposal.metrics[0].reason
    assert any("no row has a recorded output" in note for note in proposal.notes)


def test_of_many_rows_a_part_from_all_over_the_file_is_looked_at(proposed):
    rows = [{"id": f"r{n}", "output": "x" * (5 + (n > 1400))} for n in range(3 * LOOKED_AT)]
    proposal = proposed(*rows)
    assert f"{LOOKED_AT} of {3 * LOOKED_AT} rows were looked at" in proposal.notes
    assert "500 outputs are 2 labels" in proposal.metrics[0].reason


def test_a_broken_row_behind_those_looked_at_is_found(proposed):
    rows = [{"id": f"r{n}", "output": "x"} for n in range(LOOKED_AT + 50)]
    with pytest.raises(DatasetError, match="r7"):
        proposed(*rows, {"id": "r7", "output": "x"})


def test_a_large_file_is_read_in_part(proposed, monkeypatch):
    monkeypatch.setattr("pytest_evalcheck.first_run.proposals.WHOLE_FILE_BYTES", 10)
    rows = [{"id": f"r{n}", "output": "x"} for n in range(LOOKED_AT)]
    proposal = proposed(*rows, {"id": "r7", "output": "x"})
    assert f"a large file: only its first {LOOKED_AT} rows were looked at" in proposal.notes


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (["question", "outptu", "expected"], {"output": "outptu"}),
        (
            ["Customer question", "Bot said", "Must mention"],
            {"input": "Customer question", "output": "Bot said", "expected": "Must mention"},
        ),
        (
            ["userQuestion", "modelOutput", "gold_label"],
            {"input": "userQuestion", "output": "modelOutput", "expected": "gold_label"},
        ),
        (["input", "output", "model", "score", "category"], {}),
        (["input", "output", "prediction"], {}),
        (["input", "prediction", "model_output"], {}),
        (["input", "Output"], {"output": "Output"}),
        ([], {}),
    ],
)
def test_columns_are_mapped_where_one_alone_can_be_meant(columns, wanted):
    assert guess_columns([dict.fromkeys(columns, "x"), ["no mapping"]]) == wanted


def test_a_mapping_of_columns_that_does_not_hold_is_dropped(proposed):
    proposal = proposed({"id": "a", "input": "q", "output": "x", "expected_tool_use": 5})
    assert proposal.columns == {}
