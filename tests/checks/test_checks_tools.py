"""Tool use: calls in every recorded form, paired, counted and told apart from everything else."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import problems_of

from pytest_evalcheck import score as evalcheck_score
from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.checks.calls import Call, call_text, read_calls
from pytest_evalcheck.model import Row
from shared_data import shared

ROME = {"city": "Rome"}
OPENAI = {
    "id": "c1",
    "type": "function",
    "function": {"name": "sun", "arguments": '{"city":"Rome"}'},
}
ANTHROPIC = {"type": "tool_use", "id": "t1", "name": "sun", "input": ROME}
ANTHROPIC_CALL = {"name": "sun", "input": ROME}
GOOGLE = {"functionCall": {"name": "sun", "args": ROME}}
RESPONSES = {
    "type": "function_call", "call_id": "c1", "name": "sun", "arguments": '{"city":"Rome"}'
}  # fmt: skip
DEFINITION = {
    "type": "function",
    "function": {"name": "sun", "description": "d", "parameters": {"type": "object"}},
}


def score(check, called=None, expected=None, /, **options):
    row = Row(tool_calls=called, expected_tool_calls=expected)
    return compile_check({"check": check, **options}).score(row)


def call(name, /, **args):
    return {"name": name, "args": args}


# ── reading ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param([OPENAI], id="OpenAI chat"),
        pytest.param({"role": "assistant", "content": None, "tool_calls": [OPENAI]}, id="message"),
        pytest.param({"choices": [{"message": {"tool_calls": [OPENAI]}}]}, id="OpenAI response"),
        pytest.param(
            {"role": "assistant", "function_call": OPENAI["function"]}, id="OpenAI, older form"
        ),
        pytest.param({"output": [{"type": "reasoning"}, RESPONSES]}, id="OpenAI Responses"),
        pytest.param(ANTHROPIC, id="Anthropic block"),
        pytest.param([{"type": "text", "text": "Well"}, ANTHROPIC], id="Anthropic content"),
        pytest.param({"role": "assistant", "content": [ANTHROPIC]}, id="Anthropic message"),
        pytest.param(GOOGLE, id="Google"),
        pytest.param(
            {"candidates": [{"content": {"parts": [{"text": "Well"}, GOOGLE]}}]},
            id="Google response",
        ),
        pytest.param({"toolCall": {"functionCalls": [call("sun", **ROME)]}}, id="Google Live"),
        pytest.param(
            {"intermediate_data": {"tool_uses": [{"id": None, **call("sun", **ROME)}]}}, id="ADK"
        ),
        pytest.param(
            # google/adk-python#5410: the calls stand in events instead of tool_uses
            {"invocation_events": [
                {"content": {"parts": [{"text": None, "function_call": call("sun", **ROME)}]}},
                {"content": {"parts": [{"function_response": {"name": "sun", "response": {}}}]}},
            ]},
            id="ADK events",
        ),
        pytest.param({"tool_name": "sun", "tool_input": ROME}, id="ADK, older form"),
        pytest.param({"name": "sun", "input_parameters": ROME, "type": "MCP"}, id="DeepEval"),
        pytest.param({"type": "tool-call", "toolName": "sun", "input": ROME}, id="Vercel"),
        pytest.param(
            {"method": "tools/call", "params": {"name": "sun", "arguments": ROME}}, id="MCP"
        ),
        pytest.param({"name": "sun", "parameters": ROME}, id="Llama"),
        pytest.param(
            {"content": [{"text": "Well"}, {"toolUse": {"toolUseId": "t", **ANTHROPIC_CALL}}]},
            id="Bedrock",
        ),
        pytest.param(
            {"content": [ANTHROPIC], "additional_kwargs": {"tool_calls": [OPENAI]},
             "tool_calls": [{**call("sun", **ROME), "id": "c1", "type": "tool_call"}]},
            id="LangChain, which says it three times",
        ),
        pytest.param(json.dumps([OPENAI]), id="JSON text"),
        pytest.param(f"I will look.\n\n{json.dumps(ANTHROPIC)}\n", id="on a line of its own"),
        pytest.param(f"{{broken\n{json.dumps(GOOGLE, indent=2)}\nDone.", id="over several lines"),
        pytest.param(
            f"```json\n{json.dumps({**ANTHROPIC, 'name': 'moon'})}\n```\n{json.dumps(ANTHROPIC)}",
            id="after an example in a fence",
        ),
    ],
)  # fmt: skip
def test_a_call_is_read_from_the_forms_people_have(recorded):
    assert read_calls(recorded) == [Call("sun", ROME)]


@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param([], id="nothing"),
        pytest.param("", id="empty text"),
        pytest.param("The weather is fine.", id="words"),
        pytest.param(f"One would write {json.dumps(ANTHROPIC)} here.", id="in a sentence"),
        pytest.param(f"{json.dumps(ANTHROPIC)} is an example.", id="example first"),
        pytest.param(f'{{\n"input":\n{json.dumps(ANTHROPIC)}\n}} is one.', id="inside an example"),
        pytest.param(json.dumps(ANTHROPIC)[:-3], id="cut off"),
        pytest.param(f"```json\n{json.dumps(ANTHROPIC)}\n```", id="in a fence"),
        pytest.param(f"~~~~\n{json.dumps(GOOGLE)}\n~~~\n{json.dumps(GOOGLE)}", id="open fence"),
        pytest.param({"type": "response_metadata", "name": "sun"}, id="something with a name"),
        # promptfoo/promptfoo#9523: the tools a model could have used
        pytest.param([DEFINITION], id="OpenAI definition"),
        pytest.param([{**DEFINITION["function"]}], id="bare definition"),
        pytest.param([{"name": "sun", "input_schema": {"type": "object"}}], id="Anthropic's"),
        pytest.param([{"name": "sun", "inputSchema": {}}], id="MCP definition"),
        pytest.param([{"name": "sun", "parameters": {}}], id="definition without parameters"),
        pytest.param(
            [{"type": "function", "name": "sun", "parameters": None}], id="Responses definition"
        ),
        pytest.param([{"toolResult": {"name": "sun", "content": []}}], id="Bedrock result"),
        pytest.param(
            {"name": "chat", "attributes": {"gen_ai.tool.definitions": [DEFINITION]}}, id="span"
        ),
        pytest.param({"tools": [call("sun")], "content": "Hello"}, id="request"),
        pytest.param([{"role": "tool", "name": "sun", "content": "22"}], id="OpenAI result"),
        pytest.param([{"type": "tool_result", "content": [ANTHROPIC]}], id="Anthropic result"),
        pytest.param([{"functionResponse": {"name": "sun", "response": {}}}], id="Google result"),
        pytest.param({"tool_calls": None, "function_call": None, "content": "Hi"}, id="nulls"),
        pytest.param(5, id="a number"),
    ],
)  # fmt: skip
def test_what_is_no_call_is_not_read_as_one(recorded):
    assert read_calls(recorded) == []


def test_no_real_tool_description_is_read_as_a_call():
    for path in sorted(shared("data", "mcp").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        assert read_calls(document) == [], path.name
        assert read_calls(document.get("tools")) == [], path.name


@pytest.mark.parametrize("arguments", ["", "  ", "{}", "null", None, {}])
def test_a_call_without_arguments_has_empty_ones(arguments):
    recorded = [{"function": {"name": "now", "arguments": arguments}}]
    assert read_calls(recorded) == [Call("now")]
    assert score("tool_calls", recorded, [call("now")]).passed


@pytest.mark.parametrize("arguments", ['{"city": "Ro', "[1]", '"Rome"', [1]])
def test_arguments_that_are_no_object_fit_no_expected_ones(arguments):
    recorded = [{"name": "sun", "arguments": arguments}]
    found = score("tool_calls", recorded, [call("sun", **ROME)], args="subset")
    assert (found.status, found.passed) == ("scored", False)
    assert "arguments are no" in found.reason
    assert score("tool_calls", recorded, ["sun"]).passed


def test_a_call_is_written_as_people_write_one():
    assert call_text(Call("sun", {"city": "Rome", "n": 2, "at": [1]})) == (
        'sun(city="Rome", n=2, at=[1])'
    )


# ── arguments ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("mode", "called", "expected", "passed"),
    [
        ("exact", {"a": 1}, {"a": 1}, True),
        ("exact", {"a": 1, "b": 2}, {"a": 1}, False),
        ("exact", {}, {}, True),  # confident-ai/deepeval#1608
        ("exact", {"a": 1}, {}, False),
        ("exact", {"a": True}, {"a": 1}, False),  # rocketride-server#1581
        ("exact", {"a": "5"}, {"a": 5}, False),
        ("exact", {"a": 5.0}, {"a": 5}, True),
        ("exact", {"a": None}, {}, False),
        ("exact", {"a": {"y": 2, "x": 1}}, {"a": {"x": 1, "y": 2}}, True),
        ("superset", {"a": 1, "b": 2}, {"a": 1}, True),
        ("superset", {"b": 2}, {"a": 1}, False),
        ("subset", {}, {"a": 1}, True),
        ("subset", {"b": 2}, {"a": 1}, False),
        ("subset", {"a": 2}, {"a": 1}, False),
        ("ignore", {"z": 0}, {"a": 1}, True),
        ("any_of", {"u": "Inch"}, {"u": ["in", "inch"]}, True),
        ("any_of", {"u": "cm"}, {"u": ["in", "inch"]}, False),
        ("any_of", {}, {"u": ["cm", ""]}, True),
        ("any_of", {}, {"u": ["cm"]}, False),
        ("any_of", {"u": "-"}, {"u": ["cm", ""]}, False),
        ("any_of", {"where": "new york, n.y."}, {"where": ["New York, NY"]}, True),
        ("any_of", {"n": "5"}, {"n": [5]}, False),
        ("any_of", {"n": 5}, {"n": [5.0]}, True),
        ("any_of", {"n": True}, {"n": [1]}, False),
        ("any_of", {"l": [3, 5]}, {"l": [[3, 5]]}, True),
        ("any_of", {"l": [5, 3]}, {"l": [[3, 5]]}, False),
        ("any_of", {"p": {"limit": 50}}, {"p": [{"limit": [50, 60]}]}, True),
        ("any_of", {"p": {"limit": 70}}, {"p": [{"limit": [50, 60]}]}, False),
        ("any_of", {"n": 7}, {"n": [{"$match": "number", "value": 7}]}, True),
    ],
)
def test_arguments_fit_by_the_mode(mode, called, expected, passed):
    found = score("tool_calls", [call("t", **called)], [call("t", **expected)], args=mode)
    assert found.passed is passed, found.reason


@pytest.mark.parametrize(
    ("matcher", "value", "passed"),
    [
        ({"$match": "exact", "value": {"$match": 1}}, {"$match": 1}, True),
        ({"$match": "exact", "value": "a"}, "A", False),
        ({"$match": "contains", "value": "ROME"}, "to rome", True),
        ({"$match": "contains", "value": "Rome"}, None, False),
        ({"$match": "regex", "value": r"^\d{4}-\d\d$"}, "2031-07", True),
        ({"$match": "regex", "value": "^x$"}, "xy", False),
        ({"$match": "number", "value": 1000}, "1,000", True),
        ({"$match": "number", "value": 1.0, "tolerance": 0.1}, 1.1, True),
        ({"$match": "number", "value": 1}, True, False),
        ({"$match": "ignore"}, ["whatever"], True),
    ],
)
def test_a_matcher_says_how_a_value_is_compared(matcher, value, passed):
    for wrap in (lambda one: one, lambda one: {"deep": [one]}):
        expected = [call("t", v=wrap(matcher), w=1)]
        found = score("tool_calls", [call("t", v=wrap(value), w=1)], expected)
        assert found.passed is passed, found.reason
    assert (
        score("tool_called", [call("t", v=value)], tool="t", args={"v": matcher}).passed is passed
    )


def test_an_ignored_argument_may_be_left_out():
    expected = [call("t", at={"$match": "ignore"}, n=1)]
    assert score("tool_calls", [call("t", n=1)], expected).passed
    assert score("tool_calls", [call("t", n=1, at="now")], expected).passed


@pytest.mark.parametrize(
    ("matcher", "said"),
    [
        ({"$match": "regexp", "value": "a"}, "Did you mean 'regex'"),
        ({"$match": "regex", "value": "("}, "does not compile"),
        ({"$match": "regex", "value": ""}, "not empty"),
        ({"$match": "contains", "value": ""}, "not empty"),
        ({"$match": "contains"}, "without a value"),
        ({"$match": "number", "value": "many"}, "a number"),
        ({"$match": "number", "value": 1, "tolerance": -1}, "0 or more"),
        ({"$match": "contains", "value": "a", "case": 1}, "case in a matcher"),
        ({"$match": ["contains"]}, "one of exact, contains"),
    ],
)
def test_a_miswritten_matcher_is_told_when_loading_and_is_no_failure_in_a_row(matcher, said):
    assert said in problems_of("tool_called", tool="t", args={"a": matcher})[0]
    assert said in problems_of("tool_calls", value=[call("t", a=matcher)])[0]
    assert said in problems_of("tool_calls", value={"t": {"a": [matcher]}}, args="any_of")[0]
    found = score("tool_calls", [call("t", a=1)], [call("t", a=matcher)])
    assert (found.status, found.code) == ("non_evaluable", "expected_unusable")


# ── pairing and scoring ───────────────────────────────────────────────────────────────

A, B, C, D = (call(name) for name in "abcd")


@pytest.mark.parametrize(
    ("called", "expected", "options", "value", "passed"),
    [
        ([B, A], [A, B], {}, 1, True),
        ([B, A], [A, B], {"order": "in_order"}, 0.5, False),
        ([B, A], [A, B], {"order": "exact"}, 0, False),
        ([A, D, B], [A, B], {"order": "in_order"}, 0, False),
        ([A, D, B], [A, B], {"order": "in_order", "extra": "allow"}, 1, True),
        ([A, D, B], [A, B], {"order": "exact", "extra": "allow"}, 0.5, False),
        # confident-ai/deepeval#3141: repeats count
        ([A, A], [A, A], {}, 1, True),
        ([A], [A, A], {}, 0.5, False),
        ([A, A], [A], {"score_by": "precision"}, 0.5, False),
        ([A, A], [A], {}, 0, False),
        ([A, A], [A], {"extra": "allow"}, 1, True),
        # google/adk-python#5306: 3 of 4 is more than none
        ([A, B, C], [A, B, C, D], {}, 0.75, False),
        ([A, B, C], [A, B, C, D], {"threshold": 0.75}, 0.75, True),
        ([A, B, C], [A, B, C, D], {"score_by": "f1"}, 6 / 7, False),
        ([A, B, C], [A, B, C, D], {"score_by": "all"}, 0, False),
        ([], [A], {}, 0, False),
        ([A, B, D], [A, B], {"score_by": "f1", "threshold": 0.8}, 0.8, True),
        ([A, B, D], [A, B], {"score_by": "f1", "threshold": 0.8, "extra": "fail"}, 0, False),
        ([A, B], [B, C], {"score_by": "jaccard", "threshold": 0.3}, 1 / 3, True),
        ([], [], {}, 1, True),
        ([A], [], {}, 0, False),
        ([A], [], {"score_by": "f1"}, 0, False),
        ([A], [], {"extra": "allow"}, 1, True),
    ],
)
def test_calls_are_paired_once_and_scored(called, expected, options, value, passed):
    found = score("tool_calls", called, expected, **options)
    assert (found.passed, found.value) == (passed, pytest.approx(value)), found.reason


def test_pairing_is_not_fooled_by_the_first_that_fits():
    # The wide expectation comes first and must leave the narrow one its only call.
    called = [call("t", a=1), call("t", a=2)]
    expected = [call("t", a={"$match": "ignore"}), call("t", a=1)]
    assert score("tool_calls", called, expected).passed
    assert score("tool_calls", called[::-1], expected[::-1]).passed


@given(
    st.lists(st.sampled_from("abc"), max_size=7),
    st.lists(st.sampled_from("abc"), max_size=7),
)
def test_names_alone_are_compared_as_multisets(called, expected):
    shared_count = sum(min(called.count(name), expected.count(name)) for name in "abc")
    union = len(called) + len(expected) - shared_count
    found = score("tool_calls", called, expected, score_by="jaccard")
    assert found.value == pytest.approx(shared_count / union if union else 1)


@given(st.lists(st.sampled_from("ab"), max_size=8), st.lists(st.sampled_from("ab"), max_size=5))
def test_in_order_holds_just_when_the_expected_are_a_subsequence(called, expected):
    rest = iter(called)
    subsequence = all(name in rest for name in expected)
    found = score("tool_calls", called, expected, order="in_order", extra="allow")
    assert found.passed is subsequence


@pytest.mark.parametrize(
    "expected",
    [
        ["a", "b"], "a, b", '["a", "b"]', [{"name": "a"}, {"name": "b"}], [A, "b"],
        [{"function": {"name": "a", "arguments": "{}"}}, GOOGLE | {"functionCall": {"name": "b"}}],
        {"a": {}, "b": {}},
    ],
)  # fmt: skip
def test_expected_calls_may_be_names_or_calls_of_any_form(expected):
    assert score("tool_calls", [A, B], expected).passed
    assert score("tool_calls", [A, B], None, value=expected).passed


def test_a_name_alone_takes_any_arguments_and_a_call_does_not():
    assert score("tool_calls", [call("sun", **ROME)], ["sun"]).passed
    assert score("tool_calls", [call("sun", **ROME)], [call("sun")]).passed is False


@pytest.mark.parametrize(
    "expected", ["cd(folder='x')", "[broken", 5, [5], [None], [["a"]], {"a": 1}, [DEFINITION]]
)
def test_expected_calls_that_are_none_are_unusable(expected):
    found = score("tool_calls", [A], expected)
    assert (found.status, found.code) == ("non_evaluable", "expected_unusable"), found.reason
    assert problems_of("tool_calls", value=expected)[0].startswith("value: ")


LEADERBOARD = ("simple_python", "simple_java", "parallel_multiple", "live_parallel")


def leaderboard_rows():
    """Yield the answers of each of BFCL's rows and the calls that take what they list first."""
    for name in LEADERBOARD:
        path = shared("data", "bfcl", f"possible_answer__BFCL_v4_{name}.first12.json")
        for line in path.read_text(encoding="utf-8").splitlines():
            answers = json.loads(line)["ground_truth"]
            calls = [
                call(tool, **{key: first_of(one) for key, one in args.items() if one != [""]})
                for answer in answers
                for tool, args in answer.items()
            ]
            yield answers, calls


