"""Who carries a request to a model: one module a provider, its SDK imported when first used."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.environment import MissingVariable
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble

__all__ = ["PACKAGES", "FunctionLoader", "Provider", "import_sdk", "open_provider"]

FunctionLoader = Callable[[JudgeConfig], Callable[..., Any]]

# Providers and the package, which is also the extra, that each needs.
PACKAGES: Final = {"openai": "openai", "anthropic": "anthropic", "litellm": "litellm"}


class Provider(Protocol):
    """Carries the requests of one judge; used on one event loop."""

    @property
    def notes(self) -> list[str]:
        """Return what was learnt about the model, for the summary: each once."""
        ...

    async def ask(self, request: JudgeRequest) -> Reply:
        """Return the reply to one attempt.

        Raises:
            Trouble: the attempt brought nothing, with the remedy.
        """
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


def open_provider(
    judge: JudgeConfig, environ: Mapping[str, str], load_function: FunctionLoader
) -> Provider:
    """Return the provider of a judge.

    Args:
        judge: the judge.
        environ: where its `${VARIABLES}` stand.
        load_function: gives the function of a `python` judge.

    Raises:
        Trouble: a variable is not set (`judge_unavailable`), or the SDK is not installed
            (`dependency_missing`); both stop the lane.
    """
    try:
        return make_provider(judge, environ, load_function)
    except MissingVariable as missing:
        raise Trouble(
            "judge_unavailable",
            f"the judge {judge.name!r} needs the environment variable {missing.name}; set it",
            remedy="stop_lane",
        ) from None


def make_provider(
    judge: JudgeConfig, environ: Mapping[str, str], load_function: FunctionLoader
) -> Provider:
    if judge.provider == "openai":
        from pytest_evalcheck.judges.providers.openai_chat import OpenAIProvider

        return OpenAIProvider(judge, environ)
    if judge.provider == "anthropic":
        from pytest_evalcheck.judges.providers.anthropic_messages import AnthropicProvider

        return AnthropicProvider(judge, environ)
    if judge.provider == "litellm":
        from pytest_evalcheck.judges.providers.litellm_chat import LitellmProvider

        return LitellmProvider(judge, environ)
    if judge.provider == "python":
        from pytest_evalcheck.judges.providers.python_function import PythonProvider

        return PythonProvider(judge, load_function)
    from pytest_evalcheck.judges.providers.command import CommandProvider

    return CommandProvider(judge, environ)


def import_sdk(judge: JudgeConfig) -> Any:
    """Return the SDK's module of a judge.

    Raises:
        Trouble: it is not installed, or its import failed; with the install command.
    """
    name = PACKAGES[judge.provider]
    try:
        sdk = importlib.import_module(name)
        with contextlib.suppress(ImportError):
            # The first request would import it, and hold up the others meanwhile.
            importlib.import_module("anyio._backends._asyncio")
        return sdk
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        why = "is not installed" if missing else f"cannot be imported ({error})"
        raise Trouble(
            "dependency_missing",
            f"the package {name!r} {why}; run: pip install 'pytest-evalcheck[{name}]'",
            remedy="stop_lane",
        ) from None
