"""A user's own function as the judge: called with the prompt, it returns text or a mapping."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from typing import Any

from pytest_evalcheck.jsonvalues import json_text, kind_name
from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.providers import FunctionLoader
from pytest_evalcheck.judges.providers.daemon_calls import call_in_thread
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble, said_by

__all__ = ["PythonProvider", "prompt_text"]


class PythonProvider:
    """Calls a function, in a thread of its own unless it is async.

    Args:
        judge: the judge, of the provider `python`.
        load_function: gives the function that `judge.function` names.
    """

    def __init__(self, judge: JudgeConfig, load_function: FunctionLoader) -> None:
        self.judge = judge
        self.notes: list[str] = []
        self.function = load_function(judge)
        called = (
            self.function
            if inspect.isroutine(self.function)
            else getattr(self.function, "__call__", self.function)  # noqa: B004
        )
        self.is_async = inspect.iscoroutinefunction(called)

    async def ask(self, request: JudgeRequest) -> Reply:
        """Return the reply to one attempt; see `Provider.ask`."""
        started = time.perf_counter()
        try:
            answer = await self.call(prompt_text(request))
        except Trouble:
            raise
        except Exception as error:
            raise self.trouble(error) from error
        return reply_from(answer, self.judge, time.perf_counter() - started)

    async def call(self, prompt: str) -> Any:
        """Return what the function returns, awaited where it is async."""
        if self.is_async:
            return await self.function(prompt)
        answer = await call_in_thread(self.function, prompt)
        return await answer if inspect.isawaitable(answer) else answer

    def trouble(self, error: Exception) -> Trouble:
        """Return what an exception of the function means: a passing fault, or a broken judge."""
        passing = isinstance(error, ConnectionError | TimeoutError)
        return Trouble(
            "timeout" if isinstance(error, TimeoutError) else "judge_unavailable",
            f"the judge {self.judge.name!r} raised {type(error).__name__}: {said_by(error)}",
            remedy="wait" if passing else "none",
        )

    async def close(self) -> None:
        """Do nothing: a function holds nothing open."""


def prompt_text(request: JudgeRequest) -> str:
    """Return the whole prompt as one text, the system's part first."""
    return f"{request.system}\n\n{request.user}" if request.system else request.user


def reply_from(answer: Any, judge: JudgeConfig, latency_s: float) -> Reply:
    """Return a judge's own answer, text or a mapping, as a reply.

    Raises:
        Trouble: it is neither.
    """
    if isinstance(answer, str):
        return Reply(text=answer, latency_s=latency_s, finish="stop")
    if not isinstance(answer, Mapping):
        raise Trouble(
            "judge_unparsable",
            f"the judge {judge.name!r} returned {kind_name(answer)}, expected text or a mapping",
        )
    value = dict(answer)
    try:
        text = json_text(value)
    except (TypeError, ValueError):
        text = repr(value)
    return Reply(text=text, value=value, latency_s=latency_s, finish="stop")