def first_of(values):
    value = next(value for value in values if value != "")
    if isinstance(value, dict):
        return {key: first_of(inner) for key, inner in value.items()}
    return value


def wrong_type(value):
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value)


def test_the_answers_of_the_function_calling_leaderboard_hold_its_rules():
    check = compile_check({"check": "tool_calls", "args": "any_of"})
    seen = dict.fromkeys(("right", "left out", "missing", "wrong type", "unknown", "count"), 0)

    def judge(kind, called, answers, passed):
        for calls in (called, called[::-1]):
            found = check.score(Row(tool_calls=calls, expected_tool_calls=answers))
            assert found.passed is passed, (kind, found.reason)
        seen[kind] += 1

    for answers, calls in leaderboard_rows():
        judge("right", calls, answers, True)
        judge("count", calls[1:], answers, False)
        judge("count", [*calls, calls[0]], answers, False)
        first, *others = calls
        ((_, accepted),) = answers[0].items()
        judge("unknown", [call(first["name"], **first["args"], zz=1), *others], answers, False)
        for key, value in first["args"].items():
            rest = {name: one for name, one in first["args"].items() if name != key}
            left_out = [call(first["name"], **rest), *others]
            optional = "" in accepted[key]
            judge("left out" if optional else "missing", left_out, answers, optional)
            bad = call(first["name"], **rest, **{key: wrong_type(value)})
            judge("wrong type", [bad, *others], answers, False)
    assert seen == {
        "right": 48, "count": 96, "unknown": 48, "missing": 107, "wrong type": 124, "left out": 17
    }  # fmt: skip


