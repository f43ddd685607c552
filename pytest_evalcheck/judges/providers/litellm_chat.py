"""Chat completions through litellm, which knows the vendors that have no provider here."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.environment import expand_environment, expand_value
from pytest_evalcheck.judges.providers import import_sdk
from pytest_evalcheck.judges.providers.chat import ChatDialect, read_chat_answer
from pytest_evalcheck.judges.providers.openai_chat import SDK_GRACE_S
from pytest_evalcheck.judges.providers.sdk_calls import refused_argument, said_in, sdk_trouble
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble

__all__ = ["LitellmProvider"]


class LitellmProvider:
    """Asks through `litellm.acompletion`.

    Args:
        judge: the judge, of the provider `litellm`.
        environ: where its variables stand; litellm reads the vendors' keys by itself.

    Raises:
        MissingVariable: a variable is not set.
        Trouble: the package is not installed.
    """

    def __init__(self, judge: JudgeConfig, environ: Mapping[str, str]) -> None:
        self.judge = judge
        self.dialect = ChatDialect(judge)
        self.fixed: dict[str, Any] = {
            "model": expand_environment(judge.model, environ),
            "timeout": judge.timeout_s + SDK_GRACE_S,
            "num_retries": 0,  # the engine retries, and counts each attempt
            "max_retries": 0,
        }
        if judge.base_url:
            self.fixed["base_url"] = expand_environment(judge.base_url, environ)
        if judge.api_key:
            self.fixed["api_key"] = expand_environment(judge.api_key, environ)
        self.extra = expand_value(judge.extra, environ)
        self.sdk = import_quietly(judge)

    @property
    def notes(self) -> list[str]:
        """Return what was learnt about the model."""
        return self.dialect.notes

    async def ask(self, request: JudgeRequest) -> Reply:
        """Return the reply to one attempt; see `Provider.ask`."""
        arguments = self.dialect.arguments(request)
        started = time.perf_counter()
        try:
            response = await self.sdk.acompletion(**(self.fixed | arguments | self.extra))
        except Exception as error:
            raise self.trouble(error, arguments) from None
        answer = response if isinstance(response, Mapping) else response.model_dump()
        return read_chat_answer(answer, self.judge, time.perf_counter() - started)

    def trouble(self, error: Exception, arguments: Mapping[str, Any]) -> Exception:
        """Return the trouble behind litellm's exception, having learnt from a refusal."""
        status = getattr(error, "status_code", None)
        if status in (400, 422) and self.dialect.learn(
            arguments, said_in(error), refused_argument(error)
        ):
            return Trouble("judge_unavailable", said_in(error), remedy="ask_changed")
        return sdk_trouble(error, self.judge) or error

    async def close(self) -> None:
        """Do nothing: litellm keeps its connections to itself."""


def import_quietly(judge: JudgeConfig) -> Any:
    """Return litellm, kept from fetching its table of prices and from advertising itself.

    Raises:
        Trouble: it is not installed.
    """
    offline = "LITELLM_LOCAL_MODEL_COST_MAP"  # read once, by the import
    before = os.environ.get(offline)
    os.environ[offline] = before or "True"
    try:
        sdk = import_sdk(judge)
    finally:
        if before is None:
            os.environ.pop(offline, None)
    sdk.suppress_debug_info = True
    return sdk
