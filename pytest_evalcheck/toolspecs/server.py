"""Starting a stdio server and asking it for its tools (extra `mcp`)."""

from __future__ import annotations

import logging
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.safetext import safe_line

__all__ = ["ServerCommand", "list_server", "read_command"]

INSTALL: Final = "pip install 'pytest-evalcheck[mcp]'"
DEFAULT_TIMEOUT_S: Final = 60.0
# What is shown of a failed server's standard error: its last lines, and of each so much.
ERROR_LINES: Final = 10
ERROR_WIDTH: Final = 300
_KEYS: Final = ("command", "env", "timeout_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """How a server is started.

    Attributes:
        command: the program and its arguments.
        env: names of environment variables that are handed on; of the others only what
            every program needs (PATH, HOME and the like) is.
        timeout_s: seconds from the start to the last page of the list.
        cwd: the folder it is started in, or None for the present one.
    """

    command: tuple[str, ...]
    env: tuple[str, ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S
    cwd: Path | None = None

    def text(self) -> str:
        """Return the command on one line."""
        return safe_line(" ".join(self.command), 120)


def read_command(document: Mapping[str, Any], shown: str, cwd: Path | None) -> ServerCommand:
    """Return the command that a file says instead of the tools themselves.

    Args:
        document: `command` (a list of texts), `env` (a list of names), `timeout_s`.
        shown: the path for messages.
        cwd: the folder the server is started in.

    Raises:
        DatasetError: with every mistake.
    """
    problems = [_unknown_key(key) for key in document if key not in _KEYS]
    command, env = document["command"], document.get("env") or []
    if not _is_texts(command) or not command:
        problems.append(_kind_problem("command", command, 'a list such as ["npx", "server"]'))
    if not _is_texts(env):
        problems.append(_kind_problem("env", env, "a list of names of environment variables"))
    elif missing := [name for name in env if name not in os.environ]:
        problems.append(
            Problem(
                found=f"the environment has no {', '.join(missing)}",
                fix="Set it, or take its name out of env.",
                where="env",
                keys=("env",),
            )
        )
    timeout_s = document.get("timeout_s", DEFAULT_TIMEOUT_S)
    if not _is_seconds(timeout_s):
        problems.append(_kind_problem("timeout_s", timeout_s, "a number of seconds above 0"))
    if problems:
        raise DatasetError(problem.located(path=shown, line=None) for problem in problems)
    return ServerCommand(
        command=tuple(command), env=tuple(env), timeout_s=float(timeout_s), cwd=cwd
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _is_seconds(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value > 0
    )


def _kind_problem(key: str, value: Any, expected: str) -> Problem:
    return Problem(found=safe_line(json_text(value), 80), expected=expected, where=key, keys=(key,))


def _unknown_key(key: str) -> Problem:
    near = get_close_matches(str(key), _KEYS, n=1)
    return Problem(
        found=f"{key!r} is not a key beside command",
        expected=f"one of {', '.join(_KEYS)}",
        fix=f"Did you mean {near[0]!r}?" if near else "",
        keys=(key,),
    )


def list_server(command: ServerCommand, shown: str = "") -> dict[str, Any]:
    """Return a server's tools, name and instructions, as a dump holds them.

    Args:
        command: how to start it; it is ended again whatever happens.
        shown: the path for messages.

    Raises:
        DatasetError: it cannot be started, dies, gives no answer in time, or refuses;
            the end of its standard error is part of the message.
    """
    try:
        import anyio
        import mcp  # noqa: F401 - told apart from a failing server
    except ImportError:
        raise DatasetError(
            Problem(found="the package mcp is not installed", fix=f"Run: {INSTALL}", path=shown)
        ) from None
    from concurrent.futures import ThreadPoolExecutor

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            # A thread of its own: in a notebook an event loop runs in this one.
            with _quiet_client(), ThreadPoolExecutor(1) as threads:
                return threads.submit(anyio.run, partial(_ask, command, errors)).result()
        except Exception as error:
            raise DatasetError(_failure(command, error, errors, shown)) from None


@contextmanager
def _quiet_client() -> Iterator[None]:
    """Keep the client from logging every line of a server's noise with a traceback."""
    logger = logging.getLogger("mcp.client.stdio")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


async def _ask(command: ServerCommand, errors: Any) -> dict[str, Any]:
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=command.command[0],
        args=list(command.command[1:]),
        env={name: os.environ[name] for name in command.env},
        cwd=command.cwd,
        encoding_error_handler="replace",
    )
    with anyio.fail_after(command.timeout_s):
        async with (
            stdio_client(parameters, errlog=errors) as (read, write),
            ClientSession(read, write) as session,
        ):
            greeting = await session.initialize()
            tools = [tool async for tool in _list_tools(session)]
    said = _plain(greeting)
    document = {"server": said.get("serverInfo") or {}, "instructions": said.get("instructions")}
    return {**document, "tools": tools}


async def _list_tools(session: Any) -> Any:
    """Yield every tool of every page as it came over the wire."""
    cursor: str | None = None
    while True:
        page = _plain(await _page(session, cursor))
        for tool in page["tools"]:
            yield tool
        after = page.get("nextCursor")
        if not after or after == cursor:
            return
        cursor = after


async def _page(session: Any, cursor: str | None) -> Any:
    if cursor is None:
        return await session.list_tools()
    from inspect import signature

    if "cursor" in signature(session.list_tools).parameters:
        return await session.list_tools(cursor=cursor)
    from mcp.types import PaginatedRequestParams

    return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))


def _plain(model: Any) -> dict[str, Any]:
    plain: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain


def _failure(command: ServerCommand, error: BaseException, errors: IO[str], shown: str) -> Problem:
    cause = _innermost(error)
    if isinstance(cause, TimeoutError):
        said = f"gave no list of tools within {command.timeout_s:g} s"
        fix = "Raise timeout_s if it is slow to start; does it speak MCP over standard input?"
    elif isinstance(cause, OSError):
        said = f"cannot be started: {cause.strerror or cause}"
        fix = "Is the program installed and on the PATH?"
    else:
        said = f"gave no list of tools: {safe_line(str(cause) or type(cause).__name__, 200)}"
        fix = "Start it by hand to see why."
    return Problem(
        found=f"the server '{command.text()}' {said}{_end_of(errors)}", fix=fix, path=shown
    )


def _innermost(error: BaseException) -> BaseException:
    """Return the first cause within groups of exceptions."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _end_of(errors: IO[str]) -> str:
    errors.seek(0)
    lines: Sequence[str] = [line for line in errors.read().splitlines() if line.strip()]
    if not lines:
        return "; its standard error is empty"
    shown = " | ".join(safe_line(line.strip(), ERROR_WIDTH) for line in lines[-ERROR_LINES:])
    return f"; its standard error ends: {shown}"