def adk_tool_uses():
    """Yield the tool uses of each recorded invocation of ADK's own files."""
    for path in sorted(shared("data", "adk").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document, list):
            yield from (turn.get("expected_tool_use", []) for turn in document)
        for case in document.get("eval_cases", []) if isinstance(document, dict) else ():
            for turn in case.get("conversation") or ():
                yield (turn.get("intermediate_data") or {}).get("tool_uses") or []


def test_the_three_modes_of_adk_give_its_verdicts_on_its_own_files():
    # EXACT, IN_ORDER (extras allowed), ANY_ORDER (extras allowed)
    modes = {
        "exact": {"order": "exact"},
        "in_order": {"order": "in_order", "extra": "allow"},
        "any": {"order": "any", "extra": "allow"},
    }
    other = {"name": "no_such_tool", "args": {}}
    invocations = list(adk_tool_uses())
    several = 0
    for uses in invocations:
        distinct = uses != uses[::-1]
        several += distinct
        for called, passing in (
            (uses, {"exact", "in_order", "any"}),
            ([*uses, other], {"in_order", "any"}),
            ([other, *uses], {"in_order", "any"}),
            (uses[::-1], {"any"} if distinct else set(modes)),
            (uses[1:], set() if uses else set(modes)),
        ):
            for mode, options in modes.items():
                found = score("tool_calls", called, uses, **options)
                assert found.passed is (mode in passing), (mode, found.reason)
    assert len(invocations) > 20
    assert several == 3


