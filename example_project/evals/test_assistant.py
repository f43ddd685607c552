"""The assistant called live, inside ordinary tests."""

import pytest

from support.assistant import UNKNOWN, answer, describe_order


@pytest.mark.metric("knows_its_policies", dataset="answers.jsonl", tags=["live"])
def test_live_answer_mentions_the_policy(eval_row, evalcheck):
    reply = answer(eval_row.input)
    if reply == UNKNOWN:
        evalcheck.non_evaluable("the assistant hands this question over")
    if eval_row.expected is None:
        evalcheck.non_evaluable("no expected words", code="missing_expected")
    assert eval_row.expected in reply


@pytest.mark.metric("live_order_total", threshold=0.99)
def test_order_total_is_right_to_the_cent(evalcheck):
    described = describe_order("Where is A-1001?")
    assert described is not None
    evalcheck.score(1 - abs(described["order"]["total"] - 49.0), reason="distance in euros")


@pytest.mark.metric("whole_suite")
def test_a_live_answer_passes_the_whole_suite(evalcheck):
    row = {"id": "live-return", "input": "Can I return this?", "expected": "30 days"}
    scores = evalcheck.evaluate(answer(row["input"]), row=row)
    assert scores["cites_policy"].passed
