"""Chat, sequence and simulated rows: each rule, all broken ones at once."""

from __future__ import annotations

import pytest

from pytest_evalcheck.datasets import DatasetOptions, rows_from_values
from pytest_evalcheck.errors import DatasetError


def rows_of(*records, **options):
    numbered = list(enumerate(records, start=1))
    return rows_from_values(numbered, "a.jsonl", DatasetOptions(**options))


def problems_of(*records):
    with pytest.raises(DatasetError) as caught:
        rows_of(*records)
    return [problem.text() for problem in caught.value.problems]


def chat(*roles):
    return {"messages": [{"role": role, "content": f"m{n}"} for n, role in enumerate(roles)]}


@pytest.mark.parametrize(
    "record",
    [
        chat("user"),
        chat("system", "user"),
        chat("user", "assistant", "user"),
        chat(*["user", "assistant"] * 24, "user"),
        {"turns": ["a", "b"]},
        {"turns": ["a"] * 20},
        {"goal": "cancel", "persona": "old", "maxTurns": 100, "expected_behavior": "calm"},
        {**chat("user"), "output": "recorded", "expectedResponse": "r"},
        {"input": "q", "goal": "g", "output": "recorded", "expected": "e"},
    ],
)
def test_a_row_of_each_shape_is_accepted(record):
    assert len(rows_of(record)) == 1


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"messages": []}, "0 messages, expected 1 to 50"),
        (chat(*["user", "assistant"] * 25, "user"), "51 messages, expected 1 to 50"),
        ({"messages": "hi"}, "'hi' is text, expected a list"),
        ({"messages": ["hi"]}, "messages[0]: the message is text, expected an object"),
        (chat("system"), "only a system message, expected a user message after it"),
        (chat("assistant", "user"), "messages[0]: a message of the assistant, expected one of"),
        (chat("user", "user"), "messages[1]: a message of the user, expected one of the assistant"),
        (chat("user", "system"), "messages[1]: a message of the system, expected one of"),
        (chat("user", "assistant"), "messages[1]: the last message is the assistant's"),
        (chat("user", "tool"), "messages[1].role: role 'tool', expected system, user or assistant"),
        (
            {"messages": [{"role": "user", "content": " "}]},
            "messages[0].content: blank content, expected text",
        ),
        ({"messages": [{"role": "user"}]}, "messages[0].content: content null, expected text"),
        ({"turns": ["a"]}, "1 turns, expected 2 to 20"),
        ({"turns": ["a"] * 21}, "21 turns, expected 2 to 20"),
        ({"turns": ["a", ""]}, "turns[1]: a blank text, expected the text of a user message"),
        ({"turns": [{"role": "user", "content": "a"}] * 2}, "turns[0]: an object, expected the"),
        ({"goal": " "}, "goal: a blank text, expected what the user wants"),
        ({"goal": "g", "max_turns": 0}, "max_turns: 0, expected a whole number from 1 to 100"),
        ({"goal": "g", "max_turns": 101}, "max_turns: 101, expected a whole number from 1 to 100"),
        ({"goal": "g", "expected": "e"}, "a simulated row with an expected value"),
        ({"goal": "g", "disposition": 3}, "disposition is a number, expected a text"),
        ({"goal": "g", "turns": ["a", "b"]}, "the row asks in 2 ways, expected one of input"),
        ({"input": "q", "turns": ["a", "b"]}, "the row asks in 2 ways, expected one of input"),
    ],
)
def test_a_broken_shape_names_the_rule(record, said):
    (text,) = problems_of(record)
    assert text.startswith("a.jsonl:1: ")
    assert said in text


def test_broken_rows_come_all_at_once():
    texts = problems_of(chat("user", "user"), {"turns": []}, {"goal": "g", "max_turns": "x"})
    assert [text.split(": ")[0] for text in texts] == ["a.jsonl:1", "a.jsonl:2", "a.jsonl:3"]


def test_a_conversation_that_ends_on_the_assistant_says_where_to_put_the_reply():
    (text,) = problems_of(chat("user", "assistant"))
    assert text.endswith(
        "Move it to expected_response when it is a reference, or to output when it is the "
        "recorded reply."
    )


def test_depths_make_a_row_of_each_user_message():
    record = {"id": "c", **chat("system", "user", "assistant", "user", "assistant")}
    first, second = rows_of(record, expand="depths")
    assert (first.id, second.id) == ("c-depth-1", "c-depth-2")
    assert [message["content"] for message in first.messages] == ["m0", "m1"]
    assert (first.expected, second.expected) == ("m2", "m4")
    assert len(second.messages) == 4


def test_the_last_depth_keeps_the_rows_own_expected_value():
    record = {"id": "c", "expected": "own", **chat("user", "assistant", "user")}
    rows = rows_of(record, expand="depths")
    assert [row.expected for row in rows] == ["m1", "own"]


def test_depths_leave_other_rows_alone():
    assert [row.input for row in rows_of({"input": "q"}, expand="depths")] == ["q"]