# ── evidence and words ────────────────────────────────────────────────────────────────


def test_no_expected_calls_are_no_failure():
    # google/adk-python#3439
    found = score("tool_calls", [A])
    assert (found.status, found.code) == ("non_evaluable", "missing_expected")


@pytest.mark.parametrize("check", ["tool_calls", "tool_called", "no_tool_calls"])
@pytest.mark.parametrize("row", [Row(), Row(output="Hello"), Row(output=""), Row(output={"a": 1})])
def test_a_row_that_records_no_calls_is_not_one_in_which_none_were_made(check, row):
    options = {"tool_calls": {"value": ["a"]}, "tool_called": {"tool": "a"}}.get(check, {})
    found = compile_check({"check": check, **options}).score(row)
    assert (found.status, found.code) == ("non_evaluable", "missing_output")


@pytest.mark.parametrize(
    "row",
    [
        Row(transcript=[{"role": "user"}, {"role": "assistant", "tool_calls": [OPENAI]}]),
        Row(output={"role": "assistant", "tool_calls": [OPENAI]}),
        Row(output=json.dumps(ANTHROPIC)),
        Row(output=f"Let me see.\n{json.dumps(ANTHROPIC)}"),
        Row(tool_calls=[OPENAI], output=json.dumps({**ANTHROPIC, "name": "moon"})),
    ],
)  # fmt: skip
def test_calls_are_found_where_the_row_keeps_them(row):
    assert compile_check({"check": "tool_called", "tool": "sun"}).score(row).passed


