"""Chat completions through the openai SDK, of OpenAI or of any server that speaks them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.environment import MissingVariable, expand_environment, expand_value
from pytest_evalcheck.judges.providers import import_sdk
from pytest_evalcheck.judges.providers.chat import ChatDialect, read_chat_answer
from pytest_evalcheck.judges.providers.sdk_calls import (
    post_json,
    refused_argument,
    said_in,
    sdk_trouble,
)
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble

__all__ = ["OpenAIProvider"]

NO_KEY: Final = "none"  # local servers take any key; the SDK insists on one
SDK_GRACE_S: Final = 5.0  # the engine's time limit comes first


class OpenAIProvider:
    """Asks a chat-completions server.

    Args:
        judge: the judge, of the provider `openai`.
        environ: where its variables stand.

    Raises:
        MissingVariable: a variable is not set.
        Trouble: the SDK is not installed.
    """

    def __init__(self, judge: JudgeConfig, environ: Mapping[str, str]) -> None:
        self.judge = judge
        self.dialect = ChatDialect(judge)
        self.model = expand_environment(judge.model, environ)
        self.extra = expand_value(judge.extra, environ)
        base_url = expand_environment(judge.base_url, environ) or environ.get("OPENAI_BASE_URL")
        api_key = api_key_of(judge, environ, has_address=bool(base_url))
        sdk = import_sdk(judge)
        self.sdk = sdk
        self.client = sdk.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url or None,
            max_retries=0,  # the engine retries, and counts each attempt
            timeout=judge.timeout_s + SDK_GRACE_S,
        )

    @property
    def notes(self) -> list[str]:
        """Return what was learnt about the model."""
        return self.dialect.notes

    async def ask(self, request: JudgeRequest) -> Reply:
        """Return the reply to one attempt; see `Provider.ask`."""
        arguments = self.dialect.arguments(request)
        started = time.perf_counter()
        try:
            answer = await post_json(
                self.client,
                "/chat/completions",
                {"model": self.model, **arguments},
                self.extra,
                self.judge,
            )
        except self.sdk.APIError as error:
            raise self.trouble(error, arguments) from None
        return read_chat_answer(answer, self.judge, time.perf_counter() - started)

    def trouble(self, error: Exception, arguments: Mapping[str, Any]) -> Exception:
        """Return the trouble behind an SDK's exception, having learnt from a refusal."""
        trouble = sdk_trouble(error, self.judge)
        refused = getattr(error, "status_code", None) in (400, 422, 501)
        if refused and self.dialect.learn(arguments, said_in(error), refused_argument(error)):
            return Trouble("judge_unavailable", said_in(error), remedy="ask_changed")
        return trouble or error

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()


def api_key_of(judge: JudgeConfig, environ: Mapping[str, str], *, has_address: bool) -> str:
    """Return the key of a judge; a server of one's own is asked without one.

    Raises:
        MissingVariable: the variable it should stand in is not set.
    """
    if judge.api_key:
        return expand_environment(judge.api_key, environ)
    name = judge.key_variable()
    key = environ.get(name)
    if not key and not has_address:
        raise MissingVariable(name)
    return key or NO_KEY
