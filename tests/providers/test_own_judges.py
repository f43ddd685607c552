"""Judges of a user's own: functions and programs; and SDKs that are not there."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from judge_desk import ask_once, request_of
from pytest_evalcheck.engine import lanes as lanes_module
from pytest_evalcheck.judges.config import JudgeConfig, read_judge
from pytest_evalcheck.judges.request import Failure, Reply

PYTHON = read_judge("house", {"provider": "python", "function": "judge.py:answer", "retries": 1})


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "FIRST_WAIT_S", 0.01)


async def answer_later(prompt: str) -> dict[str, Any]:
    return {"score": len(prompt)}


def answer_promised(prompt: str) -> Any:
    return answer_later(prompt)


class Judge:
    async def __call__(self, prompt: str) -> str:
        return prompt.upper()


@pytest.mark.parametrize(
    ("function", "text", "value"),
    [
        (lambda prompt: "Score: 4", "Score: 4", None),
        (lambda prompt: {"score": 4}, '{"score":4}', {"score": 4}),
        (answer_later, '{"score":11}', {"score": 11}),
        (answer_promised, '{"score":11}', {"score": 11}),
        (Judge(), "BE FAIR\n\nQ?", None),
    ],
    ids=["text", "mapping", "async", "awaitable", "object"],
)
def test_a_function_gives_text_or_a_mapping(function: Any, text: str, value: Any) -> None:
    reply = ask_once(PYTHON, request_of("Q?", system="Be fair"), function=function)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.value) == (text, value)


def raising(error: Exception) -> Any:
    def function(prompt: str) -> str:
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "code", "said", "attempts"),
    [
        (lambda prompt: None, "judge_unparsable", "returned null", 1),
        (lambda prompt: 4, "judge_unparsable", "returned number", 1),
        (raising(ValueError("bad")), "judge_unavailable", "raised ValueError: bad", 1),
        (raising(ConnectionError("down")), "judge_unavailable", "ConnectionError: down", 2),
        (raising(TimeoutError("slow")), "timeout", "TimeoutError: slow", 2),
        (raising(StopIteration("x")), "judge_unavailable", "StopIteration", 1),
    ],
    ids=["none", "number", "error", "connection", "timeout", "stop-iteration"],
)
def test_a_function_that_gives_no_reply_blocks(
    function: Any, code: str, said: str, attempts: int
) -> None:
    failure = ask_once(PYTHON, function=function)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == (code, attempts)
    assert said in failure.reason


def program(tmp_path: Path, code: str, **keys: Any) -> JudgeConfig:
    (tmp_path / "judge.py").write_text(f"import json, sys, time\n{code}\n", encoding="utf-8")
    entry = {"provider": "command", "argv": [sys.executable, "judge.py"], "retries": 1, **keys}
    return read_judge("house", entry, base_dir=tmp_path)


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("print('Score: 4')", "Score: 4", None),
        ("print(json.dumps('Score: 4'))", "Score: 4", None),
        ("print(json.dumps({'score': 4}))", '{"score": 4}', {"score": 4}),
        ("print(json.dumps({'text': 'x', 'tokens_in': 3}))", "x", None),
        ("a = json.load(sys.stdin); print(a['prompt'], a['sample'])", "Be fair\n\nQ★ 2", None),
        ("print('')", "", None),
    ],
    ids=["text", "json-text", "object", "figures", "asked", "nothing"],
)
def test_a_program_gets_json_and_gives_text_or_json(
    tmp_path: Path, code: str, text: str, value: Any
) -> None:
    environ = {"PYTHONIOENCODING": "utf-8"}
    reply = ask_once(
        program(tmp_path, code), request_of("Q★", system="Be fair", sample=2), environ=environ
    )
    assert isinstance(reply, Reply), reply
    assert (reply.text, reply.value) == (text, value)


@pytest.mark.parametrize(
    ("code", "reason_code", "said", "attempts"),
    [
        ("sys.exit('no model')", "judge_unavailable", "ended with status 1: no model", 1),
        ("sys.exit(75)", "judge_unavailable", "ended with status 75", 2),
        ("sys.stdout.buffer.write(b'\\xff')", "judge_unparsable", "wrote no UTF-8", 1),
        ("time.sleep(30)", "timeout", "no answer in 0.5 s", 2),
    ],
    ids=["error", "again", "bytes", "hangs"],
)
def test_a_program_that_gives_no_reply_blocks(
    tmp_path: Path, code: str, reason_code: str, said: str, attempts: int
) -> None:
    started = time.perf_counter()
    failure = ask_once(program(tmp_path, code, timeout_s=0.5))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == (reason_code, attempts)
    assert said in failure.reason
    assert time.perf_counter() - started < 5


def test_a_program_that_is_not_there_is_told_and_no_shell_is_asked() -> None:
    judge = read_judge("house", {"provider": "command", "argv": ["no-such-judge; echo 4"]})
    failure = ask_once(judge)
    assert isinstance(failure, Failure)
    assert failure.code == "judge_unavailable"
    assert "cannot run 'no-such-judge; echo 4'" in failure.reason


@pytest.mark.parametrize("name", ["openai", "anthropic", "litellm"])
def test_an_sdk_that_is_missing_comes_with_its_install_command(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    judge = read_judge("d", {"provider": name, "model": "m", "base_url": "http://127.0.0.1:9"})
    failure = ask_once(judge)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == ("dependency_missing", 0)
    assert f"pip install 'pytest-evalcheck[{name}]'" in failure.reason


class RateLimitError(Exception):
    status_code = 429
    message = "slow down"


class BadRequestError(Exception):
    status_code = 400
    message = "litellm: temperature is not supported"


def stand_in(outcomes: list[Any], asked: list[dict[str, Any]]) -> ModuleType:
    """Return a module that answers as litellm does."""
    module = ModuleType("litellm")

    async def acompletion(**arguments: Any) -> Any:
        asked.append(arguments)
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return SimpleNamespace(model_dump=lambda: outcome)

    module.acompletion = acompletion  # type: ignore[attr-defined]
    return module


def test_litellm_is_asked_with_its_own_retries_off(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    answer = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}
    outcomes = [RateLimitError(), BadRequestError(), answer]
    monkeypatch.setitem(sys.modules, "litellm", stand_in(outcomes, asked))
    reply = ask_once(read_judge("d", {"provider": "litellm", "model": "ollama/m"}))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.attempts) == ("4", 3)
    assert (asked[0]["model"], asked[0]["num_retries"]) == ("ollama/m", 0)
    assert ["temperature" in one for one in asked] == [True, True, False]


@pytest.mark.parametrize("word", ["def", "async def"])
def test_a_function_is_found_beside_the_suite(tmp_path: Path, word: str) -> None:
    (tmp_path / "judge.py").write_text(f"{word} answer(prompt):\n    return 'Score: 4'\n")
    entry = {"provider": "python", "function": "judge.py:answer"}
    reply = ask_once(read_judge("house", entry, base_dir=tmp_path))
    assert isinstance(reply, Reply), reply
    assert reply.text == "Score: 4"


def test_a_function_that_is_not_there_blocks_with_a_near_name(tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text("def answer(prompt):\n    return '4'\n")
    entry = {"provider": "python", "function": "judge.py:anwser"}
    failure = ask_once(read_judge("house", entry, base_dir=tmp_path))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == ("judge_unavailable", 0)
    assert "Did you mean 'answer'?" in failure.reason