@pytest.mark.parametrize(
    "row",
    [
        Row(tool_calls=[]),
        Row(tool_calls="I would rather not."),
        Row(output={"role": "assistant", "content": "Hi", "tool_calls": None}),
        Row(transcript=[{"role": "assistant", "content": "Hi"}]),
    ],
)
def test_a_record_without_calls_says_that_none_were_made(row):
    assert compile_check({"check": "no_tool_calls"}).score(row).passed
    assert compile_check({"check": "tool_called", "tool": "*"}).score(row).passed is False


def test_the_place_of_the_calls_and_of_the_expected_ones_can_be_named():
    output = json.dumps({"trace": {"steps": [{"call": A}, {"call": B}]}})
    expected = json.dumps({"tools": ["a", "b"]})
    found = compile_check(
        {"check": "tool_calls", "target_path": "trace.steps[*].call", "expected_path": "tools"}
    ).score(Row(output=output, expected=expected, tool_calls=[D]))
    assert found.passed, found.reason
    plain = compile_check({"check": "tool_called", "tool": "a", "target": "output"})
    assert plain.score(Row(output="In words only.")).passed is False


def test_a_failure_says_which_calls_were_made_and_which_were_expected():
    # confident-ai/deepeval#1410
    found = score("tool_calls", [call("moon", city="Oslo"), A], [call("sun", city="Rome"), A])
    assert found.reason == (
        'found called moon(city="Oslo"), a(), expected sun(city="Rome"), a(); not called as '
        'expected: sun(city="Rome"); called beyond that: moon(city="Oslo") (score 0, threshold 1)'
    )
    assert found.details["missing"] == ['sun(city="Rome")']
    assert found.details["extra"] == ['moon(city="Oslo")']


