"""The keys of a judge, and its variables."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.judges.config import JUDGE_KEYS, JudgeConfig, Prices, read_judge
from pytest_evalcheck.judges.environment import (
    MissingVariable,
    expand_environment,
    expand_value,
    named_variables,
)

OPENAI = {"provider": "openai", "model": "gpt-5-mini"}


def problems_of(entry: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_judge("default", entry)
    return [problem.text() for problem in caught.value.problems]


def test_a_judge_has_the_documented_defaults() -> None:
    judge = read_judge("default", OPENAI)
    assert (judge.temperature, judge.max_concurrency, judge.timeout_s) == (0, 8, 60.0)
    assert judge.key_variable() == "OPENAI_API_KEY"


def test_every_key_of_the_specification_is_taken() -> None:
    entry = {
        **OPENAI,
        "base_url": "${OPENAI_BASE_URL}",
        "api_key": "${HOUSE_KEY}",
        "temperature": None,
        "max_tokens": 300,
        "seed": 7,
        "max_concurrency": 16,
        "requests_per_minute": 90,
        "timeout_s": 2.5,
        "retries": 0,
        "prices": {"input_per_1m": 0.25, "output_per_1m": 2},
        "extra": {"top_p": 0.5},
    }
    judge = read_judge("default", entry)
    assert judge.prices == Prices(input_per_1m=0.25, output_per_1m=2)
    assert judge.key_variable() == "HOUSE_KEY"
    assert {*entry, "function", "argv"} == set(JUDGE_KEYS)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        pytest.param(7, "7 is no judge, expected a mapping", id="no-mapping"),
        pytest.param({"model": "m"}, "no provider is given, expected one of openai", id="none"),
        pytest.param({"provider": "opnai"}, "Did you mean 'openai'?", id="near-provider"),
        pytest.param({"provider": ["openai"]}, "['openai'], expected one of", id="list"),
        pytest.param({"provider": "openai"}, "needs 'model'", id="no-model"),
        pytest.param({"provider": "python"}, "needs 'function'", id="no-function"),
        pytest.param({"provider": "command"}, "needs 'argv'", id="no-argv"),
        pytest.param(OPENAI | {"modle": "x"}, "Did you mean 'model'?", id="near-key"),
        pytest.param(OPENAI | {"argv": ["x"]}, "means nothing to the provider", id="other-key"),
        pytest.param(OPENAI | {"api_key": "hunter2hunter2"}, "a literal API key", id="key"),
        pytest.param(OPENAI | {"api_key": "${K:-hunter2}"}, "a literal API key", id="default-key"),
        pytest.param(OPENAI | {"base_url": "localhost:1"}, "expected an address", id="address"),
        pytest.param(
            OPENAI | {"base_url": "http://me:word@host/v1"}, "a password in an address", id="word"
        ),
        pytest.param(OPENAI | {"extra": {"api_key": "x"}}, "a literal API key", id="extra-key"),
        pytest.param(OPENAI | {"temperature": True}, "expected a number", id="bool"),
        pytest.param(OPENAI | {"timeout_s": float("nan")}, "nan, expected", id="nan"),
        pytest.param(OPENAI | {"max_concurrency": 0}, "above 0", id="no-lane"),
        pytest.param(OPENAI | {"retries": -1}, "0 or more", id="negative"),
        pytest.param(OPENAI | {"prices": {"input": 1}}, "input_per_1m", id="prices"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(entry: Any, said: str) -> None:
    assert said in "\n".join(problems_of(entry))


def test_all_mistakes_are_told_at_once_and_no_key_is_repeated() -> None:
    entry = {"provider": "openai", "modle": "m", "api_key": "hunter2hunter2", "seed": "x"}
    problems = problems_of(entry)
    assert len(problems) == 4
    assert "hunter2" not in "\n".join(problems)


@pytest.mark.parametrize(
    ("text", "environ", "want"),
    [
        ("plain $HOME {x}", {}, "plain $HOME {x}"),
        ("${A}/v1", {"A": "http://h"}, "http://h/v1"),
        ("${A:-gpt}", {}, "gpt"),
        ("${A:-gpt}", {"A": ""}, "gpt"),
        ("${A:-}", {}, ""),
        ("${A}${B}", {"A": "1", "B": "${A}"}, "1${A}"),
    ],
)
def test_variables_are_filled_in_once(text: str, environ: dict[str, str], want: str) -> None:
    assert expand_environment(text, environ) == want


@pytest.mark.parametrize("environ", [{}, {"A": ""}])
def test_a_variable_without_value_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(MissingVariable, match="A is not set"):
        expand_value({"x": ["${A}"]}, environ)


def test_variables_are_found_in_nested_values() -> None:
    assert named_variables({"a": ["${X}", {"b": "${Y:-1} ${X}"}], "c": 3}) == ["X", "Y"]


def test_secrets_of_a_judge_are_its_key_and_what_extra_takes_from_variables() -> None:
    judge = JudgeConfig(
        name="d", provider="openai", model="m", extra={"extra_headers": {"x": "${TOKEN}"}}
    )
    assert judge.secret_variables() == ("OPENAI_API_KEY", "TOKEN")
