"""Messages through the anthropic SDK; the verdict comes as a forced tool call."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.environment import expand_environment, expand_value
from pytest_evalcheck.judges.providers import import_sdk
from pytest_evalcheck.judges.providers.chat import count_of
from pytest_evalcheck.judges.providers.openai_chat import SDK_GRACE_S, api_key_of
from pytest_evalcheck.judges.providers.sdk_calls import post_json, said_in, sdk_trouble
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble, said_by

__all__ = ["AnthropicProvider"]

TOOL: Final = "give_verdict"
DEFAULT_MAX_TOKENS: Final = 2048  # the API wants a limit; a verdict with its reason is short

FINISHES: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicProvider:
    """Asks the Messages API.

    Args:
        judge: the judge, of the provider `anthropic`.
        environ: where its variables stand.

    Raises:
        MissingVariable: a variable is not set.
        Trouble: the SDK is not installed.
    """

    def __init__(self, judge: JudgeConfig, environ: Mapping[str, str]) -> None:
        self.judge = judge
        self.notes: list[str] = []
        self.dropped: set[str] = set()
        self.model = expand_environment(judge.model, environ)
        self.extra = expand_value(judge.extra, environ)
        base_url = expand_environment(judge.base_url, environ) or environ.get("ANTHROPIC_BASE_URL")
        api_key = api_key_of(judge, environ, has_address=bool(base_url))
        self.sdk = import_sdk(judge)
        self.client = self.sdk.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url or None,
            max_retries=0,  # the engine retries, and counts each attempt
            timeout=judge.timeout_s + SDK_GRACE_S,
        )

    async def ask(self, request: JudgeRequest) -> Reply:
        """Return the reply to one attempt; see `Provider.ask`."""
        arguments = self.arguments(request)
        started = time.perf_counter()
        try:
            answer = await post_json(
                self.client,
                "/v1/messages",
                {"model": self.model, **arguments},
                self.extra,
                self.judge,
            )
        except self.sdk.APIError as error:
            raise self.trouble(error, arguments) from None
        return read_message(answer, self.judge, time.perf_counter() - started)

    def arguments(self, request: JudgeRequest) -> dict[str, Any]:
        """Return the arguments of a call, without what the model has refused."""
        arguments: dict[str, Any] = {
            "max_tokens": self.judge.max_tokens or DEFAULT_MAX_TOKENS,
            "messages": [{"role": "user", "content": request.user}],
            "system": request.system or None,
            "temperature": self.judge.temperature,
        }
        if request.schema is not None:
            arguments["tools"] = [
                {
                    "name": TOOL,
                    "description": "Give the verdict.",
                    "input_schema": dict(request.schema),
                }
            ]
            arguments["tool_choice"] = {"type": "tool", "name": TOOL}
        return {
            name: value
            for name, value in arguments.items()
            if value is not None and name not in self.dropped
        }

    def trouble(self, error: Exception, sent: Mapping[str, Any]) -> Exception:
        """Return the trouble behind an SDK's exception, having learnt from a refusal."""
        if getattr(error, "status_code", None) == 400:
            said = said_in(error)
            for name in ("temperature", "tool_choice"):
                if name in sent and re.search(rf"\b{name}\b", said):
                    self.drop(name)
                    return Trouble("judge_unavailable", said_by(said), remedy="ask_changed")
        return sdk_trouble(error, self.judge) or error

    def drop(self, name: str) -> None:
        """Send an argument no more, with a note the first time."""
        if name not in self.dropped:
            self.dropped.add(name)
            self.notes.append(
                f"judge {self.judge.name!r}: the model refuses {name!r}, asked without it"
            )

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()


def read_message(answer: Any, judge: JudgeConfig, latency_s: float) -> Reply:
    """Return the reply in a message of the Messages API that was read from JSON.

    Raises:
        Trouble: it is no message; another attempt may bring one.
    """
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    tokens_in, tokens_out = (count_of(usage, f"{name}_tokens") for name in ("input", "output"))
    cost_usd = judge.prices.cost_usd(tokens_in, tokens_out) if judge.prices else None
    content = answer.get("content") if isinstance(answer, Mapping) else None
    stop = answer.get("stop_reason") if isinstance(answer, Mapping) else None
    if not isinstance(content, list) or (not content and stop != "refusal"):
        raise Trouble(
            "judge_unparsable",
            f"the answer of the judge {judge.name!r} holds no content: "
            f"{said_by(json_text(answer))}",
            remedy="wait",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=cost_usd,
        )
    blocks = [block for block in content if isinstance(block, Mapping)]
    verdicts = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    value = verdicts[0] if len(verdicts) == 1 and isinstance(verdicts[0], dict) else None
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    return Reply(
        text=json_text(verdicts[0] if len(verdicts) == 1 else verdicts)
        if verdicts
        else "".join(texts),
        value=value,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        latency_s=latency_s,
        cost_usd=cost_usd,
        finish=FINISHES.get(stop, stop) if isinstance(stop, str) else "",
    )