def test_rows_are_independent_of_each_other():
    # confident-ai/deepeval#915
    check = compile_check({"check": "tool_calls"})
    rows = [
        Row(tool_calls=[A], expected_tool_calls=5),
        Row(tool_calls=[A], expected_tool_calls=[A]),
    ]
    assert [check.score(row).status for row in rows] == ["non_evaluable", "scored"]
    assert check.score(rows[1]).passed


# ── tool_called, no_tool_calls ────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        ({"tool": "search"}, True),
        ({"tool": "search_*"}, True),
        ({"tool": "Search"}, False),
        ({"tool": "sear"}, False),
        ({"tool": "search", "args": {"q": "a"}}, True),
        ({"tool": "search", "args": {"q": "c"}}, False),
        ({"tool": "search*", "min": 3}, True),
        ({"tool": "search", "min": 3}, False),
        ({"tool": "search", "max": 1}, False),
        ({"tool": "search", "min": 2, "max": 2}, True),
        ({"tool": "other", "max": 2}, False),
        ({"tool": "other", "max": 0}, True),
        ({"tool": "other", "min": 0, "max": 2}, True),
    ],
)
def test_a_tool_was_called_so_many_times(options, passed):
    called = [call("search", q="a", n=1), call("search", q="b"), call("search_web", q="a")]
    found = score("tool_called", called, **options)
    assert found.passed is passed, found.reason


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "tool: tool: tool_called lacks 'tool'"),
        ({"tool": "a", "min": 2, "max": 1}, "min: min: min 2 is above max 1"),
        ({"tool": "a", "min": 0}, "any number passes"),
        ({"tool": "a", "min": -1}, "never negative"),
        ({"tool": "a", "min": 1.5}, "whole number"),
        ({"tool": " "}, "empty"),
        ({"name": "other", "max": 0}, "lacks 'tool'"),
        ({"tool": "a", "args": ["q"]}, "a mapping"),
        ({"tool": "a", "arguments": {}}, "Did you mean"),
    ],
)
def test_a_miswritten_tool_called_is_told_when_loading(options, said):
    assert any(said in problem for problem in problems_of("tool_called", **options))


