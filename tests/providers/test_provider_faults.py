"""Real SDKs against a real server: what each fault of a model or a gateway becomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from judge_desk import ask_once, judge_at, open_judges, request_of
from model_server import ModelServer
from pytest_evalcheck.engine import lanes as lanes_module
from pytest_evalcheck.engine import wait_for
from pytest_evalcheck.judges.request import Failure, Reply

PAGE = "<html><head><title>Sign in</title></head><body>3 of 5</body></html>"
PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    with ModelServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "FIRST_WAIT_S", 0.01)


def status(number: int, message: str = "told to fail", **more: Any) -> dict[str, Any]:
    return {"kind": "status", "status": number, "message": message, **more}


def fail(server: ModelServer, provider: str, fault: dict[str, Any], **keys: Any) -> Failure:
    server.script(always=fault)
    outcome = ask_once(judge_at(server, provider, **({"retries": 1} | keys)))
    assert isinstance(outcome, Failure), outcome
    return outcome


@PROVIDERS
def test_a_good_answer_is_a_reply_with_its_figures(server: ModelServer, provider: str) -> None:
    server.script()
    prices = {"input_per_1m": 1, "output_per_1m": 10}
    reply = ask_once(judge_at(server, provider, prices=prices))
    assert isinstance(reply, Reply)
    assert reply.value == {"reason": "as it should be", "score": 4}
    assert (reply.tokens_in, reply.tokens_out, reply.attempts) == (100, 20, 1)
    assert reply.cost_usd == pytest.approx(0.0003)
    assert reply.replayed is False


@PROVIDERS
@pytest.mark.parametrize(
    ("fault", "code", "said", "attempts"),
    [
        pytest.param(status(429), "judge_unavailable", "HTTP 429", 2, id="429"),
        pytest.param(
            status(429, headers={"retry-after": "0"}), "judge_unavailable", "429", 2, id="429-after"
        ),
        pytest.param(
            status(429, headers={"retry-after": "7200"}),
            "judge_unavailable",
            "it asks to wait 7,200 s",
            1,
            id="429-too-long",
        ),
        pytest.param(status(500), "judge_unavailable", "HTTP 500: told to fail", 2, id="500"),
        pytest.param(status(503), "judge_unavailable", "HTTP 503", 2, id="503"),
        pytest.param(status(529), "judge_unavailable", "HTTP 529", 2, id="529"),
        pytest.param(status(404), "judge_unavailable", "check its model and base_url", 1, id="404"),
        pytest.param(
            status(400, "prompt is too long: maximum context length is 8192 tokens"),
            "judge_unavailable",
            "too long",
            1,
            id="context-length",
        ),
        pytest.param(
            status(400, "the content management policy", code="content_filter"),
            "judge_abstained",
            "content filter",
            1,
            id="content-filter-400",
        ),
        pytest.param(status(400, "odd"), "judge_unavailable", "refused the request", 1, id="400"),
        pytest.param({"kind": "cut"}, "judge_unavailable", "no connection", 2, id="cut"),
        pytest.param(
            {"kind": "raw", "type": "application/json", "body": '{"choices": [{"mess'},
            "judge_unavailable",
            "broken JSON",
            2,
            id="truncated-json",
        ),
        pytest.param(
            {"kind": "raw", "type": "text/html", "body": PAGE},
            "judge_unavailable",
            "an HTML page titled 'Sign in'",
            2,
            id="page",
        ),
        pytest.param(
            {"kind": "raw", "type": "text/html", "body": PAGE, "status": 502},
            "judge_unavailable",
            "HTTP 502: an HTML page titled 'Sign in'",
            2,
            id="page-502",
        ),
        pytest.param(
            {"kind": "raw", "type": "text/plain", "body": "The score is 4."},
            "judge_unavailable",
            "The score is 4. where JSON was due",
            2,
            id="wrong-type",
        ),
        pytest.param(
            {"kind": "good", "changes": {"choices": [], "content": []}},
            "judge_unparsable",
            "holds no c",
            2,
            id="empty-choices",
        ),
        pytest.param(
            {"kind": "raw", "type": "application/json", "body": '"down"'},
            "judge_unparsable",
            "down",
            2,
            id="other-json",
        ),
    ],
)
def test_a_fault_has_its_code_and_says_what_happened(
    server: ModelServer, provider: str, fault: dict[str, Any], code: str, said: str, attempts: int
) -> None:
    failure = fail(server, provider, fault)
    assert (failure.code, failure.attempts) == (code, attempts)
    assert said in failure.reason
    assert len(server.requests()) == attempts


@PROVIDERS
def test_a_slow_first_byte_is_a_timeout(server: ModelServer, provider: str) -> None:
    failure = fail(server, provider, {"kind": "hang"}, timeout_s=0.2)
    assert (failure.code, failure.attempts) == ("timeout", 2)
    assert "no answer in 0.2 s" in failure.reason


def test_a_server_that_is_not_there_is_unavailable() -> None:
    class Nowhere:
        base_url = "http://127.0.0.1:9/v1"

    failure = ask_once(judge_at(Nowhere, retries=1))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == ("judge_unavailable", 2)


@PROVIDERS
@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_stops_asking_and_names_the_variable(
    server: ModelServer, provider: str, code: int
) -> None:
    server.script(always=status(code, "bad key"))
    judge = judge_at(server, provider, api_key="${HOUSE_KEY}", max_concurrency=1)
    with open_judges(environ={"HOUSE_KEY": "hunter2hunter2"}) as judges:
        asked = [judges.ask(request_of(f"row {number}"), judge) for number in range(5)]
        failures = [wait_for(one) for one in asked]
    assert {failure.code for failure in failures} == {"judge_unavailable"}
    assert all("set HOUSE_KEY" in failure.reason for failure in failures)
    (only,) = server.requests()
    assert "hunter2hunter2" in only["key"]


@PROVIDERS
@pytest.mark.parametrize("fault", [status(429), status(500), {"kind": "cut"}])
def test_a_passing_fault_costs_an_attempt_and_nothing_else(
    server: ModelServer, provider: str, fault: dict[str, Any]
) -> None:
    server.script(faults=[fault, fault])
    reply = ask_once(judge_at(server, provider))
    assert isinstance(reply, Reply)
    assert reply.attempts == 3


def test_retry_after_is_waited_for(server: ModelServer) -> None:
    server.script(faults=[status(429, headers={"retry-after": "0.3"})])
    with open_judges() as judges:
        judge = judge_at(server)
        wait_for(judges.ask(request_of("first"), judge))
        progress = judges.engine.progress()
    assert progress.calls == 2
    assert lanes_module.FIRST_WAIT_S < 0.3


def test_an_account_without_money_is_not_asked_again(server: ModelServer) -> None:
    failure = fail(server, "openai", status(429, "out of money", code="insufficient_quota"))
    assert (failure.code, failure.attempts) == ("judge_unavailable", 1)


@pytest.mark.parametrize(
    ("keys", "refuses", "left_out", "notes"),
    [
        ({}, ["temperature"], "temperature", ["refuses 'temperature'"]),
        ({"seed": 5}, ["temperature", "seed"], "seed", ["'temperature'", "refuses 'seed'"]),
        ({"max_tokens": 50}, ["max_tokens"], "max_tokens", []),
        ({}, ["json_schema"], "", ["refuses json_schema, asked for json_object"]),
        ({}, ["response_format"], "response_format", ["json_object", "asked for text"]),
    ],
    ids=["temperature", "seed-too", "max_tokens", "json_schema", "response_format"],
)
def test_what_a_model_refuses_is_left_out_once_with_a_note(
    server: ModelServer, keys: Any, refuses: list[str], left_out: str, notes: list[str]
) -> None:
    server.script(always={"kind": "picky", "refuses": refuses})
    with open_judges() as judges:
        judge = judge_at(server, retries=0, max_concurrency=1, **keys)
        replies = [wait_for(judges.ask(request_of(f"row {n}"), judge)) for n in range(3)]
        said = judges.notes()
    assert all(isinstance(reply, Reply) for reply in replies)
    assert [reply.attempts for reply in replies][1:] == [1, 1]
    assert left_out not in server.requests()[-1]["body"]
    assert len(said) == len(notes)
    assert all(note in one for note, one in zip(notes, said, strict=True))


def test_an_anthropic_model_may_refuse_temperature(server: ModelServer) -> None:
    server.script(always={"kind": "picky", "refuses": ["temperature"]})
    reply = ask_once(judge_at(server, "anthropic", retries=0))
    assert isinstance(reply, Reply)
    assert reply.attempts == 2


def test_the_openai_wire_holds_schema_seed_and_temperature(server: ModelServer) -> None:
    server.script()
    ask_once(judge_at(server, seed=3, max_tokens=9, extra={"top_p": 0.5}))
    (asked,) = server.requests()
    body = asked["body"]
    assert asked["path"] == "/v1/chat/completions"
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 3, 9)
    assert body["top_p"] == 0.5
    assert body["messages"][0] == {"role": "system", "content": "You judge."}
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["strict"] is True


def test_the_anthropic_wire_forces_the_verdict(server: ModelServer) -> None:
    server.script()
    ask_once(judge_at(server, "anthropic"))
    (asked,) = server.requests()
    body = asked["body"]
    assert asked["path"] == "/v1/messages"
    assert body["tool_choice"] == {"type": "tool", "name": "give_verdict"}
    assert (body["system"], body["temperature"]) == ("You judge.", 0)


@pytest.mark.parametrize(
    ("changes", "text", "finish"),
    [
        ({"message": {"content": None, "refusal": "I will not."}}, "I will not.", "refusal"),
        ({"choice": {"finish_reason": "length"}}, None, "length"),
        ({"choice": {"finish_reason": "content_filter"}}, None, "content_filter"),
        ({"message": {"content": None}}, "", "stop"),
        ({"message": {"content": [{"type": "text", "text": "a"}]}}, "a", "stop"),
    ],
    ids=["refusal", "cut-off", "content-filter", "null", "parts"],
)
def test_an_odd_reply_is_handed_to_the_reader_with_its_finish(
    server: ModelServer, changes: dict[str, Any], text: str | None, finish: str
) -> None:
    server.script(always={"kind": "good", "changes": changes})
    reply = ask_once(judge_at(server))
    assert isinstance(reply, Reply)
    assert reply.finish == finish
    assert text is None or reply.text == text


def test_an_anthropic_refusal_is_handed_to_the_reader(server: ModelServer) -> None:
    changes = {"content": [], "stop_reason": "refusal"}
    server.script(always={"kind": "good", "changes": changes})
    reply = ask_once(judge_at(server, "anthropic"))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ("", "refusal")


@PROVIDERS
def test_no_key_at_all_names_the_variable_and_asks_nothing(provider: str) -> None:
    class Vendor:
        base_url = url = "${MODEL_ADDRESS:-}"

    failure = ask_once(judge_at(Vendor, provider))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == ("judge_unavailable", 0)
    assert f"{provider.upper()}_API_KEY" in failure.reason