def test_a_metric_may_be_named_after_its_tool():
    row = {"tool_calls": [call("search")]}
    assert evalcheck_score({"name": "search", "check": "tool_called"}, row).passed
    found = evalcheck_score({"name": "looks it up", "check": "tool_called"}, row)
    assert found.reason == "found called search(), expected a call of looks it up()"
    entry = {"name": "looks it up", "check": "tool_called", "tool": "search"}
    assert evalcheck_score(entry, row).passed
    # The name of a metric narrows nothing where that would make it pass.
    entry = {"name": "calls nothing", "check": "no_tool_calls"}
    assert evalcheck_score(entry, row).passed is False


def test_no_tool_calls_can_be_narrowed_to_a_tool_and_arguments():
    called = [call("delete", path="/tmp/x"), call("read", path="/etc")]
    assert score("no_tool_calls", called).passed is False
    assert score("no_tool_calls", called, tool="write*").passed
    assert score("no_tool_calls", called, tool="del*").passed is False
    etc = {"path": {"$match": "regex", "value": "^/etc"}}
    assert score("no_tool_calls", called, tool="delete", args=etc).passed
    found = score("no_tool_calls", called, args=etc)
    assert found.reason.startswith('found called read(path="/etc"), expected no call of any tool(')


# ── bounds of time and depth ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    ["{\n" * 200_000, "[" * 1_000_000, ("[" * 40 + "\n") * 20_000, "\n" * 1_000_000,
     '{"type":"tool_use","name":"a","input":' + "[" * 100_000 + "]" * 100_000 + "}"],
    ids=["braces", "one line", "many lines", "blank lines", "deep"],
)  # fmt: skip
def test_a_hostile_text_is_read_in_bounded_time(text):
    began = time.process_time()
    assert read_calls(text) == []
    assert time.process_time() - began < 5


def test_deep_values_on_either_side_are_no_crash():
    deep = {"$match": "ignore"}
    plain = 1
    for _ in range(3000):
        deep, plain = {"a": deep}, [plain]
    assert score("tool_calls", plain, ["a"]).status == "scored"
    assert score("tool_calls", [call("a", x=plain)], [call("a", x=plain)]).passed
    assert score("tool_calls", [A], [call("a", x=deep)]).code == "expected_unusable"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    | st.sampled_from(["$match", "regex", "name", '{"name": "a", "args": {}}']),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["name", "args", "type", "function", "tool_calls", "$match", "value"]),
        inner, max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(called=VALUES, expected=VALUES, mode=st.sampled_from(["exact", "subset", "any_of"]))
def test_nothing_recorded_or_expected_breaks_the_check(called, expected, mode):
    found = score("tool_calls", called, expected, args=mode)
    assert found.status in ("scored", "non_evaluable"), found
    negated = score("tool_calls", called, expected, args=mode, negate=True)
    assert negated.status == found.status
